// SPDX-License-Identifier: GPL-2.0
#include "booted.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <zlib.h>

#include "base/paths.h"
#include "base/remove-tree.h"
#include "base/util.h"
#include "booted-save.h"
#include "run/guest.h"

/* Names of those that are not complete begin so. */
#define BOOTED_PART	BOOTED_PREFIX "part-"
#define PART_S		3600

/* Saved boots that stay in the cache although nobody uses them: those that were used last. */
#define KEPT	4

static unsigned long crc_of(const char *path)
{
	unsigned char buf[65536];
	unsigned long crc = crc32(0, NULL, 0);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = -1;

	while (fd >= 0 && (n = read(fd, buf, sizeof(buf))) > 0)
		crc = crc32(crc, buf, n);
	guest_check(!n, path);
	close(fd);
	return crc;
}

/* Identifies the version of a file or directory by its size and modification time. */
static char *stamp_of(const char *path)
{
	struct stat st;

	if (stat(path, &st))
		return xstrdup("none");
	return xprintf("%lld %lld.%09ld", (long long)st.st_size, (long long)st.st_mtim.tv_sec,
		       st.st_mtim.tv_nsec);
}

static void add_line(char **text, const char *line)
{
	char *longer = xprintf("%s%s\n", *text, line);

	free(*text);
	*text = longer;
}

/* All that a saved boot depends on. An upgrade of a package changes the time of its directory. */
static char *key_of(const struct qemu_machine *like)
{
	struct qemu_machine m = booted_machine(like);
	const char *const parts[] = {
		m.emulator, m.kernel, "/usr/share/qemu", "/usr/share/seabios",
	};
	char *init = guest_init_path(), **argv = qemu_machine_command(&m);
	char *key = xprintf("%08lx\n", crc_of(init));

	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		char *stamp = stamp_of(parts[i]);

		add_line(&key, stamp);
		free(stamp);
	}
	for (char **word = argv; *word; word++) {
		add_line(&key, *word);
		free(*word);
	}
	free(argv);
	free(init);
	return key;
}

static char *in(const char *directory, const char *name)
{
	return xprintf("%s/%s", directory, name);
}

static bool is_of(const char *directory, const char *key)
{
	char *path = in(directory, "key"), text[16384] = "";
	FILE *f = fopen(path, "re");
	bool same = f && fread(text, 1, sizeof(text) - 1, f) && !strcmp(text, key);

	if (f)
		fclose(f);
	free(path);
	return same;
}

static bool write_text(const char *directory, const char *name, const char *text)
{
	char *path = in(directory, name);
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	bool written = fd >= 0 && !write_full(fd, text, strlen(text)) && !fchmod(fd, 0644);

	if (fd >= 0 && close(fd))
		written = false;
	free(path);
	return written;
}

static const char *const names[QEMU_BOOTED_FILES] = {
	[QEMU_MEMORY] = "memory", [QEMU_STATE] = "state",
};

char *booted_path(const char *directory, int file)
{
	return in(directory, names[file]);
}

static void close_files(const int files[QEMU_BOOTED_FILES])
{
	for (int i = 0; i < QEMU_BOOTED_FILES; i++)
		if (files[i] >= 0)
			close(files[i]);
}

/* Opens the files in a directory. */
static bool open_files(int files[QEMU_BOOTED_FILES], const char *directory, int flags)
{
	bool good = true;

	for (int i = 0; i < QEMU_BOOTED_FILES; i++) {
		char *path = in(directory, names[i]);

		files[i] = open(path, flags | O_CLOEXEC, 0644);
		good = good && files[i] >= 0;
		free(path);
	}
	if (!good)
		close_files(files);
	return good;
}

/* Makes files that nobody else has. */
static void new_files(int files[QEMU_BOOTED_FILES])
{
	for (int i = 0; i < QEMU_BOOTED_FILES; i++)
		files[i] = guest_new_file(names[i]);
}

/* Opens a saved boot. The shared lock on its memory keeps it in the cache. */
static bool open_saved(struct booted *b, const char *directory, const char *key)
{
	int memory;
	struct stat st;

	if (!is_of(directory, key) || !open_files(b->files, directory, O_RDONLY))
		return false;
	memory = b->files[QEMU_MEMORY];
	if (flock(memory, LOCK_SH) || fstat(memory, &st) || !st.st_nlink) {
		close_files(b->files);
		return false;
	}
	b->directory = xstrdup(directory);
	utimensat(AT_FDCWD, directory, NULL, 0);
	return true;
}

struct known {
	char *path;
	struct timespec used;
};

static int by_use(const void *a, const void *b)
{
	const struct known *x = a, *y = b;

	if (x->used.tv_sec != y->used.tv_sec)
		return x->used.tv_sec < y->used.tv_sec ? 1 : -1;
	return (x->used.tv_nsec < y->used.tv_nsec) - (x->used.tv_nsec > y->used.tv_nsec);
}

/*
 * Removes a saved boot unless a process has a lock on its memory. A guest on another machine
 * may open the files later, so that open files alone do not tell.
 */
static void remove_unused(const char *directory)
{
	char *path = in(directory, names[QEMU_MEMORY]);
	/* To write: an exclusive lock on a network file system asks for that. */
	int memory = open(path, O_RDWR | O_CLOEXEC);
	struct stat st;

	/* Without a link, another process has removed it, and perhaps saved the next one. */
	if (memory >= 0 ? !flock(memory, LOCK_EX | LOCK_NB) && !fstat(memory, &st) && st.st_nlink :
	    errno == ENOENT)
		remove_tree(directory);
	if (memory >= 0)
		close(memory);
	free(path);
}

