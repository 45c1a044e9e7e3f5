/* SPDX-License-Identifier: GPL-2.0 */
/* Helpers that tense and guest-init share: messages, memory, whole reads. */
#ifndef TOOLS_UTIL_H
#define TOOLS_UTIL_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

/*
 * Exit statuses, as of env(1), timeout(1) and the shell: a signal n is 128 + n.
 * Commands that run nothing use the same ones.
 */
enum {
	STATUS_FAILED = 125,	/* tense itself failed, or was misused */
	STATUS_NOT_EXECUTABLE = 126,
	STATUS_NOT_FOUND = 127,
	STATUS_SIGNAL = 128,
};

/* Errors go to standard error as "tense: ...". */
extern void (*before_message)(void);	/* NULL, or what clears the line */
void warn(const char *format, ...) __attribute__((format(printf, 1, 2)));
void die(int status, const char *format, ...)
	__attribute__((noreturn, format(printf, 2, 3)));

/* Describes why a command cannot be executed, by the error of execvp(). */
const char *command_error(const char *name, int error);

/*
 * Breaks lines that are longer than the margin at a space, and indents the rest.
 * The first line is indented already. Keeps the line breaks of the text.
 */
void put_wrapped(FILE *f, const char *text, size_t indent, size_t margin);

/* Makes each control character '?'. A terminal may obey it, and the text is not ours. */
void mask_controls(char *text);

/* Returns the value of a variable of the environment; NULL if it is unset or empty. */
const char *setting(const char *name);

/* These end the program when memory is short. */
void *xmalloc(size_t size);
/*
 * Returns @env with @setting, "NAME=VALUE", as its last entry and in place of another value.
 * The caller frees the list, which shares its texts with @env.
 */
char **environment_with(char *const *env, char *setting);
void *xrealloc(void *old, size_t size);
char *xstrdup(const char *text);
char *xvprintf(const char *format, va_list args)
	__attribute__((format(printf, 1, 0)));
char *xprintf(const char *format, ...) __attribute__((format(printf, 1, 2)));

struct unit {
	const char *name;	/* "" where a number may have none */
	double factor;
};

/* A number that is 0 or more, times its unit. 0, or -EINVAL for all else. */
int parse_with_unit(const char *text, const struct unit *units, size_t count,
		    double *value);

/* 0, or -1 with errno; 0 bytes before the end is errno 0. */
int read_full(int fd, void *buf, size_t len);
int write_full(int fd, const void *buf, size_t len);

/* By a clock that is never set; and by that on the wall, since 1970. */
uint64_t now_ns(void);
uint64_t wall_ns(void);

#endif
