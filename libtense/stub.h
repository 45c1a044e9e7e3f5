/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Functions whose entry is redirected: the part that runs whenever one is
 * called.
 *
 * The entry of a function is overwritten with a jump to its thunk, which
 * pushes the function's struct tense_stub and jumps to tense_stub_entry. That
 * lets tense_stub_enter() decide. Usually the thread takes on the percent
 * and the return address is exchanged for a gate: a few instructions of this
 * library that belong to that return address alone. The gate calls the
 * instructions that were overwritten, which go on in the function, and so the
 * function returns to the gate, which lets tense_stub_leave() give the percent
 * back and returns to the caller.
 *
 * There is no second stack of return addresses that exceptions, longjmp() or
 * switches of stacks could upset: whatever happens, a gate knows where it
 * returns to. What a thread remembers are at most a few spans, found by where
 * the return address lies. A span whose return address is below the
 * stack pointer has ended without a return, and its percent is given back when
 * that is noticed: by the unwinder's call of the gates' personality function,
 * by longjmp(), or at the next entry or exit.
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
	uintptr_t resume;	/* the instructions that were overwritten */
	uint32_t percent;	/* in thousandths */
	uint32_t slot;		/* 0: it has no percent */
	/* What is more than that: TENSE_MARK_*, STUB_PROBE. */
	uint32_t special;
	void (*probe)(void);	/* called at each entry, and nothing else done */
};

_Static_assert(offsetof(struct tense_stub, resume) == STUB_RESUME, "");

/*
 * Counter ticks that the stubs take and the program is not charged for. A call
 * with a span takes leave between its two stamps, and enter before and after
 * them. A call of a function that the thread is already in has no span and takes
 * count. The stubs check each span that the thread is in: each one that is not
 * the function's own adds enter_level or count_level.
 */
struct tense_stub_cost {
	unsigned int enter, leave, count;
	unsigned int enter_level, count_level;
};

extern struct tense_stub_cost tense_stub_cost;

/* Before anything else here, by the main thread. */
void tense_stub_init(void);

/* Whether redirected functions are left alone by the thread, as if they were not. */
void tense_stub_hold(bool hold);

/*
 * Gives back the spans that lie deeper than a stack pointer, or, of UINTPTR_MAX,
 * all. Signal-safe.
 */
void tense_stub_settle(uintptr_t sp);

/* Calls measure(call) in a function of that stub. */
unsigned int tense_stub_inside(const struct tense_stub *stub,
			       unsigned int (*measure)(void (*call)(void)),
			       void (*call)(void));

/* stub-entry.S */
void tense_stub_entry(void);
int tense_stub_call_saved(int (*function)(), ...);
extern const unsigned char tense_stub_gates[];

#endif
