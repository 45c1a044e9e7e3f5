/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef LIBTENSE_STUB_MARK_H
#define LIBTENSE_STUB_MARK_H

#include <stdint.h>

#include "symbols/marks.h"

/* Opens the file TENSE_FUNCTIONS_MARKS for marks. Returns NULL, or why it cannot. */
const char *tense_stub_mark_init(void);

/* Marks a call of a function that is TENSE_MARK_*. Signal-safe, makes no call. */
void tense_stub_mark(int64_t now, unsigned int what);

#endif
