/* SPDX-License-Identifier: GPL-2.0 */
/* The virtual machine, as QEMU's command line. */
#ifndef TOOLS_QEMU_MACHINE_H
#define TOOLS_QEMU_MACHINE_H

#include <stdbool.h>

#include "proto.h"

#define QEMU_PROGRAM	"qemu-system-x86_64"
#define QEMU_CPUS_MAX	64	/* as in the kernel's configuration */
/* Slots for devices that the other devices leave free. */
#define QEMU_WRITABLE_MAX	16

/*
 * If instructions are counted, one takes 2^n ns. The less it takes, the less of a
 * program's time goes into ticks, of which there are 1000 in a second.
 */
#define QEMU_SHIFT	0

/* How a machine whose clock counts instructions starts. */
enum qemu_start {
	QEMU_BOOT,
	QEMU_SAVE,	/* it boots, stops itself, and its state is saved */
	QEMU_LOAD,	/* it resumes from there */
};

/* Files of a saved machine. */
enum { QEMU_MEMORY, QEMU_STATE, QEMU_BOOTED_FILES };

/* Ports of a machine that is saved, or resumes. */
#define QEMU_PORTS	4

struct qemu_machine {
	const char *emulator;
	const char *kernel;
	const char *init;		/* NULL: no files, and it dies of that */
	bool counted;			/* its clock counts instructions, and: */
	unsigned int seed;		/* for the guest's random numbers */
	enum qemu_start start;
	int initramfs;			/* a descriptor of its files, in an archive */
	int memory;			/* a descriptor of an empty file */
	int booted[QEMU_BOOTED_FILES];	/* descriptors of the state */
	int archive;			/* to save: a descriptor of one that is empty */
	int monitor;			/* to save: a socket */
	const char *commands;		/* to load: a file of commands for the emulator */
	const char *turns;		/* path of tense-turns.so */
	const char *kvm_cpu;		/* NULL: emulated */
	unsigned int cpus;
	unsigned long long memory_mib;
	char *const *writable;
	int ports[CHANNELS_MAX];	/* sockets, or files, by channel */
	int nr_ports;
};

/* The size of the device's memory from which a guest that resumes takes its archive. */
unsigned long long qemu_archive_mib(const struct qemu_machine *m);

/* The list is never freed: it is for a process that is about to exec. */
char **qemu_machine_command(const struct qemu_machine *m);

#endif
