// SPDX-License-Identifier: GPL-2.0
/*
 * The samples of an experiment: memory that fills up with records, and the files
 * that samples name by numbers. <uapi/linux/tense-samples.h> specifies the
 * records. points.c says when a task is sampled; stack.c makes the sample.
 *
 * A record never changes once it is published, so that readers need no lock.
 */
#include <linux/cred.h>
#include <linux/fs.h>
#include <linux/pid_namespace.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>

#include "samples.h"
#include "tense.h"

/* The period stays as it is when fewer bytes than these are left. */
#define DOUBLING_MIN	SZ_16K
/* Bytes to copy at once to user space. */
#define COPY_MAX	SZ_64K

/*
 * A file that a sample may name. It need not be open any more. A reference to it would
 * keep its file system mounted. One number of inodes is not enough to know it: hostfs
 * shows several file systems of the host as one, whose files may have the same number.
 * A file that changes counts as another one.
 */
struct known_file {
	struct hlist_node node;
	u64 ino;
	dev_t dev;
	u32 generation;
	s64 changed;		/* ctime in ns */
	loff_t size;
	u16 number;		/* TENSE_FILE_NONE: samples do not name it */
};

/**
 * tense_survey_alloc() - memory for samples
 * @period: virtual ns of charged time between samples
 * @kib: KiB for records
 * @stack: bytes of each stack to look at
 * @seed: of the random instants
 *
 * All numbers are in their ranges. May sleep.
 *
 * Return: the memory, or NULL.
 */
struct tense_survey *tense_survey_alloc(u64 period, u32 kib, u32 stack, u64 seed)
{
	struct tense_survey *s = kzalloc(sizeof(*s), GFP_KERNEL_ACCOUNT);

	if (!s)
		return NULL;
	s->room = (size_t)kib * SZ_1K;
	s->records = __vmalloc(s->room, GFP_KERNEL_ACCOUNT);
	if (!s->records) {
		kfree(s);
		return NULL;
	}
	s->period = period;
	s->seed = seed;
	s->stack = round_down(stack, (u32)sizeof(u64));
	s->asker = get_current_cred();
	s->pids = get_pid_ns(task_active_pid_ns(current));
	s->doubles_at = s->room / 2;
	atomic_set(&s->trials, TENSE_TRIALS);
	spin_lock_init(&s->lock);
	hash_init(s->file);
	return s;
}

/**
 * tense_survey_free() - free samples that nobody takes or reads any more
 * @s: the survey, or NULL
 *
 * May sleep.
 */
void tense_survey_free(struct tense_survey *s)
{
	struct known_file *file;
	struct hlist_node *next;
	int i;

	if (!s)
		return;
	hash_for_each_safe(s->file, i, next, file, node)
		kfree(file);
	tense_scratch_free(s->spare);
	put_cred(s->asker);
	put_pid_ns(s->pids);
	vfree(s->records);
	kfree(s);
}

static void fill_header(struct tense_survey *s, struct tense_samples *header)
{
	spin_lock(&s->lock);
	*header = (struct tense_samples) {
		.version = TENSE_SAMPLES_VERSION,
		.size = sizeof(*header),
		.period = s->period,
		.samples = s->samples,
		.ns = s->covered,
		.lost = s->lost,
		.lost_ns = s->lost_ns,
		.hidden = s->hidden,
		.hidden_ns = s->hidden_ns,
		.overhead = atomic64_read(&s->overhead),
		.bytes = s->used,
		.blocks = s->blocks,
		.blocked_ns = s->blocked,
		.missing_ns = s->missing,
	};
	spin_unlock(&s->lock);
}

/*
 * Copies in parts, so that a signal ends a long call. Returns the number of bytes copied,
 * or -EFAULT if it is 0.
 */
