// SPDX-License-Identifier: GPL-2.0
/*
 * clock-order counts readings of CLOCK_MONOTONIC that are earlier than a reading
 * that happened before them (R9). Natively there are none.
 *
 * Three threads and a process compute and publish each reading in shared
 * memory; so does a thread that sleeps. Two threads hand readings to each other
 * by a futex, a thread and a process by pipes. Each reader compares its own
 * reading with the one that it was given.
 *
 * The output is CSV: one line for each way of reading, percent and hand-over.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <tense.h>
#include <time.h>
#include <unistd.h>

#include "raw-clock.h"

#define CHANGING	0	/* the percent changes all the time */
#define LIST_MAX	8
#define WORKERS		3

enum reading { BY_PAGE, BY_CALL, BY_BOTH, READINGS };

/* How a reader gets the earlier reading. */
enum hand_over { MEMORY, SLEEP, FUTEX, PIPE, HAND_OVERS };

static const char *const reading_name[] = { "page", "call", "both" };
static const char *const hand_over_name[] = { "memory", "sleep", "futex", "pipe" };

struct count {
	atomic_long readings, early;
	_Atomic int64_t worst;
};

/* Shared by all threads and processes. */
struct state {
	enum reading by;
	int percent;
	long quota[HAND_OVERS];		/* readings of each thread */
	_Atomic int64_t latest;		/* reading in memory */
	atomic_bool stop;		/* the sleeper */
	_Atomic int turn;		/* the futex's word: 0 or 1 */
	int64_t handed;			/* reading for whose turn it is */
	struct count count[HAND_OVERS];
};

static struct state *state;
static bool tap;
/* The device, to which percents are written; -1: libtense changes them. */
static _Thread_local int device = -1;

static __attribute__((noreturn)) void fail(const char *what, int error)
{
	fprintf(stderr, "clock-order: %s: %s\n", what, strerror(error));
	_exit(1);
}

/* Reads the clock by the page, by the system call, or by each in turn. */
static int64_t now(void)
{
	static _Thread_local unsigned int turn;

	if (state->by == BY_CALL || (state->by == BY_BOTH && ++turn % 2))
		return raw_clock(CLOCK_MONOTONIC);
	return page_clock(CLOCK_MONOTONIC);
}

static void compute(unsigned int loops)
{
	for (volatile unsigned int i = 0; i < loops; i++)
		;
}

static void check(enum hand_over how, int64_t before, int64_t reading)
{
	struct count *c = &state->count[how];
	int64_t worst = c->worst;

	c->readings++;
	if (reading >= before)
		return;
	c->early++;
	while (before - reading > worst &&
	       !atomic_compare_exchange_weak(&c->worst, &worst, before - reading))
		;
}

static void read_and_publish(enum hand_over how)
{
	int64_t before = state->latest, reading = now(), latest = before;

	check(how, before, reading);
	while (latest < reading &&
	       !atomic_compare_exchange_weak(&state->latest, &latest, reading))
		;
}

/* ESRCH is no error: outside of an experiment there is no percent. */
static void set_percent(int percent)
{
	char text[16];
	int error;

	if (device >= 0) {
		snprintf(text, sizeof(text), "%d", percent);
		if (write(device, text, strlen(text)) < 0)
			fail("cannot write the percent", errno);
		return;
	}
	error = tense_scale_percent(percent);
	if (error && error != -ENODEV)
		fail("tense_scale_percent", -error);
}

static void pop_percent(int outer)
{
	int error;

	if (device >= 0) {
		set_percent(outer);
		return;
	}
	error = tense_scale_pop();
	if (error && error != -ENODEV)
		fail("tense_scale_pop", -error);
}

static void open_device(void)
{
	uint64_t ns;

	if (state->by == BY_CALL && tense_time_ns(&ns) == 0)
		device = open("/dev/tense", O_RDWR | O_CLOEXEC);
}

/* Mostly short, at times long enough for a tick to come. */
static unsigned int loops_of(unsigned int i)
{
	return i % 4 ? i * 7919 % 1000 : 10000;
}

