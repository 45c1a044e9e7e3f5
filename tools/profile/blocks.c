// SPDX-License-Identifier: GPL-2.0
/* Turns samples of blocks and wake-ups into the waits of the threads. */
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "blocks.h"
#include "unwind.h"
#include "base/paths.h"
#include "base/util.h"

static const struct {
	int call;
	enum survey_reason reason;
} reasons[] = {
	{ -1, SURVEY_PAGE },
	{ SYS_futex, SURVEY_LOCK },
	{ 449 /* futex_waitv */, SURVEY_LOCK },
	{ SYS_flock, SURVEY_LOCK },
	{ SYS_semop, SURVEY_LOCK },
	{ SYS_semtimedop, SURVEY_LOCK },
	{ SYS_nanosleep, SURVEY_SLEEP },
	{ SYS_clock_nanosleep, SURVEY_SLEEP },
	{ SYS_lseek, SURVEY_SLEEP },	/* as /dev/tense has it */
	{ SYS_wait4, SURVEY_CHILD },
	{ SYS_waitid, SURVEY_CHILD },
	{ SYS_vfork, SURVEY_CHILD },
	{ SYS_clone, SURVEY_CHILD },	/* by posix_spawn(3) */
	{ 435 /* clone3 */, SURVEY_CHILD },
	{ SYS_read, SURVEY_INPUT },
	{ SYS_readv, SURVEY_INPUT },
	{ SYS_pread64, SURVEY_INPUT },
	{ SYS_preadv, SURVEY_INPUT },
	{ SYS_recvfrom, SURVEY_INPUT },
	{ SYS_recvmsg, SURVEY_INPUT },
	{ SYS_recvmmsg, SURVEY_INPUT },
	{ SYS_accept, SURVEY_INPUT },
	{ SYS_accept4, SURVEY_INPUT },
	{ SYS_write, SURVEY_OUTPUT },
	{ SYS_writev, SURVEY_OUTPUT },
	{ SYS_pwrite64, SURVEY_OUTPUT },
	{ SYS_pwritev, SURVEY_OUTPUT },
	{ SYS_sendto, SURVEY_OUTPUT },
	{ SYS_sendmsg, SURVEY_OUTPUT },
	{ SYS_sendmmsg, SURVEY_OUTPUT },
	{ SYS_connect, SURVEY_OUTPUT },
	{ SYS_fsync, SURVEY_OUTPUT },
	{ SYS_fdatasync, SURVEY_OUTPUT },
	{ SYS_poll, SURVEY_EVENT },
	{ SYS_ppoll, SURVEY_EVENT },
	{ SYS_select, SURVEY_EVENT },
	{ SYS_pselect6, SURVEY_EVENT },
	{ SYS_epoll_wait, SURVEY_EVENT },
	{ SYS_epoll_pwait, SURVEY_EVENT },
	{ 441 /* epoll_pwait2 */, SURVEY_EVENT },
};

static enum survey_reason reason_of(int call)
{
	for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++)
		if (reasons[i].call == call)
			return reasons[i].reason;
	return SURVEY_OTHER;
}

/* A function that the program calls to wait or to wake others. */
static bool is_libc(const struct survey *survey, uint32_t index)
{
	const char *name = base_name(survey->functions[index].object);

	return !strncmp(name, "libc.so", 7) || !strncmp(name, "ld-linux", 8) ||
	       survey->functions[index].obstacle == SURVEY_TENSE;
}

/* How to find the functions of a sample. */
struct finder {
	const struct survey *survey;
	attribute_fn attribute;
	struct attribution *a;
};

/*
 * Finds the innermost function that is not of libc, and the one of libc that it called.
 * If all are of libc, the outermost counts.
 */
static void find_function(const struct finder *f, const struct tense_sample *sample,
			  uint32_t *function, uint32_t *callee)
{
	uint32_t frames[UNWIND_MAX], depth, at = 0;
	bool whole;

	*function = SURVEY_NOWHERE;
	*callee = SURVEY_NOWHERE;
	depth = f->attribute(f->a, sample, frames, &whole);
	while (at + 1 < depth && is_libc(f->survey, frames[at]))
		at++;
	if (!depth)
		return;
	*function = frames[at];
	if (at)
		*callee = frames[at - 1];
}

/* Samples of wake-ups, by their numbers. */
struct wakes {
	struct wake {
		const struct tense_sample *sample;
	} *list;
	size_t count;
};

