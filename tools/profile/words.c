// SPDX-License-Identifier: GPL-2.0
#include "words.h"

#include <math.h>
#include <stdlib.h>

#include "base/util.h"
#include "libtense/symbols/spec.h"
#include "whatif/words.h"

const char *profile_why_id(enum profile_why why)
{
	static const char *const ids[] = {
		[PROFILE_WAITS] = "waits",
		[PROFILE_OTHERS_WAIT] = "others-wait",
		[PROFILE_MORE] = "more-than-time",
		[PROFILE_HIDDEN] = "hidden",
		[PROFILE_OFF_PATH] = "off-path",
		[PROFILE_LITTLE] = "little-time",
		[PROFILE_LOSES] = "loses",
		[PROFILE_UNCERTAIN] = "uncertain",
		[PROFILE_DOUBTFUL] = "doubtful",
		[PROFILE_WHOLE] = "whole-program",
		[PROFILE_UNKNOWN] = "not-run",
	};

	return ids[why];
}

const char *profile_state_id(enum profile_state state)
{
	static const char *const ids[] = {
		[PROFILE_READY] = "run",
		[PROFILE_NOT_TRIED] = "not-tried",
		[PROFILE_NEVER_CALLED] = "never-called",
		[PROFILE_REFUSED] = "refused",
	};

	return ids[state];
}

const char *profile_cut_name(enum profile_cut cut)
{
	static const char *const names[] = {
		[PROFILE_HALF] = "50 % faster",
		[PROFILE_TENTH] = "10 % faster",
		[PROFILE_FREE] = "if free",
	};

	return names[cut];
}

/* Returns a verb phrase after "The race", or NULL if it did not end early. */
static const char *early_end(const struct profile *p)
{
	return p->interrupted ? "was interrupted" :
	       p->failure_status ? "ended with an error" : NULL;
}

static const char *state_text(const struct profile *p,
			      const struct profile_candidate *c)
{
	switch (c->state) {
	case PROFILE_NEVER_CALLED:
		return "the command does not call it";
	case PROFILE_REFUSED:
		return c->reason ? c->reason : "it cannot be scaled";
	default:
		return p->interrupted ? "the race was interrupted before it ran" :
		       p->failure_status ? "the race ended with an error before it ran" :
					   "no time was left for it: see --time";
	}
}

const char *profile_why_text(const struct profile *p,
			     const struct profile_row *row)
{
	static const char *const texts[] = {
		[PROFILE_WAITS] = "the program waits for it",
		[PROFILE_OTHERS_WAIT] =
			"more gain than time: other threads wait for it",
		[PROFILE_MORE] = "more gain than time",
		[PROFILE_HIDDEN] = "in part hidden behind other work",
		[PROFILE_OFF_PATH] =
			"much time, no gain: off the critical path",
		[PROFILE_LITTLE] = "little time",
		[PROFILE_LOSES] = "the program would be slower",
		[PROFILE_UNCERTAIN] = "not certain yet",
		[PROFILE_DOUBTFUL] = "not certain yet: something may have disturbed its few runs",
		[PROFILE_WHOLE] = "nearly the whole program, see its parts",
	};

	if (row->why == PROFILE_LOSES && whatif_is_printed(&p->question))
		return whatif_less(&p->question) ? "the metric would be more, which is worse" :
						   "the metric would be less, which is worse";
	if (row->why == PROFILE_UNKNOWN)
		return state_text(p, &p->candidates[row->candidate]);
	return texts[row->why];
}

static bool gains(const struct profile_row *row)
{
	return row->gain[PROFILE_HALF].low > 0;
}

static char *program_gains(const struct profile *p, double gain)
{
	char *change = whatif_change_words(&p->question,
					   whatif_less(&p->question) ? -gain :
								       gain);
	char *text = xprintf("the program would %s", change);

	free(change);
	return text;
}

static const struct profile_row *row_of(const struct profile *p, size_t candidate)
{
	const struct profile_row *row = p->answer.rows;

	while (row->candidate != candidate)
		row++;
	return row;
}

