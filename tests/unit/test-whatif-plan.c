// SPDX-License-Identifier: GPL-2.0
/*
 * Runs tense whatif on a program whose answer is known, and checks options,
 * order and number of runs, estimators, verdicts and the log. With FILE CUTS
 * [LATENCY], leaves a result there, for tests of its output.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fake-program.h"
#include "../../libtense/symbols/marks.h"
#include "tap.h"
#include "base/util.h"
#include "whatif/daemons.h"
#include "whatif/json.h"
#include "whatif/latency.h"
#include "whatif/log.h"
#include "whatif/metric.h"
#include "whatif/options.h"
#include "whatif/output.h"

static char *command[] = { "fake", "a b", "<c>", NULL };

static struct whatif ask(const char *func, const char *cuts)
{
	struct whatif w = { .question = {
		.argv = command, .precision = 1, .max_runs = 20, .seed = 5,
		.percent = 100,
	} };

	if (func)
		free(whatif_parse_func(&w.question, func));
	if (cuts)
		free(whatif_parse_cuts(&w.question, cuts, false));
	return w;
}

static int measure(struct whatif *w, struct fake_program *p)
{
	const struct whatif_runner runner = {
		.run = fake_program_run, .progress = fake_program_progress,
		.arg = p,
	};

	whatif_plan(&w->question, &w->plan);
	return whatif_measure(w, &runner);
}

static const struct whatif_result *first(const struct whatif *w)
{
	return &w->answer.results[0];
}

static bool is_bad(char *error)
{
	bool bad = error;

	free(error);
	return bad;
}

static void test_options(void)
{
	static const char *const bad_cuts[] = {
		"", "x", "10,", ",10", "10..", "..10", "-5", "100", "99.95",
		"10..5", "0..90/0", "0..99/0.1", "10;20", "1e1", "0x10",
		"nan", " 10", "10 ", "10%%", "10/5", "5....10",
	};
	static const char *const bad_metrics[] = {
		"", "time", "stdout", "stdout:(", "elapsed:x", "stderr:*",
	};
	struct whatif w = ask("a:b@150", "10,20.5,50%");
	double number;

	is_i64(w.question.nr_cuts, 3, "a list of changes");
	ok(fabs(w.question.cuts[1] - 0.205) < 1e-12, "with fractions");
	ok(!strcmp(w.question.func[0].name, "a:b") &&
	   w.question.func[0].percent == 150000,
	   "a function with its percent");
	ok(!is_bad(whatif_parse_func(&w.question, "memcpy@GLIBC_2.14")) &&
	   w.question.func[1].percent == 0 &&
	   !strcmp(w.question.func[1].name, "memcpy@GLIBC_2.14"),
	   "a version is part of the name");
	ok(!is_bad(whatif_parse_func(&w.question, "f@0x1140")) &&
	   w.question.func[2].percent == 0, "and so is an address");
	ok(!is_bad(whatif_parse_func(&w.question, "f@V@80.5%")) &&
	   w.question.func[3].percent == 80500 &&
	   !strcmp(w.question.func[3].name, "f@V"),
	   "of several the last is looked at");
	ok(!is_bad(whatif_parse_func(&w.question, "f@2.5*")) &&
	   w.question.func[4].percent == 0 &&
	   !strcmp(w.question.func[4].name, "f@2.5*"),
	   "what only begins with a percent is part of the name");
	ok(is_bad(whatif_parse_func(&w.question, "f@0")), "percent 0");
	ok(is_bad(whatif_parse_func(&w.question, "f@100001")), "or too large");
	ok(is_bad(whatif_parse_func(&w.question, "@150")), "no name");
	ok(is_bad(whatif_parse_func(&w.question, "")), "nothing");
	ok(is_bad(whatif_parse_func(&w.question, "a\nb")), "a line break");
	while (w.question.funcs < WHATIF_FUNCS_MAX)
		free(whatif_parse_func(&w.question, "g"));
	ok(is_bad(whatif_parse_func(&w.question, "h")), "too many");
	whatif_free(&w);

	w = ask(NULL, "0..90/10%");
	ok(w.question.nr_cuts == 10 && w.question.cuts[0] == 0 &&
	   fabs(w.question.cuts[9] - .9) < 1e-12,
	   "a range");
	free(whatif_parse_cuts(&w.question, "20", true));
	ok(fabs(w.question.cuts[10] + .2) < 1e-12, "slower is a negative one");
	for (size_t i = 0; i < sizeof(bad_cuts) / sizeof(*bad_cuts); i++)
		ok(is_bad(whatif_parse_cuts(&w.question, bad_cuts[i], false)),
		   "'%s' is no list of changes", bad_cuts[i]);
	for (size_t i = 0; i < sizeof(bad_metrics) / sizeof(*bad_metrics); i++)
		ok(is_bad(whatif_parse_metric(&w.question, bad_metrics[i])),
		   "'%s' is no metric", bad_metrics[i]);
	ok(!is_bad(whatif_parse_metric(&w.question, "stdout:(\\d+) MB/s")),
	   "a metric");
	ok(!is_bad(whatif_parse_number("0.25", 100, &number)) &&
	   number == 0.25, "a number");
	ok(is_bad(whatif_parse_number("0", 100, &number)), "none above 0");
	ok(is_bad(whatif_parse_number("101", 100, &number)), "one too large");
	whatif_free(&w);
}

static void test_metric(void)
{
	double v = 0;

#define FIND(pattern, text)	\
	is_bad(whatif_metric_find(pattern, text, strlen(text), &v))
	ok(!FIND("(\\d+) MB/s", "at 17 MB/s\nat 23 MB/s\n") && v == 23,
	   "the last match counts");
	ok(!FIND("[0-9.]+", "x 1.5 y") && v == 1.5, "no group: all of it");
	ok(!FIND("^total: (.*)$", "a\ntotal: 2e3\nb") && v == 2000,
	   "line by line");
	ok(FIND("(\\d+) MB/s", "nothing"), "no match");
	ok(FIND("rate (.*)", "rate high"), "not a number");
	ok(FIND("rate (.*)", "rate 0"), "no ratio to 0");
	ok(FIND("rate (.*)", "rate nan"), "nor to none");
	ok(!FIND("x*(\\d)?", "7") && v == 7, "empty matches end");
}

#define FROM(ns)	((uint64_t)(ns) << TENSE_MARK_SHIFT | TENSE_MARK_FROM)
#define TO(ns)		((uint64_t)(ns) << TENSE_MARK_SHIFT | TENSE_MARK_TO)
#define BOTH(ns)	(FROM(ns) | TO(ns))
#define COUNT(array)	(sizeof(array) / sizeof(*(array)))

static void test_pairs(void)
{
	/* The second waits longest; a reply to nothing, and one left over. */
	static const uint64_t queue[] = {
		TO(5), FROM(10), FROM(20), TO(30), FROM(40), TO(90), TO(100),
		FROM(110),
	};
	static const uint64_t beats[] = { BOTH(10), BOTH(15), BOTH(45) };
	/* By CPUs whose clocks differ, and one that was not written. */
	static const uint64_t skewed[] = { FROM(50), 0, TO(40) };
	static const uint64_t none[] = { TO(1), FROM(2) };
	struct whatif_latency l;

	ok(whatif_latency_pair(queue, COUNT(queue), &l) == 150 / 3.0,
	   "each call of B is paired with the first of A that waits");
	ok(l.from == 4 && l.to == 4 && l.pairs == 3 && l.median == 60,
	   "and those that have no partner are left out");
	ok(whatif_latency_pair(beats, COUNT(beats), &l) == 17.5 &&
	   l.median == 17.5 && l.pairs == 2,
	   "one function: from each call to the next");
	ok(whatif_latency_pair(skewed, COUNT(skewed), &l) == -10 &&
	   l.pairs == 1, "in the order of the calls, whatever the clocks say");
	ok(isnan(whatif_latency_pair(none, COUNT(none), &l)) && !l.pairs,
	   "no pair, no latency");
	ok(isnan(whatif_latency_pair(NULL, 0, &l)) && !l.from, "nor of nothing");
}

