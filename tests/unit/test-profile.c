// SPDX-License-Identifier: GPL-2.0
/*
 * tense profile with a fake program of known functions on a fake machine that drifts:
 * which runs it makes, and what it answers.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/stream.h"
#include "base/util.h"
#include "fake-machine.h"
#include "profile/json.h"
#include "profile/measure.h"
#include "profile/output.h"
#include "profile/words.h"
#include "tap.h"

static const struct profile_row *row_of(const struct profile *p,
					const char *name)
{
	for (size_t i = 0; i < p->answer.nr_rows; i++)
		if (!strcmp(p->candidates[p->answer.rows[i].candidate].name,
			    name))
			return &p->answer.rows[i];
	return NULL;
}

/* Has it run at half its time? */
static bool has_run(const struct profile *p, const char *name)
{
	return !isnan(row_of(p, name)->gain[PROFILE_HALF].value);
}

static const char *name_at(const struct profile *p, size_t row)
{
	return p->candidates[p->answer.rows[row].candidate].name;
}

static bool covers(const struct profile *p, const char *name,
		   enum profile_cut cut, double truth)
{
	const struct interval *i = &row_of(p, name)->gain[cut];

	return i->low <= truth && truth <= i->high;
}

static void test_order(const struct profile *p)
{
	static const char *const order[] = { "first", "second", "third",
					     "fourth", "hot" };
	bool right = true;

	for (size_t i = 0; i < 5; i++)
		right = right && !strcmp(name_at(p, i), order[i]);
	ok(right, "functions are sorted by what the program gains: %s %s %s %s %s",
	   name_at(p, 0), name_at(p, 1), name_at(p, 2), name_at(p, 3),
	   name_at(p, 4));
	ok(p->answer.separated >= 3 && !p->timed_out,
	   "the first three are told apart: %u", p->answer.separated);
}

static void test_gains(const struct profile *p)
{
	/* A run takes 1 s. */
	ok(covers(p, "first", PROFILE_HALF, 15) &&
	   covers(p, "second", PROFILE_HALF, 10) &&
	   covers(p, "third", PROFILE_HALF, 6) &&
	   covers(p, "fourth", PROFILE_HALF, 3) &&
	   covers(p, "hidden", PROFILE_HALF, 0) &&
	   covers(p, "hot", PROFILE_HALF, 1), "all intervals hold");
	ok(covers(p, "first", PROFILE_TENTH, 3) &&
	   covers(p, "first", PROFILE_FREE, 30), "those at other cuts too");
	ok(isnan(row_of(p, "hidden")->gain[PROFILE_FREE].value),
	   "a function without gain runs at no other cut");
	ok(fabs(row_of(p, "first")->share - 0.3 / 1.3) < 0.01,
	   "the time in a function is known: %g", row_of(p, "first")->share);
}

static void test_why(const struct profile *p)
{
	char *advice = profile_advice(p);

	is_i64(row_of(p, "first")->why, PROFILE_WAITS,
	       "the program waits for the first");
	is_i64(row_of(p, "hidden")->why, PROFILE_OFF_PATH,
	       "much time without gain is off the critical path");
	is_i64(p->candidates[row_of(p, "never")->candidate].state,
	       PROFILE_NEVER_CALLED, "one is never called");
	ok(strstr(profile_why_text(p, row_of(p, "refused")),
		  "shorter than a jump"), "and one refused, with the reason");
	ok(strstr(advice, "first at first: ") && strstr(advice, "leave hidden"),
	   "advice: %s", advice);
	free(advice);
}

/* Written, read and written again, it is the same. */
static void test_json(const struct profile *p)
{
	char *one = NULL, *two = NULL, *error;
	struct profile back = { 0 };
	size_t size_one, size_two;
	FILE *f = open_memstream(&one, &size_one);

	is_i64(profile_json_write(f, p), 0, "JSON is written");
	fclose(f);
	f = fmemopen(one, size_one, "r");
	error = profile_json_read(f, &back);
	fclose(f);
	ok(!error, "and read: %s", error ? error : "");
	free(error);
	profile_assess(&back);
	f = open_memstream(&two, &size_two);
	profile_json_write(f, &back);
	fclose(f);
	ok(size_one == size_two && !memcmp(one, two, size_one),
	   "and is the same again");
	for (size_t len = 1; len < size_one - 3; len += 997) {
		struct profile none = { 0 };

		f = fmemopen(one, len, "r");
		error = profile_json_read(f, &none);
		fclose(f);
		if (!error)
			ok(false, "cut off after %zu bytes is an error", len);
		free(error);
		profile_free(&none);
	}
	ok(true, "cut off anywhere it is an error");
	free(one);
	free(two);
	profile_free(&back);
}

