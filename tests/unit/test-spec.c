// SPDX-License-Identifier: GPL-2.0
/* Texts name objects, and functions of C and C++. */
#include "symbols/marks.h"
#include "symbols/spec.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "symbols/cxx-name.h"
#include "tap.h"

static enum tense_match match(const char *text, const char *symbol)
{
	struct tense_symbol s = { .name = symbol, .value = 0x1140,
				  .version = "V_1" };
	struct tense_spec spec;
	enum tense_match result;
	const char *error;

	if (tense_spec_parse(text, &spec, &error)) {
		printf("# %s: %s\n", text, error);
		return -1;
	}
	result = tense_spec_match(&spec, &s);
	tense_spec_free(&spec);
	return result;
}

static void test_matches(void)
{
	static const struct {
		const char *text, *symbol;
		enum tense_match match;
	} cases[] = {
		{ "deflate", "deflate", TENSE_MATCH_SYMBOL },
		{ "deflate", "deflateInit", TENSE_MATCH_NONE },
		{ "flate", "deflate", TENSE_MATCH_NONE },
		{ "f", "f.isra.0", TENSE_MATCH_SYMBOL },
		{ "f", "f.constprop.0.isra.1", TENSE_MATCH_SYMBOL },
		{ "f.isra.0", "f.isra.0", TENSE_MATCH_SYMBOL },
		{ "f", "f.part.0", TENSE_MATCH_NONE },
		{ "=f", "f", TENSE_MATCH_SYMBOL },
		{ "=f", "f.isra.0", TENSE_MATCH_NONE },
		{ "f@V_1", "f", TENSE_MATCH_SYMBOL },
		{ "f@@V_1", "f", TENSE_MATCH_SYMBOL },
		{ "f@V_2", "f", TENSE_MATCH_NONE },
		{ "f@0x1140", "f", TENSE_MATCH_SYMBOL },
		{ "=f@0x1140", "f", TENSE_MATCH_SYMBOL },
		{ "f@0x1141", "f", TENSE_MATCH_NONE },
		{ "de*", "deflate", TENSE_MATCH_SYMBOL },
		{ "de?late", "deflate", TENSE_MATCH_SYMBOL },
		{ "de[fg]late", "deflate", TENSE_MATCH_SYMBOL },
		{ "fl*", "deflate", TENSE_MATCH_NONE },
		{ "/fla/", "deflate", TENSE_MATCH_SYMBOL },
		/* without a symbol */
		{ "libz+0x1140", "+0x1140", TENSE_MATCH_SYMBOL },
		{ "libz:+0x1140", "+0x1140", TENSE_MATCH_SYMBOL },
		{ "/lib/a+b.so:=+0x1140", "+0x1140", TENSE_MATCH_SYMBOL },
		{ "libz+0x114", "+0x1140", TENSE_MATCH_NONE },
		{ "libz:*", "+0x1140", TENSE_MATCH_NONE },
		{ "/1140/", "+0x1140", TENSE_MATCH_NONE },
		{ "/^fla/", "deflate", TENSE_MATCH_NONE },
		{ "/^de|x/", "deflate", TENSE_MATCH_SYMBOL },
		/* ns::Foo::bar(int) const */
		{ "_ZNK2ns3Foo3barEi", "_ZNK2ns3Foo3barEi", TENSE_MATCH_SYMBOL },
		{ "ns::Foo::bar(int) const", "_ZNK2ns3Foo3barEi",
		  TENSE_MATCH_DEMANGLED },
		{ "ns::Foo::bar( int )const", "_ZNK2ns3Foo3barEi",
		  TENSE_MATCH_DEMANGLED },
		{ "ns::Foo::bar(long) const", "_ZNK2ns3Foo3barEi",
		  TENSE_MATCH_NONE },
		{ "ns::Foo::bar", "_ZNK2ns3Foo3barEi", TENSE_MATCH_NAME },
		{ "::ns::Foo::bar", "_ZNK2ns3Foo3barEi", TENSE_MATCH_NAME },
		{ "Foo::bar", "_ZNK2ns3Foo3barEi", TENSE_MATCH_SCOPE },
		{ "Foo::bar(int) const", "_ZNK2ns3Foo3barEi", TENSE_MATCH_SCOPE },
		{ "bar", "_ZNK2ns3Foo3barEi", TENSE_MATCH_SCOPE },
		{ "::bar", "_ZNK2ns3Foo3barEi", TENSE_MATCH_NONE },
		{ "ar", "_ZNK2ns3Foo3barEi", TENSE_MATCH_NONE },
		{ "o::bar", "_ZNK2ns3Foo3barEi", TENSE_MATCH_NONE },
		{ "ns::*", "_ZNK2ns3Foo3barEi", TENSE_MATCH_DEMANGLED },
		{ "Foo::*", "_ZNK2ns3Foo3barEi", TENSE_MATCH_SCOPE },
		{ "/Foo::bar/", "_ZNK2ns3Foo3barEi", TENSE_MATCH_DEMANGLED },
		{ "=ns::Foo::bar", "_ZNK2ns3Foo3barEi", TENSE_MATCH_NONE },
		{ "bar", "_ZNK2ns3Foo3barEi.isra.0", TENSE_MATCH_SCOPE },
		/* (anonymous namespace)::f(char*) */
		{ "f", "_ZN12_GLOBAL__N_11fEPc", TENSE_MATCH_SCOPE },
		{ "(anonymous namespace)::f", "_ZN12_GLOBAL__N_11fEPc",
		  TENSE_MATCH_NAME },
		/* int add<int>(int, int) */
		{ "add<int>", "_Z3addIiET_S0_S0_", TENSE_MATCH_NAME },
		{ "add<int>(int,int)", "_Z3addIiET_S0_S0_",
		  TENSE_MATCH_DEMANGLED },
		{ "int add<int>(int, int)", "_Z3addIiET_S0_S0_",
		  TENSE_MATCH_DEMANGLED },
		{ "add", "_Z3addIiET_S0_S0_", TENSE_MATCH_SCOPE },
		/* std::vector<int, std::allocator<int> >::push_back(int&&) */
		{ "std::vector::push_back", "_ZNSt6vectorIiSaIiEE9push_backEOi",
		  TENSE_MATCH_SCOPE },
		{ "push_back", "_ZNSt6vectorIiSaIiEE9push_backEOi",
		  TENSE_MATCH_SCOPE },
		{ "std::vector<int,std::allocator<int>>::push_back",
		  "_ZNSt6vectorIiSaIiEE9push_backEOi", TENSE_MATCH_NAME },
		/* operators */
		{ "operator new", "_Znwm", TENSE_MATCH_NAME },
		{ "operator new(unsigned long)", "_Znwm", TENSE_MATCH_DEMANGLED },
		{ "Foo::operator*", "_ZN3FoomlERKS_", TENSE_MATCH_NAME },
		{ "Foo::operator()", "_ZN3FooclEi", TENSE_MATCH_NAME },
		{ "operator()", "_ZN3FooclEi", TENSE_MATCH_SCOPE },
		{ "Foo::operator[]", "_ZN3FooixEi", TENSE_MATCH_NAME },
		{ "Foo::operator<", "_ZN3FooltEi", TENSE_MATCH_NAME },
		{ "Foo::operator->", "_ZN3FooptEv", TENSE_MATCH_NAME },
		{ "Foo::operator bool", "_ZN3FoocvbEv", TENSE_MATCH_NAME },
		{ "Foo::Foo", "_ZN3FooC1Ev", TENSE_MATCH_NAME },
		{ "Foo::~Foo", "_ZN3FooD1Ev", TENSE_MATCH_NAME },
		/* main::{lambda(int)#1}::operator()(int) const */
		{ "main::{lambda(int)#1}::operator()", "_ZZ4mainENKUliE_clEi",
		  TENSE_MATCH_NAME },
		/* f(int)::Local::g() */
		{ "Local::g", "_ZZ1fiEN5Local1gEv", TENSE_MATCH_SCOPE },
		{ "f(int)::Local::g", "_ZZ1fiEN5Local1gEv", TENSE_MATCH_NAME },
		{ "Foo::operator*", "_ZN3FoomLERKS_", TENSE_MATCH_NONE },
		{ "f(char*)", "_Z1fPc", TENSE_MATCH_DEMANGLED },
		{ "f(*)", "_Z1fPc", TENSE_MATCH_NONE },
		/* f[abi:cxx11](int) */
		{ "f", "_Z1fB5cxx11i", TENSE_MATCH_SCOPE },
		{ "f[abi:cxx11](int)", "_Z1fB5cxx11i", TENSE_MATCH_DEMANGLED },
		/* a thunk and a table are not the function */
		{ "bar", "_ZThn8_N3Foo3barEv", TENSE_MATCH_NONE },
		{ "Foo", "_ZTV3Foo", TENSE_MATCH_NONE },
		/* std::basic_ostream<...>& std::operator<< <std::char_traits<char> >(...) */
		{ "std::operator<<", "_ZStlsISt11char_traitsIcEERSt13basic_ostreamIcT_ES5_PKc",
		  TENSE_MATCH_SCOPE },
		{ "operator<<", "_ZStlsISt11char_traitsIcEERSt13basic_ostreamIcT_ES5_PKc",
		  TENSE_MATCH_SCOPE },
		/* bool operator< <int>(int, A) */
		{ "operator<", "_ZltIiEbT_1A", TENSE_MATCH_SCOPE },
		{ "operator<<", "_ZltIiEbT_1A", TENSE_MATCH_NONE },
		/* _$LT$alloc..string..String$u20$as$u20$core..fmt..Display$GT$::fmt of Rust */
		{ "fmt",
		  "_ZN60_$LT$alloc..string..String$u20$as$u20$core..fmt..Display$GT$3fmt17h0123456789abcdefE",
		  TENSE_MATCH_SCOPE },
		{ "fmt",
		  "_ZN60_$LT$alloc..string..String$u20$as$u20$core..fmt..Display$GT$3fmt17h0123456789abcdefE.llvm.12",
		  TENSE_MATCH_SCOPE },
		/* core::fmt::h0123456789abcdef of Rust */
		{ "core::fmt", "_ZN4core3fmt17h0123456789abcdefE",
		  TENSE_MATCH_DEMANGLED },
		/* not mangled names */
		{ "f", "_Z", TENSE_MATCH_NONE },
		{ "f", "_Z1", TENSE_MATCH_NONE },
		{ "f", "", TENSE_MATCH_NONE },
		{ "*", "", TENSE_MATCH_SYMBOL },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		is_i64(match(cases[i].text, cases[i].symbol), cases[i].match,
		       "'%s' and %s", cases[i].text, cases[i].symbol);
}

static void test_objects(void)
{
	static const char libz[] = "/usr/lib/libz.so.1.2.13";
	static const struct {
		const char *text, *path, *soname;
		bool is_main, matches;
	} cases[] = {
		{ "f", libz, "libz.so.1", false, true },
		{ "ns::f", libz, "libz.so.1", false, true },
		{ "libz:f", libz, NULL, false, true },
		{ "libz.so:f", libz, NULL, false, true },
		{ "libz.so.1:f", libz, NULL, false, true },
		{ "libz.so.1.2.13:f", libz, NULL, false, true },
		{ "libz.so.2:f", libz, NULL, false, false },
		{ "libz.so.1:f", "/x/other", "libz.so.1", false, true },
		{ "libz:ns::f", libz, NULL, false, true },
		{ "libz+0x1140", libz, NULL, false, true },
		{ "libx+0x1140", libz, NULL, false, false },
		{ "+0x1140", libz, NULL, false, true },
		{ "/usr/lib/libz.so.1.2.13:=+0x1140", libz, NULL, false, true },
		{ "libz:::f", libz, NULL, false, true },
		{ "libz:f(a::b)", "/usr/lib/libx.so", NULL, false, false },
		{ "lib[xz]:f", libz, NULL, false, true },
		{ "lib[xz]*:f", libz, NULL, false, true },
		{ "libzst*:f", libz, NULL, false, false },
		{ "lib:f", libz, NULL, false, false },
		{ "libz:f", "/usr/lib/libzstd.so.1", "libzstd.so.1", false, false },
		{ "libc:f", "/lib/libc-2.31.so", NULL, false, true },
		{ "libc:f", "/lib/libcrypt.so.1", NULL, false, false },
		{ "libc:f", "/lib/libc-x.so", NULL, false, false },
		{ "libz:f", "/lib/libz.sox", NULL, false, false },
		{ "/usr/lib/libz.so.1.2.13:f", libz, NULL, false, true },
		{ "/usr/lib/libz.so.1.2.13:/f/", libz, NULL, false, true },
		{ "/usr/lib/libz.so.1:f", libz, NULL, false, false },
		{ "/a:b (1)/x:=f", "/a:b (1)/x", NULL, false, true },
		{ "/proc/self/root/etc/passwd:f", "/etc/passwd", NULL, false,
		  true },
		{ "pigz:f", "/usr/bin/pigz", NULL, true, true },
		{ "pig:f", "/usr/bin/pigz", NULL, true, false },
		{ "python3:f", "/usr/bin/python3.11", NULL, true, true },
		{ ":f", "/usr/bin/pigz", NULL, true, true },
		{ ":f", libz, NULL, false, false },
		{ "::f", libz, NULL, false, true },
		{ "/a:b/", libz, NULL, false, true },
	};
	struct tense_spec spec;
	const char *error;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		if (tense_spec_parse(cases[i].text, &spec, &error)) {
			ok(false, "'%s': %s", cases[i].text, error);
			continue;
		}
		ok(tense_spec_object(&spec, cases[i].path, cases[i].soname,
				     cases[i].is_main) == cases[i].matches,
		   "'%s' and %s", cases[i].text, cases[i].path);
		tense_spec_free(&spec);
	}
}

