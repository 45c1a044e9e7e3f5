/* SPDX-License-Identifier: GPL-2.0 */
/* The executable and the libraries that a command starts with. */
#ifndef TOOLS_PROGRAM_H
#define TOOLS_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>

struct object {
	char *path;		/* without links */
	char *soname;		/* as the loader knows it; NULL of the executable */
	bool is_main;
	bool is_loader;
};

struct program {
	size_t count;
	struct object *objects;	/* the executable first */
	char *script;		/* its #! line named the executable; or NULL */
	char *missing;		/* libraries that are not there, or NULL */
	bool is_static;
};

/*
 * Finds a command as execvp() would. NULL and *error, which the caller frees,
 * if it is none.
 */
struct program *program_open(char *const *command, char **error);
void program_free(struct program *program);

/* Adds an object that was not there at the start. Takes path. */
void program_add(struct program *program, char *path, char *soname);

/* The path that execvp() takes, or NULL with errno. The caller frees it. */
char *find_command(const char *name);

#define SCRIPT_DEPTH	5	/* the kernel follows as many #! lines */

/*
 * Finds the program that runs a script by the script's path. *via is the env(1)
 * that finds it, or NULL. Returns NULL for any other file. Sets *error if the
 * #! line names no program. The caller frees all of them.
 */
char *script_interpreter(const char *path, char **via, char **error);

/* The status to exit with if program_open() failed: STATUS_*. */
int command_status(const char *name);

#endif
