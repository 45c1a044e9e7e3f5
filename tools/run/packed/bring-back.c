// SPDX-License-Identifier: GPL-2.0
#include "bring-back.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "run/proto.h"
#include "base/util.h"

struct record {
	struct packed_file f;
	const char *path;
	const char *data;
};

struct records {
	const char *p;
	const char *end;
	int directories;
};

/* The next one; false if there is none, or no good one. */
static bool next(struct records *s, struct record *r)
{
	size_t left = s->end - s->p;

	if (left < sizeof(r->f))
		return false;
	memcpy(&r->f, s->p, sizeof(r->f));
	left -= sizeof(r->f);
	if (r->f.path > left || r->f.size > left - r->f.path || !r->f.path)
		return false;
	r->path = s->p + sizeof(r->f);
	r->data = r->path + r->f.path;
	s->p = r->data + r->f.size;
	if (r->path[r->f.path - 1] || r->f.directory < FILES_END ||
	    r->f.directory >= s->directories)
		return false;
	return !S_ISLNK(r->f.mode) ||
	       (r->f.size && !r->data[r->f.size - 1]);
}

static bool is_complete(struct records s)
{
	struct record r;

	while (next(&s, &r))
		if (r.f.directory == FILES_END)
			return s.p == s.end;
	return false;
}

/* The directory that a file is in, and its name there, or -1. */
static int open_parent(int directory, const char *path, const char **name)
{
	struct open_how how = {
		.flags = O_PATH | O_DIRECTORY | O_CLOEXEC,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS,
	};
	const char *slash = strrchr(path, '/');
	char *parent;
	int fd;

	*name = slash ? slash + 1 : path;
	if (!**name || !strcmp(*name, ".") || !strcmp(*name, "..")) {
		errno = EINVAL;
		return -1;
	}
	parent = slash ? xprintf("%.*s", (int)(slash - path), path) :
			 xstrdup(".");
	fd = syscall(SYS_openat2, directory, parent, &how, sizeof(how));
	free(parent);
	return fd;
}

/* Keeps a directory that holds something never packed, such as a socket. */
static int remove_file(int parent, const char *name)
{
	if (!unlinkat(parent, name, 0) || errno == ENOENT)
		return 0;
	if (errno == EISDIR &&
	    (!unlinkat(parent, name, AT_REMOVEDIR) || errno == ENOTEMPTY))
		return 0;
	return -1;
}

static int write_regular(int parent, const struct record *r, const char *name)
{
	int flags = O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_NONBLOCK |
		    O_CLOEXEC;
	int fd = openat(parent, name, flags, 0600), result;

	/* One that may not be written to, or is of another type. */
	if (fd < 0 && (errno == EACCES || errno == ELOOP || errno == ENXIO) &&
	    !unlinkat(parent, name, 0))
		fd = openat(parent, name, flags, 0600);
	if (fd < 0)
		return -1;
	result = write_full(fd, r->data, r->f.size);
	if (!result)
		result = fchmod(fd, r->f.mode & 07777);
	if (close(fd))
		result = -1;
	return result;
}

static int make_directory(int parent, const char *name)
{
	return mkdirat(parent, name, 0700) && errno != EEXIST ? -1 : 0;
}

/* Once all is in it that is to be. */
static int set_mode(int parent, const struct record *r, const char *name)
{
	int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW |
			O_CLOEXEC), result;

	if (fd < 0)
		return -1;
	result = fchmod(fd, r->f.mode & 07777);
	close(fd);
	return result;
}

static int make_other(int parent, const struct record *r, const char *name)
{
	if (unlinkat(parent, name, 0) && errno != ENOENT)
		return -1;
	return S_ISLNK(r->f.mode) ? symlinkat(r->data, parent, name) :
				    mkfifoat(parent, name, r->f.mode & 07777);
}

static int apply(int directory, const struct record *r, bool modes)
{
	const char *name;
	int parent = open_parent(directory, r->path, &name), result;

	if (parent < 0)
		return !r->f.mode && errno == ENOENT ? 0 : -1;
	if (modes)
		result = set_mode(parent, r, name);
	else if (!r->f.mode)
		result = remove_file(parent, name);
	else if (S_ISREG(r->f.mode))
		result = write_regular(parent, r, name);
	else if (S_ISDIR(r->f.mode))
		result = make_directory(parent, name);
	else
		result = make_other(parent, r, name);
	close(parent);
	return result;
}

/* All records, or those of directories for their modes. */
static char *apply_all(struct records s, char *const *directories, bool modes)
{
	char *error = NULL;
	struct record r;

	while (next(&s, &r) && r.f.directory != FILES_END) {
		const char *directory = directories[r.f.directory];
		int fd;

		if (modes && !S_ISDIR(r.f.mode))
			continue;
		fd = open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
		if ((fd < 0 || apply(fd, &r, modes)) && !error)
			error = xprintf("cannot bring back %s/%s: %s",
					directory, r.path, strerror(errno));
		if (fd >= 0)
			close(fd);
	}
	return error;
}

char *bring_back(int fd, char *const *directories)
{
	struct records s = { 0 };
	struct stat st;
	char *error, *other;
	void *map;

	while (directories[s.directories])
		s.directories++;
	if (fstat(fd, &st) || !st.st_size)
		return xstrdup("the guest ended before it sent back what the command wrote");
	map = mmap(NULL, st.st_size, PROT_READ, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED)
		return xprintf("cannot read what the command wrote: %s",
			       strerror(errno));
	s.p = map;
	s.end = s.p + st.st_size;
	if (is_complete(s)) {
		error = apply_all(s, directories, false);
		other = apply_all(s, directories, true);
		if (!error)
			error = other;
		else
			free(other);
	} else {
		error = xstrdup("what the command wrote did not come back whole, and was left out");
	}
	munmap(map, st.st_size);
	return error;
}
