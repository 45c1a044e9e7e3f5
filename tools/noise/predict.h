/* SPDX-License-Identifier: GPL-2.0 */
#ifndef NOISE_PREDICT_H
#define NOISE_PREDICT_H

#include "options.h"

/*
 * `tense noise predict`: computes the Levy's parameters by coefficients, and
 * the effects of such noise. 0, or -1 after a message.
 */
int noise_predict(const struct noise_options *o);

#endif
