/* SPDX-License-Identifier: GPL-2.0 */
/* splitmix64: the same numbers from the same seed everywhere. */
#ifndef SIM_RNG_H
#define SIM_RNG_H

#include <stdbool.h>
#include <stdint.h>

struct rng {
	uint64_t state;
};

static inline uint64_t rng_next(struct rng *r)
{
	uint64_t z = r->state += 0x9e3779b97f4a7c15;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return z ^ (z >> 31);
}

/* 0 to n - 1. */
static inline uint64_t rng_below(struct rng *r, uint64_t n)
{
	return rng_next(r) % n;
}

static inline bool rng_chance(struct rng *r, unsigned int percent)
{
	return rng_below(r, 100) < percent;
}

/* 1 to max, each order of magnitude as likely as the next. */
static inline uint64_t rng_scale(struct rng *r, uint64_t max)
{
	unsigned int bits = 64 - (unsigned int)__builtin_clzll(max);
	uint64_t n = rng_next(r);

	n >>= 64 - 1 - rng_below(r, bits);
	return n < 1 ? 1 : n > max ? max : n;
}

#endif
