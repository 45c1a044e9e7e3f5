// SPDX-License-Identifier: GPL-2.0
/* libtense where the device has an area for each thread: the ring. */
#include "api/device.h"
#include "api/self.h"
#include "fake-area.h"
#include "in-child.h"

#define MANY 5000

static void nesting(void)
{
	unsigned int seeks, reads, records;
	int errors = 0;

	join();
	is_i64(tense_scale_percent(200), 0, "200");
	is_i64(fake_percent(), 200, "is in the ring");
	is_i64(tense_scale_percent(50), 0, "50 in it");
	is_i64(fake_percent(), 100, "is 100");
	is_i64(tense_scale_percent(3), 0, "lower than ever before");
	is_i64(fake_percent(), 3, "is told first");
	is_i64(tense_scale_clear(), 0, "clear");
	is_i64(fake_percent(), 100, "and all is as before");
	ok(fake_area()->last.own <= 2000, "what a change costs is given back");

	seeks = fake.seeks;
	reads = fake.reads;
	records = fake_area()->records;
	for (int i = 0; i < 500; i++) {
		errors += tense_scale_percent(125) != 0;
		errors += tense_scale_percent(400) != 0;
		errors += tense_scale_pop() != 0;
		errors += tense_scale_pop() != 0;
	}
	is_i64(errors, 0, "500 nested pairs");
	is_i64(fake.seeks - seeks, 0, "without a call");
	is_i64(fake.reads - reads, 0, "of any kind");
	is_i64(fake.writes, 0, "or ever a percent as text");
	is_i64(fake_area()->records - records, 2000, "all are in the ring");
	is_i64(fake_percent(), 100, "at the end nothing is left of them");
	is_i64(tense_health_check(), 0, "which the health check finds");
	is_i64(fake.broken, 0, "no rule of the ring is broken");
}

static void spans(void)
{
	struct tense_span a, b;
	unsigned int slow = 0;

	is_i64(__tense_span_begin(&a, 150 * TENSE_FINE, 3, 0), -EAGAIN, "no experiment: ask");
	is_i64(__tense_span_begin_slow(&a, 150 * TENSE_FINE, 3, 0), -ESRCH, "there is none");
	join();
	is_i64(__tense_span_begin(&a, 150 * TENSE_FINE, 3, 0), -EAGAIN, "no area: ask");
	is_i64(__tense_span_begin_slow(&a, 150 * TENSE_FINE, 3, 11), 0, "150, slot 3");
	is_i64(fake_percent(), 150, "a span's percent");
	is_i64(fake_area()->slot, 3, "its slot");
	is_i64(fake_area()->last.own, 11, "its own ticks");
	is_i64(tense_scale_percent(200), 0, "200 by the program");
	is_i64(fake_percent(), 300, "multiplies");
	is_i64(fake_area()->slot, 3, "in the same slot");
	is_i64(enter(&b, 50, 4, &slow), 0, "50, slot 4");
	is_i64(fake_percent(), 150, "multiplies again");
	is_i64(__tense_span_count(5, 70000), 0, "a call that changes nothing");
	is_i64(fake_percent(), 150, "changes no percent");
	is_i64(fake_area()->slot, 4, "and no slot");
	is_i64(fake_area()->last.own, UINT16_MAX, "own ticks are cut off");
	is_i64(leave(&b, &slow), 0, "out");
	is_i64(fake_percent(), 300, "and back");
	is_i64(fake_area()->slot, 3, "to slot 3");
	is_i64(tense_scale_pop(), 0, "the program's again");
	is_i64(fake_percent(), 150, "leaves the span's");
	is_i64(enter(&b, 1000, 4, &slow), 0, "another one");
	is_i64(leave(&a, &slow), 0, "a jump out of both");
	is_i64(fake_percent(), 100, "ends both");
	is_i64(fake_area()->slot, 0, "outside of all");
	is_i64(fake.calls[3], 1, "one call of 3");
	is_i64(fake.calls[4], 2, "two of 4");
	is_i64(fake.calls[5], 1, "one of 5");
	is_i64(fake.writes, 0, "nothing was written");
	is_i64(fake.broken, 0, "and no rule broken");
}

/* The instruments start in a rush, before the thread has an area. */
static void rush(void)
{
	struct tense_span before, in;
	unsigned int slow = 0;

	is_i64(__tense_span_rush(&before), -ESRCH, "a rush outside of an experiment fails");
	join();
	is_i64(__tense_span_rush(&before), 0, "rush");
	is_i64(fake.writes, 1, "a rush makes one system call");
	is_i64(__tense_span_begin(&in, 100 * TENSE_FINE, 3, 0), -EAGAIN,
	       "a rush maps no area");
	is_i64(enter(&in, 100, 3, &slow), 0, "a span begins in the rush");
	is_i64(fake_percent(), 100000, "it stays at the highest percent");
	is_i64(leave(&in, &slow), 0, "the span ends");
	ok(__tense_span_stamp(0) > __tense_span_stamp(1) &&
	   __tense_span_stamp(1), "entry and exit have stamps");
	is_i64(__tense_span_end_slow(&before, 0), 0, "the rush ends");
	is_i64(fake_percent(), 100, "100 again");
	is_i64(fake.broken, 0, "no rule broken");
}

