// SPDX-License-Identifier: GPL-2.0
/* A thread's area of /dev/tense, with right and wrong use, by the bare ABI. */
#include "guest.h"

#include <pthread.h>
#include <sched.h>

#include "harness.h"

#define FINE(percent) ((percent) * TENSE_FINE)

struct area {
	const struct tense_clock *clock;
	struct tense_ring *ring;
};

static void *map(int fd, off_t offset, size_t size, int protection)
{
	void *p = mmap(NULL, size, protection, MAP_SHARED, fd, offset);

	return p == MAP_FAILED ? NULL : p;
}

static bool map_area(struct area *a, int fd)
{
	a->clock = map(fd, 0, TENSE_RING_OFFSET, PROT_READ);
	a->ring = map(fd, TENSE_RING_OFFSET, TENSE_RING_SIZE,
		      PROT_READ | PROT_WRITE);
	return a->clock && a->ring;
}

static void unmap_area(struct area *a)
{
	munmap((void *)a->clock, TENSE_RING_OFFSET);
	munmap(a->ring, TENSE_RING_SIZE);
}

static void push_at(struct area *a, uint64_t stamp, uint32_t fine, int slot,
		    int flags)
{
	uint32_t head = a->ring->head;

	a->ring->record[head % TENSE_RING_RECORDS] = (struct tense_record) {
		.stamp = stamp, .percent = fine, .slot = slot, .flags = flags,
	};
	__atomic_store_n(&a->ring->head, head + 1, __ATOMIC_RELEASE);
}

static void push(struct area *a, uint32_t percent, int slot)
{
	push_at(a, tsc(), FINE(percent), slot, TENSE_RECORD_CALL);
}

/* The sums over all slots equal the totals. */
static bool slots_add_up(const struct tense_stats *s)
{
	uint64_t ran = 0, charged = 0;

	for (int i = 0; i < TENSE_SLOTS; i++) {
		ran += s->slot[i].ran;
		charged += s->slot[i].charged;
	}
	return ran == s->ran && charged == s->charged;
}

/* Each stay in a slot is rounded once. */
static bool is_scaled(const struct tense_slot *slot, uint64_t fine,
		      uint64_t stays)
{
	__int128 want = (__int128)slot->ran * FINE(100) / fine;
	__int128 off = (__int128)slot->charged - want;

	return off <= (__int128)stays + 1 && -off <= (__int128)stays + 1;
}

FIXTURE(area)
{
	int fd;
	struct area a;
};

FIXTURE_SETUP(area)
{
	self->fd = dev_open();
	ASSERT_GE(self->fd, 0) TH_LOG("open: %s", strerror(errno));
	/* Let the module learn the cost of calls now, not later. */
	for (int i = 0; i < 50; i++)
		dev_now(self->fd);
	ASSERT_TRUE(map_area(&self->a, self->fd))
		TH_LOG("mmap: %s", strerror(errno));
	/* Nothing given back is left as credit. */
	burn(2 * MS);
}

FIXTURE_TEARDOWN(area)
{
	close(self->fd);
}

TEST_F(area, mmap_refuses)
{
	static const struct {
		off_t offset;
		size_t size;
		int protection, flags, error;
	} bad[] = {
		{ 0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, EACCES },
		{ 0, 4096, PROT_WRITE, MAP_SHARED, EACCES },
		{ 0, 4096, PROT_READ | PROT_EXEC, MAP_SHARED, EACCES },
		{ 4096, TENSE_RING_SIZE, PROT_READ | PROT_EXEC, MAP_SHARED,
		  EACCES },
		{ 0, 4096, PROT_READ, MAP_PRIVATE, EINVAL },
		{ 4096, TENSE_RING_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE,
		  EINVAL },
		{ 0, 8192, PROT_READ, MAP_SHARED, EINVAL },
		{ 0, 4096 + TENSE_RING_SIZE, PROT_READ, MAP_SHARED, EINVAL },
		{ 8192, 4096, PROT_READ, MAP_SHARED, EINVAL },
		{ 4096, TENSE_RING_SIZE + 4096, PROT_READ, MAP_SHARED, EINVAL },
		{ 1LL << 40, 4096, PROT_READ, MAP_SHARED, EINVAL },
		{ 4096, 0, PROT_READ, MAP_SHARED, EINVAL },
	};

	for (size_t i = 0; i < ARRAY_LENGTH(bad); i++) {
		errno = 0;
		EXPECT_EQ(mmap(NULL, bad[i].size, bad[i].protection,
			       bad[i].flags, self->fd, bad[i].offset),
			  MAP_FAILED);
		EXPECT_EQ(errno, bad[i].error)
			TH_LOG("case %zu: %s", i, strerror(errno));
	}
	EXPECT_EQ(dev_stats(self->fd).tasks, 1);
}

