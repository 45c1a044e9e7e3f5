// SPDX-License-Identifier: GPL-2.0
/*
 * A sweep of tense whatif over numbers of CPUs: the list, the processes, the outputs. With
 * FILE, leaves a result there, for tests of the command.
 */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "tap.h"
#include "test-whatif.h"
#include "base/util.h"
#include "whatif/json.h"
#include "whatif/sweep.h"
#include "whatif/sweep-output.h"

static bool lists(const char *text, const unsigned int *expected, size_t count)
{
	struct sweep_cpus cpus;

	return !is_bad(sweep_cpus_parse(&cpus, text, 64)) &&
	       cpus.count == count &&
	       !memcmp(cpus.list, expected, count * sizeof(*expected));
}

#define LISTS(text, ...) \
	lists(text, (const unsigned int[]){ __VA_ARGS__ }, \
	      COUNT(((const unsigned int[]){ __VA_ARGS__ })))

static void test_list(void)
{
	static const struct {
		const char *text, *message;
	} bad[] = {
		{ "", "a number is missing" },
		{ ",", "a number is missing" },
		{ "1,,2", "a number is missing" },
		{ "1,", "a number is missing" },
		{ "..4", "a number is missing" },
		{ "1..", "a number is missing" },
		{ "0,1", "'0' is not a number of CPUs" },
		{ "1,x", "'x' is not a number of CPUs" },
		{ "1,2x", "'2x' is not a number of CPUs" },
		{ "-1,2", "'-1' is not a number of CPUs" },
		{ "1, 2", "' 2' is not a number of CPUs" },
		{ "1,2 ", "'2 ' is not a number of CPUs" },
		{ "1;2", "'1;2' is not a number of CPUs" },
		{ "1.5,2", "'1.5' is not a number of CPUs" },
		{ "1,65", "'65': a guest has at most 64 CPUs" },
		{ "1..128", "'128': a guest has at most 64 CPUs" },
		{ "1,99999999999999999999", "a guest has at most 64 CPUs" },
		{ "2,1", "1 comes after 2" },
		{ "1..8,4", "4 comes after 8" },
		{ "2,2", "2 is in the list twice" },
		{ "1..4,4", "4 is in the list twice" },
		{ "8..1", "the range 8..1 runs backwards: use 1..8" },
		{ "5..7", "no power of two is in the range 5..7" },
		{ "1..4..8", "a range has two ends" },
		{ "1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17",
		  "more than 16 numbers" },
	};
	struct sweep_cpus cpus;
	char *words = cpus_text(1), *more = cpus_text(2);

	ok(LISTS("1,2,4,8", 1, 2, 4, 8), "a list");
	ok(LISTS("1..8", 1, 2, 4, 8), "a range is powers of two");
	ok(LISTS("1,2,4..64", 1, 2, 4, 8, 16, 32, 64), "both");
	ok(LISTS("3..9,10", 4, 8, 10), "powers that are within the range");
	ok(LISTS("4..4", 4), "one of them");
	ok(LISTS("7", 7), "a single number");
	ok(LISTS("1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,64", 1, 2, 3, 4, 5, 6, 7, 8,
		 9, 10, 11, 12, 13, 14, 15, 64), "as many as possible");
	for (size_t i = 0; i < COUNT(bad); i++) {
		char *error = sweep_cpus_parse(&cpus, bad[i].text, 64);

		ok(error && strstr(error, bad[i].message), "'%s': %s",
		   bad[i].text, error ? error : "no error");
		free(error);
	}
	ok(!strcmp(words, "1 CPU") && !strcmp(more, "2 CPUs"), "in words");
	free(words);
	free(more);
}

/* A machine on which the function matters less, the more CPUs there are. */
struct fake_machine {
	struct whatif w;
	unsigned int fails_with;	/* CPUs */
	int status;
	int sig;
};

static int measure_on(unsigned int cpus, void *arg)
{
	struct fake_machine *m = arg;
	struct fake_program p;
	int status;

	if (cpus == m->fails_with && m->sig)
		raise(m->sig);
	if (cpus == m->fails_with)
		return m->status;
	fake_program_init(&p, cpus);
	p.share = 0.6 / cpus;
	p.share_sd = 0;
	status = measure(&m->w, &p);
	fake_program_free(&p);
	whatif_environment(&m->w.samples.environment, "fake");
	return status;
}

