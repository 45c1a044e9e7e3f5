/* SPDX-License-Identifier: GPL-2.0 */
/* An initial file system for Linux: a cpio archive of files of the host. */
#ifndef TOOLS_ARCHIVE_H
#define TOOLS_ARCHIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

struct archive_file {
	char *path;		/* absolute, of the host and in the archive */
	struct stat st;
	char *target;		/* where a symbolic link points */
	int directory;		/* index of its watched one, or -1 */
	uint32_t crc;		/* if watched, of its content */
};

/* All 0 is an empty one. */
struct archive {
	int fd;			/* to write to, a file: set by the caller */
	void *root;		/* root of a tree of files, by path */
	uint64_t size;		/* sum over all files, in bytes */
	uint64_t written;
	uint32_t inode;
};

/*
 * Adds the file at path, which lstat() has told of, unless it is there already.
 * Its directories have to be there as well.
 */
void archive_add(struct archive *a, const char *path, const struct stat *st,
		 int directory);
bool archive_has(const struct archive *a, const char *path);

/*
 * Writes all files. One that may not be read is empty. These end the program
 * where something cannot be read or written.
 */
void archive_write(struct archive *a);
/* Calls back for each file, in the order of their paths. */
void archive_walk(const struct archive *a,
		  void (*visit)(const struct archive_file *f, void *arg),
		  void *arg);
/* A file that is none of the host's. */
void archive_write_data(struct archive *a, const char *path, mode_t mode,
			const void *data, size_t size);
/*
 * The same from a descriptor, from its position to its end. Returns the size,
 * or more than most and has not written all of it.
 */
uint64_t archive_write_stream(struct archive *a, const char *path, mode_t mode,
			      int fd, uint64_t most);
void archive_end(struct archive *a);
void archive_free(struct archive *a);

#endif
