// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>

#include "base/util.h"
#include "output.h"

static void put_heading(FILE *f)
{
	fputs("\n  computed, ms", f);
	for (int i = 0; i < NR_TIMED_BY; i++)
		fprintf(f, " %21s", timed_by_name(i));
	fputc('\n', f);
}

static void put_row(FILE *f, const struct error_row *row)
{
	fprintf(f, "  %12.0f", row->expected_ns / 1e6);
	for (int i = 0; i < NR_TIMED_BY; i++)
		fprintf(f, " %10.3f %10.3f", row->mean_ns[i] / 1e6,
			row->worst_ns[i] / 1e6);
	fputc('\n', f);
}

int errors_text(FILE *f, const struct interval_errors *e)
{
	char *counter = counter_text(&e->watcher);

	fprintf(f, "\nCPU %d: what clocks say of computations that had the CPU for a known time\n",
		e->watcher.cpu);
	fprintf(f, "by %s; times(2) counts %.0f ms\n", counter,
		e->tick_ns / 1e6);
	free(counter);
	for (size_t i = 0; i < e->nr_rows; i++) {
		const struct error_row *row = &e->rows[i];

		if (!i || row->load != row[-1].load) {
			char *load = load_text(row->load);

			fprintf(f, "\nError in ms, %s: mean and worst of %zu\n",
				load, row->samples);
			free(load);
			put_heading(f);
		}
		put_row(f, row);
	}
	return ferror(f) ? -1 : 0;
}