static int run(struct sweep *s, struct fake_machine *m, const char *list)
{
	const struct sweep_runner runner = {
		.measure = measure_on, .w = &m->w, .arg = m, .quiet = true,
	};

	*s = (struct sweep){ 0 };
	free(sweep_cpus_parse(&s->cpus, list, 64));
	return sweep_measure(s, &runner);
}

static double change_of(const struct sweep *s, size_t i)
{
	return s->answers[i].answer.results[0].change.value;
}

static void test_measure(void)
{
	struct fake_machine m = { .w = ask("f", "20") };
	struct sweep s;

	is_i64(run(&s, &m, "1,2,16"), 0, "a sweep");
	is_i64(s.count, 3, "has an answer for each number of CPUs");
	ok(fabs(change_of(&s, 0) + 12) < 1 && fabs(change_of(&s, 1) + 6) < 1 &&
	   fabs(change_of(&s, 2) + 0.75) < 1, "which is that of these CPUs");
	ok(!m.w.plan.nr_conditions, "nothing is measured in this process");
	sweep_free(&s);
	m.fails_with = 2;
	m.status = 7;
	is_i64(run(&s, &m, "1,2,4"), 7, "an error has its status");
	is_i64(s.count, 1, "and ends the sweep after the answers before it");
	sweep_free(&s);
	m.sig = SIGTERM;
	is_i64(run(&s, &m, "1,2,4"), 128 + SIGTERM, "and so does a signal");
	is_i64(s.count, 1, "after the same answers");
	sweep_free(&s);
	m.sig = SIGKILL;
	is_i64(run(&s, &m, "1,2,4"), STATUS_FAILED, "a process that is killed is an error");
	sweep_free(&s);
	whatif_free(&m.w);
}

static struct sweep sweep_of(const char *func, const char *cuts, const char *cpus)
{
	struct fake_machine m = { .w = ask(func, cuts) };
	struct sweep s;

	ok(!run(&s, &m, cpus), "a sweep over %s", cpus);
	whatif_free(&m.w);
	return s;
}

/* Returns all that a writer writes, which the caller frees. */
static char *written(int (*writer)(FILE *f, const struct sweep *s),
		     const struct sweep *s)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	is_i64(writer(f, s), 0, "is written");
	fclose(f);
	return text;
}

static char *read_sweep(const char *text, struct sweep *s)
{
	FILE *f = fmemopen((char *)text, strlen(text), "r");
	char *error = sweep_json_read(f, s);

	fclose(f);
	return error;
}

/* Each answer is the document of a single one. */
static bool has_answer(const json_t *root, const struct sweep *s, size_t i)
{
	const json_t *entry = json_array_get(json_object_get(root, "sweep"), i);
	json_t *single;
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);
	bool same;

	whatif_json_write(f, &s->answers[i]);
	fclose(f);
	single = json_loads(text, 0, NULL);
	same = json_integer_value(json_object_get(entry, "cpus")) ==
	       s->cpus.list[i] &&
	       json_equal(json_object_get(entry, "answer"), single);
	json_decref(single);
	free(text);
	return same;
}

static void test_json(void)
{
	struct sweep s = sweep_of("f", "10,20", "1,4"), back;
	char *text = written(sweep_json_write, &s), *again, *error;
	json_t *root = json_loads(text, 0, NULL);

	ok(!strcmp(json_string_value(json_object_get(root, "schema")),
		   "tense-whatif-sweep") &&
	   json_integer_value(json_object_get(root, "version")) == 1,
	   "names its schema");
	ok(has_answer(root, &s, 0) && has_answer(root, &s, 1),
	   "and has each answer");
	error = read_sweep(text, &back);
	ok(!error && back.count == 2 && back.cpus.count == 2 &&
	   back.cpus.list[1] == 4, "can be read");
	free(error);
	again = written(sweep_json_write, &back);
	ok(!strcmp(text, again), "and is the same again");
	sweep_free(&back);
	free(again);
	free(text);
	text = json_dumps(json_object_get(json_array_get(json_object_get(
		root, "sweep"), 1), "answer"), 0);
	error = read_sweep(text, &back);
	ok(!error && back.count == 1 && !back.cpus.count &&
	   change_of(&back, 0) == change_of(&s, 1), "one of its answers is a file");
	free(error);
	sweep_free(&back);
	free(text);
	json_decref(root);
	sweep_free(&s);
}

