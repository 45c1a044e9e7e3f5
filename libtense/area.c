// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/mman.h>
#include <unistd.h>

#include "area.h"
#include "device.h"

#define RECORDS		TENSE_RING_RECORDS
#define CLOCK_SIZE	TENSE_RING_OFFSET

static _Thread_local struct {
	const struct tense_clock *clock;
	struct tense_ring *ring;
	uint32_t lowest;	/* percent, as the kernel was told */
	bool busy;		/* a signal handler may find a push half done */
} area;

static _Atomic bool none;	/* this kernel or machine has no areas */
/* A byte that is 0 again in a child of fork, which has no mapping of ours. */
static _Atomic(volatile unsigned char *) alive;
static pthread_key_t key;	/* unmaps when the thread ends */

/* The fields that the kernel changes, or that others could. */
#define load(p)		__atomic_load_n(p, __ATOMIC_RELAXED)
#define acquire(p)	__atomic_load_n(p, __ATOMIC_ACQUIRE)
#define store(p, v)	__atomic_store_n(p, v, __ATOMIC_RELAXED)

static bool usable(void)
{
	return area.ring && *alive &&
	       load(&area.clock->flags) & TENSE_CLOCK_MEMBER;
}

static bool append(const struct tense_change *c)
{
	struct tense_ring *ring = area.ring;
	uint32_t head = load(&ring->head);
	struct tense_record *r = &ring->record[head % RECORDS];

	if (head - load(&area.clock->tail) >= RECORDS)
		return false;
	store(&r->percent, c->percent);
	store(&r->own, c->own);
	store(&r->slot, c->slot);
	store(&r->flags, c->flags);
	store(&r->stamp, tense_area_counter());
	__atomic_store_n(&ring->head, head + 1, __ATOMIC_RELEASE);
	return true;
}

bool tense_area_push(const struct tense_change *change)
{
	bool done;

	if (!usable() || area.busy || change->percent < area.lowest)
		return false;
	area.busy = true;
	atomic_signal_fence(memory_order_seq_cst);
	done = append(change);
	atomic_signal_fence(memory_order_seq_cst);
	area.busy = false;
	return done;
}

/* Virtual ns times 2^32, of so many ticks. */
static uint64_t scaled(uint64_t ticks, uint64_t rate, uint32_t percent)
{
	return ticks * rate / percent * 100 * TENSE_FINE;
}

/* From the page's time to the counter's value now, as the kernel will charge. */
static uint64_t since(const struct tense_clock *c, uint64_t now)
{
	const struct tense_ring *ring = area.ring;
	uint64_t from = c->counter, sum = 0;
	uint32_t percent = c->percent, head = load(&ring->head), i;

	for (i = c->tail; i != head; i++) {
		const struct tense_record *r = &ring->record[i % RECORDS];
		uint64_t to = load(&r->stamp), ticks, own = load(&r->own);

		if (to > now)
			to = now;
		if (to > from) {
			ticks = to - from;
			ticks -= own < ticks ? own : ticks;
			sum += scaled(ticks, c->rate, percent);
			from = to;
		}
		percent = load(&r->percent);
	}
	if (now > from)
		sum += scaled(now - from, c->rate, percent);
	return sum >> 32;
}

static bool copy_clock(struct tense_clock *to)
{
	const struct tense_clock *c = area.clock;
	uint32_t seq = acquire(&c->seq);

	/* Each load before those that follow, and all before the last of seq. */
	to->flags = acquire(&c->flags);
	to->counter = acquire(&c->counter);
	to->ns = acquire(&c->ns);
	to->credit = acquire(&c->credit);
	to->rate = acquire(&c->rate);
	to->stale = acquire(&c->stale);
	to->percent = acquire(&c->percent);
	to->tail = acquire(&c->tail);
	return !(seq & 1) && load(&c->seq) == seq;
}

int64_t tense_area_now(void)
{
	struct tense_clock c;
	uint64_t now, ns;

	if (!usable() || !copy_clock(&c))
		return -EAGAIN;
	now = tense_area_counter();
	if (!(c.flags & TENSE_CLOCK_VALID) || !c.percent ||
	    now < c.counter || now - c.counter > c.stale)
		return -EAGAIN;
	ns = since(&c, now);
	/* The page may be another one by now, and the records taken. */
	if (load(&area.clock->tail) != c.tail ||
	    load(&area.clock->counter) != c.counter)
		return -EAGAIN;
	ns -= c.credit < ns ? c.credit : ns;
	return c.ns + ns;
}

static void unmap(void *unused)
{
	(void)unused;
	if (!area.ring)
		return;
	tense_device_ops->unmap((void *)area.clock, CLOCK_SIZE);
	tense_device_ops->unmap(area.ring, TENSE_RING_SIZE);
	area.ring = NULL;
	area.clock = NULL;
}

__attribute__((constructor(101))) static void area_init(void)
{
	pthread_key_create(&key, unmap);
}

/* What is mapped belongs to the thread that the parent was before a fork. */
static bool notice_fork(void)
{
	volatile unsigned char *page = alive, *other = NULL;

	if (!page) {
		page = mmap(NULL, 1, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (page == MAP_FAILED)
			return false;
		if (madvise((void *)page, 1, MADV_WIPEONFORK)) {
			munmap((void *)page, 1);
			return false;
		}
		*page = 1;
		if (!atomic_compare_exchange_strong(&alive, &other, page)) {
			munmap((void *)page, 1);
			page = other;
		}
	}
	if (!*page) {
		area.ring = NULL;
		area.clock = NULL;
		area.busy = false;
		*page = 1;
	}
	return true;
}

static bool map(int fd)
{
	void *clock, *ring;

	clock = tense_device_ops->map(fd, 0, CLOCK_SIZE, PROT_READ);
	if (clock == MAP_FAILED) {
		none = true;
		return false;
	}
	ring = tense_device_ops->map(fd, TENSE_RING_OFFSET, TENSE_RING_SIZE,
				     PROT_READ | PROT_WRITE);
	if (ring == MAP_FAILED) {
		tense_device_ops->unmap(clock, CLOCK_SIZE);
		return false;
	}
	area.clock = clock;
	area.ring = ring;
	area.lowest = UINT32_MAX;
	pthread_setspecific(key, &area);
	return true;
}

bool tense_area_prepare(int fd, const struct tense_change *change)
{
	if (none || !notice_fork() || area.busy)
		return false;
	if (!usable()) {
		unmap(NULL);
		if (!map(fd))
			return false;
	}
	if (change && change->percent < area.lowest) {
		const uint32_t real = TENSE_PERCENT_REAL * TENSE_FINE;

		area.lowest = change->percent < real ? change->percent : real;
		store(&area.ring->lowest, area.lowest);
	}
	/* Makes room, and the kernel look at the lowest. */
	return tense_device_ops->lseek(fd, 0, SEEK_CUR) >= 0;
}
