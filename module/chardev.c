// SPDX-License-Identifier: GPL-2.0
/*
 * /dev/tense, as <uapi/linux/tense.h> specifies it. This file parses and checks
 * each call, keeps it uncharged (R13), and passes it on.
 *
 * Calls work on the calling task only, and take its locks for short sections.
 */
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/ctype.h>
#include <linux/fs.h>
#include <linux/kernel.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/pid_namespace.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "samples.h"
#include "tense.h"
#include "trace.h"

static bool tense_user_probes;
module_param_named(user_probes, tense_user_probes, bool, 0444);
MODULE_PARM_DESC(user_probes, "Also let users who may not trace the machine set probes: for guests of one user");

/* Longest text of a percent: room for leading zeros and a newline. */
#define PERCENT_TEXT	15
/* No text is longer than that of a probe. */
#define TEXT_MAX	63

/*
 * A call begins: charge the calling task nothing from here on (R13). Returns its
 * state in the experiment, or NULL if it is in none.
 */
static struct tense_task *work_begin(enum tense_work work)
{
	struct tense_task *t = current->tense;

	if (t)
		tense_work_begin(t, work, work == TENSE_WORK_READING);
	return t;
}

static struct tense_task *call_begin(void)
{
	return work_begin(TENSE_WORK_CALL);
}

/* Returns the caller's virtual time. */
static u64 call_end(struct tense_task *t)
{
	return tense_work_end(t, TENSE_WORK_CALL);
}

/* Returns the calling task's time, by vclock_now() or vclock_wait_from(). */
static u64 time_by(struct tense_task *t,
		   u64 (*rule)(struct vclock *vc, struct vclock_task *t))
{
	u64 now;

	tense_task_lock_irq(t);
	now = rule(&t->exp->vc, &t->v);
	raw_spin_unlock_irq(&t->lock);
	return now;
}

/*
 * R10: the next charge of run time also charges the jump. If the caller has left
 * the fair class or runs at a lent priority, no charge comes: charge the jump here.
 */
static void charge_jump(struct tense_task *t)
{
	while (READ_ONCE(t->move)) {
		tense_settle();
		tense_task_lock_irq(t);
		if (!tense_is_fair(current))
			tense_jump(t);
		raw_spin_unlock_irq(&t->lock);
	}
}

/* Returns -EOVERFLOW if the jump would pass the last possible time. */
static int move_by(struct tense_task *t, u64 ns)
{
	bool fits;

	tense_task_lock_irq(t);
	fits = vclock_now(&t->exp->vc, &t->v) + ns <= TENSE_TIME_MAX;
	if (fits)
		t->move = ns;
	raw_spin_unlock_irq(&t->lock);
	if (!fits)
		return -EOVERFLOW;
	charge_jump(t);
	return 0;
}

/*
 * Returns false if the task's time is @to or later. The CPU may be behind a time
 * that the task saw on another CPU.
 */
static bool move_to(struct tense_task *t, u64 to)
{
	bool ahead;

	tense_task_lock_irq(t);
	ahead = vclock_now(&t->exp->vc, &t->v) < to;
	/* Set the move once: other tasks may advance this CPU meanwhile. */
	if (ahead)
		t->move = to - vclock_lvt(&t->exp->vc, t->v.cpu);
	raw_spin_unlock_irq(&t->lock);
	if (ahead)
		charge_jump(t);
	return ahead;
}

static int jump_by(struct tense_task *t, loff_t d)
{
	/* Reading the clock works however late it is. */
	if (!d)
		return 0;
	if (d > 0)
		return d > (loff_t)TENSE_TIME_MAX ? -EOVERFLOW : move_by(t, d);
	if (d < -(loff_t)TENSE_TIME_MAX)
		return -EOVERFLOW;
	tense_task_lock_irq(t);
	vclock_credit(&t->v, -d);
	raw_spin_unlock_irq(&t->lock);
	return 0;
}

static int jump_to(struct tense_task *t, loff_t to)
{
	if (to > (loff_t)TENSE_TIME_MAX)
		return -EOVERFLOW;
	/* R9: compare with the charged time, which a reading may be ahead of. */
	if (to < 0 || to < time_by(t, vclock_now))
		return -EINVAL;
	/* Repeat if the task has migrated to a CPU that is behind. */
	while (move_to(t, to))
		;
	return 0;
}

/* Continues a sleep that a signal without a handler interrupted. */
static long sleep_on(struct restart_block *restart)
{
	struct tense_task *t = call_begin();
	u64 now;
	int err;

	if (!t)
		return -ESRCH;
	err = tense_sleep(t, restart->nanosleep.expires);
	now = call_end(t);
	if (err)
		return set_restart_fn(restart, sleep_on);
	return now;
}

