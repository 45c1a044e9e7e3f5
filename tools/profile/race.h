/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Finds the candidates with the largest gains by few runs. Pure functions: the same
 * runs give the same decisions.
 *
 * The race follows O. Maron and A. W. Moore, "Hoeffding races", NIPS 1993: all
 * candidates are run, and after each stage a candidate is dropped if its interval
 * shows that it is not among the best. Each stage doubles the runs of those that are
 * left, as successive halving does: Z. Karnin, T. Koren, O. Somekh, "Almost optimal
 * exploration in multi-armed bandits", ICML 2013. Runs scatter little but without
 * a bound, so the intervals are not Hoeffding's. They use the variance within all
 * conditions together, and the largest |t| over all rows (max-T) by a bootstrap:
 * P. H. Westfall and S. S. Young, "Resampling-based multiple testing", 1993. So all
 * intervals of a look hold together. Each of at most RACE_LOOKS looks has an equal
 * part of the 5 % that may fail.
 */
#ifndef TOOLS_PROFILE_RACE_H
#define TOOLS_PROFILE_RACE_H

#include "race-data.h"

/* Adds a row and returns its index. The null row of a group comes before its others. */
size_t race_add_row(struct race *race, enum race_kind kind, size_t null);
void race_add_run(struct race *race, const struct race_run *run);

/*
 * One or two runs say that the program would be slower, or one of fewer than four is an outlier.
 * A disturbance makes a run longer, too. Such a row runs again, and until then its interval does
 * not count.
 */
bool race_is_doubtful(const struct race *race, const struct race_row *row);

/* Computes gains and intervals, and which rows need more runs. */
void race_look(struct race *race);

/* A run does not count if it is left out, because something seems to have disturbed it. */
bool race_counts(const struct race *race, const struct race_run *run);
size_t race_left_out(const struct race *race);

/* The null runs of a first stage, for a group with so many rows. */
size_t race_first_nulls(size_t rows);

/* Is any candidate still racing? */
bool race_is_on(const struct race *race);

/* How many of the best candidates have intervals above all candidates behind them. */
unsigned int race_separated(const struct race *race);

/*
 * Lists the rows of the next stage, one for each run, in random order. extra: of
 * extra rows, else of candidates. The caller frees *rows. Returns the number.
 */
size_t race_stage(const struct race *race, bool extra, size_t **rows);

void race_free(struct race *race);

#endif
