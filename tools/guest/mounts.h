/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TOOLS_GUEST_MOUNTS_H
#define TOOLS_GUEST_MOUNTS_H

/* The file systems of the kernel, /tmp, and what can be written to. */
void mount_all(char *const *writable);

#endif
