// SPDX-License-Identifier: GPL-2.0
/*
 * clock-order as a static program for in-qemu, which has more CPUs than `tense run`
 * may have here. Readings by the page and by the system call have other origins
 * in it: they are not compared with each other.
 */
#define STATIC_LIBTENSE
#define main count_early_readings
#include "clock-order.c"
#undef main

#include "guest.h"

int main(void)
{
	static char *args[] = {
		"clock-order", "--tap", "--by", NULL, "--readings", "10000", NULL
	};
	char by[] = "page,call";
	int error = load_module();

	if (!error)
		error = tense_init();
	if (error)
		fail("there is no virtual time", -error);
	args[3] = by;
	return count_early_readings(ARRAY_LENGTH(args) - 1, args);
}
