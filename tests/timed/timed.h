/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Every call that waits for a time, as a table, and properties that hold for
 * all of them, natively as in an experiment. Clocks are read by system calls
 * and by libc. How late a wait ends is told, and never fails a test.
 */
#ifndef TIMED_H
#define TIMED_H

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#define US 1000LL
#define MS 1000000LL
#define S 1000000000LL
#define HOUR (3600 * S)
#define ARRAY_LENGTH(a) (sizeof(a) / sizeof(*(a)))

/* How a wait ends; negative: an error number. */
enum { TIMED_OUT, WOKEN };

/* timed_call.flags */
enum {
	ABSOLUTE = 1,		/* waits until a time, not for a time */
	REST = 2,		/* tells how much was left */
	CANCELS = 4,		/* is a cancellation point of libc */
	STOP_INTERRUPTS = 8,	/* SIGSTOP and SIGCONT end it with EINTR */
	ZERO_NEVER = 16,	/* zero means: do not wait for a time at all */
	NEGATIVE_NEVER = 32,	/* so does a negative time */
	NEGATIVE_PAST = 64,	/* a negative time has been */
	NO_FRACTION = 128,	/* a plain number: nothing in it is malformed */
	NO_NEGATIVE = 256,	/* nor negative */
	CARRIES = 512,		/* a fraction of more than a second is fine */
	NEVER_BLOCKS = 1024,	/* asks again and again */
	JIFFIES = 2048,		/* is counted in ticks */
	IN_COMPANY = 4096,	/* ends by itself only when others are active */
};

enum after_signal {
	INTERRUPTED,		/* EINTR, SA_RESTART or not */
	RESTARTED,		/* EINTR, but goes on with SA_RESTART */
	CONTINUED,		/* goes on */
};

/* The object that a wait waits for. */
struct thing {
	int fd;
	int peer;
	uint32_t word;
	uint32_t target;
	timer_t timer;
	void *memory;
	pthread_mutex_t mutex;
	pthread_cond_t cond;
	pthread_rwlock_t rwlock;
	sem_t sem;
	mtx_t mtx;
	cnd_t cnd;
	bool happened;
	/* A thread that holds it until it is told to let go. */
	pthread_t holder;
	atomic_uint stage;
	const struct timed_call *call;
};

struct timed_call {
	const char *call;
	bool raw;		/* the system call itself, not libc's function */
	clockid_t clock;
	unsigned int flags;
	enum after_signal after;
	int64_t unit;		/* ns of the least difference; 0: 1 */
	int64_t longest;	/* s, 0: INT64_MAX */
	int malformed;		/* error for a fraction out of range; 0: EINVAL */
	int variant;		/* the functions' own */
	/* 0 or a negative error number. */
	int (*open)(const struct timed_call *call, struct thing *thing);
	int (*wait)(const struct timed_call *call, struct thing *thing,
		    struct timespec time, struct timespec *rest);
	void (*wake)(const struct timed_call *call, struct thing *thing);
	void (*close)(const struct timed_call *call, struct thing *thing);
};

struct timed_calls {
	const struct timed_call *calls;
	size_t n;
};

/* The function for every clock that it knows, and the system call itself. */
#define LIBC_AND_RAW(...) { __VA_ARGS__ }, { __VA_ARGS__, .raw = true }

extern const struct timed_calls sleep_calls, futex_calls, poll_calls, ipc_calls,
	socket_calls, uring_calls, timer_calls, thread_calls;

/* report.c */
void report_begin(void);
int report_end(void);
bool check(bool cond, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void note(const char *format, ...) __attribute__((format(printf, 1, 2)));
void leave_out(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* clock.c */
struct timespec ns_to_timespec(int64_t ns);
int64_t timespec_to_ns(struct timespec time);
int64_t raw_clock(clockid_t clock);
int64_t libc_clock(clockid_t clock);
const char *clock_name(clockid_t clock);
void nap(int64_t ns);
void burn(int64_t ns);
void *shared(size_t size);

/* helper.c: what happens to a thread while it waits. */
enum help {
	HELP_SIGNAL,		/* one signal, then wake it if that is possible */
	HELP_PESTER,		/* a signal every now and then until it is done */
	HELP_WAKE,
};

struct helper {
	pthread_t thread;
	pid_t tid;
	enum help help;
	const struct timed_call *call;
	struct thing *thing;
	atomic_bool done;
};

extern atomic_int signals_handled;
void handle_signals(bool restart);
void help_begin(struct helper *h, enum help help,
		const struct timed_call *call, struct thing *thing);
void help_end(struct helper *h);
bool thread_waits(pid_t tid);
bool thread_of_waits(pid_t process, pid_t tid);

/* holder.c: lock and unlock run in a thread of their own. */
void hold(const struct timed_call *call, struct thing *thing,
	  void (*lock)(struct thing *thing), void (*unlock)(struct thing *thing));
void let_go(const struct timed_call *call, struct thing *thing);
void holder_end(const struct timed_call *call, struct thing *thing);

/* wait.c */
struct wait {
	int64_t length;		/* asked for */
	int64_t took;		/* by the clock, from before to after the call */
	int64_t early;		/* ns that it ended too early, by that clock */
	int64_t rest;
	int end;
	bool virtual;		/* the clock did what virtual time did */
};

/* Valid until the next call. */
const char *label(const struct timed_call *call);
clockid_t measure(const struct timed_call *call);
void open_thing(const struct timed_call *call, struct thing *thing);
void close_thing(const struct timed_call *call, struct thing *thing);
struct wait wait_for(const struct timed_call *call, struct thing *thing,
		     int64_t length);
/* Whether the kernel has it. */
bool call_exists(const struct timed_call *call);
int64_t tolerance(const struct timed_call *call);
/* Tells what was wrong. */
bool in_time(const struct timed_call *call, const struct wait *w);

/* The result of a system call, or of a function that returns an error. */
static inline int ended(long result, int timed_out)
{
	int error = result < 0 ? errno : 0;

	return error == timed_out ? TIMED_OUT : -error;
}

void test_call(const struct timed_call *call);
void test_together(const struct timed_call **calls, size_t n);
void test_clocks(void);
void list_readings(void);
void test_timers(const char *program);
void test_cpu_timers(void);
void test_experiment(const struct timed_call **calls, size_t n);
void test_ends(const struct timed_call **calls, size_t n);
void test_set_clock(void);
/* Checks in a program that test_timers() has started. */
int after_exec(char **argv);
/* The same for test_ends(). */
int after_leaving(char **argv);

/*
 * experiment.c: where TENSE_KO names a module, each test runs in an experiment
 * of its own; with TENSE_TIMED all of them are in one already. False with errno
 * where there should be one, and is not.
 */
extern bool in_experiment;
bool has_module(void);
bool has_experiments(void);
void load_experiments(void);
/* Checks that nothing is left. */
void unload_experiments(const char *after);
bool join_experiment(void);
void leave_experiment(void);
void close_experiment_on_exec(void);
bool set_percent(int percent);

struct account {
	int64_t elapsed;	/* real */
	int tasks;
	struct {
		int64_t charged;
		int64_t ran;
	} all, one;		/* threads, and that which was asked for */
};

struct account account_of(pid_t tid);

/* The device's clock, read around another one and between its readings. */
struct virtual_span {
	int64_t outer;
	int64_t inner;
};

int64_t virtual_now(void);
void virtual_begin(struct virtual_span *span);
void virtual_inner_begin(struct virtual_span *span);
void virtual_inner_end(struct virtual_span *span);
void virtual_end(struct virtual_span *span);
bool virtual_fits(const struct virtual_span *span, int64_t took);

#endif
