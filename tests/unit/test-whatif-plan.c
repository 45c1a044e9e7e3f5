// SPDX-License-Identifier: GPL-2.0
/*
 * Runs tense whatif on a program whose answer is known, and checks plan, order
 * and number of runs, estimators and verdicts. With FILE CUTS [LATENCY], leaves
 * a result there, for tests of its output.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tap.h"
#include "test-whatif.h"
#include "base/util.h"
#include "whatif/json.h"

static void test_plan(void)
{
	struct whatif w = ask("f", "0,20");

	free(whatif_parse_func(&w.question, "g"));
	free(whatif_parse_func(&w.question, "h@80"));
	whatif_plan(&w.question, &w.plan);
	is_i64(w.plan.nr_conditions, 3, "functions are varied at once");
	ok(w.plan.conditions[2].percent[1] == 125000 &&
	   w.plan.conditions[2].percent[2] == 125000 &&
	   w.plan.conditions[2].percent[3] == 80000,
	   "20 %% faster is percent 125");
	ok(w.plan.conditions[0].percent[1] == 0,
	   "the baseline has no instruments");
	ok(w.plan.conditions[1].percent[3] == 100000,
	   "the null experiment no effect");
	ok(!strcmp(w.plan.conditions[2].name, "faster 20%, h@80"),
	   "by this name");
	whatif_free(&w);

	w = ask("f", "20");
	free(whatif_parse_func(&w.question, "g"));
	w.question.each = true;
	w.question.metric = (struct whatif_metric){
		.kind = METRIC_PROGRESS, .pattern = xstrdup("p"),
	};
	whatif_plan(&w.question, &w.plan);
	is_i64(w.plan.nr_conditions, 4, "or one at a time");
	ok(w.plan.conditions[2].percent[1] == 125000 &&
	   w.plan.conditions[2].percent[2] == 100000 &&
	   w.plan.conditions[3].percent[2] == 125000, "the others at 100");
	ok(w.plan.conditions[0].percent[3] == 100000,
	   "a progress point is in all");
	ok(!strcmp(whatif_name(&w.question, 3), "p"), "behind the functions");
	whatif_free(&w);
}

/* In a child, as it ends the program. */
static int plan_status(const char *func, const char *cuts)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		/* Static, so that nothing leaks. */
		static struct whatif w;

		w = ask(func, cuts);

		whatif_plan(&w.question, &w.plan);
		_exit(0);
	}
	waitpid(pid, &status, 0);
	return WEXITSTATUS(status);
}

static void test_no_plan(void)
{
	is_i64(plan_status(NULL, "20"), 125, "no function");
	is_i64(plan_status("f", NULL), 125, "no change");
	is_i64(plan_status("f@150", "20"), 125, "nothing to change");
	is_i64(plan_status("f", "0"), 125, "a change by nothing");
	is_i64(plan_status("f", "0.0001"), 125, "a change that cannot be run");
	is_i64(plan_status("f@150", NULL), 0, "a percent is enough");
}

