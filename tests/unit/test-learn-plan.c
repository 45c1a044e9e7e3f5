// SPDX-License-Identifier: GPL-2.0
/* How the time for learning is divided between short and long tasks. */
#include <math.h>
#include <string.h>

#include "measure/cutoffs.h"
#include "measure/learn-plan.h"
#include "tap.h"

static double sum(const struct learn_plan *p)
{
	return p->seconds[TASK_SHORT] + p->seconds[TASK_LONG];
}

static void test_default(void)
{
	struct learn_plan p = { 0 };

	ok(!learn_plan_complete(&p) && p.length[TASK_SHORT] == 1 &&
	   p.samples[TASK_SHORT] == 300 && p.samples[TASK_LONG] == 30,
	   "by default 300 short samples of 1 s and 30 long ones");
	ok(fabs(sum(&p) - 1200) < 1, "in 20 minutes");
	ok(p.length[TASK_LONG] > 20 && p.length[TASK_LONG] < 40,
	   "long ones take what is left");
}

static void test_short_only(void)
{
	struct learn_plan p = { .short_only = true };

	ok(!learn_plan_complete(&p) && p.samples[TASK_SHORT] == 300 &&
	   !p.samples[TASK_LONG] && p.seconds[TASK_LONG] == 0,
	   "no long samples if they are not wanted");
	p = (struct learn_plan){ .short_only = true, .time = 60 };
	ok(!learn_plan_complete(&p) && p.samples[TASK_SHORT] < 60 &&
	   p.samples[TASK_SHORT] > 50 && sum(&p) <= 60, "as many as fit");
}

/* Whatever the time, it is not exceeded, or refused. */
static void test_times(void)
{
	size_t bad = 0, refused = 0, taken = 0;

	for (double time = 1; time < 1e5; time *= 1.01) {
		struct learn_plan p = { .time = time };
		double least = learn_plan_complete(&p);

		refused += least > 0;
		taken += least <= 0;
		if (least > 0 ? least <= time :
		    sum(&p) > time * (1 + 1e-9) ||
		    p.samples[TASK_SHORT] < 10 || p.samples[TASK_LONG] < 10 ||
		    p.samples[TASK_SHORT] > 300 || p.samples[TASK_LONG] > 30 ||
		    p.length[TASK_LONG] < 2 * (1 - 1e-9) ||
		    p.length[TASK_LONG] > 128)
			bad++;
	}
	ok(!bad && refused && taken, "%zu times suffice, %zu do not", taken,
	   refused);
}

static void test_least(void)
{
	struct learn_plan p = { .time = 5 };
	double least = learn_plan_complete(&p);

	p = (struct learn_plan){ .time = least };
	ok(least > 5 && !learn_plan_complete(&p), "the least time suffices");
	p = (struct learn_plan){ .time = 200, .samples = { 0, 60 } };
	ok(!learn_plan_complete(&p) && p.samples[TASK_LONG] == 60 &&
	   sum(&p) <= 200, "long samples that are asked for leave short ones less");
}

static void test_given(void)
{
	struct learn_plan p = { .length = { 0.02, 0.06 },
				.samples = { 12, 10 } };

	ok(!learn_plan_complete(&p) && p.length[TASK_SHORT] == 0.02 &&
	   p.length[TASK_LONG] == 0.06 && p.samples[TASK_SHORT] == 12 &&
	   p.samples[TASK_LONG] == 10, "all that is given stays");
	p = (struct learn_plan){ .length = { 0.02, 0 }, .samples = { 12, 0 } };
	ok(!learn_plan_complete(&p) && fabs(p.length[TASK_LONG] - 2.56) < 1e-9 &&
	   p.samples[TASK_LONG] == 30, "long ones are 128 times as long at most");
	p = (struct learn_plan){ .samples = { 3000, 0 } };
	ok(!learn_plan_complete(&p) && p.length[TASK_LONG] > 2,
	   "many short samples leave time for long ones");
	p = (struct learn_plan){ .time = 100, .samples = { 3000, 0 } };
	ok(!learn_plan_complete(&p) && p.samples[TASK_SHORT] == 3000 &&
	   p.length[TASK_LONG] >= 2 * (1 - 1e-9),
	   "more than fit are planned, and end with the time");
}

int main(void)
{
	test_default();
	test_short_only();
	test_times();
	test_least();
	test_given();
	return done();
}
