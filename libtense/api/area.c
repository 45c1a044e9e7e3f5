// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/mman.h>
#include <unistd.h>

#include <linux/tense.h>

#include "area.h"
#include "syscalls.h"

#define RECORDS		TENSE_RING_RECORDS
#define CLOCK_SIZE	TENSE_RING_OFFSET

static _Thread_local struct {
	const struct tense_clock *clock;
	struct tense_shared *shared;	/* NULL: CPUs' readings are unordered */
	struct tense_ring *ring;	/* set last, and cleared first */
	uint32_t lowest;	/* percent, as the kernel was told */
	bool busy;		/* a signal handler may find a change half done */
} area;

/*
 * A position in the ring up to which the thread has read its clock. A signal
 * handler that also reads the clock may leave parts of two positions. Then the
 * check is wrong, and the thread walks the ring anew.
 */
struct walk {
	uint64_t from, sum;	/* counter; virtual ns times 2^32 up to there */
	uint32_t seq;		/* of the clock page that it began at */
	uint32_t percent;
	uint32_t next;		/* record */
};

static _Thread_local struct {
	struct walk walk;
	uint64_t check;
} walked;

static _Atomic bool none;	/* the kernel or the machine has no areas */
/* A byte that is 0 again in a child of fork, which does not inherit the mapping. */
static _Atomic(volatile unsigned char *) alive;
static pthread_key_t key;	/* unmaps when the thread ends */

/* For the fields that the kernel or another thread may change. */
#define load(p)		__atomic_load_n(p, __ATOMIC_RELAXED)
#define acquire(p)	__atomic_load_n(p, __ATOMIC_ACQUIRE)
#define store(p, v)	__atomic_store_n(p, v, __ATOMIC_RELAXED)

bool tense_area_usable(void)
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

bool tense_ring_push(const struct tense_change *change)
{
	bool done;

	if (!tense_area_usable() || area.busy || change->percent < area.lowest)
		return false;
	area.busy = true;
	atomic_signal_fence(memory_order_seq_cst);
	done = append(change);
	atomic_signal_fence(memory_order_seq_cst);
	area.busy = false;
	return done;
}

/* Virtual ns times 2^32 that pass in so many ticks. */
static uint64_t scaled(uint64_t ticks, uint64_t rate, uint32_t percent)
{
	return ticks * rate / percent * 100 * TENSE_FINE;
}

static uint64_t check_of(const struct walk *w)
{
	uint64_t check = w->seq;

	check = (check ^ w->from) * 0x9e3779b97f4a7c15;
	check = (check ^ w->sum ^ check >> 32) * 0xbf58476d1ce4e5b9;
	check ^= (uint64_t)w->percent << 32 | w->next;
	return (check ^ check >> 32) * 0x94d049bb133111eb;
}

/* Begins the walk at the last position, or at the first record after the page. */
static struct walk begin(const struct tense_clock *c)
{
	struct walk w = {
		.from = load(&walked.walk.from),
		.sum = load(&walked.walk.sum),
		.seq = load(&walked.walk.seq),
		.percent = load(&walked.walk.percent),
		.next = load(&walked.walk.next),
	};

	if (w.seq == c->seq && load(&walked.check) == check_of(&w))
		return w;
	return (struct walk) {
		.from = c->counter,
		.seq = c->seq,
		.percent = c->percent,
		.next = c->tail,
	};
}

static void remember(const struct walk *w)
{
	store(&walked.walk.from, w->from);
	store(&walked.walk.sum, w->sum);
	store(&walked.walk.seq, w->seq);
	store(&walked.walk.percent, w->percent);
	store(&walked.walk.next, w->next);
	store(&walked.check, check_of(w));
}

/* Charges the time up to the next record, as the kernel will. */
static void step(struct walk *w, uint64_t rate)
{
	const struct tense_record *r = &area.ring->record[w->next++ % RECORDS];
	uint64_t to = load(&r->stamp), own = load(&r->own), ticks;

	if (to > w->from) {
		ticks = to - w->from;
		ticks -= own < ticks ? own : ticks;
		w->sum += scaled(ticks, rate, w->percent);
		w->from = to;
	}
	w->percent = load(&r->percent);
}