static void test_runs(void)
{
	struct whatif w = ask("f", "10,20");
	struct fake_program p;
	bool same = true;

	fake_program_init(&p, 1);
	is_i64(measure(&w, &p), 0, "a measurement");
	ok(p.runs % 4 == 0 && p.runs / 4 == whatif_rounds(&w.samples) + 1,
	   "is of whole rounds, one of which is discarded");
	ok(whatif_rounds(&w.samples) >= WHATIF_ROUNDS_MIN, "of five at least");
	ok(whatif_converged(&w.answer, w.question.precision),
	   "and ends when it is precise enough");
	for (unsigned int r = 0; r < p.runs / 4; r++) {
		unsigned int seen = 0;

		for (int i = 0; i < 4; i++) {
			seen |= 1U << p.order[4 * r + i];
			same = same && p.order[4 * r + i] == p.order[i];
		}
		ok(seen == 15, "round %u has each condition", r);
	}
	ok(!same, "in another order each time");
	ok(whatif_at(&w.samples, 2, 0)->round == 1 &&
	   whatif_at(&w.samples, 2, 0)->condition == 2,
	   "samples lie where they are looked for");
	fake_program_free(&p);
	whatif_free(&w);

	w = ask("f", "20");
	w.question.precision = 0.0001;
	fake_program_init(&p, 1);
	is_i64(measure(&w, &p), 0, "one that never is");
	is_i64(whatif_rounds(&w.samples), w.question.max_runs,
	       "ends at --max-runs");
	ok(first(&w)->verdict == VERDICT_NOT_CONVERGED, "and says so");
	fake_program_free(&p);
	whatif_free(&w);

	w = ask("f", "20");
	fake_program_init(&p, 1);
	p.fail_at = 8;
	is_i64(measure(&w, &p), 1, "a run that fails");
	is_i64(p.runs, 8, "is the last one");
	fake_program_free(&p);
	whatif_free(&w);

	w = ask("f", "20");
	fake_program_init(&p, 1);
	p.refuse = true;
	is_i64(measure(&w, &p), 1, "a function that cannot be scaled");
	is_i64(p.runs, 3, "is found out in the first round");
	fake_program_free(&p);
	whatif_free(&w);
}

static void test_latency(void)
{
	static const char *const bad[] = {
		"", ",", "a", "a,", ",b", "a,b,c", "f(int,int)", "a\n,b",
	};
	struct whatif w = ask("f", "20");
	struct fake_program p;

	for (size_t i = 0; i < COUNT(bad); i++)
		ok(is_bad(whatif_parse_latency(&w.question, bad[i])),
		   "'%s' is not two functions", bad[i]);
	ok(!is_bad(whatif_parse_latency(&w.question,
					"m<a, b>::f(int, int),./x:/g{1,2}/")) &&
	   !strcmp(w.question.metric.from, "m<a, b>::f(int, int)") &&
	   !strcmp(w.question.metric.to, "./x:/g{1,2}/"),
	   "commas in brackets are those of names");
	ok(!is_bad(whatif_parse_metric(&w.question, "cpu")) &&
	   !w.question.metric.from,
	   "the last metric counts");
	free(whatif_parse_latency(&w.question, "a,b"));
	fake_program_init(&p, 11);
	p.unanswered = p.calls;
	is_i64(measure(&w, &p), 1, "calls that never come end it");
	whatif_free(&w);

	w = ask("f", "20");
	free(whatif_parse_latency(&w.question, "a,b"));
	whatif_plan(&w.question, &w.plan);
	ok(!strcmp(whatif_name(&w.question, WHATIF_FROM), "a") &&
	   !strcmp(whatif_name(&w.question, WHATIF_TO), "b") &&
	   !*whatif_name(&w.question, 2),
	   "its functions have names, and no slot");
	ok(!w.plan.conditions[0].percent[1], "the baseline scales nothing");
	ok(!whatif_varied(&w.plan, 2, WHATIF_FROM), "nor are they varied");
	ok(whatif_less(&w.question), "less of it is better");
	whatif_free(&w);
	fake_program_free(&p);
}

/* tense whatif reports calls that have no partner. */
static void test_unpaired(void)
{
	struct whatif w = ask("f", "20");
	struct fake_program p;

	free(whatif_parse_latency(&w.question, "a,b"));
	fake_program_init(&p, 12);
	is_i64(measure(&w, &p), 0, "a latency");
	ok(first(&w)->verdict == VERDICT_PREDICTION && !w.answer.nr_warnings,
	   "is predicted");
	fake_program_free(&p);
	whatif_free(&w);

	w = ask("f", "20");
	free(whatif_parse_latency(&w.question, "a,b"));
	fake_program_init(&p, 12);
	p.unanswered = 300;
	measure(&w, &p);
	ok(w.answer.nr_warnings == 1 &&
	   strstr(w.answer.warnings[0].text,
		  "of 1000 calls of a in a run 300 are in no pair") &&
	   !strcmp(w.answer.warnings[0].id, "unpaired-from"),
	   "with a warning if they are not as many");
	fake_program_free(&p);
	whatif_free(&w);
}

