// SPDX-License-Identifier: GPL-2.0
#include "util.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#define PREFIX		"tense: "
#define MARGIN		100
#define INDENT		(sizeof(PREFIX) - 1)

void (*before_message)(void);

/* The width at which messages wrap. Programs and files get whole lines. */
static size_t margin(void)
{
	struct winsize size;

	if (!isatty(STDERR_FILENO))
		return SIZE_MAX;
	if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) || !size.ws_col ||
	    size.ws_col > MARGIN)
		return MARGIN;
	return size.ws_col;
}

void put_wrapped(FILE *f, const char *text, size_t indent, size_t margin)
{
	size_t used = indent;

	while (*text) {
		size_t word = strcspn(text + 1, " \n") + 1;

		if (*text == '\n') {
			used = 0;
		} else if (*text == ' ' && used + word > margin) {
			fprintf(f, "\n%*s", (int)indent - 1, "");
			used = indent - 1;
		}
		fwrite(text, 1, word, f);
		used += word;
		text += word;
	}
}

static void vwarn(const char *format, va_list args)
{
	char line[4096], *text = NULL;
	size_t size;
	FILE *f;

	vsnprintf(line, sizeof(line), format, args);
	f = open_memstream(&text, &size);
	if (f) {
		fputs(PREFIX, f);
		put_wrapped(f, line, INDENT, margin());
		fclose(f);
	}
	if (before_message)
		before_message();
	/* One write, so that lines of several processes do not mix. */
	dprintf(STDERR_FILENO, "%s\n", text ? text : line);
	free(text);
}

void warn(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vwarn(format, args);
	va_end(args);
}

void die(int status, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vwarn(format, args);
	va_end(args);
	exit(status);
}

const char *command_error(const char *name, int error)
{
	if (error == ENOENT)
		return strchr(name, '/') ?
		       "No such file or directory: check the program's path" :
		       "command not found in PATH: check its spelling, install it, or give its path";
	if (error == EACCES)
		return "Permission denied: make it executable by chmod +x, or name the program first that runs it";
	return strerror(error);
}

void *xrealloc(void *old, size_t size)
{
	void *p = realloc(old, size ? size : 1);

	if (!p)
		die(STATUS_FAILED, "out of memory");
	return p;
}

void *xmalloc(size_t size)
{
	return memset(xrealloc(NULL, size), 0, size);
}

char *xstrdup(const char *text)
{
	size_t size = strlen(text) + 1;

	return memcpy(xrealloc(NULL, size), text, size);
}

char *xvprintf(const char *format, va_list args)
{
	char *text;

	if (vasprintf(&text, format, args) < 0)
		die(STATUS_FAILED, "out of memory");
	return text;
}

void mask_controls(char *text)
{
	for (; *text; text++) {
		unsigned char c = *text, following = text[1];

		if (iscntrl(c))
			*text = '?';
		/* U+0080 to U+009F in UTF-8. Alone, such bytes are parts of letters. */
		if (c == 0xc2 && following >= 0x80 && following < 0xa0)
			text[0] = text[1] = '?';
	}
}

const char *setting(const char *name)
{
	const char *value = getenv(name);

	return value && *value ? value : NULL;
}

char **environment_with(char *const *env, char *setting)
{
	size_t name = strcspn(setting, "=") + 1, count = 0, n = 0;
	char **result;

	while (env[count])
		count++;
	result = xmalloc((count + 2) * sizeof(*result));
	for (size_t i = 0; i < count; i++)
		if (strncmp(env[i], setting, name) != 0)
			result[n++] = env[i];
	result[n++] = setting;
	result[n] = NULL;
	return result;
}

char *xprintf(const char *format, ...)
{
	va_list args;
	char *text;

	va_start(args, format);
	text = xvprintf(format, args);
	va_end(args);
	return text;
}

int read_full(int fd, void *buf, size_t len)
{
	char *p = buf;

	while (len) {
		ssize_t n = read(fd, p, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			if (n == 0)
				errno = 0;
			return -1;
		}
		p += n;
		len -= n;
	}
	return 0;
}

int write_full(int fd, const void *buf, size_t len)
{
	const char *p = buf;

	while (len) {
		ssize_t n = write(fd, p, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		p += n;
		len -= n;
	}
	return 0;
}

uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

int parse_with_unit(const char *text, const struct unit *units, size_t count,
		    double *value)
{
	size_t digits = strspn(text, "0123456789.");
	double number;
	char *end;

	number = strtod(text, &end);
	if (!digits || end != text + digits || !isfinite(number))
		return -EINVAL;
	for (size_t i = 0; i < count; i++) {
		if (!strcmp(end, units[i].name)) {
			*value = number * units[i].factor;
			return 0;
		}
	}
	return -EINVAL;
}

uint64_t wall_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return now.tv_sec * 1000000000ULL + now.tv_nsec;
}
