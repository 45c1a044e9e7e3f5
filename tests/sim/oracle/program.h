/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A program whose schedule in virtual time is known, and the machine that it
 * runs on. As text, one item a line, # begins a comment:
 *
 *	cpus 4			1 to 4096
 *	window 500000		virtual ns
 *	seed 17			of all that is random in the machine
 *	tick 1000000		real ns: how long a CPU computes uncharged, at most
 *	lateness 5000		real ns: of timers, at most
 *	latency 2000		of wake-ups on another CPU
 *	apart 100		of the CPUs' clocks
 *	noise 20 30000		percent of a CPU that others take, and how long
 *	slow 100		thousandths that others steal, at most
 *	skip			idle time is skipped
 *	task cpu 0 percent 100	the first one is task 0, the next one task 1
 *	task cpu 1 forked	begins when another one forks it
 *
 * and after each task what it does, in order. Objects are numbers from 0 on,
 * for each kind of object.
 *
 *	compute NS		real ns of the CPU
 *	kernel NS		the same, but in the kernel: never gated
 *	sleep NS, until T	virtual
 *	io NS			waits for the outside, so many real ns
 *	percent P
 *	migrate CPU
 *	lock M, unlock M	first come, first served
 *	post S, wait S		a semaphore, 0 at first
 *	timed S NS		waits for it, but not longer than that
 *	put P N, get P		a pipe that holds N
 *	signal C, await C N	a condition: that there were N signals
 *	barrier B		for all tasks that it is in, as often in each
 *	fork T, join T
 *
 * A CPU runs the tasks that are ready there first come, first served, until
 * they wait or migrate.
 */
#ifndef ORACLE_PROGRAM_H
#define ORACLE_PROGRAM_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define CPUS_MAX	4096
#define TASKS_MAX	16384
#define OBJECTS_MAX	65536
#define AMOUNT_MAX	100000000000000ULL

enum op_kind {
	OP_COMPUTE,
	OP_KERNEL,
	OP_SLEEP,
	OP_UNTIL,
	OP_IO,
	OP_PERCENT,
	OP_MIGRATE,
	OP_LOCK,
	OP_UNLOCK,
	OP_POST,
	OP_WAIT,
	OP_TIMED,
	OP_PUT,
	OP_GET,
	OP_SIGNAL,
	OP_AWAIT,
	OP_BARRIER,
	OP_FORK,
	OP_JOIN,
	OP_KINDS
};

enum class {
	CLASS_NONE,
	CLASS_CPU,
	CLASS_TASK,
	CLASS_MUTEX,
	CLASS_SEMAPHORE,
	CLASS_PIPE,
	CLASS_CONDITION,
	CLASS_BARRIER,
	CLASSES
};

struct op {
	enum op_kind kind;
	uint32_t object;
	uint64_t amount;
};

struct script {
	uint32_t cpu;
	uint32_t percent;
	bool forked;
	unsigned int ops, room;
	struct op *op;
};

struct setup {
	uint64_t seed;
	uint32_t cpus;
	uint64_t window;
	uint64_t tick, lateness, latency, apart;
	uint32_t noise;
	uint64_t noise_ns;
	uint32_t slow;
	bool skip;
};

struct program {
	struct setup setup;
	unsigned int tasks, room;
	struct script *task;
};

/* The form of one kind of operation. */
struct op_form {
	const char *name;
	enum class class;	/* the object that it names */
	bool amount;
	bool virtual;		/* the amount is a time of the virtual clock */
};

extern const struct op_form op_form[OP_KINDS];

unsigned int program_task(struct program *p, uint32_t cpu, uint32_t percent);
void program_op(struct program *p, unsigned int task, enum op_kind kind,
		uint32_t object, uint64_t amount);
void program_free(struct program *p);
struct program program_copy(const struct program *p);

/* One more than the highest number in use. */
unsigned int program_objects(const struct program *p, enum class class);
unsigned int program_ops(const struct program *p);

/* Returns what is wrong, or NULL. The program may deadlock all the same. */
const char *program_fault(const struct program *p);

void program_print(const struct program *p, FILE *to);

/* False if that is no program; says why, with @name, on stderr. */
bool program_read(struct program *p, FILE *from, const char *name);

#endif
