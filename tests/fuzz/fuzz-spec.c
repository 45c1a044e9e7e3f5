// SPDX-License-Identifier: LGPL-2.1-or-later
/* Names of functions, as --func takes them, and what C++ makes of them. */
#include <stdlib.h>
#include <string.h>

#include "symbols/cxx-name.h"
#include "fuzz.h"
#include "symbols/spec.h"

static const struct tense_symbol symbols[] = {
	{ .name = "deflate", .version = "ZLIB_1.2", .value = 0x1000 },
	{ .name = "_ZN2ns1fEi", .value = 64 },
	{ .name = "_ZN2nsplERKNS_1AES2_", .value = UINT64_MAX, .local = true },
	{ .name = "f.isra.0", .file = "f.c" },
	{ .name = "" },
};

static void try_spec(struct tense_spec *spec, const char *text)
{
	tense_spec_is_pattern(spec);
	tense_spec_object(spec, "/usr/lib/libz.so.1.2.13", "libz.so.1", false);
	tense_spec_object(spec, text, NULL, true);
	for (size_t i = 0; i < sizeof(symbols) / sizeof(*symbols); i++) {
		tense_spec_match(spec, &symbols[i]);
		tense_spec_symbol(spec, symbols[i].name);
	}
	tense_spec_symbol(spec, text);
	tense_spec_demangled(spec, text);
	tense_spec_free(spec);
}

static void try_name(const char *text)
{
	struct tense_cxx_name name;

	if (tense_cxx_name_parse(text, &name))
		tense_cxx_name_free(&name);
	free(tense_cxx_squeeze(text));
	free(tense_demangle(text));
	tense_cxx_is_glob(text);
	tense_cxx_inner(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_text(data, size);
	struct tense_spec spec;
	const char *error;

	if (!tense_spec_parse_line(text, &spec, &error))
		try_spec(&spec, text);
	if (!tense_spec_parse(text, &spec, &error))
		try_spec(&spec, text);
	try_name(text);
	free(text);
	return 0;
}
