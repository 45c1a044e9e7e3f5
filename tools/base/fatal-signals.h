/* SPDX-License-Identifier: GPL-2.0 */
/* The signals by which a user or the system ends tense, and with it what it runs. */
#ifndef TOOLS_FATAL_SIGNALS_H
#define TOOLS_FATAL_SIGNALS_H

#include <signal.h>
#include <stdbool.h>
#include <time.h>

/*
 * Without SIGHUP if the caller of tense ignores it, as nohup does. A shell lets its
 * background jobs ignore SIGINT and SIGQUIT, but who sends these to tense means it.
 */
static inline void fatal_signals(sigset_t *set)
{
	struct sigaction action;

	sigemptyset(set);
	sigaddset(set, SIGINT);
	sigaddset(set, SIGTERM);
	sigaddset(set, SIGQUIT);
	if (sigaction(SIGHUP, NULL, &action) || action.sa_handler != SIG_IGN)
		sigaddset(set, SIGHUP);
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

/* Takes one that the caller blocks and that has come. Returns 0 if there is none. */
static inline int fatal_signal_take(void)
{
	const struct timespec now = { 0 };
	sigset_t set;
	int sig;

	fatal_signals(&set);
	sig = sigtimedwait(&set, NULL, &now);
	return sig > 0 ? sig : 0;
}

/*
 * Drops pending signals that end tense. Call this when the measurement is complete: they
 * have nothing left to end.
 */
static inline void fatal_signals_drop(void)
{
	while (fatal_signal_take())
		;
}

#endif
