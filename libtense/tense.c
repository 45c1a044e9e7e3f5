// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>

#include <tense.h>

#include "device.h"
#include "stack.h"

#define EXPORT __attribute__((visibility("default")))

static _Thread_local struct tense_stack stack;

/* Also finds out, for every function, whether the device can be used. */
static int base(void)
{
	struct tense_stats stats;
	int err;

	if (stack.based)
		return 0;
	err = tense_device_stats(&stats);
	if (!err)
		tense_stack_base(&stack, stats.percent);
	return err;
}

/* Makes the product at the new depth the thread's percent. */
static int move_to(unsigned int depth, uint64_t product)
{
	unsigned int old = tense_stack_round(stack.level[stack.depth]);
	unsigned int new = tense_stack_round(product);
	int err = old == new ? 0 : tense_device_percent(new);

	if (!err) {
		stack.depth = depth;
		stack.level[depth] = product;
	}
	return err;
}

EXPORT int tense_init(void)
{
	return tense_device_join(false);
}

EXPORT int tense_destroy(void)
{
	int err = tense_scale_clear();

	if (!err)
		err = tense_device_leave();
	if (!err)
		stack.based = false;
	return err;
}

EXPORT int tense_health_check(void)
{
	struct tense_stats stats;
	int err = tense_device_stats(&stats);

	if (!err && stack.based &&
	    stats.percent != tense_stack_round(stack.level[stack.depth]))
		err = -EIO;
	return err;
}

EXPORT int tense_scale_percent(int percent)
{
	uint64_t product;
	int err = base();

	if (!err)
		err = tense_stack_product(&stack, percent, &product);
	return err ? err : move_to(stack.depth + 1, product);
}

EXPORT int tense_scale_pop(void)
{
	int err = base();

	if (err)
		return err;
	if (!stack.depth)
		return -EINVAL;
	return move_to(stack.depth - 1, stack.level[stack.depth - 1]);
}

EXPORT int tense_scale_clear(void)
{
	int err = base();

	return err ? err : move_to(0, stack.level[0]);
}

EXPORT int tense_move(int64_t ns)
{
	int64_t now = tense_device_move(ns);

	return now < 0 ? now : 0;
}

EXPORT int tense_time(uint64_t *ns)
{
	int64_t now = tense_device_move(0);

	if (now < 0)
		return now;
	if (!ns)
		return -EINVAL;
	*ns = now;
	return 0;
}

EXPORT int tense_sleep(int64_t ns)
{
	int64_t now = tense_device_sleep(ns);

	return now < 0 ? now : 0;
}