static ssize_t copy_records(char __user *buf, const void *records, size_t count)
{
	size_t done, part;

	for (done = 0; done < count; done += part) {
		if (done && signal_pending(current))
			break;
		part = min(count - done, (size_t)COPY_MAX);
		if (copy_to_user(buf + done, records + done, part))
			return done ?: -EFAULT;
		cond_resched();
	}
	return done;
}

/**
 * tense_survey_read() - write samples to user space
 * @s: the survey
 * @buf: the buffer
 * @count: its size
 * @from: number of the first byte to write
 *
 * May sleep.
 *
 * Return: the number of bytes written, or -EFAULT. Fewer than there are if a signal comes.
 */
ssize_t tense_survey_read(struct tense_survey *s, char __user *buf, size_t count,
			  u64 from)
{
	struct tense_samples header;
	size_t done = 0, used, n;
	ssize_t ret;

	fill_header(s, &header);
	if (from < sizeof(header)) {
		done = min(count, (size_t)(sizeof(header) - from));
		if (copy_to_user(buf, (char *)&header + from, done))
			return -EFAULT;
		from += done;
	}
	from -= sizeof(header);
	/* Pairs with add_record(). */
	used = smp_load_acquire(&s->used);
	if (done == count || from >= used)
		return done;
	n = min(count - done, (size_t)(used - from));
	ret = copy_records(buf + done, s->records + from, n);
	if (ret < 0)
		return done ?: ret;
	return done + ret;
}

static bool is_file(const struct known_file *known, const struct inode *inode)
{
	return known->ino == inode->i_ino && known->dev == inode->i_sb->s_dev &&
	       known->generation == inode->i_generation &&
	       known->changed == compat_ctime_ns(inode) &&
	       known->size == i_size_read(inode);
}

/* Returns the file, or NULL. */
static struct known_file *find_file(struct tense_survey *s,
				    const struct inode *inode)
{
	struct known_file *known;

	lockdep_assert_held(&s->lock);

	hash_for_each_possible(s->file, known, node, inode->i_ino)
		if (is_file(known, inode))
			return known;
	return NULL;
}

/**
 * tense_file_number() - the number by which samples name a file
 * @s: the survey
 * @inode: of the file
 * @number: set to it, or to TENSE_FILE_NONE
 *
 * Return: false if tense_file_add() has to come first.
 */
bool tense_file_number(struct tense_survey *s, const struct inode *inode,
		       u16 *number)
{
	const struct known_file *known;
	bool full;

	*number = TENSE_FILE_NONE;
	spin_lock(&s->lock);
	known = find_file(s, inode);
	if (known)
		*number = known->number;
	full = s->files == TENSE_FILES_MAX;
	spin_unlock(&s->lock);
	return known || full;
}

/* Appends a record. Returns false if it finds no room. */
static bool add_record(struct tense_survey *s, const void *record, size_t size)
{
	lockdep_assert_held(&s->lock);

	if (size > s->room - s->used)
		return false;
	memcpy(s->records + s->used, record, size);
	/* A reader that sees the new value of used must see the record. */
	smp_store_release(&s->used, s->used + size);
	if (s->used < s->doubles_at)
		return true;
	WRITE_ONCE(s->period, min(2 * s->period, (u64)TENSE_SAMPLES_PERIOD_MAX));
	s->doubles_at = s->used + (s->room - s->used) / 2;
	if (s->room - s->used < DOUBLING_MIN)
		s->doubles_at = SIZE_MAX;
	return true;
}

/* Returns a record without a number, or NULL. The caller frees it. */
static struct tense_sample_file *describe(struct file *file)
{
	size_t room = sizeof(struct tense_sample_file) + PATH_MAX + sizeof(u64);
	struct tense_sample_file *record = kzalloc(room, GFP_KERNEL_ACCOUNT);
	size_t length;
	char *path;

