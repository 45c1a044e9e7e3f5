/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Functions whose entry is redirected: the code that runs at each call.
 *
 * The entry of a function is overwritten with a jump to its thunk. The thunk
 * pushes the function's struct tense_stub and jumps to tense_stub_entry, which
 * calls tense_stub_enter_first(), or tense_stub_enter() within another such
 * function. Usually the thread takes on the percent, and a gate
 * replaces the return address. A gate is a few instructions of this library that
 * belong to that return address alone. The gate calls the moved instructions of
 * the entry, which continue in the function. So the function returns to the gate.
 * The gate calls tense_stub_leave(), which restores the percent, and returns to
 * the caller.
 *
 * There is no second stack of return addresses that exceptions, longjmp() or
 * switches of stacks could upset: a gate always knows where it returns to. A
 * thread remembers a few spans at most, and finds each by the place of its return
 * address. A span has ended without a return if its return address is below the
 * stack pointer. The percent is restored when that is noticed: by the unwinder's
 * call of the gates' personality function, by longjmp(), or at the next entry or
 * exit.
 */
#ifndef LIBTENSE_STUB_H
#define LIBTENSE_STUB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stub-asm.h"

#define STUB_PROBE	4U

/* One redirected function. Read-only once the function is redirected. */
struct tense_stub {
	uintptr_t resume;	/* the moved instructions of the entry */
	uint32_t percent;	/* in thousandths */
	uint32_t slot;		/* 0: it has no percent */
	/* Further work: TENSE_MARK_*, STUB_PROBE. */
	uint32_t special;
	void (*probe)(void);	/* called at each entry, which then does nothing else */
};

_Static_assert(offsetof(struct tense_stub, resume) == STUB_RESUME, "");

/*
 * Counter ticks of the stubs, which are not charged to the program. A call with a
 * span takes "leave" between its two stamps, and "enter" before and after them. A
 * call of a function that the thread is already in has no span and takes "count".
 * The stubs check each span that the thread is in. Each one that is not the
 * function's own adds enter_level or count_level.
 */
struct tense_stub_cost {
	unsigned int enter, leave, count;
	unsigned int enter_level, count_level;
};

extern struct tense_stub_cost tense_stub_cost;

/* The main thread calls this before anything else here. */
void tense_stub_init(void);

/*
 * With hold, redirected functions act for this thread as if they were not
 * redirected.
 */
void tense_stub_hold(bool hold);

/*
 * Ends the spans that lie deeper than a stack pointer; UINTPTR_MAX: all of them.
 * Signal-safe.
 */
void tense_stub_settle(uintptr_t sp);

/* Calls measure(call) inside a function of that stub. */
unsigned int tense_stub_inside(const struct tense_stub *stub,
			       unsigned int (*measure)(void (*call)(void)),
			       void (*call)(void));

/* stub-entry.S */
void tense_stub_entry(void);
int tense_stub_call_saved(int (*function)(), ...);
extern const unsigned char tense_stub_gates[];

#endif