TEST_F(area, mmap_accepts)
{
	struct tense_ring *part = map(self->fd, TENSE_RING_OFFSET, 4096,
				      PROT_READ | PROT_WRITE);
	const struct tense_ring *read_only = map(self->fd, TENSE_RING_OFFSET,
						 TENSE_RING_SIZE, PROT_READ);
	struct area again;

	ASSERT_NE(part, NULL);
	ASSERT_NE(read_only, NULL);
	ASSERT_TRUE(map_area(&again, self->fd));
	/* All of them are the same pages. */
	push(&again, 250, 1);
	EXPECT_EQ(part->head, 1);
	EXPECT_EQ(read_only->head, 1);
	EXPECT_EQ(dev_stats(self->fd).percent, 250);
	EXPECT_EQ(self->a.clock->tail, 1);
	EXPECT_EQ(again.clock->tail, 1);
}

TEST_F(area, clock_page_is_read_only)
{
	void *clock = (void *)self->a.clock;
	int fd, pipes[2];

	EXPECT_EQ(mprotect(clock, 4096, PROT_READ | PROT_WRITE), -1);
	EXPECT_EQ(errno, EACCES);
	EXPECT_EQ(mprotect(clock, 4096, PROT_READ | PROT_EXEC), -1);
	EXPECT_EQ(errno, EACCES);
	EXPECT_EQ(mprotect(self->a.ring, TENSE_RING_SIZE,
			   PROT_READ | PROT_EXEC), -1);
	EXPECT_EQ(errno, EACCES);
	EXPECT_EQ(mremap(clock, 4096, 8192, MREMAP_MAYMOVE), MAP_FAILED);
	EXPECT_EQ(errno, EFAULT);
	ASSERT_EQ(pipe(pipes), 0);
	ASSERT_EQ(write(pipes[1], "12345678", 8), 8);
	EXPECT_EQ(read(pipes[0], clock, 8), -1);
	EXPECT_EQ(errno, EFAULT);
	/* The way of debuggers does not get there either. */
	fd = open("/proc/self/mem", O_RDWR);
	ASSERT_GE(fd, 0);
	EXPECT_EQ(pwrite(fd, "12345678", 8, (off_t)clock), -1);
	close(fd);
	EXPECT_EQ(self->a.clock->flags & TENSE_CLOCK_MEMBER,
		  TENSE_CLOCK_MEMBER);
}

TEST_F(area, handle_decides_on_writing)
{
	int fd = open(TENSE_DEVICE, O_RDONLY | O_CLOEXEC);

	ASSERT_GE(fd, 0);
	EXPECT_EQ(map(fd, TENSE_RING_OFFSET, TENSE_RING_SIZE,
		      PROT_READ | PROT_WRITE), NULL);
	EXPECT_EQ(errno, EACCES);
	EXPECT_NE(map(fd, 0, 4096, PROT_READ), NULL);
	close(fd);
}

/* R9: a reading from the page is not taken back. */
TEST_F(area, shown_time_is_not_taken_back)
{
	struct timespec t = { .tv_nsec = MS };
	/* In this order: what passes in between is in the second one. */
	int64_t clock = kernel_ns(CLOCK_MONOTONIC);
	int64_t now = dev_now(self->fd);

	self->a.ring->shown = now + 3 * MS;
	EXPECT_GE(kernel_ns(CLOCK_MONOTONIC), clock + 3 * MS);
	EXPECT_GE(dev_now(self->fd), now + 3 * MS);
	/* The sleep has its full length after the reading before it. */
	nanosleep(&t, NULL);
	EXPECT_GE(dev_now(self->fd), now + 4 * MS);
	/* No page can have shown this time. */
	now = dev_now(self->fd);
	self->a.ring->shown = now + S;
	EXPECT_LT(dev_now(self->fd), now + S);
	self->a.ring->shown = now + 1000 * S;
	EXPECT_LT(dev_now(self->fd), now + S);
	self->a.ring->shown = UINT64_MAX;
	EXPECT_LT(dev_now(self->fd), now + S);
}

