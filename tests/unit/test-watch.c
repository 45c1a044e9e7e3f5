// SPDX-License-Identifier: GPL-2.0
/* Which records of the kernel's log are warnings, and how results are passed on. */
#include "../guest/watch.h"
#include "../lib/tap.h"

/* Its text, or NULL, by one of the functions that cut a record. */
static const char *text_of(const char *record, const char *(*cut)(char *record))
{
	static char copy[RECORD_MAX];

	snprintf(copy, sizeof(copy), "%s", record);
	return cut(copy);
}

static bool is_text(const char *got, const char *text)
{
	return got && !strcmp(got, text);
}

static const char *warning(const char *record)
{
	return text_of(record, log_warning);
}

static bool is_warning(const char *record, const char *text)
{
	return is_text(warning(record), text);
}

static bool is_continued(const char *record, const char *text)
{
	return is_text(text_of(record, log_continued), text);
}

/* Runs two shell scripts as a watcher does, and returns all that it prints. */
static const char *passed_on(const char *first, const char *second)
{
	static char text[RECORD_MAX];
	FILE *file = tmpfile();
	int out = dup(STDOUT_FILENO);
	size_t n;

	fflush(stdout);
	dup2(fileno(file), STDOUT_FILENO);
	watch_run((char *[]) { "/bin/sh", "-c", (char *)first, NULL });
	watch_run((char *[]) { "/bin/sh", "-c", (char *)second, NULL });
	watch_tell("ok", "watched");
	watch_end();
	fflush(stdout);
	dup2(out, STDOUT_FILENO);
	close(out);
	rewind(file);
	n = fread(text, 1, sizeof(text) - 1, file);
	text[n] = '\0';
	fclose(file);
	planned = 0;
	results = 0;
	return text;
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
	ok(is_continued("4,1,2,c;(&lock){+.+.}-{3:3}, at: take\n",
			"(&lock){+.+.}-{3:3}, at: take"),
	   "what continues a warning can be read");
	ok(!is_continued("4,1,2,-;odd\n", "odd"), "a new line continues none");
	ok(!is_continued("6,1,2,c;/storm\n", "/storm"), "nor does information");
	ok(!warning(""), "nothing is none");
	ok(!warning("4,1,2,-"), "nor is one that is cut");

	ok(!strcmp(passed_on("echo 1..2; echo ok 1 a; echo '# ok 1'; echo not ok 2 b",
			     "echo ok 1 c; echo 1..1"),
		   "ok 1 a\n# ok 1\nnot ok 2 b\nok 3 c\nok 4 watched\n1..4\n"),
	   "results of two programs are renumbered");
	ok(!strcmp(passed_on("echo '1..0 # SKIP one CPU'", "echo 1..2; echo ok 1"),
		   "ok 1 # SKIP one CPU\nok 2\nok 3 watched\n1..4\n"),
	   "a skip is a result, and a missing result shows");
	return done();
}
