// SPDX-License-Identifier: GPL-2.0
/* Preloaded: prints the functions of an object that a text names. */
#include <stdio.h>
#include <stdlib.h>

#include "symbols/spec.h"
#include "symbols/symbols.h"

static int print(const struct tense_symbol *symbol, void *data)
{
	if (tense_spec_match(data, symbol))
		puts(symbol->name);
	return 0;
}

__attribute__((constructor)) static void start(void)
{
	const char *pattern = getenv("TEST_PATTERN"), *error;
	const char *object = getenv("TEST_OBJECT");
	struct tense_spec spec;

	if (!pattern || !object)
		return;
	if (tense_spec_parse(pattern, &spec, &error)) {
		puts(error);
		return;
	}
	printf("%d\n", tense_symbols_each(object, print, &spec));
	fflush(stdout);
	tense_spec_free(&spec);
}
