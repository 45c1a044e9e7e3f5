#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# tense functions: the table, the JSON, what is said when nothing is found.
. "$source/tests/lib/tap.sh"

in_tmp
unset LD_LIBRARY_PATH TENSE_DEBUG_PATH

cat >lib.c <<'END'
__attribute__((noinline)) static int hidden(int x) { return x * 3; }
int exported(int x) { return hidden(x) + hidden(x + 1); }
END
cat >main.c <<'END'
int exported(int x);
static inline int tiny(int x) { return x ^ 77; }
static int gone(int x) { return x; }
static int own(int x) { return tiny(x) + tiny(x * 3); }
int (*volatile pointer)(int) = own;
int main(int argc, char **argv)
{
	(void)argv;
	return exported(gone(argc)) + own(argc) + pointer(argc);
}
END
$cc -O2 -g -fPIC -shared -Wl,-soname,libfirst.so.1 -o libfirst.so.1.0 lib.c &&
	ln -s libfirst.so.1.0 libfirst.so.1 &&
	$cc -O2 -g -o program main.c ./libfirst.so.1.0 -Wl,-rpath,"$tmp" &&
	objcopy --strip-all libfirst.so.1.0 stripped.so && echo "#!$tmp/program" >script &&
	chmod +x script || exit 1

# STATUS WHAT ARGUMENT...
functions_is() {
	tense_is functions "$@"
}

said() {
	ok "says: $1" grep -qF -e "$1" stderr
}

row() { # OBJECT FROM INLINED FUNCTION
	ok "lists $4 of $1" awk -v o="$1" -v f="$2" -v i="$3" -v n="$4" \
		'$1 == o && $3 == f && $4 == i && $5 == n { found++ }
		 END { exit found != 1 }' stdout
}

functions_is 0 "functions of a program" -- ./program
row program symtab 1 own
is "$(awk '/^LIBRARY/ { n = 1; next } n && NF { print NF, $1 }' stdout | sort |
	head -2)" "2 ld-linux-x86-64
2 libc" "and how many its libraries have"
ok "more than none" awk '$1 == "libfirst" && $2 >= 2 { n++ }
	END { exit n != 1 }' stdout
is "$(grep -c malloc stdout)" 0 "none of which is listed"
said "or --all"
ok "in few lines" [ "$(wc -l <stdout)" -lt 40 ]

functions_is 0 "all functions" --all -- ./program
is "$(grep -c LIBRARY stdout)" 0 "are not counted"
row program symtab 1 own
row program symtab 0 main
row libfirst symtab 0 hidden
row libfirst dynsym 0 exported
ok "and those of libc" grep -q '^libc .* malloc' stdout
said "opened later"
said "inlined everywhere"

functions_is 0 "a pattern" exported -- ./program
is "$(wc -l <stdout)" 2 "lists one function, and a header"
row libfirst dynsym 0 exported
is "$(cat stderr)" "" "and says nothing else"
functions_is 0 "several patterns" 'libf*:/^(hid|exp)/' :own nothing -- ./program
is "$(awk 'NR > 1 { print $1, $5 }' stdout)" "program own
libfirst exported
libfirst hidden" "list what matches one of them"
functions_is 0 "an inlined function" tiny -- ./program
ok "is said to be it" grep -q 'dwarf *4  tiny  (inlined everywhere' stdout

functions_is 0 "one that has no instructions left" gone -- ./program
ok "is said to be it" grep -q \
	'dwarf *0  gone  (inlined everywhere, no code is left: cannot be named)' \
	stdout
functions_is 1 "a letter too few and two the wrong way round" whn -- ./program
functions_is 1 "two letters the wrong way round" onw -- ./program
said "program:own"

cat >class.cc <<'END'
struct thing {
	int n;
	explicit thing(int x);
	explicit thing(double x);
};
__attribute__((noinline)) thing::thing(int x) : n(x * 7) { }
__attribute__((noinline)) thing::thing(double x) : n(x * 3) { }
int main(int argc, char **argv)
{
	(void)argv;
	return thing(argc).n + thing(argc / 2.0).n;
}
END
$cc -x c++ -O2 -o class class.cc
functions_is 0 "constructors" 'thing::*' -- ./class
is "$(awk 'NR > 1 { print $5, $6 }' stdout)" "thing::thing(double) 
thing::thing(int) " "have one line each"
functions_is 0 "in JSON" --json 'thing::*' -- ./class
is "$(jq -r '.objects[0].functions[].symbol' stdout | sort | xargs)" \
	"_ZN5thingC1Ed _ZN5thingC1Ei _ZN5thingC2Ed _ZN5thingC2Ei" \
	"all symbols are there"
