// SPDX-License-Identifier: GPL-2.0
/*
 * R5 by many CPUs at once, each of them a thread: GVT never falls, never passes
 * a CPU that is active, and is the minimum, not less, once all hold still.
 */
#include <pthread.h>
#include <stdlib.h>

#include "module/gvt.h"
#include "tap.h"
#include "tests/sim/rng.h"

#define THREADS	6
#define ROUNDS	2000
#define STEPS	50

static struct gvt g;
static pthread_barrier_t barrier;
static unsigned int spread;	/* between the threads' CPUs */
static u64 lvt[THREADS];
static bool active[THREADS];
static unsigned int passed, fell, stayed;

static void count(unsigned int *what, bool happened)
{
	if (happened)
		__atomic_add_fetch(what, 1, __ATOMIC_RELAXED);
}

/* One CPU acts. Its own steps advance real time. */
static void step(struct rng *rng, unsigned int i, u64 real)
{
	unsigned int cpu = i * spread;

	if (!active[i]) {
		/* Ready where it was, most often. */
		if (rng_chance(rng, 30))
			lvt[i] += rng_below(rng, 20);
		lvt[i] = gvt_enter(&g, cpu, lvt[i], real);
		active[i] = true;
	} else if (rng_chance(rng, 30)) {
		gvt_leave(&g, cpu, real);
		active[i] = false;
	} else {
		lvt[i] += rng_below(rng, 20);
		gvt_raise(&g, cpu, lvt[i]);
	}
}

/* All threads wait: is GVT what it has to be? */
static void check_still(void)
{
	u64 least = GVT_NONE;

	for (unsigned int i = 0; i < THREADS; i++)
		if (active[i])
			least = min(least, lvt[i]);
	count(&stayed, least != GVT_NONE && gvt_now(&g) != least);
}

static void *run(void *arg)
{
	unsigned int i = (unsigned int)(size_t)arg;
	struct rng rng = { i * 1000 + spread };
	u64 seen = 0, now, real = 0;

	for (unsigned int round = 0; round < ROUNDS; round++) {
		for (unsigned int n = 0; n < STEPS; n++) {
			step(&rng, i, real += rng_below(&rng, 3));
			now = gvt_now(&g);
			count(&fell, now < seen);
			count(&passed, active[i] && now > lvt[i]);
			seen = now;
		}
		pthread_barrier_wait(&barrier);
		if (!i)
			check_still();
		pthread_barrier_wait(&barrier);
	}
	if (active[i])
		gvt_leave(&g, i * spread, real);
	return NULL;
}

static void race(unsigned int cpus)
{
	unsigned int leaves = gvt_leaves(cpus), left = 0;
	u64 *least = calloc(2 * leaves, sizeof(*least));
	raw_spinlock_t *lock = calloc(leaves, sizeof(*lock));
	pthread_t thread[THREADS];

	if (!least || !lock)
		abort();
	spread = (cpus - 1) / (THREADS - 1);
	passed = fell = stayed = 0;
	gvt_init(&g, least, lock, cpus, 0);
	pthread_barrier_init(&barrier, NULL, THREADS);
	for (size_t i = 0; i < THREADS; i++) {
		lvt[i] = 0;
		active[i] = false;
		if (pthread_create(&thread[i], NULL, run, (void *)i))
			abort();
	}
	for (size_t i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	pthread_barrier_destroy(&barrier);

	is_i64(fell, 0, "R5: of %u CPUs: GVT never falls", cpus);
	is_i64(passed, 0, "R5: it passes no active CPU");
	is_i64(stayed, 0, "R5: and is the minimum when all hold still");
	for (unsigned int i = 1; i < 2 * leaves; i++)
		left += least[i] != GVT_NONE;
	ok(!gvt_active(&g) && !left, "R11: nothing is left of who has left");
	free(least);
	free(lock);
}

static u64 small_least[16];
static raw_spinlock_t small_lock[8];

/* As many CPUs as one group has leaves, at most. */
static void small(unsigned int cpus)
{
	gvt_init(&g, small_least, small_lock, cpus, 0);
}

/* A leaf is there before its CPU has reached the root. */
static void on_its_way(void)
{
	small(8);
	gvt_enter(&g, 0, 0, 0);
	gvt_raise(&g, 0, 100);
	is_i64(gvt_now(&g), 100, "R5: GVT of one CPU");
	small_least[8 + 1] = 50;
	gvt_raise(&g, 0, 120);
	is_i64(gvt_now(&g), 100, "R5: one on its way takes nothing back");
	is_i64(gvt_enter(&g, 1, 50, 0), 100, "R4: and joins at GVT");
	is_i64(gvt_now(&g), 100, "R5: where it holds it");
}

/* A CPU that is not counted yet does not end the idle time. */
static void not_yet_counted(void)
{
	small(8);
	gvt_enter(&g, 0, 0, 0);
	gvt_raise(&g, 0, 100);
	small_least[8 + 1] = 200;
	gvt_leave(&g, 0, 1000);
	is_i64(gvt_now(&g), 100, "R5: GVT waits for a CPU to be counted");
	is_i64(gvt_at(&g, 1010), 110, "R5: until then, it follows real time");
	is_i64(gvt_enter(&g, 1, 200, 1010), 200, "R4: a CPU that was ahead joins there");
	is_i64(gvt_now(&g), 200, "R5: from then on, GVT is its LVT");
}

/* CPUs may take the root's lock in another order than their real times. */
static void leave_late(void)
{
	small(8);
	gvt_enter(&g, 0, 50, 0);
	gvt_enter(&g, 1, 50, 0);
	gvt_leave(&g, 0, 1000);
	gvt_leave(&g, 1, 990);
	is_i64(gvt_at(&g, 1000), 50, "R5: the latest departure begins the idleness");
	is_i64(gvt_at(&g, 1010), 60, "R5: GVT then follows real time");
}

/* A single CPU sets GVT itself. */
static void alone(void)
{
	small(1);
	is_i64(gvt_enter(&g, 0, 10, 0), 10, "R4: the only CPU joins");
	is_i64(gvt_now(&g), 10, "R5: GVT is its LVT");
	gvt_raise(&g, 0, 100);
	is_i64(gvt_now(&g), 100, "R5: GVT follows it");
	gvt_leave(&g, 0, 1000);
	is_i64(gvt_now(&g), 100, "R5: GVT stays where the only CPU left");
	is_i64(gvt_enter(&g, 0, 100, 1010), 110, "R4: the CPU joins after the idle time");
	gvt_raise(&g, 0, 120);
	is_i64(gvt_now(&g), 120, "R5: GVT follows it again");
	gvt_leave(&g, 0, 2000);
	ok(!gvt_active(&g) && small_least[8] == GVT_NONE, "R11: nothing is left of it");
}

int main(void)
{
	on_its_way();
	not_yet_counted();
	leave_late();
	alone();
	race(6);	/* the root alone */
	race(64);	/* each thread in a group of its own */
	race(40);	/* some share one */
	race(4096);	/* as far apart as can be */
	return done();
}