/* R9: readings are never charged, and leads do not add up. */
TEST_F(area, shown_time_is_not_charged)
{
	struct tense_stats before = dev_stats(self->fd), after;
	/* On several CPUs the page may have shown what others have read. */
	int64_t most = self->a.clock->limit ? 110 * MS : 10 * MS, now = 0;

	for (int i = 0; i < 1000; i++) {
		now = dev_now(self->fd);
		self->a.ring->shown = now + 3 * MS;
	}
	now = dev_now(self->fd);
	usleep(1);
	after = dev_stats(self->fd);
	EXPECT_LT(after.lvt - before.lvt, S);
	EXPECT_LT(after.gvt - before.gvt, S);
	EXPECT_LT(after.charged - before.charged, S);
	EXPECT_LT(now - (int64_t)after.lvt, most);
}

/* The page says what each clock shows. */
TEST_F(area, origins)
{
	static const clockid_t ids[] = {
		[TENSE_ORIGIN_MONOTONIC] = CLOCK_MONOTONIC,
		[TENSE_ORIGIN_REALTIME] = CLOCK_REALTIME,
		[TENSE_ORIGIN_BOOTTIME] = CLOCK_BOOTTIME,
		[TENSE_ORIGIN_TAI] = CLOCK_TAI,
		[TENSE_ORIGIN_RAW] = CLOCK_MONOTONIC_RAW,
	};
	const struct tense_clock *c = self->a.clock;

	EXPECT_EQ(c->clocks, (1U << TENSE_ORIGINS) - 1);
	for (unsigned int i = 0; i < TENSE_ORIGINS; i++) {
		int64_t before = dev_now(self->fd), after;
		struct timespec t = { 0 };

		syscall(SYS_clock_gettime, ids[i], &t);
		after = dev_now(self->fd);
		EXPECT_GE(t.tv_sec * S + t.tv_nsec, c->origin[i] + before);
		EXPECT_LE(t.tv_sec * S + t.tv_nsec, c->origin[i] + after);
	}
	ASSERT_TRUE(dev_percent(self->fd, "clocks monotonic"));
	dev_now(self->fd);
	EXPECT_EQ(c->clocks, 1U << TENSE_ORIGIN_MONOTONIC |
			     1U << TENSE_ORIGIN_BOOTTIME |
			     1U << TENSE_ORIGIN_RAW);
	ASSERT_TRUE(dev_percent(self->fd, "clocks none\n"));
	dev_now(self->fd);
	EXPECT_EQ(c->clocks, 0);
	EXPECT_FALSE(dev_percent(self->fd, "clocks"));
	EXPECT_FALSE(dev_percent(self->fd, "clocks some"));
	EXPECT_FALSE(dev_percent(self->fd, "clocks monotonic and then some more"));
	ASSERT_TRUE(dev_percent(self->fd, "clocks all"));
}

TEST_F(area, records_scale)
{
	static const uint32_t fine[] = {
		FINE(200), FINE(50), 111111, 33333, FINE(1000), 1001,
	};
	struct tense_stats s;

	for (int i = 0; i < 6; i++) {
		push_at(&self->a, tsc(), fine[i], i + 1, TENSE_RECORD_CALL);
		/* Some 3 ms of real time. */
		burn(3 * MS * FINE(100) / fine[i]);
	}
	push(&self->a, 100, 0);
	s = dev_stats(self->fd);
	EXPECT_EQ(s.percent, 100);
	EXPECT_TRUE(slots_add_up(&s));
	for (int i = 0; i < 6; i++) {
		EXPECT_EQ(s.slot[i + 1].calls, 1);
		/* How much is not told: interrupts may take a part of any of them. */
		EXPECT_GT(s.slot[i + 1].ran, 0);
		EXPECT_TRUE(is_scaled(&s.slot[i + 1], fine[i], 1))
			TH_LOG("%u: ran %llu, charged %llu", fine[i],
			       s.slot[i + 1].ran, s.slot[i + 1].charged);
	}
}

