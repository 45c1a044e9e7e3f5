// SPDX-License-Identifier: GPL-2.0
/*
 * The functions of programs and libraries that this test builds: C and C++,
 * stripped, static, with separate debug files, truncated and damaged.
 */
#include "symbols/symbols.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "symbols/debug-file.h"
#include "symbols/language.h"
#include "tap.h"

static const char c_source[] =
	"__attribute__((noinline)) static int inner(int x) { return x * 3 + 1; }\n"
	"__attribute__((noinline)) int outer(int x) { return inner(x) ^ inner(x + 1); }\n"
	"int alias(int x) __attribute__((alias(\"outer\")));\n"
	"static int chosen(void) { return 1; }\n"
	"static int (*choose(void))(void) { return chosen; }\n"
	"int indirect(void) __attribute__((ifunc(\"choose\")));\n"
	"int data = 1;\n"
	"__asm__(\".text; .type outer.cold, @function; outer.cold: ret;\"\n"
	"	\" .size outer.cold, 1\");\n";
static const char main_source[] =
	"int outer(int x);\n"
	"int main(int argc, char **argv) { (void)argv; return outer(argc) == 1; }\n";
static const char cxx_source[] =
	"namespace ns { struct Foo { int bar(int) const; };\n"
	"int Foo::bar(int x) const { return x + 1; } }\n"
	"template <typename T> T add(T a, T b) { return a + b; }\n"
	"template int add<int>(int, int);\n"
	"int main() { return 0; }\n";
/* Code to which a function with a frame jumps, code that no one calls, a function. */
static const char frames_source[] =
	"__asm__(\".text; .type jumped, @function; jumped: .cfi_startproc;\"\n"
	"	\" .cfi_def_cfa_offset 32; nop; ret; .cfi_endproc; .size jumped, 2;\"\n"
	"	\" .type alone, @function; alone: .cfi_startproc;\"\n"
	"	\" .cfi_undefined rip; nop; ret; .cfi_endproc; .size alone, 2;\"\n"
	"	\" .type called, @function; called: .cfi_startproc; push %rbx;\"\n"
	"	\" .cfi_def_cfa_offset 16; pop %rbx; ret; .cfi_endproc;\"\n"
	"	\" .size called, 3\");\n"
	"int main(void) { return 0; }\n";
static const char version_source[] =
	"int f_old(void) { return 1; }\n"
	"int f_new(void) { return 2; }\n"
	"__asm__(\".symver f_old, f@V_1\");\n"
	"__asm__(\".symver f_new, f@@V_2\");\n";
static const char version_map[] =
	"V_1 { global: f; local: *; }; V_2 { global: f; } V_1;\n";

static char dir[] = "/tmp/test-symbols-XXXXXX";

static void write_file(const char *name, const void *data, size_t len)
{
	FILE *f = fopen(name, "w");

	if (!f || fwrite(data, 1, len, f) != len || fclose(f)) {
		perror(name);
		exit(1);
	}
}

static char *read_file(const char *name, size_t *len)
{
	FILE *f = fopen(name, "r");
	char *data = malloc(1 << 22);

	if (!f || !data) {
		perror(name);
		exit(1);
	}
	*len = fread(data, 1, 1 << 22, f);
	fclose(f);
	return data;
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
	write_file("c.c", c_source, strlen(c_source));
	write_file("main.c", main_source, strlen(main_source));
	write_file("x.cc", cxx_source, strlen(cxx_source));
	write_file("f.c", frames_source, strlen(frames_source));
	write_file("v.c", version_source, strlen(version_source));
	write_file("v.map", version_map, strlen(version_map));
	shell(CC " -O1 -g -fPIE -pie -o pie c.c main.c");
	shell(CC " -O1 -g -fno-pie -no-pie -o nopie c.c main.c");
	shell(CC " -O1 -g -static -o static c.c main.c");
	shell(CC " -O1 -g -fPIC -shared -Wl,-soname,libc-test.so.1 -o libc-test.so c.c");
	shell(CC " -O1 -fPIC -shared -Wl,--version-script=v.map -o libv.so v.c");
	shell("g++ -O0 -g -o cxx x.cc");
	shell(CC " -O1 -o frames f.c");
	shell("objcopy --strip-all pie stripped");
	shell("objcopy --strip-all libc-test.so libstripped.so");
	/* By link, beside it and in .debug. */
	shell("objcopy --only-keep-debug pie linked.debug &&"
	      " objcopy --strip-all --add-gnu-debuglink=linked.debug pie linked &&"
	      " mkdir -p sub/.debug && cp linked sub && cp linked.debug sub/.debug");
	/* By build ID. */
	shell(CC " -O1 -g -Wl,--build-id=0x0123456789abcdef -o byid c.c main.c &&"
	      " mkdir -p debug/.build-id/01 &&"
	      " objcopy --only-keep-debug byid debug/.build-id/01/23456789abcdef.debug &&"
	      " strip byid");
	/* Without any: the checksum tells. */
	shell(CC " -O1 -g -Wl,--build-id=none -o noid c.c main.c &&"
	      " objcopy --only-keep-debug noid noid.debug &&"
	      " objcopy --strip-all --add-gnu-debuglink=noid.debug noid");
}

