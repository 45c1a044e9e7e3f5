// SPDX-License-Identifier: GPL-2.0
/* Writes what fuzz-samples takes: a file, and samples with words. */
#include <stdio.h>

#include "fake-samples.h"

int main(void)
{
	struct tense_sample sample = {
		.pid = 2, .tgid = 2, .ns = 1000000, .comm = "program",
		.stack = 64, .frame = 16, .code = { .file = 1, .offset = 4096 },
	};
	const struct tense_word words[] = {
		{ .place = 1, .file = 1, .offset = 5000 },
		{ .place = 2, .file = TENSE_FILE_STACK, .offset = 32 },
		{ .place = 3, .file = 1, .offset = 6000 },
		{ .place = 5, .file = TENSE_FILE_NONE },
	};
	struct fake_samples r = { 0 };

	fake_samples_begin(&r, 1, 2);
	fake_samples_header(&r);
	fake_samples_file(&r, 1, "/bin/program");
	for (unsigned int n = 0; n <= 4; n++)
		fake_samples_add(&r, sample, words, n);
	if (fwrite(r.data, 1, r.size, stdout) != r.size)
		return 1;
	fake_samples_free(&r);
	return 0;
}
