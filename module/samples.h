/* SPDX-License-Identifier: GPL-2.0 */
/* The samples of an experiment: their memory, and the files that they name. */
#ifndef TENSE_SAMPLES_H
#define TENSE_SAMPLES_H

#include <linux/hashtable.h>
#include <linux/sizes.h>
#include <linux/spinlock.h>
#include <linux/tense-samples.h>
#include <linux/types.h>

struct cred;
struct file;
struct inode;
struct pid_namespace;
struct tense_scratch;

#define TENSE_FILES_BITS	6
#define TENSE_TRIALS	32
#define TENSE_RESULTS	9

struct tense_survey {
	u64 period;		/* virtual; read without the lock */
	u64 seed;		/* constant */
	u32 stack;		/* bytes of a stack to look at; constant */
	const struct cred *asker;	/* rights of the task that asked; constant */
	struct pid_namespace *pids;	/* of that task; constant */
	size_t room;		/* bytes for records; constant */
	void *records;
	struct tense_scratch *spare;	/* or NULL; exchanged as a whole */
	bool full;		/* a sample found no room; read without the lock */
	atomic64_t overhead;	/* real ns */
	atomic_t trials;	/* still to begin, see points.c */
	atomic_t results;	/* entries of result[] that are taken, if not yet written */
	u64 result[TENSE_RESULTS];	/* of trials, real ns; 0: not written; written once */
	atomic_t wakes;		/* number of the last wake-up that is sampled */
	/*
	 * Protects the fields below and the bytes of records after used. Only tasks on
	 * their way to user mode take it, with interrupts enabled. They take no other
	 * lock under it.
	 */
	spinlock_t lock;
	size_t used;		/* also read without the lock, see add_record() */
	size_t doubles_at;	/* the period doubles when used gets there */
	u64 samples;
	u64 covered;		/* virtual ns that samples stand for */
	u64 lost;		/* samples without room, and their virtual ns */
	u64 lost_ns;
	u64 hidden;		/* samples that were not allowed, and their virtual ns */
	u64 hidden_ns;
	u64 blocks;		/* samples of blocks, and their virtual ns */
	u64 blocked;
	u64 missing;		/* virtual ns of blocks without a sample */
	unsigned int files;
	DECLARE_HASHTABLE(file, TENSE_FILES_BITS);
};

/* A thread where it is to be sampled. */
struct tense_where {
	u32 kind;		/* TENSE_SAMPLE_THREAD, _BLOCK or _WAKE */
	u64 time;		/* virtual */
	u64 ns;			/* virtual: the sample stands for so much */
	u32 flags;		/* TENSE_SAMPLE_* */
	u32 wake;		/* of a block or wake-up: its number, or 0 */
	s32 waker;		/* of a block: pid of the thread that ended it, or 0 */
};

/* points.c */
u64 tense_interrupt_cost(const struct tense_survey *s);

/* samples.c */
struct tense_survey *tense_survey_alloc(u64 period, u32 kib, u32 stack, u64 seed);
void tense_survey_free(struct tense_survey *s);
ssize_t tense_survey_read(struct tense_survey *s, char __user *buf, size_t count,
			  u64 from);
bool tense_file_number(struct tense_survey *s, const struct inode *inode,
		       u16 *number);
void tense_file_add(struct tense_survey *s, struct file *file);
bool tense_sample_add(struct tense_survey *s, const struct tense_sample *sample);
bool tense_sample_is_allowed(const struct tense_survey *s);
void tense_sample_lose(struct tense_survey *s, const struct tense_where *where);
void tense_sample_hide(struct tense_survey *s, const struct tense_where *where);

/* stack.c */
void tense_sample_take(struct tense_survey *s, const struct tense_where *where);
void tense_scratch_free(struct tense_scratch *scratch);

#endif
