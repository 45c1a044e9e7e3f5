// SPDX-License-Identifier: GPL-2.0
/* Percents, as far as charges tell them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model.h"
#include "base/util.h"

/*
 * A picture tells the percents at which a thread spent most of its virtual
 * time, if they make up this part of it. Otherwise it tells the mean.
 */
#define PERCENTS_PART	0.8

unsigned int piece_percent(const struct piece *p)
{
	double percent;

	if (p->kind != PIECE_RUN || !p->charged)
		return 0;
	percent = 100.0 * TENSE_FINE * ((int64_t)p->ran - p->own) / p->charged;
	/* By charges of a few ns, it may look like anything. */
	if (percent < TENSE_FINE * TENSE_PERCENT_MIN)
		return TENSE_FINE * TENSE_PERCENT_MIN;
	if (percent > (double)TENSE_FINE * TENSE_PERCENT_MAX)
		return TENSE_FINE * TENSE_PERCENT_MAX;
	return lround(percent);
}

struct weight {
	unsigned int percent;
	uint64_t charged;
};

static int by_percent(const void *a, const void *b)
{
	const struct weight *x = a, *y = b;

	return (x->percent > y->percent) - (x->percent < y->percent);
}

static int by_weight(const void *a, const void *b)
{
	const struct weight *x = a, *y = b;

	return (x->charged < y->charged) - (x->charged > y->charged);
}

/* Rounds to three digits, so that small refunds do not make new percents. */
static unsigned int round_percent(unsigned int percent)
{
	unsigned int unit = 1;

	while (percent / unit >= 1000)
		unit *= 10;
	return (percent + unit / 2) / unit * unit;
}

/* Merges a percent into a close one that has more weight. */
static size_t absorb_weights(struct weight *w, size_t count)
{
	size_t kept = 0;

	for (size_t i = 0; i < count; i++) {
		size_t j;

		for (j = 0; j < kept; j++)
			if (labs((long)w[i].percent - (long)w[j].percent) * 20 <=
			    (long)w[j].percent)
				break;
		if (j == kept)
			w[kept++] = w[i];
		else
			w[j].charged += w[i].charged;
	}
	return kept;
}

/* Pieces of the same percent together; returns how many there are. */
static size_t add_weights(struct weight *w, size_t count)
{
	size_t kept = 0;

	qsort(w, count, sizeof(*w), by_percent);
	for (size_t i = 0; i < count; i++) {
		if (kept && w[kept - 1].percent == w[i].percent)
			w[kept - 1].charged += w[i].charged;
		else
			w[kept++] = w[i];
	}
	qsort(w, kept, sizeof(*w), by_weight);
	return absorb_weights(w, kept);
}

void lane_find_percents(struct lane *l)
{
	struct weight *w = xmalloc((l->nr_pieces + 1) * sizeof(*w));
	uint64_t total = 0, ran = 0, sum = 0;
	size_t count = 0;

	for (size_t i = 0; i < l->nr_pieces; i++) {
		const struct piece *p = &l->pieces[i];

		w[count].percent = round_percent(piece_percent(p));
		w[count].charged = p->charged;
		if (!w[count].percent)
			continue;
		total += w[count++].charged;
		ran += p->ran - p->own;
	}
	count = add_weights(w, count);
	for (size_t i = 0; i < count && i < LANE_PERCENTS &&
			   sum < total * PERCENTS_PART; i++) {
		l->percents[l->nr_percents++] = w[i].percent;
		sum += w[i].charged;
	}
	if (sum < total * PERCENTS_PART)
		l->nr_percents = 0;
	l->mean_percent = total ? 1e5 * ran / total : 0;
	free(w);
}

/* Three digits, but never an exponent. */
static char *percent_number(unsigned int percent)
{
	double value = (double)percent / TENSE_FINE;
	char *text = xprintf("%.*f", value < 9.995 ? 2 : value < 99.95 ? 1 : 0,
			     value);
	size_t len = strlen(text);

	while (strchr(text, '.') && (text[len - 1] == '0' ||
				     text[len - 1] == '.'))
		text[--len] = '\0';
	return text;
}

char *lane_percent(const struct lane *lane)
{
	char *number[LANE_PERCENTS] = { NULL }, *text;
	unsigned int n = lane->nr_percents;

	for (unsigned int i = 0; i < n; i++)
		number[i] = percent_number(lane->percents[i]);
	if (!n)
		number[0] = percent_number(lane->mean_percent);
	text = n == 0 ? xprintf("%s %% on average", number[0]) :
	       n == 1 ? xprintf("%s %%", number[0]) :
	       n == 2 ? xprintf("%s and %s %%", number[0], number[1]) :
			xprintf("%s, %s and %s %%", number[0], number[1],
				number[2]);
	for (unsigned int i = 0; i < LANE_PERCENTS; i++)
		free(number[i]);
	return text;
}