functions_is 1 "a name that is near to one of them" thign -- ./class
is "$(grep -c 'class:' stderr)" 2 "is that of two functions"

mkdir escapes
LC_ALL=C sed 's/tiny/t\x1bny/g; s/own/o\x7fn/g; s/main\.c/ma\x0an.c/g' program >escapes/program &&
	LC_ALL=C sed 's/hidden/h\x1bdden/g' libfirst.so.1.0 >escapes/libfirst.so.1.0 && chmod +x escapes/program || exit 1
mv libfirst.so.1.0 keep && cp escapes/libfirst.so.1.0 .
functions_is 0 "names with control characters" --all -- escapes/program
is "$(LC_ALL=C grep -c '[^[:print:][:space:]]' stdout)" 0 "are not printed"
is "$(awk '$1 == "program" || $1 == "libfirst" { print $5 }' stdout | xargs)" \
	"main exported" "other names are"
mv keep libfirst.so.1.0

functions_is 0 "an object" --object libfirst -- ./program
is "$(awk 'NR > 1 { print $5 }' stdout | grep -c '^[eh]')" 2 "has its functions"
is "$(cut -d' ' -f1 stdout | sort -u)" "OBJECT
libfirst" "and no others"
functions_is 1 "no such object" --object libsecond -- ./program
said "no object 'libsecond'"

script -qec "stty cols 120; '$tense' functions exportet -- ./program" \
	/dev/null </dev/null | tr -d '\r' >stderr
is "$(awk 'length > 100' stderr)" "" "lines are not too long"
ok "but more than one" grep -q '^       [^ ]' stderr
is "$(grep -c '^  libfirst:exported$' stderr)" 1 "and what is in lines stays there"
functions_is 1 "nothing found" exportet -- ./program
said "libfirst:exported"
is "$(cat stdout)" "" "prints no header"
mv libfirst.so.1.0 keep && cp stripped.so libfirst.so.1.0
functions_is 1 "a static function of a stripped library" libfirst:hidden -- ./program
said "stripped"
rm libfirst.so.1.0
functions_is 0 "a library is missing" -- ./program
said "libraries are missing: libfirst.so.1"
mv keep libfirst.so.1.0

functions_is 0 "a script" own -- ./script
said "script"
functions_is 127 "no such command" -- ./nothing
said "./nothing: No such file or directory"
functions_is 126 "not a program" -- ./main.c
said "./main.c: Permission denied"

functions_is 0 "JSON" --json -- ./program
ok "is JSON" jq -e . stdout >/dev/null
is "$(jq -r '.version' stdout)" 1 "of version 1"
is "$(jq -r '.objects[0] | [.path, .main, .stripped, .dwarf] | join(" ")' stdout)" \
	"$tmp/program true false true" "with the executable first"
is "$(jq -r '.objects[] | select(.name == "libfirst").functions[] |
	select(.symbol == "hidden") |
	[.source, .file, .local, .ifunc, .inlined, .spec] | join(" ")' stdout)" \
	"symtab lib.c true false 0 $tmp/libfirst.so.1.0:=hidden" "and functions"
is "$(jq -r '.objects[0].inlined[] | [.symbol, .copies] | join(" ")' stdout)" \
	"gone 0
tiny 4" "and inlined ones"
is "$(cat stderr)" "" "and says nothing"
spec=$(jq -r '.objects[0].functions[] | select(.symbol == "own").spec' stdout)
functions_is 0 "the spec of one" "$spec" -- ./program
row program symtab 1 own
functions_is 0 "JSON of an inlined function" --json tiny -- ./program
is "$(jq -r '.objects[].inlined[].name' stdout)" tiny "has it"
functions_is 1 "JSON of nothing" --json exportet -- ./program
ok "is JSON" jq -e '[.objects[].functions[]] == []' stdout >/dev/null

functions_is 125 "no command" exported
said "no command"
functions_is 125 "no command after the dashes" exported --
functions_is 125 "an option without its argument" --object
said "--object needs an argument"
functions_is 125 "an unknown option" --every -- ./program
said "unknown option '--every'"
functions_is 125 "an option without its argument" --object -- ./program
functions_is 125 "a pattern that is none" '/(/' -- ./program
said "not a regular expression"
functions_is 0 "options of the command" main -- ./program --json --object
sh -c '"$1" functions -- ./program >/dev/full' - "$tense" 2>stderr
is $? 125 "a full disk is an error"

done_testing