	if (!record)
		return NULL;
	path = d_path(compat_file_path(file), record->path, PATH_MAX);
	if (IS_ERR(path)) {
		kfree(record);
		return NULL;
	}
	length = strlen(path) + 1;
	/* d_path() writes at the end of the buffer. */
	memmove(record->path, path, length);
	memset(record->path + length, 0, PATH_MAX - length);
	record->head.kind = TENSE_SAMPLE_FILE;
	record->head.size = round_up(sizeof(*record) + length, sizeof(u64));
	return record;
}

/**
 * tense_file_add() - let samples name a file
 * @s: the survey
 * @file: mapped by the calling task
 *
 * Samples do not name a file that the task may not read. May sleep.
 */
void tense_file_add(struct tense_survey *s, struct file *file)
{
	const struct inode *inode = file_inode(file);
	bool readable = !file_permission(file, MAY_READ);
	struct tense_sample_file *record = readable ? describe(file) : NULL;
	struct known_file *known = kzalloc(sizeof(*known), GFP_KERNEL_ACCOUNT);

	if (!known)
		goto out;
	known->ino = inode->i_ino;
	known->dev = inode->i_sb->s_dev;
	known->generation = inode->i_generation;
	known->changed = compat_ctime_ns(inode);
	known->size = i_size_read(inode);
	spin_lock(&s->lock);
	/* Another task may have added it. */
	if (!find_file(s, inode) && s->files < TENSE_FILES_MAX) {
		s->files++;
		if (record) {
			record->number = s->files;
			if (add_record(s, record, record->head.size))
				known->number = s->files;
		}
		hash_add(s->file, &known->node, known->ino);
		known = NULL;
	}
	spin_unlock(&s->lock);
out:
	kfree(known);
	kfree(record);
}

static void count(struct tense_survey *s, const struct tense_sample *sample)
{
	lockdep_assert_held(&s->lock);

	switch (sample->head.kind) {
	case TENSE_SAMPLE_THREAD:
		s->samples++;
		tense_add_up(&s->covered, sample->ns);
		break;
	case TENSE_SAMPLE_BLOCK:
		s->blocks++;
		tense_add_up(&s->blocked, sample->ns);
		break;
	}
}

/**
 * tense_sample_add() - append a sample
 * @s: the survey
 * @sample: all of its record
 *
 * Return: false if it finds no room.
 */
bool tense_sample_add(struct tense_survey *s, const struct tense_sample *sample)
{
	bool added;

	spin_lock(&s->lock);
	added = add_record(s, sample, sample->head.size);
	if (added)
		count(s, sample);
	else
		WRITE_ONCE(s->full, true);
	spin_unlock(&s->lock);
	return added;
}

/**
 * tense_sample_is_allowed() - whether samples may show where the calling task is
 * @s: the survey
 *
 * The task that asked for samples might as well trace this one. A process may change
 * the answer at any time.
 */
bool tense_sample_is_allowed(const struct tense_survey *s)
{
	return tense_has_plain_rights() && compat_is_dumpable() &&
	       tense_may_trace(s->asker, current_cred());
}

/**
 * tense_sample_lose() - count a sample for which there is no memory
 * @s: the survey
 * @where: what it would tell
 */
void tense_sample_lose(struct tense_survey *s, const struct tense_where *where)
{
	spin_lock(&s->lock);
	if (where->kind == TENSE_SAMPLE_THREAD) {
		s->lost++;
		tense_add_up(&s->lost_ns, where->ns);
	} else {
		tense_add_up(&s->missing, where->ns);
	}
	spin_unlock(&s->lock);
}

/**
 * tense_sample_hide() - count a sample that is not allowed
 * @s: the survey
 * @where: what it would tell
 */
void tense_sample_hide(struct tense_survey *s, const struct tense_where *where)
{
	spin_lock(&s->lock);
	if (where->kind == TENSE_SAMPLE_THREAD) {
		s->hidden++;
		tense_add_up(&s->hidden_ns, where->ns);
	} else {
		tense_add_up(&s->missing, where->ns);
	}
	spin_unlock(&s->lock);
}