static void work(unsigned int id, long readings)
{
	static const int percents[] = { 50, 200, 125, 80 };

	open_device();
	for (unsigned int i = 0; readings > 0; i++) {
		bool change = state->percent == CHANGING;

		if (change)
			set_percent(percents[(i + id) % 4]);
		compute(loops_of(i + id));
		read_and_publish(MEMORY);
		if (change)
			pop_percent(100);
		compute(loops_of(i) / 4);
		read_and_publish(MEMORY);
		readings -= 2;
	}
	if (device >= 0)
		close(device);
}

static void *worker(void *id)
{
	work((uintptr_t)id, state->quota[MEMORY]);
	return NULL;
}

static void *sleeper(void *unused)
{
	const struct timespec time = { .tv_nsec = 300000 };

	(void)unused;
	while (!state->stop) {
		nanosleep(&time, NULL);
		read_and_publish(SLEEP);
	}
	return NULL;
}

static void futex(int operation, int value)
{
	syscall(SYS_futex, &state->turn, operation, value, NULL, NULL, 0);
}

static void *partner(void *arg)
{
	int me = (intptr_t)arg;

	for (long i = 0; i < state->quota[FUTEX]; i++) {
		int64_t reading;

		while (state->turn != me)
			futex(FUTEX_WAIT, !me);
		reading = now();
		check(FUTEX, state->handed, reading);
		compute(loops_of(i) / 8);
		state->handed = now();
		state->turn = !me;
		futex(FUTEX_WAKE, 1);
	}
	return NULL;
}

/* Takes a reading from one pipe and puts its own into the other. */
static void echo(int from, int to, bool first)
{
	for (long i = 0; i < state->quota[PIPE]; i++) {
		int64_t given = 0, reading;

		if (!(first && !i) &&
		    read(from, &given, sizeof(given)) != sizeof(given))
			fail("cannot read from a pipe", errno);
		reading = now();
		check(PIPE, given, reading);
		if (write(to, &reading, sizeof(reading)) != sizeof(reading))
			fail("cannot write to a pipe", errno);
	}
}

static int to_child[2], from_child[2];

static void *pipe_thread(void *unused)
{
	(void)unused;
	echo(from_child[0], to_child[1], true);
	return NULL;
}

static pid_t start_process(void (*run)(void))
{
	pid_t pid = fork();

	if (pid < 0)
		fail("fork", errno);
	if (pid)
		return pid;
	run();
	_exit(0);
}

static void run_worker_process(void)
{
	work(WORKERS, state->quota[MEMORY]);
}

static void run_echo_process(void)
{
	echo(to_child[0], from_child[1], false);
}

static pthread_t start_thread(void *(*run)(void *), intptr_t arg)
{
	pthread_t thread;
	int error = pthread_create(&thread, NULL, run, (void *)arg);

	if (error)
		fail("pthread_create", error);
	return thread;
}

static void join_process(pid_t pid)
{
	int status;

	if (waitpid(pid, &status, 0) != pid || status)
		fail("a process failed", ECHILD);
}

static void run_all(void)
{
	pthread_t thread[WORKERS + 3], sleeping;
	int threads = 0;
	pid_t pid[2];

	if (pipe(to_child) || pipe(from_child))
		fail("pipe", errno);
	/* Start processes before threads: a fork copies only one thread. */
	pid[0] = start_process(run_worker_process);
	pid[1] = start_process(run_echo_process);
	sleeping = start_thread(sleeper, 0);
	for (int i = 0; i < WORKERS; i++)
		thread[threads++] = start_thread(worker, i);
	for (int i = 0; i < 2; i++)
		thread[threads++] = start_thread(partner, i);
	thread[threads++] = start_thread(pipe_thread, 0);
	while (threads)
		pthread_join(thread[--threads], NULL);
	for (int i = 0; i < 2; i++)
		join_process(pid[i]);
	state->stop = true;
	pthread_join(sleeping, NULL);
	for (int i = 0; i < 2; i++) {
		close(to_child[i]);
		close(from_child[i]);
	}
}

static int results;

