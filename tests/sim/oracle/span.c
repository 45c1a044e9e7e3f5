// SPDX-License-Identifier: GPL-2.0
#include "span.h"

/* The least percent of a program's tasks, at any time. */
static uint32_t least_percent(const struct program *p)
{
	uint64_t least = UINT32_MAX;

	for (unsigned int t = 0; t < p->tasks; t++) {
		const struct script *s = &p->task[t];

		if (!s->forked && s->percent < least)
			least = s->percent;
		for (unsigned int i = 0; i < s->ops; i++)
			if (s->op[i].kind == OP_PERCENT &&
			    s->op[i].amount < least)
				least = s->op[i].amount;
	}
	return (uint32_t)least;
}

static uint64_t longest_in_kernel(const struct program *p)
{
	uint64_t longest = 0;

	for (unsigned int t = 0; t < p->tasks; t++)
		for (unsigned int i = 0; i < p->task[t].ops; i++)
			if (p->task[t].op[i].kind == OP_KERNEL &&
			    p->task[t].op[i].amount > longest)
				longest = p->task[t].op[i].amount;
	return longest;
}

static fixed_t skew_of(const struct program *p, uint64_t timer,
		       uint32_t percent)
{
	const struct setup *s = &p->setup;
	fixed_t alone = model_virtual(s->tick, percent * 1000);
	fixed_t late = model_virtual(timer + longest_in_kernel(p),
				     percent * 1000);

	if (s->cpus == 1)
		return 0;
	/* Times are cut off to whole ns, and W + 1 is the first one too far. */
	return fixed_max(fixed_from(s->window), alone) + late + fixed_from(2);
}

/* See the head of span.h. */
struct slack slack_of(const struct program *p)
{
	const struct setup *s = &p->setup;
	uint32_t percent = least_percent(p);
	uint64_t rate = percent < 100 ? (100 + percent - 1) / percent : 1;
	/* One that looks too early, by its CPU's clock, is set again. */
	uint64_t timer = 2 * (s->lateness + s->apart) + 1;
	fixed_t skew = skew_of(p, timer, percent);

	return (struct slack) {
		.skew = skew,
		.wake = s->latency ? skew + fixed_from(s->latency * rate) : 0,
		.deadline = skew + fixed_from((timer + s->latency) * rate + 1),
		.order = 3 * skew +
			 fixed_from(2 * rate * (timer + s->latency) + 1000),
		.lateness = timer,
		.rate = rate,
	};
}
