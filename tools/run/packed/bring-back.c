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
	int fd = openat(parent, name, flags, 0600), error = errno, result;

	/* One that may not be written to, or is of another type. */
	if (fd < 0 && (error == EACCES || error == ELOOP || error == ENXIO) &&
	    !unlinkat(parent, name, 0)) {
		fd = openat(parent, name, flags, 0600);
		error = errno;
	}
	errno = error;
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

static int apply_in(int parent, const struct record *r, const char *name)
{
	if (!r->f.mode)
		return remove_file(parent, name);
	if (S_ISREG(r->f.mode))
		return write_regular(parent, r, name);
	if (S_ISDIR(r->f.mode))
		return make_directory(parent, name);
	return make_other(parent, r, name);
}

/*
 * Gives the owner write permission for the change, and restores the mode. The owner did
 * the same in the guest.
 */
static int apply_in_closed(int parent, const struct record *r, const char *name)
{
	char *path = xprintf("/proc/self/fd/%d", parent);
	struct stat st;
	int result = -1, error = EACCES;

	if (!fstat(parent, &st) && !chmod(path, (st.st_mode & 07777) | S_IRWXU)) {
		result = apply_in(parent, r, name);
		error = errno;
		if (chmod(path, st.st_mode & 07777)) {
			result = -1;
			error = errno;
		}
	}
	free(path);
	errno = error;
	return result;
}

static int apply(int directory, const struct record *r, bool modes)
{
	const char *name;
	int parent = open_parent(directory, r->path, &name), result;

	if (parent < 0)
		return !r->f.mode && errno == ENOENT ? 0 : -1;
	result = modes ? set_mode(parent, r, name) : apply_in(parent, r, name);
	if (result && errno == EACCES && !modes)
		result = apply_in_closed(parent, r, name);
	close(parent);
	return result;
}

/* A record of one of these directories, which are open. Returns NULL, or an error. */
static char *try(const struct record *r, char *const *directories, const int *opened,
		 bool modes)
{
	if (!apply(opened[r->f.directory], r, modes))
		return NULL;
	return xprintf("cannot bring back %s/%s: %s", directories[r->f.directory],
		       r->path, strerror(errno));
}

static void keep_first(char **error, char *other)
{
	if (*error)
		free(other);
	else
		*error = other;
}

/*
 * Writes all files first. Then sets the modes of directories, the innermost first: nobody
 * may get below a directory whose final mode has no x.
 */
static char *apply_all(struct records s, char *const *directories, const int *opened)
{
	struct record r, *made = NULL;
	char *error = NULL;
	size_t n = 0;

	while (next(&s, &r) && r.f.directory != FILES_END) {
		keep_first(&error, try(&r, directories, opened, false));
		if (!S_ISDIR(r.f.mode))
			continue;
		made = xrealloc(made, (n + 1) * sizeof(*made));
		made[n++] = r;
	}
	while (n--)
		keep_first(&error, try(&made[n], directories, opened, true));
	free(made);
	return error;
}

/* Opens them before anything changes: a path could lead elsewhere afterwards. */
static char *apply_below(struct records s, char *const *directories)
{
	int *opened = xmalloc((s.directories + 1) * sizeof(*opened));
	char *error = NULL;
	int n;

	for (n = 0; n < s.directories && !error; n++) {
		opened[n] = open(directories[n], O_PATH | O_DIRECTORY | O_CLOEXEC);
		if (opened[n] < 0)
			error = xprintf("cannot bring back what the command wrote in %s: %s",
					directories[n], strerror(errno));
	}
	if (!error)
		error = apply_all(s, directories, opened);
	while (n--)
		if (opened[n] >= 0)
			close(opened[n]);
	free(opened);
	return error;
}

char *bring_back(int fd, char *const *directories)
{
	struct records s = { 0 };
	struct stat st;
	char *error;
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
	if (is_complete(s))
		error = apply_below(s, directories);
	else
		error = xstrdup("what the command wrote did not come back whole, and was left out");
	munmap(map, st.st_size);
	return error;
}
