// SPDX-License-Identifier: GPL-2.0
/*
 * libslow.so: preloaded, it makes some functions of real programs slower by a
 * known part. After each call its wrapper burns as much more of the thread's
 * CPU time as SLOW says, in percent of what the call itself took. So the
 * program without it is one in which a function takes less time, and the
 * program with it is one in which it takes more.
 *
 * The time-stamp counter tells what a call took. It runs on while the thread
 * does not, so that where it says that much time went by, the kernel is asked
 * for the thread's part of it: a system call takes longer than many functions.
 */
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../lib/cycles.h"

#define EXPORT __attribute__((visibility("default"), noinline))
/* Of a spin between two looks at the counter. */
#define STEPS	16
/* In ticks, about 1 ms: long enough for others to have run. */
#define LONG	3000000

static unsigned int percent;

/* An instant on all clocks. */
struct instant {
	uint64_t ticks, cpu, real;
};

static _Thread_local struct {
	unsigned int depth;	/* of wrapped calls within wrapped calls */
	bool started;
	struct instant seen;
	uint64_t last;		/* end of the last call, in ticks */
	int64_t owed;		/* ticks to burn */
	uint64_t state;
} me;

static struct instant look(void)
{
	return (struct instant) {
		.cpu = real_clock(CLOCK_THREAD_CPUTIME_ID),
		.real = real_clock(CLOCK_MONOTONIC),
		.ticks = cycles(),
	};
}

/* Of this thread since then; what others had is taken off. */
static uint64_t ticks_since(uint64_t start)
{
	uint64_t took = cycles() - start;
	struct instant now;
	double others;

	if (took < LONG)
		return took;
	now = look();
	others = 1 - (double)(now.cpu - me.seen.cpu) /
		     (now.real - me.seen.real);
	others *= now.ticks - me.seen.ticks;
	me.seen = now;
	took = now.ticks - start;
	return others <= 0 ? took : others >= took ? 0 : took - others;
}

static void spin(uint64_t ticks)
{
	uint64_t start = cycles();

	do {
		for (int i = 0; i < STEPS; i++) {
			me.state = me.state * 0x5851f42d4c957f2dull + 1;
			__asm__ volatile("" : "+r"(me.state));
		}
	} while (cycles() - start < ticks);
}

/* What the wrapper itself takes is burnt already. */
static uint64_t begin(void)
{
	uint64_t entry = cycles(), start;

	if (me.depth++)
		return 0;
	if (!me.started || entry - me.last >= LONG) {
		me.seen = look();
		me.started = true;
	}
	start = cycles();
	me.owed -= (int64_t)(start - entry);
	return start;
}

static void burn(uint64_t start)
{
	uint64_t end;

	if (--me.depth)
		return;
	end = cycles();
	me.owed += (int64_t)(ticks_since(start) * percent / 100);
	me.owed -= (int64_t)(cycles() - end);
	do {
		start = cycles();
		if (me.owed > 0)
			spin(me.owed);
		me.owed -= (int64_t)ticks_since(start);
	} while (me.owed > 0);
	me.last = cycles();
}

/* What the wrappers stand for. */
static struct {
	int (*deflate)(void *stream, int flush);
	int (*lzma_code)(void *stream, int action);
	void *(*BZ2_bzWrite)(int *error, void *file, void *data, int len);
	int (*sqlite3_step)(void *statement);
	int (*EVP_DigestUpdate)(void *context, const void *data, size_t len);
	void *(*slow_pp_split)(void *interpreter);
} real;

EXPORT int deflate(void *stream, int flush)
{
	uint64_t start = begin();
	int result = real.deflate(stream, flush);

	burn(start);
	return result;
}

EXPORT int lzma_code(void *stream, int action)
{
	uint64_t start = begin();
	int result = real.lzma_code(stream, action);

	burn(start);
	return result;
}

EXPORT void *BZ2_bzWrite(int *error, void *file, void *data, int len)
{
	uint64_t start = begin();
	void *result = real.BZ2_bzWrite(error, file, data, len);

	burn(start);
	return result;
}

EXPORT int sqlite3_step(void *statement)
{
	uint64_t start = begin();
	int result = real.sqlite3_step(statement);

	burn(start);
	return result;
}

EXPORT int EVP_DigestUpdate(void *context, const void *data, size_t len)
{
	uint64_t start = begin();
	int result = real.EVP_DigestUpdate(context, data, len);

	burn(start);
	return result;
}

/* The executable's own, which perl calls through a table of pointers. */
EXPORT void *slow_pp_split(void *interpreter)
{
	uint64_t start = begin();
	void *result = real.slow_pp_split(interpreter);

	burn(start);
	return result;
}

static void find(void *function, const char *name)
{
	void *address = dlsym(RTLD_NEXT, name);

	memcpy(function, &address, sizeof(address));
}

static void wrap_perl(void)
{
	void **table = dlsym(RTLD_DEFAULT, "PL_ppaddr");
	void *split = dlsym(RTLD_DEFAULT, "Perl_pp_split");
	const ElfW(Sym) *symbol;
	Dl_info info;

	if (!table || !split ||
	    !dladdr1(table, &info, (void **)&symbol, RTLD_DL_SYMENT))
		return;
	memcpy(&real.slow_pp_split, &split, sizeof(split));
	for (size_t i = 0; i < symbol->st_size / sizeof(*table); i++)
		if (table[i] == split)
			table[i] = (void *)slow_pp_split;
}

__attribute__((constructor)) static void start(void)
{
	const char *slow = getenv("SLOW");

	percent = slow ? strtoul(slow, NULL, 10) : 0;
	find(&real.deflate, "deflate");
	find(&real.lzma_code, "lzma_code");
	find(&real.BZ2_bzWrite, "BZ2_bzWrite");
	find(&real.sqlite3_step, "sqlite3_step");
	find(&real.EVP_DigestUpdate, "EVP_DigestUpdate");
	wrap_perl();
}
