// SPDX-License-Identifier: GPL-2.0
/*
 * libslow.so: preloaded, it makes some functions of real programs slower by a
 * known amount of work. After each call of theirs its wrapper takes SLOW steps
 * of a generator, in registers only. So the program that is spared them is one
 * in which a function takes less time, and the other one is one in which it
 * takes more. With SLOW=0 it takes none, but is there: to load it takes time,
 * too, some 10 ms in a guest.
 *
 * It looks at no clock: what calls take is not known better in here than by
 * whom counts the CPU time of all of them, and to ask is to disturb. How many
 * steps are how much of a function's time is found out before (calibrate).
 */
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default"), noinline))

static uint64_t steps;

static _Thread_local uint64_t generator;

/*
 * Waits for the instructions before it. Without it, a CPU overlaps the steps with the code
 * around them: 15 % of 0.2 us then cost nothing.
 */
static void fence(void)
{
	__asm__ volatile("lfence" : : : "memory");
}

/* Called as it stands, so that its time can be told from that of the rest. */
EXPORT void slow_burn(uint64_t count)
{
	uint64_t state = generator;

	fence();
	for (; count; count--) {
		state = state * 0x5851f42d4c957f2dull + 1;
		__asm__ volatile("" : "+r"(state));
	}
	generator = state;
	fence();
}

static void burn(void)
{
	if (steps)
		slow_burn(steps);
}

/* The functions that the wrappers replace. */
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
	int result = real.deflate(stream, flush);

	burn();
	return result;
}

EXPORT int lzma_code(void *stream, int action)
{
	int result = real.lzma_code(stream, action);

	burn();
	return result;
}

EXPORT void *BZ2_bzWrite(int *error, void *file, void *data, int len)
{
	void *result = real.BZ2_bzWrite(error, file, data, len);

	burn();
	return result;
}

EXPORT int sqlite3_step(void *statement)
{
	int result = real.sqlite3_step(statement);

	burn();
	return result;
}

EXPORT int EVP_DigestUpdate(void *context, const void *data, size_t len)
{
	int result = real.EVP_DigestUpdate(context, data, len);

	burn();
	return result;
}

/* The executable's own, which perl calls through a table of pointers. */
EXPORT void *slow_pp_split(void *interpreter)
{
	void *result = real.slow_pp_split(interpreter);

	burn();
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

	steps = slow ? strtoull(slow, NULL, 10) : 0;
	find(&real.deflate, "deflate");
	find(&real.lzma_code, "lzma_code");
	find(&real.BZ2_bzWrite, "BZ2_bzWrite");
	find(&real.sqlite3_step, "sqlite3_step");
	find(&real.EVP_DigestUpdate, "EVP_DigestUpdate");
	wrap_perl();
}