/* The change is near what is true. */
static void is_true(const struct whatif *w, const struct fake_program *p,
		    double within, const char *what)
{
	for (size_t c = CONDITIONS_FIRST; c < w->plan.nr_conditions; c++) {
		const struct whatif_result *r = whatif_result(&w->answer, c);
		double truth = fake_program_truth(p, &w->plan, c);

		printf("# %s: %+.3f [%+.3f %+.3f], true %+.3f, %s\n",
		       w->plan.conditions[c].name, r->change.value,
		       r->change.low,
		       r->change.high, truth, whatif_estimator(r->estimator));
		ok(fabs(r->change.value - truth) < within, "%s", what);
	}
}

static void test_estimators(void)
{
	struct whatif w = ask("f", "10,25,50,90");
	struct fake_program p;

	fake_program_init(&p, 3);
	measure(&w, &p);
	is_true(&w, &p, 0.5, "the same work: close to the truth");
	ok(first(&w)->estimator == ESTIMATOR_CPU, "by CPU time");
	ok(first(&w)->verdict == VERDICT_PREDICTION, "a prediction");
	ok(fabs(first(&w)->share - 0.6) < 0.01, "the share is measured");
	ok(fabs(first(&w)->amdahl + 6) < 0.2, "and Amdahl's change with it");
	fake_program_free(&p);
	whatif_free(&w);

	w = ask("f", "20");
	fake_program_init(&p, 4);
	p.share = 0;
	p.share_sd = 0;
	measure(&w, &p);
	ok(first(&w)->verdict == VERDICT_NO_EFFECT,
	   "a function without time has no effect");
	fake_program_free(&p);
	whatif_free(&w);

	w = ask("f", "20");
	fake_program_init(&p, 5);
	p.more_outside = 0.05;
	measure(&w, &p);
	ok(first(&w)->estimator >= ESTIMATOR_REFERENCE &&
	   !strcmp(first(&w)->fallback.id, "outside-differs"),
	   "more work elsewhere: CPU time is no control");
	is_true(&w, &p, 5, "and the estimate has it");
	ok(first(&w)->change.low < fake_program_truth(&p, &w.plan, 2) &&
	   first(&w)->change.high > fake_program_truth(&p, &w.plan, 2),
	   "within its interval");
	fake_program_free(&p);
	whatif_free(&w);

	w = ask("f", "20,90");
	fake_program_init(&p, 6);
	p.bias = 0.05;
	p.drift = 0.002;
	measure(&w, &p);
	ok(w.answer.bias.value > 4 && w.answer.bias.value < 6,
	   "a bias is seen");
	ok(first(&w)->verdict == VERDICT_PREDICTION &&
	   first(&w)->bias_points > 0.3 && first(&w)->bias_points < 0.8,
	   "a bias of %.2f points at most is trusted",
	   first(&w)->bias_points);
	ok(w.answer.results[1].verdict == VERDICT_NOT_TRUSTED &&
	   !strcmp(w.answer.results[1].reason.id, "bias"),
	   "a larger one is not trusted: %s", w.answer.results[1].reason.id ?
	   w.answer.results[1].reason.text : "");
	fake_program_free(&p);
	whatif_free(&w);
}

static bool warns(const struct whatif *w, const char *id)
{
	for (size_t i = 0; i < w->answer.nr_warnings; i++)
		if (!strcmp(w->answer.warnings[i].id, id))
			return true;
	return false;
}