static void test_marks_file(void)
{
	char path[] = "/tmp/tense-marks-XXXXXX";
	const uint64_t written[] = { FROM(1000), TO(3000), FROM(4000) };
	const struct tense_marks head = { .room = 1 << 20, .count = 3 };
	const struct tense_marks full = {
		.room = 1 << 20, .count = (1 << 20) + 7,
	};
	struct whatif_sample s = { 0 };
	int fd = mkstemp(path);

	ok(!whatif_latency_create(path), "a file for marks");
	ok(is_bad(whatif_latency_read(path, &s)), "has no latency yet");
	if (pwrite(fd, &head, sizeof(head), 0) < 0 ||
	    pwrite(fd, written, sizeof(written), sizeof(head)) < 0)
		exit(1);
	ok(!is_bad(whatif_latency_read(path, &s)) && s.metric == 2000 &&
	   s.latency.from == 2 && s.latency.to == 1 && !s.latency.lost,
	   "and then that of what is in it");
	if (pwrite(fd, &full, sizeof(full), 0) < 0)
		exit(1);
	ok(!is_bad(whatif_latency_read(path, &s)) && s.latency.lost == 7,
	   "marks beyond its end are told of");
	ok(!whatif_latency_create(path) &&
	   is_bad(whatif_latency_read(path, &s)), "it is empty again");
	if (ftruncate(fd, 100))
		exit(1);
	if (pwrite(fd, &full, sizeof(full), 0) < 0)
		exit(1);
	ok(is_bad(whatif_latency_read(path, &s)), "cut off");
	ok(is_bad(whatif_latency_read("/nonexistent", &s)), "not there");
	close(fd);
	unlink(path);
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

static void test_log(void)
{
	struct whatif w = { 0 };
	struct whatif_sample s = { 0 };
	char *text = xstrdup(
		"patched\t12\t1\t/lib/a\\tb\\\\.so\tf\t1a30\tin-process\n"
		"patched\t13\t1\t/lib/a\\tb\\\\.so\tf\t1a30\tin-process\n"
		"refused\t12\t2\t/bin/x\tg\t0x20\tit is too short\n"
		"patched\t12\tfrom\t/bin/x\th\t0x40\tin-process\n"
		"refused\t12\tto\t/bin/x\tg\t0x20\tit is too short\n"
		"cost\t12\t43.5\t120\n"
		"cost\t13\t40\t110\n"
		"start\t12\t30000000\nstart\t13\t5000000\n");
	char *bad = xstrdup(
		"patched\t12\t0\tx\tf\t1\tin-process\n"
		"patched\t12\t16\tx\tf\t1\tin-process\n"
		"patched\t12\tfro\tx\tf\t1\tin-process\n"
		"patched\t12\t1\tx\tf\tzz\tin-process\n"
		"patched\t12\t1\tx\tf\t1\tin-process\tmore\n"
		"patched\t12\t1\tx\tf\n"
		"cost\t1\tmany\t1\n"
		"\n"
		"what\n");
	char *cut = xstrdup("patched\t12\t1");

	is_i64(whatif_log_read(&w.samples, text, &s), 0, "a log");
	is_i64(w.samples.nr_patches, 4, "of four functions");
	ok(w.samples.patches[2].slot == WHATIF_FROM &&
	   w.samples.patches[2].patched &&
	   w.samples.patches[3].slot == WHATIF_TO &&
	   !w.samples.patches[3].patched,
	   "two of them those of a latency");
	ok(!strcmp(w.samples.patches[0].object, "/lib/a\tb\\.so"),
	   "what was escaped is itself again");
	ok(w.samples.patches[0].processes == 2 &&
	   w.samples.patches[0].offset == 0x1a30,
	   "in two processes");
	ok(!w.samples.patches[1].patched &&
	   !strcmp(w.samples.patches[1].how, "it is too short"),
	   "one was refused");
	ok(s.pair_ns == 43.5, "the largest cost counts");
	is_i64(s.start, 35000000, "and every start");
	is_i64(whatif_log_read(&w.samples, bad, &s), 9, "lines that are none");
	is_i64(whatif_log_read(&w.samples, cut, &s), 1, "one that ends early");
	is_i64(w.samples.nr_patches, 4, "add nothing");
	free(text);
	free(bad);
	free(cut);
	whatif_free(&w);
}

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

/* Written, read, and written again is the same. */
static void test_json(void)
{
	char *one = NULL, *two = NULL, *error;
	size_t size_one, size_two;
	struct whatif w = ask("f", "10,20"), back = { 0 };
	struct fake_program p;
	FILE *f;

	free(whatif_parse_cuts(&w.question, "30", true));
	w.question.prepare = xstrdup("make clean");
	w.question.input = xstrdup("big.tar");
	fake_program_init(&p, 8);
	measure(&w, &p);
	whatif_environment(&w.samples.environment, "fake");
	f = open_memstream(&one, &size_one);
	is_i64(whatif_json_write(f, &w), 0, "JSON is written");
	fclose(f);
	f = fmemopen(one, size_one, "r");
	error = whatif_json_read(f, &back);
	ok(!error, "and read");
	fclose(f);
	whatif_assess(&back.question, &back.plan, &back.samples, &back.answer);
	f = open_memstream(&two, &size_two);
	whatif_json_write(f, &back);
	fclose(f);
	ok(back.question.nr_cuts == 3 && back.question.cuts[2] == -0.3 &&
	   !strcmp(back.question.input, "big.tar"), "has all that was asked");
	ok(size_one == size_two && !memcmp(one, two, size_one),
	   "and is the same again");
	for (size_t len = 0; len < size_one - 3; len += 97) {
		struct whatif none = { 0 };

		f = fmemopen(one, len ? len : 1, "r");
		error = whatif_json_read(f, &none);
		if (!error)
			ok(false, "cut off after %zu bytes is an error", len);
		free(error);
		fclose(f);
	}
	ok(true, "cut off anywhere it is an error");
	free(one);
	free(two);
	fake_program_free(&p);
	whatif_free(&back);
	whatif_free(&w);
}

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
	size_t rounds, size;
	char *json = NULL, *error;
	FILE *f;

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
	ok(w.answer.nr_warnings == 1 &&
	   !strcmp(w.answer.warnings[0].id, "rounds-kept"),
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
	is_i64((int64_t)w.answer.nr_warnings, 1, "one note of both");
	ok(!strcmp(w.answer.warnings[0].text,
		   "rounds dropped, since backup ran in them for longer than its cutoff of 150 ms: 2 (300 ms in round 3)"),
	   "names it: %s", w.answer.warnings[0].text);
	f = open_memstream(&json, &size);
	whatif_json_write(f, &w);
	fclose(f);
	f = fmemopen(json, size, "r");
	error = whatif_json_read(f, &back);
	fclose(f);
	ok(!error && back.samples.nr_spoiled == 2 &&
	   back.samples.spoiled[1].round == 7 &&
	   back.samples.spoiled[1].dropped &&
	   !strcmp(back.samples.spoiled[1].daemon, "backup"),
	   "in JSON, too");
	ok(back.samples.list[5].began == w.samples.list[5].began &&
	   back.samples.list[5].ended == w.samples.list[5].ended,
	   "with when each run was");
	free(json);
	free(runs.list);
	fake_program_free(&p);
	whatif_free(&back);
	whatif_free(&w);
}

/* Writes a request, removes a part unless without is NULL, and reads it. */
static char *pass_request(const struct whatif *w, struct whatif *back,
			  const char *without)
{
	char *text = NULL, *error;
	json_t *root;
	size_t size;
	FILE *f;

	f = open_memstream(&text, &size);
	ok(!whatif_request_write(f, &w->question, &w->found, &w->plan),
	   "a request is written");
	fclose(f);
	root = json_loads(text, 0, NULL);
	free(text);
	if (without)
		json_object_del(root, without);
	text = json_dumps(root, 0);
	json_decref(root);
	f = fmemopen(text, strlen(text), "r");
	*back = (struct whatif){ 0 };
	error = whatif_request_read(f, back);
	fclose(f);
	free(text);
	return error;
}

/* A request keeps question, plan and found functions to the byte. */
static void test_request(void)
{
	static char *bytes[] = { "na\xffme", "caf\xe9\n", "", NULL };
	struct whatif w = ask("f\xfe@150", NULL), back;
	char *error;

	w.question.argv = bytes;
	free(whatif_parse_func(&w.question, "g"));
	free(whatif_parse_cuts(&w.question, "12.3,70%", true));
	free(whatif_parse_metric(&w.question, "stdout:\xfc(\\d+)"));
	w.question.percent = 50;
	w.question.window_ns = 20000;
	w.question.choice = (struct clock_choice){ CLOCKS_NONE, ORDER_NONE,
						  IDLE_SKIP };
	w.question.prepare = xstrdup("echo \xe9");
	w.question.runs = 7;
	w.question.quiet = true;
	w.found.specs[1] = xstrdup("/lib/\xff:f\n/lib/x:f");
	w.found.probes = xmalloc(sizeof(*w.found.probes));
	w.found.nr_probes = 1;
	w.found.probes[0] = (struct whatif_probe){
		.slot = 2, .object = xstrdup("/bin/\xf0"),
		.symbol = xstrdup("g"), .offset = 0x123456789,
	};
	whatif_plan(&w.question, &w.plan);

	error = pass_request(&w, &back, NULL);
	ok(!error, "and read: %s", error ? error : "");
	free(error);
	ok(back.question.argv && !strcmp(back.question.argv[0], bytes[0]) &&
	   !strcmp(back.question.argv[1], bytes[1]) &&
	   !*back.question.argv[2] &&
	   !back.question.argv[3], "the command");
	ok(!strcmp(back.question.func[0].name, w.question.func[0].name) &&
	   back.question.func[0].percent == 150000 &&
	   !back.question.func[1].percent,
	   "the functions");
	ok(back.question.metric.kind == METRIC_STDOUT &&
	   !strcmp(back.question.metric.pattern, w.question.metric.pattern),
	   "the metric");
	ok(back.question.percent == 50 && back.question.window_ns == 20000 &&
	   !memcmp(&back.question.choice, &w.question.choice,
		   sizeof(w.question.choice)),
	   "the options of tense run");
	ok(!strcmp(back.question.prepare, w.question.prepare) &&
	   back.question.seed == w.question.seed &&
	   back.question.runs == 7 && back.question.max_runs == 20 &&
	   back.question.quiet &&
	   !back.question.show_output &&
	   back.question.precision == w.question.precision, "the others");
	ok(back.plan.nr_conditions == 4 &&
	   !strcmp(back.plan.conditions[3].name, w.plan.conditions[3].name) &&
	   !memcmp(back.plan.conditions[2].percent,
		   w.plan.conditions[2].percent,
		   sizeof(w.plan.conditions[2].percent)) &&
	   back.plan.conditions[2].cut == w.plan.conditions[2].cut, "the plan");
	ok(back.found.specs[1] &&
	   !strcmp(back.found.specs[1], w.found.specs[1]) &&
	   !back.found.specs[2], "the functions that were found");
	ok(back.found.nr_probes == 1 && back.found.probes[0].slot == 2 &&
	   back.found.probes[0].offset == 0x123456789 &&
	   !strcmp(back.found.probes[0].object, w.found.probes[0].object),
	   "and those of a program that is linked statically");
	whatif_free(&back);

	error = pass_request(&w, &back, "found");
	ok(error && strstr(error, "\"found\""), "a request without them: %s",
	   error ? error : "");
	free(error);
	whatif_free(&back);
	whatif_free(&w);
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
	test_options();
	test_metric();
	test_pairs();
	test_marks_file();
	test_latency();
	test_unpaired();
	test_log();
	test_plan();
	test_no_plan();
	test_runs();
	test_deterministic();
	test_estimators();
	test_verdicts();
	test_time_bound();
	test_json();
	test_spoiled();
	test_request();
	return done();
}