/* As by write(2), next to each other and mixed. */
TEST_F(area, records_and_calls_mix)
{
	struct tense_stats s;

	push(&self->a, 300, 2);
	EXPECT_TRUE(dev_percent(self->fd, "150"));
	EXPECT_EQ(dev_stats(self->fd).percent, 150);
	push(&self->a, 75, 3);
	/* Unless an interrupt has just come. */
	EXPECT_LE(self->a.ring->head - self->a.clock->tail, 1);
	EXPECT_EQ(dev_stats(self->fd).percent, 75);
	EXPECT_EQ(self->a.clock->tail, self->a.ring->head);
	EXPECT_EQ(self->a.clock->percent, FINE(75));
	push_at(&self->a, tsc(), FINE(75), 4,
		TENSE_RECORD_CALL | TENSE_RECORD_STAY);
	push_at(&self->a, tsc(), FINE(75), 5, 0);
	s = dev_stats(self->fd);
	EXPECT_EQ(s.slot[4].calls, 1);
	EXPECT_EQ(s.slot[4].ran, 0);
	EXPECT_EQ(s.slot[5].calls, 0);
	EXPECT_TRUE(slots_add_up(&s));
}

TEST_F(area, wrong_records)
{
	static const uint32_t bad[] = { 0, 1, 999, 100001000, UINT32_MAX };
	struct tense_stats s;

	push(&self->a, 125, 1);
	for (size_t i = 0; i < ARRAY_LENGTH(bad); i++)
		push_at(&self->a, tsc(), bad[i], 1, TENSE_RECORD_CALL);
	EXPECT_EQ(dev_stats(self->fd).percent, 125);
	push(&self->a, 125, 255);
	push(&self->a, 125, 16);
	push_at(&self->a, tsc(), FINE(125), 15, 0xff);
	s = dev_stats(self->fd);
	EXPECT_EQ(s.slot[1].calls, 6);
	EXPECT_EQ(s.slot[0].calls, 2);
	EXPECT_EQ(s.slot[15].calls, 1);
	EXPECT_TRUE(slots_add_up(&s));
}

TEST_F(area, stamps_out_of_place)
{
	const uint64_t far = 1ULL << 40;
	struct tense_stats s;
	uint64_t now = tsc();

	push_at(&self->a, 0, FINE(200), 1, TENSE_RECORD_CALL);
	burn(MS);
	push_at(&self->a, now - far, FINE(50), 2, TENSE_RECORD_CALL);
	push_at(&self->a, tsc(), FINE(400), 3, TENSE_RECORD_CALL);
	push_at(&self->a, now, FINE(100), 4, TENSE_RECORD_CALL);
	push_at(&self->a, tsc() + far, FINE(25), 5, TENSE_RECORD_CALL);
	burn(MS);
	push_at(&self->a, UINT64_MAX, FINE(300), 6, TENSE_RECORD_CALL);
	push_at(&self->a, 1, FINE(125), 7, TENSE_RECORD_CALL);
	s = dev_stats(self->fd);
	EXPECT_EQ(s.percent, 125);
	push(&self->a, 100, 0);
	s = dev_stats(self->fd);
	EXPECT_TRUE(slots_add_up(&s));
	for (int i = 1; i <= 7; i++)
		EXPECT_EQ(s.slot[i].calls, 1);
	EXPECT_TRUE(is_scaled(&s.slot[1], FINE(200), 1));
	EXPECT_TRUE(is_scaled(&s.slot[2], FINE(50), 1));
	EXPECT_TRUE(is_scaled(&s.slot[3], FINE(400), 1));
	EXPECT_TRUE(is_scaled(&s.slot[5], FINE(25), 1));
	/* It is still a clock that runs at the rate of the real one. */
	EXPECT_LT(s.ran, 60 * S);
}

