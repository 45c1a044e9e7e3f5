// SPDX-License-Identifier: GPL-2.0
#include "result-file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "paths.h"
#include "util.h"

bool result_file_is_stdout(const char *name)
{
	return name && (!strcmp(name, "-") || !strcmp(name, "/dev/stdout"));
}

/* Prints a message and returns -1. error is 0 if the write set no errno. */
static int report(const char *name, int error)
{
	warn("%s: %s", name, error == ENOENT && *name ? "No such file or directory: create the directory first" :
	     error ? strerror(error) : "cannot be written");
	return -1;
}

static bool begins_with(const char *text, const char *start)
{
	return !strncmp(text, start, strlen(start));
}

/*
 * A rename cannot replace a device or FIFO. A path to a descriptor names an
 * open file, which a rename would not change.
 */
static bool is_direct(const char *name)
{
	struct stat st;

	if (begins_with(name, "/dev/fd/") || begins_with(name, "/proc/") ||
	    !strcmp(name, "/dev/stderr"))
		return true;
	/* For a directory, fopen() then reports the error. */
	if (!stat(name, &st))
		return !S_ISREG(st.st_mode);
	/* fopen() creates the file that a dangling link names. */
	return errno == ENOENT && !lstat(name, &st);
}

/* Returns the absolute path without links, or NULL with errno. */
static char *absolute(const char *name)
{
	const char *last = base_name(name);
	char *path = realpath(name, NULL), *directory, *parent;

	if (path || errno != ENOENT || !*last)
		return path;
	directory = last == name ? xstrdup(".") :
				   xprintf("%.*s", (int)(last - name), name);
	parent = realpath(directory, NULL);
	free(directory);
	if (!parent)
		return NULL;
	path = xprintf("%s/%s", strcmp(parent, "/") ? parent : "", last);
	free(parent);
	return path;
}

/* Gives the new file the old one's permissions, or those of any new file. */
static void set_mode(int fd, const char *target)
{
	struct stat st;
	mode_t mask;

	if (!lstat(target, &st) && S_ISREG(st.st_mode)) {
		/* The bits are for the old group: drop them if it cannot stay. */
		if (fchown(fd, st.st_uid, st.st_gid) &&
		    fchown(fd, -1, st.st_gid))
			st.st_mode &= ~(mode_t)S_IRWXG;
		fchmod(fd, st.st_mode & 0777);
		return;
	}
	mask = umask(0);
	umask(mask);
	fchmod(fd, 0666 & ~mask);
}

/* Creates an empty file beside target. Its descriptor, or -1 with errno. */
static int create_beside(const char *target, char **beside)
{
	const char *last = base_name(target);
	int fd;

	/* The old name may be the longest that is allowed: shorten it. */
	*beside = xprintf("%.*s.%.200s.XXXXXX", (int)(last - target), target,
			  last);
	fd = mkostemp(*beside, O_CLOEXEC);
	if (fd < 0) {
		free(*beside);
		*beside = NULL;
	}
	return fd;
}

/* A rename could replace a file that the user may not write: refuse it. */
static int check_target(const char *target)
{
	char *beside;
	int fd;

	if (access(target, W_OK) && errno != ENOENT)
		return -1;
	fd = create_beside(target, &beside);
	if (fd < 0)
		return -1;
	/* Leave no empty file behind while the command measures. */
	unlink(beside);
	close(fd);
	free(beside);
	return 0;
}

int result_file_check(struct result_file *r, const char *name)
{
	*r = (struct result_file){ .name = name };
	if (result_file_is_stdout(name)) {
		r->file = stdout;
		return 0;
	}
	if (is_direct(name)) {
		r->file = fopen(name, "ae");
		return r->file ? 0 : report(name, errno);
	}
	r->target = absolute(name);
	if (r->target && !check_target(r->target))
		return 0;
	report(name, errno);
	free(r->target);
	*r = (struct result_file){ 0 };
	return -1;
}

FILE *result_file_begin(struct result_file *r)
{
	int fd;

	if (r->file)
		return r->file;
	fd = create_beside(r->target, &r->beside);
	if (fd < 0) {
		report(r->name, errno);
		return NULL;
	}
	set_mode(fd, r->target);
	r->file = fdopen(fd, "w");
	if (!r->file)
		die(STATUS_FAILED, "out of memory");
	errno = 0;
	return r->file;
}

/* Closes the file unless it is standard output. 0, or -1 with errno. */
static int close_file(struct result_file *r)
{
	/* fflush() does not report an error if a later write succeeds. */
	int err = ferror(r->file);

	if (fflush(r->file))
		err = -1;
	if (r->file == stdout)
		return err;
	if (fclose(r->file))
		err = -1;
	r->file = NULL;
	return err;
}

/* Copies a complete file into another one. 0, or -1 with errno. */
static int copy_into(const char *target, const char *from)
{
	int in = open(from, O_RDONLY | O_CLOEXEC);
	int out = open(target, O_WRONLY | O_TRUNC | O_CLOEXEC), number;
	char block[65536];
	ssize_t n = in < 0 || out < 0 ? -1 : 0;

	while (!n && (n = read(in, block, sizeof(block))) > 0)
		n = write(out, block, n) == n ? 0 : -1;
	if (out >= 0 && close(out))
		n = -1;
	number = errno;
	if (in >= 0)
		close(in);
	errno = number;
	return n ? -1 : 0;
}

/*
 * A rename fails if the target is mounted, or another user's in a directory such as
 * /tmp. The result is complete: keep it in any case.
 */
static int replace(struct result_file *r)
{
	if (!rename(r->beside, r->target))
		return 0;
	if (!copy_into(r->target, r->beside)) {
		unlink(r->beside);
		return 0;
	}
	warn("%s: %s. The result is in %s", r->name, strerror(errno), r->beside);
	return -1;
}

int result_file_end(struct result_file *r, int error)
{
	int number = error ? errno : 0;

	if (close_file(r)) {
		number = number ? number : errno;
		error = -1;
	}
	if (error)
		report(r->name, number);
	if (r->beside && error)
		unlink(r->beside);
	else if (r->beside)
		error = replace(r);
	free(r->beside);
	r->beside = NULL;
	return error;
}

void result_file_free(struct result_file *r)
{
	if (r->file && r->file != stdout)
		fclose(r->file);
	if (r->beside)
		unlink(r->beside);
	free(r->beside);
	free(r->target);
	*r = (struct result_file){ 0 };
}

int result_files_check(struct result_file *r, const char *const *names,
		       size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (names[i] && result_file_check(&r[i], names[i]))
			return -1;
	return 0;
}

void result_files_free(struct result_file *r, size_t count)
{
	for (size_t i = 0; i < count; i++)
		result_file_free(&r[i]);
}

int result_files_write(struct result_file *r, size_t count,
		       int (*write)(FILE *f, size_t index, const void *arg),
		       const void *arg)
{
	int err = 0;

	for (size_t i = 0; i < count; i++) {
		if (!r[i].name)
			continue;
		if (!result_file_begin(&r[i]) ||
		    result_file_end(&r[i], write(r[i].file, i, arg)))
			err = -1;
	}
	return err;
}
