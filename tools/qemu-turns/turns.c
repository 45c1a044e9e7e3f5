// SPDX-License-Identifier: GPL-2.0
/*
 * tense-turns.so,memory=PATH,at=ADDRESS,ns=N: a plugin of QEMU's for -icount with
 * several CPUs. They take turns in one thread, and the one clock counts the
 * instructions of all, N ns each. The plugin tells the kernel for how long each CPU
 * waited for its turn while it had something to do. It counts the instructions of
 * each CPU. Before a CPU reads its counter, it writes the sum of the others' into
 * the guest's memory, a file that is mapped here too.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <linux/tense-turns.h>

#include "plugin.h"

QEMU_PLUGIN_EXPORT int qemu_plugin_version = QEMU_PLUGIN_VERSION;

struct cpu {
	uint64_t executed;	/* instructions */
	/*
	 * Awake: instructions that the others executed while this CPU slept.
	 * Asleep: instructions that they executed while it was awake.
	 */
	uint64_t slept;
	bool awake;		/* else it waits for an interrupt */
};

static struct cpu cpus[TENSE_TURNS_CPUS];
static uint64_t executed;	/* by all */
static int nr_cpus;
static struct cpu *me;		/* the CPU whose turn it is */
static const void *turn;	/* the same, as QEMU names it */
static struct tense_turns *turns;
static uint64_t ns_per_instruction;

static uint64_t by_others(const struct cpu *cpu)
{
	return executed - cpu->executed;
}

/* How many instructions of others an awake CPU waited for. Sleep stops it. */
static uint64_t waited(const struct cpu *cpu)
{
	return cpu->awake ? by_others(cpu) - cpu->slept : cpu->slept;
}

static void change(struct cpu *cpu)
{
	cpu->slept = by_others(cpu) - cpu->slept;
	cpu->awake = !cpu->awake;
}

/* QEMU passes the CPU that translated the block, which may be another one. */
static void find_me(void)
{
	for (int i = 0; i < nr_cpus; i++)
		if (qemu_get_cpu(i) == current_cpu)
			me = &cpus[i];
	turn = current_cpu;
}

/* A block counts as executed where it begins. */
static void begin_block(unsigned int translator, void *instructions)
{
	(void)translator;
	if (turn != current_cpu)
		find_me();
	if (!me->awake)
		change(me);
	me->executed += (uintptr_t)instructions;
	executed += (uintptr_t)instructions;
}

static void halt(unsigned int translator, void *data)
{
	(void)translator;
	(void)data;
	change(me);
}

static void read_counter(unsigned int translator, void *data)
{
	(void)translator;
	(void)data;
	if (turns->magic != TENSE_TURNS_MAGIC)
		return;
	for (int i = 0; i < nr_cpus; i++)
		turns->waited[i] = waited(&cpus[i]) * ns_per_instruction;
}

static bool is(const struct qemu_plugin_insn *insn, const char *code,
	       size_t size)
{
	char data[16];

	return qemu_plugin_insn_data(insn, data, sizeof(data)) == size &&
	       !memcmp(data, code, size);
}

static void translate(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	size_t n = qemu_plugin_tb_n_insns(tb);

	(void)id;
	qemu_plugin_register_vcpu_tb_exec_cb(tb, begin_block,
					     QEMU_PLUGIN_CB_NO_REGS, (void *)n);
	for (size_t i = 0; i < n; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
		qemu_plugin_cpu_cb cb = NULL;

		if (is(insn, "\x0f\x31", 2) || is(insn, "\x0f\x01\xf9", 3))
			cb = read_counter;	/* rdtsc, rdtscp */
		else if (is(insn, "\xf4", 1))
			cb = halt;
		if (cb)
			qemu_plugin_register_vcpu_insn_exec_cb(insn, cb,
					QEMU_PLUGIN_CB_NO_REGS, NULL);
	}
}

static int refuse(const char *why)
{
	fprintf(stderr, "tense-turns: %s\n", why);
	return -1;
}

static const char *value_of(const char *name, int argc, char **argv)
{
	size_t size = strlen(name);

	for (int i = 0; i < argc; i++)
		if (!strncmp(argv[i], name, size) && argv[i][size] == '=')
			return argv[i] + size + 1;
	return NULL;
}

static struct tense_turns *map(const char *path, off_t at)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);
	void *page;

	if (fd < 0)
		return MAP_FAILED;
	page = mmap(NULL, sizeof(*turns), PROT_READ | PROT_WRITE, MAP_SHARED,
		    fd, at);
	close(fd);
	return page;
}

int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc,
			char **argv)
{
	const char *memory = value_of("memory", argc, argv);
	const char *at = value_of("at", argc, argv);
	const char *ns = value_of("ns", argc, argv);

	if (!memory || !at || !ns)
		return refuse("memory, at and ns are needed");
	nr_cpus = info->system.max_vcpus;
	if (!info->system_emulation || nr_cpus > TENSE_TURNS_CPUS)
		return refuse("not for this machine");
	ns_per_instruction = strtoull(ns, NULL, 0);
	turns = map(memory, strtoull(at, NULL, 0));
	if (turns == MAP_FAILED)
		return refuse("cannot map the memory");
	qemu_plugin_register_vcpu_tb_trans_cb(id, translate);
	return 0;
}