TEST_F(area, own_ticks_are_not_charged)
{
	struct tense_stats before = dev_stats(self->fd), after;

	for (int i = 0; i < 1000; i++) {
		uint32_t head = self->a.ring->head;

		push(&self->a, 100, 1);
		for (volatile int k = 0; k < 1000; k++)
			;
		/* All that slot 1 ran. */
		self->a.ring->record[(head + 1) % TENSE_RING_RECORDS].own = 0;
		push(&self->a, 100, 0);
		self->a.ring->record[(head + 1) % TENSE_RING_RECORDS].own =
			UINT16_MAX;
		if (i % 100 == 0)
			dev_now(self->fd);
	}
	after = dev_stats(self->fd);
	EXPECT_EQ(after.slot[1].calls - before.slot[1].calls, 1000);
	EXPECT_TRUE(slots_add_up(&after));
	EXPECT_GT(after.overhead, before.overhead);
}

TEST_F(area, forged_heads)
{
	static const uint32_t jumps[] = {
		1, 2047, 2048, 2049, 5000, 1U << 31, UINT32_MAX,
		UINT32_MAX - 2048,
	};
	struct tense_stats s;

	for (size_t i = 0; i < ARRAY_LENGTH(jumps); i++) {
		memset(self->a.ring->record, 0, sizeof(self->a.ring->record));
		self->a.ring->head += jumps[i];
		s = dev_stats(self->fd);
		EXPECT_EQ(self->a.clock->tail, self->a.ring->head);
		EXPECT_EQ(s.percent, 100);
		EXPECT_TRUE(slots_add_up(&s));
		/* And it works as before. */
		push(&self->a, 300, 1);
		EXPECT_EQ(dev_stats(self->fd).percent, 300);
		push(&self->a, 100, 0);
		dev_now(self->fd);
	}
	s = dev_stats(self->fd);
	EXPECT_EQ(s.slot[1].calls, ARRAY_LENGTH(jumps));
	EXPECT_LT(s.ran, 60 * S);
}

TEST_F(area, full_ring)
{
	struct tense_stats s;

	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < TENSE_RING_RECORDS; i++)
			push(&self->a, i % 2 ? 100 : 400, !(i % 2));
		s = dev_stats(self->fd);
		EXPECT_EQ(self->a.clock->tail, self->a.ring->head);
	}
	EXPECT_EQ(s.slot[1].calls, 3 * TENSE_RING_RECORDS / 2);
	EXPECT_EQ(s.slot[0].calls, 3 * TENSE_RING_RECORDS / 2);
	EXPECT_TRUE(is_scaled(&s.slot[1], FINE(400), s.slot[1].calls));
	EXPECT_TRUE(slots_add_up(&s));
}

static uint64_t next_random(uint64_t *state)
{
	*state = *state * 6364136223846793005 + 1442695040888963407;
	return *state >> 16 ^ *state << 40;
}

/* Whatever is in it, only the thread's own time is misplaced. */
TEST_F(area, random_bytes)
{
	uint64_t state = 1, *word = (uint64_t *)self->a.ring;
	struct tense_stats s;
	int64_t last = 0, now;

	for (int round = 0; round < 200; round++) {
		for (size_t i = 512; i < TENSE_RING_SIZE / 8; i++)
			word[i] = next_random(&state);
		for (int i = 0; i < TENSE_RING_RECORDS; i++) {
			struct tense_record *r = &self->a.ring->record[i];

			if (next_random(&state) % 2)
				r->stamp = tsc() - next_random(&state) % 100000;
			if (next_random(&state) % 2)
				r->percent = FINE(next_random(&state) % 1000);
		}
		self->a.ring->lowest = next_random(&state);
		self->a.ring->head = next_random(&state);
		now = dev_now(self->fd);
		ASSERT_GE(now, last);
		last = now;
	}
	s = dev_stats(self->fd);
	EXPECT_TRUE(slots_add_up(&s));
	EXPECT_LT(s.ran, 60 * S);
	EXPECT_LT(s.charged, 6000 * S);
}

