// SPDX-License-Identifier: GPL-2.0
/* Part of guest-fuzz: mappings of the device, and forged contents. */
#include "fuzz.h"

#define PAGE 4096

/* A task may write to this ring of another thread. */
static struct tense_ring *volatile last_ring;

static bool is_error(long result)
{
	return result < 0 && result > -PAGE;
}

/* --- mmap(2) --- */

static void unmap_clock(struct task *t)
{
	if (t->clock)
		call(SYS_munmap, t->clock, PAGE);
	t->clock = NULL;
}

static void unmap_shared(struct task *t)
{
	if (t->latest)
		call(SYS_munmap, t->latest, TENSE_SHARED_SIZE);
	t->latest = NULL;
}

static void map_shared(struct task *t)
{
	long p;

	unmap_shared(t);
	p = call(SYS_mmap, 0, TENSE_SHARED_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED,
		 t->own, TENSE_SHARED_OFFSET);
	if (!is_error(p))
		t->latest = (void *)p;
	else
		EXPECT_ERROR(t, "map of what is shared", p, ENOMEM);
}

static void unmap_ring(struct task *t)
{
	if (t->ring)
		call(SYS_munmap, t->ring, TENSE_RING_SIZE);
	t->ring = NULL;
}

static long call_map_clock(struct task *t)
{
	long p;

	/* Another file would be something else, or short. */
	if (t->own < 0)
		return -ENOENT;
	unmap_clock(t);
	p = call(SYS_mmap, 0, PAGE, PROT_READ, MAP_SHARED, t->own, 0);
	if (!is_error(p))
		t->clock = (void *)p;
	else
		EXPECT_ERROR(t, "map of the clock", p, ENOMEM);
	return p;
}

static long call_map_ring(struct task *t)
{
	long p;

	if (t->own < 0)
		return -ENOENT;
	unmap_ring(t);
	p = call(SYS_mmap, 0, TENSE_RING_SIZE, PROT_READ | PROT_WRITE,
		 MAP_SHARED | (one_in(t, 4) ? MAP_POPULATE : 0), t->own,
		 TENSE_RING_OFFSET);
	if (is_error(p)) {
		EXPECT_ERROR(t, "map of the ring", p, ENOMEM);
		return p;
	}
	t->ring = (void *)p;
	map_shared(t);
	if (t->public)
		last_ring = t->ring;
	return p;
}

void area_begin(struct task *t)
{
	t->public = one_in(t, 3);
	if (t->own < 0 || one_in(t, 3))
		return;
	call_map_clock(t);
	call_map_ring(t);
}

/* The error that the interface specifies, or 0 if it allows the mapping. */
static long map_error(long size, long prot, long flags, long offset)
{
	bool clock = !offset;

	if (flags != MAP_SHARED)
		return -EINVAL;
	if (prot & PROT_EXEC)
		return -EACCES;
	if (clock && size != PAGE)
		return -EINVAL;
	if (clock)
		return prot & PROT_WRITE ? -EACCES : 0;
	return offset == TENSE_RING_OFFSET && size <= TENSE_RING_SIZE ? 0 : -EINVAL;
}

static long call_map_odd(struct task *t)
{
	static const long offsets[] = {
		0, 0, TENSE_RING_OFFSET, TENSE_RING_OFFSET, 2 * PAGE,
		TENSE_RING_SIZE, TENSE_RING_OFFSET + TENSE_RING_SIZE, 1LL << 40,
		INT64_MAX & -PAGE,
	};
	long size = PAGE * (1 + below(t, one_in(t, 2) ? 2 : 12));
	long prot = below(t, 8), offset = any(t, offsets);
	long flags = one_in(t, 4) ? MAP_PRIVATE : MAP_SHARED;
	bool own = t->own >= 0;
	long p = call(SYS_mmap, 0, size, prot, flags, own ? t->own : any_fd(t),
		      offset);
	long expected = map_error(size, prot, flags, offset);

	if (!is_error(p))
		call(SYS_munmap, p, size);
	if (offset == TENSE_SHARED_OFFSET && expected == -EINVAL)
		return p;
	if (own && p != -ESRCH && p != -ENOMEM && p != -EOVERFLOW &&
	    (is_error(p) ? p : 0) != expected)
		fail(t, "mmap", p, expected);
	return p;
}

