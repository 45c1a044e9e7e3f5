// SPDX-License-Identifier: GPL-2.0
/*
 * Counts the instructions that calls take: the first program of a guest whose
 * counter counts instructions. Each line is "NAME INSTRUCTIONS", per call on
 * average.
 *
 * Usage: cost-init CONDITION [MODULE]: plain and unloaded without a module,
 * loaded beside an experiment, or inside of one.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <linux/tense.h>
#include <tense.h>

#include "init.h"

#define ROUNDS	2000
#define FORKS	200
/* Many times the instructions between two ticks. */
#define SPIN	40000000
#define TICKS_PER_SECOND 1000

static inline uint64_t counter(void)
{
	uint32_t low, high;

	__asm__ volatile ("lfence; rdtsc" : "=a" (low), "=d" (high) :: "memory");
	return (uint64_t)high << 32 | low;
}

static void tell(const char *name, double instructions)
{
	printf("%s %.2f\n", name, instructions);
	fflush(stdout);
}

/* One call, after some that make everything warm. */
static void measure(const char *name, void (*call)(void), int rounds)
{
	uint64_t start;

	for (int i = 0; i < rounds / 10; i++)
		call();
	start = counter();
	for (int i = 0; i < rounds; i++)
		call();
	tell(name, (double)(counter() - start) / rounds);
}

#define TRIALS	20

enum { EACH = ROUNDS / TRIALS };

/* The same if others run now and then: in the shortest trial, they did not. */
static void measure_undisturbed(const char *name, void (*call)(void))
{
	uint64_t least = UINT64_MAX;

	for (int trial = 0; trial < TRIALS; trial++) {
		uint64_t start = counter(), took;

		for (int i = 0; i < EACH; i++)
			call();
		took = counter() - start;
		least = took < least ? took : least;
	}
	tell(name, (double)least / EACH);
}

/* Charges the caller, up to now. */
static void read_cpu_time(void)
{
	struct timespec ts;

	syscall(SYS_clock_gettime, CLOCK_THREAD_CPUTIME_ID, &ts);
}

static void read_clock(void)
{
	struct timespec ts;

	syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &ts);
}

static void yield(void)
{
	sched_yield();
}

static void fork_and_exit(void)
{
	pid_t pid = fork();

	if (!pid)
		_exit(0);
	init_must(waitpid(pid, NULL, 0) == pid, "fork");
}

static int there[2], back[2];

static void pass(int from, int to)
{
	char c = 0;

	while (read(from, &c, 1) == 1 && write(to, &c, 1) == 1)
		;
	_exit(0);
}

/* Two wake-ups, each with a switch to the one that is woken. */
static void ping_pong(void)
{
	char c = 0;

	init_must(write(there[1], &c, 1) == 1 && read(back[0], &c, 1) == 1,
		  "ping");
}

/*
 * With @policy SCHED_BATCH, a task that is woken waits until the running one blocks:
 * each wake-up then comes with a switch.
 */
static void set_policy(int policy)
{
	struct sched_param none = { 0 };

	init_must(!sched_setscheduler(0, policy, &none), "set the policy");
}

