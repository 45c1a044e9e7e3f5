// SPDX-License-Identifier: GPL-2.0
/*
 * R12 where the kernel makes groups of sessions (autogroup), on one of several CPUs.
 */
#include "harness.h"
/* Twice as long as elsewhere: an emulated CPU may be stopped for longer. */
#define RACE_NS	(4 * S)
/* A ratio has the same relative tolerance as with 10 ms in a race of 10 s. */
#define TURN	(4 * MS)
#include "race.h"
#include "smp.h"

#define AUTOGROUP	"/proc/sys/kernel/sched_autogroup_enabled"

FIXTURE(sessions)
{
	struct race *race;
};

FIXTURE_SETUP(sessions)
{
	self->race = new_race();
	ASSERT_EQ(pin(0), 0);
	ASSERT_EQ(write_text(AUTOGROUP, "1"), 0);
}

FIXTURE_TEARDOWN(sessions)
{
}

#define EXPECT_SHARE(expected, ...)					\
	EXPECT_OUTSIDE(expected, self->race, RACE_SESSION, __VA_ARGS__)

TEST_F(sessions, beside_a_fast_one)
{
	EXPECT_SHARE(0.5, { .percent = "100000", .group = RACE_SESSION });
}

TEST_F(sessions, beside_a_slow_one)
{
	EXPECT_SHARE(0.5, { .percent = "1", .group = RACE_SESSION });
}

TEST_F(sessions, beside_two_of_one_experiment)
{
	EXPECT_SHARE(1.0 / 3, { .percent = "400", .group = RACE_SESSION },
		     { .percent = "100", .group = RACE_SESSION });
	EXPECT_RATIO(self->race, 0, 1, 4);
}

/* Two tasks in the queue that the sessions are in. */
TEST_F(sessions, beside_two_in_none)
{
	EXPECT_SHARE(1.0 / 3, { .percent = "400" }, { .percent = "100" });
	EXPECT_RATIO(self->race, 0, 1, 4);
}

TEST_F(sessions, that_are_no_groups)
{
	ASSERT_EQ(write_text(AUTOGROUP, "0"), 0);
	EXPECT_SHARE(1.0 / 3, { .percent = "400", .group = RACE_SESSION },
		     { .percent = "100", .group = RACE_SESSION });
	EXPECT_RATIO(self->race, 0, 1, 4);
}

int main(int argc, char **argv)
{
	if (access(AUTOGROUP, W_OK)) {
		puts("1..0 # SKIP this kernel makes no groups of sessions");
		return 0;
	}
	return run_with_module(argc, argv, test_harness_run);
}
