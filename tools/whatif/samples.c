// SPDX-License-Identifier: GPL-2.0
#include "samples.h"

#include <stdlib.h>

size_t whatif_rounds(const struct whatif_samples *samples)
{
	size_t rounds = samples->count / samples->per_round;

	return rounds ? rounds - 1 : 0;
}

const struct whatif_sample *whatif_at(const struct whatif_samples *samples,
				      size_t condition, size_t round)
{
	return &samples->list[(round + 1) * samples->per_round + condition];
}

double whatif_own_ran(const struct whatif_sample *s)
{
	return s->ran > s->start ? s->ran - s->start : 1;
}

double whatif_mean(const struct whatif_samples *samples, size_t condition,
		   double (*figure)(const struct whatif_sample *))
{
	size_t rounds = whatif_rounds(samples);
	double sum = 0;

	for (size_t r = 0; r < rounds; r++)
		sum += figure(whatif_at(samples, condition, r));
	return rounds ? sum / rounds : 0;
}

void whatif_samples_free(struct whatif_samples *samples)
{
	for (size_t i = 0; i < samples->nr_patches; i++) {
		free(samples->patches[i].object);
		free(samples->patches[i].symbol);
		free(samples->patches[i].how);
	}
	free(samples->list);
	free(samples->patches);
	free(samples->spoiled);
	whatif_environment_free(&samples->environment);
}
