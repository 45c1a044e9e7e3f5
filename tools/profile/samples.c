// SPDX-License-Identifier: GPL-2.0
#include "samples.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"

#define DAMAGED		"the recording of samples is damaged"

/* Bytes of the samples, joined from the parts of the recording. */
struct bytes {
	char *data;
	size_t size;
};

static void append(struct bytes *bytes, const void *data, size_t size)
{
	bytes->data = xrealloc(bytes->data, bytes->size + size + 1);
	memcpy(bytes->data + bytes->size, data, size);
	bytes->size += size;
}

/* Returns false if the recording ends within a part. */
static bool join(struct samples *samples, struct bytes *bytes, const char *at,
		 size_t left)
{
	struct trace_part part;

	while (left) {
		if (left < sizeof(part))
			return false;
		memcpy(&part, at, sizeof(part));
		at += sizeof(part);
		left -= sizeof(part);
		if (part.size > left)
			return false;
		if (part.kind == TRACE_PART_SURVEY &&
		    part.size == sizeof(samples->begin))
			memcpy(&samples->begin, at, part.size);
		else if (part.kind == TRACE_PART_SAMPLES)
			append(bytes, at, part.size);
		at += part.size;
		left -= part.size;
	}
	return true;
}

static bool take_file(struct samples *samples, const struct tense_sample_head *head)
{
	const struct tense_sample_file *file = (const void *)head;

	if (head->size <= sizeof(*file) || !file->number ||
	    file->number > TENSE_FILES_MAX ||
	    !memchr(file->path, '\0', head->size - sizeof(*file)))
		return false;
	samples->files[file->number] = file->path;
	return true;
}

static bool take_sample(const struct tense_sample **list, size_t *count,
			const struct tense_sample_head *head)
{
	const struct tense_sample *sample = (const void *)head;

	if (head->size < sizeof(*sample) ||
	    sample->words > TENSE_SAMPLES_STACK_MAX / sizeof(uint64_t) ||
	    head->size - sizeof(*sample) !=
	    sample->words * sizeof(struct tense_word) ||
	    !memchr(sample->comm, '\0', sizeof(sample->comm)))
		return false;
	list[(*count)++] = sample;
	return true;
}

static bool take_record(struct samples *samples,
			const struct tense_sample_head *head)
{
	switch (head->kind) {
	case TENSE_SAMPLE_FILE:
		return take_file(samples, head);
	case TENSE_SAMPLE_THREAD:
		return take_sample(samples->list, &samples->count, head);
	case TENSE_SAMPLE_BLOCK:
	case TENSE_SAMPLE_WAKE:
		return take_sample(samples->blocks, &samples->nr_blocks, head);
	default:
		/* A later kernel may have more kinds. */
		return true;
	}
}

static bool take_records(struct samples *samples, const char *at, size_t left)
{
	const struct tense_sample_head *head;

	samples->list = xmalloc((left / sizeof(struct tense_sample) + 1) *
				sizeof(void *));
	samples->blocks = xmalloc((left / sizeof(struct tense_sample) + 1) *
				  sizeof(void *));
	for (; left; at += head->size, left -= head->size) {
		head = (const void *)at;
		if (left < sizeof(*head) || head->size < sizeof(*head) ||
		    head->size > left || head->size % 8 ||
		    !take_record(samples, head))
			return false;
	}
	return true;
}

char *samples_read(struct samples *samples, const void *recording, size_t size)
{
	struct bytes bytes = { 0 };

	memset(samples, 0, sizeof(*samples));
	if (!join(samples, &bytes, recording, size)) {
		free(bytes.data);
		return xstrdup(DAMAGED);
	}
	samples->data = bytes.data;
	if (bytes.size < sizeof(samples->header))
		return xstrdup("the recording has no samples");
	memcpy(&samples->header, bytes.data, sizeof(samples->header));
	if (samples->header.version != TENSE_SAMPLES_VERSION ||
	    samples->header.size != sizeof(samples->header))
		return xprintf("the samples are of version %" PRIu32 ": tense.ko is of another version",
			       samples->header.version);
	if (!take_records(samples, bytes.data + sizeof(samples->header),
			  bytes.size - sizeof(samples->header)))
		return xstrdup(DAMAGED);
	return NULL;
}

void samples_free(struct samples *samples)
{
	free(samples->list);
	free(samples->blocks);
	free(samples->data);
	memset(samples, 0, sizeof(*samples));
}

bool samples_is_program(const struct samples *samples,
		       const struct tense_sample *sample)
{
	const struct samples_begin *begin = &samples->begin;

	if (sample->tgid == begin->launcher)
		return false;
	/* Until it executes the program, it runs code of the launcher. */
	return sample->tgid != begin->program ||
	       strncmp(sample->comm, begin->comm, sizeof(begin->comm)) != 0;
}