struct found {
	const char *name, *version;
	int count;
	struct tense_symbol symbol;
	char file[64];
};

static int find(const struct tense_symbol *symbol, void *data)
{
	struct found *found = data;

	if (strcmp(symbol->name, found->name) != 0)
		return 0;
	if (found->version && (!symbol->version ||
			       strcmp(found->version, symbol->version) != 0))
		return 0;
	found->count++;
	found->symbol = *symbol;
	if (symbol->file)
		snprintf(found->file, sizeof(found->file), "%s", symbol->file);
	return 0;
}

static struct found lookup(const char *path, const char *name,
			   const char *version)
{
	struct found found = { .name = name, .version = version };
	int err = tense_symbols_each(path, find, &found);

	if (err)
		ok(false, "%s: %s", path, strerror(-err));
	return found;
}

static void has(const char *path, const char *name, enum tense_source source,
		bool local)
{
	struct found f = lookup(path, name, NULL);

	is_i64(f.count, 1, "%s has %s once", path, name);
	ok(f.count && f.symbol.source == source && f.symbol.local == local &&
	   f.symbol.size, "and what it is");
}

static void hasnt(const char *path, const char *name)
{
	is_i64(lookup(path, name, NULL).count, 0, "%s hasn't %s", path, name);
}

/* The first bytes of a function are at the offset in the file. */
static void test_offset(const char *path)
{
	struct found f = lookup(path, "outer", NULL);
	char *file, *text, *start, command[256];
	uint64_t at;
	size_t len;

	snprintf(command, sizeof(command),
		 "objcopy -O binary -j .text %s text && readelf -WS %s |"
		 " sed -n 's/.* \\.text *PROGBITS *\\([0-9a-f]*\\) .*/\\1/p' >start",
		 path, path);
	shell(command);
	start = read_file("start", &len);
	start[len] = '\0';
	at = f.symbol.value - strtoull(start, NULL, 16);
	text = read_file("text", &len);
	ok(at + f.symbol.size <= len, "%s: the function is in .text", path);
	file = read_file(path, &len);
	ok(f.symbol.offset + f.symbol.size <= len &&
	   !memcmp(file + f.symbol.offset, text + at, f.symbol.size),
	   "%s: the offset is where its code is", path);
	free(file);
	free(text);
	free(start);
}

static void test_c(void)
{
	static const char *const programs[] = { "pie", "nopie", "static" };
	struct found outer, alias;

	for (int i = 0; i < 3; i++) {
		const char *path = programs[i];

		has(path, "main", TENSE_SYMTAB, false);
		has(path, "inner", TENSE_SYMTAB, true);
		ok(!strcmp(lookup(path, "inner", NULL).file, "c.c"),
		   "it says of which source");
		hasnt(path, "data");
		hasnt(path, "_start");
		hasnt(path, "outer.cold");
		ok(lookup(path, "indirect", NULL).symbol.ifunc,
		   "an indirect function");
		test_offset(path);
		outer = lookup(path, "outer", NULL);
		alias = lookup(path, "alias", NULL);
		ok(alias.count == 1 && outer.symbol.value == alias.symbol.value,
		   "an alias has the same value");
	}
	has("static", "exit", TENSE_SYMTAB, false);
	hasnt("pie", "exit");
}

static void test_stripped(void)
{
	hasnt("stripped", "outer");
	has("libstripped.so", "outer", TENSE_DYNSYM, false);
	hasnt("libstripped.so", "inner");
	has("libc-test.so", "inner", TENSE_SYMTAB, true);
	has("libc-test.so", "outer", TENSE_DYNSYM, false);
}

static int count(const struct tense_symbol *symbol, void *data)
{
	(void)symbol;
	++*(int *)data;
	return 0;
}

/* Each function of .text has the same place with a name and without. */
struct nameless {
	const char *stripped;
	int found, missing, wrong;
};

static struct found lookup_nameless(const char *path, uint64_t value)
{
	struct found found = { 0 };
	char name[32];
	int err;

	snprintf(name, sizeof(name), "+0x%lx", value);
	found.name = name;
	err = tense_functions_each(path, find, &found);
	if (err)
		ok(false, "%s: %s", path, strerror(-err));
	return found;
}

