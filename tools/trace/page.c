// SPDX-License-Identifier: GPL-2.0
#include "page.h"

#include <stdint.h>
#include <string.h>

/* On 64-bit kernels it has the time of the first event, and the length. */
#define HEADER		16
#define LENGTH_AT	8
#define LENGTH_MASK	((1ULL << 27) - 1)
/* How many events were lost is told behind the last one. */
#define LOST_STORED	(1ULL << 30)
#define LOST_SIZE	8

/* Types of events; less is the length of an event, in words. */
#define TYPE_MASK	31
enum { TYPE_LONG = 0, TYPE_PADDING = 29, TYPE_TIME = 30, TYPE_STAMP = 31 };

#define WORD		4
/* No event is shorter. */
#define SHORTEST	(2 * WORD)

/* With what is before its data. At least SHORTEST bytes are there. */
static uint64_t event_length(const char *event)
{
	uint32_t type, length;

	memcpy(&type, event, WORD);
	memcpy(&length, event + WORD, WORD);
	switch (type & TYPE_MASK) {
	case TYPE_LONG:
		/* Its own word is counted; data ends with a word. */
		return length < WORD ? 0 :
		       WORD + (((uint64_t)length + WORD - 1) & -WORD);
	case TYPE_PADDING:
		return WORD + (uint64_t)length;
	case TYPE_TIME:
	case TYPE_STAMP:
		return 2 * WORD;
	default:
		return WORD + (type & TYPE_MASK) * WORD;
	}
}

bool trace_page_is_whole(const void *page, size_t size)
{
	const char *event = page;
	uint64_t head, length, left;

	if (size < HEADER)
		return false;
	memcpy(&head, event + LENGTH_AT, sizeof(head));
	left = head & LENGTH_MASK;
	if (left + (head & LOST_STORED ? LOST_SIZE : 0) > size - HEADER)
		return false;
	for (event += HEADER; left; event += length, left -= length) {
		length = left < SHORTEST ? 0 : event_length(event);
		if (!length || length > left)
			return false;
	}
	return true;
}
