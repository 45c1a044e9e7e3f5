// SPDX-License-Identifier: GPL-2.0
/* The parser of the log that the instruments of tense whatif write. */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "whatif/latency.h"
#include "whatif/log.h"

static void try_marks(const uint8_t *data, size_t size)
{
	size_t n = size / sizeof(uint64_t);
	uint64_t *marks = malloc(n * sizeof(*marks) + 1);
	struct whatif_latency latency;

	if (!marks)
		abort();
	memcpy(marks, data, n * sizeof(*marks));
	whatif_latency_pair(marks, n, &latency);
	if (latency.pairs > latency.from || latency.pairs > latency.to)
		abort();
	free(marks);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_text(data, size);
	struct whatif_sample sample = { 0 };
	struct whatif_samples samples = { 0 };

	/* Read the input as the log of two runs. */
	whatif_log_read(&samples, text, &sample);
	free(text);
	text = fuzz_text(data, size);
	whatif_log_read(&samples, text, &sample);
	for (size_t i = 0; i < samples.nr_patches; i++)
		if (!samples.patches[i].slot ||
		    samples.patches[i].slot >= WHATIF_NAMES)
			abort();
	free(text);
	whatif_samples_free(&samples);
	try_marks(data, size);
	return 0;
}