struct all_known {
	struct known *list;
	size_t count;
};

/* One that is not complete is not counted. Another process makes it, unless it is old. */
static void know(struct all_known *all, char *path, const struct stat *st)
{
	bool is_part = !strncmp(base_name(path), BOOTED_PART, strlen(BOOTED_PART));

	if (!is_part) {
		all->list = xrealloc(all->list, (all->count + 1) * sizeof(*all->list));
		all->list[all->count++] = (struct known){ path, st->st_mtim };
		return;
	}
	if (st->st_mtim.tv_sec + PART_S < time(NULL))
		remove_unused(path);
	free(path);
}

/* Removes saved boots that are not in use, but not those that were used last. */
static void remove_old(const char *cache)
{
	struct all_known all = { 0 };
	DIR *dir = opendir(cache);
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		struct stat st;

		if (!strncmp(entry->d_name, BOOTED_PREFIX, strlen(BOOTED_PREFIX)) &&
		    !fstatat(dirfd(dir), entry->d_name, &st, 0))
			know(&all, in(cache, entry->d_name), &st);
	}
	if (dir)
		closedir(dir);
	if (all.count)
		qsort(all.list, all.count, sizeof(*all.list), by_use);
	for (size_t i = 0; i < all.count; i++) {
		if (i >= KEPT)
			remove_unused(all.list[i].path);
		free(all.list[i].path);
	}
	free(all.list);
}

/* Copies a file, but no holes. */
static bool copy(int from, int to)
{
	off_t at = 0, hole;

	if (ftruncate(to, lseek(from, 0, SEEK_END)))
		return false;
	while ((at = lseek(from, at, SEEK_DATA)) >= 0) {
		hole = lseek(from, at, SEEK_HOLE);
		if (lseek(to, at, SEEK_SET) < 0)
			return false;
		while (at < hole)
			if (sendfile(to, from, &at, hole - at) <= 0)
				return false;
	}
	/* After a crash of the host, the key must not be there without the rest. */
	return errno == ENXIO && !fchmod(to, 0644) && !fsync(to);
}

static bool write_state(const struct booted *b, const char *directory, const char *key)
{
	int files[QEMU_BOOTED_FILES];
	bool written = true;

	if (chmod(directory, 0755) || !open_files(files, directory, O_RDWR | O_CREAT))
		return false;
	for (int i = 0; i < QEMU_BOOTED_FILES; i++)
		written = written && copy(b->files[i], files[i]);
	close_files(files);
	return written && write_text(directory, "key", key);
}

/* Others see all of a saved boot, or nothing. They may save the same one at the same time. */
static void save(const struct booted *b, const char *cache, const char *directory, const char *key)
{
	char *part = xprintf("%s/" BOOTED_PART "XXXXXX", cache);

	if (mkdtemp(part)) {
		if (write_state(b, part, key) && rename(part, directory)) {
			/*
			 * The name is taken by a damaged one, by one whose key has the same checksum,
			 * or by this one, which another process has just saved.
			 */
			remove_unused(directory);
			rename(part, directory);
		}
		remove_tree(part);
	}
	free(part);
}

static void show(int log)
{
	char buf[4096];
	ssize_t n;

	lseek(log, 0, SEEK_SET);
	while ((n = read(log, buf, sizeof(buf))) > 0)
		write_full(STDERR_FILENO, buf, n);
}

static void boot(struct booted *b, const struct qemu_machine *m)
{
	int log = guest_new_file("log");
	const char *error;

	b->directory = NULL;
	fcntl(log, F_SETFL, O_APPEND);
	new_files(b->files);
	error = booted_save(m, b->files, log);
	if (error) {
		show(log);
		die(STATUS_FAILED, "cannot save the boot of a guest: %s", error);
	}
	close(log);
}

static char *directory_of(const char *cache, const char *key)
{
	return xprintf("%s/" BOOTED_PREFIX "%08lx", cache,
		       crc32(0, (const unsigned char *)key, strlen(key)));
}

/* If the cache is full or cannot be written, only this process and its children use the boot. */
static void boot_and_save(struct booted *b, const struct qemu_machine *m, const char *cache,
			  const char *directory, const char *key)
{
	struct booted saved;
	char *now;

	boot(b, m);
	/* Somebody may have installed another program meanwhile. */
	now = key_of(m);
	if (!strcmp(now, key))
		save(b, cache, directory, key);
	free(now);
	remove_old(cache);
	if (open_saved(&saved, directory, key)) {
		close_files(b->files);
		*b = saved;
	}
}

void booted_find(struct booted *b, const struct qemu_machine *m, const char *cache)
{
	char *key, *directory;

	if (!cache) {
		boot(b, m);
		return;
	}
	key = key_of(m);
	directory = directory_of(cache, key);
	if (!open_saved(b, directory, key))
		boot_and_save(b, m, cache, directory, key);
	free(directory);
	free(key);
}

char *booted_share(const struct booted *b, const char *directory)
{
	char *copied = xprintf("%s/" BOOTED_PREFIX "XXXXXX", directory);

	guest_check(mkdtemp(copied) && write_state(b, copied, ""), copied);
	return copied;
}
