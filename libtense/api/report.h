/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * TENSE_REPORT: a line of each thread's time when it returns, by its start function,
 * pthread_exit(3) or cancellation, or by exit(3), which the calling thread reports.
 */
#ifndef LIBTENSE_REPORT_H
#define LIBTENSE_REPORT_H

#include <stdbool.h>

/*
 * Reads the environment, and watches the calling thread if reports are wanted. Call
 * this when it is in an experiment.
 */
void tense_report_start(void);

bool tense_report_is_wanted(void);

/* Makes the calling thread report when it returns. */
void tense_report_watch(void);

#endif
