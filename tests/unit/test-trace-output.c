// SPDX-License-Identifier: GPL-2.0
/* The picture, the trace and the table: not their bytes, but what they tell. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <jansson.h>

#include "fake-story.h"
#include "tap.h"
#include "trace/output.h"
#include "base/util.h"

enum { A = STORY_PROGRAM, CPUS_PID = 4194305 };

static char *const command[] = { "./a<b>&c", "\"x\"", "\377", NULL };

struct written {
	char *text;
	size_t size;
};

static struct written write_by(void (*writer)(FILE *, const struct model *,
					      const struct trace_about *),
			       const struct model *m, bool virtual_axis)
{
	const struct trace_about about = {
		.argv = command, .backend = "uml", .status = 3,
		.machine = { 2, "7.2.13" },
		.real_ns = 123, .virtual_axis = virtual_axis,
	};
	struct written w = { 0 };
	FILE *f = open_memstream(&w.text, &w.size);

	writer(f, m, &about);
	fclose(f);
	return w;
}

static struct model random_model(unsigned int cpus, unsigned int threads)
{
	struct story s;
	struct model m;

	story_random(&s, cpus, threads, 600, 1);
	model_build(&m, &s.trace, NULL);
	m.window = 500000;
	story_free(&s);
	return m;
}

/* Without a gate, on one CPU. */
static struct model calm_model(void)
{
	struct story s;
	struct model m;

	story_begin(&s, 1);
	for (int i = 0; i < 20; i++) {
		s.now += 1000000;
		story_charge(&s, A, 0, 1000000, i < 10 ? 100 : 50);
	}
	model_build(&m, &s.trace, NULL);
	story_free(&s);
	return m;
}

/* Does xmllint take it? */
static bool is_xml(const struct written *w)
{
	FILE *f = popen("xmllint --noout --nonet -", "w");

	if (!f)
		return false;
	fwrite(w->text, 1, w->size, f);
	return pclose(f) == 0;
}

static size_t count(const struct written *w, const char *text)
{
	size_t n = 0;

	for (const char *p = w->text; (p = strstr(p, text)); p++)
		n++;
	return n;
}

struct point {
	double x;
	double y;
};

/* The points of a path of M and L; NULL at its end. */
static const char *next_point(const char *p, struct point *at)
{
	char *end;

	if (*p != 'M' && *p != 'L')
		return NULL;
	at->x = strtod(p + 1, &end);
	at->y = strtod(end, &end);
	return end;
}

/* Real time never runs backwards, nor does virtual time: y goes up. */
static bool is_monotone(const char *path, struct point *last)
{
	struct point at;

	if (!next_point(path, last))
		return false;
	while ((path = next_point(path, &at))) {
		if (at.x < last->x - 0.011 || at.y > last->y + 0.011)
			return false;
		*last = at;
	}
	return true;
}

/* The nth line of a thread, in the picture's order: the last is drawn first. */
static const char *line_of(const struct written *w, int thread)
{
	char class[40];
	const char *p;

	snprintf(class, sizeof(class), "class=\"line s%d\" d=\"", thread);
	p = strstr(w->text, class);
	return p ? p + strlen(class) : "";
}

static void test_picture(void)
{
	struct model m = random_model(2, 6);
	struct written w = write_by(trace_svg, &m, false);
	struct point ends[6];
	bool monotone = true, ordered = true;

	ok(is_xml(&w), "the picture is XML");
	is_i64(count(&w, "class=\"line s"), 6, "a line for each thread");
	is_i64(count(&w, "class=\"name f"), 12, "with its name, beside its lane too");
	for (int i = 0; i < 6; i++)
		monotone = monotone && is_monotone(line_of(&w, i), &ends[i]);
	ok(monotone, "lines that only go on and up");
	for (int i = 0; monotone && i < 6; i++)
		for (int j = 0; j < 6; j++) {
			uint64_t a = m.lanes[i].birth + m.lanes[i].charged;
			uint64_t b = m.lanes[j].birth + m.lanes[j].charged;

			if (a > b && ends[i].y > ends[j].y)
				ordered = false;
		}
	ok(ordered, "and end the higher the more virtual time");
	ok(count(&w, "class=\"halo\"") > 0, "gates are seen on the lines");
	ok(count(&w, "class=\"gated\" fill-opacity") > 0, "and in the lanes");
	is_i64(count(&w, "<polygon class=\"window\""), 1, "the window is drawn");
	is_i64(count(&w, "class=\"line thin s"), 6,
	       "and how far each CPU is ahead");
	ok(count(&w, "./a&lt;b&gt;&amp;c &quot;x&quot; \xef\xbf\xbd"),
	   "the command, whatever it is called");
	ok(!count(&w, "were lost"), "nothing was lost");
	is_i64(count(&w, "nan"), 0, "every number is one");
	ok(w.size < 1000000, "no more than a million bytes: %zu", w.size);
	free(w.text);
	model_free(&m);
}