/* Parallel threads whose CPU time outside of the function differs get a note. */
static void test_order(void)
{
	static const struct {
		double cpus, more;
		bool warns;
		const char *what;
	} cases[] = {
		{ 1.8, -0.05, true, "less CPU time outside: a note" },
		{ 1.8, 0.05, true, "more: a note" },
		{ 1.8, -0.005, false, "less within --precision: none" },
		{ 1.8, 0, false, "the same work: none" },
		{ 1, -0.05, false, "one thread at a time: none" },
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		struct whatif w = ask("f", "50");
		struct fake_program p;

		fake_program_init(&p, 21);
		p.cpus = cases[i].cpus;
		p.more_outside = cases[i].more;
		measure(&w, &p);
		ok(warns(&w, "order") == cases[i].warns, "%s", cases[i].what);
		fake_program_free(&p);
		whatif_free(&w);
	}
}

/* An answer that is uncertain because no more rounds are allowed says so. */
static void test_limit(void)
{
	struct whatif w = ask("f", "10");
	struct fake_program p;

	w.question.precision = 1e-3;
	fake_program_init(&p, 22);
	measure(&w, &p);
	ok(first(&w)->verdict == VERDICT_NOT_CONVERGED && warns(&w, "limit"),
	   "too wide after the most rounds");
	w.question.max_runs = whatif_rounds(&w.samples) + 1;
	whatif_assess(&w.question, &w.plan, &w.samples, &w.answer);
	ok(first(&w)->verdict == VERDICT_NOT_CONVERGED && !warns(&w, "limit"),
	   "too wide, and more are allowed");
	w.question.max_runs--;
	w.question.precision = 100;
	whatif_assess(&w.question, &w.plan, &w.samples, &w.answer);
	ok(!warns(&w, "limit"), "narrow enough after the most rounds");
	fake_program_free(&p);
	whatif_free(&w);
}

/* Counts answers by their error and verdict. */
struct confusion {
	unsigned int right, right_distrusted;	/* within 1 point */
	unsigned int wrong, wrong_trusted;	/* by more than 2 */
};

static void judge_program(double share, double bias, double inside,
			  struct confusion *c)
{
	struct whatif w = ask("f", "10,25,50,90");
	struct fake_program p;

	fake_program_init(&p, 12);
	p.share = share;
	p.bias = bias;
	p.bias_inside = inside;
	p.drift = 0.002;
	measure(&w, &p);
	for (size_t i = CONDITIONS_FIRST; i < w.plan.nr_conditions; i++) {
		const struct whatif_result *r = whatif_result(&w.answer, i);
		double error = fabs(r->change.value -
				    fake_program_truth(&p, &w.plan, i));

		c->right += error <= 1;
		c->right_distrusted += error <= 1 &&
				       r->verdict == VERDICT_NOT_TRUSTED;
		c->wrong += error > 2;
		c->wrong_trusted += error > 2 &&
				    r->verdict == VERDICT_PREDICTION;
	}
	fake_program_free(&p);
	whatif_free(&w);
}

/* Biases within the aim, up to 0.5 points, and beyond it, up to 12. */
static void test_verdicts(void)
{
	static const double shares[] = { 0.1, 0.4, 0.8 };
	static const double small[] = { -0.005, 0, 0.005 };
	static const double large[] = { -0.08, -0.02, 0.02, 0.05, 0.12 };
	struct confusion usual = { 0 }, bad = { 0 };

	for (size_t s = 0; s < 3; s++) {
		for (size_t b = 0; b < 3; b++) {
			judge_program(shares[s], small[b], 0, &usual);
			judge_program(shares[s], 0, small[b], &usual);
		}
		for (size_t b = 0; b < 5; b++) {
			judge_program(shares[s], large[b], 0, &bad);
			judge_program(shares[s], 0, large[b], &bad);
		}
	}
	printf("# bias up to 0.5: %u right, %u of them not trusted; %u wrong, %u of them predictions\n",
	       usual.right, usual.right_distrusted, usual.wrong,
	       usual.wrong_trusted);
	printf("# bias up to 12: %u right, %u of them not trusted; %u wrong, %u of them predictions\n",
	       bad.right, bad.right_distrusted, bad.wrong, bad.wrong_trusted);
	ok(usual.right && usual.right_distrusted * 20 <= usual.right,
	   "hardly any right answer is not trusted");
	ok(bad.wrong && !bad.wrong_trusted && !usual.wrong_trusted,
	   "no wrong answer is a prediction");
}

