// SPDX-License-Identifier: GPL-2.0
#include "ending.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/reboot.h>
#include <unistd.h>

#include "run/launch.h"
#include "run/proto.h"
#include "base/util.h"

static int control_fd = -1;
static bool waits_for_tense;

void ending_begin(int control, bool last_data)
{
	control_fd = control;
	waits_for_tense = last_data;
}

void power_off(void)
{
	char byte;

	sync();
	/* Wait until tense closes the port, or its last data would be lost. */
	if (waits_for_tense)
		while (read(control_fd, &byte, 1) > 0 || errno == EINTR)
			errno = 0;
	for (;;)
		reboot(RB_POWER_OFF);
}

void fail(const char *format, ...)
{
	struct outcome out = { .kind = OUTCOME_FAILED };
	int error = errno;
	va_list args;
	size_t len;

	va_start(args, format);
	vsnprintf(out.text, sizeof(out.text), format, args);
	va_end(args);
	len = strlen(out.text);
	snprintf(out.text + len, sizeof(out.text) - len, ": %s",
		 strerror(error));
	if (control_fd >= 0)
		send_message(control_fd, MESSAGE_OUTCOME, &out, sizeof(out),
			     NULL, 0);
	else
		warn("%s", out.text);
	power_off();
}

int send_message(int fd, uint32_t type, const void *payload, uint32_t size,
		 const void *more, uint32_t more_size)
{
	struct message m = { .type = type, .size = size + more_size };

	return write_full(fd, &m, sizeof(m)) ||
	       (size && write_full(fd, payload, size)) ||
	       (more_size && write_full(fd, more, more_size)) ? -1 : 0;
}
