// SPDX-License-Identifier: GPL-2.0
#include "sample-sizes.h"

#include <math.h>

/* The study has the metrics before this one, which only corrects them. */
#define METRICS	METRIC_REFERENCE

static void put_percent(FILE *f, int width, double fraction)
{
	if (isfinite(fraction))
		fprintf(f, "%*.3f %%", width, fraction * 100);
	else
		fprintf(f, "%*s  ", width, "-");
}

static void show_size(FILE *f, const struct sample_size *s)
{
	fprintf(f, "  %7zu %8zu %9.2f", s->size, s->subsets, s->outliers);
	put_percent(f, 10, s->deviation);
	put_percent(f, 13, s->between);
	put_percent(f, 11, s->worst);
	fputc('\n', f);
}

static void show_choice(FILE *f, const struct measurement *m,
			const struct sample_sizes *sizes)
{
	double percent = m->sizes_epsilon * 100;

	if (sizes->chosen)
		fprintf(f, "  n = %zu: the smallest size at which no subset is off by more than %g %%\n",
			sizes->chosen, percent);
	else
		fprintf(f, "  no n: even a subset of half of the samples is off by more than %g %%: try more --runs or a larger --epsilon\n",
			percent);
}

void sample_sizes_text(FILE *f, const struct measurement *m)
{
	for (int i = 0; i < METRICS; i++) {
		struct sample_sizes sizes;

		sample_sizes_study(m->subjects, i, m->sizes_epsilon, &sizes);
		fprintf(f, "\n  subsets by %s; off is how far the mean of a subset is from that of all\n\n",
			metric_name(i));
		fprintf(f, "  %7s %8s %9s %11s %14s %12s\n", "samples",
			"subsets", "outliers", "deviation", "between means",
			"furthest off");
		for (size_t j = 0; j < sizes.count; j++)
			show_size(f, &sizes.list[j]);
		show_choice(f, m, &sizes);
	}
}

static json_t *number(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

static json_t *size_json(const struct sample_size *s)
{
	return json_pack("{sI sI so so so so}",
			 "samples", (json_int_t)s->size,
			 "subsets", (json_int_t)s->subsets,
			 "outliers", number(s->outliers),
			 "deviation", number(s->deviation),
			 "between_means", number(s->between),
			 "furthest_off", number(s->worst));
}

static json_t *metric_json(const struct measurement *m, enum metric metric)
{
	json_t *list = json_array();
	struct sample_sizes sizes;

	sample_sizes_study(m->subjects, metric, m->sizes_epsilon, &sizes);
	for (size_t i = 0; i < sizes.count; i++)
		json_array_append_new(list, size_json(&sizes.list[i]));
	return json_pack("{so so}", "chosen", sizes.chosen ?
			 json_integer((json_int_t)sizes.chosen) : json_null(),
			 "sizes", list);
}

json_t *sample_sizes_json(const struct measurement *m)
{
	json_t *json = json_pack("{sf}", "epsilon", m->sizes_epsilon);

	for (int i = 0; i < METRICS; i++)
		json_object_set_new(json, metric_key(i),
				    metric_json(m, i));
	return json;
}
