/* SPDX-License-Identifier: GPL-2.0 */
/* How a guest ends: power off, perhaps after tense was told of a failure. */
#ifndef TOOLS_GUEST_ENDING_H
#define TOOLS_GUEST_ENDING_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Failures go through this channel from now on. last_data: the channel loses
 * data if the guest powers off before tense has closed its end.
 */
void ending_begin(int control, bool last_data);

/* Tells tense why there will be no command, with errno, and ends the guest. */
void fail(const char *format, ...)
	__attribute__((noreturn, format(printf, 1, 2)));
void power_off(void) __attribute__((noreturn));

/* Sends a message to tense. 0, or -1 with errno. */
int send_message(int fd, uint32_t type, const void *payload, uint32_t size,
		 const void *more, uint32_t more_size);

#endif
