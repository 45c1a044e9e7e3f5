// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <linux/tense.h>

#include "area.h"
#include "syscalls.h"
#include "self.h"

#define RECORDS		TENSE_RING_RECORDS
#define CLOCK_SIZE	TENSE_RING_OFFSET

static struct tense_line no_line;

_Thread_local struct tense_self __tense_self = {
	.line = &no_line,
	.span = { .scale = TENSE_SPAN_ONE },
};

static _Thread_local bool ended;	/* the thread has released its area */

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

#define load(p)		tense_load(p)
#define acquire(p)	__atomic_load_n(p, __ATOMIC_ACQUIRE)
#define store(p, v)	tense_store(p, v)

static struct tense_line *own_line(void)
{
	return __tense_self.line;
}

bool tense_area_usable(void)
{
	const struct tense_line *line = own_line();

	return line->known && load(&line->clock->flags) & TENSE_CLOCK_MEMBER;
}

/* Whether the caller interrupted a change or the set-up of the area. */
static bool is_busy(const struct tense_line *line)
{
	return __tense_self.preparing || (line->known && !line->admitted);
}

/* Counts the records that still fit. */
static void find_room(struct tense_line *line)
{
	uint32_t used;

	tense_begin_change(line);
	used = load(&line->ring->head) - load(&line->clock->tail);
	if (used < RECORDS)
		line->room = RECORDS - used + 1;
	tense_barrier();
	line->admitted = line->known;
}

bool tense_ring_push(const struct tense_change *c)
{
	struct tense_line *line = own_line();

	if (line->room == 1 && line->admitted)
		find_room(line);
	return tense_push(line, c->percent, TENSE_REST_OWN(c->own) |
			  TENSE_REST_SLOT(c->slot) | TENSE_REST_FLAGS(c->flags));
}

uint32_t tense_area_head(void)
{
	return tense_area_usable() ? tense_load(&own_line()->ring->head) : 0;
}

