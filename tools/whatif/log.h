/* SPDX-License-Identifier: GPL-2.0 */
/* Reads TENSE_FUNCTIONS_LOG, the log of libtense-functions.so in a run. */
#ifndef TOOLS_WHATIF_LOG_H
#define TOOLS_WHATIF_LOG_H

#include "samples.h"

/*
 * Adds the functions to the samples and the costs to the sample. The text, which
 * ends with a null byte, is changed. Returns how many lines were none of that.
 */
unsigned int whatif_log_read(struct whatif_samples *samples, char *text,
			     struct whatif_sample *sample);

#endif
