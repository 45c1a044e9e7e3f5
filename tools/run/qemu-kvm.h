/* SPDX-License-Identifier: GPL-2.0 */
/* Whether a virtual machine really runs on this host's KVM. */
#ifndef TOOLS_QEMU_KVM_H
#define TOOLS_QEMU_KVM_H

/*
 * A model of the CPU with which it does, or NULL. To find out takes some
 * seconds at most; the verdict is kept in the cache until the machine is booted
 * again, and told when it is new.
 */
const char *qemu_kvm_cpu(const char *emulator, const char *kernel,
			 const char *cache);

#endif
