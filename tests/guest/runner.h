/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A runner is a thread that jumps far ahead on its CPU and so stops at the
 * gate. The test, on CPU 0, holds GVT back as long as it does not block.
 */
#ifndef TENSE_RUNNER_H
#define TENSE_RUNNER_H

#include "smp.h"

enum step {
	STARTS,
	JUMPS,
	BACK,			/* the gate has let it go */
};

struct runner {
	volatile enum step step;
	volatile pid_t tid;
	volatile int64_t target;	/* virtual: where it jumps to */
	volatile int go;		/* for its siblings */
	/* GVT and the time that it saw when it was back. */
	int64_t gvt, time;
	int cpu;
};

/* By the thread that is to be held. */
static inline void runner_jump(struct runner *r, int fd, int cpu)
{
	pin(cpu);
	r->tid = gettid();
	r->target = dev_now(fd) + FAR;
	r->step = JUMPS;
	lseek(fd, r->target, SEEK_SET);
	r->gvt = dev_stats(fd).gvt;
	r->time = dev_now(fd);
	r->cpu = sched_getcpu();
	r->step = BACK;
}

/* It does not run, in whatever state that is. */
static inline bool runner_is_gated(const struct runner *r)
{
	return r->step == JUMPS && state_of(r->tid) != 'R';
}

static inline struct tense_thread runner_record(int fd, pid_t tid)
{
	struct report r = report_read(fd);

	return *report_of(&r, tid);
}

/*
 * Until it has jumped and stopped, or was not stopped. It may have been at the
 * gate before, for what it ran.
 */
static inline void runner_await_gate(const struct runner *r, int fd)
{
	while (r->step == STARTS ||
	       (r->step == JUMPS &&
		(runner_record(fd, r->tid).charged < FAR ||
		 !runner_is_gated(r))))
		;
}

/* A process of its own on this CPU, which has reached the gate. */
static inline pid_t runner_start(struct runner **r, int fd, int cpu)
{
	pid_t pid;

	*r = shared(sizeof(**r));
	pid = fork_child();
	if (!pid) {
		runner_jump(*r, fd, cpu);
		_exit(0);
	}
	runner_await_gate(*r, fd);
	return pid;
}

/* The test's own times tell whether it has blocked, which lets the runner go. */
static inline bool runner_is_not_held(const struct runner *r, int fd)
{
	struct tense_thread test = runner_record(fd, gettid());

	printf("# not held: step %d, state %c, target %lld, GVT %llu; the test: now %lld, charged %llu, gated %llu, voluntary switches %ld\n",
	       r->step, state_of(r->tid), (long long)r->target,
	       (unsigned long long)dev_stats(fd).gvt, (long long)dev_now(fd),
	       (unsigned long long)test.charged, (unsigned long long)test.gated,
	       status_of(getpid(), "\nvoluntary_ctxt_switches:"));
	return false;
}

/*
 * Gives what is wrong time to happen. True if the runner was held, and rightly
 * so, all the while.
 */
static inline bool runner_is_held(const struct runner *r, int fd)
{
	for (int i = 0; i < 50; i++) {
		if (!runner_is_gated(r))
			return runner_is_not_held(r, fd);
		for (volatile int k = 0; k < 20000; k++)
			;
	}
	return (int64_t)dev_stats(fd).gvt + WINDOW < r->target ||
	       runner_is_not_held(r, fd);
}

/* GVT comes to where the runner is. */
static inline void runner_let_go(const struct runner *r, int fd)
{
	lseek(fd, r->target, SEEK_SET);
}

static inline void runner_await(const struct runner *r)
{
	while (r->step != BACK)
		;
}

/* R6 and R9, as it saw them. */
static inline bool runner_was_right(const struct runner *r)
{
	return r->gvt + WINDOW >= r->target && r->time >= r->target;
}

/* Its outcome, without blocking, which would let others go. */
static inline int reap(pid_t pid)
{
	int status = -1;

	while (!waitpid(pid, &status, WNOHANG))
		;
	return status;
}

/* A task that exits leaves soon after. */
static inline void await_alone(int fd)
{
	while (dev_stats(fd).tasks > 1)
		;
}

/* Whatever happened before: the gate still shuts and opens. */
static inline bool goes_on(int fd)
{
	struct runner *r;
	int status;
	pid_t pid;
	bool held;

	/* A CPU is as far as those that have died on it were. */
	lseek(fd, 10 * FAR, SEEK_CUR);
	pid = runner_start(&r, fd, 1);
	held = runner_is_held(r, fd);
	runner_let_go(r, fd);
	runner_await(r);
	status = reap(pid);
	if (status || !held || !runner_was_right(r)) {
		printf("# status %#x, held %d, target %lld, GVT %lld, time %lld\n",
		       status, held, (long long)r->target, (long long)r->gvt,
		       (long long)r->time);
		return false;
	}
	await_alone(fd);
	return true;
}

#endif