/*
 * The best function that is a part of the program; else the best one. The function that
 * has the work comes before those that only call it.
 */
static const struct profile_row *find_first(const struct profile *p)
{
	for (size_t i = 0; i < p->answer.nr_rows; i++)
		if (p->answer.rows[i].why != PROFILE_WHOLE &&
		    gains(&p->answer.rows[i]))
			return row_of(p, p->answer.rows[i].inner);
	return p->answer.rows;
}

/* The function with most of the time that gains nothing, or NULL. */
static const struct profile_row *find_idle(const struct profile *p)
{
	const struct profile_row *found = NULL;

	for (size_t i = 0; i < p->answer.nr_rows; i++) {
		const struct profile_row *row = &p->answer.rows[i];

		if ((row->why == PROFILE_OFF_PATH ||
		     row->why == PROFILE_LOSES) &&
		    (!found || row->share > found->share))
			found = row;
	}
	return found;
}

static char *add_idle(const struct profile *p, char *text)
{
	const struct profile_row *idle = find_idle(p);
	char *longer;

	if (!idle)
		return text;
	longer = xprintf("%s; leave %s, which has %.0f %% of the time and gains nothing",
			 text, p->candidates[idle->candidate].name,
			 100 * idle->share);
	free(text);
	return longer;
}

static char *finish(char *text)
{
	char *longer = xprintf("%s.", text);

	free(text);
	return longer;
}

static bool is_address(const char *name)
{
	struct tense_spec spec;
	const char *error;
	bool result;

	if (tense_spec_parse(name, &spec, &error))
		return false;
	result = tense_spec_is_frame(&spec);
	tense_spec_free(&spec);
	return result;
}

/* Returns the nearest function with a symbol that a node was called from, or NULL. */
static const char *named_caller(const json_t *stacks, size_t place)
{
	for (;;) {
		const json_t *node = json_array_get(stacks, place);
		const json_t *parent = json_object_get(node, "parent");
		json_int_t next = json_is_integer(parent) ? json_integer_value(parent) : -1;
		const char *name;

		/* Each node follows its parent, unless the file is damaged. */
		if (next < 0 || (size_t)next >= place)
			return NULL;
		place = next;
		node = json_array_get(stacks, place);
		name = json_string_value(json_object_get(node, "name"));
		if (name && json_is_string(json_object_get(node, "object")) &&
		    !is_address(name))
			return name;
	}
}

/*
 * A reader knows no function that is only an address. Returns from which one with a symbol
 * it is called for most of its time, or NULL.
 */
static const char *caller_of_address(const struct profile *p, size_t candidate)
{
	const char *caller = NULL;
	json_int_t most = 0;
	size_t i;
	json_t *node;

	if (!is_address(p->candidates[candidate].name))
		return NULL;
	json_array_foreach(p->stacks, i, node) {
		const json_t *of = json_object_get(node, "candidate");
		json_int_t ns = json_integer_value(json_object_get(node, "ns"));
		const char *name;

		if (!json_is_integer(of) || json_integer_value(of) != (json_int_t)candidate ||
		    ns <= most)
			continue;
		name = named_caller(p->stacks, i);
		if (name) {
			caller = name;
			most = ns;
		}
	}
	return caller;
}

char *profile_advice(const struct profile *p)
{
	const struct profile_row *first = find_first(p);
	const struct interval *gain;
	const char *caller;
	char *program, *text;

	if (!p->answer.nr_rows || isnan(first->gain[PROFILE_HALF].value))
		return xstrdup("No function has run, so there is no result.");
	if (!gains(first))
		return finish(add_idle(p, xstrdup("No function certainly gains anything: the program waits for something else, or --time is too short")));
	if (first->why == PROFILE_WHOLE)
		return xstrdup("Only functions that are nearly the whole program have run: a longer --time compares its parts, and --survey-only shows them.");
	gain = &first->gain[PROFILE_HALF];
	program = program_gains(p, gain->value);
	caller = caller_of_address(p, first->candidate);
	text = xprintf("Look first at %s%s%s%s: if it took half its time, %s [%.1f %.1f]",
		       p->candidates[first->candidate].name,
		       caller ? " (called from " : "", caller ? caller : "",
		       caller ? ")" : "", program, gain->low, gain->high);
	free(program);
	return finish(add_idle(p, text));
}