static void extremes(void)
{
	struct tense_span spans[8];
	unsigned int slow = 0;
	int errors = 0;

	join();
	for (int i = 0; i < 8; i++)
		errors += enter(&spans[i], 100000, 1, &slow) != 0;
	is_i64(errors, 0, "spans of 100000 in each other");
	is_i64(fake_percent(), 100000, "stay at the highest");
	for (int i = 7; i >= 0; i--)
		errors += leave(&spans[i], &slow) != 0;
	is_i64(fake_percent(), 100, "and go back from there");
	for (int i = 0; i < 8; i++)
		errors += enter(&spans[i], 1, 1, &slow) != 0;
	is_i64(fake_percent(), 1, "spans of 1 in each other at the lowest");
	for (int i = 7; i >= 0; i--)
		errors += leave(&spans[i], &slow) != 0;
	is_i64(fake_percent(), 100, "back again");
	is_i64(errors, 0, "without an error");
	is_i64(fake.broken, 0, "nor a rule broken");
}

static void many(const char *what)
{
	unsigned int slow = 0, seeks = fake.seeks;
	uint64_t calls = fake.calls[3];
	struct tense_span a;
	int errors = 0;

	for (int i = 0; i < MANY; i++) {
		errors += enter(&a, 80, 3, &slow) != 0;
		errors += leave(&a, &slow) != 0;
	}
	is_i64(errors, 0, "%s: %d spans", what, MANY);
	is_i64(fake_percent(), 100, "%s: and none is left", what);
	is_i64(fake.calls[3] - calls, MANY, "%s: all are counted", what);
	ok(slow && slow <= 2 * MANY / TENSE_RING_RECORDS + 2,
	   "%s: each call makes room for a ring of them, %u", what, slow);
	is_i64(fake.seeks - seeks, slow, "%s: and is the only one", what);
	is_i64(fake.broken, 0, "%s: no record is lost", what);
}

static void full(void)
{
	struct fake_area *a;

	join();
	tense_scale_percent(80);
	tense_scale_pop();
	many("full ring");
	a = fake_area();
	a->ring->head = a->clock->tail = UINT32_MAX - 1000;
	many("indices that wrap");
}

static void without(int error, unsigned int maps, const char *what)
{
	unsigned int slow = 0;
	struct tense_span a;

	tense_init();
	fake.map_error = error;
	for (int i = 0; i < 5; i++) {
		is_i64(tense_scale_percent(200), 0, "%s: 200", what);
		is_i64(fake_percent(), 200, "%s: is written", what);
		is_i64(tense_scale_pop(), 0, "%s: and back", what);
		is_i64(fake_percent(), 100, "%s: is written as well", what);
	}
	is_i64(enter(&a, 50, 1, &slow), 0, "%s: a span", what);
	is_i64(fake_percent(), 50, "%s: is written too", what);
	is_i64(leave(&a, &slow), 0, "%s: until it ends", what);
	is_i64(fake_percent(), 100, "%s: as it began", what);
	for (int i = 0; i < 20; i++)
		tense_time_ns(&(uint64_t){ 0 });
	ok(maps ? fake.maps == maps : fake.maps > 10,
	   "%s: areas were asked for %u times", what, fake.maps);
	is_i64(fake.mapped, 0, "%s: nothing is mapped", what);
}

static void no_areas(void)
{
	without(-EOPNOTSUPP, 1, "no counter");
}

static void old_module(void)
{
	without(-ENODEV, 1, "no mmap");
}

static void no_memory(void)
{
	without(-ENOMEM, 0, "no memory");
	fake.map_error = 0;
	tense_scale_percent(200);
	is_i64(fake_percent(), 200, "memory again");
	is_i64(fake.mapped, 2, "then there is an area");
	ok(!fake_in_own_work(), "own work has ended");
}

static void *read_as_stranger(void *arg)
{
	intptr_t errors = 0;

	(void)arg;
	for (int i = 0; i < 20; i++)
		errors += tense_time_ns(&(uint64_t){ 0 }) != -ESRCH;
	return (void *)errors;
}

