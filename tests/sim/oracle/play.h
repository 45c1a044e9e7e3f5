/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Defines the meaning of a program's operations: which task waits for which,
 * and when each event happens, by the arithmetic of span.h. The driver decides
 * the order: oracle.c goes by the exact times and knows no machine, machine.c
 * goes by real time and knows nothing of the exact times.
 *
 * The two may do things in another order. Where that is so, and more than one
 * task wants a CPU or an object first, other times follow, without bound. A
 * program is determinate if that cannot be: if each pair of such wishes is so
 * far apart, or so depends on each other, that W and the machine cannot swap
 * them. Programs in which each task has CPUs for itself, and each semaphore,
 * pipe and condition is posted by one task and waited for by one, wish nothing
 * of that kind.
 */
#ifndef ORACLE_PLAY_H
#define ORACLE_PLAY_H

#include "program.h"
#include "span.h"

#define NONE	(-1)
#define MANY	(-2)

/* An event, for others to see. */
struct token {
	struct span span;
	int cpu;		/* where; NONE: always was, MANY: several */
};

/* A kind of wish of which only the first is granted. */
struct wish {
	struct span span;
	int task, cpu;
};

struct waiters {
	int first, last;
};

struct semaphore {
	struct token *token;	/* posted and not taken */
	unsigned int tokens, room;
	struct waiters waiters;
	struct wish posts, waits;
	fixed_t expired;	/* latest end of a timed wait in vain */
	bool mutex;		/* posted by who waited for it */
	bool opened;		/* space in a pipe, whose size is known */
};

struct condition {
	struct token *reached;	/* after so many signals, less one */
	unsigned int signals, room;
	struct waiters waiters;
	struct wish wish;
};

struct barrier {
	unsigned int parties, arrived;
	struct token token;
	struct waiters waiters;
};

struct player {
	const struct script *script;
	unsigned int at;	/* its operation */
	struct span span;
	uint32_t cpu, percent;
	bool pending;		/* the awaited event has come */
	bool ended;
	int next;		/* among waiters */
	fixed_t timeout;	/* earliest end of a timed wait */
	fixed_t timeout_high;	/* and latest */
	struct token end;
	struct waiters joiners;
};

struct play {
	const struct program *program;
	struct slack slack;
	struct player *player;
	struct semaphore *mutex, *semaphore, *items, *space;
	struct condition *condition;
	struct barrier *barrier;
	unsigned int objects[CLASSES];

	struct token *cpu;	/* when it was last left */
	struct wish *arrival;	/* at its end of the queue */
	bool *shared;		/* several tasks run there */

	bool determinate;
	void *driver;
	/* The wait of @task is over because of @by, which runs. */
	void (*wake)(struct play *p, int task, int by);
	/* An operation of @task, which runs, is over. */
	void (*done)(struct play *p, int task);
};

/* The current operation of a task needs one of these. */
enum need {
	NEED_NOTHING,		/* it is over */
	NEED_CPU,		/* play_ran() after so many real ns */
	NEED_KERNEL,		/* the same */
	NEED_WAKING,		/* wake() comes */
	NEED_WAKING_IN,		/* or play_timeout() at a virtual time */
	NEED_TIME,		/* play_slept() at a virtual time */
	NEED_OUTSIDE,		/* play_returned() after so many real ns */
	NEED_MOVE,		/* its CPU changed */
	NEED_END,		/* the last operation is over */
};

/* Both allocate, and end the program if there is no memory. */
void play_init(struct play *p, const struct program *program);
void play_free(struct play *p);

/*
 * @task begins its next operation, at @now of its clock. *amount is the real
 * ns, or the virtual time, that the need tells.
 */
enum need play_next(struct play *p, int task, uint64_t now, uint64_t *amount);

/* The operation of @task takes no more: it is over, or ready for its CPU. */
void play_ran(struct play *p, int task);
void play_slept(struct play *p, int task);
void play_returned(struct play *p, int task);
void play_timeout(struct play *p, int task);

/* @task leaves its CPU, or is the next to run there. */
void play_stops(struct play *p, int task);
void play_starts(struct play *p, int task);

#endif
