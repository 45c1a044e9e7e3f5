// SPDX-License-Identifier: GPL-2.0
/*
 * Runs functions at a percent of their own, by breakpoints at their entry and
 * return. Serves programs into which libtense cannot be loaded.
 *
 * exp->probes_mutex protects the list of probes. t->lock protects the frames of a
 * task. Only the task itself, or its parent at a fork, allocates its frames.
 */
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/ptrace.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "compat-probe.h"
#include "tense.h"

struct tense_probe {
	struct compat_probe at;
	struct tense_experiment *exp;	/* outlives the probe */
	struct path path;
	u32 percent;		/* in thousandths */
	u8 slot;
	struct list_head node;
};

static struct tense_task *member(const struct tense_probe *probe)
{
	struct tense_task *t = current->tense;

	return t && t->exp == probe->exp ? t : NULL;
}

/* On another stack, active frames cannot be told from those that were left. */
static bool on_signal_stack(const struct pt_regs *regs)
{
	return on_sig_stack(user_stack_pointer((struct pt_regs *)regs));
}

static void restore(struct tense_task *t, const struct tense_frame *to)
{
	vclock_set_fine(&t->v, to->percent);
	tense_set_slot(t, to->slot);
}

/* Leaves the functions further down the stack that longjmp() left. */
static void unwind(struct tense_task *t, unsigned long sp)
{
	struct tense_frames *f = t->frames;

	while (f && f->nr && f->frame[f->nr - 1].sp < sp)
		restore(t, &f->frame[--f->nr]);
}

static bool is_inside(const struct tense_task *t,
		      const struct tense_probe *probe)
{
	const struct tense_frames *f = t->frames;
	unsigned int i;

	for (i = 0; f && i < f->nr; i++) {
		if (f->frame[i].probe == probe)
			return true;
	}
	return false;
}

static bool has_program(struct tense_experiment *exp, const struct mm_struct *mm)
{
	struct tense_task *t;
	unsigned long flags;
	bool found = false;

	raw_spin_lock_irqsave(&exp->lock, flags);
	list_for_each_entry(t, &exp->tasks, node)
		found |= READ_ONCE(t->task->mm) == mm;
	raw_spin_unlock_irqrestore(&exp->lock, flags);
	return found;
}

/*
 * Only programs of the experiment get breakpoints, and keep them if another probe
 * is removed: running ones at once, others when they map the file.
 */
static bool probe_filter(struct compat_probe *at, struct mm_struct *mm)
{
	const struct tense_probe *probe = container_of(at, struct tense_probe, at);

	return (mm == current->mm && member(probe)) || has_program(probe->exp, mm);
}

/* Returns the percent, in thousandths, of a function within another percent. */
static u32 scaled(u32 percent, u32 by)
{
	u64 product = div_u64((u64)percent * by, 100 * TENSE_FINE);

	return clamp_t(u64, product, TENSE_PERCENT_MIN * TENSE_FINE,
		       TENSE_PERCENT_MAX * TENSE_FINE);
}

static void enter(struct tense_task *t, const struct tense_probe *probe,
		  unsigned long sp)
{
	struct tense_frames *f = t->frames;

	lockdep_assert_held(&t->lock);

	unwind(t, sp);
	tense_slot(t->exp, probe->slot)->calls++;
	/* A recursive function is entered once. */
	if (!f || f->nr == TENSE_FRAMES_MAX || is_inside(t, probe))
		return;
	f->frame[f->nr++] = (struct tense_frame) {
		.sp = sp,
		.probe = probe,
		.percent = vclock_fine(&t->v),
		.slot = t->slot,
	};
	tense_enter_slot(t, probe->slot);
	vclock_set_fine(&t->v, scaled(vclock_fine(&t->v), probe->percent));
}

static int probe_entry(struct compat_probe *at, struct pt_regs *regs)
{
	const struct tense_probe *probe = container_of(at, struct tense_probe, at);
	struct tense_task *t = member(probe);
	struct tense_frames *f;

	if (!t || on_signal_stack(regs))
		return 0;
	tense_work_begin(t, TENSE_WORK_ENTRY, !probe->slot);
	if (!t->frames) {
		f = kzalloc(sizeof(*f), GFP_KERNEL_ACCOUNT);
		tense_task_lock_irq(t);
		t->frames = f;
		raw_spin_unlock_irq(&t->lock);
	}
	tense_task_lock_irq(t);
	enter(t, probe, user_stack_pointer(regs));
	raw_spin_unlock_irq(&t->lock);
	tense_work_end(t, TENSE_WORK_ENTRY);
	return 0;
}

