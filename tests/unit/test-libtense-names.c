// SPDX-License-Identifier: GPL-2.0
/* TENSE_EXPERIMENT names the experiment that a thread joins. */
#include <errno.h>
#include <string.h>

#include <tense.h>

#include "api/config.h"
#include "fake-device.h"
#include "in-child.h"

static void set_name(const char *name)
{
	strcpy(tense_config.experiment, name);
}

static void no_name(void)
{
	is_i64(tense_init(), 0, "without a name");
	ok(fake_member(), "the thread is in an experiment");
	is_i64(fake.named, 0, "of no name");
}

static void joins(void)
{
	int64_t now = 0;

	set_name("web-1");
	is_i64(tense_init(), 0, "with a name");
	ok(fake_member(), "the thread is in an experiment");
	is_i64(fake.named, 1, "which it joined by a name");
	ok(!strcmp(fake.name, "web-1"), "by this one");
	is_i64(tense_init(), 0, "again");
	is_i64(fake.members, 1, "it is a member once");
	is_i64(tense_move_ns(1000), 0, "time passes");
	is_i64(tense_time_ns((uint64_t *)&now), 0, "it can be read");
	is_i64(now, 1000, "and has passed");
	is_i64(tense_destroy(), 0, "the thread leaves");
	ok(!fake_member(), "it is no member");
	is_i64(tense_init(), 0, "it comes back");
	is_i64(fake.named, 2, "by the name");
}

static void joins_again(void)
{
	set_name("web-1");
	is_i64(tense_device_join(true), 0, "as a preloaded program joins");
	is_i64(fake.named, 1, "by the name");
	fake_close_all();
	ok(!fake_member(), "the program closes the handles");
	is_i64(tense_move_ns(1000), 0, "the next call joins again");
	is_i64(fake.named, 2, "by the name");
}

static void *stranger(void *arg)
{
	(void)arg;
	return (void *)(intptr_t)tense_init();
}

static void thread_joins(void)
{
	pthread_t thread;
	void *result;

	set_name("web-1");
	is_i64(tense_init(), 0, "one thread joins");
	fake_thread(&thread, true, stranger, NULL);
	pthread_join(thread, &result);
	is_i64((intptr_t)result, 0, "another one");
	is_i64(fake.named, 2, "both by the name");
}

static void inherits(void)
{
	set_name("web-1");
	fake.join_error = -EBUSY;
	is_i64(tense_init(), 0, "the process is in another experiment");
	ok(fake_member(), "the thread joins that");
	is_i64(fake.named, 0, "not by the name");
}

static void fails(int error)
{
	unsigned int members;

	set_name("web-1");
	tense_config.warned = true;
	fake.join_error = error;
	is_i64(tense_init(), error, "the device refuses");
	members = fake.members;
	is_i64(members, 0, "the thread joins nothing");
	is_i64(fake_open_fds(), 0, "and keeps no descriptor");
}

static void is_wrong(void)
{
	fails(-EINVAL);
}

static void is_refused(void)
{
	fails(-EPERM);
}

static void is_too_long(void)
{
	memset(tense_config.experiment, 'x', TENSE_CONFIG_NAME - 1);
	tense_config.warned = true;
	is_i64(tense_init(), -EINVAL, "a name that is too long");
	ok(!fake_member(), "the thread joins nothing");
}

static void is_off(void)
{
	set_name("web-1");
	tense_config.off = true;
	is_i64(tense_init(), -ENODEV, "TENSE=0 goes before the name");
	is_i64(fake.opens, 0, "the device is not opened");
}

int main(void)
{
	in_child("no name", no_name);
	in_child("joins by a name", joins);
	in_child("joins again by the name", joins_again);
	in_child("threads join by the name", thread_joins);
	in_child("stays in its process's experiment", inherits);
	in_child("a wrong name", is_wrong);
	in_child("a name that it may not use", is_refused);
	in_child("a long name", is_too_long);
	in_child("a name without the library", is_off);
	return done();
}
