/* SPDX-License-Identifier: GPL-2.0 */
/* A recorded run, for readers. */
#ifndef TOOLS_TRACE_OUTPUT_H
#define TOOLS_TRACE_OUTPUT_H

#include <stdio.h>

#include "base/machine.h"
#include "model.h"

#define TRACE_JSON_VERSION	1

/* The run that the outputs describe. */
struct trace_about {
	char *const *argv;
	const char *backend;
	struct machine machine;
	int status;
	uint64_t real_ns;	/* how long it ran */
	bool virtual_axis;	/* the axis of trace_chrome() */
};

/* After these, the caller checks ferror(). */

/* A picture: virtual time over real time. */
void trace_svg(FILE *f, const struct model *m, const struct trace_about *about);

/* The JSON of chrome://tracing, which Perfetto reads. */
void trace_chrome(FILE *f, const struct model *m,
		  const struct trace_about *about);

void trace_table(FILE *f, const struct model *m,
		 const struct trace_about *about);

/* 0, or -1 with errno. */
int trace_table_json(FILE *f, const struct model *m,
		     const struct trace_about *about);

#endif
