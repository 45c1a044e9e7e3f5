// SPDX-License-Identifier: GPL-2.0
#include "sample-sizes.h"

#include <math.h>
#include <stdlib.h>

#include "base/util.h"

/* Summarises the subset that begins with a sample, as EMP does. */
static struct summary summarise(const struct subject *subject,
				enum metric metric, size_t first, size_t size)
{
	double *values = xmalloc(size * sizeof(*values));
	bool *kept = xmalloc(size * sizeof(*kept));
	struct summary s;

	for (size_t i = 0; i < size; i++) {
		const struct sample *sample = &subject->samples[first + i];

		values[i] = sample->values[metric];
		kept[i] = sample->fate == SAMPLE_KEPT;
	}
	s = emp_two_sigma(values, kept, size);
	free(values);
	free(kept);
	return s;
}

/* Adds a subset to the sums from which study_size() makes averages. */
static void add_subset(struct sample_size *s, const struct summary *subset,
		       double mean)
{
	double off = fabs(subset->mean / mean - 1);

	s->outliers += (double)(s->size - subset->count);
	s->deviation += subset->stddev / mean;
	/* A subset without a mean is as far off as can be. */
	s->worst = isnan(off) ? INFINITY : fmax(s->worst, off);
}

static struct sample_size study_size(const struct subject *subject,
				     enum metric metric, size_t size)
{
	struct sample_size s = { .size = size,
				 .subsets = subject->count / size };
	double mean = subject->emp[metric].mean;
	double *means = xmalloc(s.subsets * sizeof(*means));

	for (size_t i = 0; i < s.subsets; i++) {
		struct summary subset = summarise(subject, metric, i * size,
						  size);

		means[i] = subset.mean;
		add_subset(&s, &subset, mean);
	}
	s.outliers /= (double)s.subsets;
	s.deviation /= (double)s.subsets;
	s.between = emp_summary(means, NULL, s.subsets).stddev / mean;
	free(means);
	return s;
}

void sample_sizes_study(const struct subject *subject, enum metric metric,
			double epsilon, struct sample_sizes *sizes)
{
	bool suffices = true;

	*sizes = (struct sample_sizes){ 0 };
	for (size_t size = subject->count; size >= SAMPLE_SIZES_LEAST &&
	     sizes->count < SAMPLE_SIZES_MAX; size /= 2) {
		struct sample_size s = study_size(subject, metric, size);

		sizes->list[sizes->count++] = s;
		suffices = suffices && s.worst <= epsilon;
		if (suffices && s.subsets > 1)
			sizes->chosen = size;
	}
}
