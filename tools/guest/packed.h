/* SPDX-License-Identifier: GPL-2.0 */
/* The files of a guest that had booted before they were packed. */
#ifndef TOOLS_GUEST_PACKED_H
#define TOOLS_GUEST_PACKED_H

#include <stdbool.h>

/*
 * Returns false, and does nothing, unless the initial file system holds only this program.
 * Otherwise stops the machine. When the host resumes it, unpacks the archive that the host
 * has put into a device's memory, and returns true. Call it before other mounts, so that
 * files are where the kernel would unpack them.
 */
bool packed_await(void);

/* Mixes the CPU's random numbers, which differ by the emulator's seed, into the kernel's. */
void packed_reseed(void);

#endif
