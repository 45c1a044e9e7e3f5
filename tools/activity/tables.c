// SPDX-License-Identifier: GPL-2.0
/* Tables of comma-separated values: every period, every sample. */
#include <inttypes.h>

#include "output.h"

static void put_period(FILE *f, const struct recording *r, struct period p)
{
	fprintf(f, "%u,%c%zu,%" PRIu64 ",%.6f,%" PRIu64 ",%.6f,%s\n", r->load,
		p.gap ? 'I' : 'A', p.index, p.begin,
		(double)p.begin * r->ns / 1e6, p.end - p.begin,
		(double)(p.end - p.begin) * r->ns / 1e6,
		p.gap ? cause_name(p.gap->cause) : "");
}

int activity_csv(FILE *f, const struct activity *a)
{
	fputs("load,period,start,start_ms,duration,duration_ms,by\n", f);
	for (size_t i = 0; i < a->count; i++) {
		const struct recording *r = &a->recordings[i];

		for (size_t j = 0; j < periods_count(r); j++)
			put_period(f, r, periods_at(r, j));
	}
	return ferror(f) ? -1 : 0;
}

int errors_csv(FILE *f, const struct interval_errors *e)
{
	fputs("load,expected_ms", f);
	for (int i = 0; i < NR_TIMED_BY; i++)
		fprintf(f, ",%s_ms", timed_by_key(i));
	fputc('\n', f);
	for (size_t i = 0; i < e->samples.count; i++) {
		const struct error_sample *s = &e->samples.list[i];

		fprintf(f, "%u,%.6f", s->load, s->expected_ns / 1e6);
		for (int j = 0; j < NR_TIMED_BY; j++)
			fprintf(f, ",%.6f", s->measured_ns[j] / 1e6);
		fputc('\n', f);
	}
	return ferror(f) ? -1 : 0;
}
