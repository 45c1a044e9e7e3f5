// SPDX-License-Identifier: LGPL-2.1-or-later
#include "patch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "threads.h"

#define REACH (0x7fff0000UL)
/* Null pointers lead to addresses below this one. */
#define LOWEST 0x10000UL

struct gap {
	uintptr_t low, high;	/* range that has to reach it */
	size_t size;
	uintptr_t found;	/* 0: none yet */
};

static uintptr_t distance(uintptr_t a, uintptr_t b)
{
	return a > b ? a - b : b - a;
}

/*
 * Takes the end of a gap: the heap grows upwards into its start. Later mappings
 * go elsewhere.
 */
static void consider(struct gap *gap, uintptr_t start, uintptr_t end)
{
	uintptr_t lowest = gap->high > REACH ? gap->high - REACH : 0;
	uintptr_t highest = gap->low + REACH, at;

	if (lowest < LOWEST)
		lowest = LOWEST;
	if (start < lowest)
		start = lowest;
	if (end > highest)
		end = highest & -4096UL;
	if (start > end || end - start < gap->size)
		return;
	at = end - gap->size;
	if (!gap->found ||
	    distance(at, gap->low) < distance(gap->found, gap->low))
		gap->found = at;
}

/* /proc/self is empty once the first thread has ended. */
static bool find_gap(struct gap *gap)
{
	FILE *maps = fopen("/proc/thread-self/maps", "re");
	uintptr_t last = 0, start, end;
	char *line = NULL;
	size_t room = 0;

	if (!maps)
		return false;
	while (getline(&line, &room, maps) > 0) {
		char *next;

		start = strtoul(line, &next, 16);
		end = strtoul(next + 1, NULL, 16);
		/* A stack grows downwards, and keeps its distance. */
		if (!strstr(line, "[stack") && start > last)
			consider(gap, last, start);
		last = end;
	}
	free(line);
	fclose(maps);
	return gap->found;
}

void *redirect_patch_map(uintptr_t low, uintptr_t high, size_t size)
{
	struct gap gap = {
		.low = low,
		.high = high,
		.size = (size + 4095) & -4096UL,
	};
	int attempt;
	void *at;

	/* Another thread may take the gap first. */
	for (attempt = 0; attempt < 8; attempt++) {
		gap.found = 0;
		if (!find_gap(&gap))
			return NULL;
		at = mmap((void *)gap.found, gap.size, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE,
			  -1, 0);
		if (at != MAP_FAILED)
			return at;
	}
	return NULL;
}

/* For processes that cannot use /proc/thread-self/mem. */
static int write_mapped(const struct redirect_patch *p)
{
	uintptr_t start = p->at & -4096UL;
	size_t size = ((p->at + p->length + 4095) & -4096UL) - start;

	if (mprotect((void *)start, size, PROT_READ | PROT_WRITE | PROT_EXEC))
		return -errno;
	memcpy((void *)p->at, p->bytes, p->length);
	return mprotect((void *)start, size, PROT_READ | PROT_EXEC);
}

static size_t write_all(const struct redirect_patch *patches, size_t count)
{
	int fd = open("/proc/thread-self/mem", O_RDWR | O_CLOEXEC);
	const struct redirect_patch *p = patches;

	for (; p < patches + count; p++)
		if ((fd < 0 || pwrite(fd, p->bytes, p->length, p->at) !=
			       (ssize_t)p->length) &&
		    write_mapped(p))
			break;
	if (fd >= 0)
		close(fd);
	return p - patches;
}

size_t redirect_patch_write(const struct redirect_patch *patches, size_t count,
			const char **reason)
{
	struct redirect_threads threads;
	size_t written;

	*reason = redirect_threads_stop(&threads, patches, count);
	if (*reason)
		return 0;
	written = write_all(patches, count);
	redirect_threads_continue(&threads);
	if (written < count)
		*reason = "its code cannot be written";
	return written;
}
