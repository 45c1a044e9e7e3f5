/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The tests on several CPUs share this: threads, a process outside of the
 * experiment that does things to it, and the clock page.
 */
#ifndef TENSE_SMP_H
#define TENSE_SMP_H

#include "guest.h"

#include <sched.h>
#include <sys/prctl.h>

#define WINDOW ((int64_t)TENSE_WINDOW_NS)
/* In virtual time; nobody gets there by running. */
#define FAR (3600 * S)
/* Seconds of real time, for what never ends. */
#define PATIENCE 120

static inline int cpus_online(void)
{
	return sysconf(_SC_NPROCESSORS_ONLN);
}

static inline int pin_task(pid_t tid, int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	return sched_setaffinity(tid, sizeof(set), &set) ? -errno : 0;
}

static inline int pin(int cpu)
{
	return pin_task(0, cpu);
}

/* A fork() whose child does not outlive its parent. */
static inline pid_t fork_child(void)
{
	pid_t pid = fork();

	if (!pid)
		prctl(PR_SET_PDEATHSIG, SIGKILL);
	return pid;
}

static inline ssize_t read_text(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, size - 1);

	text[n > 0 ? n : 0] = '\0';
	if (fd >= 0)
		close(fd);
	return n;
}

/* 'R', 'S', 'D' ... of any thread; 0 if there is none. */
static inline char state_of(pid_t tid)
{
	char path[32], text[512], *end;

	snprintf(path, sizeof(path), "/proc/%d/stat", tid);
	read_text(path, text, sizeof(text));
	end = strrchr(text, ')');
	return end ? end[2] : 0;
}

/* A number of /proc/TID/status, -1 if it is not there. */
static inline long status_of(pid_t tid, const char *name)
{
	char path[32], text[4096], *found;

	snprintf(path, sizeof(path), "/proc/%d/status", tid);
	read_text(path, text, sizeof(text));
	found = strstr(text, name);
	return found ? atol(found + strlen(name)) : -1;
}

/* --- what the device tells --- */

#define THREADS_MAX 64

struct report {
	struct tense_stats s;
	struct tense_thread t[THREADS_MAX];
};

static inline struct report report_read(int fd)
{
	struct report r = { 0 };

	if (read(fd, &r, sizeof(r)) < 0)
		r.s.threads = 0;
	return r;
}

/* All of it 0 if there is no such thread. */
static inline const struct tense_thread *report_of(const struct report *r,
						   pid_t tid)
{
	static const struct tense_thread none;

	for (unsigned int i = 0; i < r->s.threads && i < THREADS_MAX; i++)
		if (r->t[i].pid == tid)
			return &r->t[i];
	return &none;
}

/* --- outside: a process in no experiment, started before there is one --- */

struct outside {
	pid_t pid;
	long (*volatile call)(long arg);
	volatile long arg, result;
	volatile unsigned int asked, answered;
};

static inline struct outside *outside_start(void)
{
	struct outside *o = shared(sizeof(*o));
	pid_t pid = fork_child();

	if (pid) {
		o->pid = pid;
		return o;
	}
	for (;;) {
		while (o->answered == o->asked)
			usleep(500);
		o->result = o->call(o->arg);
		__atomic_fetch_add(&o->answered, 1, __ATOMIC_SEQ_CST);
	}
}

static inline void outside_ask(struct outside *o, long (*call)(long), long arg)
{
	o->call = call;
	o->arg = arg;
	__atomic_fetch_add(&o->asked, 1, __ATOMIC_SEQ_CST);
}

static inline bool outside_answered(const struct outside *o)
{
	return o->answered == o->asked;
}

/* Waits without blocking: the caller may be the one who holds GVT back. */
static inline long outside_answer(const struct outside *o)
{
	while (!outside_answered(o))
		;
	return o->result;
}

static inline long outside_do(struct outside *o, long (*call)(long), long arg)
{
	outside_ask(o, call, arg);
	return outside_answer(o);
}

/* Can CPUs be taken offline? User-Mode Linux cannot. */
static inline bool has_hotplug(void)
{
	return !access("/sys/devices/system/cpu/cpu1/online", W_OK);
}

/* CPU number, positive to bring it online, negative to take it offline. */
static inline long outside_hotplug(long cpu)
{
	char path[64];

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%ld/online",
		 cpu < 0 ? -cpu : cpu);
	return write_text(path, cpu < 0 ? "0" : "1");
}

/* PID << 8 | SIGNAL */
static inline long outside_signal(long what)
{
	return kill(what >> 8, what & 0xff) ? -errno : 0;
}

/* --- the clock page --- */

struct page_time {
	int64_t charged;	/* virtual: as of the last charge */
	int64_t now;
};

static inline const volatile struct tense_clock *page_map(int fd)
{
	void *p = mmap(NULL, TENSE_RING_OFFSET, PROT_READ, MAP_SHARED, fd, 0);

	return p == MAP_FAILED ? NULL : p;
}

/* As <uapi/linux/tense.h> says, for a thread that writes no records. */
static inline bool page_try(const volatile struct tense_clock *c,
			    struct page_time *t)
{
	uint32_t seq = __atomic_load_n(&c->seq, __ATOMIC_ACQUIRE);
	uint64_t ticks = tsc() - c->counter, credit = c->credit, ns;
	bool valid = c->flags & TENSE_CLOCK_VALID && ticks <= c->stale;

	t->charged = c->ns;
	ns = (unsigned __int128)ticks * c->rate * 100000 / c->percent >> 32;
	t->now = t->charged + (ns > credit ? ns - credit : 0);
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return valid && !(seq & 1) && seq == c->seq;
}

/* A call charges, and so makes the page valid. */
static inline struct page_time page_read(const volatile struct tense_clock *c,
					 int fd)
{
	struct page_time t;

	while (!page_try(c, &t))
		dev_now(fd);
	return t;
}

#endif