static void test_errors(void)
{
	static const char *const bad[] = {
		"", ":", "libz:", "=", "::", "libz:::", "/(/", "/[/", "x:/(/",
		"f@", "f@@", "f@0x", "f@0xg", "f@0x1 ", "@V",
		"f@0x11111111111111111", " ",
	};
	static const char *const bad_lines[] = {
		"", "1", "1 ", "1 100", "1 100 ", "0 100 f", "16 100 f",
		"1 0 f", "1 100001 f", "-1 100 f", "1 +5 f", "1  100 f",
		"x 100 f", "1 100x f", "from", "from ", "to", "fromf", "From f", "99999999999999999999 100 f",
	};
	struct tense_spec spec;
	const char *error;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		error = NULL;
		is_i64(tense_spec_parse(bad[i], &spec, &error), -EINVAL,
		       "'%s' is refused", bad[i]);
		ok(error && strlen(error) > 20, "and it is said why: %s",
		   error ? error : "");
	}
	for (size_t i = 0; i < sizeof(bad_lines) / sizeof(bad_lines[0]); i++)
		is_i64(tense_spec_parse_line(bad_lines[i], &spec, &error),
		       -EINVAL, "line '%s' is refused", bad_lines[i]);

	is_i64(tense_spec_parse_line("15 125 libz:operator new(unsigned long)",
				     &spec, &error), 0, "a line");
	is_i64(spec.slot, 15, "its slot");
	is_i64(spec.percent, 125000, "its percent");
	ok(!strcmp(spec.object, "libz"), "its object");
	ok(tense_spec_symbol(&spec, "_Znwm"), "its function");
	tense_spec_free(&spec);
	is_i64(tense_spec_parse_line("1 111.111 f", &spec, &error), 0,
	       "a percent with decimals");
	is_i64(spec.percent, 111111, "three of them");
	tense_spec_free(&spec);
	ok(!tense_spec_parse_line("from libz:f", &spec, &error) &&
	   spec.marks == TENSE_MARK_FROM && !spec.slot &&
	   !strcmp(spec.object, "libz"), "what a latency begins with");
	tense_spec_free(&spec);
	ok(!tense_spec_parse_line("to /f|g/", &spec, &error) &&
	   spec.marks == TENSE_MARK_TO, "and ends with");
	tense_spec_free(&spec);
	is_i64(tense_spec_parse_line("1 0.5 f", &spec, &error), -EINVAL,
	       "a percent under 1");
	is_i64(tense_spec_parse_line("1 1.0005 f", &spec, &error), -EINVAL,
	       "too many decimals");
}

