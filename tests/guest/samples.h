/* SPDX-License-Identifier: GPL-2.0 */
/* Tests of samples share this: functions to be sampled, and readers of the records. */
#ifndef TENSE_GUEST_SAMPLES_H
#define TENSE_GUEST_SAMPLES_H

#include "guest.h"

#include <linux/tense-samples.h>

#define PERIOD MS

static const char usual[] = "samples 1000000 4096 8192 1";

/* --- programs whose code lies in sections of its own --- */

#define CODE(name) \
	static int64_t spent_##name; \
	__attribute__((noinline, unused, section("code_" #name))) \
	static void name(int64_t ns) \
	{ \
		spent_##name += spend(ns); \
		__asm__ volatile("" ::: "memory"); \
	} \
	extern char __start_code_##name[], __stop_code_##name[]

/* Inlined: so all instructions between the calls of the clock are the function's. */
static inline __attribute__((always_inline)) int64_t spend(int64_t ns)
{
	int64_t from = clock_ns(CLOCK_THREAD_CPUTIME_ID), now;

	/* An emulated CPU is slow: it may spend much more than asked. */
	do {
		for (volatile int i = 0; i < 1000; i++)
			;
		now = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	} while (now < from + ns);
	return now - from;
}

CODE(first);
CODE(second);

__attribute__((noinline, unused, section("code_caller")))
static void caller(int64_t ns)
{
	first(ns);
	__asm__ volatile("" ::: "memory");
}

extern char __start_code_caller[], __stop_code_caller[];

/* --- records --- */

struct records {
	struct tense_samples header;
	char *data;
	size_t size;		/* of data: header and records */
};

static inline struct records read_all(int fd)
{
	size_t room = TENSE_SAMPLES_KIB_MAX * 1024;
	struct records r = { .data = malloc(room) };
	ssize_t n;

	while ((n = pread(fd, r.data + r.size, room - r.size,
			  TENSE_SAMPLES_OFFSET + r.size)) > 0)
		r.size += n;
	if (r.size >= sizeof(r.header))
		memcpy(&r.header, r.data, sizeof(r.header));
	return r;
}

/* Returns the record after @at, the first one after NULL; NULL after the last. */
static inline const struct tense_sample_head *next(const struct records *r,
					    const struct tense_sample_head *at)
{
	const char *to = at ? (const char *)at + at->size :
			      r->data + sizeof(r->header);

	return to < r->data + r->size ? (const void *)to : NULL;
}

static inline const struct tense_sample *next_sample(const struct records *r,
					      const struct tense_sample *at)
{
	const struct tense_sample_head *head = at ? &at->head : NULL;

	do {
		head = next(r, head);
	} while (head && head->kind != TENSE_SAMPLE_THREAD);
	return (const void *)head;
}

static inline const char *path_of(const struct records *r, unsigned int number)
{
	const struct tense_sample_head *head = NULL;

	while ((head = next(r, head))) {
		const struct tense_sample_file *file = (const void *)head;

		if (head->kind == TENSE_SAMPLE_FILE && file->number == number)
			return file->path;
	}
	return NULL;
}

/*
 * The place of code in the program's file. Looks up only one address, because a look-up
 * reads a file of the kernel: one for each word would take longer than the sampling.
 */
static inline uint64_t place_in_file(const char *code)
{
	static const char *known;
	static uint64_t place;

	if (!known) {
		place = offset_of(code);
		known = code;
	}
	/* All code is in one mapping. */
	return place + (code - known);
}

static inline bool is_in(const struct tense_word *word, const char *start,
			 const char *stop)
{
	uint64_t from = place_in_file(start);

	return word->file && word->file != TENSE_FILE_STACK &&
	       word->offset >= from && word->offset < from + (stop - start);
}

#define IS_IN(word, name) is_in(word, __start_code_##name, __stop_code_##name)

/*
 * The innermost place of a sample in first() or second(), or NULL. Further out may
 * be return addresses of calls that have ended.
 */
static inline const struct tense_word *innermost(const struct tense_sample *s)
{
	const struct tense_word *word;

	for (uint32_t i = 0; i <= s->words; i++) {
		word = i ? &s->word[i - 1] : &s->code;
		if (IS_IN(word, first) || IS_IN(word, second))
			return word;
	}
	return NULL;
}

/* Virtual ns of the samples in first() or second(), or in what it calls. */
#define NS_IN(r, name) ns_in(r, __start_code_##name, __stop_code_##name)

static inline int64_t ns_in(const struct records *r, const char *start, const char *stop)
{
	const struct tense_sample *s = NULL;
	int64_t ns = 0;

	while ((s = next_sample(r, s))) {
		const struct tense_word *word = innermost(s);

		ns += word && is_in(word, start, stop) ? s->ns : 0;
	}
	return ns;
}

static inline int64_t ns_below_caller(const struct records *r)
{
	const struct tense_sample *s = NULL;
	int64_t ns = 0;

	while ((s = next_sample(r, s)))
		for (uint32_t i = 0; i < s->words; i++)
			if (IS_IN(&s->word[i], caller)) {
				ns += s->ns;
				break;
			}
	return ns;
}

/* Virtual ns of the samples of a thread; 0: of all. */
static inline int64_t ns_of(const struct records *r, pid_t pid)
{
	const struct tense_sample *s = NULL;
	int64_t ns = 0;

	while ((s = next_sample(r, s)))
		ns += !pid || s->pid == pid ? s->ns : 0;
	return ns;
}

/*
 * How much a function's time may differ from what it spent. A sample stands for more than
 * a period if the host kept the guest from running meanwhile.
 */
static inline int64_t most_amiss(const struct records *r)
{
	const struct tense_sample *s = NULL;
	int64_t most = 10 * PERIOD;

	while ((s = next_sample(r, s)))
		if (2 * (int64_t)s->ns > most)
			most = 2 * s->ns;
	return most;
}

static inline int tell_device(int fd, const char *text)
{
	return write(fd, text, strlen(text)) == (ssize_t)strlen(text) ? 0 : errno;
}

#endif
