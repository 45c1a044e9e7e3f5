/* SPDX-License-Identifier: GPL-2.0 */
/* Work that does nothing, as long as is asked for. */
#ifndef NOISE_NOPS_H
#define NOISE_NOPS_H

#include <stddef.h>
#include <stdint.h>

/* How long blocks of instructions that do nothing take, in seconds. */
struct nops {
	double once;		/* however many they are */
	double block;
	double error;		/* mean deviation from that, as a part of it */
};

/* Seconds that so many blocks take. */
double nops_time(uint64_t blocks);

/*
 * The line through the shortest times that several lengths were seen to take:
 * what disturbs them makes them longer. 0, or -1 after a message.
 */
int nops_calibrate(struct nops *n);

/* The line through these points; each counts by its error relative to itself. */
void nops_regress(struct nops *n, const double *blocks, const double *seconds,
		  size_t count);

/* The number of blocks, at least 1, that comes closest to a time, and its time. */
uint64_t nops_blocks(const struct nops *n, double seconds);
double nops_expected(const struct nops *n, uint64_t blocks);

#endif