static void print_counts(void)
{
	char percent[16] = "changing";

	if (state->percent != CHANGING)
		snprintf(percent, sizeof(percent), "%d", state->percent);
	for (int how = 0; how < HAND_OVERS; how++) {
		struct count *c = &state->count[how];

		if (tap)
			printf("%sok %d - ", c->early ? "not " : "", ++results);
		printf("%s,%s,%s,%ld,%ld,%jd\n", reading_name[state->by], percent,
		       hand_over_name[how], c->readings, c->early,
		       (intmax_t)c->worst);
	}
	fflush(stdout);
}

/* Two thirds of the readings go by memory, the others by hand-overs. */
static void measure(enum reading by, int percent, long readings)
{
	memset(state, 0, sizeof(*state));
	state->by = by;
	state->percent = percent;
	state->quota[MEMORY] = readings * 2 / 3 / (WORKERS + 1) + 1;
	state->quota[FUTEX] = state->quota[PIPE] = readings / 12 + 1;
	if (percent != CHANGING)
		set_percent(percent);
	run_all();
	if (percent != CHANGING)
		pop_percent(100);
	print_counts();
}

static const char usage[] =
"Usage: clock-order [OPTION...]\n"
"\n"
"Prints, as CSV, how many readings of the clock are earlier than a reading that\n"
"happened before, and by how many ns the worst one is early.\n"
"\n"
"  --readings N       at least so many for each line of --by and --percent (100000)\n"
"  --by WAY,...       page: clock_gettime(); call: the system call; both, in turns\n"
"                     (page,call,both)\n"
"  --percent P,...    of all threads; 'changing': each changes its own all the time\n"
"                     (50,100,200,changing)\n"
"  --tap              print a result of TAP in front of each line\n";

static __attribute__((noreturn)) void misuse(const char *text)
{
	fprintf(stderr, "clock-order: not an option's value: '%s'\n%s", text, usage);
	exit(2);
}

static long parse_number(const char *text, long max)
{
	char *end;
	long n = strtol(text, &end, 10);

	if (end == text || *end || n < 1 || n > max)
		misuse(text);
	return n;
}

static int parse_percent(const char *word)
{
	return strcmp(word, "changing") ? parse_number(word, TENSE_SCALE_MAX) :
					  CHANGING;
}

static int parse_reading(const char *word)
{
	for (int i = 0; i < READINGS; i++)
		if (!strcmp(word, reading_name[i]))
			return i;
	misuse(word);
}

static int parse_list(char *text, int list[LIST_MAX], int (*parse)(const char *))
{
	int n = 0;

	for (char *word = strtok(text, ","); word; word = strtok(NULL, ",")) {
		if (n == LIST_MAX)
			misuse(word);
		list[n++] = parse(word);
	}
	return n;
}

int main(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "readings", required_argument, NULL, 'r' },
		{ "by", required_argument, NULL, 'b' },
		{ "percent", required_argument, NULL, 'p' },
		{ "tap", no_argument, NULL, 't' },
		{ NULL, 0, NULL, 0 },
	};
	int by[LIST_MAX] = { BY_PAGE, BY_CALL, BY_BOTH }, ways = 3;
	int percent[LIST_MAX] = { 1, 50, 100, 200, CHANGING }, percents = 5;
	long readings = 100000;
	int option;

	while ((option = getopt_long(argc, argv, "", longs, NULL)) >= 0) {
		switch (option) {
		case 'r':
			readings = parse_number(optarg, 1000000000);
			break;
		case 'b':
			ways = parse_list(optarg, by, parse_reading);
			break;
		case 'p':
			percents = parse_list(optarg, percent, parse_percent);
			break;
		case 't':
			tap = true;
			break;
		default:
			fputs(usage, stderr);
			return 2;
		}
	}
	if (optind != argc)
		misuse(argv[optind]);
	state = mmap(NULL, sizeof(*state), PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (state == MAP_FAILED)
		fail("mmap", errno);
	if (tap)
		printf("1..%d\n", ways * percents * HAND_OVERS);
	else
		puts("by,percent,hand_over,readings,early,worst_ns");
	fflush(stdout);
	for (int b = 0; b < ways; b++)
		for (int p = 0; p < percents; p++)
			measure(by[b], percent[p], readings);
	return fflush(stdout) ? 1 : 0;
}
