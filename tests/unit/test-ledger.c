// SPDX-License-Identifier: GPL-2.0
/*
 * R12 in a model of CFS: whatever the percents of an experiment do, in one queue or
 * in several groups, who is not in it never lacks more of what it is due than a few
 * turns.
 */
#include <math.h>

#include "cfs.h"
#include "tap.h"

#define MS	1000000ULL
#define S	(1000 * MS)

/* As in module/ledger.c: each task may be ahead by so much. */
#define SLACK	(20 * MS)

static const u64 ticks[] = { 1 * MS, 4 * MS, 10 * MS };

#define for_each_tick(tick) \
	for ((tick) = ticks; (tick) < ticks + sizeof(ticks) / sizeof(*ticks); (tick)++)

/* Turns alone make a task lag by this: each other task has just begun one. */
static double most(const struct cfs *cfs)
{
	return (double)(SLACK + CFS_LATENCY + 2 * cfs->tick);
}

static bool is_near(double value, double expected, double part)
{
	if (fabs(value / expected - 1) < part)
		return true;
	printf("# %.4f, expected %.4f\n", value, expected);
	return false;
}

/* Runs tasks at so many times their speed, up to 0, beside another one. */
static void race(struct cfs *cfs, u64 tick, const double *fast)
{
	cfs_init(cfs, 1, tick);
	for (; *fast > 0; fast++)
		cfs_add(cfs, true, *fast);
	cfs_add(cfs, false, 1);
	cfs_run(cfs, 60 * S);
}

#define FAST(...) ((const double[]) { __VA_ARGS__, 0 })

static bool keeps_its_share(const double *fast)
{
	unsigned int n = 0;
	struct cfs cfs;
	const u64 *tick;
	bool all = true;

	while (fast[n] > 0)
		n++;
	for_each_tick(tick) {
		race(&cfs, *tick, fast);
		all &= is_near(cfs_share(&cfs, &cfs.task[n]), 1.0 / (n + 1), 0.01);
	}
	return all;
}

static bool follow_percents(const double *fast)
{
	struct cfs cfs;
	const u64 *tick;
	bool all = true;

	for_each_tick(tick) {
		race(&cfs, *tick, fast);
		for (unsigned int i = 1; fast[i] > 0; i++)
			all &= is_near(cfs.task[i].entity.ran / cfs.task[0].entity.ran,
				       fast[i] / fast[0], 0.02);
	}
	return all;
}

/* The first turns are over for as long as if the others stayed at percent 100. */
static double ratio_from_now_on(struct cfs *cfs)
{
	double first = cfs->task[0].entity.ran, second = cfs->task[1].entity.ran;

	cfs_run(cfs, 60 * S);
	return (cfs->task[1].entity.ran - second) /
		(cfs->task[0].entity.ran - first);
}

/* Turns of this length are those of an emulated CPU that its host stops. */
static bool follow_percents_in_long_turns(void)
{
	struct cfs cfs;

	race(&cfs, 200 * MS, FAST(1, 4, 1));
	return is_near(ratio_from_now_on(&cfs), 4, 0.02);
}

static void speeds_that_stay(void)
{
	ok(keeps_its_share(FAST(1000)), "beside one at percent 100000");
	ok(keeps_its_share(FAST(0.01)), "beside one at percent 1");
	ok(keeps_its_share(FAST(4, 1)), "beside two");
	ok(keeps_its_share(FAST(0.5, 0.5, 2, 2)), "beside four");
	ok(keeps_its_share(FAST(1000, 0.01)), "beside the fastest and the slowest");
	ok(follow_percents(FAST(4, 1)), "two tasks' shares follow the percents");
	ok(follow_percents(FAST(0.5, 0.5, 2, 2)), "so do those of four");
	ok(follow_percents_in_long_turns(), "however long turns are");
}

/* Microseconds are as likely as milliseconds. */
static u64 some(struct cfs *cfs, u64 most)
{
	return 2000 + rng_scale(&cfs->rng, most);
}

/* Fast for a while, and slow. */
static struct cfs_phase alternate(struct cfs *cfs, struct cfs_task *t)
{
	(void)cfs;
	return t->turns[t->phases % 2];
}

static struct cfs_phase at_random(struct cfs *cfs, struct cfs_task *t)
{
	double fast = pow(10, (double)rng_below(&cfs->rng, 5001) / 1000 - 2);

	(void)t;
	return (struct cfs_phase){ fast, some(cfs, 30 * MS) };
}

/*
 * Fast while the experiment's task has a turn, and slow for a moment when it is
 * about to end, as far as a task can know.
 */
