// SPDX-License-Identifier: GPL-2.0
#include "time-unit.h"

#include <stdio.h>

#include "qemu-machine.h"

const char *time_unit_text(void)
{
	static char counted[60];

	snprintf(counted, sizeof(counted),
		 "instructions (1 instruction = %d ns)", 1 << QEMU_SHIFT);
	return counted;
}
