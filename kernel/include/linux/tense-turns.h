/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The page by which an emulator whose CPUs take turns reports to the kernel.
 * The emulator and the kernel share this file.
 */
#ifndef _LINUX_TENSE_TURNS_H
#define _LINUX_TENSE_TURNS_H

#include <linux/types.h>

#define TENSE_TURNS_MAGIC	0x74656e7365ull
#define TENSE_TURNS_CPUS	511

struct tense_turns {
	__u64 magic;	/* once set, the emulator writes the rest */
	__u64 waited[TENSE_TURNS_CPUS];	/* ns of waiting with work to do */
};

#endif
