// SPDX-License-Identifier: GPL-2.0
/*
 * several SCENARIO [--cut FUNCTION:PERCENT] [--length PERCENT]: programs with several
 * functions of known gain, for tense profile. --cut: the function does that much less
 * work, to measure the truth for a prediction. The program prints how long
 * it took, in ns of CLOCK_MONOTONIC.
 *
 * Shares and orders hold on one CPU. A device works beside it: while a thread waits for one,
 * others compute. Amounts of work leave room for CPUs of half and double the speed.
 *
 * serial	f1 to f5 take 40, 25, 15, 8 and 4 % of the time, one after another
 * hidden	prefetch() works in a second thread while the first one waits for a
 *		device: much time, no gain
 * lock		four threads: locked() is short, but it and a device are under a lock that
 *		all want; outside() takes as long, and nobody waits for it
 * pipeline	three stages: refine() shares its stage with a device, which makes it the
 *		slowest; parse() and deliver() wait
 * barrier	two threads meet after each part: one has a device and then prepare(), the
 *		other one simulate(), which takes longer than prepare() and ends earlier
 * nested	outer() calls inner(), which has most of its time
 * spin		poll_device() spins until a device is ready: much time, no gain; transform()
 *		comes before each
 * processes	a child reads from a pipe: digest() and a device in turn; produce() in the
 *		parent has the same time, beside the device
 * arrivals	requests come at fixed times, and answer() ends before the next one
 * tree		split() calls itself and, at the end, leaf() and combine()
 * join		a thread for each of left() and right(), which has a longer device; both
 *		end before the next round
 * two-locks	narrow() and a device are under a lock that three threads want, wide() under
 *		one that only its thread takes
 * many		many_1 to many_30, one after another; the time of each is in inverse
 *		proportion to its number: 25, 12.5, 8.3 % and so on
 */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "work.h"

#define FUNCTIONS_MAX	16

static struct {
	const char *name;
	unsigned int percent;	/* of its work is left */
} cuts[FUNCTIONS_MAX];

static unsigned int nr_cuts, length = 100;

static uint64_t left_of(const char *name, uint64_t units)
{
	for (unsigned int i = 0; i < nr_cuts; i++)
		if (!strcmp(cuts[i].name, name))
			return units * cuts[i].percent / 100;
	return units;
}

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

static void device(unsigned int us)
{
	struct timespec time = { .tv_nsec = us * 1000L };

	clock_nanosleep(CLOCK_MONOTONIC, 0, &time, NULL);
}

static void compute(const char *name, uint64_t us)
{
	static _Thread_local uint64_t state;

	state = work_steps(state, left_of(name, us * UNITS_US));
}

