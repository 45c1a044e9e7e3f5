// SPDX-License-Identifier: GPL-2.0
/* The order in which the racing pi finished, from their schedule. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RUNNERS_MAX	64

struct finish {
	int runner, setting, stretches;
	double ran, end;
};

static int by_end(const void *a, const void *b)
{
	const struct finish *x = a, *y = b;

	return (x->end > y->end) - (x->end < y->end);
}

int main(void)
{
	struct finish finish[RUNNERS_MAX] = { 0 };
	char line[256], rest;
	int count = 0;

	if (!fgets(line, sizeof(line), stdin) ||
	    strcmp(line, "runner,setting,start_ms,end_ms\n") != 0) {
		fputs("bench: this is not the output of pi\n", stderr);
		return 1;
	}
	while (fgets(line, sizeof(line), stdin)) {
		int runner, setting;
		double start, end;

		if (sscanf(line, "%d,%d,%lf,%lf %c", &runner, &setting, &start,
			   &end, &rest) != 4 ||
		    runner < 0 || runner >= RUNNERS_MAX) {
			fprintf(stderr, "bench: pi printed: %s", line);
			return 1;
		}
		if (runner >= count)
			count = runner + 1;
		finish[runner].runner = runner;
		finish[runner].setting = setting;
		finish[runner].stretches++;
		finish[runner].ran += end - start;
		finish[runner].end = end;
	}
	qsort(finish, count, sizeof(finish[0]), by_end);
	puts("place  program  setting  finished, ms  ran, ms  stretches");
	for (int i = 0; i < count; i++)
		printf("%5d  %7d  %7d  %12.1f  %7.1f  %9d\n", i + 1,
		       finish[i].runner, finish[i].setting, finish[i].end,
		       finish[i].ran, finish[i].stretches);
	return fflush(stdout) ? 1 : 0;
}
