/* SPDX-License-Identifier: GPL-2.0 */
/* The smallest program that still fails, or nearly. */
#ifndef ORACLE_SHRINK_H
#define ORACLE_SHRINK_H

#include "trial.h"

/*
 * Makes @p, which fails, smaller as long as it does. Each candidate runs in a
 * process of its own, so that one may crash or hang.
 */
void shrink(struct program *p, struct mode mode);

#endif