/* Whatever the bytes are, it ends and touches nothing that is not its own. */
static void test_noise(void)
{
	static const char alphabet[] = ":::@=/*?[](){}<>~& .,-_operatorconst01fgx\\";
	char text[24], name[24];
	struct tense_spec spec;
	const char *error;
	unsigned seed = 1;
	int parsed = 0;

	for (int i = 0; i < 20000; i++) {
		for (size_t j = 0; j < sizeof(text) - 1; j++) {
			text[j] = alphabet[rand_r(&seed) % (sizeof(alphabet) - 1)];
			name[j] = alphabet[rand_r(&seed) % (sizeof(alphabet) - 1)];
		}
		text[rand_r(&seed) % sizeof(text)] = '\0';
		name[rand_r(&seed) % sizeof(name)] = '\0';
		text[sizeof(text) - 1] = name[sizeof(name) - 1] = '\0';
		if (tense_spec_parse(text, &spec, &error))
			continue;
		parsed++;
		tense_spec_symbol(&spec, name);
		tense_spec_demangled(&spec, name);
		tense_spec_object(&spec, name, name, true);
		tense_spec_free(&spec);
	}
	ok(parsed > 1000, "noise is parsed, or refused");
}

int main(void)
{
	test_matches();
	test_objects();
	test_errors();
	test_noise();
	return done();
}