static int compare_nameless(const struct tense_symbol *symbol, void *data)
{
	struct nameless *n = data;
	struct found f;

	/* The linker and libc have functions without a description. */
	if (!symbol->size || symbol->ifunc)
		return 0;
	f = lookup_nameless(n->stripped, symbol->value);
	n->found += f.count == 1;
	n->missing += !f.count;
	n->wrong += f.count > 1 ||
		    (f.count && (f.symbol.size != symbol->size ||
				 f.symbol.offset != symbol->offset ||
				 f.symbol.source != TENSE_FRAMES));
	return 0;
}

static void test_nameless_of(const char *path, int least)
{
	struct nameless n = { .stripped = "bare" };
	char command[128];

	snprintf(command, sizeof(command), "objcopy --strip-all %s bare", path);
	shell(command);
	tense_symbols_each(path, compare_nameless, &n);
	ok(n.found >= least && !n.missing && !n.wrong,
	   "%s, stripped: %d functions by their frames, %d missing, %d wrong",
	   path, n.found, n.missing, n.wrong);
}

static void test_nameless(void)
{
	struct found cold;
	int named = 0, all = 0;

	test_nameless_of("pie", 4);
	test_nameless_of("nopie", 4);
	test_nameless_of("cxx", 3);
	/* Parts that begin with a frame, and code that no one calls, are left out. */
	shell("objcopy --strip-all frames bare");
	for (int i = 0; i < 3; i++) {
		static const char *const parts[] = { "jumped", "alone", "called" };

		cold = lookup_nameless("bare", lookup("frames", parts[i], NULL).symbol.value);
		is_i64(cold.count, i == 2, "%s %s", parts[i],
		       i == 2 ? "is a function" : "is none");
	}
	/* Exported names remain, and a file with all of its names has no others. */
	is_i64(lookup_nameless("libstripped.so",
			       lookup("libc-test.so", "outer", NULL).symbol.value).count,
	       0, "a function that has a name");
	is_i64(lookup_nameless("libstripped.so",
			       lookup("libc-test.so", "inner", NULL).symbol.value).count,
	       1, "beside one that has none");
	tense_symbols_each("pie", count, &named);
	tense_functions_each("pie", count, &all);
	is_i64(all, named, "a file that is not stripped");
}

static void test_cxx(void)
{
	has("cxx", "_ZNK2ns3Foo3barEi", TENSE_SYMTAB, false);
	has("cxx", "_Z3addIiET_S0_S0_", TENSE_SYMTAB, false);
}

static void test_versions(void)
{
	struct found old = lookup("libv.so", "f", "V_1");
	struct found new = lookup("libv.so", "f", "V_2");

	is_i64(old.count, 1, "the old version");
	is_i64(new.count, 1, "the new version");
	ok(old.symbol.value != new.symbol.value, "are different functions");
	is_i64(lookup("libv.so", "f", NULL).count, 2, "and both are f");
	shell("strip libv.so");
	is_i64(lookup("libv.so", "f", "V_1").count, 1,
	       "the same without .symtab");
}

static void test_debug_files(void)
{
	has("linked", "inner", TENSE_DEBUG_FILE, true);
	has("sub/linked", "inner", TENSE_DEBUG_FILE, true);
	test_offset("linked");
	has("noid", "inner", TENSE_DEBUG_FILE, true);

	setenv(TENSE_DEBUG_PATH, "nowhere:debug", 1);
	has("byid", "inner", TENSE_DEBUG_FILE, true);
	is_i64(lookup("byid", "inner", NULL).symbol.size,
	       lookup("pie", "inner", NULL).symbol.size, "of the same size");
	setenv(TENSE_DEBUG_PATH, "nowhere", 1);
	hasnt("byid", "inner");
	unsetenv(TENSE_DEBUG_PATH);

	/* These debug files are of another build. */
	shell("cp nopie linked.debug && echo >>noid.debug");
	hasnt("linked", "inner");
	hasnt("noid", "inner");
	/* A FIFO, or a file that is not ELF, must not hold anything up. */
	shell("rm noid.debug && mkfifo noid.debug && echo nothing >linked.debug");
	hasnt("linked", "inner");
	hasnt("noid", "inner");
}

static int stop(const struct tense_symbol *symbol, void *data)
{
	(void)symbol;
	return ++*(int *)data == 3 ? 42 : 0;
}

