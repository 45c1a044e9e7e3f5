// SPDX-License-Identifier: GPL-2.0
/* libtense reads its clock from the page that the device shows. */
#include "fake-area.h"
#include "in-child.h"

static void page(void)
{
	static const uint32_t percents[] = { 1, 99, 100, 101, 3333, 100000 };
	struct fake_area *a = clock_of(1);
	int64_t now;

	for (int i = 0; i < 6; i++) {
		show(1ULL << 50, 1ULL << 33, percents[i]);
		ok(clock_is_right(a), "the clock at %u %%", percents[i]);
	}
	show(5000, 1ULL << 32, 100);
	a->clock->credit = 1ULL << 60;
	is_i64(tense_page_now(), 5000, "it stands still while there is credit");
	a->clock->credit = 50;
	ok(clock_is_right(a), "until that is used up");

	a->clock->seq++;
	is_i64(tense_page_now(), -EAGAIN, "not while the page is written");
	a->clock->seq++;
	ok(tense_page_now() > 0, "but after that");
	a->clock->flags = TENSE_CLOCK_MEMBER;
	is_i64(tense_page_now(), -EAGAIN, "not if it is not valid");
	a->clock->flags = TENSE_CLOCK_VALID;
	is_i64(tense_page_now(), -EAGAIN, "nor for who has left");
	show(5000, 1ULL << 32, 100);
	a->clock->stale = 0;
	is_i64(tense_page_now(), -EAGAIN, "nor if it is old");
	show(5000, 1ULL << 32, 100);
	a->clock->counter = UINT64_MAX / 2;
	is_i64(tense_page_now(), -EAGAIN, "nor if it is of the future");
	now = show(5000, 1ULL << 32, 100)->clock->seq;
	is_i64(tense_time_ns(&(uint64_t){ 0 }), 0, "tense_time_ns() takes it");
	is_i64(a->clock->seq, now, "without a call");
}

/* Readings between changes, and all the changes at once. */
static void walks(void)
{
	static const unsigned int percents[] = { 100, 50, 300, 7, 100000 };
	struct fake_area *a = clock_of(1);
	unsigned int wrong = 0, slow = 0;
	struct tense_span s[3];

	for (int i = 0; i < 600; i++) {
		enter(&s[0], percents[i % 5], 1, &slow);
		__tense_span_begin(&s[1], percents[i % 3] * TENSE_FINE + i, 2,
				   i);
		if (i % 7 == 0)
			wrong += !clock_is_right(a);
		__tense_span_end(&s[1], 20);
		leave(&s[0], &slow);
		wrong += !clock_is_right(a);
		wrong += !clock_is_right(a);
		if (i % 50 == 0)
			show(i, 1ULL << 32, fake_percent());
	}
	is_i64(wrong, 0, "readings among changes");
	fake_percent();
	show(77, 1ULL << 32, 100);
	for (int i = 0; i < 1000; i++) {
		enter(&s[0], percents[i % 5], 1, &slow);
		leave(&s[0], &slow);
	}
	ok(clock_is_right(a), "a reading after 2000 of them");
	is_i64(slow, 0, "the ring had room");
	a->ring->record[a->ring->head % TENSE_RING_RECORDS] =
		(struct tense_record){ .stamp = 5, .percent = 100000 };
	a->ring->head++;
	ok(clock_is_right(a), "a record out of order");
}

/* The device's clock stands still; the page runs ahead of it. */
static void disagree(void)
{
	uint64_t last = 0, ns = 0;
	unsigned int back = 0;

	clock_of(50);
	fake.now = 1000;
	for (int i = 0; i < 2000; i++) {
		struct fake_area *a = show(i % 3 ? 900 : 100000 + i,
					   1ULL << 32, 100);

		if (i % 5 == 0)
			a->clock->flags &= ~TENSE_CLOCK_VALID;
		if (i % 100 == 0)
			fake.now += 5000;
		tense_time_ns(&ns);
		back += ns < last;
		last = ns;
		if (i % 50 == 0) {
			tense_scale_percent(50);
			tense_scale_pop();
		}
	}
	is_i64(back, 0, "time never runs backwards");
	ok(last > 100000, "whoever is ahead");
}