static int sleep_for(struct tense_task *t, loff_t d)
{
	struct restart_block *restart = &current->restart_block;
	u64 now = time_by(t, vclock_wait_from);

	if (d < 0)
		return -EINVAL;
	if (!d)
		return 0;
	if (d > (loff_t)TENSE_TIME_MAX || now + d > TENSE_TIME_MAX)
		return -EOVERFLOW;
	if (!tense_sleep(t, now + d))
		return 0;
	restart->nanosleep.expires = now + d;
	return set_restart_fn(restart, sleep_on);
}

/*
 * Whether the call only reads the clock. From such calls in a row, Tense learns the
 * cost of a call.
 */
static bool is_reading(loff_t d, int whence)
{
	return whence == SEEK_CUR && !d;
}

static loff_t dev_llseek(struct file *file, loff_t d, int whence)
{
	enum tense_work work = is_reading(d, whence) ? TENSE_WORK_READING :
						       TENSE_WORK_CALL;
	struct tense_task *t = work_begin(work);
	u64 now;
	int err;

	if (!t)
		return -ESRCH;
	tense_own_work_end(t);
	switch (whence) {
	case SEEK_CUR:
		err = jump_by(t, d);
		break;
	case SEEK_SET:
		err = jump_to(t, d);
		break;
	case SEEK_HOLE:
		err = sleep_for(t, d);
		break;
	case SEEK_DATA:
		err = -EOPNOTSUPP;
		break;
	default:
		err = -EINVAL;
	}
	now = tense_work_end(t, work);
	return err ?: (loff_t)now;
}

/* kstrtou32() accepts a sign, and takes three times as many instructions. */
static int parse_percent(const char *text, size_t count, u32 *percent)
{
	u64 number = 0;
	size_t i;

	if (count > PERCENT_TEXT)
		return -EINVAL;
	if (count > 1 && text[count - 1] == '\n')
		count--;
	for (i = 0; i < count; i++) {
		if (!isdigit(text[i]))
			return -EINVAL;
		number = number * 10 + text[i] - '0';
	}
	*percent = min_t(u64, number, U32_MAX);
	return 0;
}

static int set_percent(struct tense_task *t, u32 percent)
{
	struct tense_experiment *exp = t->exp;
	u64 lvt;
	int err;

	/* R2: call_begin() has charged what ran before. */
	tense_task_lock_irq(t);
	err = vclock_set_percent(&t->v, percent);
	lvt = vclock_now(&exp->vc, &t->v);
	raw_spin_unlock_irq(&t->lock);
	if (!err)
		trace_tense_percent(exp->id, current->pid, percent, lvt);
	return err;
}

static int write_percent(struct tense_task *t, const char *text, size_t count)
{
	u32 percent;
	int err = parse_percent(text, count, &percent);

	return err ?: set_percent(t, percent);
}

/* Takes the next number of a text. The text ends there or continues after a blank. */
static int take_number(char **text, u64 most, u64 *number)
{
	char *field = strsep(text, " ");

	/* kstrtou64() accepts a sign. */
	if (!field || !isdigit(*field) || kstrtou64(field, 10, number) ||
	    *number > most)
		return -EINVAL;
	return 0;
}

/* "probe SLOT PERCENT FD OFFSET" */
static int write_probe(struct tense_task *t, char *text, size_t count)
{
	u64 slot, percent, fd, offset;
	char *word, *rest = text;

	if (strlen(text) != count)
		return -EINVAL;
	word = strsep(&rest, " ");
	if (strcmp(word, "probe") || take_number(&rest, U32_MAX, &slot) ||
	    take_number(&rest, U32_MAX, &percent) ||
	    take_number(&rest, U32_MAX, &fd) ||
	    take_number(&rest, U64_MAX, &offset) || rest)
		return -EINVAL;
	/* Setting a probe stops all forks for a moment. Its memory counts for no user. */
	if (!tense_user_probes && !perfmon_capable())
		return -EPERM;
	return tense_probe_add(t->exp, slot, percent, fd, offset);
}

static int set_survey(struct tense_experiment *exp, u64 period, u32 kib, u32 stack,
		      u64 seed)
{
	struct tense_survey *survey;
	int err;

	err = tense_user_take(exp->user, TENSE_USER_SURVEYS);
	if (err)
		return err;
	survey = tense_survey_alloc(period, kib, stack, seed);
	if (!survey) {
		tense_user_give(exp->user, TENSE_USER_SURVEYS);
		return -ENOMEM;
	}
	/* Pairs with smp_load_acquire() of exp->survey. */
	smp_store_release(&exp->survey, survey);
	return 0;
}