static void test_errors(void)
{
	int n = 0;

	is_i64(tense_symbols_each("pie", stop, &n), 42, "each() can stop");
	is_i64(n, 3, "at once");
	is_i64(tense_symbols_each("missing", count, &n), -ENOENT, "no file");
	is_i64(tense_symbols_each("c.c", count, &n), -ENOEXEC, "not ELF");
	is_i64(tense_symbols_each(".", count, &n), -ENOEXEC, "a directory");
	is_i64(tense_symbols_each("noid.debug", count, &n), -ENOEXEC, "a fifo");
	shell(CC " -c c.c && : >empty");
	is_i64(tense_symbols_each("c.o", count, &n), -ENOEXEC, "an object file");
	is_i64(tense_symbols_each("empty", count, &n), -ENOEXEC, "empty");
}

/* An error or some symbols, and no report of the sanitizers. */
static void test_damaged(const char *path)
{
	size_t len, step;
	char *data = read_file(path, &len);
	unsigned seed = 7;
	int n = 0, whole = 0, err = 0, failed = 0;

	if (len < 4096) {
		ok(false, "%s is large enough to be damaged", path);
		return;
	}
	tense_functions_each(path, count, &whole);
	step = len / 400 + 1;
	for (size_t cut = 0; cut < len; cut += step) {
		write_file("damaged", data, cut);
		n = 0;
		err = tense_functions_each("damaged", count, &n);
		failed += err < 0 || n < whole;
	}
	ok(failed > 300, "%s truncated: an error, or fewer symbols", path);

	failed = 0;
	for (int i = 0; i < 1500; i++) {
		char *copy = malloc(len + 1);
		/* Headers are where it hurts. */
		size_t from = i % 3 == 1 ? len - len / 4 : 0;
		size_t room = i % 3 == 0 ? 1024 : len - from;

		memcpy(copy, data, len);
		for (int j = 0; j < 1 + i % 20; j++)
			copy[from + rand_r(&seed) % room] =
				i % 2 ? rand_r(&seed) : -1;
		write_file("damaged", copy, len);
		free(copy);
		n = 0;
		err = tense_functions_each("damaged", count, &n);
		failed += err != 0;
		if (err > 0)
			break;
	}
	ok(err <= 0 && failed > 0, "%s damaged: %d errors, nothing worse",
	   path, failed);
	free(data);
}

/* Names from programs that compilers of these languages made. */
static void test_languages(void)
{
	static const struct {
		const char *note, *symbol;
		const char *refused;	/* the language, or NULL */
	} cases[] = {
		{ "runtime.morestack", "main.main", "Go" },
		{ "runtime.morestack.abi0", "main.leaf", "Go" },
		{ "runtime.morestack.abi0", "crosscall2", "Go" },
		{ "main", "runtime_stack", NULL },
		{ "main", "camlA__build_81", "OCaml" },
		{ "main", "camlStdlib__List.map_42", "OCaml" },
		{ "main", "caml_call_gc", "OCaml" },
		{ "main", "caml_apply2", "OCaml" },
		{ "main", "caml_c_call_stack_args", "OCaml" },
		{ "main", "caml_alloc_string", NULL },
		{ "main", "caml_applied", NULL },
		{ "main", "caml", NULL },
		{ "main", "camlp", NULL },
		{ "ZCMain_main_info", "Main_zdwgo9_info", "Haskell" },
		{ "stg_ap_pp_fast", "stg_ap_pp_fast", "Haskell" },
		{ "textzm1zi2zi4zi1_DataziText_append_info",
		  "textzm1zi2zi4zi1_DataziText_append_info", "Haskell" },
		{ "base_GHCziBase_map_info", "base_GHCziBase_zpzp_entry", "Haskell" },
		{ "stg_ap_pp_fast", "GarbageCollect", NULL },
		{ "main", "hzm_info", NULL },
		{ "main", "print_info", NULL },
		{ "main", "get_entry", NULL },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct tense_language of = { false };
		const char *reason;

		tense_language_note(&of, cases[i].note);
		tense_language_note(&of, cases[i].symbol);
		reason = tense_language_refuses(&of, cases[i].symbol);
		ok(cases[i].refused ? reason && strstr(reason, cases[i].refused) :
				      !reason,
		   "%s beside %s: %s", cases[i].symbol, cases[i].note,
		   reason ? reason : "can be scaled");
	}
}

int main(void)
{
	test_languages();
	if (!mkdtemp(dir) || chdir(dir)) {
		perror(dir);
		return 1;
	}
	build();
	test_c();
	test_stripped();
	test_nameless();
	test_cxx();
	test_versions();
	test_debug_files();
	test_errors();
	test_damaged("libc-test.so");
	test_damaged("libv.so");
	test_damaged("nopie");
	test_damaged("libstripped.so");
	if (!chdir("/")) {
		char *command;

		if (asprintf(&command, "rm -rf '%s'", dir) > 0)
			shell(command);
		free(command);
	}
	return done();
}