static int probe_return(struct compat_probe *at, struct pt_regs *regs)
{
	const struct tense_probe *probe = container_of(at, struct tense_probe, at);
	struct tense_task *t = member(probe);

	if (!t || on_signal_stack(regs))
		return 0;
	tense_work_begin(t, TENSE_WORK_RETURN, !probe->slot);
	tense_task_lock_irq(t);
	unwind(t, user_stack_pointer(regs));
	raw_spin_unlock_irq(&t->lock);
	tense_work_end(t, TENSE_WORK_RETURN);
	return 0;
}

static struct tense_probe *probe_alloc(struct tense_experiment *exp,
				       unsigned int fd)
{
	struct tense_probe *probe;
	struct fd f = fdget(fd);
	struct file *file = compat_fd_file(f);
	int err = 0;

	if (!file)
		return ERR_PTR(-EBADF);
	probe = kzalloc(sizeof(*probe), GFP_KERNEL_ACCOUNT);
	if (!probe)
		err = -ENOMEM;
	else if (!(file->f_mode & FMODE_READ))
		err = -EBADF;
	else if (!S_ISREG(file_inode(file)->i_mode))
		err = -EINVAL;
	if (!err) {
		probe->path = file->f_path;
		path_get(&probe->path);
		probe->exp = exp;
	} else {
		kfree(probe);
	}
	fdput(f);
	return err ? ERR_PTR(err) : probe;
}

static void probe_free(struct tense_probe *probe)
{
	path_put(&probe->path);
	kfree(probe);
}

/**
 * tense_probe_add() - run a function at a percent of its own
 * @exp: for programs of this experiment
 * @slot: slot that counts the function; 0 to learn the cost of a probe
 * @percent: of the function, in thousandths
 * @fd: descriptor of a file that the caller has open
 * @offset: of the function's first instruction in that file
 *
 * May sleep.
 *
 * Return: 0 or the errors that the interface lists.
 */
int tense_probe_add(struct tense_experiment *exp, u32 slot, u32 percent,
		    unsigned int fd, u64 offset)
{
	struct tense_probe *probe;
	int err;

	if (slot >= TENSE_SLOTS ||
	    percent < TENSE_PERCENT_MIN * TENSE_FINE ||
	    percent > TENSE_PERCENT_MAX * TENSE_FINE || offset > S64_MAX)
		return -EINVAL;
	probe = probe_alloc(exp, fd);
	if (IS_ERR(probe))
		return PTR_ERR(probe);
	probe->slot = slot;
	probe->percent = percent;

	mutex_lock(&exp->probes_mutex);
	err = -ENOSPC;
	if (exp->probes_now == TENSE_PROBES_MAX)
		goto out;
	err = compat_probe_register(&probe->at, d_real_inode(probe->path.dentry),
				    offset);
	/* No breakpoint is possible there. ENOTSUPP is not for user space. */
	if (err == -ENOTSUPP || err == -ENOEXEC)
		err = -EINVAL;
	if (err)
		goto out;
	list_add(&probe->node, &exp->probes);
	exp->probes_now++;
out:
	mutex_unlock(&exp->probes_mutex);
	if (err)
		probe_free(probe);
	return err;
}

/**
 * tense_probes_remove() - remove all probes of an experiment that ends
 * @exp: experiment without tasks
 *
 * May sleep.
 */
void tense_probes_remove(struct tense_experiment *exp)
{
	struct tense_probe *probe, *next;

	list_for_each_entry_safe(probe, next, &exp->probes, node) {
		compat_probe_unregister(&probe->at);
		probe_free(probe);
	}
}

/**
 * tense_probe_fork() - a child begins inside the functions of its parent
 * @child: not runnable yet
 * @parent: the calling task
 *
 * Return: 0 or -ENOMEM.
 */
int tense_probe_fork(struct tense_task *child, const struct tense_task *parent)
{
	if (!parent->frames)
		return 0;
	child->frames = kmemdup(parent->frames, sizeof(*child->frames),
				GFP_KERNEL_ACCOUNT);
	return child->frames ? 0 : -ENOMEM;
}