static size_t count_text(const char *text, const char *what)
{
	size_t n = 0;

	for (; (text = strstr(text, what)); text++)
		n++;
	return n;
}

static bool table_has(const struct profile *p, const char *what)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);
	bool has;

	profile_table(f, p, false);
	fclose(f);
	has = strstr(text, what);
	free(text);
	return has;
}

/* A thread with a function that pays, one that does not, and one that was not tried. */
static json_t *fake_stacks(const struct profile *p)
{
	return json_pack("[{ss sn sn sn si}{ss ss si si si}{ss ss si si si}{ss ss sn si si}]",
		"name", "<t>", "object", "candidate", "parent", "ns", 1000,
		"name", "first", "object", "/lib/fake.so",
		"candidate", (int)row_of(p, "first")->candidate, "parent", 0, "ns", 600,
		"name", "hidden", "object", "/lib/fake.so",
		"candidate", (int)row_of(p, "hidden")->candidate, "parent", 0, "ns", 300,
		"name", "first", "object", "/lib/fake.so", "candidate", "parent", 2, "ns", 200);
}

/* Returns all that a writer writes, which the caller frees. */
static char *written(int (*writer)(FILE *f, const struct profile *p), const struct profile *p,
		     const char *what)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	is_i64(writer(f, p), 0, "%s", what);
	fclose(f);
	return text;
}

static char *page_of(const struct profile *p)
{
	return written(profile_html, p, "a page");
}

static void test_flame(struct profile *p)
{
	static const char *const wrong[] = {
		"[{\"name\":\"f\",\"parent\":3,\"ns\":1}]", "[{\"name\":\"f\",\"parent\":0,\"ns\":1}]",
		"[{\"name\":\"f\",\"parent\":-1,\"ns\":1}]", "[{\"name\":\"f\",\"parent\":null,\"ns\":-1}]",
		"[{\"name\":1,\"parent\":null,\"ns\":1}]", "[7]", "[]",
		"[{\"name\":\"f\",\"parent\":null,\"ns\":1e308},{\"name\":\"f\",\"parent\":null,\"ns\":1e308}]",
	};
	char *page = page_of(p);

	ok(!strstr(page, "flame"), "without stacks it has no flame graph");
	free(page);
	p->stacks = fake_stacks(p);
	page = page_of(p);
	is_i64(count_text(page, "<svg class=\"cell "), 4, "with stacks it has a cell for each");
	ok(strstr(page, "cell untried\" x=\"0.00\" y=\"0\" width=\"1000.00\"") &&
	   strstr(page, ">&lt;t&gt;</text>"), "the thread spans the width");
	ok(strstr(page, "cell pays\" x=\"0.00\" y=\"20\" width=\"600.00\""),
	   "a function that pays is below it");
	ok(strstr(page, "cell tried\" x=\"600.00\" y=\"20\" width=\"300.00\""),
	   "one that does not pay is beside it");
	ok(strstr(page, "cell untried\" x=\"600.00\" y=\"40\" width=\"200.00\""),
	   "one of the same name was not tried");
	ok(strstr(page, ">first: 60.0 % of the time; at half its time the program gains +1"),
	   "a cell tells what its function gains");
	free(page);
	test_json(p);
	json_decref(p->stacks);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		p->stacks = json_loads(wrong[i], 0, NULL);
		page = page_of(p);
		ok(p->stacks && !strstr(page, "flame"), "a wrong tree is not drawn: %s", wrong[i]);
		free(page);
		if (i < sizeof(wrong) / sizeof(*wrong) - 1)
			json_decref(p->stacks);
	}
}

static void test_writers(const struct profile *p)
{
	char *text;

	ok(table_has(p, "  first ") && !table_has(p, "  never "),
	   "the table has functions that ran");
	text = written(profile_csv, p, "CSV is written");
	is_i64(count_text(text, "\n"), FAKE_FUNCTIONS + 1, "with a line for each");
	free(text);
	text = written(profile_html, p, "and the page");
	is_i64(count_text(text, "class=\"bar\""), 6, "with bars of all that ran");
	ok(count_text(text, "card small") >= 3, "and curves of the best");
	ok(!strstr(text, "nan") && !strstr(text, "inf"),
	   "and numbers everywhere");
	free(text);
}

