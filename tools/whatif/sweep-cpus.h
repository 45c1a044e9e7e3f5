/* SPDX-License-Identifier: GPL-2.0 */
/* The numbers of CPUs that `tense whatif --cpus LIST` asks for. */
#ifndef TOOLS_WHATIF_SWEEP_CPUS_H
#define TOOLS_WHATIF_SWEEP_CPUS_H

#include <stddef.h>

#define SWEEP_CPUS_MAX	16

struct sweep_cpus {
	unsigned int list[SWEEP_CPUS_MAX];	/* ascending */
	size_t count;
};

/*
 * Parses numbers and ranges with commas between, such as "1,2,4..64". A range A..B is
 * the powers of two from A to B. No number may exceed most. Returns NULL, or an error
 * in the text, which the caller frees.
 */
char *sweep_cpus_parse(struct sweep_cpus *cpus, const char *text,
		       unsigned int most);

#endif