static void test_calm_picture(void)
{
	struct model m = calm_model();
	struct written w = write_by(trace_svg, &m, false);
	struct point from = { 0 }, at = { 0 }, to = { 0 };
	const char *p = line_of(&w, 0);

	ok(is_xml(&w), "one of one thread");
	is_i64(count(&w, "class=\"halo\""), 0, "no gate");
	is_i64(count(&w, "class=\"window\""), 0, "no window on one CPU");
	is_i64(count(&w, "class=\"line thin"), 0, "nothing to be ahead of");
	/* 10 ms at 100, then 10 ms at 50: a corner. */
	p = next_point(p, &from);
	p = p ? next_point(p, &at) : NULL;
	p = p ? next_point(p, &to) : NULL;
	ok(p && *p == '"', "a line of two straight pieces");
	ok(fabs((at.y - to.y) / (to.x - at.x) * (at.x - from.x) /
		(from.y - at.y) - 2) < 0.02, "the second twice as steep");
	free(w.text);
	model_free(&m);
}

static void test_many_threads(void)
{
	struct model m = random_model(4, 25);
	struct written w;

	m.lost = 4321;
	/* A name may be any bytes. */
	memcpy(m.lanes[1].name, "<&\">\1\xc3(\xef\xbf\xbf", 11);
	w = write_by(trace_svg, &m, false);
	ok(is_xml(&w), "one of many threads");
	is_i64(count(&w, "class=\"line s"), 20, "the 20 that did most");
	is_i64(count(&w, "; 5 threads that ran less are not drawn"), 1, "the others are mentioned");
	is_i64(count(&w, "4321 events were lost"), 1, "what was lost is told");
	free(w.text);
	model_free(&m);
}

static void test_nothing(void)
{
	struct trace t = { 0 };
	struct model m;
	struct written w;
	json_t *root;

	model_build(&m, &t, NULL);
	w = write_by(trace_svg, &m, false);
	ok(is_xml(&w), "a picture of nothing");
	free(w.text);
	w = write_by(trace_chrome, &m, false);
	root = json_loads(w.text, 0, NULL);
	ok(root, "a trace of nothing");
	json_decref(root);
	free(w.text);
	model_free(&m);
}

struct slice {
	double begin;		/* us */
	double end;
};

static int by_begin(const void *a, const void *b)
{
	const struct slice *x = a, *y = b;

	if (x->begin != y->begin)
		return x->begin < y->begin ? -1 : 1;
	return x->end < y->end ? 1 : -1;
}

/* Slices of a track, one after another: what overlaps cannot be drawn. */
static bool is_track(json_t *events, int64_t pid, int64_t tid, size_t *slices)
{
	struct slice *list = xmalloc((json_array_size(events) + 1) *
				     sizeof(*list));
	bool good = true;
	size_t i, n = 0;
	json_t *e;

	json_array_foreach(events, i, e) {
		const char *phase = "";
		json_int_t p = -1, t = -1;
		double at = 0, took = 0;

		json_unpack(e, "{s:s, s:I, s:I, s?F, s?F}", "ph", &phase,
			    "pid", &p, "tid", &t, "ts", &at, "dur", &took);
		if (!strcmp(phase, "X") && p == pid && t == tid)
			list[n++] = (struct slice){ at, at + took };
	}
	qsort(list, n, sizeof(*list), by_begin);
	for (i = 1; i < n; i++)
		if (list[i].begin < list[i - 1].end - 0.0015)
			good = false;
	free(list);
	*slices += n;
	return good;
}

/* A CPU's slices are as long as what its threads were charged, or ran. */
static bool fills_cpu(json_t *events, const struct model *m, int64_t cpu,
		      bool virtual_axis)
{
	double sum = 0, expected = 0;
	json_t *e;
	size_t i;

	json_array_foreach(events, i, e) {
		json_int_t pid = -1, tid = -1;
		double took = 0;

		json_unpack(e, "{s:I, s:I, s?F}", "pid", &pid, "tid", &tid,
			    "dur", &took);
		if (pid == CPUS_PID && tid == cpu)
			sum += took;
	}
	for (i = 0; i < m->nr_lanes; i++)
		for (size_t j = 0; j < m->lanes[i].nr_pieces; j++) {
			const struct piece *p = &m->lanes[i].pieces[j];

			if (p->kind == PIECE_RUN && p->cpu == cpu)
				expected += virtual_axis ? p->charged : p->ran;
		}
	return fabs(sum * 1e3 - expected) < 1000;
}

