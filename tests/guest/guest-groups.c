// SPDX-License-Identifier: GPL-2.0
/*
 * R12 where there are control groups: whatever percents an experiment has, a
 * process outside keeps the share that its group gives it, and between the
 * experiment's own groups shares follow the percents.
 */
#include <sys/mount.h>
#include <sys/stat.h>

#include "harness.h"
#include "race.h"

/* R/A and R/B are below R. */
static const char *const groups[] = { "A", "B", "C", "R", "R/A", "R/B" };

static bool make_groups(void)
{
	char path[64];

	if (mkdir(RACE_GROUPS, 0755) ||
	    mount("none", RACE_GROUPS, "cgroup", 0, "cpu"))
		return false;
	for (size_t i = 0; i < ARRAY_LENGTH(groups); i++) {
		snprintf(path, sizeof(path), RACE_GROUPS "/%s", groups[i]);
		if (mkdir(path, 0755))
			return false;
	}
	return true;
}

static bool remove_groups(void)
{
	char path[64];

	for (size_t i = ARRAY_LENGTH(groups); i-- > 0;) {
		snprintf(path, sizeof(path), RACE_GROUPS "/%s", groups[i]);
		if (rmdir(path))
			return false;
	}
	return !umount(RACE_GROUPS) && !rmdir(RACE_GROUPS);
}

static bool set_group(const char *group, const char *what, const char *value)
{
	char path[64];

	snprintf(path, sizeof(path), RACE_GROUPS "/%s/%s", group, what);
	return !write_text(path, value);
}

FIXTURE(groups)
{
	struct race *race;
};

FIXTURE_SETUP(groups)
{
	self->race = new_race();
	ASSERT_TRUE(make_groups());
}

FIXTURE_TEARDOWN(groups)
{
	EXPECT_TRUE(remove_groups());
}

#define EXPECT_SHARE(expected, group, ...)				\
	EXPECT_OUTSIDE(expected, self->race, group, __VA_ARGS__)

/* --- an experiment in one group --- */

TEST_F(groups, beside_one_very_fast)
{
	EXPECT_SHARE(0.5, "A", { .percent = "100000", .group = "B" });
}

TEST_F(groups, beside_one_slow)
{
	EXPECT_SHARE(0.5, "A", { .percent = "1", .group = "B" });
}

TEST_F(groups, beside_one_mixed)
{
	EXPECT_SHARE(0.5, "A", { .percent = "400", .group = "B" },
		     { .percent = "100", .group = "B" });
	EXPECT_RATIO(self->race, 0, 1, 4);
}

TEST_F(groups, in_the_queue_of_one)
{
	EXPECT_SHARE(0.5, NULL, { .percent = "100000", .group = "A" });
}

TEST_F(groups, in_a_group_beside_none)
{
	EXPECT_SHARE(0.5, "A", { .percent = "100000" });
}

/* --- in several --- */

TEST_F(groups, two)
{
	struct member members[] = { { .percent = "300", .group = "A" },
		{ .percent = "100", .group = "B" }, { } };

	ASSERT_TRUE(run_alone(members, self->race));
	EXPECT_RATIO(self->race, 0, 1, 3);
}

TEST_F(groups, beside_two)
{
	EXPECT_SHARE(1.0 / 3, "C", { .percent = "400", .group = "A" },
		     { .percent = "100", .group = "B" });
	EXPECT_RATIO(self->race, 0, 1, 4);
}

/*
 * A host that keeps a member from running before it has its percent owes the other one that
 * time, as many times as the member is faster. For 10 ms at percent 1000 that is 0.1 s, and
 * the race warms up for longer. At percent 100000 it would be 10 s, of which the outside
 * pays a part: SECURITY.md tells how much.
 */
TEST_F(groups, beside_two_that_are_fast)
{
	EXPECT_SHARE(1.0 / 3, "C", { .percent = "1000", .group = "A" },
		     { .percent = "500", .group = "B" });
	EXPECT_RATIO(self->race, 0, 1, 2);
}

/* As in guest-fair, three_that_change_in_step_with_turns: groups are held to it, too. */
TEST_F(groups, beside_two_that_change_in_step_with_turns)
{
	double share = share_outside_in("C", MEMBERS(
		{ .percent = "100000", .other = "1", .rounds = 40, .group = "A" },
		{ .percent = "100000", .other = "1", .rounds = 40, .group = "B" }),
		self->race);

	TH_LOG("%.4f, expected 0.3333", share);
	EXPECT_TRUE(share > 1.0 / 3 * (1 - TOLERANCE));
}

TEST_F(groups, beside_two_that_are_slow)
{
	EXPECT_SHARE(1.0 / 3, "C", { .percent = "2", .group = "A" },
		     { .percent = "1", .group = "B" });
	EXPECT_RATIO(self->race, 0, 1, 2);
}

