/* SPDX-License-Identifier: GPL-2.0 */
/* From a file that grows to a descriptor of the caller's, as that takes it. */
#ifndef TOOLS_EXACT_OUTPUT_H
#define TOOLS_EXACT_OUTPUT_H

#include <stdbool.h>
#include <stdint.h>

struct output {
	int from;
	int to;
	uint64_t taken;
	uint64_t freed;		/* the file holds nothing before that */
	int error;		/* errno, and nothing is handed on any more */
};

void output_init(struct output *o, int from, int to);
/* Forwards the output that there is, as long as that does not block. */
void output_forward(struct output *o);
/* True if the file holds output that the reader has not taken. */
bool output_waits(const struct output *o);
/* True if the guest has to wait: the reader is too far behind. */
bool output_is_full(const struct output *o);

#endif
