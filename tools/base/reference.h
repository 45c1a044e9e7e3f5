/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TOOLS_REFERENCE_H
#define TOOLS_REFERENCE_H

#include <stdint.h>

/*
 * A fixed amount of work, some of it in the caches: the CPU time that it took,
 * in ns. What it takes tells the speed of the machine where a program cannot.
 */
uint64_t reference_loop(void);

#endif