/*
 * Only one task gets as far as set_survey(). So a second one counts for no limit and
 * allocates no memory.
 */
static int begin_survey(struct tense_experiment *exp, u64 period, u32 kib, u32 stack,
			u64 seed)
{
	int err;

	if (atomic_xchg(&exp->survey_begun, 1))
		return -EBUSY;
	err = set_survey(exp, period, kib, stack, seed);
	if (err)
		atomic_set(&exp->survey_begun, 0);
	return err;
}

/* "samples PERIOD KIB STACK SEED" */
static int write_samples(struct tense_task *t, char *text, size_t count)
{
	u64 period, kib, stack, seed;
	char *word, *rest = text;

	if (strlen(text) != count)
		return -EINVAL;
	word = strsep(&rest, " ");
	if (strcmp(word, "samples") ||
	    take_number(&rest, TENSE_SAMPLES_PERIOD_MAX, &period) ||
	    take_number(&rest, TENSE_SAMPLES_KIB_MAX, &kib) ||
	    take_number(&rest, TENSE_SAMPLES_STACK_MAX, &stack) ||
	    take_number(&rest, U32_MAX, &seed) || rest ||
	    period < TENSE_SAMPLES_PERIOD_MIN || kib < TENSE_SAMPLES_KIB_MIN)
		return -EINVAL;
	/* The samples show all tasks, which may have more privileges than this one. */
	if (!tense_is_mine(t->exp) || !tense_has_plain_rights())
		return -EPERM;
	return begin_survey(t->exp, period, kib, stack, seed);
}

static void set_ordered(struct tense_experiment *exp, unsigned long ordered)
{
	WRITE_ONCE(exp->vc.ordered, ordered);
}

static void set_idle(struct tense_experiment *exp, unsigned long skip)
{
	raw_spin_lock_irq(&exp->lock);
	/* The time until now passed by the old choice. */
	vclock_advance(&exp->vc, tense_real_now());
	WRITE_ONCE(exp->vc.skip, skip);
	raw_spin_unlock_irq(&exp->lock);
}

static const struct choice {
	const char *text;
	void (*set)(struct tense_experiment *exp, unsigned long value);
	unsigned long value;
} choices[] = {
	{ "clocks all", tense_clocks_choose, GENMASK(TENSE_CLOCKS - 1, 0) },
	{ "clocks monotonic", tense_clocks_choose, BIT(TENSE_MONOTONIC) |
					  BIT(TENSE_BOOTTIME) | BIT(TENSE_RAW) },
	{ "clocks none", tense_clocks_choose, 0 },
	{ "clocks ordered", set_ordered, true },
	{ "clocks unordered", set_ordered, false },
	{ "idle real", set_idle, false },
	{ "idle skip", set_idle, true },
};

static int write_choice(struct tense_task *t, const char *text, size_t count)
{
	int i;

	/* The choice affects all tasks, which may have more privileges than this one. */
	if (!tense_is_mine(t->exp))
		return -EPERM;
	for (i = 0; i < ARRAY_SIZE(choices); i++) {
		if (strlen(text) == count && sysfs_streq(text, choices[i].text)) {
			choices[i].set(t->exp, choices[i].value);
			return 0;
		}
	}
	return -EINVAL;
}

/* "own" */
static int write_own(struct tense_task *t, const char *text, size_t count)
{
	if (strlen(text) != count || !sysfs_streq(text, "own"))
		return -EINVAL;
	tense_own_work_begin(t);
	return 0;
}

/* Copies a text from the task, and ends it with a null. */
static int take_text(char *text, const char __user *buf, size_t count)
{
	if (!count || count > TEXT_MAX)
		return -EINVAL;
	if (copy_from_user(text, buf, count))
		return -EFAULT;
	text[count] = '\0';
	return 0;
}

/* "join NAME". Returns the name in the text, or NULL. */
static const char *take_name(char *text, size_t count)
{
	static const char join[] = "join ";
	size_t prefix = sizeof(join) - 1;

	if (strlen(text) != count || strncmp(text, join, prefix))
		return NULL;
	if (text[count - 1] == '\n')
		text[count - 1] = '\0';
	return tense_name_is_valid(text + prefix) ? text + prefix : NULL;
}

