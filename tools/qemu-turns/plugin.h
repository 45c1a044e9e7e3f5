/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The part of QEMU's plugin interface, version 4, that tense-turns.so uses.
 * Debian has no package of its header. See QEMU's docs/devel/tcg-plugins.
 */
#ifndef TOOLS_QEMU_PLUGIN_H
#define TOOLS_QEMU_PLUGIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define QEMU_PLUGIN_EXPORT __attribute__((visibility("default")))
#define QEMU_PLUGIN_VERSION 4

struct qemu_plugin_tb;
struct qemu_plugin_insn;

typedef uint64_t qemu_plugin_id_t;
typedef void (*qemu_plugin_block_cb)(qemu_plugin_id_t id,
				     struct qemu_plugin_tb *tb);
typedef void (*qemu_plugin_cpu_cb)(unsigned int cpu, void *data);

enum qemu_plugin_cb_flags {
	QEMU_PLUGIN_CB_NO_REGS,
};

typedef struct {
	const char *target_name;
	struct {
		int min;
		int cur;
	} version;
	bool system_emulation;
	struct {
		int smp_vcpus;
		int max_vcpus;
	} system;
} qemu_info_t;

/* The plugin defines these. */
extern QEMU_PLUGIN_EXPORT int qemu_plugin_version;
QEMU_PLUGIN_EXPORT int qemu_plugin_install(qemu_plugin_id_t id,
					   const qemu_info_t *info, int argc,
					   char **argv);

/* QEMU defines these. */
void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id,
					   qemu_plugin_block_cb cb);
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *tb,
					  qemu_plugin_cpu_cb cb,
					  enum qemu_plugin_cb_flags flags,
					  void *data);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *insn,
					    qemu_plugin_cpu_cb cb,
					    enum qemu_plugin_cb_flags flags,
					    void *data);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb,
						 size_t i);
size_t qemu_plugin_insn_data(const struct qemu_plugin_insn *insn, void *to,
			     size_t size);

/*
 * Not of that interface, but of the program: who executes, and who that is. An
 * emulator without them does not load the plugin.
 */
extern __thread void *current_cpu;
void *qemu_get_cpu(int index);

#endif
