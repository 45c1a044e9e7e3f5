// SPDX-License-Identifier: GPL-2.0
/*
 * The samples of an experiment: memory that fills up with records, and the files
 * that samples name by numbers. <uapi/linux/tense-samples.h> specifies the
 * records. points.c says when a task is sampled; stack.c makes the sample.
 *
 * A record never changes once it is published, so that readers need no lock.
 */
#include <linux/fs.h>
#include <linux/pid_namespace.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>

#include "samples.h"

/* The period stays as it is when fewer bytes than these are left. */
#define DOUBLING_MIN	SZ_16K

/* A file that a sample may name. It need not be open any more. */
struct known_file {
	struct hlist_node node;
	u64 ino;
	dev_t dev;
	u32 generation;
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
	s->pids = get_pid_ns(task_active_pid_ns(current));
	s->doubles_at = s->room / 2;
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
		.overhead = atomic64_read(&s->overhead),
		.bytes = s->used,
	};
	spin_unlock(&s->lock);
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
 * Return: the number of bytes written, or -EFAULT.
 */
ssize_t tense_survey_read(struct tense_survey *s, char __user *buf, size_t count,
			  u64 from)
{
	struct tense_samples header;
	size_t done = 0, used, n;

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
	if (copy_to_user(buf + done, s->records + from, n))
		return -EFAULT;
	return done + n;
}

static bool is_file(const struct known_file *known, const struct inode *inode)
{
	return known->ino == inode->i_ino && known->dev == inode->i_sb->s_dev &&
	       known->generation == inode->i_generation;
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
	path = d_path(&file->f_path, record->path, PATH_MAX);
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

/**
 * tense_sample_add() - append a sample, or count it as lost
 * @s: the survey
 * @sample: all of its record
 */
void tense_sample_add(struct tense_survey *s, const struct tense_sample *sample)
{
	spin_lock(&s->lock);
	if (add_record(s, sample, sample->head.size)) {
		s->samples++;
		s->covered += sample->ns;
	} else {
		s->lost++;
		s->lost_ns += sample->ns;
	}
	spin_unlock(&s->lock);
}
