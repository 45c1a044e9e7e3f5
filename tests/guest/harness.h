/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The kernel's test harness. Nothing here takes as long as its time-out is made
 * to be: that is for what hangs. An emulated CPU may be stopped for long.
 */
#ifndef TENSE_HARNESS_H
#define TENSE_HARNESS_H

#include "kselftest_harness.h"

#undef TEST_TIMEOUT_DEFAULT
#define TEST_TIMEOUT_DEFAULT 600

#endif