static void stranger(void)
{
	pthread_t thread;
	void *errors;

	join();
	fake_thread(&thread, true, read_as_stranger, NULL);
	pthread_join(thread, &errors);
	is_i64((intptr_t)errors, 0, "a stranger has no clock");
	is_i64(tense_scale_percent(200), 0, "which does not keep a member");
	is_i64(fake_percent(), 200, "from its percent");
	is_i64(fake.mapped, 2, "by its area");
}

static void *one_thread(void *arg)
{
	struct tense_span a;
	intptr_t errors = 0;
	unsigned int slow = 0;

	(void)arg;
	errors += fake_area() != NULL;
	errors += enter(&a, 200, 2, &slow) != 0 || fake_percent() != 400;
	errors += !fake_area() || fake_area()->slot != 2;
	errors += leave(&a, &slow) != 0;
	errors += fake_percent() != 200;
	errors += fake.mapped < 4;
	errors += fake_in_own_work();
	return (void *)errors;
}

static void threads(void)
{
	unsigned int records;
	pthread_t thread;
	void *errors;
	int sum = 0;

	join();
	tense_scale_percent(200);
	records = fake_area()->records;
	for (int i = 0; i < 20; i++) {
		fake_thread(&thread, false, one_thread, NULL);
		pthread_join(thread, &errors);
		sum += (intptr_t)errors;
	}
	is_i64(sum, 0, "a thread has an area of its own");
	is_i64(fake.mapped, 2, "and unmaps it when it ends");
	is_i64(fake.charged_maps, 0, "both as work of Tense's own (R13)");
	is_i64(fake_area()->records, records, "its parent's is not touched");
	is_i64(fake_percent(), 200, "nor its percent");
	is_i64(fake.broken, 0, "no rule is broken");
}

static void *loses_the_handle(void *arg)
{
	(void)arg;
	tense_scale_percent(300);
	fake_put_foreign();
	return NULL;
}

/* The program's file is open under the number of the handle when the thread ends. */
static void end_beside_foreign_files(void)
{
	pthread_t thread;

	join();
	fake_thread(&thread, false, loses_the_handle, NULL);
	pthread_join(thread, NULL);
	is_i64(fake.foreign, 0, "a thread that ends touches no file of the program");
	is_i64(fake.mapped, 0, "and leaves no area");
}

static int status_of(pid_t pid)
{
	int status = -1;

	waitpid(pid, &status, 0);
	return status;
}

static void forked(void)
{
	unsigned int records;
	pid_t pid;

	join();
	tense_scale_percent(200);
	records = fake_area()->records;
	pid = fork();
	if (!pid) {
		int errors = fake_area() != NULL || fake_percent() != 200;

		for (int i = 0; i < 10; i++)
			errors += tense_time_ns(&(uint64_t){ 0 }) != 0;
		errors += tense_scale_percent(50) != 0 || fake_percent() != 100;
		errors += !fake_area() || fake.writes;
		errors += tense_scale_pop() != 0 || fake_percent() != 200;
		_exit(errors || fake.broken);
	}
	is_i64(status_of(pid), 0, "a child has an area of its own");
	is_i64(fake_area()->records, records, "and does not touch its parent's");
	is_i64(tense_scale_pop(), 0, "which goes on");
	is_i64(fake_percent(), 100, "as before");
	is_i64(fake.writes, 0, "without a percent as text");
}

static int mapped_before;

static void check_mapped(void)
{
	_exit(fake.mapped != mapped_before);
}

/* The child has something else there by then. */
static void *fork_and_end(void *arg)
{
	pid_t pid;

	tense_scale_percent(200);
	pid = fork();
	if (!pid) {
		mapped_before = fake.mapped;
		atexit(check_mapped);
		pthread_exit(NULL);
	}
	*(int *)arg = status_of(pid);
	return NULL;
}

static void forked_in_a_thread(void)
{
	pthread_t thread;
	int status = -1;

	join();
	fake_thread(&thread, false, fork_and_end, &status);
	pthread_join(thread, NULL);
	is_i64(status, 0, "a child does not unmap what its parent mapped");
	is_i64(fake.mapped, 0, "but the parent does");
}

static void rejoined(void)
{
	join();
	tense_scale_percent(200);
	is_i64(tense_destroy(), 0, "leave");
	is_i64(tense_scale_percent(200), -ESRCH, "no percent any more");
	ok(tense_page_now() < 0, "nor a clock");
	is_i64(tense_init(), 0, "join again");
	is_i64(tense_scale_percent(300), 0, "and scale");
	is_i64(fake_percent(), 300, "by a new area");
	is_i64(fake.mapped, 2, "in place of the old one");
	is_i64(fake.writes, 0, "nothing was written");
}