/* --- what is done to mappings --- */

static long call_protect(struct task *t)
{
	int prot = below(t, 8);
	long result;

	if (!t->clock)
		return -ENOENT;
	result = call(SYS_mprotect, t->clock, PAGE, prot);
	if (prot & (PROT_WRITE | PROT_EXEC) ? result != -EACCES : result)
		fail(t, "mprotect of the clock", result, prot);
	call(SYS_mprotect, t->clock, PAGE, PROT_READ);
	if (t->ring && call(SYS_mprotect, t->ring, PAGE,
			    PROT_READ | PROT_EXEC) != -EACCES)
		fail(t, "the ring can be executed", 0, 0);
	return result;
}

static long move_ring(struct task *t)
{
	long p = call(SYS_mremap, t->ring, TENSE_RING_SIZE, TENSE_RING_SIZE,
		      MREMAP_MAYMOVE | MREMAP_DONTUNMAP);

	if (is_error(p))
		return p;
	unmap_ring(t);
	t->ring = (void *)p;
	return p;
}

static long call_remap(struct task *t)
{
	static const int advices[] = {
		MADV_DONTNEED, MADV_DOFORK, MADV_DONTFORK, MADV_WILLNEED,
		MADV_COLD, MADV_PAGEOUT, MADV_FREE, MADV_MERGEABLE, MADV_REMOVE,
		MADV_POPULATE_WRITE, MADV_HUGEPAGE,
	};
	long p;

	if (!t->ring)
		return -ENOENT;
	switch (below(t, 8)) {
	case 0:
		return move_ring(t);
	case 1:
		p = call(SYS_mremap, t->ring, TENSE_RING_SIZE,
			 TENSE_RING_SIZE + PAGE, MREMAP_MAYMOVE);
		if (!is_error(p))
			fail(t, "the ring grows", p, 0);
		return p;
	case 2:
		return call(SYS_mlock, t->ring, TENSE_RING_SIZE);
	case 3:
		unmap_ring(t);
		return 0;
	default:
		return call(SYS_madvise, t->ring, TENSE_RING_SIZE,
			    any(t, advices));
	}
}

/* In a child, whose memory is a copy: what its parent had is not there. */
void area_forget(struct task *t)
{
	unsigned char resident;

	if (t->clock && call(SYS_mincore, t->clock, PAGE, &resident) != -ENOMEM)
		fail(t, "a child has its parent's clock", 0, 0);
	t->clock = NULL;
	t->ring = NULL;
	t->latest = NULL;
}

/* --- the ring --- */

static struct tense_record any_record(struct task *t)
{
	return (struct tense_record) {
		.stamp = one_in(t, 3) ? (uint64_t)any_number(t) :
			 tsc() + any_bits(t, 20) - any_bits(t, 20),
		.percent = one_in(t, 4) ? (uint32_t)next(t) :
			   (uint32_t)any_bits(t, 27),
		.own = any_bits(t, 16),
		.slot = one_in(t, 4) ? next(t) : below(t, TENSE_SLOTS),
		.flags = one_in(t, 4) ? next(t) : below(t, 4),
	};
}

static void append(struct tense_ring *ring, struct tense_record record)
{
	uint32_t head = ring->head;

	ring->record[head % TENSE_RING_RECORDS] = record;
	__atomic_store_n(&ring->head, head + 1, __ATOMIC_RELEASE);
}

/* As libtense does, whatever the records say. */
static long call_append(struct task *t)
{
	int n = one_in(t, 100) ? below(t, 3 * TENSE_RING_RECORDS) : below(t, 20);

	if (!t->ring)
		return -ENOENT;
	while (n--)
		append(t->ring, any_record(t));
	return 0;
}

/* Returns the calls counted in all slots, or -1. */
static int64_t calls_counted(const struct task *t)
{
	struct tense_stats s;
	uint64_t sum = 0;

	if (call(SYS_read, t->own, &s, sizeof(s)) != sizeof(s))
		return -1;
	for (int i = 0; i < TENSE_SLOTS; i++)
		sum += s.slot[i].calls;
	return sum;
}