static void test_known(struct profile *p)
{
	static const struct {
		struct interval gain;
		bool shown;
	} cases[] = {
		{ { 77.7, -12, 160 }, false }, { { 77.7, 0.1, 160 }, true },
		{ { -77.7, -160, -0.1 }, true }, { { -77.7, -160, 12 }, false },
		{ { -77.7, -79.2, -76.2 }, true }, { { 77.7, -INFINITY, INFINITY }, false },
	};
	struct interval *gain = &p->answer.rows[0].gain[PROFILE_TENTH], kept = *gain;
	char number[20];

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		*gain = cases[i].gain;
		snprintf(number, sizeof(number), "%+.1f %%", gain->value);
		ok(table_has(p, number) == cases[i].shown,
		   "%s in [%g %g] is %s", number, gain->low, gain->high,
		   cases[i].shown ? "shown" : "a dash");
	}
	*gain = kept;
}

static void test_profile(void)
{
	struct fake_machine m = { 0 };
	struct profile p = fake_profile(200);

	is_i64(fake_measure(&p, &m), 0, "a profile");
	test_order(&p);
	test_gains(&p);
	test_why(&p);
	is_i64(m.shared_hot, 0, "costly instruments slow no other function down");
	ok(strstr(m.said, "best so far: first"), "progress: %s", m.said);
	test_json(&p);
	test_writers(&p);
	test_known(&p);
	test_flame(&p);
	profile_free(&p);
}

/* Runs of a stage on several guests at the same time. */
static void test_guests(void)
{
	struct fake_machine alone = { 0 }, m = { .many = true };
	struct profile p = fake_profile(200);

	fake_measure(&p, &alone);
	profile_free(&p);
	p = fake_profile(200);
	is_i64(fake_measure(&p, &m), 0, "a profile of several guests");
	test_order(&p);
	test_gains(&p);
	ok(m.batches > 2 && m.batches < m.runs / 2, "%u runs are in %u batches",
	   m.runs, m.batches);
	ok(m.clock / m.runs < alone.clock / alone.runs / 2,
	   "a run takes less time: %g s instead of %g s", m.clock / m.runs,
	   alone.clock / alone.runs);
	/* A request for one of the guests. */
	p.batch = (struct profile_batch){
		.runs = xmalloc(2 * sizeof(*p.batch.runs)), .count = 2,
		.round = 1, .order = 7, .succeeded = true,
	};
	p.batch.runs[0] = (struct profile_run){ .group = 0, .condition = 1 };
	p.batch.runs[1] = (struct profile_run){ .group = 1, .condition = 2 };
	test_json(&p);
	profile_free(&p);

	m = (struct fake_machine){ .many = true };
	p = fake_profile(9);
	is_i64(fake_measure(&p, &m), 0, "several guests with little time");
	ok(m.clock < 11, "end in that time: %g s", m.clock);
	profile_free(&p);

	m = (struct fake_machine){ .many = true, .interrupt_at = 40 };
	p = fake_profile(200);
	is_i64(fake_measure(&p, &m), 0, "interrupted guests have an answer");
	ok(p.interrupted && p.answer.nr_rows == FAKE_FUNCTIONS, "and say so");
	profile_free(&p);

	m = (struct fake_machine){ .many = true, .no_metric_every = 1 };
	p = fake_profile(200);
	is_i64(fake_measure(&p, &m), 1, "guests without any metric have no answer");
	profile_free(&p);
}

/* 1.3 s a run: there is time for 12. */
static void test_time(void)
{
	struct fake_machine m = { 0 };
	struct profile p = fake_profile(16);

	is_i64(fake_measure(&p, &m), 0, "with little time there is an answer");
	ok(m.clock < 18, "in that time: %g s", m.clock);
	ok(p.answer.nr_rows == FAKE_FUNCTIONS, "with all functions");
	profile_free(&p);

	m = (struct fake_machine){ 0 };
	p = fake_profile(4);
	fake_measure(&p, &m);
	ok(m.clock < 6.5, "with next to none it ends in time: %g s", m.clock);
	profile_free(&p);
}

