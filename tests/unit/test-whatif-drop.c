// SPDX-License-Identifier: GPL-2.0
/* Rounds that a daemon spoiled are dropped, if enough remain. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tap.h"
#include "test-whatif.h"
#include "whatif/daemons.h"

/* Each run takes 10 s, one after the other as they were taken. */
static void stamp(struct whatif_samples *samples)
{
	for (size_t i = 0; i < samples->count; i++) {
		struct whatif_sample *s = &samples->list[i];

		s->began = 1000000000000 + s->order * 10000000000ULL;
		s->ended = s->began + 9000000000;
	}
}

/* In a run of each of these rounds, in two slices of a second each. */
static struct daemon_runs runs_in(const struct whatif_samples *samples,
				  const int *rounds,
				  double ms)
{
	struct activity a = { "backup", 7, (uint64_t)(ms * 5e5) };
	struct activity other = { "cron", 8, 90000000 };
	struct daemon_runs runs = { 0 };

	for (size_t i = 0; rounds[i]; i++) {
		const struct whatif_sample *s = whatif_at(samples, i % 3,
							  rounds[i] - 1);

		for (uint64_t k = 0; k < 2; k++)
			daemon_runs_add(&runs, &a, s->began + k * 1000000000,
					s->began + (k + 1) * 1000000000);
		daemon_runs_add(&runs, &other, s->began, s->ended);
	}
	return runs;
}

static void test_spoiled(void)
{
	static struct cutoff list[] = {
		{ .daemon = "backup", .limit_s = NAN, .final_short = 150,
		  .final_long = 150 },
		{ .daemon = "cron", .limit_s = NAN, .final_short = 100,
		  .final_long = 100 },
	};
	const struct cutoff_store cutoffs = { .cutoffs = { list, 2 } };
	static const int two[] = { 3, 7, 0 }, none[] = { 0 };
	static const int most[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 0 };
	struct whatif w = ask("f", "10"), back = { 0 };
	struct daemon_runs runs;
	struct fake_program p;
	double metric;
	unsigned int third;
	size_t rounds;
	char *error;

	w.question.precision = 1e-3;
	w.question.max_runs = 12;
	fake_program_init(&p, 11);
	measure(&w, &p);
	stamp(&w.samples);
	rounds = whatif_rounds(&w.samples);
	metric = whatif_at(&w.samples, 1, 7)->metric;
	third = whatif_at(&w.samples, 0, 2)->order;
	runs = runs_in(&w.samples, none, 300);
	ok(!whatif_drop(&w.samples, &runs, &cutoffs), "nobody ran");
	runs = runs_in(&w.samples, two, 149);
	ok(!whatif_drop(&w.samples, &runs, &cutoffs) &&
	   whatif_rounds(&w.samples) == rounds,
	   "those that ran are within their cutoffs");
	free(runs.list);

	runs = runs_in(&w.samples, most, 300);
	ok(whatif_drop(&w.samples, &runs, &cutoffs) &&
	   whatif_rounds(&w.samples) == rounds &&
	   w.samples.nr_spoiled == 11 && !w.samples.spoiled[0].dropped,
	   "in nearly all rounds: none is dropped");
	whatif_assess(&w.question, &w.plan, &w.samples, &w.answer);
	ok(w.answer.nr_warnings == 2 &&
	   !strcmp(w.answer.warnings[0].id, "rounds-kept") &&
	   !strcmp(w.answer.warnings[1].id, "limit"),
	   "which is noted: %s",
	   w.answer.nr_warnings ? w.answer.warnings[0].text : "");
	free(runs.list);
	w.samples.nr_spoiled = 0;

	runs = runs_in(&w.samples, two, 300);
	ok(whatif_drop(&w.samples, &runs, &cutoffs), "in two rounds");
	is_i64((int64_t)whatif_rounds(&w.samples), (int64_t)rounds - 2,
	       "they go");
	ok(w.samples.nr_spoiled == 2 && w.samples.spoiled[0].round == 3 &&
	   w.samples.spoiled[1].round == 7 && w.samples.spoiled[1].dropped &&
	   w.samples.spoiled[0].ms == 300 &&
	   w.samples.spoiled[0].cutoff == 150 &&
	   !strcmp(w.samples.spoiled[0].daemon, "backup"),
	   "with what ran, in two slices, and its cutoff");
	ok(whatif_at(&w.samples, 1, 5)->metric == metric &&
	   whatif_at(&w.samples, 1, 5)->round == 6,
	   "what was the eighth is the sixth now");
	for (size_t i = 0; i < w.samples.count; i++)
		if (w.samples.list[i].order == third)
			ok(false, "the third is still there");
	whatif_assess(&w.question, &w.plan, &w.samples, &w.answer);
	is_i64((int64_t)w.answer.nr_warnings, 2, "two notes, one of both rounds");
	ok(!strcmp(w.answer.warnings[1].id, "limit"),
	   "and one that --max-runs was reached");
	ok(!strcmp(w.answer.warnings[0].text,
		   "rounds dropped, since backup ran in them for longer than its cutoff of 150 ms: 2 (300 ms in round 3)"),
	   "names it: %s", w.answer.warnings[0].text);
	error = write_and_read(&w, &back);
	ok(!error && back.samples.nr_spoiled == 2 &&
	   back.samples.spoiled[1].round == 7 &&
	   back.samples.spoiled[1].dropped &&
	   !strcmp(back.samples.spoiled[1].daemon, "backup"),
	   "in JSON, too");
	ok(back.samples.list[5].began == w.samples.list[5].began &&
	   back.samples.list[5].ended == w.samples.list[5].ended,
	   "with when each run was");
	free(runs.list);
	fake_program_free(&p);
	whatif_free(&back);
	whatif_free(&w);
}

int main(void)
{
	test_spoiled();
	return done();
}
