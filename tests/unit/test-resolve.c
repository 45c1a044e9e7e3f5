// SPDX-License-Identifier: GPL-2.0
/*
 * Resolves the name of a function in a command: found, not found, ambiguous,
 * inlined, of a library, of C++, of a script.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "names/functions.h"
#include "names/inlines.h"
#include "names/program.h"
#include "names/object-cache.h"
#include "names/resolve.h"
#include "tap.h"

static const char lib_source[] =
	"__attribute__((noinline)) static int twice(int x) { return x * 3 + 1; }\n"
	"int compress_block(int x) { return twice(x) ^ twice(x + 1); }\n"
	"int shared(int x) { return x; }\n";
static const char later_source[] =
	"int opened_later(int x) { return x; }\n"
	/* As link-time optimisation names static functions of two sources. */
	"static __attribute__((used, noinline)) int a(int x) __asm__(\"init.lto_priv.0\");\n"
	"static __attribute__((used, noinline)) int b(int x) __asm__(\"init.lto_priv.1\");\n"
	"static int a(int x) { return x * 5; }\n"
	"static int b(int x) { return x * 7; }\n"
	"static __attribute__((used, noinline)) int c(int x) __asm__(\"_ZL4movei.lto_priv.0\");\n"
	"static __attribute__((used, noinline)) int d(int x) __asm__(\"_ZL4movei.lto_priv.1\");\n"
	"static __attribute__((used, noinline)) int e(int x) __asm__(\"_ZL4parti\");\n"
	"static __attribute__((used, noinline)) int f(int x) __asm__(\"_ZL4parti.part.0.lto_priv.0\");\n"
	"static int c(int x) { return x * 9; }\n"
	"static int d(int x) { return x * 11; }\n"
	"static int e(int x) { return x * 13; }\n"
	"static int f(int x) { return x * 17; }\n";
static const char a_source[] =
	"__attribute__((noinline)) static int helper(int x) { return x * 5; }\n"
	"int use_a(int x) { return helper(x); }\n"
	"int alias_a(int x) __attribute__((alias(\"use_a\")));\n";
static const char main_source[] =
	"#include <stdlib.h>\n"
	"int compress_block(int), use_a(int), shared(int);\n"
	"int shared(int x) { return x + 1; }\n"
	"__attribute__((noinline)) static int helper(int x) { return x * 7; }\n"
	"static inline int tiny(int x) { return x * 11 + abs(x); }\n"
	"static int both(int x) { return x * 13 ^ x; }\n"
	"int (*volatile pointer)(int) = both;\n"
	"__attribute__((noinline)) int caller(int x) { return tiny(x) + both(x); }\n"
	"int main(int argc, char **argv) { (void)argv;\n"
	"	return caller(argc) + helper(argc) + use_a(argc) +\n"
	"	compress_block(argc) + pointer(argc) == 1; }\n";
static const char cxx_source[] =
	"namespace ns { struct Foo { int bar(int) const; int run(); };\n"
	"int Foo::bar(int x) const { return x + 1; }\n"
	"int Foo::run() { return 3; } }\n"
	"struct Bar { int run(); }; int Bar::run() { return 4; }\n"
	"template <typename T> __attribute__((noinline)) T add(T a, T b) { return a + b; }\n"
	"static inline int only_inlined(int x) { return x ^ 5; }\n"
	"template <typename F> inline int apply(F f) { return f(3); }\n"
	"int main(int c, char **) { return ns::Foo().bar(c) + add(c, 1) +\n"
	"	(int)add(1.5, c * 1.0) + only_inlined(c) +\n"
	"	apply([c](int x) { return x + c; }); }\n";

static char dir[] = "/tmp/test-resolve-XXXXXX";

static void write_file(const char *name, const char *text)
{
	FILE *f = fopen(name, "w");

	if (!f || fputs(text, f) < 0 || fclose(f)) {
		perror(name);
		exit(1);
	}
}

static void shell(const char *command)
{
	if (system(command)) {
		printf("Bail out! %s\n", command);
		exit(1);
	}
}

