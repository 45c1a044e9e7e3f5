// SPDX-License-Identifier: GPL-2.0
/*
 * tense learns daemons' clusters, cutoffs and periods from made-up samples, and
 * writes tables that say the same.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "measure/cutoffs-store.h"
#include "measure/learnt-file.h"
#include "measure/learnt-text.h"
#include "measure/scatter.h"
#include "tap.h"

#define SAMPLES		200
#define LONG_SAMPLES	40

static bool near(double got, double expected)
{
	return fabs(got - expected) < 1e-9;
}

/* Scatters from -2 to 2 ms, without an order: the same in each run. */
static double jitter(size_t i)
{
	return ((double)(i * 37 % 101) - 50) * 0.00004;
}

static void ran(struct sample *s, const char *name, double ms)
{
	struct activities *a = &s->others;

	a->list = realloc(a->list, (a->count + 1) * sizeof(*a->list));
	a->list[a->count] = (struct activity){ .ns = (uint64_t)(ms * 1e6) };
	strcpy(a->list[a->count++].name, name);
}

/* For 6 s of each 20 s the CPU is slower, which makes samples longer by this. */
static double drift(size_t i, double seconds)
{
	double when = fmod((double)i * seconds, 20);

	return when >= 8 && when < 14 ? seconds * 0.2 : 0;
}

/*
 * One after the other, of so many seconds, on a CPU that drifts. In the midst of
 * each there runs a worker; every 20 s, from the 5th on, a backup for 0.3 s, and at
 * no regular times a visitor for 0.2 s, either of which makes its sample longer.
 */
static void fill(struct subject *subject, size_t count, double seconds)
{
	static const int visits[] = { 3, 4, 30, 77, 90, 151, 155, 199 };
	size_t per_backup = (size_t)(20 / seconds);

	*subject = (struct subject){ .count = count };
	subject->samples = calloc(count, sizeof(*subject->samples));
	for (size_t i = 0; i < count; i++) {
		struct sample *s = &subject->samples[i];
		double *elapsed = &s->values[METRIC_ELAPSED];

		s->began = 1000 + (double)i * seconds;
		*elapsed = seconds - 0.01 + jitter(i);
		s->values[METRIC_PROCESS] = seconds - 0.01;
		ran(s, "kworker/0", 1 + (double)(i % 3));
		ran(s, "brief", 0.4);
		if (i % per_backup == 5 % per_backup) {
			ran(s, "backup", 300);
			*elapsed = seconds + 0.29;
		}
		for (size_t v = 0; v < 8 && seconds == 1; v++) {
			if ((int)i != visits[v] || i % per_backup == 5)
				continue;
			ran(s, "visitor", 200.2);
			*elapsed += 0.2;
		}
		*elapsed += drift(i, seconds);
		s->values[METRIC_PROCESS] += drift(i, seconds);
	}
}

static void empty(struct subject *subject)
{
	for (size_t i = 0; i < subject->count; i++)
		activities_free(&subject->samples[i].others);
	free(subject->samples);
}

static void learn(struct learnt *learnt, bool with_long,
		  const struct periods *given)
{
	struct subject subject;

	*learnt = (struct learnt){ 0 };
	fill(&subject, SAMPLES, 1);
	learnt->series[TASK_SHORT].length = 1;
	learn_series(&learnt->series[TASK_SHORT], &subject, 1000);
	empty(&subject);
	if (with_long) {
		fill(&subject, LONG_SAMPLES, 5);
		learnt->series[TASK_LONG].length = 5;
		learn_series(&learnt->series[TASK_LONG], &subject, 1000);
		empty(&subject);
	}
	learn_cutoffs(learnt, given);
}

static void test_cluster(void)
{
	double values[100];
	struct cluster c;

	for (size_t i = 0; i < 100; i++)
		values[i] = 10 + (double)(i * 37 % 100) / 100;
	c = cluster_find(values, 100, 0);
	/* 51 of 0.01: the first of them, 0.5 wide. */
	ok(near(c.centre, 10.25), "the shortest half, its middle: %g", c.centre);
	ok(near(c.deviation, 0.25 / 0.6745 * (1 + 5 / 99.)),
	   "and deviation: %g", c.deviation);
	ok(near(c.bound, c.centre + 3.5 * c.deviation), "and bound");
	for (size_t i = 0; i < 45; i++)
		values[i] = 11.5 + (double)i;
	c = cluster_find(values, 100, 0);
	ok(c.centre > 10.3 && c.centre < 10.7 && c.bound < 13,
	   "with nearly half of them anywhere it is where it was: %g, %g",
	   c.centre, c.bound);
	ok(cluster_has(&c, 0) && cluster_has(&c, c.bound) &&
	   !cluster_has(&c, c.bound + 1e-9), "shorter ones are of it");
	for (size_t i = 0; i < 100; i++)
		values[i] = 7;
	c = cluster_find(values, 100, 0.5);
	ok(c.centre == 7 && c.bound == 7.5, "the least is kept");
	c = cluster_find(values, 1, 0);
	ok(c.centre == 7 && c.bound == 7, "one value");
}