TEST_F(groups, beside_a_task_and_a_group)
{
	EXPECT_SHARE(1.0 / 3, NULL, { .percent = "50" },
		     { .percent = "200", .group = "A" });
	EXPECT_RATIO(self->race, 1, 0, 4);
}

TEST_F(groups, beside_two_of_other_weights)
{
	ASSERT_TRUE(set_group("A", "cpu.shares", "2048"));
	EXPECT_SHARE(0.25, "C", { .percent = "100", .group = "A" },
		     { .percent = "400", .group = "B" });
	EXPECT_RATIO(self->race, 1, 0, 2);
}

/*
 * R/A runs at 2.5 times its speed and R/B at half of it, so that they share by
 * five to one what R has, which is as much as without the percents.
 */
TEST_F(groups, beside_two_in_a_third)
{
	EXPECT_SHARE(0.5, "C", { .percent = "400", .group = "R/A" },
		     { .percent = "100", .group = "R/A" },
		     { .percent = "50", .group = "R/B" });
	EXPECT_RATIO(self->race, 0, 1, 4);
	EXPECT_TIMES(self->race, self->race->ran[0] + self->race->ran[1], 5,
		     self->race->ran[2]);
}

/* R/A and B have only the queue above all groups in common. */
TEST_F(groups, beside_two_at_different_depths)
{
	EXPECT_SHARE(1.0 / 3, "C", { .percent = "100", .group = "R/A" },
		     { .percent = "400", .group = "B" });
	EXPECT_RATIO(self->race, 1, 0, 4);
}

/* --- in a group of the experiment's --- */

TEST_F(groups, in_one_of_two_that_is_fast)
{
	EXPECT_SHARE(0.25, "A", { .percent = "100000", .group = "A" },
		     { .percent = "100", .group = "B" });
}

TEST_F(groups, in_one_of_two_that_is_slow)
{
	EXPECT_SHARE(0.25, "A", { .percent = "1", .group = "A" },
		     { .percent = "100", .group = "B" });
}

TEST_F(groups, in_one_of_two_beside_a_fast_one)
{
	EXPECT_SHARE(0.25, "A", { .percent = "100", .group = "A" },
		     { .percent = "100000", .group = "B" });
}

TEST_F(groups, in_one_of_three)
{
	EXPECT_SHARE(1.0 / 6, "A", { .percent = "100", .group = "A" },
		     { .percent = "400", .group = "B" },
		     { .percent = "100", .group = "C" });
	EXPECT_RATIO(self->race, 1, 2, 4);
}

/* --- in one that is limited --- */

/*
 * A may have a fifth of the CPU, and the others share the rest: what A does not
 * want at its percent is not for B alone.
 */
static double beside_limited(struct race *race, const char *limited,
			     const char *unlimited)
{
	struct member members[] = { { .percent = limited, .group = "A" },
		{ .percent = unlimited, .group = "B" }, { } };
	double mine = share_outside_in("C", members, race);

	return mine / (1 - mine) * (race->ran[0] + race->ran[1]);
}

TEST_F(groups, beside_two_of_which_a_slow_one_is_limited)
{
	if (!set_group("A", "cpu.cfs_quota_us", "20000"))
		SKIP(return, "this kernel limits no groups");
	EXPECT_TIMES(self->race, beside_limited(self->race, "1", "100"), 1,
		     self->race->ran[1]);
}

TEST_F(groups, beside_two_of_which_a_fast_one_is_limited)
{
	if (!set_group("A", "cpu.cfs_quota_us", "20000"))
		SKIP(return, "this kernel limits no groups");
	EXPECT_TIMES(self->race, beside_limited(self->race, "100000", "100"), 1,
		     self->race->ran[1]);
}

/* Sets the quota of A while the race warms up, so that its member is in a queue. */
static void set_quota_later(const struct race *race, const char *quota)
{
	if (fork())
		return;
	while (!race->go)
		usleep(1000);
	usleep(100000);
	_exit(!set_group("A", "cpu.cfs_quota_us", quota));
}

TEST_F(groups, beside_two_of_which_one_gets_a_limit)
{
	if (!set_group("A", "cpu.cfs_quota_us", "-1"))
		SKIP(return, "this kernel limits no groups");
	set_quota_later(self->race, "2000");
	EXPECT_TIMES(self->race, beside_limited(self->race, "100", "1000"), 1,
		     self->race->ran[1]);
}

TEST_F(groups, beside_two_of_which_one_loses_its_limit)
{
	if (!set_group("A", "cpu.cfs_quota_us", "20000"))
		SKIP(return, "this kernel limits no groups");
	set_quota_later(self->race, "-1");
	EXPECT_SHARE(1.0 / 3, "C", { .percent = "100", .group = "A" },
		     { .percent = "1000", .group = "B" });
}

int main(int argc, char **argv)
{
	return run_with_module(argc, argv, test_harness_run);
}
