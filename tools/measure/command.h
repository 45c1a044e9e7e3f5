/* SPDX-License-Identifier: GPL-2.0 */
/* Runs a command once, and all that it leaves behind. */
#ifndef MEASURE_COMMAND_H
#define MEASURE_COMMAND_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "stopwatch.h"

struct command {
	char *const *argv;
	const char *input;	/* a file that can be read */
	bool show_output;
	double timeout;		/* in seconds; 0 for none */
	const struct stopwatch *clock;	/* of the elapsed time, or NULL */
	/* Called a few times a second while the command runs. */
	void (*meanwhile)(void *arg);
	void *arg;
};

enum command_end {
	COMMAND_EXITED,		/* value: exit status */
	COMMAND_SIGNALED,	/* value: signal */
	COMMAND_NOT_RUN,	/* value: errno of exec */
	COMMAND_TIMED_OUT,
	COMMAND_INTERRUPTED,	/* value: signal that came to us */
	COMMAND_FAILED,		/* value: errno of ours */
};

struct command_result {
	enum command_end end;
	int value;
	pid_t pid;
	uint64_t elapsed_ns;	/* from its execution to its end */
	/*
	 * CPU time of the command, all it waited for and all it left behind.
	 * The time that its process took before exec() is ours_ns.
	 */
	uint64_t user_ns;
	uint64_t system_ns;
	uint64_t ours_ns;
	/* Processes that it left behind, which are ended. */
	unsigned int left;
	/* It was to be ended, which we have not the right to. */
	bool goes_on;
};

/*
 * To be called before, once or more: orphans of a command become children of this
 * process, and signals that would end it are left to command_run(). Children
 * that there are already are strangers: not killed, and nothing of a command's.
 */
void command_prepare(void);

/* Has one of those signals come, and waits for the next command_run()? */
bool command_signal_pending(void);

/* Also of one that has ended, until the next command is run. */
bool command_is_stranger(pid_t pid);

void command_run(const struct command *command, struct command_result *result);

#endif