/* However coarse the precision, an interval that holds the share is no proof of no gain. */
static void test_coarse(void)
{
	struct fake_machine m = { 0 };
	struct profile p = fake_profile(16);
	unsigned int uncertain = 0, wrong = 0;

	p.question.precision = 100;
	is_i64(fake_measure(&p, &m), 0, "a coarse precision");
	for (size_t i = 0; i < p.answer.nr_rows; i++) {
		const struct profile_row *row = &p.answer.rows[i];

		uncertain += row->why == PROFILE_UNCERTAIN;
		wrong += row->why == PROFILE_OFF_PATH &&
			 row->gain[PROFILE_HALF].high >= 50 * row->share;
	}
	ok(uncertain && !wrong, "does not tell of a wide interval that nothing is gained: %u of %u",
	   wrong, uncertain);
	profile_free(&p);
}

/* The runs before it are not lost. */
static void test_late_failure(struct fake_machine m)
{
	struct profile p = fake_profile(200);
	char *ending;

	is_i64(fake_measure(&p, &m), 0, "after a late failure there is an answer");
	is_i64(p.failure_status, 1, "with the status of the failure");
	ending = profile_ending(&p);
	ok(strstr(ending, "The race ended with an error after "), "which says: %s", ending);
	free(ending);
	test_json(&p);
	profile_free(&p);
}

static void test_ends(void)
{
	struct fake_machine m = { .interrupt_at = 12 };
	struct profile p = fake_profile(200);

	is_i64(fake_measure(&p, &m), 0, "an interrupted profile has an answer");
	ok(p.interrupted && p.answer.nr_rows == FAKE_FUNCTIONS, "and says so");
	profile_free(&p);

	m = (struct fake_machine){ .interrupt_at = 1 };
	p = fake_profile(200);
	is_i64(fake_measure(&p, &m), STATUS_SIGNAL + 2, "unless nothing was known");
	profile_free(&p);

	m = (struct fake_machine){ .fail_at = 3 };
	p = fake_profile(200);
	is_i64(fake_measure(&p, &m), 1, "an early failure leaves no answer");
	profile_free(&p);
	test_late_failure((struct fake_machine){ .fail_at = 40 });
	test_late_failure((struct fake_machine){ .fail_at = 40, .many = true });
}

/*
 * Fast work of "second" lets another thread spin, so CPU time does not tell the machine's
 * speed. A few runs cannot show this.
 */
static bool covers_few(struct fake_machine m, bool *any)
{
	/* One thread also waits for "hidden", and takes 1.3 s instead of 1. */
	static const struct {
		const char *name;
		double gain, alone;
	} truth[] = {
		{ "first", 15, 15 / 1.3 }, { "second", 10, 10 / 1.3 },
		{ "third", 6, 6 / 1.3 }, { "fourth", 3, 3 / 1.3 },
		{ "hidden", 0, 15 / 1.3 }, { "hot", 1, 1 / 1.3 },
	};
	struct profile p = fake_profile(2000);
	bool all = true;

	*any = !fake_measure(&p, &m);
	for (size_t i = 0; *any && i < sizeof(truth) / sizeof(truth[0]); i++) {
		const struct interval *gain =
			&row_of(&p, truth[i].name)->gain[PROFILE_HALF];
		double of = m.quiet ? truth[i].alone : truth[i].gain;

		of = m.clocked && !strcmp(truth[i].name, "second") ? 0 : of;
		all = all && (isnan(gain->value) || (gain->low <= of && of <= gain->high));
	}
	profile_free(&p);
	return all;
}

#define FEW_PROFILES	200
/* 190 of 200 are expected to cover; fewer than 180 do by chance in 1 of 500 tests. */
#define FEW_COVERED	180

static void test_few(const char *program, struct fake_machine like)
{
	static const unsigned int runs[] = { 9, 14, 20, 30 };

	for (size_t i = 0; i < sizeof(runs) / sizeof(runs[0]); i++) {
		struct fake_machine m = like;
		unsigned int covered = 0, answers = 0;
		bool any;

		m.interrupt_at = runs[i] + 1;
		for (; m.seed < FEW_PROFILES; m.seed++) {
			covered += covers_few(m, &any);
			answers += any;
		}
		ok(covered >= FEW_COVERED && answers >= FEW_PROFILES * 0.9,
		   "%s: interrupted after %u runs, all intervals hold in %u of %d profiles",
		   program, runs[i], covered, FEW_PROFILES);
	}
}

