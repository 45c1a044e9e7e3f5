// SPDX-License-Identifier: GPL-2.0
#include "archive.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <zlib.h>

#include "base/util.h"

#define CHUNK	65536

static int by_path(const void *a, const void *b)
{
	const struct archive_file *x = a, *y = b;

	return strcmp(x->path, y->path);
}

static char *read_target(const char *path)
{
	char target[PATH_MAX];
	ssize_t n = readlink(path, target, sizeof(target) - 1);

	if (n < 0)
		die(STATUS_FAILED, "%s: %s", path, strerror(errno));
	target[n] = '\0';
	return xstrdup(target);
}

bool archive_has(const struct archive *a, const char *path)
{
	struct archive_file key = { .path = (char *)path };

	return tfind(&key, &a->root, by_path);
}

void archive_add(struct archive *a, const char *path, const struct stat *st,
		 int directory)
{
	struct archive_file *f;

	if (archive_has(a, path))
		return;
	f = xmalloc(sizeof(*f));
	f->path = xstrdup(path);
	f->st = *st;
	f->directory = directory;
	if (S_ISLNK(st->st_mode))
		f->target = read_target(path);
	if (S_ISREG(st->st_mode))
		a->size += st->st_size;
	if (!tsearch(f, &a->root, by_path))
		die(STATUS_FAILED, "out of memory");
}

static void put(struct archive *a, const void *data, size_t size)
{
	if (write_full(a->fd, data, size))
		die(STATUS_FAILED, "cannot pack the files for the guest: %s",
		    strerror(errno));
	a->written += size;
}

static void pad(struct archive *a)
{
	static const char zeros[4];

	put(a, zeros, -a->written & 3);
}

/* Writes a header of the format "newc". */
static void put_header(struct archive *a, const char *path,
		       const struct stat *st, uint32_t mtime, uint64_t size)
{
	const char *name = path + strspn(path, "/");
	char header[111];

	if (size > UINT32_MAX)
		die(STATUS_FAILED, "%s: files of 4 GB and more cannot be packed",
		    path);
	snprintf(header, sizeof(header),
		 "070701%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X",
		 ++a->inode, st->st_mode, st->st_uid, st->st_gid, 1,
		 mtime, (uint32_t)size, 0, 0,
		 major(st->st_rdev), minor(st->st_rdev),
		 (uint32_t)strlen(name) + 1, 0);
	put(a, header, sizeof(header) - 1);
	put(a, name, strlen(name) + 1);
	pad(a);
}

/* So many bytes, whatever has become of the file in the meantime. */
static uint32_t put_contents(struct archive *a, int fd, uint64_t size)
{
	char buf[CHUNK];
	uint32_t crc = 0;

	while (size) {
		size_t part = size < CHUNK ? size : CHUNK;
		ssize_t n = read(fd, buf, part);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			memset(buf, 0, n = part);
		put(a, buf, n);
		crc = crc32(crc, (unsigned char *)buf, n);
		size -= n;
	}
	pad(a);
	return crc;
}

/*
 * Other programs may touch directories, and files where the command may write. The guest's
 * kernel parses times in hexadecimal, and A to F take more instructions than 0 to 9. To
 * keep runs equal, the archive has time 0 for both. PACKED_LIST has the times of files.
 */
static uint32_t header_mtime(const struct archive_file *f)
{
	return S_ISDIR(f->st.st_mode) || f->directory >= 0 ? 0 : f->st.st_mtime;
}

static uint32_t put_regular(struct archive *a, struct archive_file *f)
{
	int fd = open(f->path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	uint32_t crc;

	/*
	 * The header tells the size of the packed bytes: a file may have
	 * changed.
	 */
	if (fd < 0 || fstat(fd, &f->st) || !S_ISREG(f->st.st_mode))
		f->st.st_size = 0;
	put_header(a, f->path, &f->st, header_mtime(f), f->st.st_size);
	crc = put_contents(a, fd, f->st.st_size);
	if (fd >= 0)
		close(fd);
	return crc;
}

static void put_link(struct archive *a, const struct archive_file *f)
{
	put_header(a, f->path, &f->st, header_mtime(f), strlen(f->target));
	put(a, f->target, strlen(f->target));
	pad(a);
}

static void write_file(const void *node, VISIT order, void *arg)
{
	struct archive_file *f = *(struct archive_file *const *)node;
	struct archive *a = arg;

	if (order != postorder && order != leaf)
		return;
	if (S_ISREG(f->st.st_mode))
		f->crc = put_regular(a, f);
	else if (S_ISLNK(f->st.st_mode))
		put_link(a, f);
	else
		put_header(a, f->path, &f->st, header_mtime(f), 0);
}

void archive_write(struct archive *a)
{
	twalk_r(a->root, write_file, a);
}

struct walk {
	void (*visit)(const struct archive_file *f, void *arg);
	void *arg;
};

static void visit_file(const void *node, VISIT order, void *arg)
{
	const struct walk *w = arg;

	if (order == postorder || order == leaf)
		w->visit(*(struct archive_file *const *)node, w->arg);
}

void archive_walk(const struct archive *a,
		  void (*visit)(const struct archive_file *f, void *arg),
		  void *arg)
{
	struct walk w = { visit, arg };

	twalk_r(a->root, visit_file, &w);
}

void archive_write_data(struct archive *a, const char *path, mode_t mode,
			const void *data, size_t size)
{
	struct stat st = { .st_mode = mode };

	put_header(a, path, &st, 0, size);
	if (size)
		put(a, data, size);
	pad(a);
}

/* The size comes before the data: room for it is left and filled in. */
uint64_t archive_write_stream(struct archive *a, const char *path, mode_t mode,
			      int fd, uint64_t most)
{
	struct stat st = { .st_mode = mode };
	off_t start = lseek(a->fd, 0, SEEK_CUR), end;
	uint64_t size = 0, before = a->written, after;
	char buf[CHUNK];
	ssize_t n;

	put_header(a, path, &st, 0, 0);
	while ((n = read(fd, buf, sizeof(buf))) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			die(STATUS_FAILED, "%s: %s", path, strerror(errno));
		size += n;
		if (size > most)
			return size;
		put(a, buf, n);
	}
	pad(a);
	end = lseek(a->fd, 0, SEEK_CUR);
	after = a->written;
	a->written = before;
	lseek(a->fd, start, SEEK_SET);
	a->inode--;
	put_header(a, path, &st, 0, size);
	a->written = after;
	lseek(a->fd, end, SEEK_SET);
	return size;
}

void archive_end(struct archive *a)
{
	struct stat none = { 0 };

	put_header(a, "TRAILER!!!", &none, 0, 0);
}

static void free_file(void *node)
{
	struct archive_file *f = node;

	free(f->path);
	free(f->target);
	free(f);
}

void archive_free(struct archive *a)
{
	tdestroy(a->root, free_file);
	a->root = NULL;
}