/* Reads a document with a part that is replaced, and frees value. */
static void is_wrong(const struct sweep *s, const char *part, size_t entry,
		     json_t *value, const char *message)
{
	char *text = written(sweep_json_write, s), *error;
	json_t *root = json_loads(text, 0, NULL);
	struct sweep back;

	if (entry)
		json_object_set_new(json_array_get(json_object_get(
			root, "sweep"), entry - 1), part, value);
	else
		json_object_set_new(root, part, value);
	free(text);
	text = json_dumps(root, 0);
	error = read_sweep(text, &back);
	ok(error && !strcmp(error, message), "wrong %s: %s", part,
	   error ? error : "no error");
	free(error);
	free(text);
	sweep_free(&back);
	json_decref(root);
}

static void test_bad_json(void)
{
	struct sweep s = sweep_of("f", "20", "1,2"), other = sweep_of("f", "30", "1");
	char *text = written(sweep_json_write, &other);
	json_t *root = json_loads(text, 0, NULL);
	const json_t *answer = json_object_get(json_array_get(json_object_get(
		root, "sweep"), 0), "answer");

	is_wrong(&s, "version", 0, json_integer(2), "of another version of tense");
	is_wrong(&s, "schema", 0, json_string("x"), "not a file of tense whatif --json");
	is_wrong(&s, "sweep", 0, json_array(),
		 "\"sweep\" is not what tense whatif --json writes");
	is_wrong(&s, "cpus", 2, json_integer(1),
		 "\"cpus\" is not what tense whatif --json writes");
	is_wrong(&s, "cpus", 1, json_string("1"),
		 "\"cpus\" is not what tense whatif --json writes");
	is_wrong(&s, "answer", 2, json_null(), "not a file of tense whatif --json");
	is_wrong(&s, "answer", 2, json_deep_copy(answer),
		 "the answers for 1 and 2 CPUs have different variants");
	json_decref(root);
	free(text);
	sweep_free(&s);
	sweep_free(&other);
}

static int table(FILE *f, const struct sweep *s)
{
	sweep_table(f, s, false, false);
	return 0;
}

static size_t count(const char *text, const char *word)
{
	size_t n = 0;

	while ((text = strstr(text, word))) {
		text += strlen(word);
		n++;
	}
	return n;
}

static void set(struct sweep *s, size_t i, double change, enum verdict verdict)
{
	struct whatif_result *r = &s->answers[i].answer.results[0];

	r->change = (struct interval){ change, change - 0.1, change + 0.1 };
	r->verdict = verdict;
}

static void test_table(void)
{
	struct sweep s = sweep_of("libz:deflate", "20", "1,2,8");
	char *text, *sentence;

	set(&s, 0, -16, VERDICT_PREDICTION);
	set(&s, 1, -15.04, VERDICT_PREDICTION);
	set(&s, 2, -3, VERDICT_PREDICTION);
	sentence = sweep_sentence(&s, CONDITIONS_FIRST);
	ok(!strcmp(sentence, "libz:deflate: 20 % faster gains 16.0 % on 1 CPU, 15.0 % on 2, 3.0 % on 8"),
	   "a sentence: %s", sentence);
	text = written(table, &s);
	ok(strstr(text, sentence), "is below the table");
	ok(strstr(text, "\n  faster 20%          1 ") &&
	   strstr(text, "\n  faster 20%          8 ") &&
	   count(text, "\n  faster 20% ") == 3, "which has a row for each number");
	ok(strstr(text, "-15.04 % [-15.14 -14.94]"), "with the change");
	is_i64(count(text, "  prediction\n"), 3, "and the verdict");
	ok(!strstr(text, "kernels differ"), "there is one kernel");
	free(text);
	free(sentence);

	set(&s, 0, 0.5, VERDICT_PREDICTION);
	set(&s, 1, -0.02, VERDICT_NO_EFFECT);
	set(&s, 2, -3, VERDICT_NOT_TRUSTED);
	sentence = sweep_sentence(&s, CONDITIONS_FIRST);
	ok(!strcmp(sentence, "libz:deflate: 20 % faster loses 0.5 % on 1 CPU, gains nothing distinguishable on 2, 3.0 % (not trusted) on 8"),
	   "other verdicts: %s", sentence);
	free(sentence);
	free(s.answers[1].samples.environment.kernel);
	s.answers[1].samples.environment.kernel = xstrdup("Linux 7.2.13 x86_64");
	text = written(table, &s);
	ok(strstr(text, "note: the kernels differ"), "another kernel is told");
	ok(strstr(text, "7.2.13"), "by its release");
	free(text);
	sweep_free(&s);
}