static void test_periodicity(void)
{
	const double regular[] = { 5, 25, 45, 85, 105 };
	const double jittered[] = { 0, 19, 41, 60, 81, 100 };
	const double irregular[] = { 0, 1, 50, 52, 170, 171 };
	const double doubled[] = { 0, 20, 60 };
	struct periodicity p = periodicity_of(regular, 5, 0);

	ok(p.period == 20 && p.error == 0 && periodicity_is_known(&p),
	   "one of five was not seen");
	p = periodicity_of(regular, 5, 1);
	ok(p.error == 0.2, "5 periods, each end known to half a second");
	p = periodicity_of(jittered, 6, 0);
	ok(p.period == 20 && fabs(p.error - sqrt(2.0 / 5)) < 1e-6,
	   "gaps of 19, 22, 19, 21, 19: %g", p.error);
	p = periodicity_of(doubled, 3, 0);
	ok(p.period == 20, "of two gaps the shorter one tells");
	p = periodicity_of(irregular, 6, 0);
	ok(!periodicity_is_known(&p), "without a period: %g +- %g", p.period,
	   p.error);
	ok(!periodicity_is_uncertain(&p), "which is certain");
	p = periodicity_of(regular, 2, 1);
	ok(p.period == 20 && p.error == 1 && p.occurrences == 2 &&
	   periodicity_is_known(&p) && periodicity_is_uncertain(&p),
	   "two times are a period that is uncertain");
	p = periodicity_of(regular, 2, 3);
	ok(!periodicity_is_known(&p), "unless the gap is of few samples");
	for (size_t i = 0; i < 2; i++) {
		p = periodicity_of(regular, i, 0);
		ok(isnan(p.period) && !periodicity_is_known(&p) &&
		   p.occurrences == i, "%zu times are no period", i);
	}
}

/*
 * The paper saw flush-9:0 in samples 75 and 634 of 128 s, and tells its period as
 * 20 h with a question mark.
 */
static void test_uncertain(void)
{
	const double times[] = { 75 * 128, 634 * 128, 1193 * 128 };
	struct cutoff cutoff = { .daemon = "flush-9:0", .limit_s = 3600 };
	struct cutoffs cutoffs = { &cutoff, 1 };
	struct daemon_period period = { .daemon = "flush-9:0" };
	struct learnt learnt = { .periods = &period, .nr_periods = 1 };
	char *text;
	size_t size;
	FILE *f;

	period.seen = periodicity_of(times, 2, 128);
	f = open_memstream(&text, &size);
	cutoffs_text(f, &cutoffs, &learnt);
	fclose(f);
	ok(strstr(text, "  20 h (?), seen twice\n"), "the paper's period");
	free(text);
	period.seen = periodicity_of(times, 3, 128);
	f = open_memstream(&text, &size);
	cutoffs_text(f, &cutoffs, &learnt);
	fclose(f);
	ok(strstr(text, "  19.88 h +- "), "without the mark, if seen three times");
	free(text);
}

static const struct periodicity *seen(const struct learnt *learnt,
				      const char *daemon)
{
	static const struct periodicity never;

	for (size_t i = 0; i < learnt->nr_periods; i++)
		if (!strcmp(learnt->periods[i].daemon, daemon))
			return &learnt->periods[i].seen;
	return &never;
}

