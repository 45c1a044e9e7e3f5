/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libtense-functions.so runs the functions that TENSE_FUNCTIONS names at another
 * percent, in each process that preloads it. stub.h describes how.
 */
#ifndef LIBTENSE_FUNCTIONS_H
#define LIBTENSE_FUNCTIONS_H

/* Finds the libc functions that functions-calls.c replaces. */
void functions_calls_init(void);

#endif
