// SPDX-License-Identifier: GPL-2.0
#include "figure.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void figure_add(const char *id, const struct estimate *estimate, size_t samples)
{
	const char *path = getenv("FIGURES");
	FILE *file;

	if (!path)
		return;
	file = fopen(path, "a");
	if (!file ||
	    fprintf(file, "figure %s %.9g %.9g %.9g %zu\n", id,
		    estimate->median, estimate->low, estimate->high,
		    samples) < 0 ||
	    fclose(file)) {
		fprintf(stderr, "bench: cannot write %s: %s\n", path,
			strerror(errno));
		exit(1);
	}
}
