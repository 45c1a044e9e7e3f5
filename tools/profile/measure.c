// SPDX-License-Identifier: GPL-2.0
#include "measure.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fatal-signals.h"
#include "base/util.h"
#include "candidates.h"
#include "words.h"

/* The number of finalists. */
#define FINALISTS	5
/* A candidate whose stubs take a larger part of a run gets a group of its own. */
#define HOT_PART	0.1
/* A shorter run spends most of its time on its start. */
#define TOO_SHORT_NS	5000000
/* The race fails after so many runs without a metric, if half of all runs lack it. */
#define DROPPED_MAX	5
/* Runs may take so much longer than those so far. */
#define RESERVE		1.25

struct race_state {
	struct profile *p;
	const struct profile_runner *runner;
	uint64_t start, deadline;
	uint64_t run_ns;	/* the mean so far */
	uint64_t spent_ns;	/* in those runs */
	unsigned int timed;	/* how many they are */
	unsigned int order;
	unsigned int looks;
	size_t left;		/* runs of this stage that are to come */
	const char *doing;
};

static uint64_t now(const struct race_state *s)
{
	return s->runner->now(s->runner->arg);
}

static bool has_time(const struct race_state *s, uint64_t runs)
{
	return now(s) + runs * s->run_ns <= s->deadline;
}

/* Returns the best function that is a part of the program, or NULL. */
static const char *find_best(const struct profile *p)
{
	for (size_t i = 0; i < p->answer.nr_rows; i++) {
		const struct profile_row *row = &p->answer.rows[i];

		if (row->why != PROFILE_WHOLE)
			return isnan(row->gain[PROFILE_HALF].value) ? NULL :
			       p->candidates[row->candidate].name;
	}
	return NULL;
}

static void show(const struct race_state *s)
{
	const char *name = find_best(s->p);
	char *best = name ? xprintf(" (best so far: %s)", name) : xstrdup("");
	char *what;

	what = xprintf("%s, %zu run%s left in this step%s", s->doing, s->left,
		       s->left == 1 ? "" : "s", best);
	s->runner->progress(s->p, now(s) - s->start, what, s->runner->arg);
	free(what);
	free(best);
}

/* Returns 0, or the status to end with if too many runs had no metric. */
static int check_dropped(const struct race_state *s)
{
	const struct profile *p = s->p;

	if (p->dropped < DROPPED_MAX || 2 * p->dropped < s->order)
		return 0;
	warn("profile: %zu of %u runs had no metric: give each run more time with --for, or choose another metric",
	     p->dropped, s->order);
	return 1;
}

/*
 * Appends a sample if the run succeeds and has a metric. Returns 0, or the status to end
 * with.
 */
static int run(struct race_state *s, struct profile_group *g, size_t condition,
	       unsigned int round)
{
	struct whatif_samples *samples = &g->w.samples;
	uint64_t began = now(s);
	struct whatif_sample *sample;
	int status;

	show(s);
	samples->list = xrealloc(samples->list, (samples->count + 1) *
						sizeof(*samples->list));
	sample = &samples->list[samples->count];
	*sample = (struct whatif_sample){
		.round = round, .order = s->order, .condition = condition,
	};
	status = s->runner->run(&g->w, condition, sample, s->runner->arg);
	if (status && status != PROFILE_NO_METRIC)
		return status;
	s->timed++;
	s->spent_ns += now(s) - began;
	s->run_ns = s->spent_ns / s->timed;
	s->order++;
	if (status) {
		s->p->dropped++;
		return check_dropped(s);
	}
	samples->count++;
	return 0;
}

/*
 * Makes runs on several guests. Keeps the time of reserve runs for later. *done is
 * false if there was no time for some of them.
 */