/*
 * The module counts each call, in slot 0 if the record's slot is none. Checks
 * only the thread's current ring, and only if nobody else writes to it.
 */
static long call_count(struct task *t)
{
	int n = 1 + below(t, 30);
	int64_t before, after;
	long p;

	if (t->public || t->own < 0)
		return -ENOENT;
	p = call_map_ring(t);
	if (is_error(p))
		return p;
	before = calls_counted(t);
	if (before < 0)
		return -ENOENT;
	for (int i = 0; i < n; i++) {
		struct tense_record record = any_record(t);

		record.flags |= TENSE_RECORD_CALL;
		append(t->ring, record);
	}
	after = calls_counted(t);
	if (after < before + n)
		fail(t, "calls of records", after - before, n);
	return 0;
}

/* The module gets on, with as many records as there are at most: they take long. */
static void forge_head(struct task *t)
{
	t->ring->head = one_in(t, 10) ? next(t) : t->ring->head + below(t, 64);
	if (t->own >= 0)
		call(SYS_lseek, t->own, 0, SEEK_CUR);
}

/* The module trusts a thread's claim to have seen a time for a second ahead. */
static void forge_shown(struct task *t)
{
	uint64_t far = (1ULL << 60) + any_bits(t, 61);
	int64_t now;

	if (t->own < 0 || one_in(t, 2)) {
		t->ring->shown = t->seen + any_bits(t, 31);
		return;
	}
	/* The clock may have come there, by a jump. */
	now = call(SYS_lseek, t->own, 0, SEEK_CUR);
	if (now < 0 || (uint64_t)now + S >= far)
		return;
	t->ring->shown = far;
	now = call(SYS_lseek, t->own, 0, SEEK_CUR);
	t->ring->shown = 0;
	if (now > 0 && (uint64_t)now >= far && (uint64_t)now - far < S)
		fail(t, "a time that it says it saw", now, far);
}

static void forge_all(struct task *t)
{
	for (size_t i = 0; i < TENSE_RING_SIZE / sizeof(uint64_t); i++)
		((uint64_t *)t->ring)[i] = next(t);
}

static long call_forge(struct task *t)
{
	if (!t->ring)
		return -ENOENT;
	if (one_in(t, 60))
		forge_all(t);
	else if (one_in(t, 3))
		forge_head(t);
	else if (one_in(t, 2))
		forge_shown(t);
	else
		t->ring->lowest = any_bits(t, one_in(t, 2) ? 32 : 27);
	return 0;
}

/* Into another thread's ring, which may be gone. */
static long call_forge_other(struct task *t)
{
	long memory, result;
	uint64_t text[8];

	for (size_t i = 0; i < ARRAY_LENGTH(text); i++)
		text[i] = next(t);
	memory = call(SYS_openat, AT_FDCWD, "/proc/self/mem", O_RDWR | O_CLOEXEC);
	if (memory < 0)
		return memory;
	result = call(SYS_pwrite64, memory, text, below(t, sizeof(text) + 1),
		      last_ring);
	close_fd(t, memory);
	return result;
}

/* Also of one that has left. */
static long call_look(struct task *t)
{
	volatile struct tense_clock *c = t->clock;

	if (!c)
		return -ENOENT;
	if (c->flags & ~(TENSE_CLOCK_VALID | TENSE_CLOCK_MEMBER))
		fail(t, "flags of the clock", c->flags, c->seq);
	return 0;
}

const struct operation area_operations[] = {
	{ "map of the clock", call_map_clock, 10, 0 },
	{ "map of the ring", call_map_ring, 15, 0 },
	{ "odd map", call_map_odd, 30, 0 },
	{ "protection", call_protect, 40, 0 },
	{ "remap", call_remap, 40, 0 },
	{ "records", call_append, 400, 0 },
	{ "counted records", call_count, 20, 0 },
	{ "forged ring", call_forge, 250, 0 },
	{ "another's ring", call_forge_other, 15, 0 },
	{ "look at the clock", call_look, 50, 0 },
};
const size_t area_operations_length = ARRAY_LENGTH(area_operations);
