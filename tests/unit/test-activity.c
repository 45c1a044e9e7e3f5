// SPDX-License-Identifier: GPL-2.0
/* Finds who ran between two images: threads that stay, come, go, and pass. */
#include <stdlib.h>
#include <string.h>

#include "measure/activity.h"
#include "tap.h"

#define COUNT(array)	(sizeof(array) / sizeof((array)[0]))
#define IMAGE(array)	(struct image){ array, COUNT(array) }

enum { TENSE = 50, COMMAND = 100 };

static struct task_time before_tasks[] = {
	{ 1, 1, 0, "init", 1000 },
	{ 10, 10, 1, "server", 500 },
	{ 11, 10, 1, "server-io", 700 },
	{ 12, 10, 1, "server-old", 20 },
	{ 20, 20, 1, "sleeper", 90 },
	{ 30, 30, 1, "ends", 40 },
	{ 40, 40, 1, "reused", 8000 },
	{ TENSE, TENSE, 1, "tense", 30 },
	{ 60, 60, 2, "kworker/0:1H", 5 },
	{ 61, 61, 2, "kworker/u4:2", 5 },
};

static struct task_time after_tasks[] = {
	{ 61, 61, 2, "kworker/u4:2-x", 6 },
	{ 60, 60, 2, "kworker/0:1H", 25 },
	{ 1, 1, 0, "init", 1000 },
	{ 10, 10, 1, "server", 510 },
	{ 11, 10, 1, "server-io", 1000 },
	{ 13, 10, 1, "server-new", 7 },
	{ 20, 20, 1, "sleeper", 90 },
	{ 40, 40, 1, "another", 60 },
	{ TENSE, TENSE, 1, "tense", 90000 },
	{ 70, 70, 1, "comes", 3 },
};

static struct task_time exited_tasks[] = {
	{ 12, 10, 1, "server-old", 50 },
	{ 30, 30, 1, "ends", 45 },
	{ 80, 80, 1, "visitor", 2000 },
	/* While the image after was taken. */
	{ 70, 70, 1, "comes", 3 },
	/* The command's: a thread, a child, what the child's child left. */
	{ 103, 103, TENSE, "orphan", 4 },
	{ 104, 104, 103, "of-orphan", 8 },
	{ 102, 102, 101, "grandchild", 16 },
	{ 101, 101, COMMAND, "child", 32 },
	{ 105, COMMAND, TENSE, "thread", 64 },
	{ COMMAND, COMMAND, TENSE, "command", 128 },
	{ 106, TENSE, 1, "of-tense", 256 },
};

static int64_t time_of(const struct activities *a, const char *name)
{
	for (size_t i = 0; i < a->count; i++)
		if (!strcmp(a->list[i].name, name))
			return (int64_t)a->list[i].ns;
	return -1;
}

static void test_between(void)
{
	const struct image before = IMAGE(before_tasks);
	const struct image after = IMAGE(after_tasks);
	const struct image exited = IMAGE(exited_tasks);
	const pid_t own[] = { TENSE, COMMAND };
	struct activities a;

	activities_between(&a, &before, &after, &exited, own, 2);
	is_i64(time_of(&a, "server"), 10 + 300 + 7 + 30,
	       "a process is its threads: one that stays, comes, goes");
	is_i64(time_of(&a, "ends"), 5, "one that ends");
	is_i64(time_of(&a, "comes"), 3, "one that comes");
	is_i64(time_of(&a, "visitor"), 2000, "one that comes and goes");
	is_i64(time_of(&a, "another"), 60,
	       "one that has less than the one before of its number");
	is_i64(time_of(&a, "kworker/0"), 20, "a worker, by its CPU");
	is_i64(time_of(&a, "kworker/u4"), 1, "a worker of no CPU");
	is_i64(a.count, 7, "no others: nobody that slept, nothing of the command");
	ok(!strcmp(a.list[0].name, "visitor") && a.list[6].ns == 1,
	   "the longest first");
	for (size_t i = 1; i < a.count; i++)
		if (a.list[i].ns > a.list[i - 1].ns)
			ok(false, "in order at %zu", i);
	activities_free(&a);
}

static void test_tree(void)
{
	const struct image exited = IMAGE(exited_tasks);
	const struct image nobody = { 0 };

	is_i64((int64_t)activity_of_tree(&exited, COMMAND, TENSE),
	       4 + 8 + 16 + 32 + 64 + 128, "a command is all its descendants");
	is_i64((int64_t)activity_of_tree(&exited, 101, 99999), 16 + 32,
	       "a child is its own");
	is_i64((int64_t)activity_of_tree(&nobody, COMMAND, TENSE), 0,
	       "nobody has exited");
}

static void test_image(void)
{
	struct image image = { 0 };

	for (int i = 0; i < 1000; i++)
		image_add(&image, &(struct task_time){ .tid = i });
	is_i64(image.count, 1000, "an image grows");
	is_i64(image.tasks[999].tid, 999, "at its end");
	image_add(&image, &(struct task_time){ .name = "e\x1b[2J\x7f\xc3\xa9\xc2\x9b" });
	ok(!strcmp(image.tasks[1000].name, "e?[2J?\xc3\xa9??"),
	   "control characters of a name do not reach a terminal");
	image_free(&image);
	is_i64(image.count, 0, "and is emptied");
}

int main(void)
{
	test_between();
	test_tree();
	test_image();
	return done();
}
