/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Asks the question of tense whatif about each function of a command, and puts the
 * functions in order. A candidate is a function. A group has as many candidates as
 * fit in one question: they are instrumented together, and share its null runs.
 */
#ifndef TOOLS_PROFILE_H
#define TOOLS_PROFILE_H

#include <jansson.h>

#include "whatif/whatif.h"
#include "race.h"

/* The cuts of a candidate's time. All candidates run at the first one. */
enum profile_cut { PROFILE_HALF, PROFILE_TENTH, PROFILE_FREE, PROFILE_CUTS };

extern const double profile_cuts[PROFILE_CUTS];

enum profile_state {
	PROFILE_READY,
	PROFILE_NOT_TRIED,	/* no time was left for it */
	PROFILE_NEVER_CALLED,
	PROFILE_REFUSED,	/* it cannot be scaled */
};

/* A function with more of the time calls all that matters, as main() does. */
#define PROFILE_PART_WHOLE	0.9

struct profile_candidate {
	char *name;		/* for people, and a spec of whatif */
	char *object;		/* path of its file, or NULL */
	struct whatif_found found;	/* under the name 1 */
	enum profile_state state;
	char *reason;		/* why it was refused, or NULL */
	double weight;		/* part of the time by the survey or the first run; 0: unknown */
	bool alone;		/* costs so much that others are not run with it */
	bool finalist;		/* is run at all cuts */
	bool whole;		/* nearly the whole program: in no race */
};

struct profile_group {
	struct whatif w;
	size_t members[WHATIF_FUNCS_MAX];	/* candidates, by slot - 1 */
	size_t count;
};

struct profile_asked {
	uint64_t time_ns;	/* for the whole answer */
	uint64_t for_ns;	/* ends a run; 0: it ends by itself */
	unsigned int top;	/* the race goes on until this many best are apart */
};

/* Why a function gains what it gains. */
enum profile_why {
	PROFILE_WAITS,		/* the program waits for it */
	PROFILE_OTHERS_WAIT,	/* it gains more than its time: other threads wait, too */
	PROFILE_MORE,		/* it gains more than its share, and nothing shows why */
	PROFILE_HIDDEN,		/* other work runs beside it: it gains less than its share */
	PROFILE_OFF_PATH,	/* much time, no gain */
	PROFILE_LITTLE,		/* little time, no gain */
	PROFILE_LOSES,		/* the program is slower if the function is faster */
	PROFILE_UNCERTAIN,	/* the interval is too wide */
	PROFILE_DOUBTFUL,	/* something may have disturbed its few runs */
	PROFILE_WHOLE,		/* it is nearly the whole program, as main() */
	PROFILE_UNKNOWN,	/* it did not run */
};

/* A line of the answer. Gains are percent of the metric; positive is better. */
struct profile_row {
	size_t candidate;
	size_t inner;		/* the innermost candidate that has its work and its gain */
	double share;		/* of CPU time, or of the time that passed if longer */
	double wall;		/* of the time that passed */
	double calls;		/* per run */
	double threads;		/* of a run */
	struct interval gain[PROFILE_CUTS];	/* NAN: not run */
	size_t runs[PROFILE_CUTS];
	enum race_control control;
	enum profile_why why;
};

struct profile_answer {
	struct race race;	/* as of the last look */
	struct profile_row *rows;	/* the largest gain first */
	size_t nr_rows;
	unsigned int separated;	/* rows with intervals above all rows below */
	double baseline;	/* mean metric of the null runs */
	size_t runs;		/* without the first of each group, see probe() */
};

struct profile_run {
	size_t group, condition;
};

/* Runs for one of several guests. A guest warms up each group, except in round 0. */
struct profile_batch {
	struct profile_run *runs;
	size_t count;		/* 0: the guest makes the whole measurement */
	unsigned int round;
	unsigned int order;	/* of the first run */
	bool succeeded;		/* an earlier run of the command ended with status 0 */
};

struct profile {
	struct whatif_question question;	/* without functions */
	struct whatif_found found;	/* the metric's functions */
	struct profile_asked asked;
	struct profile_candidate *candidates;
	size_t nr_candidates;
	struct profile_group *groups;
	size_t nr_groups;
	struct profile_batch batch;	/* in a request */
	struct whatif_environment environment;
	struct profile_answer answer;
	bool interrupted;
	int failure_status;	/* exit status of the error that ended the race, or 0 */
	bool timed_out;		/* the race was not over yet */
	bool stages_over;	/* it was not over after the last stage */
	uint64_t spent_ns;	/* of --time, by the survey */
	uint64_t survey_elapsed_ns;	/* virtual time of the survey's run, which has no
					 * instruments; 0: not known
					 */
	uint64_t took_ns;
	uint64_t run_ns;	/* real time that a run took, in the mean; 0: not known */
	uint64_t needed_ns;	/* estimate of the --time in which every function runs;
				 * 0: every function ran, or no run was timed
				 */
	size_t dropped;		/* runs without a metric, which do not count */
	json_t *waits;		/* of the survey, see survey_blocks_json(); or NULL */
	json_t *stacks;		/* of the survey, see flame_tree(); or NULL */
	/* The functions of the survey that cannot be scaled. */
	struct {
		size_t functions;
		double share;	/* of the time, without what they call */
		char *reason;	/* of most of that time */
	} unscalable;
};

/* Takes name and object, which may be NULL. Returns the new candidate. */
struct profile_candidate *profile_add(struct profile *p, char *name,
				      char *object);

/*
 * Puts the candidates that are ready into groups with plans, the most urgent ones first.
 * Frees earlier groups and their samples.
 */
void profile_group(struct profile *p);

/* Adds a group with these candidates, at most as many as profile_group() would. */
void profile_add_group(struct profile *p, const size_t *members, size_t count);

/*
 * Higher for a function that runs earlier if time is short: one with more of the time.
 * The gain of nearly the whole program needs no run, so such a function comes last.
 */
double profile_urgency(const struct profile_candidate *c);

/*
 * Lists the candidates that are ready, the most urgent ones first, and returns how many
 * they are. The list has room for all candidates.
 */
size_t profile_list_ready(const struct profile *p, size_t *list);

/* The most candidates that fit in a group. */
size_t profile_room(const struct profile *p);

/* The condition of a member's cut in its group. */
size_t profile_condition(const struct profile_group *g, size_t member,
			 enum profile_cut cut);

/* The row of the race for a condition of a group. */
size_t profile_race_row(const struct profile *p, size_t group,
			size_t condition);

/* Computes the answer from the samples, in place of an earlier one. */
void profile_assess(struct profile *p);

/*
 * Warns if a run takes so little virtual time that its start and its scatter hide what
 * the functions gain.
 */
void profile_warn_short(const struct profile *p, double elapsed_ns);

/* Says that a run does not end within --time, and what to do. */
void profile_warn_endless(const struct profile *p);

void profile_free(struct profile *p);

#endif