static void is_advice(const struct profile *p, const char *begin, const char *what)
{
	char *advice = profile_advice(p);

	ok(strncmp(advice, begin, strlen(begin)) == 0, "%s: %s", what, advice);
	free(advice);
}

/* Functions that call others gain what these gain. */
static void test_callers(void)
{
	struct fake_machine m = { .quiet = true };
	struct profile p = fake_profile(200);

	fake_profile_add(&p, "main");
	fake_profile_add(&p, "outer");
	is_i64(fake_measure(&p, &m), 0, "a profile with functions that call others");
	ok(!strcmp(name_at(&p, 0), "main") && row_of(&p, "main")->why == PROFILE_WHOLE,
	   "main() is nearly the whole program: %s", name_at(&p, 0));
	ok(strstr(m.said, "best so far: ") && !strstr(m.said, "best so far: main"),
	   "progress names its best part: %s", m.said);
	ok(fabs(row_of(&p, "outer")->share - row_of(&p, "first")->share) < 0.01,
	   "outer() has the time of first(): %g", row_of(&p, "outer")->share);
	is_advice(&p, "Look first at first: ", "the advice is first() instead of its caller");
	profile_free(&p);
}

/* Runs without a metric are left out, and too many of them end the profile. */
static void test_no_metric(void)
{
	struct fake_machine m = { .no_metric_every = 7 };
	struct profile p = fake_profile(200);
	char *left_out;

	is_i64(fake_measure(&p, &m), 0, "some runs have no metric");
	left_out = profile_left_out(&p);
	ok(p.dropped && p.answer.separated >= 3 &&
	   strstr(left_out, "without a metric did not count"),
	   "they do not count, and the answer says so: %s", left_out);
	free(left_out);
	profile_free(&p);

	m = (struct fake_machine){ .no_metric_every = 1 };
	p = fake_profile(200);
	is_i64(fake_measure(&p, &m), 1, "without any metric there is no answer");
	ok(m.runs < 20, "and soon: %u runs", m.runs);
	profile_free(&p);
}

/* Of the rows in the table, how many lack a gain? */
static size_t rows_without(const struct profile *p)
{
	size_t n = 0;

	for (size_t i = 0; i < p->answer.nr_rows; i++) {
		const struct profile_row *row = &p->answer.rows[i];

		n += p->candidates[row->candidate].state == PROFILE_NOT_TRIED &&
		     profile_is_shown(p, row);
	}
	return n;
}

/* The numbers below the table agree with its rows. */
static void test_left_out(struct profile *p)
{
	char *text = profile_left_out(p), *expected;
	size_t untried = 0, rows = rows_without(p);

	for (size_t i = 0; i < p->nr_candidates; i++)
		untried += p->candidates[i].state == PROFILE_NOT_TRIED;
	expected = rows ? xprintf(rows == untried ? "%zu of the %zu functions did not run, because no time was left: their rows" :
						    "%zu of the %zu functions did not run, because no time was left: %zu row",
				  untried, p->nr_candidates, rows) :
			  xprintf("%zu of the %zu functions did not run, because no time was left: the table leaves them out",
				  untried, p->nr_candidates);
	ok(untried && strstr(text, expected),
	   "%zu functions did not run, %zu of them have rows: %s", untried, rows, text);
	free(expected);
	free(text);
	p->interrupted = true;
	text = profile_left_out(p);
	ok(strstr(text, "because the race was interrupted"), "after ^C: %s", text);
	free(text);
	p->interrupted = false;
}

/* A survey runs the command without instruments. */
static void test_changed(void)
{
	static const struct {
		double elapsed;		/* of the survey, in runs with instruments */
		uint64_t for_ns;
		enum metric_kind metric;
		bool told;
	} cases[] = {
		{ 0.9, 0, METRIC_ELAPSED, true }, { 0.97, 0, METRIC_ELAPSED, false },
		{ 1.2, 0, METRIC_ELAPSED, false }, { 0, 0, METRIC_ELAPSED, false },
		{ 0.9, 1, METRIC_ELAPSED, false }, { 0.9, 0, METRIC_CPU, false },
	};
	struct fake_machine m = { 0 };
	struct profile p = fake_profile(30);

	is_i64(fake_measure(&p, &m), 0, "a profile after a survey");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *text;

		p.survey_elapsed_ns = cases[i].elapsed * p.answer.baseline;
		p.asked.for_ns = cases[i].for_ns;
		p.question.metric.kind = cases[i].metric;
		text = profile_left_out(&p);
		is_i64(strstr(text, "a run takes 11 % longer") != NULL, cases[i].told,
		       "whether instruments change the program: %s", text);
		free(text);
	}
	profile_free(&p);
}

