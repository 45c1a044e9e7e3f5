// SPDX-License-Identifier: GPL-2.0
/*
 * Content-defined chunking with a gear hash: a boundary depends on the 64
 * bytes before it only, so that an insertion moves the boundaries near it
 * and leaves the others alone.
 */
#include "dedup.h"

#define GEAR_BYTES	64	/* the hash remembers so many */
/* Masks of the upper bits, as these depend on most bytes. */
#define ANCHOR_MASK	(~0ull << (64 - 15))
#define CHUNK_MASK	(~0ull << (64 - 16))

static uint64_t gear[256];

/* splitmix64: any table does that is the same on each machine. */
static __attribute__((constructor)) void gear_fill(void)
{
	uint64_t state = 0;

	for (int i = 0; i < 256; i++) {
		uint64_t z = state += 0x9e3779b97f4a7c15;

		z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
		z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
		gear[i] = z ^ (z >> 31);
	}
}

/* The first boundary in min..max, or the end. */
static size_t boundary(const uint8_t *data, size_t length, size_t min,
		       size_t max, uint64_t mask)
{
	uint64_t hash = 0;
	size_t i;

	if (length <= min)
		return length;
	if (length < max)
		max = length;
	for (i = min - GEAR_BYTES; i < min; i++)
		hash = (hash << 1) + gear[data[i]];
	while (i < max && hash & mask)
		hash = (hash << 1) + gear[data[i++]];
	return i;
}

size_t fragment_cut(const uint8_t *data, size_t length)
{
	return boundary(data, length, FRAGMENT_MIN, FRAGMENT_MAX, ANCHOR_MASK);
}

void fragment_refine(struct fragment *fragment)
{
	size_t done = 0;

	fragment->chunks = 0;
	while (done < fragment->length) {
		struct chunk *chunk = &fragment->chunk[fragment->chunks++];

		chunk->offset = done;
		chunk->length = boundary(fragment->data + done,
					 fragment->length - done,
					 CHUNK_MIN, CHUNK_MAX, CHUNK_MASK);
		done += chunk->length;
	}
}