static void test_short(void)
{
	const struct periods none = { 0 };
	const struct periodicity *p;
	const struct cutoff *c;
	const struct runs *runs;
	struct learnt learnt;
	size_t l_samples = 0;

	learn(&learnt, false, &none);
	for (size_t i = 0; i < SAMPLES; i++)
		l_samples += !learn_is_central(&learnt.series[0], i);
	is_i64((int64_t)l_samples, 10 + 8, "L-samples: backups and visits");
	ok(fabs(learnt.series[0].cluster.centre - 0.99) < 0.001,
	   "the others are the cluster");
	runs = &learnt.series[0].runs;
	is_i64((int64_t)runs->nr_central, 1, "in which one is");
	ok(!strcmp(runs->central[0].daemon, "kworker/0") &&
	   runs->central[0].max == 3 &&
	   fabs(runs->central[0].stddev - 0.82) < 0.01,
	   "the worker, for 1 to 3 ms");
	is_i64((int64_t)runs->nr_executions, 2 * 18,
	       "in each L-sample there are two executions of 1 ms or more");
	is_i64((int64_t)learnt.cutoffs.count, 2, "two daemons are infrequent");
	c = cutoffs_find(&learnt.cutoffs, "backup");
	p = seen(&learnt, "backup");
	ok(c && c->final_short == 150, "the backup, half of what it runs");
	is_i64((int64_t)p->occurrences, 10, "ten times");
	ok(near(p->period, 20), "every 20 s: %g", p->period);
	ok(p->error > 0 && p->error < 0.01 * 20, "known to %g", p->error);
	ok(c && near(c->limit_s, 1), "a twentieth of which is a long task");
	c = cutoffs_find(&learnt.cutoffs, "visitor");
	p = seen(&learnt, "visitor");
	ok(c && c->final_short == 100 && isnan(c->limit_s),
	   "the visitor has a cutoff, and no period");
	is_i64((int64_t)p->occurrences, 7,
	       "of eight visits two were one after the other");
	learn_free(&learnt);
}

static void test_long(void)
{
	struct period visits = { "visitor", 3600 };
	const struct periods given = { &visits, 1 };
	const struct cutoff *c;
	struct learnt learnt;

	learn(&learnt, true, &given);
	c = cutoffs_find(&learnt.cutoffs, "backup");
	/* In every fourth long task, so that the others are the cluster. */
	ok(c && c->of_short == 150 && c->of_long == 150,
	   "a backup is infrequent in both");
	ok(c && near(seen(&learnt, "backup")->period, 20),
	   "its period is known by that which knows it better");
	c = cutoffs_find(&learnt.cutoffs, "visitor");
	ok(c && near(c->limit_s, 180), "a period that is given holds");
	learn_free(&learnt);
}

static char *path_in(const char *directory, const char *name)
{
	char *path = malloc(500);

	snprintf(path, 500, "%s/%s", directory, name);
	return path;
}

static void read_runs(struct runs *runs, const char *directory,
		      const char *central, const char *executions)
{
	char *paths[] = { path_in(directory, central),
			  path_in(directory, executions) };

	*runs = (struct runs){ 0 };
	ok(!runs_read_central(runs, paths[0]) &&
	   !runs_read_executions(runs, paths[1]), "%s and %s are read", central,
	   executions);
	free(paths[0]);
	free(paths[1]);
}

static bool same(double a, double b)
{
	return a == b || (isnan(a) && isnan(b));
}

static void are_same(const struct cutoffs *a, const struct cutoffs *b)
{
	is_i64((int64_t)a->count, (int64_t)b->count, "as many cutoffs");
	for (size_t i = 0; i < a->count && i < b->count; i++) {
		const struct cutoff *p = &a->list[i], *q = &b->list[i];

		ok(!strcmp(p->daemon, q->daemon) &&
		   same(p->of_short, q->of_short) &&
		   same(p->of_long, q->of_long) &&
		   same(p->limit_s, q->limit_s) &&
		   same(p->final_short, q->final_short) &&
		   same(p->final_long, q->final_long),
		   "of %s to the last digit", p->daemon);
	}
}

static void read_periods(struct periods *periods, const char *directory)
{
	char *path = path_in(directory, "periods"), line[500] = "";
	FILE *f = fopen(path, "r");

	*periods = (struct periods){ 0 };
	ok(f && fgets(line, sizeof(line), f), "periods are there");
	line[strcspn(line, "\n")] = '\0';
	ok(!periods_parse(periods, line), "and can be read: %s", line);
	if (f)
		fclose(f);
	free(path);
}

static void test_tables(const char *directory)
{
	const struct periods none = { 0 };
	struct periods periods;
	struct learnt learnt;
	struct runs runs[2];
	struct cutoffs cutoffs;

	learn(&learnt, true, &none);
	ok(!learnt_write_tables(&learnt, directory), "tables are written");
	read_runs(&runs[0], directory, "short-central.csv", "short-l.csv");
	read_runs(&runs[1], directory, "long-central.csv", "long-l.csv");
	read_periods(&periods, directory);
	cutoffs_compute(&cutoffs, &runs[0], &runs[1], periods.list,
			periods.count);
	are_same(&cutoffs, &learnt.cutoffs);
	cutoffs_free(&cutoffs);
	periods_free(&periods);
	runs_free(&runs[0]);
	runs_free(&runs[1]);
	learn_free(&learnt);
}

