// SPDX-License-Identifier: GPL-2.0
/*
 * R12: whatever percents an experiment has, a process outside keeps its share of
 * the CPU that they share, and within the experiment shares follow the percents.
 */
#include "harness.h"
#include "race.h"

/* How much a process outside gets beside these members. */
#define EXPECT_SHARE(expected, race, ...)				\
	EXPECT_NEAR(share_outside(MEMBERS(__VA_ARGS__), race), expected)

TEST(one_task_at_its_speed)
{
	EXPECT_SHARE(0.5, new_race(), { .percent = "100" });
}

TEST(one_task_very_fast)
{
	EXPECT_SHARE(0.5, new_race(), { .percent = "100000" });
}

TEST(one_task_slow)
{
	EXPECT_SHARE(0.5, new_race(), { .percent = "1" });
}

/* It begins own work again and again, so that it is charged nothing. */
TEST(one_task_in_own_work)
{
	EXPECT_SHARE(0.5, new_race(), { .percent = "own", .other = "own" });
}

/* By a system call at every turn: what holds now counts, not what held. */
TEST(one_task_that_changes)
{
	EXPECT_SHARE(0.5, new_race(), { .percent = "1000", .other = "10" });
}

TEST(two_tasks_that_change)
{
	const struct member changing = { .percent = "400", .other = "25" };

	EXPECT_SHARE(1.0 / 3, new_race(), changing, changing);
}

TEST(one_task_that_changes_and_one_that_does_not)
{
	EXPECT_SHARE(1.0 / 3, new_race(), { .percent = "1000", .other = "10" },
		     { .percent = "50" });
}

/*
 * They look slow, judged by their last moments, and are fast as long as they
 * have a turn. They may get the time that they lose by this later, but not at
 * the cost of the process outside.
 */
TEST(three_that_change_in_step_with_turns)
{
	struct race *race = new_race();
	const struct member sly = { .percent = "100000", .other = "1", .rounds = 40 };
	double share = share_outside(MEMBERS(sly, sly, sly), race);

	TH_LOG("%.4f, expected 0.2500", share);
	EXPECT_TRUE(share > 0.25 * (1 - TOLERANCE));
}

TEST(two_tasks)
{
	struct race *race = new_race();

	EXPECT_SHARE(1.0 / 3, race, { .percent = "400" }, { .percent = "100" });
	EXPECT_RATIO(race, 0, 1, 4);
}

TEST(four_tasks)
{
	struct race *race = new_race();

	EXPECT_SHARE(0.2, race, { .percent = "50" }, { .percent = "50" },
		     { .percent = "200" }, { .percent = "200" });
	EXPECT_RATIO(race, 2, 0, 4);
	EXPECT_RATIO(race, 3, 1, 4);
}

/* Weights of 1024 and 335, by the kernel's table of nice levels. */
TEST(weights_count_too)
{
	struct race *race = new_race();

	EXPECT_SHARE(1024.0 / (1024 + 1024 + 335), race,
		     { .percent = "200", .nice = 5 }, { .percent = "100" });
	EXPECT_RATIO(race, 0, 1, 2 * 335.0 / 1024);
}

/* Two experiments are two of the others to each other. */
TEST(other_experiments_keep_theirs)
{
	struct race *fast = new_race(), *slow = new_race();
	struct member one[] = { { .percent = "10000" }, { } }, other[] = { { .percent = "100" }, { } };
	pid_t leader[2];

	leader[0] = start(one, fast);
	leader[1] = start(other, slow);
	let_go(fast);
	let_go(slow);
	let_run(slow->pid[0], 2 * S);
	fast->stop = slow->stop = 1;
	ASSERT_FALSE(isnan(reap(leader[0])));
	ASSERT_FALSE(isnan(reap(leader[1])));
	EXPECT_NEAR((double)fast->stats.ran / slow->stats.ran, 1);
}

/* Alone, nothing is to be had from anybody: shares are the imagined program's. */
TEST(alone_by_percent)
{
	struct race *race = new_race();
	struct member members[] = { { .percent = "300" }, { .percent = "100" }, { } };

	ASSERT_TRUE(run_alone(members, race));
	EXPECT_RATIO(race, 0, 1, 3);
}

int main(int argc, char **argv)
{
	return run_with_module(argc, argv, test_harness_run);
}
