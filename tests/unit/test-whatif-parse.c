// SPDX-License-Identifier: GPL-2.0
/* Options, metrics, marks of a latency and the log, as tense whatif reads them. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../libtense/symbols/marks.h"
#include "tap.h"
#include "test-whatif.h"
#include "base/util.h"
#include "whatif/latency.h"
#include "whatif/log.h"
#include "whatif/metric.h"

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
	ok(!is_bad(whatif_parse_number("precision", "0.25", 100, &number)) &&
	   number == 0.25, "a number");
	ok(is_bad(whatif_parse_number("precision", "0", 100, &number)), "none above 0");
	ok(is_bad(whatif_parse_number("precision", "101", 100, &number)), "one too large");
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

int main(void)
{
	test_options();
	test_metric();
	test_pairs();
	test_marks_file();
	test_log();
	return done();
}
