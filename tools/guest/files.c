// SPDX-License-Identifier: GPL-2.0
/*
 * Checks that a guest has all its packed files. At the end, finds the files
 * that the command made, changed or removed. It compares contents, because
 * writing to a mapped file may leave its times unchanged.
 */
#include "files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <zlib.h>

#include "channels.h"
#include "ending.h"
#include "run/proto.h"
#include "base/util.h"

struct listed {
	struct packed_file f;
	char *path;		/* from its directory on */
	bool found;
};

static struct listed *list;
static size_t nr_listed;

/* Files that the command left, in the order in which init found them. */
static struct listed *changed;
static size_t nr_changed;

static char *const *roots;
static int out = -1;

static int by_place(const void *a, const void *b)
{
	const struct listed *x = a, *y = b;

	if (x->f.directory != y->f.directory)
		return x->f.directory < y->f.directory ? -1 : 1;
	return strcmp(x->path, y->path);
}

static char *read_list(size_t *size)
{
	int fd = open(PACKED_LIST, O_RDONLY | O_CLOEXEC);
	struct stat st;
	char *buf;

	if (fd < 0 || fstat(fd, &st))
		fail("cannot open " PACKED_LIST);
	buf = xmalloc(st.st_size + 1);
	if (read_full(fd, buf, st.st_size))
		fail("cannot read " PACKED_LIST);
	close(fd);
	*size = st.st_size;
	return buf;
}

/* "": the directory itself */
static char *full_path(const struct listed *l)
{
	return xprintf("%s%s%s", roots[l->f.directory], *l->path ? "/" : "",
		       l->path);
}

/* The archive has no times of these files: see header_mtime(). */
static void set_time(const struct listed *l, const char *path)
{
	const struct timespec times[2] = {
		{ .tv_nsec = UTIME_OMIT }, { .tv_sec = l->f.mtime },
	};

	if (!S_ISDIR(l->f.mode) &&
	    utimensat(AT_FDCWD, path, times, AT_SYMLINK_NOFOLLOW))
		fail("cannot set the time of %s", path);
}

static void check(const struct listed *l)
{
	char *path = full_path(l);
	struct stat st;

	if (lstat(path, &st) || (st.st_mode & S_IFMT) != (l->f.mode & S_IFMT) ||
	    (S_ISREG(st.st_mode) && (uint64_t)st.st_size != l->f.size)) {
		errno = ENOSPC;
		fail("%s was not unpacked: --memory gives the guest more", path);
	}
	set_time(l, path);
	free(path);
}

void files_begin(char *const *writable)
{
	size_t size;
	/* Never freed: it holds the paths. */
	char *p = read_list(&size), *end = p + size;

	roots = writable;
	while ((size_t)(end - p) > sizeof(struct packed_file)) {
		struct listed l = { 0 };

		memcpy(&l.f, p, sizeof(l.f));
		p += sizeof(l.f);
		if (l.f.path > (size_t)(end - p))
			break;
		l.path = p;
		p += l.f.path;
		list = xrealloc(list, (nr_listed + 1) * sizeof(*list));
		list[nr_listed++] = l;
	}
	if (p != end) {
		errno = EPROTO;
		fail(PACKED_LIST " is cut short");
	}
	if (nr_listed)
		qsort(list, nr_listed, sizeof(*list), by_place);
	for (size_t i = 0; i < nr_listed; i++)
		check(&list[i]);
}

static uint32_t checksum(const char *path)
{
	unsigned char buf[65536];
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	uint32_t crc = 0;
	ssize_t n;

	if (fd < 0)
		fail("cannot open %s", path);
	while ((n = read(fd, buf, sizeof(buf))) > 0)
		crc = crc32(crc, buf, n);
	close(fd);
	return crc;
}

static char *read_target(const char *path)
{
	char target[PATH_MAX];
	ssize_t n = readlink(path, target, sizeof(target) - 1);

	if (n < 0)
		fail("cannot read %s", path);
	target[n] = '\0';
	return xstrdup(target);
}

