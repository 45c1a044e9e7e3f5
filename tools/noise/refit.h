/* SPDX-License-Identifier: GPL-2.0 */
#ifndef NOISE_REFIT_H
#define NOISE_REFIT_H

#include "options.h"

/*
 * tense noise refit: times of each number of processes and length, fitted, and
 * the coefficients that follow, kept. 0, or -1 after a message.
 */
int noise_refit(const struct noise_options *o);

#endif