static bool copy_clock(struct tense_clock *to, unsigned int origin)
{
	const struct tense_clock *c = area.clock;
	uint32_t seq = acquire(&c->seq);

	to->seq = seq;
	/* Load each field before the next, and all before loading seq again. */
	to->flags = acquire(&c->flags);
	to->counter = acquire(&c->counter);
	to->ns = acquire(&c->ns);
	to->floor = acquire(&c->floor);
	to->ahead = acquire(&c->ahead);
	to->limit = acquire(&c->limit);
	to->credit = acquire(&c->credit);
	to->rate = acquire(&c->rate);
	to->stale = acquire(&c->stale);
	to->percent = acquire(&c->percent);
	to->tail = acquire(&c->tail);
	to->clocks = acquire(&c->clocks);
	to->origin[origin] = acquire(&c->origin[origin]);
	return !(seq & 1) && load(&c->seq) == seq;
}

/* Raises *time to ns, unless it is later already. Returns the later time. */
static uint64_t raise(__u64 *time, uint64_t ns)
{
	__u64 found = load(time);

	while (found < ns) {
		if (__atomic_compare_exchange_n(time, &found, ns, false,
						__ATOMIC_RELEASE,
						__ATOMIC_RELAXED))
			return ns;
	}
	return found;
}

/*
 * R9: returns a time no earlier than any earlier reading of the thread and its
 * signal handlers or, in an ordered experiment, of any thread. Publishes that time
 * to all of them. Returns -EAGAIN if another thread claims a time beyond the
 * limit, which only the kernel can check.
 */
static int64_t show(const struct tense_clock *c, uint64_t ns)
{
	uint64_t shown = load(&area.ring->shown), latest = 0;

	if (c->limit) {
		if (!area.shared)
			return -EAGAIN;
		latest = acquire(&area.shared->latest);
		if (latest > c->limit)
			return -EAGAIN;
	}
	ns = ns > c->floor ? ns : c->floor;
	ns = ns > shown ? ns : shown;
	ns = ns > latest ? ns : latest;
	/* A signal handler may interrupt this and read a later time. */
	ns = raise(&area.ring->shown, ns);
	if (c->limit)
		raise(&area.shared->latest, ns);
	return ns;
}

/* Returns the virtual time by the copied page, or -EAGAIN. */
static int64_t now_by(const struct tense_clock *c)
{
	struct walk w = begin(c);
	uint64_t now, ns;

	do {
		while (w.next != load(&area.ring->head))
			step(&w, c->rate);
		/* No record is later than now. */
		now = tense_area_counter();
	} while (w.next != load(&area.ring->head));
	/* Meanwhile the kernel may have changed the page and taken the records. */
	if (acquire(&area.clock->seq) != c->seq || now < w.from ||
	    now - c->counter > c->stale)
		return -EAGAIN;
	remember(&w);
	ns = (w.sum + scaled(now - w.from, c->rate, w.percent)) >> 32;
	ns -= c->credit < ns ? c->credit : ns;
	if (ns > c->ahead)
		return -EAGAIN;
	return show(c, c->ns + ns);
}

/* Returns false if the page does not tell the time: ask the kernel. */
static bool read_page(struct tense_clock *c, unsigned int origin)
{
	return tense_area_usable() && copy_clock(c, origin) &&
	       c->flags & TENSE_CLOCK_VALID && c->percent;
}

int64_t tense_page_clock(unsigned int origin)
{
	struct tense_clock c;
	int64_t now;

	if (!read_page(&c, origin))
		return -EAGAIN;
	if (!(c.clocks & 1U << origin))
		return -ENODATA;
	now = now_by(&c);
	return now < 0 ? now : c.origin[origin] + now;
}

int64_t tense_page_clock_at(unsigned int origin, int64_t now)
{
	struct tense_clock c;

	if (!tense_area_usable() || !copy_clock(&c, origin))
		return -EAGAIN;
	return c.clocks & 1U << origin ? c.origin[origin] + now : -ENODATA;
}

int64_t tense_page_now(void)
{
	struct tense_clock c;

	return read_page(&c, TENSE_ORIGIN_MONOTONIC) ? now_by(&c) : -EAGAIN;
}