static void build(void)
{
	write_file("lib.c", lib_source);
	write_file("later.c", later_source);
	write_file("a.c", a_source);
	write_file("main.c", main_source);
	write_file("x.cc", cxx_source);
	shell("mkdir lib bin &&"
	      CC " -O1 -g -fPIC -shared -Wl,-soname,libt.so.1 -o lib/libt.so.1.5 lib.c &&"
	      "ln -s libt.so.1.5 lib/libt.so.1 && ln -s libt.so.1 lib/libt.so &&"
	      CC " -O1 -fPIC -shared -o lib/liblater.so later.c &&"
	      CC " -O2 -g -o bin/prog a.c main.c -Llib -lt -Wl,-rpath,'$ORIGIN/../lib' &&"
	      CC " -O2 -g -static -o bin/static a.c main.c lib.c -Wl,-z,muldefs &&"
	      "g++ -O1 -g -o bin/cxx x.cc &&"
	      "objcopy --strip-all bin/prog bin/stripped &&"
	      "cp bin/prog bin/missing");
	write_file("bin/script", "#!/usr/bin/env -S A=1 prog -x\n");
	write_file("bin/script2", "#! ./bin/script\n");
	write_file("bin/loop", "#!./bin/loop\n");
	write_file("bin/bad", "#!/nowhere/interpreter\n");
	write_file("bin/text", "not a program\n");
	write_file("bin/foreign", "");
	shell("chmod +x bin/* && cp bin/prog bin/foreign &&"
	      /* e_machine: ARM */
	      " printf '\\050' | dd of=bin/foreign bs=1 seek=18 conv=notrunc status=none");
	write_file("inline.c", "static inline __attribute__((always_inline)) int zqx_rescale(int x) { volatile int y = x; return y * 3; }\n"
		   "int offered(int x) { return zqx_rescale(x); }\n");
	write_file("known.c", "int offered(int); int main(int c, char **v) { (void)v; return offered(c); }\n");
	shell(CC " -O2 -g -shared -fPIC -Wl,-soname,libinline.so -o lib/libinline.so inline.c &&"
	      CC " -O2 -g -o bin/known known.c -Llib -linline -Wl,-rpath,\"$PWD/lib\" &&"
	      " strip -o bin/bare bin/known");
	write_file("bin/bare-script", "#!./bin/bare\n");
	shell("chmod +x bin/bare-script");
	shell("mkdir -p gone/deep && cp bin/prog gone/deep/prog");
}

static struct tense_resolution result;

/* Holds the objects that earlier searches of the same program have read. */
static struct object_cache cache;
static char *cached_program;
static unsigned int cached_searches, changed_answers;

