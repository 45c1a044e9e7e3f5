/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MEASURE_IMAGE_H
#define MEASURE_IMAGE_H

#include "activity.h"

/*
 * All threads of the machine and their CPU times: from taskstats, or without it
 * (NULL) from /proc, if the kernel has CONFIG_SCHED_INFO. 0, or -1 if they
 * cannot be had at all.
 */
int image_take(struct image *image, struct task_source *source);

#endif