static int run_many(struct race_state *s, struct profile_run *runs, size_t count,
		    unsigned int round, uint64_t reserve, bool *done)
{
	struct profile_batch batch = {
		.runs = runs, .count = count, .round = round, .order = s->order,
		.succeeded = s->p->spent_ns || s->order,
	};
	uint64_t end = now(s) + reserve * s->run_ns;
	struct profile_made made = { 0 };
	int status;

	*done = false;
	if (end >= s->deadline)
		return 0;
	/* No guest knows the time of the others. */
	if (s->runner->exact && s->run_ns && (s->deadline - end) / s->run_ns < count)
		batch.count = 1 + (s->deadline - end) / s->run_ns;
	s->left = batch.count;
	show(s);
	status = s->runner->many(s->p, &batch, s->deadline - end, &made,
				 s->runner->arg);
	*done = made.runs == count;
	s->order += made.runs;
	s->p->dropped += made.dropped;
	s->timed += made.runs;
	s->spent_ns += made.took_ns;
	if (s->timed)
		s->run_ns = s->spent_ns / s->timed / s->runner->guests;
	return status ? status : made.dropped ? check_dropped(s) : 0;
}

static const struct whatif_patch *patch_of(const struct whatif *w,
					   unsigned int slot, bool patched)
{
	for (size_t i = 0; i < w->samples.nr_patches; i++)
		if (w->samples.patches[i].slot == slot &&
		    w->samples.patches[i].patched == patched)
			return &w->samples.patches[i];
	return NULL;
}

/* Learns from the first run of a group whether a candidate can run. */
static void learn(struct profile_candidate *c, const struct whatif *w,
		  unsigned int slot)
{
	const struct whatif_sample *s = &w->samples.list[0];
	const struct whatif_patch *refused = patch_of(w, slot, false);
	double ran = whatif_own_ran(s);

	if (!s->slot[slot].calls && refused && !patch_of(w, slot, true)) {
		c->state = PROFILE_REFUSED;
		c->reason = xstrdup(refused->how);
		return;
	}
	if (!s->slot[slot].calls) {
		c->state = PROFILE_NEVER_CALLED;
		return;
	}
	/* A survey sees less of a function that is far out on a deep stack. */
	c->weight = s->slot[slot].ran / ran;
	c->alone = s->slot[slot].calls * s->pair_ns > HOT_PART * ran;
}

static void learn_group(struct profile *p, struct profile_group *g)
{
	for (size_t m = 0; m < g->count; m++) {
		struct profile_candidate *c = &p->candidates[g->members[m]];

		if (g->w.samples.count)
			learn(c, &g->w, m + 1);
		else
			c->state = PROFILE_NOT_TRIED;
	}
}

/*
 * Times a second run of the first group, because the first run of a group also searches
 * for functions.
 */
static int time_run(struct race_state *s)
{
	struct profile_run null = { .group = 0, .condition = 1 };
	bool done;

	if (!s->p->nr_groups || !has_time(s, 1))
		return 0;
	s->spent_ns = 0;
	s->timed = 0;
	return s->runner->many ? run_many(s, &null, 1, 1, 0, &done) :
				 run(s, &s->p->groups[0], 1, 0);
}

static size_t count_ready(const struct profile *p, const struct profile_group *g)
{
	size_t n = 0;

	for (size_t m = 0; m < g->count; m++)
		n += p->candidates[g->members[m]].state == PROFILE_READY;
	return n;
}

/*
 * Counts the groups for which there is time, the first one included. Another group pays
 * if, after a first stage of those before it, one of its functions can run. If a survey
 * has found the functions, groups that follow are less urgent.
 */
static size_t count_groups(const struct race_state *s, bool surveyed)
{
	const struct profile *p = s->p;
	/* The runs of a first stage with one function. */
	size_t runs = 1 + race_first_nulls(1), n = 1;

	for (; n < p->nr_groups; n++) {
		size_t before = count_ready(p, &p->groups[n - 1]);

		/* The run that finds out which functions are called. */
		runs++;
		if (surveyed && before)
			runs += before + race_first_nulls(before);
		if (!has_time(s, runs))
			break;
	}
	return n;
}

