// SPDX-License-Identifier: GPL-2.0
#include "fake-samples.h"

#include <stdlib.h>
#include <string.h>

static void append(struct fake_samples *r, const void *data, size_t size)
{
	r->data = realloc(r->data, r->size + size + 1);
	if (!r->data)
		abort();
	memcpy(r->data + r->size, data, size);
	r->size += size;
}

void fake_samples_part(struct fake_samples *r, enum trace_part_kind kind,
		       const void *data, size_t size)
{
	struct trace_part part = { .kind = kind, .size = size };

	append(r, &part, sizeof(part));
	append(r, data, size);
}

void fake_samples_begin(struct fake_samples *r, int32_t launcher, int32_t program)
{
	struct samples_begin begin = {
		.launcher = launcher, .program = program, .comm = "launcher",
	};

	fake_samples_part(r, TRACE_PART_SURVEY, &begin, sizeof(begin));
}

void fake_samples_header(struct fake_samples *r)
{
	struct tense_samples header = {
		.version = TENSE_SAMPLES_VERSION, .size = sizeof(header),
		.period = 1000000,
	};

	fake_samples_part(r, TRACE_PART_SAMPLES, &header, sizeof(header));
}

void fake_samples_file(struct fake_samples *r, uint32_t number, const char *path)
{
	size_t size = (sizeof(struct tense_sample_file) + strlen(path) + 8) / 8 * 8;
	struct tense_sample_file *file = calloc(1, size);

	if (!file)
		abort();
	file->head = (struct tense_sample_head){ TENSE_SAMPLE_FILE, size };
	file->number = number;
	strcpy(file->path, path);
	fake_samples_part(r, TRACE_PART_SAMPLES, file, size);
	free(file);
}

void fake_samples_add(struct fake_samples *r, struct tense_sample sample,
		      const struct tense_word *words, uint32_t count)
{
	char *record;

	sample.words = count;
	sample.head = (struct tense_sample_head){
		sample.head.kind ? sample.head.kind : TENSE_SAMPLE_THREAD,
		sizeof(sample) + count * sizeof(*words),
	};
	record = calloc(1, sample.head.size);
	if (!record)
		abort();
	memcpy(record, &sample, sizeof(sample));
	if (count)
		memcpy(record + sizeof(sample), words, count * sizeof(*words));
	fake_samples_part(r, TRACE_PART_SAMPLES, record, sample.head.size);
	free(record);
}

void fake_samples_free(struct fake_samples *r)
{
	free(r->data);
	*r = (struct fake_samples){ 0 };
}