static struct cfs_phase in_step(struct cfs *cfs, struct cfs_task *t)
{
	u64 left = cfs->next_tick - cfs->now;

	if (t->phases % 2 || left <= t->turns[1].ns)
		return t->turns[1];
	return (struct cfs_phase){ t->turns[0].fast, left - t->turns[1].ns };
}

/* One that tries to get more than its share, in one way or another. */
static void add_sly(struct cfs *cfs, struct cfs_queue *queue)
{
	struct cfs_task *t = cfs_add_to(cfs, queue, true, 1);

	t->turns[0] = (struct cfs_phase){ 1000, some(cfs, 50 * MS) };
	t->turns[1] = (struct cfs_phase){ 0.01, some(cfs, 5 * MS) };
	switch (rng_below(&cfs->rng, 4)) {
	case 0:
		t->next = alternate;
		break;
	case 1:
		t->next = at_random;
		break;
	case 2:
		t->next = in_step;
		break;
	default:
		t->phase.fast = pow(10, (double)rng_below(&cfs->rng, 5001) / 1000 - 2);
	}
	if (rng_chance(&cfs->rng, 20))
		t->entity.weight = 15 + rng_below(&cfs->rng, 4000);
}

static void add_many_sly(struct cfs *cfs)
{
	for (u64 n = 2 + rng_below(&cfs->rng, 6); n; n--)
		add_sly(cfs, cfs->queue);
}

/* In groups, of which one may be in another, and beside these. */
static void add_sly_groups(struct cfs *cfs)
{
	struct cfs_queue *q;

	for (u64 n = 2 + rng_below(&cfs->rng, 4); n; n--) {
		q = &cfs->queue[rng_chance(&cfs->rng, 30) ? cfs->queues - 1 : 0];
		q = cfs_group(cfs, q);
		if (rng_chance(&cfs->rng, 20))
			q->group.weight = 15 + rng_below(&cfs->rng, 4000);
		for (u64 t = 1 + rng_below(&cfs->rng, 3); t; t--)
			add_sly(cfs, q);
	}
	if (rng_chance(&cfs->rng, 30))
		add_sly(cfs, cfs->queue);
}

/*
 * One who computes all the time beside them: what it lags behind at worst, as so
 * many times what it may, and what it gets besides what it is due, as a part of it.
 */
struct result {
	double lag, besides;
};

static struct result beside(void (*add)(struct cfs *cfs), u64 seed, u64 tick)
{
	struct cfs_entity *other;
	struct cfs cfs;

	cfs_init(&cfs, seed, tick);
	add(&cfs);
	other = &cfs_add(&cfs, false, 1)->entity;
	cfs_run(&cfs, 30 * S);
	return (struct result){
		.lag = other->lag / most(&cfs),
		.besides = other->ran / other->due - 1,
	};
}

#define SEEDS	60

static void keeps_its_share_beside(void (*add)(struct cfs *cfs), const char *what)
{
	double lag = 0, besides = 0;
	unsigned int n = 0;
	const u64 *tick;

	for_each_tick(tick)
		for (u64 seed = 1; seed <= SEEDS; seed++, n++) {
			struct result r = beside(add, seed, *tick);

			lag = max(lag, r.lag);
			besides += r.besides;
		}
	printf("# %.2f times the most; %.4f besides\n", lag, besides / n);
	ok(lag < 1, "beside %s, who computes never lags behind by more than turns", what);
	ok(besides / n < 0.01, "and does not get much more on the average");
}

static void speeds_that_change(void)
{
	keeps_its_share_beside(add_many_sly, "tasks");
	keeps_its_share_beside(add_sly_groups, "groups");
}

/* Each in a group of its own. */
static bool keeps_its_share_beside_groups(const double *fast)
{
	struct cfs_task *other;
	unsigned int n = 0;
	struct cfs cfs;
	const u64 *tick;
	bool all = true;

	for_each_tick(tick) {
		cfs_init(&cfs, 1, *tick);
		for (n = 0; fast[n] > 0; n++)
			cfs_add_to(&cfs, cfs_group(&cfs, cfs.queue), true, fast[n]);
		other = cfs_add(&cfs, false, 1);
		cfs_run(&cfs, 10 * S);
		all &= is_near(ratio_from_now_on(&cfs), fast[1] / fast[0], 0.02);
		all &= is_near(cfs_share(&cfs, other), 1.0 / (n + 1), 0.01);
	}
	return all;
}