static void test_time_bound(void)
{
	struct whatif w = ask("f", "50");
	struct fake_program p;
	/* As many more calls as the calls are shorter. */
	double truth = 100 * (1 / (1 - 0.6 * 0.5) - 1);

	w.question.metric = (struct whatif_metric){
		.kind = METRIC_STDOUT, .pattern = xstrdup("x"),
	};
	fake_program_init(&p, 7);
	p.time_bound = true;
	p.calls = 1000000;
	measure(&w, &p);
	printf("# %+.3f [%+.3f %+.3f], true %+.3f, %s\n",
	       first(&w)->change.value, first(&w)->change.low,
	       first(&w)->change.high, truth,
	       whatif_estimator(first(&w)->estimator));
	ok(first(&w)->estimator == ESTIMATOR_CPU_PER_CALL,
	   "another number of calls: CPU time per call");
	ok(fabs(first(&w)->change.value - truth) < 1, "has the truth");
	fake_program_free(&p);
	whatif_free(&w);
}

/* Deterministic runs do not scatter by chance: more of them gain nothing. */
static void test_deterministic(void)
{
	struct whatif w = ask("f", "20");
	struct fake_program p;

	w.question.deterministic = true;
	w.question.max_runs = 0;
	ok(!whatif_limit_runs(&w.question) &&
	   w.question.max_runs == WHATIF_EXACT_ROUNDS_MAX,
	   "deterministic runs have a limit of their own");
	w.question.runs = WHATIF_EXACT_ROUNDS;
	ok(whatif_limit_runs(&w.question),
	   "a limit and a number exclude each other");
	w.question.max_runs = 0;
	ok(!whatif_limit_runs(&w.question), "a number alone is accepted");
	fake_program_init(&p, 1);
	is_i64(measure(&w, &p), 0, "deterministic runs");
	is_i64(p.runs, 3 * (WHATIF_EXACT_ROUNDS + 1), "there are as many as asked for");
	is_i64(first(&w)->estimator, ESTIMATOR_MEDIAN, "and have no controls");
	ok(!first(&w)->fallback.id, "which is no emergency");
	fake_program_free(&p);
	whatif_free(&w);

	w = ask("f", "20");
	w.question.deterministic = true;
	w.question.max_runs = 0;
	w.question.runs = 7;
	whatif_limit_runs(&w.question);
	fake_program_init(&p, 1);
	measure(&w, &p);
	is_i64(whatif_rounds(&w.samples), 7, "or as many as asked for");
	fake_program_free(&p);
	whatif_free(&w);

	w = (struct whatif){ .question.runs = 7 };
	ok(whatif_limit_runs(&w.question), "others are not");
	w.question.runs = 0;
	ok(!whatif_limit_runs(&w.question) &&
	   w.question.max_runs == WHATIF_ROUNDS_MAX,
	   "and have a limit");
}

static int leave(const char *path, const char *cuts, const char *latency)
{
	struct whatif w = ask("libfake:compress", cuts);
	struct fake_program p;
	FILE *f = fopen(path, "we");

	if (latency)
		free(whatif_parse_latency(&w.question, latency));
	fake_program_init(&p, 9);
	measure(&w, &p);
	whatif_environment(&w.samples.environment, "fake");
	if (!f || whatif_json_write(f, &w) || fclose(f))
		return 1;
	fake_program_free(&p);
	whatif_free(&w);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc >= 3)
		return leave(argv[1], argv[2], argv[3]);
	test_plan();
	test_no_plan();
	test_runs();
	test_latency();
	test_unpaired();
	test_deterministic();
	test_estimators();
	test_order();
	test_limit();
	test_verdicts();
	test_time_bound();
	return done();
}
