/* SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR MIT) */
/*
 * Tense: samples of the threads of an experiment, by /dev/tense. <linux/tense.h>
 * specifies the device.
 *
 * write(2)
 *	"samples PERIOD KIB STACK SEED", decimal and optionally ended by one newline,
 *	samples the threads of the experiment from now on. A sample tells where a
 *	thread is in its program. The kernel takes one in each PERIOD ns of the
 *	thread's charged time, at a random instant that SEED determines. The
 *	kernel also takes a sample in each PERIOD ns for which the thread is blocked. It
 *	takes that sample when the thread leaves the call that blocked it. If another
 *	thread of the experiment woke it, the kernel also samples that one, in the call
 *	that did so. PERIOD is
 *	TENSE_SAMPLES_PERIOD_MIN to TENSE_SAMPLES_PERIOD_MAX. The samples get KIB
 *	kibibytes of memory, TENSE_SAMPLES_KIB_MIN to _MAX. Whenever samples have
 *	filled half of the memory that was left, the period doubles. Samples then
 *	stand for more time, and hardly any finds no room. The kernel looks at STACK
 *	bytes of each stack, at most TENSE_SAMPLES_STACK_MAX. The samples last as long
 *	as the experiment. A thread that gains privileges leaves the experiment, and
 *	is sampled no more. The kernel counts a thread's time, but takes no sample of it,
 *	while the calling thread might not trace it: if it is not dumpable, see prctl(2),
 *	or has other rights. A program that its user may not read is not dumpable.
 *	-EBUSY		the experiment is sampled already
 *	-EDQUOT		the user has as many sampled experiments as the module's
 *			parameter surveys_max allows
 *	-EINVAL		another text, or a number out of its range
 *	-ENOMEM		no memory
 *	-EPERM		another user owns the experiment, or the calling thread has
 *			more rights than its user
 *
 * read(2)
 *	pread(2) at TENSE_SAMPLES_OFFSET + n reads the samples from byte n on:
 *	struct tense_samples, then records in the order of time. Each begins with
 *	struct tense_sample_head. Returns the number of bytes, 0 at the end, and
 *	fewer bytes than there are if a signal comes. At
 *	positions below TENSE_SAMPLES_OFFSET and from TENSE_SAMPLES_END on, read(2)
 *	returns counters, as <linux/tense.h> says.
 *	-EFAULT		bad address
 *	-ENODATA	nobody asked for samples
 *	-EPERM		another user owns the experiment, or the calling thread might
 *			not trace the one that asked for the samples
 *	-ESRCH		the calling thread is in no experiment
 */
#ifndef _UAPI_LINUX_TENSE_SAMPLES_H
#define _UAPI_LINUX_TENSE_SAMPLES_H

#include <linux/const.h>
#include <linux/types.h>

/*
 * Samples. They tell places in files, and no address or content of memory. A
 * record is a file, or a sample, which names files by their numbers. A sample is of
 * charged time, of the end of a block, or of a wake-up.
 */
#define TENSE_SAMPLES_OFFSET		_BITULL(40)
#define TENSE_SAMPLES_END		_BITULL(41)
#define TENSE_SAMPLES_PERIOD_MIN	100000
#define TENSE_SAMPLES_PERIOD_MAX	1000000000
#define TENSE_SAMPLES_KIB_MIN		64
#define TENSE_SAMPLES_KIB_MAX		65536
#define TENSE_SAMPLES_STACK_MAX		16384

#define TENSE_SAMPLES_VERSION	3

struct tense_samples {
	__u32 version;		/* TENSE_SAMPLES_VERSION */
	__u32 size;		/* of this struct */
	__u64 period;		/* virtual, of charged time; by now */
	__u64 samples;		/* of charged time */
	__u64 ns;		/* virtual: what the samples stand for */
	__u64 lost;		/* samples that found no room; when one has found none,
				 * later ones may stand for several periods
				 */
	__u64 lost_ns;		/* virtual: what these stood for */
	__u64 overhead;		/* real: sampling took so long; part of the
				 * overhead of the threads
				 */
	__u64 bytes;		/* of the records that follow */
	__u64 hidden;		/* samples of threads that must not be sampled */
	__u64 hidden_ns;	/* virtual: what these stood for */
	__u64 blocks;		/* samples of blocks */
	__u64 blocked_ns;	/* virtual: the time for which they stand */
	__u64 missing_ns;	/* virtual: time of blocks whose samples found no room or
				 * were not allowed
				 */
};

/* tense_sample_head.kind */
#define TENSE_SAMPLE_FILE	1	/* struct tense_sample_file */
#define TENSE_SAMPLE_THREAD	2	/* struct tense_sample: of charged time */
#define TENSE_SAMPLE_BLOCK	3	/* struct tense_sample: the thread was blocked */
#define TENSE_SAMPLE_WAKE	4	/* struct tense_sample: the thread woke others */

struct tense_sample_head {
	__u32 kind;
	__u32 size;		/* of the whole record, a multiple of 8 */
};

/* Comes before the first sample that names it. */
struct tense_sample_file {
	struct tense_sample_head head;
	__u32 number;		/* 1 to TENSE_FILES_MAX */
	__u32 reserved;
	char path[];		/* as the thread sees it, with a null */
};

/* tense_word.file */
#define TENSE_FILES_MAX		1024
#define TENSE_FILE_NONE		0	/* code in no file, or in one that the
					 * thread may not read, or in one too many
					 */
#define TENSE_FILE_STACK	0xffff	/* a place on the stack */

/* Code in a file, or a place on the stack. */
struct tense_word {
	__u16 place;		/* on the stack: in words above its pointer */
	__u16 file;
	__u32 offset;		/* in the file, or above the stack pointer */
};

/* tense_sample.flags */
#define TENSE_SAMPLE_KERNEL	1	/* it was in the kernel, for the program */
#define TENSE_SAMPLE_TIMER	2	/* a timer of the thread ended the block */

#define TENSE_SAMPLE_NOWHERE	0xffffffff

struct tense_sample {
	struct tense_sample_head head;
	__s32 pid;		/* in the namespace that asked for samples */
	__s32 tgid;
	__u64 time;		/* virtual, of the thread; of a block: its end */
	__u64 ns;		/* virtual: the sample stands for so much; 0: a wake-up */
	char comm[16];
	__u32 flags;		/* TENSE_SAMPLE_* */
	__u32 frame;		/* frame pointer: bytes above the stack pointer,
				 * or TENSE_SAMPLE_NOWHERE
				 */
	__u32 words;		/* number of words, of those on the stack that
				 * may be return addresses or point into the stack
				 */
	__u32 stack;		/* bytes of the stack that were looked at */
	/* 0 except in samples of blocks and wake-ups. */
	__u32 wake;		/* the sample of a block, and that of the wake-up that
				 * ended it, have the same number; 0: there is none
				 */
	__s32 waker;		/* pid of the thread that woke it; 0: a timer, or
				 * something outside of the experiment
				 */
	__s32 call;		/* number of the system call; -1: in none */
	__u32 reserved;
	struct tense_word code;	/* instruction pointer */
	struct tense_word word[];
};

#endif /* _UAPI_LINUX_TENSE_SAMPLES_H */