static void speeds_of_groups(void)
{
	ok(keeps_its_share_beside_groups(FAST(4, 1)), "beside two groups");
	ok(keeps_its_share_beside_groups(FAST(1000, 500)), "that are fast");
	ok(keeps_its_share_beside_groups(FAST(0.02, 0.01)), "that are slow");
	ok(keeps_its_share_beside_groups(FAST(2, 1, 0.5, 4)), "beside four");
}

/* Fast while it runs and slow when that ends, or neither. */
static struct cfs_task *add_alternating(struct cfs *cfs, bool sly)
{
	struct cfs_task *t = cfs_add(cfs, true, 1);

	t->turns[0] = (struct cfs_phase){ sly ? 1000 : 1, 9 * MS };
	t->turns[1] = (struct cfs_phase){ sly ? 0.01 : 1, MS / 30 };
	t->next = alternate;
	return t;
}

/* The member that waits longest is replaced. */
static void replace_last(struct cfs *cfs, bool sly)
{
	struct cfs_task *t, *last = NULL;

	for (t = cfs->task; t < cfs->task + CFS_TASKS; t++)
		if (t->exists && t->member && t != cfs->running &&
		    (!last || (s64)(t->entity.vruntime - last->entity.vruntime) > 0))
			last = t;
	cfs_end(cfs, last);
	add_alternating(cfs, sly);
}

/* Returns one beside three of them. */
static struct cfs_task *add_beside_three(struct cfs *cfs, bool sly, u64 tick)
{
	cfs_init(cfs, 1, tick);
	for (int i = 0; i < 3; i++)
		add_alternating(cfs, sly);
	return cfs_add(cfs, false, 1);
}

static double share_beside_dying(bool sly, u64 tick)
{
	struct cfs cfs;
	struct cfs_task *other = add_beside_three(&cfs, sly, tick);

	for (int i = 0; i < 1500; i++) {
		cfs_run(&cfs, 20 * MS);
		replace_last(&cfs, sly);
	}
	return cfs_share(&cfs, other);
}

static double share_of_sleeper(bool sly, u64 tick)
{
	struct cfs cfs;
	struct cfs_task *sleeper = add_beside_three(&cfs, sly, tick);

	sleeper->runs = 3 * MS;
	sleeper->sleeps = 30 * MS;
	cfs_run(&cfs, 60 * S);
	return cfs_share(&cfs, sleeper);
}

/* However sly they are: as where they are not, to a part of that. */
static bool as_before(double (*share)(bool sly, u64 tick), double part)
{
	const u64 *tick;
	bool all = true;

	for_each_tick(tick) {
		double with = share(true, *tick), without = share(false, *tick);

		printf("# %.4f, without %.4f\n", with, without);
		all &= with > without * (1 - part);
	}
	return all;
}

static void as_at_percent_100(void)
{
	ok(as_before(share_beside_dying, 0.01),
	   "nobody lacks what those owed that died");
	ok(as_before(share_of_sleeper, 0.03), "who sleeps gets what it needs");
}

static void let_sleep(struct cfs_task *t)
{
	t->runs = 2 * MS;
	t->sleeps = 6 * MS;
}

/* One task is fast and one sleeps. The third is outside of the experiment. */
static struct cfs beside_sleeper(bool member, double fast, u64 tick)
{
	struct cfs_task *t;
	struct cfs cfs;

	cfs_init(&cfs, 1, tick);
	cfs_add(&cfs, member, fast);
	t = cfs_add(&cfs, member, 1);
	t->entity.weight = 335;
	let_sleep(t);
	cfs_add(&cfs, false, 1);
	cfs_run(&cfs, 60 * S);
	return cfs;
}

/* To the ns, all turns are what they are without an experiment. */
static bool is_neutral(u64 tick)
{
	struct cfs with = beside_sleeper(true, 1, tick);
	struct cfs without = beside_sleeper(false, 1, tick);

	for (int i = 0; i < 3; i++)
		if (with.task[i].entity.vruntime != without.task[i].entity.vruntime)
			return false;
	return true;
}

/*
 * One group is fast, one is empty at times, and one has another process at
 * times. Returns the share of a process beside them.
 */
static double share_beside_groups(double fast, u64 tick)
{
	struct cfs_queue *q;
	struct cfs_task *other;
	struct cfs cfs;

	cfs_init(&cfs, 1, tick);
	cfs_add_to(&cfs, cfs_group(&cfs, cfs.queue), true, fast);
	let_sleep(cfs_add_to(&cfs, cfs_group(&cfs, cfs.queue), true, 1));
	q = cfs_group(&cfs, cfs.queue);
	cfs_add_to(&cfs, q, true, 1);
	let_sleep(cfs_add_to(&cfs, q, false, 1));
	other = cfs_add(&cfs, false, 1);
	cfs_run(&cfs, 60 * S);
	return cfs_share(&cfs, other);
}

