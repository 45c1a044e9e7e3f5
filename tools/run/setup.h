/* SPDX-License-Identifier: GPL-2.0 */
/* Helpers of the commands that run another command. */
#ifndef TOOLS_SETUP_H
#define TOOLS_SETUP_H

#include "backend.h"
#include "base/machine.h"

/* False if there is none by that name; NULL for "auto". */
bool backend_find(const char *name, const struct backend **backend);
/*
 * The one asked for, or where that is NULL the first that can be used; ends the
 * program if there is none, or it is not what the run asks for. Deterministic runs
 * get exact, &backend_exact, which lies in a folder above this one. Sets run->cpus to the
 * default if the user named no number of CPUs for the guest.
 */
const struct backend *backend_choose(const struct backend *asked,
				     const struct backend *exact, struct run *run);

/*
 * Returns the machine of the run, after backend_choose(). The release of a guest is only
 * its version, such as 7.2.
 */
struct machine setup_machine(const struct run *run, const struct backend *backend);

/* Is the value of --cpus a list or a range? Only tense whatif takes one. */
bool setup_is_cpus_list(const char *text);

/* Parse --cpus, of one number, and --window; end the program on a wrong value. */
void setup_cpus(struct run *run, const char *text);
void setup_window(struct run *run, const char *text);

/*
 * Returns how many guests run at the same time so that each has its CPUs. A deterministic
 * guest needs no CPU of its own: at most one guest per CPU of the machine, and as many
 * as fit into half of its memory.
 */
unsigned int setup_guests(const struct run *run);

/* The real path of a directory, which must be one. */
char *setup_directory(const char *text);

/*
 * Lets the command write to n directories and the current one. The list has
 * room for two more.
 */
void setup_writable(struct run *run, char **dirs, size_t n);

/* How the caller left the process, before anything is changed. */
void setup_caller(struct run *run);

/* The exit status, with a message where the command did not run. */
int setup_status(const struct outcome *out, char **argv);

#endif