/*
 * Returns the part of the first group's run that later runs will take. They lack the
 * stubs of the candidates that get groups of their own, but for the slowest one.
 */
static double part_to_come(const struct profile *p)
{
	const struct profile_group *g = &p->groups[0];
	const struct whatif_samples *samples = &g->w.samples;
	const struct whatif_sample *s;
	double sum = 0, most = 0;

	if (!samples->count)
		return 1;
	s = &samples->list[samples->count - 1];
	for (size_t m = 0; m < g->count; m++) {
		double stubs = s->slot[m + 1].calls * s->pair_ns;

		if (!p->candidates[g->members[m]].alone)
			continue;
		sum += stubs;
		most = fmax(most, stubs);
	}
	/* The own time of a run is without the overhead that is given back. */
	return fmax(1 - (sum - most) / (whatif_own_ran(s) + s->overhead), 0.1);
}

/* Makes a null run of each group, as far as there is time. */
static int probe_groups(struct race_state *s)
{
	struct profile *p = s->p;
	bool surveyed;
	double run_ns;
	size_t n;
	int status;

	if (!p->nr_groups)
		return 0;
	s->left = p->nr_groups + 1;
	status = run(s, &p->groups[0], 1, 0);
	s->left--;
	if (!status)
		status = time_run(s);
	if (status)
		return status;
	/* The first run of a group tells the weights of all functions that it calls. */
	surveyed = p->candidates[p->groups[0].members[0]].weight > 0;
	learn_group(p, &p->groups[0]);
	run_ns = s->run_ns * part_to_come(p);
	s->run_ns = run_ns;
	n = count_groups(s, surveyed);
	for (size_t i = 1; i < n && !status; i++) {
		s->left = n - i;
		if (!has_time(s, 1))
			break;
		status = run(s, &p->groups[i], 1, 0);
	}
	for (size_t i = 1; i < p->nr_groups; i++)
		learn_group(p, &p->groups[i]);
	s->run_ns = s->spent_ns = run_ns;
	s->timed = 1;
	return status;
}

static int probe_groups_at_once(struct race_state *s)
{
	size_t n = s->p->nr_groups;
	struct profile_run *runs = xmalloc((n + 1) * sizeof(*runs));
	bool done;
	int status;

	for (size_t i = 0; i < n; i++)
		runs[i] = (struct profile_run){ .group = i, .condition = 1 };
	status = run_many(s, runs, n, 0, 0, &done);
	free(runs);
	if (status)
		return status;
	for (size_t i = 0; i < n; i++)
		learn_group(s->p, &s->p->groups[i]);
	return time_run(s);
}

/* Makes a null run of each group. It does not count, because caches were cold. */
static int probe(struct race_state *s)
{
	s->doing = "which functions are called";
	return s->runner->many ? probe_groups_at_once(s) : probe_groups(s);
}

/* Counts the runs of a first stage with the first n of these candidates. */
static size_t count_first(const struct profile *p, const size_t *list, size_t n)
{
	size_t shared = 0, runs = n, room = profile_room(p);

	for (size_t i = 0; i < n; i++)
		shared += !p->candidates[list[i]].alone;
	runs += (n - shared) * race_first_nulls(1);
	for (size_t size; shared; shared -= size) {
		size = shared < room ? shared : room;
		runs += race_first_nulls(size);
	}
	return runs;
}

/* Leaves out the candidates for which there is no time, the least urgent ones. */
static void limit(struct race_state *s)
{
	struct profile *p = s->p;
	size_t *list = xmalloc((p->nr_candidates + 1) * sizeof(*list));
	uint64_t time = s->deadline > now(s) ? s->deadline - now(s) : 0;
	size_t room = time / (s->run_ns ? s->run_ns : 1);

	for (size_t n = profile_list_ready(p, list);
	     n > 1 && count_first(p, list, n) > room; n--)
		p->candidates[list[n - 1]].state = PROFILE_NOT_TRIED;
	free(list);
}

