// SPDX-License-Identifier: GPL-2.0
/* Files, and the one way out when something fails. */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dedup.h"

/* An output file that is not whole yet: half an archive is of no use. */
static const char *volatile unfinished;

void die(const char *format, ...)
{
	va_list args;
	char message[512];

	va_start(args, format);
	vsnprintf(message, sizeof(message), format, args);
	va_end(args);
	fprintf(stderr, "dedup: %s\n", message);
	if (unfinished)
		unlink(unfinished);
	/* Other threads may be anywhere: no destructors. */
	_exit(1);
}

void *allocate(size_t size)
{
	void *memory = calloc(1, size);

	if (!memory)
		die("no memory for %zu bytes", size);
	return memory;
}

int input_open(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat status;

	if (fd < 0 || fstat(fd, &status))
		die("cannot read %s: %s", path, strerror(errno));
	if (S_ISDIR(status.st_mode))
		die("cannot read %s: %s", path, strerror(EISDIR));
	return fd;
}

size_t input_read(int fd, const char *path, void *buffer, size_t size)
{
	size_t done = 0;

	while (done < size) {
		ssize_t n = read(fd, (char *)buffer + done, size - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			die("cannot read %s: %s", path, strerror(errno));
		if (!n)
			break;
		done += n;
	}
	return done;
}

int output_open(const char *path, int input)
{
	struct stat status, input_status;
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);

	if (fd < 0 || fstat(fd, &status) || fstat(input, &input_status))
		die("cannot write %s: %s", path, strerror(errno));
	if (!S_ISREG(status.st_mode))
		return fd;
	if (status.st_dev == input_status.st_dev &&
	    status.st_ino == input_status.st_ino)
		die("%s is both input and output", path);
	unfinished = path;
	if (ftruncate(fd, 0))
		die("cannot write %s: %s", path, strerror(errno));
	return fd;
}

void output_write(int fd, const char *path, const void *data, size_t size)
{
	const char *from = data;

	while (size) {
		ssize_t n = write(fd, from, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			die("cannot write %s: %s", path, strerror(errno));
		from += n;
		size -= n;
	}
}

void output_close(int fd, const char *path)
{
	if (close(fd))
		die("cannot write %s: %s", path, strerror(errno));
	unfinished = NULL;
}
