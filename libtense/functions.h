/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libtense-functions.so: lets the functions that TENSE_FUNCTIONS names run at
 * another percent, in each process that it is preloaded into. stub.h says how.
 */
#ifndef LIBTENSE_FUNCTIONS_H
#define LIBTENSE_FUNCTIONS_H

/* Finds the functions of libc that functions-calls.c stands in front of. */
void functions_calls_init(void);

#endif
