// SPDX-License-Identifier: GPL-2.0
#include "interval-error.h"

#include <math.h>

#include "base/util.h"

static struct error_row *find(struct error_row *rows, size_t count,
			      const struct error_sample *s)
{
	for (size_t i = 0; i < count; i++)
		if (rows[i].load == s->load &&
		    rows[i].expected_ns == s->expected_ns)
			return &rows[i];
	return NULL;
}

static void add(struct error_row *row, const struct error_sample *s)
{
	row->samples++;
	for (int i = 0; i < NR_TIMED_BY; i++) {
		double error = s->measured_ns[i] - s->expected_ns;

		row->mean_ns[i] += error;
		if (fabs(error) > fabs(row->worst_ns[i]))
			row->worst_ns[i] = error;
	}
}

size_t error_rows(const struct error_samples *all, struct error_row **rows)
{
	size_t count = 0;

	*rows = xmalloc(all->count * sizeof(**rows));
	for (size_t i = 0; i < all->count; i++) {
		const struct error_sample *s = &all->list[i];
		struct error_row *row = find(*rows, count, s);

		if (!row) {
			row = &(*rows)[count++];
			row->load = s->load;
			row->expected_ns = s->expected_ns;
		}
		add(row, s);
	}
	for (size_t i = 0; i < count; i++)
		for (int j = 0; j < NR_TIMED_BY; j++)
			(*rows)[i].mean_ns[j] /= (double)(*rows)[i].samples;
	return count;
}

size_t error_lengths(double longest_ms, double *lengths, size_t most)
{
	static const double steps[] = { 1, 2, 5 };
	size_t count = 0;

	for (double power = 1; count < most; power *= 10)
		for (int i = 0; i < 3 && count < most; i++) {
			if (power * steps[i] > longest_ms)
				return count;
			lengths[count++] = power * steps[i];
		}
	return count;
}

const char *timed_by_name(enum timed_by by)
{
	static const char *const names[] = {
		[BY_TICKS] = "times(2)",
		[BY_USER] = "getrusage(2), user",
		[BY_PROCESS] = "process clock",
		[BY_COUNTER] = "cycle counter",
	};

	return names[by];
}

const char *timed_by_key(enum timed_by by)
{
	static const char *const keys[] = {
		[BY_TICKS] = "times", [BY_USER] = "user",
		[BY_PROCESS] = "process_clock",
		[BY_COUNTER] = "cycle_counter",
	};

	return keys[by];
}
