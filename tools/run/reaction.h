/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Decides when a guest that does not react to signals has to be killed. The
 * guest's init acknowledges each forwarded signal, whatever the command does
 * with it. So a command may handle or ignore a signal for as long as it likes:
 * only a guest whose init does not answer is killed.
 *
 * Only time in which tense itself ran counts: while both are stopped or frozen,
 * the guest cannot answer.
 */
#ifndef TOOLS_REACTION_H
#define TOOLS_REACTION_H

#include <stdbool.h>
#include <stdint.h>

/* The guest must acknowledge a signal that would end the command within this time. */
#define REACTION_NS	5000000000ULL
/*
 * After that time a second such signal kills at once. Before, it may be the
 * same one again: timeout(1) sends it to tense and then to tense's group.
 */
#define REACTION_AGAIN_NS	1000000000ULL

struct reaction {
	uint32_t sent;		/* signals, since the guest started */
	uint32_t taken;		/* the guest acknowledged so many of them */
	uint32_t ending;	/* number of the last that would end the command */
	int sig;		/* first unanswered one that would end it */
	uint64_t waited;	/* since the guest last took a signal */
	uint64_t checked;	/* when tense last ran; by now_ns() */
};

/* Is there a signal to wait for? */
bool reaction_is_awaited(const struct reaction *r);
/* Counts the time since the last call. */
void reaction_check(struct reaction *r, uint64_t now);
/*
 * Call when a signal goes to the guest; ends: it would end a command without a
 * handler. Returns false if the caller must kill the guest instead. Call
 * reaction_check() first.
 */
bool reaction_sends(struct reaction *r, int sig, bool ends);
/* The guest acknowledged a signal. */
void reaction_takes(struct reaction *r);
bool reaction_has_failed(const struct reaction *r);
/* For poll(): the time until the next reaction_check(), or -1. */
int reaction_timeout_ms(const struct reaction *r);

#endif