static char *append(char *text, char *sentence)
{
	char *longer = text ? xprintf("%s %s", text, sentence) : xstrdup(sentence);

	free(text);
	free(sentence);
	return longer;
}

static size_t count_state(const struct profile *p, enum profile_state state)
{
	size_t n = 0;

	for (size_t i = 0; i < p->nr_candidates; i++)
		n += p->candidates[i].state == state;
	return n;
}

static const char *plural(size_t n)
{
	return n == 1 ? "" : "s";
}

char *profile_unscalable(const struct profile *p)
{
	size_t n = p->unscalable.functions;

	if (!n)
		return NULL;
	return xprintf("%zu function%s with %.1f %% of the time cannot be scaled. The reason for most of this time: %s.",
		       n, plural(n), 100 * p->unscalable.share,
		       p->unscalable.reason ? p->unscalable.reason : "not known");
}

const struct interval *profile_shown_gain(const struct profile_row *row, enum profile_cut cut)
{
	static const struct interval none = { .value = NAN, .low = NAN, .high = NAN };

	return row->why == PROFILE_DOUBTFUL ? &none : &row->gain[cut];
}

bool profile_is_shown(const struct profile *p, const struct profile_row *row)
{
	enum profile_state state = p->candidates[row->candidate].state;

	return state != PROFILE_NEVER_CALLED &&
	       (state != PROFILE_NOT_TRIED || isfinite(row->share));
}

/* Says how many functions did not run, and how the tables show them. */
static char *untried_words(const struct profile *p, size_t untried)
{
	const char *end = early_end(p);
	char *text = xprintf("%zu of the %zu functions did not run, because %s%s: ",
			     untried, p->nr_candidates, end ? "the race " : "",
			     end ? end : "no time was left");
	char *longer;
	size_t rows = 0;

	for (size_t i = 0; i < p->answer.nr_rows; i++) {
		const struct profile_row *row = &p->answer.rows[i];

		rows += p->candidates[row->candidate].state == PROFILE_NOT_TRIED &&
			profile_is_shown(p, row);
	}
	if (!rows)
		longer = xprintf("%sthe table leaves them out.", text);
	else if (rows == untried)
		longer = xprintf("%stheir rows have no gains.", text);
	else
		longer = xprintf("%s%zu row%s no gain%s, and the table leaves out %zu.",
				 text, rows, rows == 1 ? " has" : "s have",
				 plural(rows), untried - rows);
	free(text);
	return longer;
}

/* A round number of seconds, not below the time. */
static double round_up(uint64_t ns)
{
	double seconds = ns / 1e9, step = seconds < 120 ? 5 : 60;

	return step * ceil(seconds / step);
}

char *profile_needed(const struct profile *p, uint64_t first_ns)
{
	double seconds = round_up(p->needed_ns), first = round_up(first_ns);

	if (!p->needed_ns)
		return xstrdup("Use a longer --time.");
	if (first_ns && first < seconds)
		return xprintf("One run takes about %.2g s, so that one function needs about %.0f s, and all %zu need about %.0f s: use --time %.0fs or more.",
			       p->run_ns / 1e9, first, p->nr_candidates, seconds, first);
	return xprintf("One run takes about %.2g s, so that all functions need about %.0f s: use --time %.0fs or more.",
		       p->run_ns / 1e9, seconds, seconds);
}

/* By how much instruments may change the program before the tables tell. */
#define CHANGED_MIN	0.05

/* Says that the program with instruments differs from the one that the user runs, or NULL. */
static char *changed_words(const struct profile *p)
{
	double change = p->answer.baseline / p->survey_elapsed_ns - 1;

	if (!p->survey_elapsed_ns || p->asked.for_ns ||
	    p->question.metric.kind != METRIC_ELAPSED || !(change > CHANGED_MIN))
		return NULL;
	return xprintf("With the instruments of all these functions, a run takes %.0f %% longer than in the survey, for example because they are called very often, or in many short threads. Without instruments, the gains may differ: tense whatif with one function tells.",
		       100 * change);
}

