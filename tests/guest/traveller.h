/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A traveller is a process that goes from CPU to CPU, or is sent, and that
 * compares all that tells it the time and what it was charged.
 */
#ifndef TENSE_TRAVELLER_H
#define TENSE_TRAVELLER_H

#include "smp.h"

/* --- what a thread sees of time, in every way there is --- */

struct view {
	const volatile struct tense_clock *page;
	volatile struct tense_ring *ring;
	struct tense_shared *shared;
	int fd;
	int64_t last, lvt, gvt;	/* virtual */
	int64_t back, gvt_back;	/* worst that they fell by */
	unsigned int turn;
	int cpu;
	unsigned int moves;
};

static inline void view_open(struct view *v, int fd)
{
	v->fd = fd;
	v->page = page_map(fd);
	v->ring = mmap(NULL, TENSE_RING_SIZE, PROT_READ | PROT_WRITE,
		       MAP_SHARED, fd, TENSE_RING_OFFSET);
	v->shared = mmap(NULL, TENSE_SHARED_SIZE, PROT_READ | PROT_WRITE,
			 MAP_SHARED, fd, TENSE_SHARED_OFFSET);
	v->cpu = sched_getcpu();
}

static inline uint64_t latest_of(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* As <uapi/linux/tense.h> requires: no less than any earlier reading. */
static inline int64_t view_page(const struct view *v)
{
	uint64_t now = page_read(v->page, v->fd).now;
	uint64_t latest = __atomic_load_n(&v->shared->latest, __ATOMIC_ACQUIRE);

	now = latest_of(latest_of(now, v->page->floor), v->ring->shown);
	if (latest > v->page->limit)
		return dev_now(v->fd);
	now = latest_of(now, latest);
	v->ring->shown = now;
	while (latest < now &&
	       !__atomic_compare_exchange_n(&v->shared->latest, &latest, now,
					    false, __ATOMIC_SEQ_CST,
					    __ATOMIC_SEQ_CST))
		;
	return now;
}

static inline void view_fall(int64_t *back, int64_t *last, int64_t now)
{
	*back = *last - now > *back ? *last - now : *back;
	*last = now;
}

/* The charged time, which no reading is behind. */
static inline int64_t view_stats(struct view *v)
{
	struct tense_stats s = dev_stats(v->fd);

	view_fall(&v->gvt_back, &v->gvt, s.gvt);
	view_fall(&v->back, &v->lvt, s.lvt);
	return latest_of(s.lvt, dev_now(v->fd));
}

static inline int64_t view_clock(const struct view *v)
{
	return kernel_ns(CLOCK_MONOTONIC) -
	       v->page->origin[TENSE_ORIGIN_MONOTONIC];
}

static inline void view_look(struct view *v)
{
	int cpu = sched_getcpu();
	int64_t now;

	switch (v->turn++ % 8) {
	case 1:
		now = dev_now(v->fd);
		break;
	case 3:
		now = view_stats(v);
		break;
	case 5:
		now = view_clock(v);
		break;
	default:
		now = view_page(v);
	}
	view_fall(&v->back, &v->last, now);
	v->moves += cpu != v->cpu;
	v->cpu = cpu;
}

/* --- what a thread was charged --- */

struct bill {
	int64_t charged, ran, call;
	int64_t before, after;	/* its CPU clock, which is to show the same */
};

/* burn() uses up the refunds of earlier calls, but not of this one. */
static inline struct bill bill_of(int fd)
{
	struct bill b;
	struct report r;

	burn(MS);
	b.before = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	r = report_read(fd);
	b.after = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	b.charged = report_of(&r, gettid())->charged;
	b.ran = report_of(&r, gettid())->ran;
	b.call = r.s.call;
	return b;
}

static inline bool clock_agrees(const struct bill *from, const struct bill *to)
{
	int64_t charged = to->charged - from->charged;

	return charged >= to->before - from->after &&
	       charged <= to->after - from->before;
}

/* R1, each of the times being rounded. */
static inline bool is_scaled(const struct bill *from, const struct bill *to,
			     int percent)
{
	int64_t off = (to->charged - from->charged) * percent -
		      (to->ran - from->ran) * 100;

	return llabs(off) <= 100 * (from->call + to->call) + percent + 100;
}

/* --- travellers: processes that run, look at the time and go about --- */

#define TRAVELLERS_MAX 36

struct traveller {
	struct view view;
	struct bill begun, ended;
	pid_t pid;
	volatile unsigned int rounds;
	unsigned int seed;
	int percent;
};

struct trip {
	int n;
	volatile int over;
	struct traveller traveller[TRAVELLERS_MAX];
};

typedef void step_fn(struct traveller *t);

static inline void travel(struct trip *trip, struct traveller *t, int fd,
			  step_fn *step)
{
	char text[16];

	snprintf(text, sizeof(text), "%d", t->percent);
	dev_percent(fd, text);
	view_open(&t->view, fd);
	t->begun = bill_of(fd);
	while (!trip->over) {
		for (int i = 0; i < 8; i++) {
			for (volatile int k = 0; k < 2000; k++)
				;
			view_look(&t->view);
		}
		if (step)
			step(t);
		t->rounds++;
	}
	t->ended = bill_of(fd);
	_exit(0);
}

static inline struct trip *trip_start(int n, int fd, step_fn *step)
{
	static const int percent[] = { 100, 300, 50, 100, 170 };
	struct trip *trip = shared(sizeof(*trip));
	pid_t pid;

	trip->n = n < TRAVELLERS_MAX ? n : TRAVELLERS_MAX;
	for (int i = 0; i < trip->n; i++) {
		struct traveller *t = &trip->traveller[i];

		t->seed = i + 1;
		t->percent = percent[i % ARRAY_LENGTH(percent)];
		pid = fork_child();
		if (!pid)
			travel(trip, t, fd, step);
		t->pid = pid;
	}
	return trip;
}

static inline unsigned int trip_moves(const struct trip *trip)
{
	unsigned int moves = 0;

	for (int i = 0; i < trip->n; i++)
		moves += trip->traveller[i].view.moves;
	return moves;
}

/* Until each of them has got on by so many rounds. */
static inline void trip_await(const struct trip *trip, unsigned int rounds)
{
	unsigned int goal[TRAVELLERS_MAX];

	for (int i = 0; i < trip->n; i++)
		goal[i] = trip->traveller[i].rounds + rounds;
	for (int i = 0; i < trip->n; i++)
		while (trip->traveller[i].rounds < goal[i])
			usleep(1000);
}

/* Returns how many of them did not end well. */
static inline int trip_end(struct trip *trip)
{
	int status, failed = 0;

	trip->over = 1;
	for (int i = 0; i < trip->n; i++)
		failed += waitpid(trip->traveller[i].pid, &status, 0) < 0 ||
			  status;
	return failed;
}

#endif
