// SPDX-License-Identifier: GPL-2.0
/* Reads the JSON results of tense whatif back and shows them in every way. */
#include <stdio.h>
#include <stdlib.h>

#include "fuzz.h"
#include "whatif/json.h"
#include "whatif/output.h"

static void show(struct whatif *w)
{
	FILE *f = fopen("/dev/null", "we");

	if (!f)
		abort();
	whatif_assess(&w->question, &w->plan, &w->samples, &w->answer);
	whatif_table(f, w, true, true);
	whatif_csv(f, w);
	whatif_html(f, w);
	whatif_json_write(f, w);
	fclose(f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct whatif w = { 0 };
	FILE *f = size ? fmemopen((void *)data, size, "r") : NULL;
	char *error;

	if (!f)
		return -1;
	error = whatif_json_read(f, &w);
	if (!error)
		show(&w);
	free(error);
	fclose(f);
	whatif_free(&w);
	return 0;
}