uint64_t tense_ring_stamp(unsigned int back)
{
	uint32_t last;

	if (!area.ring || !*alive)
		return 0;
	last = load(&area.ring->head) - 1 - back;
	return load(&area.ring->record[last % RECORDS].stamp);
}

uint64_t tense_page_rate(void)
{
	return area.ring && *alive ? load(&area.clock->rate) : 0;
}

int64_t tense_page_shown(void)
{
	return area.ring && *alive ? load(&area.ring->shown) : 0;
}

/*
 * ring last, and cleared first: a signal handler uses the rest only if it finds a
 * ring.
 */
static void set(const struct tense_clock *clock, struct tense_ring *ring,
		struct tense_shared *shared)
{
	area.ring = NULL;
	atomic_signal_fence(memory_order_seq_cst);
	area.clock = clock;
	area.shared = shared;
	area.lowest = UINT32_MAX;
	atomic_signal_fence(memory_order_seq_cst);
	area.ring = ring;
}

static void unmap(void *unused)
{
	const struct tense_clock *clock = area.clock;
	struct tense_shared *shared = area.shared;
	struct tense_ring *ring = area.ring;

	(void)unused;
	/* A child of fork has something else there. */
	if (!ring || !*alive)
		return;
	set(NULL, NULL, NULL);
	tense_device_ops->unmap((void *)clock, CLOCK_SIZE);
	tense_device_ops->unmap(ring, TENSE_RING_SIZE);
	if (shared)
		tense_device_ops->unmap(shared, TENSE_SHARED_SIZE);
}

__attribute__((constructor(101))) static void area_init(void)
{
	pthread_key_create(&key, unmap);
}

/* A child of fork finds out that its area belongs to the parent, and forgets it. */
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
		set(NULL, NULL, NULL);
		*page = 1;
	}
	return true;
}

static bool map_rest(int fd, const struct tense_clock *clock)
{
	void *ring, *shared = NULL;

	/* A page of another version has a different layout. */
	if (clock->version != TENSE_CLOCK_VERSION) {
		none = true;
		return false;
	}
	if (tense_device_ops->map(fd, TENSE_RING_OFFSET, TENSE_RING_SIZE,
				  PROT_READ | PROT_WRITE, &ring))
		return false;
	if (load(&clock->limit) &&
	    tense_device_ops->map(fd, TENSE_SHARED_OFFSET, TENSE_SHARED_SIZE,
				  PROT_READ | PROT_WRITE, &shared)) {
		tense_device_ops->unmap(ring, TENSE_RING_SIZE);
		return false;
	}
	set(clock, ring, shared);
	return true;
}

static bool map(int fd)
{
	void *clock;
	int err;

	err = tense_device_ops->map(fd, 0, CLOCK_SIZE, PROT_READ, &clock);
	/* A module older than areas has no mmap. */
	if (err == -EOPNOTSUPP || err == -ENODEV)
		none = true;
	if (err)
		return false;
	if (!map_rest(fd, clock)) {
		tense_device_ops->unmap(clock, CLOCK_SIZE);
		return false;
	}
	pthread_setspecific(key, &area);
	return true;
}

static bool prepare(int fd, const struct tense_change *change)
{
	if (!tense_area_usable()) {
		unmap(NULL);
		if (!map(fd))
			return false;
	}
	if (change && change->percent < area.lowest) {
		const uint32_t real = TENSE_PERCENT_REAL * TENSE_FINE;

		area.lowest = change->percent < real ? change->percent : real;
		store(&area.ring->lowest, area.lowest);
	}
	/* The call makes room, and tells the kernel the lowest percent. */
	return tense_device_ops->lseek(fd, 0, SEEK_CUR) >= 0;
}

bool tense_area_prepare(int fd, const struct tense_change *change)
{
	bool done;

	if (none || !notice_fork() || area.busy)
		return false;
	area.busy = true;
	atomic_signal_fence(memory_order_seq_cst);
	done = prepare(fd, change);
	atomic_signal_fence(memory_order_seq_cst);
	area.busy = false;
	return done;
}
