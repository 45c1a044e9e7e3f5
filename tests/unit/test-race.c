// SPDX-License-Identifier: GPL-2.0
/*
 * The race of tense profile, with simulated candidates: their gains are known, and
 * runs scatter as on a machine whose speed drifts.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <gsl/gsl_statistics.h>

#include "tap.h"
#include "profile/race.h"

#define CANDIDATES	30
#define GROUP		15
#define REPEATS		100
/* A fixed design takes thousands of runs. */
#define COMPARED	15
#define TOP		3
#define BEST		0.2
#define NEXT		0.75
#define DISTURBANCE	0.5

struct machine {
	gsl_rng *rng;
	double drift;		/* of the speed, which the control explains */
	double noise;		/* which nothing explains */
	bool heavy;		/* Student's t with 3 degrees of freedom */
	double disturbed;	/* part of the runs that take DISTURBANCE longer */
	double gain[CANDIDATES];
	double speed;
};

static struct machine machine_of(unsigned long seed, double noise)
{
	struct machine m = {
		.rng = gsl_rng_alloc(gsl_rng_mt19937), .drift = 0.05,
		.noise = noise,
	};

	gsl_rng_set(m.rng, seed);
	/* Few functions matter: each gains three quarters of the one before. */
	for (int i = 0; i < CANDIDATES; i++)
		m.gain[i] = BEST * pow(NEXT, i);
	gsl_ran_shuffle(m.rng, m.gain, CANDIDATES, sizeof(*m.gain));
	return m;
}

/* Rows: the null row of each group, and then the candidates. */
static struct race race_of(unsigned long seed, enum race_control control)
{
	struct race race = {
		.top = TOP, .precision = 0.005, .seed = seed, .disturbances = true,
		.slope = { [RACE_CPU] = -1 },
	};

	for (int i = 0; i < CANDIDATES; i += GROUP)
		race_add_row(&race, RACE_NULL, i / GROUP);
	for (int i = 0; i < CANDIDATES; i++) {
		size_t row = race_add_row(&race, RACE_CANDIDATE, i / GROUP);

		race.rows[row].control = control;
	}
	return race;
}

static double gain_of(const struct machine *m, const struct race *race,
		      size_t row)
{
	return race->rows[row].kind == RACE_NULL ? 0 :
	       m->gain[row - CANDIDATES / GROUP];
}

static void run(struct machine *m, struct race *race, size_t row)
{
	double noise = m->heavy ? gsl_ran_tdist(m->rng, 3) / sqrt(3) :
				  gsl_ran_ugaussian(m->rng);
	struct race_run r = { .row = row };

	m->speed = 0.7 * m->speed + gsl_ran_gaussian(m->rng, m->drift);
	r.control[RACE_CPU] = m->speed;
	r.control[RACE_REFERENCE] = m->speed +
				    gsl_ran_gaussian(m->rng, m->drift / 4);
	r.y = gain_of(m, race, row) - m->speed + m->noise * noise;
	if (m->disturbed && gsl_rng_uniform(m->rng) < m->disturbed)
		r.y -= DISTURBANCE;
	race_add_run(race, &r);
}

static void run_stage(struct machine *m, struct race *race)
{
	size_t *rows, count = race_stage(race, false, &rows);

	for (size_t i = 0; i < count; i++)
		run(m, race, rows[i]);
	free(rows);
}

/* Returns the runs of the race. */
static size_t run_race(struct machine *m, struct race *race, int looks)
{
	for (int look = 0; look < looks; look++) {
		run_stage(m, race);
		race_look(race);
		if (!race_is_on(race))
			break;
	}
	return race->nr_runs;
}

/* All rows run in each stage, and twice as often as in the one before. */
static size_t run_fixed(struct machine *m, struct race *race)
{
	for (int look = 0; look < RACE_LOOKS; look++) {
		for (size_t i = 0; i < race->nr_rows; i++)
			race->rows[i].racing = true;
		run_stage(m, race);
		race_look(race);
		if (!race_is_on(race))
			break;
	}
	return race->nr_runs;
}

static bool covers(const struct machine *m, const struct race *race)
{
	for (size_t i = 0; i < race->nr_rows; i++) {
		const struct race_row *row = &race->rows[i];
		double gain = gain_of(m, race, i);

		if (row->kind != RACE_NULL && !race_is_doubtful(race, row) &&
		    (gain < row->low || gain > row->high))
			return false;
	}
	return true;
}

static bool is_order_true(const struct machine *m, const struct race *race)
{
	for (size_t i = 0; i < race->nr_rows; i++) {
		double gain = gain_of(m, race, i);
		size_t rank = 0;

		for (size_t k = 0; k < race->nr_rows; k++)
			rank += race->rows[k].kind == RACE_CANDIDATE &&
				race->rows[k].gain > race->rows[i].gain;
		for (size_t k = 0; k < TOP; k++)
			if (gain == BEST * pow(NEXT, k) && rank != k)
				return false;
	}
	return true;
}

