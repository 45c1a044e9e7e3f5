/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PI_DIGITS_H
#define PI_DIGITS_H

/*
 * The first digits of pi, 3 and all, as text. Calls tick some times each ms.
 * Returns -1 if there is no memory, or nothing to do.
 */
int pi_digits(int digits, char *text, void (*tick)(void *data), void *data);

#endif
