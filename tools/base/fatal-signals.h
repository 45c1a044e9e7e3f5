/* SPDX-License-Identifier: GPL-2.0 */
/* The signals by which a user or the system ends tense, and with it what it runs. */
#ifndef TOOLS_FATAL_SIGNALS_H
#define TOOLS_FATAL_SIGNALS_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <time.h>

/* Without those that the caller of tense ignores, as nohup does. */
static inline void fatal_signals(sigset_t *set)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };

	sigemptyset(set);
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
		struct sigaction action;

		if (sigaction(signals[i], NULL, &action) ||
		    action.sa_handler != SIG_IGN)
			sigaddset(set, signals[i]);
	}
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

/* Takes those that have come too late: what they would end is complete. */
static inline void fatal_signals_drop(void)
{
	const struct timespec now = { 0 };
	sigset_t set;

	fatal_signals(&set);
	while (sigtimedwait(&set, NULL, &now) > 0)
		;
}

#endif
