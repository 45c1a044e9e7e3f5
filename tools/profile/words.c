// SPDX-License-Identifier: GPL-2.0
#include "words.h"

#include <math.h>
#include <stdlib.h>

#include "base/util.h"
#include "whatif/words.h"

const char *profile_why_id(enum profile_why why)
{
	static const char *const ids[] = {
		[PROFILE_WAITS] = "waits",
		[PROFILE_OTHERS_WAIT] = "others-wait",
		[PROFILE_HIDDEN] = "hidden",
		[PROFILE_OFF_PATH] = "off-path",
		[PROFILE_LITTLE] = "little-time",
		[PROFILE_LOSES] = "loses",
		[PROFILE_UNCERTAIN] = "uncertain",
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

static const char *state_text(const struct profile_candidate *c)
{
	switch (c->state) {
	case PROFILE_NEVER_CALLED:
		return "the command does not call it";
	case PROFILE_REFUSED:
		return c->reason ? c->reason : "it cannot be scaled";
	default:
		return "no time was left for it: see --time";
	}
}

const char *profile_why_text(const struct profile *p,
			     const struct profile_row *row)
{
	static const char *const texts[] = {
		[PROFILE_WAITS] = "the program waits for it",
		[PROFILE_OTHERS_WAIT] =
			"other threads wait for it: more gain than time",
		[PROFILE_HIDDEN] = "in part hidden behind other work",
		[PROFILE_OFF_PATH] =
			"much time, no gain: off the critical path",
		[PROFILE_LITTLE] = "little time",
		[PROFILE_LOSES] = "the program would be slower",
		[PROFILE_UNCERTAIN] = "not certain yet",
		[PROFILE_WHOLE] = "nearly the whole program, see its parts",
	};

	if (row->why == PROFILE_UNKNOWN)
		return state_text(&p->candidates[row->candidate]);
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

/* The best function that is a part of the program; else the best one. */
static const struct profile_row *find_first(const struct profile *p)
{
	for (size_t i = 0; i < p->answer.nr_rows; i++)
		if (p->answer.rows[i].why != PROFILE_WHOLE &&
		    gains(&p->answer.rows[i]))
			return &p->answer.rows[i];
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

char *profile_advice(const struct profile *p)
{
	const struct profile_row *first = find_first(p);
	const struct interval *gain;
	char *program, *text;

	if (!p->answer.nr_rows || isnan(first->gain[PROFILE_HALF].value))
		return xstrdup("No function has run, so there is no result.");
	if (!gains(first))
		return finish(add_idle(p, xstrdup("No function certainly gains anything: the program waits for something else, or --time is too short")));
	gain = &first->gain[PROFILE_HALF];
	program = program_gains(p, gain->value);
	text = xprintf("Look first at %s: if it took half its time, %s [%.1f %.1f]",
		       p->candidates[first->candidate].name, program,
		       gain->low, gain->high);
	free(program);
	return finish(add_idle(p, text));
}

char *profile_left_out(const struct profile *p)
{
	size_t never = 0;

	for (size_t i = 0; i < p->nr_candidates; i++)
		never += p->candidates[i].state == PROFILE_NEVER_CALLED;
	if (!never)
		return NULL;
	return xprintf("The command does not call %zu of the %zu functions.",
		       never, p->nr_candidates);
}

char *profile_ending(const struct profile *p)
{
	const struct profile_answer *a = &p->answer;
	double seconds = p->took_ns / 1e9;

	if (p->interrupted)
		return xprintf("Interrupted after %.0f s: the table shows the results until then.",
			       seconds);
	if (!p->timed_out)
		return xprintf("%zu runs in %.0f s told the best functions apart, or showed that they gain alike.",
			       a->runs, seconds);
	if (!a->separated)
		return xprintf("After %zu runs in %.0f s it is not certain which function is best: use a longer --time.",
			       a->runs, seconds);
	return xprintf("After %zu runs in %.0f s the order is certain for the first %u; a longer --time makes it certain for more.",
		       a->runs, seconds, a->separated);
}