/* The candidates of which the race says that the program is slower; none is. */
static unsigned int count_slower(const struct race *race)
{
	unsigned int count = 0;

	for (size_t i = 0; i < race->nr_rows; i++)
		count += race->rows[i].kind != RACE_NULL && race->rows[i].high < 0 &&
			 !race_is_doubtful(race, &race->rows[i]);
	return count;
}

/* The interval of a usual candidate, from its lower to its upper bound. */
static double usual_width(const struct race *race)
{
	double width[CANDIDATES];
	size_t n = 0;

	for (size_t i = 0; i < race->nr_rows; i++)
		if (race->rows[i].kind != RACE_NULL)
			width[n++] = race->rows[i].high - race->rows[i].low;
	return gsl_stats_median(width, 1, n);
}

struct tally {
	unsigned int covered, ordered, separated;
	unsigned int slower, doubtful;
	unsigned int lone;	/* doubtful rows with one run */
	unsigned int stuck;	/* doubtful rows that do not run again */
	double runs;
	double width;
	size_t left_out;	/* runs that do not count */
	double compared, fixed;	/* runs of the same races by both designs */
};

struct setting {
	double noise;
	bool heavy, compare;
	double disturbed;
	enum race_control control;
	int looks;
};

static struct tally repeat(struct setting s)
{
	struct tally t = { 0 };

	for (unsigned long seed = 1; seed <= REPEATS; seed++) {
		struct machine m = machine_of(seed, s.noise);
		struct race race = race_of(seed, s.control);

		m.heavy = s.heavy;
		m.disturbed = s.disturbed;
		t.runs += run_race(&m, &race, s.looks);
		t.covered += covers(&m, &race);
		t.ordered += is_order_true(&m, &race);
		t.separated += race_separated(&race) >= TOP;
		t.slower += count_slower(&race);
		t.width += usual_width(&race) / REPEATS;
		t.left_out += race_left_out(&race);
		for (size_t i = 0; i < race.nr_rows; i++) {
			bool doubtful = race_is_doubtful(&race, &race.rows[i]);

			t.doubtful += doubtful;
			t.lone += doubtful && race.rows[i].runs == 1;
			t.stuck += doubtful && !race.rows[i].racing;
		}
		if (s.compare && seed <= COMPARED) {
			t.compared += race.nr_runs;
			race_free(&race);
			race = race_of(seed, s.control);
			t.fixed += run_fixed(&m, &race);
		}
		race_free(&race);
		gsl_rng_free(m.rng);
	}
	return t;
}

/* 95 of 100 are expected to cover; fewer than 88 do by chance in 2 of 1000 tests. */
#define COVERED_MIN	88

static void test_race(void)
{
	struct tally t = repeat((struct setting){
		.noise = 0.01, .compare = true, .looks = RACE_LOOKS,
	});

	printf("# %u cover, %u in order, %u separated, %.0f runs, %.0f in a fixed design\n",
	     t.covered, t.ordered, t.separated, t.compared / COMPARED,
	     t.fixed / COMPARED);
	ok(t.covered >= COVERED_MIN,
	   "all intervals of a race hold together: %u of %d", t.covered,
	   REPEATS);
	ok(t.separated >= 0.95 * REPEATS, "the top three are told apart: %u",
	   t.separated);
	ok(t.ordered >= 0.99 * REPEATS, "in the true order: %u", t.ordered);
	is_i64(t.left_out, 0, "and every run counts");
	ok(t.fixed >= 3 * t.compared,
	   "a fixed design needs three times as many runs: %.1f",
	   t.fixed / t.compared);
}

static void test_noise(void)
{
	struct tally t = repeat((struct setting){ .noise = 0.002, .looks = RACE_LOOKS });

	ok(t.covered >= COVERED_MIN, "they hold with little noise: %u",
	   t.covered);
	t = repeat((struct setting){ .noise = 0.01, .heavy = true, .looks = RACE_LOOKS });
	ok(t.covered >= COVERED_MIN, "and with heavy tails: %u", t.covered);
	ok(t.ordered >= 0.95 * REPEATS, "where the order is true, too: %u",
	   t.ordered);
	/* The reference explains the speed, and nothing is expected of it. */
	t = repeat((struct setting){
		.noise = 0.002, .control = RACE_REFERENCE, .looks = RACE_LOOKS,
	});
	ok(t.covered >= COVERED_MIN, "and by another control: %u", t.covered);
	is_i64(t.left_out, 0, "where every run counts");
}

