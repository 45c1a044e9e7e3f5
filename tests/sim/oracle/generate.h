/* SPDX-License-Identifier: GPL-2.0 */
/* Random programs, which do not deadlock. */
#ifndef ORACLE_GENERATE_H
#define ORACLE_GENERATE_H

#include "program.h"

enum style {
	/*
	 * Each task has its CPUs for itself, and each semaphore, pipe and
	 * condition has one task at each end. Determinate by construction.
	 */
	STYLE_FLOW,
	/*
	 * Tasks share CPUs, mutexes and semaphores, and waits have time-outs,
	 * but they do so at times that are far apart. Most are determinate.
	 */
	STYLE_SPACED,
	/* The same at any time: who comes first is first. Hardly one is. */
	STYLE_CROWD,
	STYLES
};

extern const char *const style_name[STYLES];

void generate(struct program *p, uint64_t seed, enum style style,
	      uint32_t cpus);

#endif
