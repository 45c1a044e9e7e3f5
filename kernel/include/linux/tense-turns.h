/* SPDX-License-Identifier: GPL-2.0 */
/* What an emulator whose CPUs take turns tells the kernel; of both sides. */
#ifndef _LINUX_TENSE_TURNS_H
#define _LINUX_TENSE_TURNS_H

#include <linux/types.h>

#define TENSE_TURNS_MAGIC	0x74656e7365ull
#define TENSE_TURNS_CPUS	511

struct tense_turns {
	__u64 magic;	/* from when on the emulator writes the rest */
	__u64 waited[TENSE_TURNS_CPUS];	/* ns, while it had something to do */
};

#endif