/* A span that begins without the stack's base would count in the base. */
static void destroyed(void)
{
	struct tense_span a;
	unsigned int slow = 0;

	fake.map_error = 0;
	is_i64(tense_device_join(true), 0, "a thread that stays");
	is_i64(tense_scale_percent(200), 0, "200");
	is_i64(tense_scale_pop(), 0, "as it began");
	is_i64(tense_destroy(), 0, "it leaves, and stays a member all the same");
	is_i64(__tense_self.line->admitted, 0, "no span begins by the ring alone");
	is_i64(enter(&a, 200, 3, &slow), 0, "a span of 200");
	is_i64(slow, 1, "which reads the percent first");
	is_i64(fake_percent(), 200, "is in effect");
	is_i64(tense_scale_percent(150), 0, "150 in it");
	is_i64(fake_percent(), 300, "multiplies once");
	is_i64(tense_scale_pop(), 0, "back");
	is_i64(leave(&a, &slow), 0, "out");
	is_i64(fake_percent(), 100, "nothing is left of it");
}

/* A span around tense_destroy(). */
static void destroyed_in_a_span(void)
{
	unsigned int slow = 0;
	struct tense_span a;

	fake.map_error = 0;
	is_i64(tense_device_join(true), 0, "a thread that stays");
	for (int i = 0; i < 3; i++) {
		enter(&a, 125, 3, &slow);
		is_i64(tense_scale_percent(200), 0, "200 in a span of 125");
		is_i64(fake_percent(), 250, "multiply");
		is_i64(tense_destroy(), 0, "it leaves, and stays a member");
		is_i64(leave(&a, &slow), 0, "the span ends");
		is_i64(fake_percent(), 100, "with its percent");
	}
}

static void left_in_a_span(void)
{
	unsigned int slow = 0;
	struct tense_span a;

	join();
	enter(&a, 125, 3, &slow);
	is_i64(tense_destroy(), 0, "the thread leaves in a span of 125");
	is_i64(tense_scale_percent(100), -ESRCH, "it scales no more");
	is_i64(tense_scale_clear(), -ESRCH, "nor clears");
	is_i64(leave(&a, &slow), -ESRCH, "there is no percent any more");
	is_i64(tense_init(), 0, "it joins again");
	is_i64(tense_scale_percent(200), 0, "200");
	is_i64(fake_percent(), 200, "nothing is left of the span");
}

/* libtense-functions asks for these when a handler jumps out of a change. */
static void left(void)
{
	struct tense_self *t = &__tense_self;
	struct tense_line *line;
	uintptr_t here = (uintptr_t)__builtin_frame_address(0), at;

	join();
	ok(tense_unfinished_change(t) == UINTPTR_MAX, "no change is unfinished");
	tense_scale_percent(200);
	tense_scale_pop();
	line = t->line;
	ok(tense_unfinished_change(t) == UINTPTR_MAX, "nor after two");
	is_i64(fake.writes, 0, "which are in the ring");
	tense_begin_change(line);
	line->room = 0;
	at = tense_unfinished_change(t);
	ok(at <= here && here - at < 10000, "one of this function is");
	is_i64(tense_scale_percent(200), 0, "in a handler");
	ok(fake.writes, "a change does not go to the ring");
	is_i64(tense_scale_pop(), 0, "and back");
	is_i64(line->admitted, 0, "the ring stays closed");
	fake.writes = 0;
	tense_drop_change(t);
	ok(tense_unfinished_change(t) == UINTPTR_MAX, "it was dropped");
	is_i64(tense_scale_percent(200), 0, "after a jump out of the handler");
	is_i64(fake_percent(), 200, "the change is in effect");
	is_i64(tense_scale_pop(), 0, "and back");
	is_i64(fake.writes, 0, "nothing was written");
	ok(line->room > 1 && line->room <= TENSE_RING_RECORDS + 1, "the room was counted anew");
	t->preparing = here;
	ok(tense_unfinished_change(t) == here, "an area that is being mapped");
	tense_drop_change(t);
	ok(!t->preparing && line->admitted, "is dropped, too");
	is_i64(fake.broken, 0, "no rule of the ring is broken");
}

int main(void)
{
	in_child("nesting", nesting);
	in_child("spans", spans);
	in_child("rush", rush);
	in_child("extremes", extremes);
	in_child("full", full);
	in_child("no_areas", no_areas);
	in_child("old_module", old_module);
	in_child("no_memory", no_memory);
	in_child("stranger", stranger);
	in_child("threads", threads);
	in_child("end_beside_foreign_files", end_beside_foreign_files);
	in_child("forked", forked);
	in_child("forked_in_a_thread", forked_in_a_thread);
	in_child("rejoined", rejoined);
	in_child("destroyed", destroyed);
	in_child("destroyed_in_a_span", destroyed_in_a_span);
	in_child("left_in_a_span", left_in_a_span);
	in_child("left", left);
	return done();
}
