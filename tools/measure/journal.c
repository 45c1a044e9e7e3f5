// SPDX-License-Identifier: GPL-2.0
#include "journal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <jansson.h>

#include "base/util.h"

#define VERSION	1

void changes_add(struct changes *changes, bool unit, char *name, char *found,
		 char *set)
{
	changes->list = xrealloc(changes->list, (changes->count + 1) *
						sizeof(*changes->list));
	changes->list[changes->count++] = (struct change){
		.unit = unit, .name = name, .found = found, .set = set,
	};
}

void changes_free(struct changes *changes)
{
	for (size_t i = 0; i < changes->count; i++) {
		free(changes->list[i].name);
		free(changes->list[i].found);
		free(changes->list[i].set);
	}
	free(changes->list);
	*changes = (struct changes){ 0 };
}

int journal_open(struct journal *j, const char *directory, bool create)
{
	char *lock = xprintf("%s/tune.lock", directory);

	*j = (struct journal){
		.directory = xstrdup(directory),
		.path = xprintf("%s/tune.journal", directory),
		.lock = -1, .fd = -1,
	};
	if (!create || !mkdir(directory, 0755) || errno == EEXIST)
		j->lock = open(lock, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	free(lock);
	return j->lock < 0 ? -1 : flock(j->lock, LOCK_EX | LOCK_NB);
}

void journal_close(struct journal *j)
{
	if (j->fd >= 0)
		close(j->fd);
	if (j->lock >= 0)
		close(j->lock);
	free(j->path);
	free(j->directory);
	*j = (struct journal){ .lock = -1, .fd = -1 };
}

/* So that a name that came or went in it is so after a crash, too. */
static int sync_directory(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), err;

	if (fd < 0)
		return -1;
	err = fsync(fd);
	close(fd);
	return err;
}

/* Takes object. All of the line or nothing of it. */
static int put_line(int fd, json_t *object)
{
	char *text = object ? json_dumps(object, JSON_COMPACT) : NULL, *line;
	off_t before = lseek(fd, 0, SEEK_END);
	int err;

	json_decref(object);
	if (!text) {
		errno = EILSEQ;
		return -1;
	}
	line = xprintf("%s\n", text);
	err = write_full(fd, line, strlen(line));
	if (!err)
		err = fsync(fd);
	free(text);
	free(line);
	if (err) {
		int saved = errno;

		if (ftruncate(fd, before))
			warn("%s", strerror(errno));
		errno = saved;
	}
	return err;
}

int journal_begin(struct journal *j, const char *boot)
{
	j->fd = open(j->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (j->fd < 0 ||
	    put_line(j->fd, json_pack("{si ss}", "version", VERSION, "boot",
				      boot)))
		return -1;
	return sync_directory(j->directory);
}

int journal_add(const struct journal *j, const struct change *change)
{
	return put_line(j->fd, json_pack("{ss ss ss}",
					 change->unit ? "unit" : "file",
					 change->name, "found", change->found,
					 "set", change->set));
}

int journal_remove(const struct journal *j)
{
	return unlink(j->path) || sync_directory(j->directory) ? -1 : 0;
}

static int parse_change(const char *line, struct changes *changes)
{
	json_t *root = json_loads(line, 0, NULL);
	const char *unit = NULL, *file = NULL, *found, *set;
	int err = json_unpack(root, "{s?s s?s ss ss}", "unit", &unit, "file",
			      &file, "found", &found, "set", &set);

	if (!err && !unit == !file)
		err = -1;
	if (!err)
		changes_add(changes, unit, xstrdup(unit ? unit : file),
			    xstrdup(found), xstrdup(set));
	json_decref(root);
	return err;
}

static int parse_header(const char *line, const char *boot, bool *same_boot)
{
	json_t *root = json_loads(line, 0, NULL);
	const char *of;
	int version, err = json_unpack(root, "{si ss}", "version", &version,
				       "boot", &of);

	if (!err && version != VERSION)
		err = -1;
	*same_boot = !err && !strcmp(of, boot);
	json_decref(root);
	return err;
}

static int parse(FILE *f, const char *path, const char *boot,
		 struct changes *changes)
{
	char *line = NULL;
	bool same_boot = true;
	size_t size = 0;
	int number = 0, err = 0;

	while (!err && same_boot && getline(&line, &size, f) > 0 &&
	       strchr(line, '\n')) {
		err = number++ ? parse_change(line, changes) :
				 parse_header(line, boot, &same_boot);
	}
	free(line);
	if (err)
		warn("%s:%d: is nothing that this version of tense wrote: put back by hand what it says, then remove it",
		     path, number);
	return err;
}

int journal_read(const struct journal *j, const char *boot,
		 struct changes *changes, bool *left)
{
	FILE *f = fopen(j->path, "re");
	int err;

	*changes = (struct changes){ 0 };
	*left = f;
	if (!f) {
		if (errno == ENOENT)
			return 0;
		warn("%s: %s", j->path, strerror(errno));
		return -1;
	}
	err = parse(f, j->path, boot, changes);
	fclose(f);
	return err;
}