/* Something disturbs the first run in which the best function is faster. */
static void test_disturbed(void)
{
	static const double times[] = { 30, 400 };

	for (size_t i = 0; i < 2; i++) {
		struct fake_machine m = { .disturb = "first" };
		struct profile p = fake_profile(times[i]);
		const struct profile_row *first;
		char *advice, *left_out, *page, gain[40];
		bool doubted;

		is_i64(fake_measure(&p, &m), 0, "a profile with a disturbed run");
		first = row_of(&p, "first");
		advice = profile_advice(&p);
		doubted = first->runs[PROFILE_HALF] == 1;
		printf("# after %g s: %zu runs, %.1f [%.1f %.1f], %s\n", times[i],
		       first->runs[PROFILE_HALF], first->gain[PROFILE_HALF].value,
		       first->gain[PROFILE_HALF].low, first->gain[PROFILE_HALF].high, advice);
		is_i64(doubted, i == 0, "the function runs again if there is time");
		is_i64(first->why == PROFILE_DOUBTFUL, doubted, "if it does not, it is doubtful");
		is_i64(table_has(&p, "except where something may have disturbed the few runs"), doubted,
		       "and the table says that its interval does not count");
		snprintf(gain, sizeof(gain), "%+.1f %% [", first->gain[PROFILE_HALF].value);
		is_i64(table_has(&p, gain), !doubted, "the table shows no number that is doubtful");
		page = page_of(&p);
		ok(!strstr(page, "nan"), "nor does the page show another one in its place");
		free(page);
		ok(!strstr(advice, "leave first"), "nobody is told to leave it: %s", advice);
		left_out = profile_left_out(&p);
		is_i64(left_out && strstr(left_out, "1 run much worse than others"), !doubted,
		       "with another run, the disturbed one does not count: %s",
		       left_out ? left_out : "");
		ok(doubted || first->gain[PROFILE_HALF].high - first->gain[PROFILE_HALF].low < 3,
		   "and makes no interval wide");
		free(left_out);
		free(advice);
		profile_free(&p);
	}
}

/* Most of the candidate's time is in calls from deflate(), by a function without a name. */
static json_t *stacks_of_address(int candidate)
{
	return json_pack("[{ss sn sn si}{ss ss si si}{ss ss si si}{ss ss si si si}{ss ss si si}{ss ss si si si}]",
		"name", "t", "object", "parent", "ns", 900,
		"name", "deflate", "object", "libz", "parent", 0, "ns", 500,
		"name", "libz+0x4b10", "object", "libz", "parent", 1, "ns", 500,
		"name", "libz+0x5d80", "object", "libz", "parent", 2, "ns", 500, "candidate", candidate,
		"name", "inflate", "object", "libz", "parent", 0, "ns", 400,
		"name", "libz+0x5d80", "object", "libz", "parent", 4, "ns", 400, "candidate", candidate);
}

/* Nobody knows by its name which function an address is. */
static void test_address(void)
{
	struct fake_machine m = { 0 };
	struct profile p = fake_profile(30);
	size_t first;
	char *text, **name;

	is_i64(fake_measure(&p, &m), 0, "a profile");
	text = profile_left_out(&p);
	ok(!text || !strstr(text, "is an address"), "all names are names");
	free(text);
	first = row_of(&p, "first")->candidate;
	p.stacks = stacks_of_address(first);
	is_advice(&p, "Look first at first: ", "a name needs no caller");
	name = &p.candidates[first].name;
	free(*name);
	*name = xstrdup("libz+0x5d80");
	text = profile_left_out(&p);
	ok(text && strstr(text, "A name such as libz+0x5d80 is an address"), "one is not: %s",
	   text ? text : "");
	free(text);
	is_advice(&p, "Look first at libz+0x5d80 (called from deflate): ", "an address does");
	json_object_set_new(json_array_get(p.stacks, 2), "parent", json_integer(2));
	is_advice(&p, "Look first at libz+0x5d80 (called from inflate): ",
		  "a damaged stack has no caller");
	json_decref(p.stacks);
	p.stacks = NULL;
	is_advice(&p, "Look first at libz+0x5d80: ", "without a survey there is none");
	profile_free(&p);
}

