/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The workloads with known answers share this file. Each is a program with one
 * function of interest, hot(), and does a fixed amount of work, part of it in
 * there:
 *
 *	WORKLOAD [--cut PERCENT] [--percent P] [--length PERCENT] [--pin]
 *
 * --cut C: hot() really does C % less. This is the truth that predictions for
 * the program without it are compared with. --percent P: calls of libtense
 * around hot() imagine it at percent P of its speed: a prediction without
 * `tense whatif`. --length L: the workload does L % of its rounds, for tests.
 * --pin: each thread keeps to one CPU, so that the scheduler has no choice.
 *
 * Work comes in units, the steps of a generator. Each step needs the result of
 * the one before, so that a unit takes the same time in hot() and elsewhere,
 * and with a cut and without. The generator's state at the end proves how many
 * steps the program took.
 */
#ifndef WORK_H
#define WORK_H

#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>

/* Called as it stands, as if from another file. */
#if __has_attribute(noipa)
#define HOT __attribute__((noinline, noipa))
#else
#define HOT __attribute__((noinline))
#endif

/* Some 1 ns each. */
#define UNITS_US	1000
#define UNITS_MS	(1000 * UNITS_US)

/* The work of one kind that a thread has done. */
struct meter {
	uint64_t state;
	uint64_t units;
	uint64_t calls;
};

extern _Thread_local struct meter meter_hot, meter_rest;

void work_options(int argc, char **argv);

/* The part of an amount that the cut leaves, exactly; a multiple of 20. */
uint64_t work_cut(uint64_t units);

/* How often to do something that is done count times at full length. */
unsigned int work_times(unsigned int count);

/* Around each call of hot() that is not one of its own. */
void work_enter(void);
void work_leave(void);

/*
 * Work outside of hot(). From how long it takes follows how fast the machine
 * was in this run.
 */
void work_rest(uint64_t units);

/* A device at work, of the same speed whatever that of the CPU. */
void work_device(unsigned int us);

/*
 * Checks that the calling thread took the steps that it counted, and adds
 * them to the sum over all threads and processes. Each one calls it once, at
 * its end.
 */
void work_done(void);

/* Prints the sum, and the speed, and returns the exit status. */
int work_report(void);

pthread_t work_thread(void *(*run)(void *), void *data);
void work_join(pthread_t thread);

#define WORK_FACTOR	0x5851f42d4c957f2dull
#define WORK_ADDEND	0x14057b7ef767814full

static inline uint64_t work_steps(uint64_t state, uint64_t units)
{
	for (; units; units--) {
		state = state * WORK_FACTOR + WORK_ADDEND;
		/* One step is one step, whatever the compiler knows of it. */
		__asm__ volatile("" : "+r"(state));
	}
	return state;
}

static inline void work_spin(struct meter *meter, uint64_t units)
{
	meter->state = work_steps(meter->state, units);
	meter->units += units;
	meter->calls++;
}

/* A bounded queue of things that need no name. */
struct queue {
	sem_t room;
	sem_t filled;
};

void queue_init(struct queue *queue, unsigned int capacity);
void queue_push(struct queue *queue);
void queue_pop(struct queue *queue);

#endif
