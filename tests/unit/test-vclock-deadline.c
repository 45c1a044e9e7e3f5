// SPDX-License-Identifier: GPL-2.0
/* R7: the queue of deadlines, and when they fire. */
#include <stdlib.h>

#include "test-vclock.h"

#define NODES		4096
#define OPERATIONS	100000

/* The oracle: what is queued, in the order in which it has to fire. */
static struct vclock_deadline *sorted[NODES];
static unsigned int queued;

static void oracle_insert(struct vclock_deadline *d)
{
	unsigned int at = queued++;

	for (; at && sorted[at - 1]->when > d->when; at--)
		sorted[at] = sorted[at - 1];
	sorted[at] = d;
}

static void oracle_remove(const struct vclock_deadline *d)
{
	unsigned int at = 0;

	while (sorted[at] != d)
		at++;
	queued--;
	for (; at < queued; at++)
		sorted[at] = sorted[at + 1];
}

/* Counts the nodes below @d; *good turns false where the heap is no heap. */
static unsigned int check(const struct vclock_deadline *d,
			  const struct vclock_deadline *up, bool *good)
{
	unsigned int left = d->left ? d->left->rank : 0;
	unsigned int right = d->right ? d->right->rank : 0;
	unsigned int count = 1;

	if (d->up != up || left < right || d->rank != right + 1)
		*good = false;
	if (up && (up->when > d->when ||
		   (up->when == d->when && up->seq > d->seq)))
		*good = false;
	if (d->left)
		count += check(d->left, d, good);
	if (d->right)
		count += check(d->right, d, good);
	/* A node of rank r has at least 2^r - 1 nodes: logarithmic depth. */
	if (count < (1U << d->rank) - 1)
		*good = false;
	return count;
}

static bool sound(const struct vclock *vc)
{
	bool good = true;
	unsigned int count = vc->first ? check(vc->first, NULL, &good) : 0;

	return good && count == queued;
}

static void test_random(u64 seed, u64 span, bool drain)
{
	static struct vclock_deadline node[NODES];
	struct rng rng = { seed };
	struct machine m;
	bool heap = true, first = true;
	unsigned int fired = 0, last;

	machine_init(&m, 0);
	for (unsigned int i = 0; i < NODES; i++)
		node[i] = (struct vclock_deadline) { 0 };
	queued = 0;
	for (unsigned int i = 0; i < OPERATIONS; i++) {
		struct vclock_deadline *d = &node[rng_below(&rng, NODES)];

		if (vclock_armed(d)) {
			oracle_remove(d);
			vclock_disarm(&m.vc, d);
		} else {
			vclock_arm(&m.vc, d, 1 + rng_below(&rng, span));
			oracle_insert(d);
		}
		if (i % 64 == 0)
			heap = heap && sound(&m.vc);
		first = first && m.vc.first == (queued ? sorted[0] : NULL);
	}
	ok(heap && sound(&m.vc),
	   "R7: span %llu: a leftist heap after any arming and disarming",
	   (unsigned long long)span);
	ok(first, "R7: span %llu: the first is the first",
	   (unsigned long long)span);
	if (!drain)
		return;
	last = queued;
	for (; queued; fired++) {
		struct vclock_deadline *d = vclock_expire(&m.vc, span);

		if (d != sorted[0])
			break;
		oracle_remove(d);
		heap = heap && !vclock_armed(d) && !d->up && !d->left &&
		       !d->right;
		if (fired % 64 == 0)
			heap = heap && sound(&m.vc);
	}
	is_i64(fired, last, "R7: span %llu: all fire, in order",
	       (unsigned long long)span);
	ok(heap && !m.vc.first, "R7: span %llu: the queue is empty then",
	   (unsigned long long)span);
}

/* Sequences that make a careless heap a list: the depth must stay. */
static void test_depth(void)
{
	static struct vclock_deadline node[NODES];
	unsigned int deepest = 0;

	for (unsigned int order = 0; order < 3; order++) {
		struct machine m;

		machine_init(&m, 0);
		queued = NODES;
		for (unsigned int i = 0; i < NODES; i++) {
			u64 when = order == 0 ? i : order == 1 ? NODES - i : 7;

			vclock_arm(&m.vc, &node[i], when);
			if (m.vc.first->rank > deepest)
				deepest = m.vc.first->rank;
		}
		ok(sound(&m.vc), "R7: a heap after %s deadlines",
		   order == 0 ? "rising" : order == 1 ? "falling" : "equal");
	}
	ok(deepest <= 12, "R7: a merge takes at most log2(%u) steps (%u)",
	   NODES, deepest);
}

