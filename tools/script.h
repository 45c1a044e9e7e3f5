/* SPDX-License-Identifier: GPL-2.0 */
/* Scripts of tense's that provide a part of it and print where it is. */
#ifndef TOOLS_SCRIPT_H
#define TOOLS_SCRIPT_H

/*
 * Runs a script, found by find_part(), with these options, a list that ends
 * with NULL, and --progress-fd, which is shown in a bar on a terminal, "doing
 * what, once", and elsewhere in a line now and then. Returns what it printed, which the caller frees; ends the program
 * where it failed, of which the script said why.
 */
char *script_run(const char *part, char *const *options, const char *what);

/* The same with nothing to show, and the status, as of waitpid(). */
char *script_ask(const char *part, char *const *options, int *status);

#endif
