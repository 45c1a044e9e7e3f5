// SPDX-License-Identifier: GPL-2.0
/* Which records of the kernel's log are warnings. */
#include "../guest/watch.h"
#include "../lib/tap.h"

/* Its text, or NULL as log_warning(). */
static const char *warning(const char *record)
{
	static char copy[RECORD_MAX];

	snprintf(copy, sizeof(copy), "%s", record);
	return log_warning(copy);
}

static bool is_warning(const char *record, const char *text)
{
	const char *got = warning(record);

	return got && !strcmp(got, text);
}

int main(void)
{
	ok(is_warning("4,1,2,-;odd\n", "odd"), "a warning");
	ok(is_warning("0,1,2,-;bad\n", "bad"), "what is worse");
	ok(is_warning("12,1,2,-;odd\n", "odd"), "that of another facility");
	ok(is_warning("4,1,2,-,caller=T1;odd\n", "odd"), "with its caller");
	ok(is_warning("4,1,2,-;odd\n SUBSYSTEM=x\n DEVICE=y\n", "odd"),
	   "what else belongs to it is no text of it");
	ok(is_warning("4,1,2,-;a;b, c\n", "a;b, c"), "its text is all of a line");
	ok(is_warning("4,18446744073709551615,18446744073709551615,-;odd\n",
		      "odd"), "however late it is");
	ok(is_warning("4,1,2,-;\n", ""), "one without a text");

	ok(!warning("5,1,2,-;well\n"), "a notice is none");
	ok(!warning("14,1,2,-;well\n"), "nor is information");
	ok(!warning("4,1,2,c;/storm\n"), "nor is what continues a line");
	ok(!warning("4,1,2,c;\n"), "nor is the end of one");
	ok(!warning("4,1,2,c,caller=T1;\n"), "nor is that with its caller");
	ok(is_warning("4,1,2,-;c;\n", "c;"), "a line may begin with a c");
	ok(!warning(""), "nothing is none");
	ok(!warning("4,1,2,-"), "nor is one that is cut");
	return done();
}