bool tense_area_took(uint32_t head)
{
	return !tense_area_usable() ||
	       (int32_t)(tense_load(&own_line()->clock->tail) - head) >= 0;
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
static void step(struct walk *w, const struct tense_ring *ring, uint64_t rate)
{
	const struct tense_record *r = &ring->record[w->next++ % RECORDS];
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
	const struct tense_clock *c = own_line()->clock;
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
	const struct tense_line *line = own_line();
	uint64_t shown = load(&line->ring->shown), latest = 0;

	if (c->limit) {
		if (!line->shared)
			return -EAGAIN;
		latest = acquire(&line->shared->latest);
		if (latest > c->limit)
			return -EAGAIN;
	}
	ns = ns > c->floor ? ns : c->floor;
	ns = ns > shown ? ns : shown;
	ns = ns > latest ? ns : latest;
	/* A signal handler may interrupt this and read a later time. */
	ns = raise(&line->ring->shown, ns);
	if (c->limit)
		raise(&line->shared->latest, ns);
	return ns;
}

/* Returns the virtual time by the copied page, or -EAGAIN. */
static int64_t now_by(const struct tense_clock *c)
{
	const struct tense_line *line = own_line();
	const struct tense_ring *ring = line->ring;
	struct walk w = begin(c);
	uint64_t now, ns;

	do {
		while (w.next != load(&ring->head))
			step(&w, ring, c->rate);
		/* No record is later than now. */
		now = tense_area_counter();
	} while (w.next != load(&ring->head));
	/* Meanwhile the kernel may have changed the page and taken the records. */
	if (acquire(&line->clock->seq) != c->seq || now < w.from ||
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
	const struct tense_line *line = own_line();
	uint32_t last;

	if (!line->known)
		return 0;
	last = load(&line->ring->head) - 1 - back;
	return load(&line->ring->record[last % RECORDS].stamp);
}

uint64_t tense_page_rate(void)
{
	const struct tense_line *line = own_line();

	return line->known ? load(&line->clock->rate) : 0;
}

int64_t tense_page_shown(void)
{
	const struct tense_line *line = own_line();

	return line->known ? load(&line->ring->shown) : 0;
}

/* A module older than own work refuses the text, and charges the work. */
void tense_own_work_begin(int fd)
{
	tense_device_ops->write(fd, "own", strlen("own"));
}

bool tense_own_work_end(int fd)
{
	return tense_device_ops->lseek(fd, 0, SEEK_CUR) >= 0;
}

void tense_area_drop(void)
{
	struct tense_line *line = own_line(), area = *line;

	if (!area.known)
		return;
	/* First, because a signal handler looks at it before the rest. */
	line->admitted = 0;
	line->known = 0;
	tense_barrier();
	tense_device_ops->unmap((void *)area.clock, CLOCK_SIZE);
	tense_device_ops->unmap(area.ring, TENSE_RING_SIZE);
	if (area.shared)
		tense_device_ops->unmap(area.shared, TENSE_SHARED_SIZE);
}

bool tense_area_exists(void)
{
	return own_line() != &no_line;
}

void tense_area_end(void)
{
	struct tense_line *line = own_line();

	/* The thread has no later chance to unmap another area. */
	ended = true;
	if (!tense_area_exists())
		return;
	tense_area_drop();
	__tense_self.line = &no_line;
	tense_barrier();
	munmap(line, sizeof(*line));
}

static bool make_line(void)
{
	struct tense_line *line;

	if (tense_area_exists())
		return true;
	line = mmap(NULL, sizeof(*line), PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (line == MAP_FAILED)
		return false;
	if (madvise(line, sizeof(*line), MADV_WIPEONFORK)) {
		munmap(line, sizeof(*line));
		return false;
	}
	__tense_self.line = line;
	return true;
}

/* Takes the page faults of a new area now, while the thread is not charged (R13). */
static void touch(struct tense_ring *ring, struct tense_shared *shared)
{
	store(&ring->record[load(&ring->head) % RECORDS].stamp, 0);
	store(&ring->lowest, load(&ring->lowest));
	if (shared)
		__atomic_fetch_or(&shared->latest, 0, __ATOMIC_RELAXED);
}

/* Sets known last: a signal handler uses the rest only if it is not 0. */
static void set(const struct tense_clock *clock, struct tense_ring *ring,
		struct tense_shared *shared)
{
	struct tense_line *line = own_line();

	line->clock = clock;
	line->ring = ring;
	line->shared = shared;
	line->room = 1;
	/* Forgets the walk of the old ring: a complete page has no odd number. */
	store(&walked.walk.seq, 1);
	tense_barrier();
	line->known = -UINT32_MAX;	/* admits none */
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
	touch(ring, shared);
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
	return true;
}

/* The kernel learns the lowest percent by the next call. */
static void lower(const struct tense_change *change)
{
	const uint32_t real = TENSE_PERCENT_REAL * TENSE_FINE;
	struct tense_line *line = own_line();
	uint32_t lowest, sum;

	/* A signal handler may have forked: the child has no area. */
	if (!line->known ||
	    __builtin_add_overflow(change->percent, line->known, &sum))
		return;
	lowest = change->percent < real ? change->percent : real;
	store(&line->ring->lowest, lowest);
	line->known = -lowest;
}

static bool prepare(int fd, bool ours, const struct tense_change *change)
{
	bool usable = tense_area_usable();

	if (!usable && !ours)
		return false;
	if (!usable) {
		tense_own_work_begin(fd);
		tense_area_drop();
		usable = make_line() && map(fd);
	}
	if (usable && change)
		lower(change);
	/* The call makes room, and ends own work. */
	return tense_own_work_end(fd) && usable;
}

bool tense_area_prepare(int fd, bool ours, const struct tense_change *change)
{
	bool done;

	if (none || ended || is_busy(own_line()))
		return false;
	/* A signal handler may find the area half mapped. */
	__tense_self.preparing = (uintptr_t)__builtin_frame_address(0);
	tense_barrier();
	if (own_line()->known)
		own_line()->admitted = 0;
	tense_barrier();
	done = prepare(fd, ours, change);
	tense_barrier();
	if (own_line()->known)
		own_line()->admitted = own_line()->known;
	tense_barrier();
	__tense_self.preparing = 0;
	return done;
}
