/* SPDX-License-Identifier: GPL-2.0 */
/* Breakpoints of Linux 7.2, as probe.c uses them. */
#ifndef TENSE_COMPAT_PROBE_H
#define TENSE_COMPAT_PROBE_H

#include <linux/uprobes.h>

struct compat_probe {
	struct uprobe_consumer consumer;
	struct uprobe *uprobe;
};

/* Handlers in probe.c. */
static int probe_entry(struct compat_probe *probe, struct pt_regs *regs);
static int probe_return(struct compat_probe *probe, struct pt_regs *regs);
static bool probe_filter(struct compat_probe *probe, struct mm_struct *mm);

static struct compat_probe *compat_probe_of(struct uprobe_consumer *consumer)
{
	return container_of(consumer, struct compat_probe, consumer);
}

static int compat_entry(struct uprobe_consumer *consumer, struct pt_regs *regs,
			__u64 *data)
{
	return probe_entry(compat_probe_of(consumer), regs);
}

static int compat_return(struct uprobe_consumer *consumer, unsigned long func,
			 struct pt_regs *regs, __u64 *data)
{
	return probe_return(compat_probe_of(consumer), regs);
}

static bool compat_filter(struct uprobe_consumer *consumer, struct mm_struct *mm)
{
	return probe_filter(compat_probe_of(consumer), mm);
}

/* May sleep. The inode is in use until compat_probe_unregister(). */
static int compat_probe_register(struct compat_probe *probe,
				 struct inode *inode, loff_t offset)
{
	probe->consumer.handler = compat_entry;
	probe->consumer.ret_handler = compat_return;
	probe->consumer.filter = compat_filter;
	probe->uprobe = uprobe_register(inode, offset, 0, &probe->consumer);
	return PTR_ERR_OR_ZERO(probe->uprobe);
}

/* May sleep. Afterwards no handler runs. */
static void compat_probe_unregister(struct compat_probe *probe)
{
	uprobe_unregister_nosync(probe->uprobe, &probe->consumer);
	uprobe_unregister_sync();
}

#endif
