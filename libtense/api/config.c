// SPDX-License-Identifier: LGPL-2.1-or-later
#include <stdlib.h>
#include <string.h>

#include "config.h"

struct tense_config tense_config;

static bool parse_bool(const char *value, bool unset)
{
	if (!value || !*value)
		return unset;
	return strcmp(value, "0") != 0;
}

static bool names_libtense(const char *preload)
{
	static const char name[] = "libtense.so";

	while (preload && *preload) {
		size_t len = strcspn(preload, ": ");
		const char *end = preload + len, *base = end;

		while (base > preload && base[-1] != '/')
			base--;
		if ((size_t)(end - base) >= sizeof(name) - 1 &&
		    !memcmp(base, name, sizeof(name) - 1))
			return true;
		preload = *end ? end + 1 : end;
	}
	return false;
}

struct tense_config tense_config_parse(const char *tense, const char *strict,
				       const char *warned, const char *preload,
				       const char *experiment)
{
	struct tense_config c = {
		.off = !parse_bool(tense, true),
		.strict = parse_bool(strict, false),
		.warned = parse_bool(warned, false),
		.preloaded = names_libtense(preload),
	};

	if (experiment)
		strncpy(c.experiment, experiment, sizeof(c.experiment) - 1);
	return c;
}

/* Before the constructor of the preload layer, which has no priority. */
__attribute__((constructor(101))) static void config_init(void)
{
	tense_config = tense_config_parse(getenv("TENSE"),
					  getenv("TENSE_STRICT"),
					  getenv("TENSE_WARNED"),
					  getenv("LD_PRELOAD"),
					  secure_getenv("TENSE_EXPERIMENT"));
}
