/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A guest that tense booted for one command: the part that its back ends share.
 * The other end is guest-init.
 */
#ifndef TOOLS_GUEST_H
#define TOOLS_GUEST_H

#include <poll.h>

#include "backend.h"
#include "control.h"
#include "proto.h"
#include "reaction.h"
#include "terminal.h"

/* A back end adds so many descriptors to the loop; see guest_serve(). */
#define GUEST_POLLS	(2 * (CHANNELS_MAX - 1))

struct guest {
	const struct run *run;
	pid_t pid;		/* the kernel or its emulator; 0: ended */
	struct control control;
	int log;		/* output of the kernel */
	off_t log_start;	/* size of the log when the command started */
	int signals;
	struct reaction reaction;
	struct terminal terminal;
	struct stream streams[3];
	int tty_in;		/* channels, or STREAM_CLOSED */
	int tty_out;
	int files;		/* the same, of files that come back */
	int nr_channels;	/* the control channel included */
	bool started;		/* the command was */
};

/* Any of these may be NULL. */
struct guest_ops {
	/* Is called at least once per second until the guest starts the command. */
	void (*boots)(void *arg);
	void (*started)(void *arg);
	/* Corrects the guest's report on the command. */
	void (*ended)(void *arg, struct outcome *out);
	void (*end)(void *arg, const struct end_message *m);
	void (*events)(void *arg, struct pollfd *polls);
	void (*run)(void *arg, const struct pollfd *polls);
	/* The command has ended: is there something left to do? */
	bool (*busy)(void *arg);
};

/* Ends the program, saying what failed and why by errno, unless good. */
void guest_check(bool good, const char *what);

/* Returns a new file that has a name only for people, or ends the program. */
int guest_new_file(const char *name);

/* The parts that a guest is made of; end the program where one is missing. */
char *guest_init_path(void);
/* As the run asks for, or the default, at most that many. */
unsigned long long guest_memory_mib(const struct run *run,
				    unsigned long long most);

/* Options of the module: those of the back end, then those of the run. */
char *guest_module_options(const struct run *run, const char *base);

void guest_prepare(struct guest *g, const struct run *run);
/* From here on signals wait to be read. */
void guest_begin(struct guest *g);
/*
 * Assigns channels to the streams that the caller left open, and hands each
 * descriptor over, in order, to be the stream from then on.
 */
void guest_streams(struct guest *g,
		   void (*add)(void *arg, int channel, int fd, bool input),
		   void *arg);
/* Tense lets go of the streams, which are others' now. */
void guest_streams_handed_over(struct guest *g);

/* In the child that is to become the kernel: dies with tense, logs. */
void guest_child(struct guest *g, pid_t parent);

/* Facts that only the back end knows. clock_ns is the time of day, or 0. */
struct guest_kernel {
	const char *module;	/* its path in the guest */
	const char *module_file;	/* here, if it has to be packed */
	const char *module_options;
	uint64_t clock_ns;
};

/* The request, of *size bytes, which the caller frees. */
char *guest_request(struct guest *g, const struct guest_kernel *kernel,
		    size_t *size);
/* Sends it, carries signals and the terminal, gets the outcome. */
void guest_serve(struct guest *g, const struct guest_kernel *kernel,
		 const struct guest_ops *ops, void *arg, struct outcome *out,
		 void **stats);
void guest_send_end(struct guest *g, int channel, uint64_t bytes);

/* guest_serve() calls these. A back end with its own loop calls them, too. */
void guest_take_outcome(const struct message *m, const char *payload,
			struct outcome *out, void **stats);
void guest_died(struct guest *g, struct outcome *out);
/* Is there such a text in the kernel's log, from an offset on? */
bool guest_logged(const struct guest *g, off_t first, const char *words);
off_t guest_log_size(const struct guest *g);
void guest_tell_out_of_memory(const struct guest *g);

/* Restores the terminal and ends the remaining processes. */
void guest_end(struct guest *g);

#endif