/* A task that is in an experiment stays there. */
static int write_join(struct tense_task *t, char *text, size_t count)
{
	const char *name = take_name(text, count);

	if (!name)
		return -EINVAL;
	return tense_name_is(t->exp, name) ? 0 : -EBUSY;
}

/* A task that is in no experiment can only join one. */
static int write_outside(const struct file *file, const char __user *buf,
			 size_t count)
{
	char text[TEXT_MAX + 1];
	const char *name;
	int err = take_text(text, buf, count);

	if (err)
		return err;
	if (text[0] != 'j')
		return -ESRCH;
	name = take_name(text, count);
	if (!name)
		return -EINVAL;
	/* The mode of the device limits who may join, but a handle can be passed on. */
	if (!uid_eq(file->f_cred->uid, current_uid()))
		return -EPERM;
	return tense_join_named((u64)file->private_data, name);
}

static int write_text(struct tense_task *t, const char __user *buf, size_t count)
{
	char text[TEXT_MAX + 1];
	int err = take_text(text, buf, count);

	if (err)
		return err;
	switch (text[0]) {
	case 'p':
		return write_probe(t, text, count);
	case 'c':
	case 'i':
		return write_choice(t, text, count);
	case 'j':
		return write_join(t, text, count);
	case 'o':
		return write_own(t, text, count);
	case 's':
		return write_samples(t, text, count);
	default:
		return write_percent(t, text, count);
	}
}

static ssize_t dev_write(struct file *file, const char __user *buf,
			 size_t count, loff_t *pos)
{
	struct tense_task *t = call_begin();
	int err;

	if (t) {
		err = write_text(t, buf, count);
		call_end(t);
	} else {
		err = write_outside(file, buf, count);
	}
	return err ?: (ssize_t)count;
}

static ssize_t read_samples(struct tense_task *t, char __user *buf, size_t count,
			    u64 from)
{
	/* Pairs with set_survey(). */
	struct tense_survey *survey = smp_load_acquire(&t->exp->survey);

	if (!tense_is_mine(t->exp))
		return -EPERM;
	/* Records contain process ids as the task that began the survey sees them. */
	if (survey && (survey->pids != task_active_pid_ns(current) ||
		       !tense_may_trace(current_cred(), survey->asker)))
		return -EPERM;
	return survey ? tense_survey_read(survey, buf, count, from) : -ENODATA;
}

static ssize_t dev_read(struct file *file, char __user *buf, size_t count,
			loff_t *pos)
{
	struct tense_task *t = call_begin();
	ssize_t ret;

	if (!t)
		return -ESRCH;
	if (*pos >= (loff_t)TENSE_SAMPLES_OFFSET && *pos < (loff_t)TENSE_SAMPLES_END)
		ret = read_samples(t, buf, count, *pos - TENSE_SAMPLES_OFFSET);
	else
		ret = tense_report(t, buf, count);
	call_end(t);
	return ret;
}

static int dev_mmap(struct file *file, struct vm_area_struct *vma)
{
	struct tense_task *t = call_begin();
	int err;

	if (!t)
		return -ESRCH;
	err = tense_area_map(t, vma);
	call_end(t);
	return err;
}

static int dev_open(struct inode *inode, struct file *file)
{
	static atomic64_t last_handle = ATOMIC64_INIT(0);
	u64 handle = atomic64_inc_return(&last_handle);

	/* Such an open would fail anyway, but only after the caller has joined. */
	if (file->f_flags & O_DIRECT)
		return -EINVAL;
	/*
	 * A number: another thread may close the handle, and its address may be
	 * reused.
	 */
	file->private_data = (void *)handle;
	/* With O_NONBLOCK the task may join an experiment by its name later. */
	if (current->tense || file->f_flags & O_NONBLOCK)
		return 0;
	return tense_join(handle);
}

/*
 * Runs whenever a descriptor of the handle is closed. @id is the table of
 * descriptors. If a fork fails, the parent closes those in the table of the child.
 */
static int dev_flush(struct file *file, fl_owner_t id)
{
	struct tense_task *t = current->tense;

	/* An exiting task leaves later, after its parent was woken. */
	if (t && t->handle == (u64)file->private_data &&
	    id == current->files && !(current->flags & PF_EXITING))
		tense_detach();
	return 0;
}

static const struct file_operations dev_fops = {
	.owner = THIS_MODULE,
	.open = dev_open,
	.flush = dev_flush,
	.llseek = dev_llseek,
	.mmap = dev_mmap,
	.read = dev_read,
	.write = dev_write,
};

struct miscdevice tense_device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "tense",
	.mode = 0660,
	.fops = &dev_fops,
};