static void test_fifo(void)
{
	struct machine m;
	struct vclock_deadline d[100];
	unsigned int i;

	machine_init(&m, 0);
	for (i = 0; i < ARRAY_SIZE(d); i++)
		vclock_arm(&m.vc, &d[i], 1000);
	for (i = 0; i < ARRAY_SIZE(d); i += 3)
		vclock_disarm(&m.vc, &d[i]);
	for (i = 0; i < ARRAY_SIZE(d); i += 3)
		vclock_arm(&m.vc, &d[i], 1000);
	ok(!vclock_expire(&m.vc, 999), "R7: nothing fires 1 ns early");
	for (i = 0; i < ARRAY_SIZE(d); i++)
		if (i % 3 && vclock_expire(&m.vc, 1000) != &d[i])
			break;
	is_i64(i, ARRAY_SIZE(d), "R7: equal deadlines fire in their order");
	for (i = 0; i < ARRAY_SIZE(d); i += 3)
		if (vclock_expire(&m.vc, 1000) != &d[i])
			break;
	ok(i >= ARRAY_SIZE(d), "R7: one that was armed again goes to the end");
	ok(!vclock_expire(&m.vc, 1ULL << 40), "R7: and fires once");
}

static void test_disarm_idle(void)
{
	struct machine m;
	struct vclock_task t;

	machine_init(&m, 0);
	vclock_task_init(&t, 100, 0);
	ok(!vclock_armed(&t.deadline), "R7: a new task has no deadline");
	vclock_disarm(&m.vc, &t.deadline);
	ok(!m.vc.first, "R7: disarming it does nothing");
	vclock_arm(&m.vc, &t.deadline, 5);
	ok(vclock_armed(&t.deadline), "R7: armed");
	is_i64(t.deadline.when, 5, "R7: for its time");
	vclock_disarm(&m.vc, &t.deadline);
	vclock_disarm(&m.vc, &t.deadline);
	ok(!vclock_armed(&t.deadline) && !m.vc.first, "R7: disarmed, twice");
	vclock_arm(&m.vc, &t.deadline, 9);
	vclock_leave(&m.vc, &t, 0);
	ok(!vclock_armed(&t.deadline) && !m.vc.first,
	   "R11: who leaves takes its deadline along");
}

static void test_rearm(void)
{
	struct machine m;
	struct vclock_deadline a = { 0 }, b = { 0 };

	machine_init(&m, 0);
	vclock_rearm(&m.vc, &a, 5);
	is_i64(m.vc.due, 5, "R7: armed anew, though it was not armed");
	vclock_arm(&m.vc, &b, 7);
	vclock_rearm(&m.vc, &a, 9);
	is_i64(m.vc.due, 7, "R7: the first one for later, the next one is first");
	vclock_rearm(&m.vc, &b, 10);
	is_i64(m.vc.due, 9, "R7: and again");
	vclock_rearm(&m.vc, &b, 1);
	ok(vclock_expire(&m.vc, 20) == &b && vclock_expire(&m.vc, 20) == &a &&
	   !m.vc.first, "R7: the last one for sooner, both fire once");
}

/* Deadlines on a machine that runs: at GVT, not at any CPU's LVT. */
static void test_gvt(void)
{
	struct machine m;
	struct vclock_task slow, fast;
	struct vclock_deadline d = { 0 };

	machine_with_two(&m, &slow, &fast);
	vclock_arm(&m.vc, &d, 1000);
	vclock_charge(&m.vc, &fast, 5000);
	ok(!vclock_expire(&m.vc, 5000), "R7: one CPU past it is not enough");
	vclock_charge(&m.vc, &slow, 999);
	ok(!vclock_expire(&m.vc, 9000), "R7: nor is real time past it");
	vclock_charge(&m.vc, &slow, 1);
	ok(vclock_expire(&m.vc, 9000) == &d, "R7: it fires when GVT is there");
	ok(!vclock_expire(&m.vc, 9000), "R7: once");

	vclock_arm(&m.vc, &d, 5000);
	vclock_block(&m.vc, &slow, 9000);
	ok(vclock_expire(&m.vc, 9000) == &d,
	   "R7: also when the slowest CPU turns idle");
	vclock_arm(&m.vc, &d, 3);
	ok(vclock_expire(&m.vc, 9000) == &d, "R7: one in the past fires at once");
}

int main(void)
{
	test_random(1, 1, true);
	test_random(2, 100, true);
	test_random(3, 1000000, true);
	test_random(4, VCLOCK_TIME_MAX, false);
	test_depth();
	test_fifo();
	test_disarm_idle();
	test_rearm();
	test_gvt();
	return done();
}
