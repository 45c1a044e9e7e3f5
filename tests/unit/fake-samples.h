/* SPDX-License-Identifier: GPL-2.0 */
/* Recordings of samples for tests, as tools/run/samples-record.c hands them over. */
#ifndef FAKE_SAMPLES_H
#define FAKE_SAMPLES_H

#include "profile/samples.h"

struct fake_samples {
	char *data;
	size_t size;
};

void fake_samples_part(struct fake_samples *r, enum trace_part_kind kind,
		       const void *data, size_t size);
void fake_samples_begin(struct fake_samples *r, int32_t launcher, int32_t program);
void fake_samples_header(struct fake_samples *r);
void fake_samples_file(struct fake_samples *r, uint32_t number, const char *path);
/*
 * The sample's size and number of words are those of its words. It is of charged time
 * if its kind is 0.
 */
void fake_samples_add(struct fake_samples *r, struct tense_sample sample,
		      const struct tense_word *words, uint32_t count);
void fake_samples_free(struct fake_samples *r);

#endif
