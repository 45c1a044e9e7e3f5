// SPDX-License-Identifier: GPL-2.0
/*
 * Damaged DWARF: functions in others are found, or the error says of what kind.
 * Another process reads it, as in the tool, because libdw may crash; but with
 * READ_HERE this one, so that libFuzzer sees which inputs are new.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "symbols/debug-file.h"
#include "fuzz.h"
#include "names/inlines-dwarf.h"
#include "names/inlines.h"

#ifdef READ_HERE
#define READ inlines_parse
#else
#define READ inlines_load
#endif

static volatile size_t sink;

/* All that a caller may look at is there. */
static void look(const struct inlines *inlines)
{
	for (size_t i = 0; i < inlines->count; i++) {
		const struct inlined *f = &inlines->functions[i];

		sink += strlen(f->symbol) + (f->file ? strlen(f->file) : 0);
		for (int j = 0; j < INLINED_CALLERS && f->callers[j]; j++)
			sink += strlen(f->callers[j]);
	}
	for (size_t i = 0; i < inlines->nr_concrete; i++)
		sink += inlines_copies(inlines, inlines->concrete[i].value);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *path = fuzz_file(data, size);
	struct inlines inlines;
	int err;

	/* Not the host's own. */
	setenv(TENSE_DEBUG_PATH, "/nonexistent", 1);
	err = READ(path, &inlines);
	if (err && err != -ENOEXEC && err != -EBADMSG && err != -ENODATA &&
	    err != -ENOMEM)
		abort();
	if (!err)
		look(&inlines);
	inlines_free(&inlines);
	return 0;
}
