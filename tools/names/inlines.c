// SPDX-License-Identifier: GPL-2.0
/*
 * libdw trusts its input: a damaged file may crash it or make it loop forever.
 * So another process reads the file, and sends its findings through a pipe.
 */
#include "inlines.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "inlines-dwarf.h"
#include "base/util.h"

#define SECONDS_MAX	300
#define TEXT_MAX	(1 << 24)
#define NO_TEXT		UINT32_MAX

static void put(FILE *f, const void *data, size_t len)
{
	if (len && fwrite(data, 1, len, f) != len)
		_exit(STATUS_FAILED);
}

static void put_number(FILE *f, uint64_t number)
{
	put(f, &number, sizeof(number));
}

static void put_text(FILE *f, const char *text)
{
	put_number(f, text ? strlen(text) : NO_TEXT);
	if (text)
		put(f, text, strlen(text));
}

static void put_inlines(FILE *f, const struct inlines *inlines)
{
	put_number(f, inlines->count);
	for (size_t i = 0; i < inlines->count; i++) {
		const struct inlined *function = &inlines->functions[i];

		put_text(f, function->symbol);
		put_text(f, function->file);
		put_number(f, function->copies);
		put_number(f, function->out_of_line);
		for (int j = 0; j < INLINED_CALLERS; j++)
			put_text(f, function->callers[j]);
	}
	put_number(f, inlines->nr_concrete);
	for (size_t i = 0; i < inlines->nr_concrete; i++) {
		const struct out_of_line *concrete = &inlines->concrete[i];

		put_number(f, concrete->value);
		put_number(f, concrete->function ?
			   (uint64_t)(concrete->function - inlines->functions) :
			   inlines->count);
	}
}

__attribute__((noreturn))
static void child(const char *path, int fd)
{
	const struct rlimit no_core = { 0, 0 };
	const struct rlimit time = { SECONDS_MAX, SECONDS_MAX };
	struct inlines inlines;
	int null, err;
	FILE *f;

	setrlimit(RLIMIT_CORE, &no_core);
	setrlimit(RLIMIT_CPU, &time);
	null = open("/dev/null", O_RDWR | O_CLOEXEC);
	dup2(null, STDERR_FILENO);
	f = fdopen(fd, "w");
	if (!f)
		_exit(STATUS_FAILED);
	err = inlines_parse(path, &inlines);
	put_number(f, -err);
	if (!err)
		put_inlines(f, &inlines);
	_exit(fclose(f) ? STATUS_FAILED : 0);
}

static bool get(FILE *f, void *data, size_t len)
{
	return fread(data, 1, len, f) == len;
}

static bool get_number(FILE *f, uint64_t *number)
{
	return get(f, number, sizeof(*number));
}

static bool get_text(FILE *f, char **text)
{
	uint64_t len;

	if (!get_number(f, &len))
		return false;
	if (len == NO_TEXT)
		return true;
	if (len > TEXT_MAX)
		return false;
	*text = xmalloc(len + 1);
	return get(f, *text, len);
}

static bool get_function(FILE *f, struct inlined *function)
{
	uint64_t copies, out_of_line;

	if (!get_text(f, &function->symbol) || !function->symbol ||
	    !get_text(f, &function->file) || !get_number(f, &copies) ||
	    !get_number(f, &out_of_line))
		return false;
	function->copies = copies;
	function->out_of_line = out_of_line;
	for (int i = 0; i < INLINED_CALLERS; i++)
		if (!get_text(f, &function->callers[i]))
			return false;
	return true;
}

static bool get_functions(FILE *f, struct inlines *inlines)
{
	uint64_t count;
	size_t room = 0;

	if (!get_number(f, &count))
		return false;
	while (inlines->count < count) {
		if (inlines->count == room) {
			room = room ? 2 * room : 64;
			inlines->functions = xrealloc(inlines->functions, room *
					sizeof(*inlines->functions));
		}
		memset(&inlines->functions[inlines->count], 0,
		       sizeof(*inlines->functions));
		if (!get_function(f, &inlines->functions[inlines->count++]))
			return false;
	}
	return true;
}

static bool get_concrete(FILE *f, struct inlines *inlines)
{
	uint64_t count, value, index;
	size_t room = 0;

	if (!get_number(f, &count))
		return false;
	while (inlines->nr_concrete < count) {
		if (!get_number(f, &value) || !get_number(f, &index) ||
		    index > inlines->count)
			return false;
		if (inlines->nr_concrete == room) {
			room = room ? 2 * room : 64;
			inlines->concrete = xrealloc(inlines->concrete, room *
					sizeof(*inlines->concrete));
		}
		inlines->concrete[inlines->nr_concrete++] = (struct out_of_line){
			value, index < inlines->count ?
			&inlines->functions[index] : NULL };
	}
	return true;
}

static int get_inlines(FILE *f, struct inlines *inlines)
{
	uint64_t err;

	if (!get_number(f, &err))
		return -EBADMSG;
	if (err)
		return err < 4096 ? -(int)err : -EBADMSG;
	return get_functions(f, inlines) && get_concrete(f, inlines) ?
	       0 : -EBADMSG;
}

int inlines_load(const char *path, struct inlines *inlines)
{
	int fds[2], err, status = 0;
	pid_t pid;
	FILE *f;

	memset(inlines, 0, sizeof(*inlines));
	if (pipe2(fds, O_CLOEXEC))
		return -errno;
	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		close(fds[0]);
		child(path, fds[1]);
	}
	close(fds[1]);
	f = pid < 0 ? NULL : fdopen(fds[0], "r");
	if (!f) {
		err = -errno;
		close(fds[0]);
	} else {
		err = get_inlines(f, inlines);
		fclose(f);
	}
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (!err && status)
		err = -EBADMSG;
	if (err)
		inlines_free(inlines);
	return err;
}

void inlines_free(struct inlines *inlines)
{
	for (size_t i = 0; i < inlines->count; i++) {
		free(inlines->functions[i].symbol);
		free(inlines->functions[i].file);
		for (int j = 0; j < INLINED_CALLERS; j++)
			free(inlines->functions[i].callers[j]);
	}
	free(inlines->functions);
	free(inlines->concrete);
	memset(inlines, 0, sizeof(*inlines));
}

int inlines_copies(const struct inlines *inlines, uint64_t value)
{
	size_t from = 0, to = inlines->nr_concrete;

	while (from < to) {
		size_t middle = from + (to - from) / 2;
		const struct out_of_line *concrete = &inlines->concrete[middle];

		if (concrete->value == value)
			return concrete->function ?
			       (int)concrete->function->copies : 0;
		if (concrete->value < value)
			from = middle + 1;
		else
			to = middle;
	}
	return -1;
}
