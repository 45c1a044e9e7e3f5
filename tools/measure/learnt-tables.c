// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/result-file.h"
#include "base/util.h"
#include "csv.h"
#include "cutoffs-output.h"
#include "learnt-file.h"

static void write_central(FILE *f, const struct learnt *learnt, int task)
{
	const struct runs *runs = &learnt->series[task].runs;

	fputs("daemon,max_process_time_ms,stddev_ms\n", f);
	for (size_t i = 0; i < runs->nr_central; i++) {
		const struct central *c = &runs->central[i];

		csv_put(f, c->daemon);
		fprintf(f, ",%.15g,%.15g\n", c->max, c->stddev);
	}
}

static void write_executions(FILE *f, const struct learnt *learnt, int task)
{
	const struct runs *runs = &learnt->series[task].runs;

	fputs("sample,daemon,process_time_ms\n", f);
	for (size_t i = 0; i < runs->nr_executions; i++) {
		const struct execution *e = &runs->executions[i];

		fprintf(f, "%llu,", (unsigned long long)e->sample);
		csv_put(f, e->daemon);
		fprintf(f, ",%.15g\n", e->ms);
	}
}

static void write_samples(FILE *f, const struct learnt *learnt, int task)
{
	const struct series *s = &learnt->series[task];

	fputs("sample,began_s,elapsed_s,process_s,l_sample,levelled_s\n", f);
	for (size_t i = 0; i < s->count; i++)
		fprintf(f, "%zu,%.6f,%.9f,%.9f,%d,%.9f\n", i + 1,
			s->samples[i].began, s->samples[i].elapsed,
			s->samples[i].process, !learn_is_central(s, i),
			s->samples[i].levelled);
}

static void write_cutoffs(FILE *f, const struct learnt *learnt, int task)
{
	(void)task;
	cutoffs_csv(f, &learnt->cutoffs);
}

/* Writes the periods that the cutoffs use, in the format of --periods. */
static void write_periods(FILE *f, const struct learnt *learnt, int task)
{
	const char *separator = "";

	(void)task;
	for (size_t i = 0; i < learnt->cutoffs.count; i++) {
		const struct cutoff *c = &learnt->cutoffs.list[i];

		if (isnan(c->limit_s))
			continue;
		fprintf(f, "%s%s=%.3f", separator, c->daemon,
			cutoff_period(c));
		separator = ",";
	}
	fputc('\n', f);
}

static int write_table(const struct learnt *learnt, int task,
		       const char *directory, const char *name,
		       void (*put)(FILE *f, const struct learnt *learnt,
				   int task))
{
	char *path = xprintf("%s/%s", directory, name);
	struct result_file file;
	int err = result_file_check(&file, path);
	FILE *f = err ? NULL : result_file_begin(&file);

	if (f)
		put(f, learnt, task);
	err = f ? result_file_end(&file, 0) : -1;
	result_file_free(&file);
	free(path);
	return err;
}

int learnt_write_tables(const struct learnt *learnt, const char *directory)
{
	static const struct {
		const char *name;
		int task;
		void (*put)(FILE *f, const struct learnt *learnt, int task);
	} tables[] = {
		{ "short-central.csv", TASK_SHORT, write_central },
		{ "short-l.csv", TASK_SHORT, write_executions },
		{ "short-samples.csv", TASK_SHORT, write_samples },
		{ "long-central.csv", TASK_LONG, write_central },
		{ "long-l.csv", TASK_LONG, write_executions },
		{ "long-samples.csv", TASK_LONG, write_samples },
		{ "cutoffs.csv", TASK_SHORT, write_cutoffs },
		{ "periods", TASK_SHORT, write_periods },
	};

	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
		if (learnt->series[tables[i].task].count &&
		    write_table(learnt, tables[i].task, directory,
				tables[i].name, tables[i].put))
			return -1;
	return 0;
}
