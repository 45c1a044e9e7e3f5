// SPDX-License-Identifier: GPL-2.0
/*
 * The offsets of an experiment's clocks to the monotonic one. This file follows the
 * real clocks when they are set, for all experiments.
 *
 * exp->lock protects the offsets, which are read without it. experiments_lock is
 * taken first.
 */
#include <linux/ktime.h>
#include <linux/list.h>
#include <linux/spinlock.h>
#include <linux/timekeeping.h>

#include "tense.h"

/* Protects the list of experiments. Taken before any run queue or experiment lock. */
static DEFINE_SPINLOCK(experiments_lock);
static LIST_HEAD(experiments);

/* Tells all clock pages that the clocks have changed. */
static void clocks_changed(struct tense_experiment *exp)
{
	lockdep_assert_held(&exp->lock);

	/* 0 means that a page shows nothing yet. Pairs with update_clocks(). */
	smp_store_release(&exp->clock_changes, max(exp->clock_changes + 1, 1U));
}

/* Reads the offsets of the clocks that can be set; the other offsets are constant. */
static void read_offsets(struct tense_experiment *exp)
{
	lockdep_assert_held(&exp->lock);

	WRITE_ONCE(exp->offset[TENSE_REALTIME],
		   ktime_mono_to_any(0, TK_OFFS_REAL));
	WRITE_ONCE(exp->offset[TENSE_BOOTTIME],
		   ktime_mono_to_any(0, TK_OFFS_BOOT));
	WRITE_ONCE(exp->offset[TENSE_TAI], ktime_mono_to_any(0, TK_OFFS_TAI));
	clocks_changed(exp);
}

void tense_clocks_init(struct tense_experiment *exp)
{
	exp->virtual_clocks = GENMASK(TENSE_CLOCKS - 1, 0);
	exp->offset[TENSE_RAW] = ktime_get_raw_ns() - ktime_get_ns();

	spin_lock(&experiments_lock);
	raw_spin_lock_irq(&exp->lock);
	read_offsets(exp);
	raw_spin_unlock_irq(&exp->lock);
	list_add_tail(&exp->node, &experiments);
	spin_unlock(&experiments_lock);
}

void tense_clocks_end(struct tense_experiment *exp)
{
	spin_lock(&experiments_lock);
	list_del(&exp->node);
	spin_unlock(&experiments_lock);
}

/**
 * tense_clocks_choose() - say which clocks are virtual
 * @exp: experiment
 * @clocks: a bit per clock
 */
void tense_clocks_choose(struct tense_experiment *exp, unsigned long clocks)
{
	raw_spin_lock_irq(&exp->lock);
	WRITE_ONCE(exp->virtual_clocks, clocks);
	clocks_changed(exp);
	raw_spin_unlock_irq(&exp->lock);
}

/* A wait for a time of day now ends at another virtual time. */
void tense_clock_was_set(void)
{
	struct tense_experiment *exp;

	spin_lock(&experiments_lock);
	list_for_each_entry(exp, &experiments, node) {
		raw_spin_lock_irq(&exp->lock);
		read_offsets(exp);
		tense_waits_moved(exp);
		raw_spin_unlock_irq(&exp->lock);
		tense_kick(exp);
	}
	spin_unlock(&experiments_lock);
}
