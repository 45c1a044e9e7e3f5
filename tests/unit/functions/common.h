/* SPDX-License-Identifier: GPL-2.0 */
/*
 * For programs that run with and without libtense-functions.so: both ways they
 * do the same and say so, one line for each check.
 */
#ifndef FUNCTIONS_COMMON_H
#define FUNCTIONS_COMMON_H

#include <dlfcn.h>
#include <string.h>

#include "tap.h"

/* Calls of it are made as they are written. */
#ifdef __clang__
#define NOINLINE __attribute__((noinline))
#else
#define NOINLINE __attribute__((noipa))
#endif

static unsigned int (*fake_percent_p)(void), (*fake_slot_p)(void);
static unsigned long (*fake_calls_p)(unsigned int);
static bool (*fake_admits_p)(void);

static void find_fake(void)
{
	*(void **)&fake_percent_p = dlsym(RTLD_DEFAULT, "fake_percent");
	*(void **)&fake_slot_p = dlsym(RTLD_DEFAULT, "fake_slot");
	*(void **)&fake_calls_p = dlsym(RTLD_DEFAULT, "fake_calls");
	*(void **)&fake_admits_p = dlsym(RTLD_DEFAULT, "fake_admits");
}

/* The calling thread's percent; 100 without the library. */
static unsigned int percent(void)
{
	return fake_percent_p ? fake_percent_p() : 100;
}

/* Is it what it should be, where it can be anything? */
__attribute__((unused)) static bool at(unsigned int expected)
{
	if (!fake_percent_p)
		return true;
	if (percent() != expected)
		printf("# at %u percent, not at %u\n", percent(), expected);
	return percent() == expected;
}

/* Nobody left a change of the ring unfinished. */
__attribute__((unused)) static bool admits(void)
{
	return !fake_admits_p || fake_admits_p();
}

static unsigned long calls_seen[16];

/* Calls in a slot since this was asked last. */
static unsigned long new_calls(unsigned int slot)
{
	unsigned long now = fake_calls_p(slot), calls;

	calls = now - calls_seen[slot];
	calls_seen[slot] = now;
	return calls;
}

__attribute__((unused)) static void forget_calls(unsigned int slot)
{
	if (fake_calls_p)
		new_calls(slot);
}

__attribute__((unused))
static bool called(unsigned int slot, unsigned long expected)
{
	unsigned long calls = fake_calls_p ? new_calls(slot) : expected;

	if (calls != expected)
		printf("# %lu calls in slot %u, not %lu\n", calls, slot,
		       expected);
	return calls == expected;
}

#endif
