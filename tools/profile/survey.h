/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Where a command spends its virtual time: one run in which the kernel samples the
 * members of the experiment by charged time. The functions are the candidates of
 * tense profile.
 */
#ifndef TOOLS_SURVEY_H
#define TOOLS_SURVEY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <jansson.h>

#include "base/machine.h"

struct backend;
struct outcome;
struct run;
struct samples;

/* Why whatif cannot scale a function. */
enum survey_obstacle {
	SURVEY_SCALABLE,	/* there is none */
	SURVEY_NO_SYMBOL,	/* mostly because its file is stripped */
	SURVEY_NO_FILE,		/* code that is in no file, as of a compiler at run time */
	SURVEY_TENSE,		/* a function of Tense */
	SURVEY_START,		/* the beginning of a program or thread */
	SURVEY_CHOSEN,		/* the choice of a function at start, IFUNC */
	SURVEY_EXEC,		/* no function: the kernel loads the program */
};

/* The reason for a block, by its system call: the kernel tells no more. */
enum survey_reason {
	SURVEY_LOCK,		/* a lock, a condition, or the end of a thread */
	SURVEY_SLEEP,
	SURVEY_CHILD,		/* the end of a process */
	SURVEY_INPUT,		/* of a file, pipe or socket */
	SURVEY_OUTPUT,
	SURVEY_EVENT,		/* of one of several files */
	SURVEY_PAGE,		/* in no call: a page of memory */
	SURVEY_OTHER,
};

/* The cause of its end. */
enum survey_waker {
	SURVEY_BY_THREAD,
	SURVEY_BY_TIMER,
	SURVEY_BY_OUTSIDE,	/* a device, or a process outside of the experiment */
};

/* Sampled ns are virtual. Inclusive ones count a function once in each stack. */
struct survey_function {
	char *name;		/* for people: demangled, or OBJECT+0xOFFSET */
	char *object;		/* path of its file, or "" */
	char *spec;		/* for whatif: this function only; NULL: not scalable */
	uint64_t self_ns;	/* sampled in the function itself */
	uint64_t inclusive_ns;	/* in it and in all that it calls */
	uint64_t samples;	/* in the function itself */
	uint64_t inclusive_samples;
	enum survey_obstacle obstacle;
};

/* Samples with the same stack. */
struct survey_stack {
	uint32_t *frames;	/* indices of functions, the innermost first */
	uint32_t depth;
	char thread[16];	/* name of the thread */
	bool whole;		/* the outermost frame is the thread's beginning */
	uint64_t ns;
	uint64_t samples;
};

#define SURVEY_NOWHERE UINT32_MAX

/* Threads with the same name that were blocked in the same way. */
struct survey_block {
	char thread[16];	/* name of the threads */
	uint32_t function;	/* index of the program's function, or SURVEY_NOWHERE */
	uint32_t callee;	/* index of the function of libc that it called, or so */
	enum survey_reason reason;
	enum survey_waker by;
	char waker_thread[16];	/* name of the thread that woke them, or "" */
	uint32_t waker;		/* index of the function that woke them, or so */
	uint64_t ns;		/* virtual: they were blocked for so long */
	uint64_t samples;
};

struct survey {
	struct survey_function *functions;	/* most inclusive time first */
	size_t count;
	struct survey_stack *stacks;	/* in the order of first samples */
	size_t nr_stacks;
	struct survey_block *blocks;	/* most time first */
	size_t nr_blocks;
	uint64_t blocked_ns;	/* sum over all blocks */
	uint64_t missing_ns;	/* of blocks of which there are no samples */
	uint64_t period_ns;	/* asked for */
	uint64_t ns;		/* sum over all samples */
	uint64_t samples;
	uint64_t attributed_ns;	/* of ns: the innermost function is in a file */
	uint64_t named_ns;	/* of ns: the innermost function has a name */
	uint64_t covered_ns;	/* of ns: some function of the stack has one */
	uint64_t lost;		/* samples for which there was no room */
	uint64_t lost_ns;
	uint64_t hidden;	/* samples of threads that must not be sampled */
	uint64_t hidden_ns;
	uint64_t overhead_ns;	/* real: the sampling took so long */
	uint64_t elapsed_ns;	/* virtual, of the command; 0: not known */
	uint64_t charged_ns;	/* virtual, of all its threads; 0: not known */
};

struct survey_ask {
	uint64_t period_ns;	/* virtual; 0: SURVEY_PERIOD_NS */
	unsigned int seed;	/* of the random phases; the same seed, the same phases */
	/* Descriptors for the command's standard input and output; 0: unchanged. */
	int input, output;
	/* Called once the run is over, before the samples are named; may be NULL. */
	void (*ended)(void *arg);
	void *ended_arg;
};

#define SURVEY_PERIOD_NS	1000000

/*
 * Runs the command of @run once on @backend, and fills @survey. @run serves no other run
 * afterwards. Returns NULL, or a description of the error, which the caller frees. @out
 * has the outcome of the command in both cases. The caller frees @survey, also after an
 * error.
 */
char *survey_take(struct survey *survey, const struct survey_ask *ask,
		  const struct backend *backend, struct run *run,
		  struct outcome *out);

/*
 * Fills @survey with the functions and stacks of samples: part of survey_take(). The
 * caller frees @survey.
 */
void survey_fill(struct survey *survey, const struct samples *samples);

void survey_free(struct survey *survey);

/* Returns the identifier of an obstacle for JSON, as "no-symbol". */
const char *survey_obstacle_id(enum survey_obstacle obstacle);

/* Returns a sentence for people. */
const char *survey_obstacle_text(enum survey_obstacle obstacle);

/* Return identifiers for JSON, as "lock" and "timer". */
const char *survey_reason_id(enum survey_reason reason);
const char *survey_waker_id(enum survey_waker by);

/* Prints a table of the first rows functions. */
void survey_table(FILE *f, const struct survey *survey, const struct machine *machine,
		  size_t rows);

/* The same as JSON, with all functions; NULL on an error. */
json_t *survey_json(const struct survey *survey);

/* The blocks alone, as an array. */
json_t *survey_blocks_json(const struct survey *survey);

/* Folded stacks, a line each: thread;outermost;...;innermost ns. */
void survey_write_folded(FILE *f, const struct survey *survey);

/* A profile for https://www.speedscope.app. Returns 0, or -1 with errno. */
int survey_write_speedscope(FILE *f, const struct survey *survey,
			    const char *name);

#endif
