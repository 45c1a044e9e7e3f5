// SPDX-License-Identifier: GPL-2.0
/* count MILLIONS: counts so far, which takes nothing but CPU time. */
#include <stdint.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	uint64_t n;

	if (argc < 2)
		return 2;
	n = strtoull(argv[1], NULL, 10) * 1000000;
	for (volatile uint64_t i = 0; i < n; i++)
		;
	return 0;
}
