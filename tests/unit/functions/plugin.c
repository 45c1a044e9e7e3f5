// SPDX-License-Identifier: GPL-2.0
/* Opened by program.c. */

int plugin_twice(int n);
int plugin_started(void);

static int from_constructor;

__attribute__((noinline)) int plugin_twice(int n)
{
	__asm__ volatile("");
	return 2 * n;
}

int plugin_started(void)
{
	return from_constructor;
}

__attribute__((constructor)) static void start(void)
{
	from_constructor = plugin_twice(21);
}