static void test_words(void)
{
	struct sweep s = { .answers[0] = ask("f", "20") }, two;
	struct whatif *w = &s.answers[0];
	char *words;

	s.count = 1;
	free(whatif_parse_func(&w->question, "g@200"));
	whatif_plan(&w->question, &w->plan);
	words = sweep_variant_words(&s, CONDITIONS_FIRST);
	ok(!strcmp(words, "f and g: faster 20%, g@200"), "several percents: %s",
	   words);
	free(words);
	sweep_free(&s);
	two = sweep_of("f", "20", "2,3");
	words = sweep_sentence(&two, CONDITIONS_FIRST);
	ok(strstr(words, " on 2 CPUs, "), "not from one CPU on: %s", words);
	free(words);
	sweep_free(&two);
}

static void test_csv(void)
{
	struct sweep s = sweep_of("f", "10,20", "1,2,4");
	char *text = written(sweep_csv, &s);

	ok(!strncmp(text, "cpus,variant,faster_percent,", 28), "columns have names");
	is_i64(count(text, "\n"), 7, "a line for each variant and number");
	ok(strstr(text, "\n1,faster 10%,10,") && strstr(text, "\n4,faster 20%,20,"),
	   "begins with the number");
	free(text);
	sweep_free(&s);
}

/* Does xmllint take it? */
static bool is_xml(const char *text)
{
	FILE *f = popen("xmllint --noout --nonet -", "w");

	if (!f)
		return false;
	fputs(text, f);
	return pclose(f) == 0;
}

static void test_svg(void)
{
	struct sweep s = sweep_of("a<b>&c", "10,20,30", "1,2,8"), one;
	char *text;

	set(&s, 1, -0.02, VERDICT_NO_EFFECT);
	text = written(sweep_svg, &s);
	ok(is_xml(text), "is XML");
	is_i64(count(text, "<polyline class=\"line s"), 3, "a line for each variant");
	is_i64(count(text, "<path class=\"bar s"), 9, "intervals of each answer");
	ok(strstr(text, "a&lt;b&gt;&amp;c: 30 % faster"), "a key");
	ok(strstr(text, ">time that the program takes less, %<"), "the axis says what it is");
	is_i64(count(text, " unsure\""), 1, "a mark of no prediction is hollow");
	ok(strstr(text, ">hollow: "), "which the picture explains");
	/* 1 and 2 are a third of the axis apart that 1 and 8 are. */
	ok(strstr(text, "d=\"M102.0 456.0v5\"") && strstr(text, "d=\"M314.7 456.0v5\"") &&
	   strstr(text, "d=\"M740.0 456.0v5\""), "the axis is logarithmic");
	ok(!strstr(text, "nan") && !strstr(text, "inf"), "all numbers are numbers");
	free(text);
	sweep_free(&s);

	one = sweep_of("f", "20", "4");
	text = written(sweep_svg, &one);
	ok(is_xml(text) && !strstr(text, "nan"), "one number of CPUs is drawn, too");
	free(text);
	sweep_free(&one);
}

static int leave(const char *path)
{
	struct sweep s = sweep_of("libfake:compress", "10,20", "1,2,4");
	FILE *f = fopen(path, "we");

	if (!f || sweep_json_write(f, &s) || fclose(f))
		return 1;
	sweep_free(&s);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 2)
		return leave(argv[1]);
	test_list();
	test_measure();
	test_json();
	test_bad_json();
	test_table();
	test_words();
	test_csv();
	test_svg();
	return done();
}
