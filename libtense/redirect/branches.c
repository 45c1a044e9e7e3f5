// SPDX-License-Identifier: LGPL-2.1-or-later
#include "branches.h"

#include <string.h>

#include "code.h"

/* Longest distance between a short branch and its target. */
#define NEAR 136

struct entries {
	struct redirect_entry *entry;
	size_t count;
};

/* Returns the last entry at or before an address. */
static struct redirect_entry *find(const struct entries *e, uintptr_t address)
{
	size_t low = 0, high = e->count, middle;

	while (low < high) {
		middle = (low + high) / 2;
		if (e->entry[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? &e->entry[low - 1] : NULL;
}

static void note(const struct entries *e, uintptr_t from, uintptr_t to)
{
	struct redirect_entry *entry = find(e, to);

	if (!entry || to > entry->at + STUB_JUMP)
		return;
	if (to == entry->start || to == entry->at)
		entry->loop |= from >= entry->start && from < entry->end;
	else if (to > entry->at && to - entry->at < entry->safe)
		entry->safe = to - entry->at;
}

static const uintptr_t *next_start(const uintptr_t *starts, size_t count,
				   uintptr_t address)
{
	size_t low = 0, high = count, middle;

	while (low < high) {
		middle = (low + high) / 2;
		if (starts[middle] <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return starts + low;
}

static void decode(const struct entries *e, struct redirect_range range,
		   const uintptr_t *starts, size_t count)
{
	const uintptr_t *next = next_start(starts, count, range.start);
	uintptr_t at = range.start, to;
	struct redirect_branch branch;

	while (at < range.end) {
		uintptr_t limit = range.end;

		while (next < starts + count && *next <= at)
			next++;
		if (next < starts + count && *next < limit)
			limit = *next;
		/* A table between instructions: decoding soon finds code again. */
		if (!redirect_code_branch(at, limit - at, &branch)) {
			at++;
			continue;
		}
		to = branch.target;
		if (to && !branch.call)
			note(e, at, to);
		else if (to && find(e, to) && to != find(e, to)->start)
			note(e, UINTPTR_MAX, to);
		at += branch.length;
	}
}

static void decode_near(const struct entries *e, struct redirect_range text,
			const uintptr_t *starts, size_t start_count)
{
	struct redirect_range range = { 0 };
	const uintptr_t *start;
	size_t i;

	for (i = 0; i < e->count; i++) {
		const struct redirect_entry *entry = &e->entry[i];
		uintptr_t low = entry->start - NEAR, high = entry->end;

		if (entry->start < text.start || entry->end > text.end)
			continue;
		if (high < entry->at + NEAR)
			high = entry->at + NEAR;
		if (high > text.end)
			high = text.end;
		/* Decode from a sure start of instructions. */
		start = next_start(starts, start_count, low);
		low = start > starts ? start[-1] : entry->start;
		if (low < text.start)
			low = text.start;
		if (low <= range.end && range.end) {
			if (high > range.end)
				range.end = high;
			continue;
		}
		decode(e, range, starts, start_count);
		range = (struct redirect_range){ low, high };
	}
	decode(e, range, starts, start_count);
}

/*
 * Finds jumps with 32 bits of distance by their bytes. Other bytes may look like
 * a jump, but hardly like one to the few bytes that will be overwritten. The only
 * consequence is that such a function is refused.
 */
static void scan(const struct entries *e, struct redirect_range text)
{
	const uint8_t *p = (const uint8_t *)text.start;
	const uint8_t *end = (const uint8_t *)text.end - 6;
	uintptr_t first = e->entry[0].start;
	uintptr_t last = e->entry[e->count - 1].at + STUB_JUMP, to;
	int32_t distance;

	for (; p < end; p++) {
		const uint8_t *at = p;

		if (*p == 0x0f && (p[1] & 0xf0) == 0x80)
			at++;
		else if (*p != 0xe9)
			continue;
		memcpy(&distance, at + 1, sizeof(distance));
		to = (uintptr_t)at + 5 + distance;
		if (to >= first && to < last)
			note(e, UINTPTR_MAX, to);
	}
}

void redirect_branches(struct redirect_entry *entries, size_t count,
		       const struct redirect_range *text, size_t text_count,
		       const uintptr_t *starts, size_t start_count)
{
	struct entries e = { entries, count };
	size_t i;

	for (i = 0; i < count; i++) {
		entries[i].safe = STUB_JUMP;
		entries[i].loop = false;
	}
	for (i = 0; count && i < text_count; i++) {
		decode_near(&e, text[i], starts, start_count);
		scan(&e, text[i]);
	}
}
