// SPDX-License-Identifier: GPL-2.0
/*
 * A sample of the running task: where it is in its program, and which words on its
 * stack may be return addresses. A sample also has the words that point into the stack,
 * because user space needs them to find the callers. It contains places in files, but
 * no address and no content of memory.
 *
 * Runs as task work of the sampled task, without locks. The lock of the task's memory
 * map keeps its files. It is released before tense_file_add(), which may wait for a
 * file system.
 */
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/sched/task_stack.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>
#include <asm/syscall.h>

#include "samples.h"

/* Mappings at which one sample looks. Programs may have millions. */
#define MAPPINGS_SEEN_MAX	16384
/* Mappings with code that a sample can name; further ones count as no file. */
#define MAPPINGS_MAX	512
/* Files that one sample adds. The next sample adds those that are left. */
#define NEW_FILES_MAX	64
#define STACK_WORDS	(TENSE_SAMPLES_STACK_MAX / sizeof(u64))
#define RECORD_WORDS	(sizeof(struct tense_sample) / sizeof(u64) + STACK_WORDS)

static_assert(sizeof(struct tense_sample) % sizeof(u64) == 0);
static_assert(sizeof(struct tense_word) == sizeof(u64));

/* A mapping with code. */
struct mapping {
	unsigned long start, end;
	u64 offset;		/* of its start, in the file */
	u16 file;		/* number */
};

/* A file without a number, and the mapping by which it was found. */
struct new_file {
	struct file *file;
	unsigned int mapping;
};

/* Memory of one sample; one experiment keeps it for the next. */
struct tense_scratch {
	unsigned int mappings;
	unsigned int new_files;
	unsigned long bytes;	/* of stack */
	/*
	 * Mappings with code lie in two groups, those of the program and those of its
	 * libraries, with the heap in between. Most words point into neither.
	 */
	unsigned long low_start, low_end, high_start, high_end;
	struct mapping mapping[MAPPINGS_MAX];
	struct new_file new_file[NEW_FILES_MAX];
	unsigned long stack[STACK_WORDS];
	u64 record[RECORD_WORDS];	/* struct tense_sample */
};

static struct tense_sample *sample_in(struct tense_scratch *c)
{
	return (struct tense_sample *)c->record;
}

/**
 * tense_scratch_free() - free what tense_sample_take() left for the next sample
 * @scratch: the memory, or NULL
 */
void tense_scratch_free(struct tense_scratch *scratch)
{
	kvfree(scratch);
}

static unsigned long frame_pointer_of(struct pt_regs *regs)
{
#ifdef CONFIG_UML
	return PT_REGS_BP(regs);
#else
	return regs->bp;
#endif
}

static unsigned long stack_pointer_of(struct pt_regs *regs)
{
#ifdef CONFIG_UML
	return PT_REGS_SP(regs);
#else
	return user_stack_pointer(regs);
#endif
}

static void add_mapping(struct tense_survey *s, struct tense_scratch *c,
			const struct vm_area_struct *vma)
{
	struct mapping *m = &c->mapping[c->mappings++];

	*m = (struct mapping) {
		.start = vma->vm_start,
		.end = vma->vm_end,
		.offset = (u64)vma->vm_pgoff << PAGE_SHIFT,
	};
	if (vma->vm_file &&
	    !tense_file_number(s, file_inode(vma->vm_file), &m->file) &&
	    c->new_files < NEW_FILES_MAX)
		c->new_file[c->new_files++] = (struct new_file) {
			.file = get_file(vma->vm_file),
			.mapping = c->mappings - 1,
		};
}

static void find_mappings(struct tense_survey *s, struct tense_scratch *c)
{
	VMA_ITERATOR(vmi, current->mm, 0);
	struct vm_area_struct *vma;
	unsigned int seen = 0;

	c->mappings = 0;
	c->new_files = 0;
	for_each_vma(vmi, vma) {
		if (seen++ == MAPPINGS_SEEN_MAX || c->mappings == MAPPINGS_MAX)
			break;
		cond_resched();
		if (!(vma->vm_flags & VM_EXEC))
			continue;
		add_mapping(s, c, vma);
	}
}

/* Divides the mappings at their largest gap. */
static void find_groups(struct tense_scratch *c)
{
	const struct mapping *m = c->mapping;
	unsigned int i, at = 0;

	c->low_start = 0;
	c->low_end = 0;
	c->high_start = 0;
	c->high_end = 0;
	if (!c->mappings)
		return;
	for (i = 1; i < c->mappings; i++)
		if (!at || m[i].start - m[i - 1].end > m[at].start - m[at - 1].end)
			at = i;
	c->low_start = m[0].start;
	c->low_end = m[at ? at - 1 : 0].end;
	if (at) {
		c->high_start = m[at].start;
		c->high_end = m[c->mappings - 1].end;
	}
}

/* Copies the pages of the stack that are in memory. Must not fault in others. */
static void copy_stack(const struct tense_survey *s, struct tense_scratch *c,
		       unsigned long sp)
{
	unsigned long part, at;

	c->bytes = 0;
	if (!IS_ALIGNED(sp, sizeof(u64)))
		return;
	for (at = sp; c->bytes < s->stack; at += part) {
		part = min(PAGE_SIZE - offset_in_page(at),
			   (unsigned long)s->stack - c->bytes);
		if (copy_from_user_nofault((char *)c->stack + c->bytes,
					   (const void __user *)at, part))
			return;
		c->bytes += part;
	}
}