/* Says why no candidate can be run. */
static int refuse(const struct profile *p)
{
	char *unscalable = profile_unscalable(p);
	size_t called = 0;

	for (size_t i = 0; i < p->nr_candidates; i++) {
		const struct profile_candidate *c = &p->candidates[i];

		if (c->state == PROFILE_REFUSED)
			warn("%s: %s", c->name, c->reason);
		called += c->state == PROFILE_REFUSED;
	}
	if (unscalable)
		warn("profile: %s", unscalable);
	free(unscalable);
	if (called) {
		warn("profile: no function can be scaled: see tense functions. --survey-only shows where the program spends its time");
		return 1;
	}
	profile_warn_unloaded(p);
	warn("profile: the command calls none of the functions: --only names others");
	return 1;
}

/* Checks the first run of the command. */
static int check_length(const struct profile *p)
{
	const struct whatif_sample *s;

	if (!p->nr_groups || !p->groups[0].w.samples.count)
		return 0;
	s = &p->groups[0].w.samples.list[0];
	if (s->elapsed >= TOO_SHORT_NS) {
		/* A survey has told before. */
		if (!p->spent_ns)
			profile_warn_short(p, s->elapsed);
		return 0;
	}
	warn("profile: a run takes %.1f ms, too short to compare: give the command more work, at least some 100 ms",
	     s->elapsed / 1e6);
	return STATUS_FAILED;
}

static struct profile_group *group_of(const struct profile *p, size_t row,
				      size_t *condition)
{
	for (size_t i = 0; i < p->nr_groups; i++) {
		size_t first = profile_race_row(p, i, 1);

		*condition = row - first + 1;
		if (*condition < p->groups[i].w.plan.nr_conditions)
			return &p->groups[i];
	}
	die(STATUS_FAILED, "profile: no such row");
}

static void look(struct race_state *s)
{
	profile_assess(s->p);
	s->looks++;
}

/* With time for this many times a stage's runs, the stage will not run out of time. */
#define AMPLE	2

static double most_urgent(const struct profile *p, const struct profile_group *g)
{
	double most = -INFINITY;

	for (size_t m = 0; m < g->count; m++)
		most = fmax(most, profile_urgency(&p->candidates[g->members[m]]));
	return most;
}

/*
 * Time may end in the stage, so the most urgent candidates come first, and before the
 * first one of a group its null runs.
 */
static void put_urgent_first(const struct profile *p, size_t *rows, size_t count)
{
	struct urgent {
		double urgency;
		size_t row;
	} *urgent = xmalloc((count + 1) * sizeof(*urgent));

	for (size_t i = 0; i < count; i++) {
		size_t condition;
		const struct profile_group *g = group_of(p, rows[i], &condition);
		size_t member = (condition - CONDITIONS_FIRST) % g->count;

		urgent[i] = (struct urgent){
			.urgency = condition < CONDITIONS_FIRST ?
				   nextafter(most_urgent(p, g), INFINITY) :
				   profile_urgency(&p->candidates[g->members[member]]),
			.row = rows[i],
		};
	}
	/* Insertion is stable: equals keep their random order. */
	for (size_t i = 1; i < count; i++) {
		struct urgent one = urgent[i];
		size_t k = i;

		for (; k && urgent[k - 1].urgency < one.urgency; k--)
			urgent[k] = urgent[k - 1];
		urgent[k] = one;
	}
	for (size_t i = 0; i < count; i++)
		rows[i] = urgent[i].row;
	free(urgent);
}

static int run_rows(struct race_state *s, const size_t *rows, size_t count,
		    uint64_t reserve, bool *done)
{
	int status = 0;

	for (size_t i = 0; i < count && !status; i++) {
		size_t condition;
		struct profile_group *g = group_of(s->p, rows[i], &condition);

		s->left = count - i;
		if (!has_time(s, reserve + 1)) {
			*done = false;
			break;
		}
		status = run(s, g, condition, 1);
	}
	return status;
}