TEST_F(area, clock_tells_the_time)
{
	const struct tense_clock *c = self->a.clock;
	uint64_t last = 0;
	int64_t now;

	for (int i = 0; i < 1000; i++) {
		if (i % 10 == 0)
			push(&self->a, i % 20 ? 100 : 700, 1);
		now = dev_now(self->fd);
		EXPECT_EQ(c->flags, TENSE_CLOCK_VALID | TENSE_CLOCK_MEMBER);
		EXPECT_GE(c->ns, now);
		EXPECT_EQ(c->seq % 2, 0);
		EXPECT_GE(c->ns, last);
		EXPECT_LE(c->counter, tsc());
		EXPECT_GT(c->rate, 0);
		EXPECT_GT(c->stale, 0);
		EXPECT_EQ(c->percent, i % 20 < 10 ? FINE(700) : FINE(100));
		last = c->ns;
	}
	/* A jump is seen at once, and credit as well. */
	now = lseek(self->fd, 1000 * S, SEEK_CUR);
	EXPECT_GE(now, 1000 * S);
	EXPECT_GE(c->ns, now);
	now = lseek(self->fd, -500 * S, SEEK_CUR);
	EXPECT_GE(c->credit, 499 * S);
	EXPECT_EQ(dev_now(self->fd), now);
	EXPECT_EQ(c->ns, now);
}

TEST_F(area, rate_of_the_counter)
{
	const struct tense_clock *c = self->a.clock;
	struct instant from = instant_now(), to;
	int64_t ns, took;

	usleep(200000);
	to = instant_now();
	took = to.ns - from.ns;
	ns = (unsigned __int128)(to.ticks - from.ticks) * c->rate >> 32;
	/* Within 10 %: whatever came in between took less than that. */
	EXPECT_GT(ns, took * 9 / 10);
	EXPECT_LT(ns, took * 11 / 10);
}

TEST_F(area, fork_does_not_inherit)
{
	int pipes[2];
	pid_t child;

	ASSERT_EQ(pipe(pipes), 0);
	push(&self->a, 300, 2);
	child = fork();
	ASSERT_GE(child, 0);
	if (!child) {
		struct area mine;
		int bad = dev_stats(self->fd).percent != 300;

		bad += write(pipes[1], self->a.clock, 8) != -1 ||
		       errno != EFAULT;
		bad += write(pipes[1], self->a.ring, 8) != -1 ||
		       errno != EFAULT;
		if (!map_area(&mine, self->fd))
			_exit(100);
		bad += mine.ring->head != 0 || mine.clock->tail != 0;
		push(&mine, 50, 3);
		bad += dev_stats(self->fd).percent != 50;
		_exit(bad);
	}
	EXPECT_EQ(outcome_of(child), 0);
	EXPECT_EQ(self->a.ring->head, 1);
	EXPECT_EQ(dev_stats(self->fd).percent, 300);
	EXPECT_EQ(dev_stats(self->fd).slot[3].calls, 1);
}

TEST_F(area, vfork_has_its_own)
{
	/* The child's, in the memory that it shares. */
	static struct area mine;
	static volatile int bad;
	pid_t child;

	push(&self->a, 300, 2);
	dev_now(self->fd);
	child = vfork(); /* NOLINT(clang-analyzer-security.insecureAPI.vfork) */
	ASSERT_GE(child, 0);
	if (!child) {
		bad = !map_area(&mine, self->fd);
		if (!bad) {
			push(&mine, 50, 3);
			bad += dev_stats(self->fd).percent != 50;
			bad += self->a.ring->head != 1;
		}
		_exit(bad);
	}
	EXPECT_EQ(outcome_of(child), 0);
	EXPECT_EQ(dev_stats(self->fd).percent, 300);
	/* It leaves after its parent was told, what it mapped does not. */
	while (dev_stats(self->fd).tasks > 1)
		usleep(1000);
	EXPECT_EQ(mine.clock->flags, 0);
	EXPECT_EQ(mine.ring->head, 1);
	unmap_area(&mine);
}

struct thread {
	pthread_t thread;
	int fd;
	int nr;
	struct area a;
	bool right;
};

static void *change_percent(void *arg)
{
	struct thread *t = arg;

	t->right = map_area(&t->a, t->fd) && !t->a.ring->head;
	for (int i = 0; t->right && i < 3000; i++) {
		push(&t->a, 100 * (t->nr + 1), t->nr);
		if (i % 1000 == 0)
			t->right = dev_stats(t->fd).percent ==
				   100 * (t->nr + 1);
		while (t->a.ring->head - t->a.clock->tail >= TENSE_RING_RECORDS)
			dev_now(t->fd);
	}
	return NULL;
}