static int by_number(const void *left, const void *right)
{
	const struct wake *a = left, *b = right;

	return (a->sample->wake > b->sample->wake) - (a->sample->wake < b->sample->wake);
}

static struct wakes find_wakes(const struct samples *samples)
{
	struct wakes w = {
		.list = xmalloc((samples->nr_blocks + 1) * sizeof(*w.list)),
	};

	for (size_t i = 0; i < samples->nr_blocks; i++)
		if (samples->blocks[i]->head.kind == TENSE_SAMPLE_WAKE)
			w.list[w.count++].sample = samples->blocks[i];
	qsort(w.list, w.count, sizeof(*w.list), by_number);
	return w;
}

/* Returns the wake-up that ended a block, or NULL. */
static const struct tense_sample *find_wake(const struct wakes *w,
					    const struct tense_sample *block)
{
	const struct wake key = { block }, *found;

	if (!block->wake || !w->count)
		return NULL;
	found = bsearch(&key, w->list, w->count, sizeof(*w->list), by_number);
	return found ? found->sample : NULL;
}

/* Returns some sample of the thread, or NULL. */
static const struct tense_sample *find_thread(const struct samples *samples, int32_t pid)
{
	for (size_t i = 0; i < samples->count; i++)
		if (samples->list[i]->pid == pid)
			return samples->list[i];
	return NULL;
}

static void find_waker(const struct finder *f, const struct samples *samples,
		       const struct wakes *wakes, const struct tense_sample *sample,
		       struct survey_block *block)
{
	const struct tense_sample *wake = find_wake(wakes, sample);
	const struct tense_sample *thread = wake;
	uint32_t callee;

	block->waker = SURVEY_NOWHERE;
	block->by = sample->flags & TENSE_SAMPLE_TIMER ? SURVEY_BY_TIMER :
		    sample->waker ? SURVEY_BY_THREAD : SURVEY_BY_OUTSIDE;
	if (wake)
		find_function(f, wake, &block->waker, &callee);
	else if (sample->waker)
		thread = find_thread(samples, sample->waker);
	if (thread)
		memcpy(block->waker_thread, thread->comm, sizeof(block->waker_thread));
	mask_controls(block->waker_thread);
}

static bool is_same(const struct survey_block *x, const struct survey_block *y)
{
	return x->function == y->function && x->callee == y->callee &&
	       x->reason == y->reason && x->by == y->by && x->waker == y->waker &&
	       !strcmp(x->thread, y->thread) &&
	       !strcmp(x->waker_thread, y->waker_thread);
}

static void enter(struct survey *survey, const struct survey_block *block)
{
	size_t i = 0;

	while (i < survey->nr_blocks && !is_same(&survey->blocks[i], block))
		i++;
	if (i == survey->nr_blocks) {
		survey->blocks = xrealloc(survey->blocks,
					  (i + 1) * sizeof(*survey->blocks));
		survey->blocks[survey->nr_blocks++] = *block;
	} else {
		survey->blocks[i].ns += block->ns;
		survey->blocks[i].samples++;
	}
	survey->blocked_ns += block->ns;
}

static int by_time(const void *left, const void *right)
{
	const struct survey_block *a = left, *b = right;

	return (a->ns < b->ns) - (a->ns > b->ns);
}

void survey_blocks_fill(struct survey *survey, const struct samples *samples,
			attribute_fn attribute, struct attribution *a)
{
	const struct finder finder = { .survey = survey, .attribute = attribute, .a = a };
	struct wakes wakes = find_wakes(samples);

	for (size_t i = 0; i < samples->nr_blocks; i++) {
		const struct tense_sample *sample = samples->blocks[i];
		struct survey_block block = {
			.ns = sample->ns, .samples = 1,
			.reason = reason_of(sample->call),
		};

		if (sample->head.kind != TENSE_SAMPLE_BLOCK ||
		    !samples_is_program(samples, sample))
			continue;
		memcpy(block.thread, sample->comm, sizeof(block.thread));
		mask_controls(block.thread);
		find_function(&finder, sample, &block.function, &block.callee);
		find_waker(&finder, samples, &wakes, sample, &block);
		enter(survey, &block);
	}
	free(wakes.list);
	if (survey->nr_blocks)
		qsort(survey->blocks, survey->nr_blocks, sizeof(*survey->blocks),
		      by_time);
}
