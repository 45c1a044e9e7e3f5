/* SPDX-License-Identifier: GPL-2.0 */
/* A back end provides a kernel with virtual time and runs a command on it. */
#ifndef TOOLS_BACKEND_H
#define TOOLS_BACKEND_H

#include <signal.h>
#include <stdbool.h>

#include "launch.h"

struct trace_file;

struct run {
	char **argv;
	unsigned int percent;
	const char *experiment;	/* its name; NULL: a new one without a name */
	const char *prepare;	/* see struct launch */
	const char *input;	/* see struct launch; in the guest */
	struct clock_choice choice;
	uint64_t window_ns;	/* virtual; 0: the module's default */
	bool real;		/* in real time: no module, no experiment */
	bool device;		/* real, but with the module loaded */
	bool stats;		/* wanted */
	struct trace_file *trace;	/* for what the kernel does, or NULL */
	struct samples_ask samples;	/* of a survey; trace takes them, too */
	bool kernel;		/* its version was asked for, see kernel_choose() */
	unsigned int cpus;	/* of a guest; backend_choose() replaces 0 */
	unsigned int guests;	/* that share the machine by default; 0: there is one */
	unsigned long long memory_mib;	/* 0: as much as the back end likes */
	bool deterministic;	/* count instructions instead of time */
	char **files;		/* to be packed for that, ends with NULL */
	char **omitted;		/* not to be, by real path; the same, or NULL */
	char **writable;	/* directories by real path, ends with NULL */
	char *directory;	/* the current one, by real path */
	/*
	 * For deterministic runs. discard drops the files that the run wrote.
	 * Otherwise the back end calls ready(out, ready_arg), if that is set,
	 * before it copies the files back.
	 */
	bool discard;
	/* A shared directory in which another machine runs the guest; NULL: here. */
	const char *remote;
	void (*ready)(const struct outcome *out, void *arg);
	void *ready_arg;
	/* Numbers the guests that run at the same time, from 1; 0: not known. */
	unsigned int place;
	unsigned int seed;	/* for the guest's random numbers; 0: 1 */
	/* If not NULL, is called when the command starts, or a deterministic guest boots. */
	void (*started)(void *arg);
	void *started_arg;
	bool closed[3];		/* standard streams that the caller closed */
	/* The caller's dispositions, before tense changed any. */
	uint64_t ignored;
	sigset_t mask;
};

struct backend {
	const char *name;
	unsigned int cpus_max;	/* 0: those of this machine, as they are */
	bool probes;		/* its kernel has breakpoints in user space */
	/* Can it be used at all? */
	bool (*usable)(void);
	/* Returns when the command has ended; *stats as of launch(). */
	void (*run)(const struct run *run, struct outcome *out, void **stats);
};

extern const struct backend backend_native;
/* Ends the program if the module's window is not run->window_ns. */
void backend_native_check_window(const struct run *run);
extern const struct backend backend_uml;
extern const struct backend backend_qemu;
/* Default memory of deterministic guests. It must not depend on the host. */
#define EXACT_MEMORY_MIB	1024

#endif