static bool groups_come_and_go(void)
{
	const u64 *tick;
	bool near = true;

	for_each_tick(tick)
		near &= is_near(share_beside_groups(4, *tick),
				share_beside_groups(1, *tick), 0.04);
	return near;
}

static void sleeping_members(void)
{
	const u64 *tick;
	bool neutral = true, near = true;

	for_each_tick(tick) {
		struct cfs fast = beside_sleeper(true, 4, *tick);
		struct cfs real = beside_sleeper(true, 1, *tick);

		neutral &= is_neutral(*tick);
		near &= is_near(cfs_share(&fast, &fast.task[2]),
				cfs_share(&real, &real.task[2]), 0.04);
	}
	ok(neutral, "percent 100 is as no experiment");
	ok(near, "who sleeps neither owes nor saves anything by it");
	ok(groups_come_and_go(), "nor do groups that come and go");
}

static void let_some_sleep(struct cfs *cfs)
{
	for (struct cfs_task *t = cfs->task; t->exists; t++)
		if (rng_chance(&cfs->rng, 40)) {
			t->runs = some(cfs, 5 * MS);
			t->sleeps = some(cfs, 20 * MS);
		}
}

/* The time that the tasks ran uncharged, as a multiple of the allowed most. */
static double unpaid(u64 seed, u64 tick)
{
	const struct cfs_task *t;
	double most = 0;
	struct cfs cfs;

	cfs_init(&cfs, seed, tick);
	add_many_sly(&cfs);
	let_some_sleep(&cfs);
	for (t = cfs.task; t->exists; t++)
		most += (double)(SLACK * t->entity.weight) / 1024 +
			(double)(CFS_LATENCY + 2 * tick);
	cfs_add(&cfs, false, 1);
	cfs_run(&cfs, 10 * S);
	return cfs.most_unpaid / most;
}

/*
 * Sleepers change who is ready when, and so the turns that CFS gives. But the
 * tasks only get what others that are ready at the same times would get.
 */
static void sleepers_pay(void)
{
	double most = 0;
	const u64 *tick;

	for_each_tick(tick)
		for (u64 seed = 1; seed <= SEEDS; seed++)
			most = max(most, unpaid(seed, *tick));
	printf("# %.2f times the most\n", most);
	ok(most < 1, "whoever sleeps, they pay for what they run");
}

/* They lack nothing while nobody else is there, and so have nothing to get later. */
static bool alone_saves_nothing(double fast)
{
	struct cfs_task *other;
	struct cfs cfs;

	cfs_init(&cfs, 1, 4 * MS);
	cfs_add(&cfs, true, fast);
	cfs_add(&cfs, true, 1);
	cfs_run(&cfs, 10 * S);
	other = cfs_add(&cfs, false, 1);
	cfs_run(&cfs, 10 * S);
	return other->entity.lag < most(&cfs);
}

static void latecomers(void)
{
	ok(alone_saves_nothing(0.5), "who comes late finds nothing saved up by slow ones");
	ok(alone_saves_nothing(1000), "or by fast ones");
}

/*
 * EEVDF scales how far a task is ahead inversely to a change of its weight: what the
 * experiment is ahead of the others stays.
 */
static bool keeps_lead_at_weight(u64 weight)
{
	struct tense_ledgers ledgers = { 0 };
	struct tense_place place = { .queue = &place, .running = 3, .weight = 1024 };
	struct tense_entity one, other;
	s64 before;

	tense_entity_init(&one, NULL);
	tense_entity_init(&other, NULL);
	tense_ledger_enter(&one, &ledgers, &place);
	tense_ledger_enter(&other, &ledgers, &place);
	tense_ledger_charge(&one, &place, 10 * MS, 20 * MS, 0);
	before = one.ledger->ahead;
	place.weight = weight;
	place.vruntime = one.vruntime * 1024 / weight;
	tense_ledger_move_to(&one, &place);
	return is_near((double)one.ledger->ahead, (double)before, 0.001);
}

static void weights_that_change(void)
{
	ok(keeps_lead_at_weight(512), "half the weight: the experiment is as far ahead");
	ok(keeps_lead_at_weight(4096), "or four times the weight");
}

int main(void)
{
	speeds_that_stay();
	speeds_of_groups();
	speeds_that_change();
	as_at_percent_100();
	sleeping_members();
	sleepers_pay();
	latecomers();
	weights_that_change();
	return done();
}
