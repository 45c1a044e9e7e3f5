/* SPDX-License-Identifier: GPL-2.0 */
/* Scripts of tense's that provide a part of it and print where it is. */
#ifndef TOOLS_SCRIPT_H
#define TOOLS_SCRIPT_H

/* The exit status of a script that cannot write to the cache. */
#define SCRIPT_NO_CACHE	3

/*
 * Runs a script, found by find_part(), with these options, a list that ends
 * with NULL, and --progress-fd. Shows the progress as "doing what, once": in a
 * bar on a terminal, in lines elsewhere. Returns the script's output, which the
 * caller frees, or NULL if the script fails, which then has said why. Sets *exit_status.
 */
char *script_try(const char *part, char *const *options, const char *what, int *exit_status);

/* The same, but ends the program if the script fails. */
char *script_run(const char *part, char *const *options, const char *what);

/* The same with nothing to show, and the status, as of waitpid(). */
char *script_ask(const char *part, char *const *options, int *status);

#endif
