/* SPDX-License-Identifier: GPL-2.0 */
/* The samples of a recording, as <linux/tense-samples.h> specifies them. */
#ifndef TOOLS_PROFILE_SAMPLES_H
#define TOOLS_PROFILE_SAMPLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/tense-samples.h>

#include "run/samples-record.h"

struct samples {
	struct samples_begin begin;
	struct tense_samples header;
	const char *files[TENSE_FILES_MAX + 1];	/* paths by number, or NULL */
	const struct tense_sample **list;	/* in the order of the records */
	size_t count;		/* of charged time */
	const struct tense_sample **blocks;	/* of blocks and wake-ups */
	size_t nr_blocks;
	void *data;		/* what the pointers point into */
};

/*
 * Reads the samples of a recording. Returns NULL, or a description of the error, which
 * the caller frees. The caller also frees *samples, in both cases.
 */
char *samples_read(struct samples *samples, const void *recording, size_t size);
void samples_free(struct samples *samples);

/* Whether the program took the sample's time, and not the launcher. */
bool samples_is_program(const struct samples *samples,
		       const struct tense_sample *sample);

#endif