/* The kernel lets no sleep end before that. */
static void tells(void)
{
	uint64_t ns;

	clock_of(50);
	fake.now = 1000;
	show(50000, 1, 100);
	tense_time_ns(&ns);
	is_i64(ns, 50000, "the page is ahead of the kernel");
	is_i64(fake_area()->ring->shown, 50000, "which is told");
}

/* R9: no reading is earlier than the page's floor or the thread's last reading. */
static void floors(void)
{
	struct fake_area *a = clock_of(50);

	show(5000, 1ULL << 32, 100);
	a->clock->floor = 1ULL << 50;
	is_i64(tense_page_now(), 1LL << 50, "a reading is not below the page's floor");
	is_i64(a->ring->shown, 1LL << 50, "the ring tells the kernel");
	show(5000, 1ULL << 32, 100);
	a->ring->shown = 1ULL << 49;
	is_i64(tense_page_now(), 1LL << 49, "a reading is not below the thread's last");
	show(1ULL << 51, 1ULL << 32, 100);
	ok(tense_page_now() > 1LL << 51, "a later charged time is shown");

	show(5000, 1ULL << 40, 100);
	a->clock->ahead = 1;
	is_i64(tense_page_now(), -EAGAIN, "a time too far ahead is the kernel's to tell");
	a->clock->ahead = UINT64_MAX;
	ok(tense_page_now() > 0, "a time within the limit is shown");
}

/* R9: readings of threads on other CPUs. */
static void ordered(void)
{
	struct fake_area *a;
	int64_t now;

	fake.ordered = true;
	a = clock_of(50);
	show(5000, 1ULL << 32, 100);
	now = tense_page_now();
	is_i64(a->shared->latest, now, "a reading is stored in the shared word");
	a->shared->latest = 1ULL << 50;
	is_i64(tense_page_now(), 1LL << 50, "no reading is below the shared word");
	is_i64(a->ring->shown, 1LL << 50, "the ring tells the kernel");
	show(1ULL << 51, 1ULL << 32, 100);
	now = tense_page_now();
	ok(now > 1LL << 51, "a later time is read");
	is_i64(a->shared->latest, now, "the later time is stored in the shared word");
	a->clock->limit = 1ULL << 52;
	a->shared->latest = (1ULL << 52) + 1;
	is_i64(tense_page_now(), -EAGAIN, "a word beyond the limit is the kernel's to judge");
	a->shared->latest = 1ULL << 52;
	is_i64(tense_page_now(), 1LL << 52, "a word at the limit is read");
}

/* A program that runs with a module of another version. */
static void versions(void)
{
	fake.clock_version = TENSE_CLOCK_VERSION + 1;
	join();
	tense_scale_percent(50);
	tense_scale_pop();
	is_i64(tense_page_now(), -EAGAIN, "a page of another version is not read");
}

/* A new page may have the old one's number, but its ring is another one. */
static void again(void)
{
	struct fake_area *a = clock_of(1);
	unsigned int slow = 0;
	struct tense_span s;
	uint32_t seq;

	for (int i = 0; i < 20; i++) {
		enter(&s, 200, 1, &slow);
		leave(&s, &slow);
	}
	show(5000, 1ULL << 32, 100);
	enter(&s, 200, 1, &slow);
	leave(&s, &slow);
	ok(clock_is_right(a), "a reading after many records");
	seq = a->clock->seq;
	is_i64(tense_destroy(), 0, "leave");
	is_i64(tense_init(), 0, "join again");
	is_i64(tense_scale_percent(200), 0, "another area");
	is_i64(tense_scale_pop(), 0, "with two records");
	show(5000, 1ULL << 32, 100);
	a = fake_area();
	a->clock->seq = seq;
	ok((int32_t)(a->ring->head - 40) < 0, "fewer than the old one had");
	ok(clock_is_right(a), "a reading walks the new ring");
}

int main(void)
{
	in_child("page", page);
	in_child("walks", walks);
	in_child("disagree", disagree);
	in_child("tells", tells);
	in_child("floors", floors);
	in_child("ordered", ordered);
	in_child("versions", versions);
	in_child("again", again);
	return done();
}