/* A number that the command prints is a time or a speed: the user knows. */
static void test_better(void)
{
	struct fake_machine m = { 0 };
	struct profile p = fake_profile(200);
	const struct profile_row *first;
	struct profile_row loser = { .why = PROFILE_LOSES };
	char *title, *advice;

	p.question.metric.kind = METRIC_STDOUT;
	p.question.metric.pattern = xstrdup("t=(.*)");
	p.question.better = BETTER_LESS;
	is_i64(fake_measure(&p, &m), 0, "a profile of a time that the command prints");
	first = row_of(&p, "first");
	advice = profile_advice(&p);
	ok(first->gain[PROFILE_HALF].low > 0 && first == p.answer.rows &&
	   strstr(advice, "have less of the metric"), "less is better: %s", advice);
	free(advice);
	title = whatif_metric_title(&p.question);
	ok(!strcmp(title, "stdout:t=(.*) (less is better)"), "the title says so");
	free(title);
	ok(strstr(profile_why_text(&p, &loser), "the metric would be more"),
	   "a loss has more of it");
	p.question.better = BETTER_UNSAID;
	profile_assess(&p);
	ok(row_of(&p, "first")->gain[PROFILE_HALF].high < 0,
	   "without --better, more is better");
	title = whatif_metric_title(&p.question);
	ok(!strcmp(title, "stdout:t=(.*) (more is better)"), "as the title says");
	free(title);
	profile_free(&p);
}

/* Runs a profile of one second, and returns its messages. The caller frees them. */
static char *messages_of(struct fake_machine m, uint64_t spent_ns)
{
	FILE *f = tmpfile();
	int old = stream_divert(STDERR_FILENO, fileno(f));
	struct profile p = fake_profile(1);
	char *text;
	long size;

	p.spent_ns = spent_ns;
	fake_measure(&p, &m);
	profile_free(&p);
	stream_bring_back(STDERR_FILENO, old);
	size = lseek(fileno(f), 0, SEEK_END);
	text = xmalloc(size + 1);
	text[pread(fileno(f), text, size, 0)] = '\0';
	fclose(f);
	return text;
}

static void test_short(void)
{
	char *text = messages_of((struct fake_machine){ .length = 0.03 }, 0);

	ok(strstr(text, "a run of fake takes only ") && strstr(text, "larger input"),
	   "short runs are told: %s", text);
	free(text);
	text = messages_of((struct fake_machine){ .length = 0.03 }, 1);
	ok(!strstr(text, "takes only"), "not again after a survey: %s", text);
	free(text);
	text = messages_of((struct fake_machine){ .length = 0.3 }, 0);
	ok(!strstr(text, "takes only"), "longer ones are not: %s", text);
	free(text);
}

/* With the time that it asks for, each function runs. */
static void test_needed(void)
{
	/* One ends in the first stage, the other one before it. */
	static const double times[] = { 9, 4 };

	for (size_t i = 0; i < 2; i++) {
		struct fake_machine m = { 0 };
		struct profile p = fake_profile(times[i]);
		double needed, seconds = 0;
		char *words;
		bool all = true;

		fake_measure(&p, &m);
		words = profile_needed(&p, 0);
		needed = p.needed_ns / SECOND_NS;
		ok(sscanf(words, "One run takes about %*g s, so that all functions need about %lf s: use",
			  &seconds) == 1 &&
		   seconds >= needed && seconds < needed + 60 && needed < 60,
		   "after --time %g: %s", times[i], words);
		free(words);
		profile_free(&p);

		m = (struct fake_machine){ 0 };
		p = fake_profile(seconds);
		is_i64(fake_measure(&p, &m), 0, "with that time there is an answer");
		for (size_t k = 0; k < p.nr_candidates; k++)
			all = all && p.candidates[k].state != PROFILE_NOT_TRIED;
		ok(all && !p.needed_ns, "and each function has run");
		profile_free(&p);
	}
}

