// SPDX-License-Identifier: GPL-2.0
/* libtense's stack of percents against exact arithmetic. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "api/stack.h"
#include "tap.h"

typedef unsigned __int128 u128;

#define MIN (TENSE_SCALE_MIN * TENSE_STACK_ONE)
#define MAX (TENSE_SCALE_MAX * TENSE_STACK_ONE)

static uint64_t random_state = 1;

static uint32_t random_below(uint32_t n)
{
	random_state = random_state * 6364136223846793005ULL +
		       1442695040888963407ULL;
	return (random_state >> 33) % n;
}

static int push(struct tense_stack *s, int percent)
{
	uint64_t product;
	int err = tense_stack_product(s, percent, &product);

	if (!err)
		s->level[++s->depth] = product;
	return err;
}

static unsigned int top(const struct tense_stack *s)
{
	return tense_stack_round(s->level[s->depth]);
}

static void nesting(void)
{
	struct tense_stack s;

	tense_stack_base(&s, 100);
	push(&s, 200);
	push(&s, 50);
	is_i64(s.level[2], 100 * TENSE_STACK_ONE, "50 inside 200 is 100");

	tense_stack_base(&s, 100);
	push(&s, 33);
	push(&s, 50);
	is_i64(top(&s), 17, "33 inside 50 is 16.5, 17 for the kernel");
	push(&s, 200);
	is_i64(s.level[3], 33 * TENSE_STACK_ONE,
	       "and 200 inside of that is 33 again");

	tense_stack_base(&s, 100000);
	for (int i = 0; i < 6; i++)
		push(&s, i & 1 ? 99 : 37);
	/* 100000 * .37^3 * .99^3 */
	is_i64(s.level[6], 4914855524700000ULL,
	       "six levels are exact");

	tense_stack_base(&s, 30);
	push(&s, 300);
	is_i64(top(&s), 90, "nesting multiplies on top of the base");
}

/* Any number of levels against the product in 128 bits, rounded the same way. */
static void against_reference(void)
{
	int wrong = 0, in_range = 0, wrong_range = 0;

	for (int run = 0; run < 20000; run++) {
		unsigned int base = 1 + random_below(TENSE_SCALE_MAX);
		struct tense_stack s;
		u128 exact = (u128)base * TENSE_STACK_ONE;

		tense_stack_base(&s, base);
		for (int level = 0; level < 40; level++) {
			int p = random_below(2) ? 1 + random_below(400) :
				1 + random_below(TENSE_SCALE_MAX);
			u128 next = (exact * p + 50) / 100;
			bool valid = exact * p <= (u128)MAX * 100 &&
				     next >= MIN;
			int err = push(&s, p);

			if (err != (valid ? 0 : -ERANGE))
				wrong_range++;
			if (valid) {
				exact = next;
				in_range++;
			}
			if (s.level[s.depth] != exact)
				wrong++;
		}
	}
	is_i64(wrong, 0, "%d random products are those of 128 bits", in_range);
	is_i64(wrong_range, 0, "-ERANGE where the product leaves the range");
	ok(in_range > 100000, "enough of them were in range");
}

/* Roundings add up, and are scaled by the levels after them. */
static void error_of_many_levels(void)
{
	long double worst = 0;

	for (int run = 0; run < 2000; run++) {
		struct tense_stack s;
		long double exact = 1000, error;

		tense_stack_base(&s, 1000);
		while (s.depth < TENSE_SCALE_DEPTH) {
			int p = 80 + random_below(41);

			if (!push(&s, p))
				exact = exact * p / 100;
		}
		error = (long double)s.level[s.depth] / TENSE_STACK_ONE - exact;
		if (error < 0)
			error = -error;
		if (error / exact > worst)
			worst = error / exact;
	}
	ok(worst < 1e-9L, "64 levels: relative error %.2Lg, below 1e-9", worst);
}

static void errors(void)
{
	static const int bad[] = { 0, -1, -100, 100001, 2147483647,
				   -2147483647 - 1 };
	struct tense_stack s, before;
	uint64_t product = 42;

	tense_stack_base(&s, 100);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		is_i64(tense_stack_product(&s, bad[i], &product), -EINVAL,
		       "percent %d is invalid", bad[i]);
	is_i64(product, 42, "and no product is stored");

	is_i64(push(&s, 100000), 0, "the largest percent");
	before = s;
	is_i64(push(&s, 101), -ERANGE, "1 %% more is out of range");
	ok(s.depth == before.depth &&
	   !memcmp(s.level, before.level, sizeof(s.level)),
	   "and changes nothing");
	is_i64(push(&s, 1), 0, "100000 * 1 %%");
	is_i64(top(&s), 1000, "is 1000");
	is_i64(push(&s, 1), 0, "1 %% of that");
	is_i64(push(&s, 10), 0, "10 %% of that is the smallest");
	is_i64(top(&s), 1, "1");
	is_i64(push(&s, 99), -ERANGE, "less than 1 is out of range");

	tense_stack_base(&s, 100);
	for (int i = 0; i < TENSE_SCALE_DEPTH; i++)
		if (push(&s, 100))
			ok(false, "level %d", i);
	is_i64(push(&s, 100), -ENOSPC, "level %d is too deep",
	       TENSE_SCALE_DEPTH + 1);
	is_i64(push(&s, 0), -EINVAL, "an invalid percent is told first");
}

static void rounding(void)
{
	is_i64(tense_stack_round(TENSE_STACK_ONE * 3 / 2), 2, "1.5 is 2");
	is_i64(tense_stack_round(TENSE_STACK_ONE * 3 / 2 - 1), 1,
	       "a little less is 1");
	is_i64(tense_stack_round(MAX), TENSE_SCALE_MAX, "the largest is whole");
}

int main(void)
{
	nesting();
	against_reference();
	error_of_many_levels();
	errors();
	rounding();
	return done();
}
