// SPDX-License-Identifier: GPL-2.0
#include "samples-record.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <linux/tense-samples.h>

/* The most in one part. */
#define PART_BYTES	(64 * 1024)

int samples_start(const struct samples_record *r, int device)
{
	const struct samples_ask *ask = &r->ask;
	char text[64];
	int len;

	len = snprintf(text, sizeof(text),
		       "samples %" PRIu64 " %" PRIu32 " %" PRIu32 " %" PRIu32,
		       ask->period_ns, ask->kib, ask->stack, ask->seed);
	return write(device, text, len) == len ? 0 : -1;
}

static int send_part(const struct samples_record *r, enum trace_part_kind kind,
		     const void *data, size_t size)
{
	struct trace_part part = { .kind = kind, .size = size };

	return r->take(r->arg, &part, data);
}

int samples_send(const struct samples_record *r, int device, pid_t program)
{
	struct samples_begin begin = {
		.launcher = getpid(), .program = program,
	};
	static char buf[PART_BYTES];
	uint64_t from = 0;
	ssize_t n;

	prctl(PR_GET_NAME, begin.comm);
	if (send_part(r, TRACE_PART_SURVEY, &begin, sizeof(begin)))
		return -1;
	while ((n = pread(device, buf, sizeof(buf),
			  TENSE_SAMPLES_OFFSET + from)) > 0) {
		if (send_part(r, TRACE_PART_SAMPLES, buf, n))
			return -1;
		from += n;
	}
	return n;
}
