// SPDX-License-Identifier: GPL-2.0
#include "latency.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libtense/symbols/marks.h"
#include "base/util.h"

/* The most latencies of a run, in 8 MB. Later ones do not count. */
#define ROOM	(1 << 20)

/* A comma outside of all brackets, from there on, or NULL. */
static const char *find_comma(const char *text)
{
	int depth = 0;

	for (; *text; text++) {
		if (strchr("(<[{", *text))
			depth++;
		else if (strchr(")>]}", *text))
			depth--;
		else if (*text == ',' && depth <= 0)
			return text;
	}
	return NULL;
}

char *whatif_latency_parse(const char *text, char **from, char **to)
{
	const char *comma = find_comma(text);

	*from = *to = NULL;
	if (!comma || comma == text || !comma[1] || find_comma(comma + 1) ||
	    strchr(text, '\n'))
		return xprintf("'%s' is not two functions with a comma between them",
			       text);
	*from = xprintf("%.*s", (int)(comma - text), text);
	*to = xstrdup(comma + 1);
	return NULL;
}

int whatif_latency_create(const char *path)
{
	const struct tense_marks head = { .room = ROOM };
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	int err;

	if (fd < 0)
		return -1;
	/* All of it: a program that writes where there is no room would die. */
	err = posix_fallocate(fd, 0, (off_t)(sizeof(head) +
					     ROOM * sizeof(head.mark[0])));
	if (!err && pwrite(fd, &head, sizeof(head), 0) != sizeof(head))
		err = errno;
	close(fd);
	errno = err;
	return err ? -1 : 0;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Computes the mean and median of n times; sorts them. */
static void summarise(double *times, size_t n, double *mean, double *median)
{
	double sum = 0;

	*mean = *median = NAN;
	if (!n)
		return;
	for (size_t i = 0; i < n; i++)
		sum += times[i];
	qsort(times, n, sizeof(*times), compare);
	*mean = sum / n;
	*median = (times[(n - 1) / 2] + times[n / 2]) / 2;
}

double whatif_latency_pair(const uint64_t *marks, size_t n,
			   struct whatif_latency *latency)
{
	int64_t *waiting = xmalloc((n + 1) * sizeof(*waiting));
	double *times = xmalloc((n + 1) * sizeof(*times)), mean;

	*latency = (struct whatif_latency){ 0 };
	for (size_t i = 0; i < n; i++) {
		int64_t ns = marks[i] >> TENSE_MARK_SHIFT;

		/*
		 * If one function is both, its call ends a pair, then begins
		 * one.
		 */
		if (marks[i] & TENSE_MARK_TO) {
			latency->to++;
			if (latency->pairs < latency->from) {
				times[latency->pairs] =
					ns - waiting[latency->pairs];
				latency->pairs++;
			}
		}
		if (marks[i] & TENSE_MARK_FROM)
			waiting[latency->from++] = ns;
	}
	summarise(times, latency->pairs, &mean, &latency->median);
	free(waiting);
	free(times);
	return mean;
}

char *whatif_latency_read(const char *path, struct whatif_sample *sample)
{
	struct tense_marks head = { 0 };
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	uint64_t *marks = NULL, n = 0;
	char *error = NULL;

	if (fd < 0 || read_full(fd, &head, sizeof(head)))
		error = xprintf("the file of the calls: %s", strerror(errno));
	if (!error) {
		n = head.count < ROOM ? head.count : ROOM;
		marks = xmalloc((n + 1) * sizeof(*marks));
		if (read_full(fd, marks, n * sizeof(*marks)))
			error = xprintf("the file of the calls: %s",
					strerror(errno));
	}
	if (!error) {
		sample->metric = whatif_latency_pair(marks, n,
						     &sample->latency);
		sample->latency.lost = head.count - n;
		if (!sample->latency.pairs)
			error = xprintf("no call of the second function came after one of the first");
	}
	free(marks);
	if (fd >= 0)
		close(fd);
	return error;
}
