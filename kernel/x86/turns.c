// SPDX-License-Identifier: GPL-2.0
/*
 * Time stolen by an emulator whose CPUs take turns on one clock, which counts
 * instructions. The emulator writes into a page, "tense.turns=ADDRESS", how
 * long each CPU has waited for its turn. It does so before a CPU reads its
 * counter. By its own task clock, each CPU is then as fast as a single one.
 */
#include <linux/init.h>
#include <linux/memblock.h>
#include <linux/mm.h>
#include <linux/sched/cputime.h>
#include <linux/static_call.h>
#include <linux/tense-turns.h>

#include <asm/paravirt.h>

static phys_addr_t address __initdata;
static const struct tense_turns *turns __ro_after_init;

static u64 turns_steal_clock(int cpu)
{
	return READ_ONCE(turns->waited[cpu]);
}

static int __init turns_setup(char *text)
{
	unsigned long long value;

	if (!text || kstrtoull(text, 0, &value) || !value ||
	    !PAGE_ALIGNED(value))
		return -EINVAL;
	address = value;
	return memblock_reserve(address, PAGE_SIZE);
}
early_param("tense.turns", turns_setup);

static int __init turns_init(void)
{
	struct tense_turns *page;

	BUILD_BUG_ON(sizeof(*page) > PAGE_SIZE);
	if (!address)
		return 0;
	if (nr_cpu_ids > ARRAY_SIZE(page->waited))
		return -E2BIG;
	page = phys_to_virt(address);
	memset(page, 0, sizeof(*page));
	WRITE_ONCE(page->magic, TENSE_TURNS_MAGIC);
	turns = page;
	static_call_update(pv_steal_clock, turns_steal_clock);
	static_key_slow_inc(&paravirt_steal_enabled);
	static_key_slow_inc(&paravirt_steal_rq_enabled);
	return 0;
}
early_initcall(turns_init);
