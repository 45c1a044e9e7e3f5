/* SPDX-License-Identifier: GPL-2.0 */
/* The signals by which a user or the system ends tense, and with it what it runs. */
#ifndef TOOLS_FATAL_SIGNALS_H
#define TOOLS_FATAL_SIGNALS_H

#include <signal.h>
#include <stdbool.h>

static inline void fatal_signals(sigset_t *set)
{
	sigemptyset(set);
	sigaddset(set, SIGINT);
	sigaddset(set, SIGTERM);
	sigaddset(set, SIGHUP);
	sigaddset(set, SIGQUIT);
}

/* The argument may also be 0, which is no signal. */
static inline bool is_fatal_signal(int sig)
{
	sigset_t set;

	fatal_signals(&set);
	return sig > 0 && sigismember(&set, sig) == 1;
}

/* Whether one has come that the caller blocks and has not yet taken. */
static inline bool fatal_signal_pending(void)
{
	sigset_t pending, set;

	fatal_signals(&set);
	sigpending(&pending);
	sigandset(&pending, &pending, &set);
	return !sigisemptyset(&pending);
}

#endif
