// SPDX-License-Identifier: GPL-2.0
/* Damaged recordings of samples. Their files are not opened: other targets do that. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "profile/samples.h"
#include "profile/survey.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	FILE *f = fopen("/dev/null", "we");
	struct samples samples;
	struct survey survey;
	char *error;

	if (!f)
		abort();
	error = samples_read(&samples, data, size);
	if (!error) {
		memset(samples.files, 0, sizeof(samples.files));
		survey_fill(&survey, &samples);
		survey_write_folded(f, &survey);
		survey_write_speedscope(f, &survey, "program");
		survey_table(f, &survey, &(struct machine){ 2, "7.2.13" }, 10);
		json_decref(survey_json(&survey));
		survey_free(&survey);
	}
	samples_free(&samples);
	free(error);
	fclose(f);
	return 0;
}
