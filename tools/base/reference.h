/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TOOLS_REFERENCE_H
#define TOOLS_REFERENCE_H

#include <stdint.h>

/*
 * Does a fixed amount of work, some of it in the caches, and returns the CPU
 * time that it took, in ns. The time tells how fast the machine is.
 */
uint64_t reference_loop(void);

#endif