static bool same_text(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

static bool same_answer(const struct tense_resolution *a,
			const struct tense_resolution *b)
{
	bool same = a->kind == b->kind && a->count == b->count &&
		    a->later == b->later && a->inlined == b->inlined &&
		    same_text(a->message, b->message);

	for (size_t i = 0; i < a->count && same; i++)
		same = same_text(a->candidates[i].spec, b->candidates[i].spec) &&
		       same_text(a->candidates[i].name, b->candidates[i].name) &&
		       a->candidates[i].value == b->candidates[i].value;
	return same;
}

static void resolve_again(const char *spec, char *const *command)
{
	struct tense_resolution again;

	if (!cached_program || strcmp(cached_program, command[0]) != 0) {
		object_cache_free(&cache);
		free(cached_program);
		cached_program = strdup(command[0]);
	}
	cached_searches += cache.count > 0;
	tense_resolve(spec, command, &cache, &again);
	if (!same_answer(&result, &again)) {
		printf("# '%s' in %s, searched again: %s\n", spec, command[0],
		       again.message ? again.message : "found");
		changed_answers++;
	}
	tense_resolution_free(&again);
}

static int resolve(const char *spec, const char *program)
{
	char *command[] = { (char *)program, NULL };

	tense_resolution_free(&result);
	tense_resolve(spec, command, NULL, &result);
	resolve_again(spec, command);
	return result.kind;
}

/* KIND of SPEC in PROGRAM, with so many candidates. */
static void is_kind(const char *spec, const char *program,
		    enum tense_resolution_kind kind, size_t count)
{
	bool good = is_i64(resolve(spec, program), kind, "'%s' in %s", spec,
			   program);

	if (!is_i64(result.count, count, "'%s': %zu candidates", spec, count) ||
	    !good)
		printf("# %s\n", result.message ? result.message : "");
	for (size_t i = 0; i < result.count; i++)
		printf("# %s = %s\n", result.candidates[i].name,
		       result.candidates[i].spec);
}

static void says(const char *text)
{
	if (!ok(result.message && strstr(result.message, text), "it says '%s'",
		text))
		printf("# %s\n", result.message ? result.message : "(nothing)");
}

static void name_is(size_t i, const char *name)
{
	if (!ok(i < result.count && !strcmp(result.candidates[i].name, name),
		"a candidate is %s", name) && i < result.count)
		printf("# %s\n", result.candidates[i].name);
}

/* The spec of a candidate resolves to it alone. */
static void again(const char *program)
{
	size_t count = result.count;
	char **specs = malloc((count + 1) * sizeof(void *));
	uint64_t *values = malloc((count + 1) * sizeof(*values));

	for (size_t i = 0; i < count; i++) {
		specs[i] = strdup(result.candidates[i].spec);
		values[i] = result.candidates[i].value;
	}
	for (size_t i = 0; i < count; i++) {
		is_kind(specs[i], program, TENSE_RESOLVED, 1);
		ok(result.count == 1 && result.candidates[0].value == values[i],
		   "%s is the same function", specs[i]);
		free(specs[i]);
	}
	free(specs);
	free(values);
}

static void test_found(void)
{
	is_kind("use_a", "prog", TENSE_RESOLVED, 1);
	name_is(0, "prog:use_a");
	ok(!result.message && !result.later && !result.inlined, "as it is");
	again("prog");
	is_kind("alias_a", "prog", TENSE_RESOLVED, 1);
	is_kind(":use_a", "prog", TENSE_RESOLVED, 1);
	is_kind("./bin/prog:use_a", "prog", TENSE_RESOLVED, 1);
	is_kind("compress_block", "./bin/prog", TENSE_RESOLVED, 1);
	name_is(0, "libt:compress_block");
	is_kind("libt:twice", "prog", TENSE_RESOLVED, 1);
	is_kind("libt.so.1:twice", "prog", TENSE_RESOLVED, 1);
	is_kind("./lib/libt.so:twice", "prog", TENSE_RESOLVED, 1);
	again("prog");
	/* The loader's own copy is not meant. */
	is_kind("strlen", "prog", TENSE_RESOLVED, 1);
	ok(result.count && result.candidates[0].ifunc, "which is indirect");
	is_kind("twice", "static", TENSE_RESOLVED, 1);
	is_kind("exit", "static", TENSE_RESOLVED, 1);
	again("static");
	is_kind("use_a", "stripped", TENSE_NOT_FOUND, 0);
	says("stripped");
}

static void test_patterns(void)
{
	is_kind("prog:*_a", "prog", TENSE_RESOLVED, 1);
	is_kind("prog:/^(use_a|main)$/", "prog", TENSE_RESOLVED, 2);
	is_kind("lib[t]:*", "prog", TENSE_RESOLVED, 3);
	is_kind("prog:nothing*", "prog", TENSE_NOT_FOUND, 0);
	is_kind("/(/", "prog", TENSE_UNRESOLVABLE, 0);
	says("regular expression");
}

static void test_ambiguous(void)
{
	is_kind("shared", "prog", TENSE_AMBIGUOUS, 2);
	says("prog:shared");
	says("libt:shared");
	again("prog");
	is_kind("libt:shared", "prog", TENSE_RESOLVED, 1);
	is_kind("helper", "prog", TENSE_AMBIGUOUS, 2);
	says("(in a.c)");
	says("(in main.c)");
	says("prog:helper@0x");
	again("prog");
	is_kind("run", "cxx", TENSE_AMBIGUOUS, 2);
	says("'cxx:ns::Foo::run()'");
	is_kind("add", "cxx", TENSE_AMBIGUOUS, 2);
	again("cxx");
}

static void test_cxx(void)
{
	is_kind("bar", "cxx", TENSE_RESOLVED, 1);
	name_is(0, "cxx:ns::Foo::bar(int) const");
	again("cxx");
	is_kind("ns::Foo::bar", "cxx", TENSE_RESOLVED, 1);
	is_kind("Foo::run", "cxx", TENSE_RESOLVED, 1);
	is_kind("::Bar::run", "cxx", TENSE_RESOLVED, 1);
	is_kind("add<int>", "cxx", TENSE_RESOLVED, 1);
	is_kind("_ZNK2ns3Foo3barEi", "cxx", TENSE_RESOLVED, 1);
	is_kind("cxx:Foo::bat", "cxx", TENSE_NOT_FOUND, 1);
	name_is(0, "cxx:ns::Foo::bar(int) const");
	is_kind("only_inlined", "cxx", TENSE_INLINED, 0);
	/* It has no symbol, since no other file can have its lambda. */
	is_kind("apply", "cxx", TENSE_INLINED, 0);
}

static void test_not_found(void)
{
	is_kind("libt:compress_blok", "prog", TENSE_NOT_FOUND, 1);
	says("libt:compress_block");
	is_kind("libt:COMPRESS_BLOCK", "prog", TENSE_NOT_FOUND, 1);
	resolve("use_aa", "prog");
	name_is(0, "prog:use_a");
	says("PATH:use_aa");
	/* The near names come before the advice. */
	says(". Near to it are\n  prog:use_a\n");
	is_kind("use_a@V_1", "prog", TENSE_NOT_FOUND, 1);
	is_kind("libnone:f", "prog", TENSE_NOT_FOUND, 0);
	says("there is no 'libnone'");
	says("libt");
}

static void test_inlined(void)
{
	is_kind("tiny", "prog", TENSE_INLINED, 0);
	is_i64(result.inlined, 1, "once");
	says("inlined everywhere");
	says("in caller");
	is_kind("prog:both", "prog", TENSE_RESOLVED, 1);
	is_i64(result.inlined, 1, "one copy is inlined");
	says("also inlined");
	is_kind("zqx_rescale", "bare", TENSE_NOT_FOUND, 0);
	ok(strstr(result.message, "bare") && strstr(result.message, "stripped"),
	   "a library inlines a function of that name, but the program is stripped: %s",
	   result.message);
	is_kind("zqx_rescale", "known", TENSE_INLINED, 0);
	ok(strstr(result.message, "in libinline"), "a program with symbols has it not: %s",
	   result.message);
	is_kind("zqx_rescale", "bare-script", TENSE_NOT_FOUND, 0);
	ok(strstr(result.message, "is a script, which"), "a script: %s", result.message);
}

static void test_later(void)
{
	char spec[64];

	is_kind("liblater:opened_later", "prog", TENSE_RESOLVED, 1);
	ok(result.later, "it comes later");
	ok(result.count && !strcmp(result.candidates[0].spec,
				   "liblater:=opened_later"),
	   "from whatever file");
	is_kind("./lib/liblater.so:opened_later", "prog", TENSE_RESOLVED, 1);
	is_kind("cxx:Foo::bar", "prog", TENSE_RESOLVED, 1);
	ok(result.later, "of a program that it may run");
	is_kind("opened_later", "prog", TENSE_NOT_FOUND, 0);
	is_kind("liblater:init", "prog", TENSE_AMBIGUOUS, 2);
	snprintf(spec, sizeof(spec), "liblater:init@0x%" PRIx64,
		 result.count ? result.candidates[0].value : 0);
	is_kind(spec, "prog", TENSE_RESOLVED, 1);
	ok(result.count && strstr(result.candidates[0].spec, "@0x"),
	   "it keeps its address: %s", result.count ? result.candidates[0].spec : "");
	is_kind("liblater:move", "prog", TENSE_AMBIGUOUS, 2);
	says("liblater:=_ZL4movei.lto_priv.1");
	resolve("liblater:part", "prog");
	is_i64(result.kind, TENSE_RESOLVED, "a part of a function is that function");
	is_kind("bin/script:f", "prog", TENSE_NOT_FOUND, 0);
	says("not a program or library");
}

static void test_commands(void)
{
	is_kind("use_a", "script", TENSE_RESOLVED, 1);
	is_kind("use_a", "script2", TENSE_RESOLVED, 1);
	is_kind("use_a", "nothing-here", TENSE_UNRESOLVABLE, 0);
	says("not found in PATH: check its spelling, install it, or give its path");
	is_kind("use_a", "./nothing/here", TENSE_UNRESOLVABLE, 0);
	says("No such file");
	is_kind("use_a", "./lib", TENSE_UNRESOLVABLE, 0);
	says("Is a directory");
	is_kind("use_a", "./main.c", TENSE_UNRESOLVABLE, 0);
	says("Permission denied");
	is_kind("use_a", "loop", TENSE_UNRESOLVABLE, 0);
	says("too deeply");
	is_kind("use_a", "bad", TENSE_UNRESOLVABLE, 0);
	says("/nowhere/interpreter");
	is_kind("use_a", "text", TENSE_UNRESOLVABLE, 0);
	says("neither a program nor a script");
	is_kind("use_a", "foreign", TENSE_UNRESOLVABLE, 0);
	says("another machine");
	/*
	 * The program's own functions can be named although it does not start.
	 */
	is_kind("use_a", "./gone/deep/prog", TENSE_RESOLVED, 1);
	is_kind("compress_block", "./gone/deep/prog", TENSE_NOT_FOUND, 0);
	says("libt.so.1: missing");
	is_kind("use_a", "", TENSE_UNRESOLVABLE, 0);
	is_kind("", "prog", TENSE_UNRESOLVABLE, 0);
}

static char *read_file(const char *name, size_t *len)
{
	FILE *f = fopen(name, "r");
	char *data = malloc(1 << 20);

	*len = f && data ? fread(data, 1, 1 << 20, f) : 0;
	if (f)
		fclose(f);
	return data;
}

static void write_bytes(const char *name, const char *data, size_t len)
{
	FILE *f = fopen(name, "w");

	if (!f || fwrite(data, 1, len, f) != len || fclose(f))
		exit(1);
}

static void load_damaged(int *errors)
{
	struct inlines inlines;
	struct functions functions = { 0 };
	const struct object object = { .path = "damaged" };

	*errors += inlines_load("damaged", &inlines) != 0;
	inlines_copies(&inlines, 0x1140);
	inlines_free(&inlines);
	functions_load(&functions, &object);
	functions_free(&functions);
}

/* Errors, and no reports of the sanitizers. */
static void test_damaged(const char *path)
{
	unsigned seed = 3;
	size_t len;
	char *data = read_file(path, &len), *copy;
	int errors = 0;

	if (len < 4096) {
		ok(false, "%s is large enough to be damaged", path);
		free(data);
		return;
	}
	for (size_t cut = 0; cut < len; cut += len / 30) {
		write_bytes("damaged", data, cut);
		load_damaged(&errors);
	}
	for (int i = 0; i < 150; i++) {
		copy = malloc(len);
		if (!copy)
			break;
		memcpy(copy, data, len);
		for (int j = 0; j < 1 + i % 30; j++)
			copy[rand_r(&seed) % len] = rand_r(&seed);
		write_bytes("damaged", copy, len);
		free(copy);
		load_damaged(&errors);
	}
	ok(errors > 20, "%s damaged: %d errors, nothing worse", path, errors);
	free(data);
}

int main(void)
{
	char *path, *command;

	if (!mkdtemp(dir) || chdir(dir)) {
		perror(dir);
		return 1;
	}
	build();
	if (asprintf(&path, "%s/bin:%s", dir, getenv("PATH")) < 0 ||
	    setenv("PATH", path, 1))
		return 1;
	free(path);
	test_found();
	test_patterns();
	test_ambiguous();
	test_cxx();
	test_not_found();
	test_inlined();
	test_later();
	test_commands();
	ok(cached_searches > 20 && !changed_answers,
	   "%u searches again: what was read before changes no answer", cached_searches);
	tense_resolution_free(&result);
	object_cache_free(&cache);
	free(cached_program);
	test_damaged("bin/prog");
	test_damaged("bin/cxx");
	if (!chdir("/") && asprintf(&command, "rm -rf '%s'", dir) > 0) {
		shell(command);
		free(command);
	}
	return done();
}
