/* SPDX-License-Identifier: GPL-2.0 */
/* A recording on its way from the kernel that made it to who reads it. */
#ifndef TOOLS_TRACE_FILE_H
#define TOOLS_TRACE_FILE_H

#include <stddef.h>
#include <stdint.h>

struct trace_file {
	uint64_t buffer_kib;	/* as of struct trace_record; 0: no events */
	int fd;			/* in memory */
	int error;		/* errno: it is not complete; 0 */
};

/* Ends the program on failure. */
void trace_file_open(struct trace_file *f, uint64_t buffer_kib);
void trace_file_add(struct trace_file *f, const void *data, size_t size);
void trace_file_close(struct trace_file *f);

/* All of it, for as long as the process lives; NULL with errno. */
const void *trace_file_map(const struct trace_file *f, size_t *size);

#endif
