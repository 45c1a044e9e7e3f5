/* SPDX-License-Identifier: GPL-2.0 */
#ifndef ORACLE_COST_H
#define ORACLE_COST_H

/*
 * Prints what the calls of vclock.c cost; times are never a test. Returns the
 * exit status.
 */
int cost_print(void);

#endif