static bool is_changed(const struct packed_file *was, const char *path,
		       const struct stat *st)
{
	bool same;
	char *target;

	if (was->mode != st->st_mode)
		return true;
	if (S_ISREG(st->st_mode))
		return was->size != (uint64_t)st->st_size ||
		       was->mtime != st->st_mtime || was->crc != checksum(path);
	if (!S_ISLNK(st->st_mode))
		return false;
	target = read_target(path);
	same = was->crc == crc32(0, (unsigned char *)target, strlen(target));
	free(target);
	return !same;
}

/* The archive holds files of these types only. */
static bool is_packed(mode_t mode)
{
	return S_ISREG(mode) || S_ISDIR(mode) || S_ISLNK(mode) || S_ISFIFO(mode);
}

static void compare(struct listed *l, const char *path, const struct stat *st)
{
	struct listed *was = nr_listed ? bsearch(l, list, nr_listed,
						 sizeof(*list), by_place) : NULL;

	/* Something else in its place comes after it has gone. */
	if (was && (was->f.mode & S_IFMT) != (st->st_mode & S_IFMT))
		was = NULL;
	if (was)
		was->found = true;
	if (was && !is_changed(&was->f, path, st))
		return;
	l->f.mode = st->st_mode;
	l->f.size = S_ISREG(st->st_mode) ? st->st_size : 0;
	changed = xrealloc(changed, (nr_changed + 1) * sizeof(*changed));
	changed[nr_changed] = *l;
	changed[nr_changed++].path = xstrdup(l->path);
}

/* Another one of those that are watched has its turn. */
static bool is_root(const char *path)
{
	for (size_t i = 0; roots[i]; i++)
		if (!strcmp(roots[i], path))
			return true;
	return false;
}

static void walk(int directory, const char *relative)
{
	struct listed dir = {
		.f.directory = directory, .path = (char *)relative,
	};
	char *path = full_path(&dir);
	DIR *d = opendir(path);
	struct dirent *entry;

	free(path);
	if (!d)
		return;
	while ((entry = readdir(d))) {
		struct listed l = { .f.directory = directory };
		struct stat st;

		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
			continue;
		l.path = xprintf("%s%s%s", relative, *relative ? "/" : "",
				 entry->d_name);
		path = full_path(&l);
		if (!is_root(path) && !lstat(path, &st) &&
		    is_packed(st.st_mode)) {
			compare(&l, path, &st);
			if (S_ISDIR(st.st_mode))
				walk(directory, l.path);
		}
		free(path);
		free(l.path);
	}
	closedir(d);
}

static void put(const void *data, size_t size)
{
	if (write_full(out, data, size))
		fail("cannot send the files that changed");
}

static void put_header(const struct listed *l)
{
	struct packed_file f = l->f;

	f.path = strlen(l->path) + 1;
	put(&f, sizeof(f));
	put(l->path, f.path);
}

static void put_contents(const char *path, uint64_t size)
{
	char buf[65536];
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0)
		fail("cannot open %s", path);
	while (size) {
		size_t part = size < sizeof(buf) ? size : sizeof(buf);

		if (read_full(fd, buf, part))
			fail("cannot read %s", path);
		put(buf, part);
		size -= part;
	}
	close(fd);
}

static void put_changed(struct listed *l)
{
	char *path = full_path(l), *target = NULL;

	if (S_ISLNK(l->f.mode)) {
		target = read_target(path);
		l->f.size = strlen(target) + 1;
	}
	put_header(l);
	if (target)
		put(target, l->f.size);
	else if (l->f.size)
		put_contents(path, l->f.size);
	free(target);
	free(path);
}

void files_send(int channel)
{
	struct listed end = { .f.directory = FILES_END, .path = "" };

	out = channel_open(channel, O_WRONLY);
	for (int i = 0; roots[i]; i++)
		walk(i, "");
	for (size_t i = nr_listed; i-- > 0;) {
		struct listed *l = &list[i];

		if (l->found)
			continue;
		l->f.mode = 0;
		l->f.size = 0;
		put_header(l);
	}
	for (size_t i = 0; i < nr_changed; i++)
		put_changed(&changed[i]);
	put_header(&end);
	close(out);
}
