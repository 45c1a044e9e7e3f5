// SPDX-License-Identifier: GPL-2.0
/* libtense reads its settings from the environment. */
#include <stddef.h>
#include <string.h>

#include "api/config.h"
#include "tap.h"

static void preload(const char *value, bool expected)
{
	struct tense_config c = tense_config_parse(NULL, NULL, NULL, value, NULL);

	ok(c.preloaded == expected, "LD_PRELOAD=%s: %s", value ? value : "(unset)",
	   expected ? "preloaded" : "not preloaded");
}

static void flags(const char *tense, const char *strict, bool off,
		  bool is_strict)
{
	struct tense_config c = tense_config_parse(tense, strict, NULL, NULL, NULL);

	ok(c.off == off && c.strict == is_strict,
	   "TENSE=%s TENSE_STRICT=%s: %s, %s", tense ? tense : "(unset)",
	   strict ? strict : "(unset)", off ? "off" : "on",
	   is_strict ? "strict" : "not strict");
}

static void experiment(const char *value, const char *expected)
{
	struct tense_config c = tense_config_parse(NULL, NULL, NULL, NULL, value);

	ok(!strcmp(c.experiment, expected), "TENSE_EXPERIMENT=%s",
	   value ? value : "(unset)");
}

int main(void)
{
	flags(NULL, NULL, false, false);
	flags("", "", false, false);
	flags("0", "0", true, false);
	flags("1", "1", false, true);
	flags("00", "yes", false, true);

	preload(NULL, false);
	preload("", false);
	preload(":", false);
	preload("libtense.so", true);
	preload("libtense.so.1", true);
	preload("/usr/lib/libtense.so", true);
	preload("./libtense.so", true);
	preload("libfoo.so:/a b/libtense.so.1", true);
	preload("libfoo.so libtense.so", true);
	preload("libtense.so:libfoo.so", true);
	preload("libtense.s", false);
	preload("mylibtense.so", false);
	preload("/libtense.so/other.so", false);
	preload("libother.so::", false);

	ok(!tense_config_parse(NULL, NULL, NULL, NULL, NULL).warned,
	   "nobody has warned yet");
	ok(tense_config_parse(NULL, NULL, "1", NULL, NULL).warned,
	   "TENSE_WARNED=1");

	experiment(NULL, "");
	experiment("", "");
	experiment("x", "x");
	experiment("a b", "a b");
	experiment("12345678901234567890123456789012",
		   "12345678901234567890123456789012");
	/* Too long for a name: the device refuses it as a whole. */
	experiment("1234567890123456789012345678901234567890123456789",
		   "12345678901234567890123456789012345678901234567");
	return done();
}