/* Nothing follows but a barrier: a jump in place of the call would hide the function. */
#define FUNCTION(name, us)			\
	HOT void name(void)			\
	{					\
		compute(#name, us);		\
		__asm__ volatile("" ::: "memory"); \
	}

/* All scenarios but serial and many call these in turn, outside of their threads. */
FUNCTION(load, 500)
FUNCTION(check, 250)
FUNCTION(report, 120)

static unsigned int times(unsigned int count)
{
	return count * length / 100 ? count * length / 100 : 1;
}

static void start_up(unsigned int rounds)
{
	for (unsigned int i = 0; i < rounds; i++) {
		load();
		check();
		report();
	}
}

FUNCTION(f1, 1200)
FUNCTION(f2, 750)
FUNCTION(f3, 450)
FUNCTION(f4, 240)
FUNCTION(f5, 120)

static void serial(void)
{
	for (unsigned int i = 0; i < times(100); i++) {
		f1();
		f2();
		f3();
		f4();
		f5();
	}
}

#define MANY(n) FUNCTION(many_##n, 2500 / n)

MANY(1) MANY(2) MANY(3) MANY(4) MANY(5) MANY(6) MANY(7) MANY(8) MANY(9) MANY(10)
MANY(11) MANY(12) MANY(13) MANY(14) MANY(15) MANY(16) MANY(17) MANY(18) MANY(19) MANY(20)
MANY(21) MANY(22) MANY(23) MANY(24) MANY(25) MANY(26) MANY(27) MANY(28) MANY(29) MANY(30)

static void many(void)
{
	static void (*const functions[])(void) = {
		many_1, many_2, many_3, many_4, many_5, many_6, many_7, many_8,
		many_9, many_10, many_11, many_12, many_13, many_14, many_15,
		many_16, many_17, many_18, many_19, many_20, many_21, many_22,
		many_23, many_24, many_25, many_26, many_27, many_28, many_29,
		many_30,
	};

	for (unsigned int i = 0; i < times(100); i++)
		for (size_t k = 0; k < sizeof(functions) / sizeof(functions[0]); k++)
			functions[k]();
}

static sem_t asked, ready;
static unsigned int rounds;

FUNCTION(prefetch, 2000)
FUNCTION(consume, 1200)

static void *prefetch_thread(void *unused)
{
	for (unsigned int i = 0; i < rounds; i++) {
		sem_wait(&asked);
		device(500); /* EEVDF could run this thread before the first one waits */
		prefetch();
		sem_post(&ready);
	}
	return unused;
}

static void hidden(void)
{
	pthread_t other;

	rounds = times(40);
	start_up(rounds);
	sem_init(&asked, 0, 0);
	sem_init(&ready, 0, 0);
	pthread_create(&other, NULL, prefetch_thread, NULL);
	for (unsigned int i = 0; i < rounds; i++) {
		sem_post(&asked);
		device(6000);
		sem_wait(&ready);
		consume();
	}
	pthread_join(other, NULL);
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

FUNCTION(locked, 400)
FUNCTION(outside, 400)

static void *lock_thread(void *unused)
{
	for (unsigned int i = 0; i < rounds; i++) {
		pthread_mutex_lock(&mutex);
		locked();
		device(1800);
		pthread_mutex_unlock(&mutex);
		outside();
	}
	return unused;
}

static void four_threads(unsigned int count, void *(*first)(void *),
			 void *(*others)(void *))
{
	pthread_t thread[4];

	rounds = times(count);
	start_up(rounds);
	for (int i = 0; i < 4; i++)
		pthread_create(&thread[i], NULL, i ? others : first, NULL);
	for (int i = 0; i < 4; i++)
		pthread_join(thread[i], NULL);
}

static void lock(void)
{
	four_threads(30, lock_thread, lock_thread);
}

static struct {
	sem_t room, filled;
} first, second;

FUNCTION(parse, 700)
FUNCTION(refine, 500)
FUNCTION(deliver, 400)

static void *refine_thread(void *unused)
{
	for (unsigned int i = 0; i < rounds; i++) {
		sem_wait(&first.filled);
		refine();
		device(4500);
		sem_post(&first.room);
		sem_wait(&second.room);
		sem_post(&second.filled);
	}
	return unused;
}

static void *deliver_thread(void *unused)
{
	for (unsigned int i = 0; i < rounds; i++) {
		sem_wait(&second.filled);
		deliver();
		sem_post(&second.room);
	}
	return unused;
}

static void pipeline(void)
{
	pthread_t refiner, deliverer;

	rounds = times(60);
	start_up(rounds);
	sem_init(&first.room, 0, 4);
	sem_init(&second.room, 0, 4);
	sem_init(&first.filled, 0, 0);
	sem_init(&second.filled, 0, 0);
	pthread_create(&refiner, NULL, refine_thread, NULL);
	pthread_create(&deliverer, NULL, deliver_thread, NULL);
	for (unsigned int i = 0; i < rounds; i++) {
		sem_wait(&first.room);
		parse();
		sem_post(&first.filled);
	}
	pthread_join(refiner, NULL);
	pthread_join(deliverer, NULL);
}

static pthread_barrier_t meeting;

FUNCTION(prepare, 800)
FUNCTION(simulate, 1500)

static void *simulate_thread(void *unused)
{
	for (unsigned int i = 0; i < rounds; i++) {
		simulate();
		pthread_barrier_wait(&meeting);
	}
	return unused;
}

static void barrier(void)
{
	pthread_t other;

	rounds = times(50);
	start_up(rounds);
	pthread_barrier_init(&meeting, NULL, 2);
	pthread_create(&other, NULL, simulate_thread, NULL);
	for (unsigned int i = 0; i < rounds; i++) {
		device(5000);
		prepare();
		pthread_barrier_wait(&meeting);
	}
	pthread_join(other, NULL);
}

FUNCTION(inner, 1200)

HOT void outer(void)
{
	compute("outer", 400);
	inner();
}

static void nested(void)
{
	start_up(times(100));
	for (unsigned int i = 0; i < times(100); i++)
		outer();
}

FUNCTION(transform, 900)

/* Takes until then, however fast it is. */
HOT void poll_device(uint64_t ready_ns)
{
	while (now() < ready_ns)
		compute("poll_device", 10);
}

static void spin(void)
{
	start_up(times(60));
	for (unsigned int i = 0; i < times(60); i++) {
		transform();
		poll_device(now() + 2500000);
	}
}

FUNCTION(produce, 900)
FUNCTION(digest, 900)

static void digest_all(int from)
{
	char byte;

	while (read(from, &byte, 1) == 1) {
		digest();
		device(4000);
	}
}

static void processes(void)
{
	int pipes[2];
	pid_t child;

	start_up(times(60));
	if (pipe(pipes))
		exit(1);
	child = fork();
	if (!child) {
		close(pipes[1]);
		digest_all(pipes[0]);
		_exit(0);
	}
	for (unsigned int i = 0; i < times(60); i++) {
		produce();
		if (write(pipes[1], "", 1) != 1)
			exit(1);
	}
	close(pipes[0]);
	close(pipes[1]);
	waitpid(child, NULL, 0);
}

FUNCTION(answer, 1500)

static void arrivals(void)
{
	uint64_t next;

	start_up(times(100));
	next = now();
	for (unsigned int i = 0; i < times(60); i++) {
		next += 4000000;
		if (next > now())
			device((next - now()) / 1000);
		answer();
	}
}

FUNCTION(leaf, 150)
FUNCTION(combine, 60)

HOT void split(unsigned int depth)
{
	if (depth) {
		split(depth - 1);
		split(depth - 1);
	} else {
		leaf();
	}
	combine();
	/* No jump instead of the last call. */
	__asm__ volatile("" ::: "memory");
}

static void tree(void)
{
	start_up(times(60));
	for (unsigned int i = 0; i < times(60); i++)
		split(3);
}

FUNCTION(left, 1300)
FUNCTION(right, 700)

static void *left_thread(void *unused)
{
	left();
	device(2500);
	return unused;
}

static void *right_thread(void *unused)
{
	right();
	device(6000);
	return unused;
}

static void join(void)
{
	pthread_t a, b;

	start_up(times(50));
	for (unsigned int i = 0; i < times(50); i++) {
		pthread_create(&b, NULL, right_thread, NULL);
		/* right() is first, on one CPU, too. */
		device(1);
		pthread_create(&a, NULL, left_thread, NULL);
		pthread_join(a, NULL);
		pthread_join(b, NULL);
	}
}

static pthread_mutex_t own_mutex = PTHREAD_MUTEX_INITIALIZER;

FUNCTION(narrow, 300)
FUNCTION(wide, 700)

static void *narrow_thread(void *unused)
{
	for (unsigned int i = 0; i < rounds; i++) {
		pthread_mutex_lock(&mutex);
		narrow();
		device(1700);
		pthread_mutex_unlock(&mutex);
	}
	return unused;
}

static void *wide_thread(void *unused)
{
	for (unsigned int i = 0; i < rounds; i++) {
		pthread_mutex_lock(&own_mutex);
		wide();
		pthread_mutex_unlock(&own_mutex);
		device(1000);
	}
	return unused;
}

static void two_locks(void)
{
	four_threads(40, wide_thread, narrow_thread);
}

static const struct {
	const char *name;
	void (*run)(void);
} scenarios[] = {
	{ "serial", serial }, { "hidden", hidden }, { "lock", lock },
	{ "pipeline", pipeline }, { "barrier", barrier }, { "nested", nested },
	{ "spin", spin }, { "processes", processes }, { "arrivals", arrivals },
	{ "tree", tree }, { "join", join }, { "two-locks", two_locks },
	{ "many", many },
};

static int misuse(void)
{
	fputs("Usage: several SCENARIO [--cut FUNCTION:PERCENT] [--length PERCENT]\n",
	      stderr);
	return 2;
}

/* FUNCTION:PERCENT */
static int add_cut(char *text)
{
	char *colon = strchr(text, ':');
	unsigned long percent = colon ? strtoul(colon + 1, NULL, 10) : 101;

	if (percent > 100 || nr_cuts == FUNCTIONS_MAX)
		return -1;
	*colon = '\0';
	cuts[nr_cuts].name = text;
	cuts[nr_cuts++].percent = 100 - percent;
	return 0;
}

int main(int argc, char **argv)
{
	uint64_t start = now();

	for (int i = 2; i + 1 < argc; i += 2) {
		if (!strcmp(argv[i], "--length"))
			length = strtoul(argv[i + 1], NULL, 10);
		else if (strcmp(argv[i], "--cut") || add_cut(argv[i + 1]))
			return misuse();
	}
	for (size_t i = 0; i < sizeof(scenarios) / sizeof(scenarios[0]); i++) {
		if (argc < 2 || argc % 2 || strcmp(argv[1], scenarios[i].name))
			continue;
		scenarios[i].run();
		printf("elapsed %" PRIu64 "\n", now() - start);
		return fflush(stdout) ? 1 : 0;
	}
	return misuse();
}