TEST_F(area, threads_have_their_own)
{
	struct thread threads[6];
	struct tense_stats s;

	for (int i = 0; i < 6; i++) {
		threads[i] = (struct thread){ .fd = self->fd, .nr = i + 1 };
		ASSERT_EQ(pthread_create(&threads[i].thread, NULL,
					 change_percent, &threads[i]), 0);
	}
	for (int i = 0; i < 6; i++) {
		ASSERT_EQ(pthread_join(threads[i].thread, NULL), 0);
		EXPECT_TRUE(threads[i].right);
	}
	/* They left after they were joined, at the latest when this is true. */
	while (dev_stats(self->fd).tasks > 1)
		usleep(1000);
	s = dev_stats(self->fd);
	for (int i = 0; i < 6; i++) {
		EXPECT_EQ(s.slot[i + 1].calls, 3000);
		EXPECT_EQ(threads[i].a.clock->flags, 0);
		EXPECT_EQ(threads[i].a.ring->head, 3000);
		unmap_area(&threads[i].a);
	}
	EXPECT_TRUE(slots_add_up(&s));
	EXPECT_EQ(self->a.ring->head, 0);
	EXPECT_EQ(s.percent, 100);
}

static void *map_as_stranger(void *arg)
{
	int *pipes = arg, fd;
	char c;

	if (read(pipes[0], &c, 1) != 1 || read(pipes[0], &fd, sizeof(fd)) < 0)
		return "cannot read";
	errno = 0;
	if (map(fd, 0, 4096, PROT_READ) || errno != ESRCH)
		return "no ESRCH for the clock";
	errno = 0;
	if (map(fd, TENSE_RING_OFFSET, TENSE_RING_SIZE, PROT_READ) ||
	    errno != ESRCH)
		return "no ESRCH for the ring";
	return NULL;
}

TEST(stranger_has_none)
{
	pthread_t thread;
	int pipes[2], fd;
	void *wrong;

	ASSERT_EQ(pipe(pipes), 0);
	ASSERT_EQ(pthread_create(&thread, NULL, map_as_stranger, pipes), 0);
	fd = dev_open();
	ASSERT_GE(fd, 0);
	ASSERT_EQ(write(pipes[1], "", 1), 1);
	ASSERT_EQ(write(pipes[1], &fd, sizeof(fd)), sizeof(fd));
	ASSERT_EQ(pthread_join(thread, &wrong), 0);
	EXPECT_EQ(wrong, NULL) TH_LOG("%s", (char *)wrong);
	close(fd);
}

TEST_F(area, close_leaves)
{
	struct area again;

	push(&self->a, 200, 1);
	close(self->fd);
	EXPECT_EQ(self->a.clock->flags, 0);
	/* Nobody listens, and nobody minds. */
	push(&self->a, 300, 1);
	self->fd = dev_open();
	ASSERT_TRUE(map_area(&again, self->fd));
	EXPECT_EQ(again.ring->head, 0);
	EXPECT_EQ(again.clock->flags & TENSE_CLOCK_MEMBER, TENSE_CLOCK_MEMBER);
	push(&self->a, 400, 1);
	EXPECT_EQ(dev_stats(self->fd).percent, 100);
	push(&again, 150, 1);
	EXPECT_EQ(dev_stats(self->fd).percent, 150);
	EXPECT_EQ(self->a.ring->head, 3);
	unmap_area(&self->a);
	unmap_area(&again);
}

TEST_F(area, unmapped_while_member)
{
	push(&self->a, 200, 1);
	unmap_area(&self->a);
	burn(20 * MS);
	EXPECT_EQ(dev_stats(self->fd).percent, 200);
	ASSERT_TRUE(map_area(&self->a, self->fd));
	EXPECT_EQ(self->a.ring->head, 1);
	push(&self->a, 300, 2);
	EXPECT_EQ(dev_stats(self->fd).percent, 300);
	EXPECT_EQ(dev_stats(self->fd).slot[2].calls, 1);
}