static void test_file(const char *directory)
{
	const struct periods none = { 0 };
	struct circumstances c, read_c;
	struct learnt learnt, read;
	char *path = path_in(directory, "new/sub/cutoffs.json");
	struct cutoff_store store;
	json_t *root;

	learn(&learnt, true, &none);
	circumstances_read(&c);
	root = learnt_json(&learnt, &c);
	ok(!cutoffs_save(root, path), "a file in directories that were not there");
	json_decref(root);
	ok(!cutoffs_load(&store, path), "has cutoffs");
	is_i64((int64_t)store.cutoffs.count, 2, "of two");
	ok(cutoff_for(&store, "backup", 0.5) == 150, "as they were");
	root = json_load_file(path, 0, NULL);
	is_i64(learnt_parse(&read, &read_c, root, path), 0, "and the rest");
	ok(read.series[TASK_SHORT].count == SAMPLES &&
	   read.series[TASK_LONG].count == LONG_SAMPLES &&
	   !memcmp(read.series[TASK_LONG].samples,
		   learnt.series[TASK_LONG].samples,
		   LONG_SAMPLES * sizeof(struct series_sample)),
	   "all samples");
	ok(!memcmp(&read.series[TASK_SHORT].cluster,
		   &learnt.series[TASK_SHORT].cluster, sizeof(struct cluster)),
	   "the cluster");
	ok(!memcmp(seen(&read, "backup"), seen(&learnt, "backup"),
		   sizeof(struct periodicity)), "the periods");
	ok(read_c.when == c.when && !strcmp(read_c.machine[MACHINE_HOST],
					    c.machine[MACHINE_HOST]),
	   "when and where");
	learn_free(&read);
	circumstances_free(&read_c);
	json_array_append_new(json_object_get(root, "tasks"), json_object());
	is_i64(learnt_parse(&read, &read_c, root, path), -1,
	       "a damaged one is told");
	learn_free(&read);
	circumstances_free(&read_c);
	json_object_del(root, "tasks");
	is_i64(learnt_parse(&read, &read_c, root, path), 1, "cutoffs alone");
	json_decref(root);
	cutoffs_unload(&store);
	circumstances_free(&c);
	learn_free(&learnt);
	free(path);
}

static size_t occurrences(const char *text, const char *what)
{
	size_t count = 0;

	while ((text = strstr(text, what))) {
		count++;
		text += strlen(what);
	}
	return count;
}

static void test_pictures(void)
{
	const struct periods none = { 0 };
	struct learnt learnt;
	char *text = NULL;
	size_t size;
	FILE *f;

	learn(&learnt, true, &none);
	f = open_memstream(&text, &size);
	scatter_svg(f, &learnt);
	fclose(f);
	f = popen("xmllint --noout --nonet -", "w");
	fwrite(text, 1, size, f);
	is_i64(pclose(f), 0, "a picture");
	/*
	 * Backups in 10 pairs, visits in 8. The visit of the fifth sample and the
	 * backup of the sixth are one pair. Long tasks: backups in 10 pairs.
	 */
	is_i64((int64_t)occurrences(text, "class=\"other\""), 10 + 8 - 1 + 10,
	       "an L-sample is in one pair");
	ok(occurrences(text, "class=\"central\"") +
	   occurrences(text, "class=\"other\"") >=
	   SAMPLES / 2 + LONG_SAMPLES / 2, "with all other pairs");
	is_i64((int64_t)occurrences(text, "class=\"zoom\""), 2,
	       "it tells where the cluster is");
	free(text);
	f = open_memstream(&text, &size);
	scatter_text(f, &learnt.series[TASK_SHORT]);
	fclose(f);
	is_i64((int64_t)occurrences(text, "\n"), 1 + 16 + 1 + 1 + 2,
	       "in text, its lines");
	ok(occurrences(text, "x") > 3 && occurrences(text, "#") > 3,
	   "with both kinds of points");
	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
		if (strlen(line) > 80)
			ok(false, "%zu columns: %s", strlen(line), line);
	free(text);
	learn_free(&learnt);
}

int main(void)
{
	char directory[] = "/tmp/tense-learn-XXXXXX", *command;

	test_cluster();
	test_periodicity();
	test_uncertain();
	test_short();
	test_long();
	ok(mkdtemp(directory), "a directory");
	test_tables(directory);
	test_file(directory);
	test_pictures();
	if (asprintf(&command, "rm -r %s", directory) > 0)
		is_i64(system(command), 0, "is removed");
	free(command);
	return done();
}
