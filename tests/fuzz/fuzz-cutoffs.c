// SPDX-License-Identifier: GPL-2.0
/* Tables of daemons, and cutoffs of them in CSV or JSON. */
#include <stdlib.h>

#include "fuzz.h"
#include "measure/cutoffs-input.h"
#include "measure/cutoffs-store.h"

static void check(bool good)
{
	if (!good)
		abort();
}

static void try_tables(const char *path)
{
	struct runs runs = { 0 };

	runs_read_central(&runs, path);
	runs_read_executions(&runs, path);
	for (size_t i = 0; i < runs.nr_central; i++)
		check(runs.central[i].max >= 0 && runs.central[i].stddev >= 0);
	for (size_t i = 0; i < runs.nr_executions; i++)
		check(runs.executions[i].ms >= 0);
	runs_free(&runs);
}

static void try_cutoffs(const char *path)
{
	struct cutoff_store store;

	if (cutoffs_load(&store, path))
		return;
	for (size_t i = 0; i < store.cutoffs.count; i++)
		check(!(cutoff_for(&store, store.cutoffs.list[i].daemon, i) < 0));
	cutoffs_unload(&store);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *path = fuzz_file(data, size);

	try_tables(path);
	try_cutoffs(path);
	return 0;
}