const char *profile_certainty(const struct profile *p)
{
	for (size_t i = 0; i < p->answer.nr_rows; i++)
		if (p->answer.rows[i].why == PROFILE_DOUBTFUL)
			return "In 95 % of all profiles, all intervals contain their gains, except where something may have disturbed the few runs.";
	return "In 95 % of all profiles, all intervals contain their gains.";
}

/* Explains the first name that is an address, or returns NULL. */
static char *address_words(const struct profile *p)
{
	for (size_t i = 0; i < p->answer.nr_rows; i++) {
		const struct profile_row *row = &p->answer.rows[i];
		const char *name = p->candidates[row->candidate].name;

		if (profile_is_shown(p, row) && is_address(name))
			return xprintf("A name such as %s is an address, because no symbol names the function: debug symbols of its file do.",
				       name);
	}
	return NULL;
}

char *profile_left_out(const struct profile *p)
{
	char *addresses = address_words(p);
	char *changed = changed_words(p);
	size_t never = count_state(p, PROFILE_NEVER_CALLED);
	size_t untried = count_state(p, PROFILE_NOT_TRIED);
	size_t disturbed = race_left_out(&p->answer.race);
	char *unscalable = profile_unscalable(p), *text = NULL;

	if (never)
		text = append(text, xprintf("%zu of the %zu functions %s not called once the instruments are in place: the table leaves %s out.",
					    never, p->nr_candidates,
					    never == 1 ? "is" : "are",
					    never == 1 ? "it" : "them"));
	if (untried)
		text = append(text, untried_words(p, untried));
	if (untried && !early_end(p))
		text = append(text, profile_needed(p, 0));
	if (unscalable)
		text = append(text, unscalable);
	if (p->dropped)
		text = append(text, xprintf("%zu run%s without a metric did not count.",
					    p->dropped, plural(p->dropped)));
	if (disturbed)
		text = append(text, xprintf("%zu run%s much worse than others of the same kind did not count: something may have disturbed %s.",
					    disturbed, plural(disturbed),
					    disturbed == 1 ? "it" : "them"));
	if (changed)
		text = append(text, changed);
	if (addresses)
		text = append(text, addresses);
	return text;
}

/* The candidates in the race that have run. */
static size_t count_racers(const struct profile *p)
{
	size_t n = 0;

	for (size_t i = 0; i < p->answer.race.nr_rows; i++)
		n += p->answer.race.rows[i].kind == RACE_CANDIDATE &&
		     p->answer.race.rows[i].runs;
	return n;
}

/* Which functions are told apart. */
static char *certain(const struct profile *p)
{
	unsigned int first = p->answer.separated;

	if (count_racers(p) < 2)
		return xstrdup(count_racers(p) ? "only one function was to compare" :
						 "no function was to compare");
	if (!first)
		return xstrdup("it is not certain which function is best");
	if (first == 1)
		return xstrdup("it is certain which function is best");
	return xprintf("the order is certain for the first %u", first);
}

/* Why the order is not certain for more functions. */
static const char *rest(const struct profile *p)
{
	if (p->timed_out && p->stages_over)
		return ". The race has no further stages";
	if (p->timed_out)
		return count_racers(p) < 2 ? ". A longer --time compares more" :
					     ". A longer --time tells more of them apart";
	return p->answer.separated >= p->asked.top ||
	       p->answer.separated >= count_racers(p) || count_racers(p) < 2 ? "" :
	       ". The other functions differ by less than --precision, or gain less than that";
}

char *profile_ending(const struct profile *p)
{
	const char *end = early_end(p);
	char *order = certain(p), *text;

	text = xprintf("The race %s after %zu run%s in %.0f s%s: %s%s.",
		       end ? end : p->timed_out ? "is not over" : "is over",
		       p->answer.runs, plural(p->answer.runs), p->took_ns / 1e9,
		       p->question.deterministic ? " of the guests' time" : "", order,
		       end ? "" : rest(p));
	free(order);
	return text;
}