static void measure_switches(void)
{
	pid_t pid;

	set_policy(SCHED_BATCH);
	init_must(!pipe(there) && !pipe(back), "pipe");
	pid = fork();
	if (!pid)
		pass(there[0], back[1]);
	measure("wake_up_and_switch_twice", ping_pong, ROUNDS);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	set_policy(SCHED_OTHER);

	pid = fork();
	if (!pid)
		for (;;)
			sched_yield();
	measure("yield_to_another_and_back", yield, ROUNDS);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static pid_t outsider;

/* It waits in the caller's queue, but runs for 1 / 300 of the time. */
static void make_outsider(void)
{
	outsider = fork();
	if (!outsider) {
		set_policy(SCHED_IDLE);
		raise(SIGSTOP);
		for (;;)
			;
	}
	init_must(waitpid(outsider, NULL, WUNTRACED) == outsider, "stop");
}

static void measure_beside_outsider(void)
{
	kill(outsider, SIGCONT);
	/* It has come to the queue when it has run. */
	for (int i = 0; i < 100; i++)
		sched_yield();
	measure_undisturbed("charge_beside_an_outsider", read_cpu_time);
	kill(outsider, SIGKILL);
	waitpid(outsider, NULL, 0);
}

static uint64_t spin(unsigned long loops)
{
	uint64_t start = counter();

	__asm__ volatile ("1: dec %0; jnz 1b" : "+r" (loops));
	return counter() - start;
}

/* Ticks cause almost all instructions that are not the loop's. */
static void measure_tick(void)
{
	uint64_t all = spin(SPIN);

	/* An instruction takes 1 ns. */
	tell("tick", (double)(all - 2ULL * SPIN) / (all * TICKS_PER_SECOND / 1e9));
}

/* --- timers --- */

static void arm(timer_t timer, time_t seconds)
{
	struct itimerspec when = { .it_value = { seconds, 0 } };

	init_must(!timer_settime(timer, 0, &when, NULL), "arm a timer");
}

/* Set, waited for, and fired. */
static void fire_one(void)
{
	struct timespec ts = { 0, 1 };

	init_must(!nanosleep(&ts, NULL), "sleep");
}

static void measure_timers(int most)
{
	struct sigevent quiet = { .sigev_notify = SIGEV_NONE };
	struct rlimit limit = { (rlim_t)most + 100, (rlim_t)most + 100 };
	int made = 0;
	char name[64];
	timer_t timer;

	init_must(!prctl(PR_SET_TIMERSLACK, 1UL), "set the timer slack");
	init_must(!setrlimit(RLIMIT_SIGPENDING, &limit), "setrlimit");
	for (int sleepers = 10; sleepers <= most; sleepers *= 10) {
		for (; made < sleepers; made++) {
			init_must(!timer_create(CLOCK_MONOTONIC, &quiet, &timer),
				  "create a timer");
			/* In no order. */
			arm(timer, 100000 + made * 7919L % 100003);
		}
		snprintf(name, sizeof(name), "sleep_beside_%d", sleepers);
		measure(name, fire_one, ROUNDS / 10);
	}
}

static void measure_any(void)
{
	measure("charge_by_reading_cpu_time", read_cpu_time, ROUNDS);
	measure("read_clock_by_system_call", read_clock, ROUNDS);
	measure("yield_alone", yield, ROUNDS);
	measure_switches();
	measure("fork_and_exit", fork_and_exit, FORKS);
	measure_beside_outsider();
	measure_tick();
	measure_timers(100000);
}

/* --- in an experiment --- */

static int device;

static void write_percent(void)
{
	init_must(write(device, "100", 3) == 3, "write a percent");
}

static void seek(void)
{
	init_must(lseek(device, 0, SEEK_CUR) >= 0, "read the clock");
}

static void push_and_pop(void)
{
	init_must(!tense_scale_percent(50) && !tense_scale_pop(),
		  "change the percent");
}

/* As many as the ring has room for, between two charges: the program's part. */
#define PAIRS	500

static void measure_pushes(void)
{
	uint64_t start, took, least = UINT64_MAX;

	for (int trial = 0; trial < TRIALS; trial++) {
		seek();
		start = counter();
		for (int i = 0; i < PAIRS; i++)
			push_and_pop();
		took = counter() - start;
		/* No tick interrupts the shortest trial. */
		least = took < least ? took : least;
	}
	tell("two_percents_written_to_the_ring", (double)least / PAIRS);
	/* Empty the ring, so that the next measurement does not drain it. */
	seek();
}

static void read_page(void)
{
	uint64_t ns;

	init_must(!tense_time_ns(&ns), "read the time");
}

static void measure_inside(void)
{
	device = open(TENSE_DEVICE, O_RDWR | O_CLOEXEC);
	init_must(device >= 0, "join");
	for (int i = 0; i < 100; i++)
		seek();
	measure_any();
	init_must(write(device, "80", 2) == 2, "write a percent");
	measure("charge_at_percent_80", read_cpu_time, ROUNDS);
	measure("percent_by_system_call", write_percent, ROUNDS);
	measure("clock_by_lseek", seek, ROUNDS);
	/* The library maps the area: from here on charges look at the ring. */
	init_must(!tense_init(), "start libtense");
	for (int i = 0; i < 100; i++)
		push_and_pop();
	measure("two_percents_by_the_ring", push_and_pop, ROUNDS);
	measure_pushes();
	measure("clock_by_the_page", read_page, ROUNDS);
	measure("charge_with_an_area", read_cpu_time, ROUNDS);
}

/* Somebody else is in one, and asleep. */
static void start_experiment(void)
{
	int told[2];
	char c;

	init_must(!pipe(told), "pipe");
	if (!fork()) {
		init_must(open(TENSE_DEVICE, O_RDWR) >= 0, "join");
		init_must(write(told[1], "", 1) == 1, "tell");
		for (;;)
			pause();
	}
	init_must(read(told[0], &c, 1) == 1, "hear");
}

int main(int argc, char **argv)
{
	init_must(argc >= 2, "no condition");
	init_mount();
	/* First, so that it is in no experiment. */
	make_outsider();
	if (argc > 2)
		init_load(argv[2], "trust_counter=1");
	if (!strcmp(argv[1], "loaded"))
		start_experiment();
	if (!strcmp(argv[1], "inside"))
		measure_inside();
	else
		measure_any();
	puts("end 0");
	init_end();
}