/* A busy machine disturbs some runs, among them all that a function has. */
static void test_disturbed(double part, bool rare)
{
	for (int looks = 1; looks <= 3; looks++) {
		struct tally t = repeat((struct setting){
			.noise = 0.01, .disturbed = part, .looks = looks,
		});

		printf("# after look %d, %.0f runs: %u doubtful, %u slower, %.3f wide, %zu left out\n",
		       looks, t.runs / REPEATS, t.doubtful, t.slower, t.width, t.left_out);
		ok(t.covered >= COVERED_MIN,
		   "where %g %% of the runs are disturbed, all other intervals hold after look %d: %u",
		   100 * part, looks, t.covered);
		is_i64(t.stuck, 0, "what is doubted runs again, %d", looks);
		ok(looks > 1 || t.lone > 20, "what one run says is doubted, %d", looks);
		if (!rare)
			continue;
		/* Where few are disturbed, narrower intervals make a lone run doubtful later. */
		ok(looks == 1 || part < 0.03 || t.lone == 0,
		   "and has been looked at again, %d: %u", looks, t.lone);
		is_i64(t.slower, 0, "no function is said to make the program slower, %d", looks);
		ok(looks < 3 || t.width < 0.1, "intervals are no wider for them in the end, %d",
		   looks);
	}
}

#define RUNS 8

/* A null row, and a row of which every so many runs is worse by so much. */
static struct race race_with(double worse, int every)
{
	struct race race = { .top = 1, .precision = 0.001, .disturbances = true };
	size_t null = race_add_row(&race, RACE_NULL, 0);
	size_t row = race_add_row(&race, RACE_CANDIDATE, null);

	for (int i = 0; i < RUNS; i++) {
		double noise = i % 2 ? 0.001 : -0.001;

		race_add_run(&race, &(struct race_run){ .row = null, .y = noise });
		race_add_run(&race, &(struct race_run){
			.row = row, .y = 0.1 + noise - (i % every == 1 ? worse : 0),
		});
	}
	race_look(&race);
	return race;
}

/* Nobody can tell which one of two runs is usual. */
static void test_odd(void)
{
	struct race race = { .top = 1, .precision = 0.001, .disturbances = true };
	size_t null = race_add_row(&race, RACE_NULL, 0);
	size_t row = race_add_row(&race, RACE_CANDIDATE, null);
	const struct race_row *r;

	for (int i = 0; i < 5 * RUNS; i++)
		race_add_run(&race, &(struct race_run){ .row = null, .y = 0.001 * (i % 5) });
	race_add_run(&race, &(struct race_run){ .row = row, .y = 0.1 });
	race_add_run(&race, &(struct race_run){ .row = row, .y = -0.6 });
	race_look(&race);
	r = &race.rows[row];
	ok(r->odd && !r->left_out, "an outlier of two runs is not left out");
	ok(race_is_doubtful(&race, r) && r->racing, "but the row is doubtful, and runs again");
	ok(race.rows[null].runs == 5 * RUNS && !race.rows[null].odd, "other rows are not odd");
	race.disturbances = false;
	race_look(&race);
	ok(!race_is_doubtful(&race, r), "nothing is doubtful if nothing can disturb runs");
	race_free(&race);
}

static void test_left_out(void)
{
	struct race race = race_with(0.7, RUNS);
	const struct race_row *row = &race.rows[1];

	is_i64(race_left_out(&race), 1, "a run that takes twice the time does not count");
	ok(fabs(row->gain - 0.1) < 0.001, "and changes no gain");
	ok(row->high - row->low < 0.02, "nor does it make the interval wide");
	race_free(&race);
	race = race_with(-0.7, RUNS);
	is_i64(race_left_out(&race), 0, "a run that takes half the time counts");
	race_free(&race);
	race = race_with(0.04, RUNS);
	is_i64(race_left_out(&race), 0, "so does one that is slower by 4 %%");
	race_free(&race);
	race = race_with(0.7, 2);
	row = &race.rows[1];
	is_i64(race_left_out(&race), 0, "so do runs if half of a row are so slow");
	ok(row->low < 0.1 - 0.35 && row->high > 0.1 - 0.35, "the interval holds the mean: %g %g",
	   row->low, row->high);
	race_free(&race);
	race = race_with(0.7, RUNS);
	race.disturbances = false;
	race_look(&race);
	is_i64(race_left_out(&race), 0, "if nothing can disturb runs, all of them count");
	race_free(&race);
	test_odd();
}

int main(void)
{
	test_race();
	test_noise();
	test_disturbed(0.01, true);
	test_disturbed(0.03, true);
	/* More runs than those that do not count. */
	test_disturbed(0.1, false);
	test_left_out();
	return done();
}