static int run_rows_at_once(struct race_state *s, const size_t *rows,
			    size_t count, uint64_t reserve, bool *done)
{
	struct profile_run *runs = xmalloc((count + 1) * sizeof(*runs));
	int status;

	for (size_t i = 0; i < count; i++) {
		const struct profile_group *g =
			group_of(s->p, rows[i], &runs[i].condition);

		runs[i].group = g - s->p->groups;
	}
	status = run_many(s, runs, count, 1, reserve, done);
	free(runs);
	return status;
}

/*
 * Runs a stage, as far as there is time, and looks at it. Keeps the time of
 * reserve runs for later. *done is false if the stage was cut.
 */
static int run_stage(struct race_state *s, bool extra, uint64_t reserve,
		     bool *done)
{
	size_t *rows, count = race_stage(&s->p->answer.race, extra, &rows);
	int status;

	*done = true;
	if (!has_time(s, AMPLE * count + reserve))
		put_urgent_first(s->p, rows, count);
	if (s->runner->many)
		status = run_rows_at_once(s, rows, count, reserve, done);
	else
		status = run_rows(s, rows, count, reserve, done);
	free(rows);
	/* Also after a signal or a failure: the answer needs it. */
	look(s);
	return status;
}

/* The best candidates run at all cuts; returns how many. */
static size_t choose_finalists(struct profile *p)
{
	size_t count = 0;

	for (size_t i = 0; i < p->nr_candidates; i++)
		p->candidates[i].finalist = false;
	for (size_t i = 0; i < p->answer.nr_rows && count < FINALISTS; i++) {
		const struct profile_row *row = &p->answer.rows[i];

		if (!(row->gain[PROFILE_HALF].value > 0) ||
		    row->why == PROFILE_OFF_PATH ||
		    row->why == PROFILE_LITTLE || row->why == PROFILE_WHOLE)
			continue;
		p->candidates[row->candidate].finalist = true;
		count++;
	}
	return count;
}

/* Runs the finalists once more at the other cuts. *left is false if they need no more. */
static int run_finals(struct race_state *s, bool *done, bool *left)
{
	size_t *rows, count;

	s->doing = "the best functions, 10 % faster and without any cost";
	*left = false;
	if (!choose_finalists(s->p))
		return 0;
	/* The rows of the finalists have another kind now. */
	profile_assess(s->p);
	count = race_stage(&s->p->answer.race, true, &rows);
	free(rows);
	*left = count > 0;
	return count ? run_stage(s, true, 0, done) : 0;
}

/* Keeps looks for the finals. */
#define FINAL_LOOKS	2

/* The finals' runs change the intervals of the race, so that it may be on again. */
static int run_races(struct race_state *s)
{
	/* The finals: one run of each cut, and the null runs of two groups. */
	uint64_t reserve = FINALISTS * (PROFILE_CUTS - 1) + 2;
	unsigned int last = RACE_LOOKS - FINAL_LOOKS;
	bool done = true, left = true;
	int status;

	s->doing = "each function once";
	status = run_stage(s, false, 0, &done);
	while (!status && done && s->looks < RACE_LOOKS && has_time(s, 1)) {
		if (race_is_on(&s->p->answer.race) && s->looks < last &&
		    has_time(s, reserve + 1)) {
			s->doing = "the best again";
			status = run_stage(s, false, reserve, &done);
			/* Then the finals have the time that is left. */
			done = done || has_time(s, 1);
		} else if (left) {
			last = RACE_LOOKS;
			reserve = 0;
			status = run_finals(s, &done, &left);
		} else {
			break;
		}
	}
	return status;
}

static bool has_run(const struct profile *p)
{
	for (size_t i = 0; i < p->answer.nr_rows; i++)
		if (!isnan(p->answer.rows[i].gain[PROFILE_HALF].value))
			return true;
	return false;
}