/* The result of a sample. */
enum outcome { TAKEN, LOST, HIDDEN };

/* The sample that finds a file is to name it, too. */
static void add_new_files(struct tense_survey *s, struct tense_scratch *c,
			  bool allowed)
{
	unsigned int i;

	for (i = 0; i < c->new_files; i++) {
		const struct new_file *new = &c->new_file[i];

		if (allowed) {
			tense_file_add(s, new->file);
			tense_file_number(s, file_inode(new->file),
					  &c->mapping[new->mapping].file);
		}
		fput(new->file);
	}
}

/*
 * Another thread may forbid samples at any time, and then read a secret into memory. So
 * the check comes after the stack was read. The sample is lost if the task is killed.
 */
static enum outcome look(struct tense_survey *s, struct tense_scratch *c, unsigned long sp)
{
	bool allowed;

	if (!mmap_read_trylock(current->mm) &&
	    mmap_read_lock_killable(current->mm))
		return LOST;
	find_mappings(s, c);
	find_groups(c);
	copy_stack(s, c, sp);
	mmap_read_unlock(current->mm);
	allowed = tense_sample_is_allowed(s);
	add_new_files(s, c, allowed);
	return allowed ? TAKEN : HIDDEN;
}

/* Returns the mapping with the code at @address, or NULL. */
static const struct mapping *mapping_at(const struct tense_scratch *c,
					unsigned long address)
{
	unsigned int low = 0, high = c->mappings;

	while (low < high) {
		unsigned int middle = (low + high) / 2;
		const struct mapping *m = &c->mapping[middle];

		if (address < m->start)
			high = middle;
		else if (address >= m->end)
			low = middle + 1;
		else
			return m;
	}
	return NULL;
}

/* Whether samples can name the code at @address. If so, sets its file and offset. */
static bool name_code(const struct tense_scratch *c, unsigned long address,
		      struct tense_word *word)
{
	const struct mapping *m = mapping_at(c, address);
	u64 offset;

	if (!m)
		return false;
	*word = (struct tense_word) { .file = TENSE_FILE_NONE };
	offset = m->offset + (address - m->start);
	/* Without a file, the offset would tell where the code is in memory. */
	if (m->file != TENSE_FILE_NONE && offset <= U32_MAX) {
		word->file = m->file;
		word->offset = offset;
	}
	return true;
}

static bool is_on_stack(const struct tense_scratch *c, unsigned long sp,
			unsigned long address)
{
	return address - sp < c->bytes;
}

/* Whether there may be code at @address. */
static bool may_be_code(const struct tense_scratch *c, unsigned long address)
{
	return address - c->low_start < c->low_end - c->low_start ||
	       address - c->high_start < c->high_end - c->high_start;
}

static void find_words(struct tense_scratch *c, unsigned long sp)
{
	struct tense_word *word = sample_in(c)->word;
	unsigned int i;

	for (i = 0; i < c->bytes / sizeof(u64); i++) {
		unsigned long value = c->stack[i];

		if (is_on_stack(c, sp, value))
			*word++ = (struct tense_word) {
				.place = i,
				.file = TENSE_FILE_STACK,
				.offset = value - sp,
			};
		else if (may_be_code(c, value) && name_code(c, value, word))
			word++->place = i;
	}
	sample_in(c)->words = word - sample_in(c)->word;
}

static void fill(struct tense_survey *s, struct tense_scratch *c,
		 const struct tense_where *where)
{
	struct pt_regs *regs = task_pt_regs(current);
	unsigned long sp = stack_pointer_of(regs);
	unsigned long bp = frame_pointer_of(regs);
	bool charged = where->kind == TENSE_SAMPLE_THREAD;
	struct tense_sample *sample = sample_in(c);

	*sample = (struct tense_sample) {
		.head.kind = where->kind,
		.pid = task_pid_nr_ns(current, s->pids),
		.tgid = task_tgid_nr_ns(current, s->pids),
		.time = where->time,
		.ns = where->ns,
		.flags = where->flags,
		.frame = is_on_stack(c, sp, bp) ? bp - sp : TENSE_SAMPLE_NOWHERE,
		.stack = c->bytes,
		.wake = where->wake,
		.waker = where->waker,
		.call = charged ? 0 : syscall_get_nr(current, regs),
	};
	BUILD_BUG_ON(sizeof(sample->comm) != TASK_COMM_LEN);
	get_task_comm(sample->comm, current);
	name_code(c, instruction_pointer(regs), &sample->code);
	find_words(c, sp);
	sample->head.size = sizeof(*sample) +
			    sample->words * sizeof(struct tense_word);
}

/**
 * tense_sample_take() - sample the calling task
 * @s: the survey of its experiment
 * @where: where it is
 *
 * The task has a memory map and holds no lock. May sleep.
 */
void tense_sample_take(struct tense_survey *s, const struct tense_where *where)
{
	struct tense_scratch *c = xchg(&s->spare, NULL);
	enum outcome outcome = LOST;

	if (!c)
		c = kvmalloc(sizeof(*c), GFP_KERNEL_ACCOUNT);
	if (c)
		outcome = look(s, c, stack_pointer_of(task_pt_regs(current)));
	if (outcome == TAKEN) {
		fill(s, c, where);
		if (!tense_sample_add(s, sample_in(c)))
			outcome = LOST;
	}
	if (outcome == HIDDEN)
		tense_sample_hide(s, where);
	else if (outcome == LOST)
		tense_sample_lose(s, where);
	tense_scratch_free(xchg(&s->spare, c));
}
