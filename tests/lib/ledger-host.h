/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Replaces what module/ledger.c and module/groups.c take from the kernel, for
 * programs of one thread on the host.
 */
#ifndef TENSE_LEDGER_HOST_H
#define TENSE_LEDGER_HOST_H

#include "vclock-host.h"

#define TENSE_SHARE_MAX	BIT_ULL(30)

#define min_t(type, a, b)	min((type)(a), (type)(b))
#define max_t(type, a, b)	max((type)(a), (type)(b))
#define lockdep_assert_irqs_disabled()	((void)0)
#define DEFINE_PER_CPU(type, name)	type name
#define this_cpu_ptr(pointer)		(pointer)

/* As in <linux/tense.h>. */
struct tense_place {
	const void *queue;
	unsigned int running;
	unsigned long weight;
	u64 vruntime;
	u64 min_vruntime;
};

struct tense_group {
	unsigned int running;
	unsigned int depth;
	u64 min_vruntime;
	const void *above;
	unsigned long weight;
	u64 vruntime;
	bool limited;
};

struct tense_group tense_group_of(const void *queue);
void tense_group_owes(const void *queue, s64 ns);

static inline u64 div64_u64(u64 dividend, u64 divisor)
{
	return dividend / divisor;
}

static inline s64 div64_s64(s64 dividend, s64 divisor)
{
	return dividend / divisor;
}

#endif
