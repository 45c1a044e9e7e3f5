// SPDX-License-Identifier: GPL-2.0
/* Results of tense whatif as JSON, and the request to a guest. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "tap.h"
#include "test-whatif.h"
#include "base/util.h"
#include "whatif/json.h"

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

/* The round that is discarded may have no latency, and other machines no load. */
static void test_unknown(void)
{
	struct whatif w = ask("f", "10,20"), back = { 0 };
	struct fake_program p;
	char *error;

	fake_program_init(&p, 8);
	measure(&w, &p);
	free(whatif_parse_latency(&w.question, "a,b"));
	whatif_environment(&w.samples.environment, "fake");
	ok(whatif_has_load(&w.samples.environment), "the load is known");
	whatif_environment_elsewhere(&w.samples.environment, "fake");
	w.samples.list[2].metric = NAN;
	error = write_and_read(&w, &back);
	ok(!error, "a run without a latency, in the first round: %s", error ? error : "");
	is_i64(back.samples.count, w.samples.count, "no run is lost");
	ok(back.samples.count > 2 && isnan(back.samples.list[2].metric),
	   "the latency stays unknown");
	ok(back.samples.environment.date &&
	   !whatif_has_load(&back.samples.environment), "so does the load of other machines");
	free(error);
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
	w.question.better = BETTER_LESS;
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
	ok(whatif_less(&back.question), "of which less is better");
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

int main(void)
{
	test_json();
	test_unknown();
	test_request();
	return done();
}