/* A real-time task is not charged, but its changes hold. */
TEST_F(area, real_time_class)
{
	struct sched_param param = { .sched_priority = 1 };

	ASSERT_EQ(sched_setscheduler(0, SCHED_FIFO, &param), 0);
	push(&self->a, 300, 1);
	burn(MS);
	EXPECT_EQ(dev_stats(self->fd).percent, 300);
	EXPECT_EQ(dev_stats(self->fd).slot[1].calls, 1);
	EXPECT_EQ(self->a.clock->flags, TENSE_CLOCK_MEMBER);
	param.sched_priority = 0;
	ASSERT_EQ(sched_setscheduler(0, SCHED_OTHER, &param), 0);
	burn(MS);
	dev_now(self->fd);
	EXPECT_EQ(self->a.clock->flags, TENSE_CLOCK_MEMBER | TENSE_CLOCK_VALID);
}

/* "area FD": after an exec, in a member with this handle that was in slot 3. */
static int after_exec(int fd)
{
	struct tense_stats s = dev_stats(fd);
	struct area a;

	if (s.percent != 140 || !map_area(&a, fd))
		return 10;
	if (a.clock->tail != a.ring->head)
		return 11;
	push(&a, 300, 4);
	s = dev_stats(fd);
	if (s.percent != 300 || s.slot[4].calls != 1 || s.slot[3].calls != 1)
		return 12;
	/* Exits with the area mapped and a record in it. */
	push(&a, 200, 5);
	return 0;
}

TEST(exec_goes_on)
{
	pid_t child = fork();

	ASSERT_GE(child, 0);
	if (!child) {
		int fd = open(TENSE_DEVICE, O_RDWR);
		struct area a;
		char text[16];

		if (fd < 0 || !map_area(&a, fd))
			_exit(1);
		push_at(&a, tsc(), FINE(140), 0, 0);
		push(&a, 200, 3);
		snprintf(text, sizeof(text), "%d", fd);
		execl("/proc/self/exe", "guest-area", "area", text, NULL);
		_exit(2);
	}
	EXPECT_EQ(outcome_of(child), 0);
}

/* Killed while it changes its percent all the time. */
TEST_F(area, killed)
{
	for (int i = 0; i < 20; i++) {
		pid_t child = fork();
		int status;

		ASSERT_GE(child, 0);
		if (!child) {
			struct area mine;

			if (!map_area(&mine, self->fd))
				_exit(1);
			for (;;)
				push(&mine, 150, 1);
		}
		usleep(1000 + i * 777);
		kill(child, SIGKILL);
		ASSERT_EQ(waitpid(child, &status, 0), child);
		EXPECT_TRUE(WIFSIGNALED(status));
	}
}

static long available_kb(void)
{
	char line[128];
	long kb = -1;
	FILE *f = fopen("/proc/meminfo", "r");

	while (f && kb < 0 && fgets(line, sizeof(line), f))
		sscanf(line, "MemAvailable: %ld", &kb);
	if (f)
		fclose(f);
	return kb;
}

/* On the debug kernel each of them takes tens of milliseconds. */
#define AREAS 1500
/* Memory of an area in KB. */
#define AREA_KB 40

TEST(memory_is_freed)
{
	long before = 0, after;

	for (int i = 0; i < AREAS; i++) {
		int fd = dev_open();
		struct area a;

		ASSERT_TRUE(map_area(&a, fd));
		push(&a, 200, 1);
		if (i % 2)
			close(fd);
		unmap_area(&a);
		if (!(i % 2))
			close(fd);
		if (i == 100)
			before = available_kb();
	}
	after = available_kb();
	/* The debug kernel keeps up to 12 MB of freed memory for a while. */
	EXPECT_GT(after, before - AREAS * AREA_KB / 3);
}

static int run(int argc, char **argv)
{
	int fd = dev_open();

	if (!map(fd, 0, 4096, PROT_READ) && errno == EOPNOTSUPP) {
		puts("1..0 # SKIP no counter that all CPUs share");
		return 0;
	}
	close(fd);
	return test_harness_run(argc, argv);
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "area"))
		return after_exec(atoi(argv[2]));
	return run_with_module(argc, argv, run);
}