/* Each thread's slices add up to what it was charged. */
static bool adds_up(json_t *events, const struct lane *l)
{
	uint64_t ran = 0, charged = 0;
	json_t *e;
	size_t i;

	json_array_foreach(events, i, e) {
		json_int_t t = -1, r = 0, c = 0;

		json_unpack(e, "{s:I, s?{s?I, s?I}}", "tid", &t, "args",
			    "ran_ns", &r, "charged_ns", &c);
		if (t != l->pid)
			continue;
		ran += r;
		charged += c;
	}
	return ran == l->ran && charged == l->charged;
}

static size_t count_events(json_t *events, const char *phase, const char *name)
{
	size_t i, n = 0;
	json_t *e;

	json_array_foreach(events, i, e) {
		const char *p = "", *what = "";

		json_unpack(e, "{s:s, s:s}", "ph", &p, "name", &what);
		n += !strcmp(p, phase) && !strncmp(what, name, strlen(name));
	}
	return n;
}

/* On the chosen axis; the other time is told with each piece. */
static bool lies_on_axis(json_t *events, bool virtual_axis)
{
	json_t *e;
	size_t i;

	json_array_foreach(events, i, e) {
		json_int_t from = -1;
		double at = 0;

		if (json_unpack(e, "{s:F, s:{s:I}}", "ts", &at, "args",
				virtual_axis ? "virtual_from_ns" :
					       "real_from_ns", &from))
			continue;
		if (fabs(at * 1e3 - from) > 1)
			return false;
	}
	return true;
}

static void test_trace(bool virtual_axis)
{
	const char *axis = virtual_axis ? "virtual" : "real";
	struct model m = random_model(3, 7);
	struct written w = write_by(trace_chrome, &m, virtual_axis);
	json_t *root = json_loads(w.text, 0, NULL);
	json_t *events = json_object_get(root, "traceEvents");
	bool tracks = true, sums = true;
	size_t slices = 0;

	ok(root, "%s axis: JSON", axis);
	for (int cpu = 0; cpu < 3; cpu++) {
		tracks = tracks && is_track(events, CPUS_PID, cpu, &slices);
		sums = sums && fills_cpu(events, &m, cpu, virtual_axis);
	}
	ok(tracks && slices > 20, "a track for each CPU");
	ok(sums, "with all the time that it ran");
	slices = 0;
	for (size_t i = 0; i < m.nr_lanes; i++) {
		tracks = tracks && is_track(events, m.lanes[i].tgid,
					    m.lanes[i].pid, &slices);
		sums = sums && adds_up(events, &m.lanes[i]);
	}
	ok(tracks && slices > 100, "and for each thread");
	ok(sums, "with all that it was charged");
	is_i64(count_events(events, "M", "thread_name"), 3 + 7,
	       "all of them have a name");
	ok(lies_on_axis(events, virtual_axis), "in %s time", axis);
	ok(count_events(events, virtual_axis ? "i" : "X", "gated") > 5,
	   "gates, %s", virtual_axis ? "which take none" : "and how long");
	ok(count_events(events, "i", "percent 50") > 0, "percents");
	ok(count_events(events, "i", "deadline") > 0, "deadlines");
	ok(count_events(events, "C", "CPU 1 ahead") > 0,
	   "how far CPUs are ahead");
	is_i64(!strncmp(json_string_value(json_object_get(
				json_object_get(root, "otherData"), "axis")),
			axis, strlen(axis)), 1, "the axis is told");
	json_decref(root);
	free(w.text);
	model_free(&m);
}

static void write_table(FILE *f, const struct model *m,
			const struct trace_about *about)
{
	ok(!trace_table_json(f, m, about), "the table is written");
}

static void test_table(void)
{
	struct model m = random_model(2, 3);
	struct written w = write_by(write_table, &m, false);
	json_t *root = json_loads(w.text, 0, NULL), *t;
	json_int_t lost = -1, status = -1, cpus = -1, ran = -1, gated = -1;

	ok(root, "the table as JSON");
	json_unpack(root, "{s:I, s:I, s:I}", "lost_events", &lost, "status",
		    &status, "cpus", &cpus);
	ok(lost == 0 && status == 3 && cpus == 2, "what ran, and how it went");
	t = json_array_get(json_object_get(root, "threads"), 1);
	json_unpack(t, "{s:I, s:I}", "real_ns", &ran, "gated_ns", &gated);
	ok(ran == (json_int_t)m.lanes[1].ran &&
	   gated == (json_int_t)m.lanes[1].gated, "and each thread");
	json_decref(root);
	free(w.text);
	w = write_by(trace_table, &m, false);
	is_i64(count(&w, "thread 1"), 3, "a line for each in the table");
	free(w.text);
	model_free(&m);
}

int main(void)
{
	test_picture();
	test_calm_picture();
	test_many_threads();
	test_nothing();
	test_trace(false);
	test_trace(true);
	test_table();
	return done();
}
