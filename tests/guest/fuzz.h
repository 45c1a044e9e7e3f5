/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The parts of guest-fuzz share this. A round is a few processes, outside of
 * any experiment, that do operations at random. Some operations make further
 * tasks: processes and threads. Each task has a slot that says what it does.
 */
#ifndef TENSE_FUZZ_H
#define TENSE_FUZZ_H

#include "guest.h"

#include <stdatomic.h>

/* Alive at a time. */
#define TASKS_MAX 14
/* A descriptor of the device at this and the slot's number is only the task's. */
#define OWN_FD 64
/* Descriptors that any task may use, whatever they are, below the second. */
#define FIRST_FD 10
#define LAST_FD 42
/* Where the memory below and the socket that passes descriptors are. */
#define SHARED_FD 3
#define SOCKET_FD 4
/* This descriptor and those between SOCKET_FD and it are /dev/null. */
#define NULL_FD 9
#define OPERATIONS_MAX 96
#define WORDS 4
#define CPUS_MAX 8
/* The guest's kernel.pid_max. */
#define TIDS_MAX (1 << 15)

/* Process and thread, which are only told together; 0: nobody. */
typedef uint64_t who_t;

/* The current operation of a task. */
struct slot {
	_Atomic who_t who;	/* until the task has begun: who takes it */
	_Atomic int operation;
	_Atomic uint64_t count;
	_Atomic pid_t changes;	/* whose class its task is about to change, or 0 */
};

struct counts {
	_Atomic uint64_t tried, done;
};

/* Memory of all tasks and of who watches them. */
struct fuzz {
	_Atomic uint64_t operations;
	_Atomic int stop;
	/* The first thing that was wrong. */
	_Atomic int failed;
	char failure[256];
	_Atomic uint32_t word[WORDS];	/* to wait for */
	struct slot slot[TASKS_MAX];
	struct counts counts[OPERATIONS_MAX];
	/* Threads that are, or were, in the deadline class; see task_class(). */
	_Atomic bool deadline[TIDS_MAX];
	/* Tells the processes that watch the CPUs to end. */
	_Atomic int over;
	_Atomic uint64_t seed;
	_Atomic uint64_t beats[CPUS_MAX];
};

struct task {
	uint64_t random;
	int slot;
	who_t taker;		/* owns the slot until the task has begun */
	int left;		/* operations */
	int fd;			/* used last */
	int own;		/* or -1 */
	int timer_fd, timer;	/* the last ones */
	bool outside;		/* never joins; has operations of its own */
	int64_t seen;		/* the latest time that it saw */
	int64_t lvt_seen;	/* latest charged time that it saw */
	int64_t gvt_seen;	/* latest GVT that it saw; 0: none */
	uint64_t charged_seen;	/* latest sum of all charges that it saw */
	int64_t cpu_seen;	/* latest CPU time that it saw */
	struct tense_clock *clock;
	struct tense_ring *ring;
	uint64_t *latest;	/* word that all threads share, or NULL */
	bool public;		/* others write to its ring */
};

/* Its task may not be there afterwards; it need not succeed. */
enum { MAY_END = 1, ODD = 2 };

struct operation {
	const char *name;
	/* Returns what the system call did. */
	long (*run)(struct task *t);
	unsigned int weight;
	int flags;
};

extern struct fuzz *fuzz;
extern const struct operation call_operations[], text_operations[],
			      area_operations[], task_operations[],
			      brink_operations[], inside_operations[],
			      outside_operations[];
extern const size_t call_operations_length, text_operations_length,
		    area_operations_length, task_operations_length,
		    brink_operations_length, inside_operations_length,
		    outside_operations_length;

/* A system call: what it returns, or -errno. Threads here have no errno. */
static inline long call6(long nr, long a, long b, long c, long d, long e, long f)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(nr), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8),
			   "r"(r9)
			 : "rcx", "r11", "memory");
	return result;
}

#define CALL_(nr, a, b, c, d, e, f, ...) \
	call6(nr, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f))
#define call(...) CALL_(__VA_ARGS__, 0, 0, 0, 0, 0, 0)

static inline pid_t tgid_of(who_t who)
{
	return who >> 32;
}

static inline pid_t tid_of(who_t who)
{
	return (uint32_t)who;
}

static inline who_t who_am_i(void)
{
	return (uint64_t)call(SYS_getpid) << 32 | call(SYS_gettid);
}

static inline uint64_t next(struct task *t)
{
	uint64_t x = t->random += 0x9e3779b97f4a7c15;

	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
	x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
	return x ^ (x >> 31);
}

static inline unsigned int below(struct task *t, unsigned int n)
{
	return next(t) % n;
}

static inline bool one_in(struct task *t, unsigned int n)
{
	return !below(t, n);
}

/* One of an array. */
#define any(t, array) ((array)[below(t, ARRAY_LENGTH(array))])

/* As many of few bits as of many. */
static inline int64_t any_bits(struct task *t, unsigned int bits)
{
	return next(t) & ((1ULL << below(t, bits + 1)) - 1);
}

bool is_one_of(long result, const short *errors, size_t length);

/*
 * Accepts success, or an error that a call of the task's own handle may return.
 */
#define EXPECT_ERROR(t, what, result, ...) \
	do { \
		static const short errors[] = { __VA_ARGS__, ESRCH }; \
		long result_ = (result); \
		if (result_ < 0 && \
		    !is_one_of(result_, errors, ARRAY_LENGTH(errors))) \
			fail(t, what, result_, 0); \
	} while (0)

/* guest-fuzz.c */
void fail(const struct task *t, const char *what, int64_t is, int64_t other);
void ignore_alarm(bool ignored);	/* SIGALRM; otherwise sets its handler */
void forget_seen(struct task *t);	/* it may have left */
long close_fd(struct task *t, long fd);
void task_begin(struct task *t, uint64_t seed, int slot, who_t taker);
void task_run(struct task *t);
int slot_take(who_t taker);
const struct operation *operation_of(size_t i);
void pause_ns(int64_t ns);
/* fuzz-stuck.c */
void print_stuck(pid_t group);
/* fuzz-calls.c */
void calls_begin(void);			/* in a new process */
void calls_task_begin(struct task *t);
void call_in_handler(void);		/* the operation of a signal handler */
int64_t any_number(struct task *t);	/* few bits, many, or an edge */
int any_fd(struct task *t);		/* not always the device's */
long call_open_own(struct task *t);	/* leaves, joins */
long close_own(struct task *t);		/* leaves */
long seek(struct task *t, int64_t d, int whence);
long send_fd(int fd);			/* to whoever receives next */
long receive_fd(void);			/* any descriptor, or -errno */
bool is_timerfd(int fd);
long any_address(struct task *t);	/* not always of memory */
void probed(int depth);			/* has probes, calls itself */
unsigned long offset_of_probed(void);	/* in the program's file */
/* fuzz-texts.c */
void texts_begin(void);			/* in a new process */
/* fuzz-area.c */
void area_begin(struct task *t);	/* a task that has its own handle */
void area_forget(struct task *t);	/* in a child, of its parent's */
/* fuzz-brink.c */
void brink_begin(bool late);		/* in a new process */
long brink_read_times(struct task *t);

#endif