/* Time ends in the first stage: the functions with most of the time have run. */
static void test_first_stage(void)
{
	struct fake_machine m = { 0 };
	struct profile p = fake_profile(9);
	char *ending;

	is_i64(fake_measure(&p, &m), 0, "time ends early");
	test_left_out(&p);
	ending = profile_ending(&p);
	ok(has_run(&p, "first") || has_run(&p, "hidden"),
	   "a function with most of the time has run");
	is_i64(p.candidates[row_of(&p, "fourth")->candidate].state, PROFILE_NOT_TRIED,
	       "a function with less time has not");
	ok(p.timed_out && !strstr(ending, "is over after"),
	   "the race is not over, and the ending says so: %s", ending);
	free(ending);
	profile_free(&p);

	m = (struct fake_machine){ 0 };
	p = fake_profile(9);
	fake_profile_add(&p, "main");
	p.candidates[FAKE_FUNCTIONS].weight = 0.5;
	is_i64(fake_measure(&p, &m), 0, "time ends early, and the survey saw less of main() than its time");
	ok(!has_run(&p, "main") && (has_run(&p, "first") || has_run(&p, "hidden")),
	   "its first run showed that it is nearly the whole program, so another one ran instead");
	test_left_out(&p);
	profile_free(&p);
}

/*
 * The functions of a survey, which saw part of the time in each of the usual ones. There
 * are count others with names that begin with prefix, with the part other each.
 */
static struct profile surveyed_profile(double seconds, double part, const char *prefix,
				       int count, double other)
{
	struct profile p = fake_profile(seconds);
	char name[20];

	for (int i = 0; i < count; i++) {
		snprintf(name, sizeof(name), "%s%d", prefix, i);
		fake_profile_add(&p, name);
	}
	for (size_t i = 0; i < p.nr_candidates; i++)
		p.candidates[i].weight = i < FAKE_FUNCTIONS ? part : other;
	return p;
}

/* To find out which of many functions are called takes longer than --time. */
static void test_many(void)
{
	struct fake_machine m = { 0 };
	struct profile p = surveyed_profile(12, 0.1, "small", 120, 0.01);
	char *text;

	is_i64(fake_measure(&p, &m), 0, "many functions with little time");
	ok(m.clock < 14, "end in that time: %g s", m.clock);
	ok(has_run(&p, "first") || has_run(&p, "hidden"),
	   "one with most of the time has run");
	profile_free(&p);

	text = messages_of((struct fake_machine){ 0 }, SECOND_NS);
	ok(strstr(text, "no function has run within --time 1 s. One run takes about ") &&
	   strstr(text, "so that one function needs about ") &&
	   strstr(text, "--survey-only"),
	   "without time for one, the error says how much it needs: %s", text);
	free(text);
}

/* There is nothing to compare it with, nor any reason to look at it. */
static void test_only_whole(void)
{
	struct fake_machine m = { 0 };
	struct profile p = fake_profile(60);
	char *advice;

	is_i64(fake_measure(&p, &m), 0, "only functions that are nearly the whole program");
	for (size_t i = 0; i < p.answer.nr_rows; i++)
		p.answer.rows[i].why = PROFILE_WHOLE;
	advice = profile_advice(&p);
	ok(strstr(advice, "Only functions that are nearly the whole program have run"),
	   "is no advice: %s", advice);
	free(advice);
	profile_free(&p);
}

/*
 * The first run of the group has the instruments of all busy functions, and takes twice
 * as long as those that follow, which have those of one at most.
 */
static void test_busy(void)
{
	struct fake_machine m = { 0 };
	struct profile p = surveyed_profile(30, 0.01, "busy", 7, 0.1);
	size_t ran = 0;

	is_i64(fake_measure(&p, &m), 0, "busy functions with little time");
	for (size_t i = 0; i < p.answer.nr_rows; i++)
		ran += !isnan(p.answer.rows[i].gain[PROFILE_HALF].value);
	ok(ran >= 6, "the time is used: %zu functions have run", ran);
	ok(m.clock < 34, "and kept: %g s", m.clock);
	profile_free(&p);
}

int main(void)
{
	test_few("a thread that spins",
		 (struct fake_machine){ .jitter = 0.01, .spins = 0.25 });
	test_few("functions whose time differs from run to run",
		 (struct fake_machine){ .jitter = 0.05, .quiet = true });
	test_few("a thread that spins until a time",
		 (struct fake_machine){ .jitter = 0.01, .quiet = true, .clocked = true });
	test_no_metric();
	test_callers();
	test_first_stage();
	test_needed();
	test_many();
	test_busy();
	test_only_whole();
	test_short();
	test_better();
	test_changed();
	test_disturbed();
	test_address();
	test_profile();
	test_guests();
	test_time();
	test_coarse();
	test_ends();
	return done();
}