static bool has_untried(const struct profile *p)
{
	for (size_t i = 0; i < p->nr_candidates; i++)
		if (p->candidates[i].state == PROFILE_NOT_TRIED)
			return true;
	return false;
}

/* Marks the candidates without a run. Returns whether the race is over. */
static bool is_decided(struct race_state *s)
{
	struct profile *p = s->p;

	for (size_t i = 0; i < p->answer.nr_rows; i++) {
		const struct profile_row *row = &p->answer.rows[i];
		struct profile_candidate *c = &p->candidates[row->candidate];

		if (c->state == PROFILE_READY &&
		    isnan(row->gain[PROFILE_HALF].value))
			c->state = PROFILE_NOT_TRIED;
	}
	return !has_untried(p) && !race_is_on(&p->answer.race);
}

/*
 * Estimates the time in which each function would run once at half its time: the runs
 * that find out which functions are called, and a first stage.
 */
static uint64_t estimate_needed(const struct race_state *s)
{
	const struct profile *p = s->p;
	size_t *list = xmalloc((p->nr_candidates + 1) * sizeof(*list));
	size_t n = 0, room = profile_room(p), runs;
	uint64_t needed;

	for (size_t i = 0; i < p->nr_candidates; i++)
		if (p->candidates[i].state == PROFILE_READY ||
		    p->candidates[i].state == PROFILE_NOT_TRIED)
			list[n++] = i;
	runs = (p->nr_candidates + room - 1) / room + 1 + count_first(p, list, n);
	free(list);
	needed = p->spent_ns + RESERVE * runs * s->run_ns;
	/* The time that was given was too short. */
	return fmax(needed, RESERVE * p->asked.time_ns);
}

/* Says that no function has run, and how to get an answer. */
static int refuse_time(const struct race_state *s)
{
	const struct profile *p = s->p;
	/* Two runs that find out what is called and how long a run takes. */
	uint64_t runs = 2 + 1 + race_first_nulls(1);
	/* The time that was given was too short. */
	uint64_t first = fmax(p->spent_ns + RESERVE * runs * s->run_ns,
			      RESERVE * p->asked.time_ns);
	char *needed = profile_needed(p, first);

	warn("profile: no function has run within --time %g s. %s",
	     p->asked.time_ns / 1e9, needed);
	if (p->spent_ns)
		warn("profile: --survey-only shows where the program spends its time, and needs one run only");
	free(needed);
	return STATUS_FAILED;
}

void profile_note_end(struct profile *p, int status)
{
	p->interrupted = is_fatal_signal(status - STATUS_SIGNAL);
	p->failure_status = p->interrupted || status == PROFILE_OUT_OF_TIME ? 0 : status;
}

/* Says how the race ended. Returns the status to end with. */
static int conclude(struct race_state *s, int status)
{
	struct profile *p = s->p;

	p->took_ns = now(s) - s->start;
	p->run_ns = s->run_ns;
	p->timed_out = !is_decided(s);
	if (has_untried(p) && s->run_ns)
		p->needed_ns = estimate_needed(s);
	p->stages_over = p->timed_out && s->looks >= RACE_LOOKS;
	profile_note_end(p, status);
	if (has_run(p))
		return 0;
	return p->interrupted || p->failure_status ? status : refuse_time(s);
}

int profile_measure(struct profile *p, const struct profile_runner *runner)
{
	struct race_state s = { .p = p, .runner = runner };
	int status;

	s.start = now(&s) - p->spent_ns;
	s.deadline = s.start + p->asked.time_ns;
	profile_group(p);
	status = probe(&s);
	if (!status)
		status = check_length(p);
	if (!status) {
		limit(&s);
		profile_group(p);
		if (!p->nr_groups)
			return has_untried(p) ? conclude(&s, 0) : refuse(p);
		profile_assess(p);
		status = run_races(&s);
	}
	return conclude(&s, status);
}
