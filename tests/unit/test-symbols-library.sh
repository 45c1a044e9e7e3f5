#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# The library that finds functions is preloaded into any program. The program
# sees nothing of it, and the library knows C++ names in C++ programs.
. "$source/tests/lib/tap.sh"

library=$out/tests/unit/symbols.so
in_tmp

echo 'namespace ns { int f(int x) { return x; } }
int main(int argc, char **) { delete new int; return ns::f(argc) - argc; }' >x.cc
g++ -O0 -o cxx x.cc || exit 1

# PROGRAM PATTERN OBJECT
find_in() {
	LD_PRELOAD=$library TEST_PATTERN=$2 TEST_OBJECT=$3 "$1"
}

is "$(nm -D --defined-only "$library")" "" "the library exports nothing"
is "$(readelf -d "$library" | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p')" "libc.so.6" \
	"and needs only libc"
is "$(readelf -d "$library" | grep -c TEXTREL)" 0 "and is position-independent"
is "$(find_in /bin/true main ./cxx)" "main
0" "a function by its symbol"
is "$(find_in /bin/true _ZN2ns1fEi ./cxx)" "_ZN2ns1fEi
0" "one of C++, too, in any program"
is "$(find_in /bin/true ns::f ./cxx)" "0" "but not demangled in a C program"
is "$(find_in ./cxx ns::f ./cxx)" "_ZN2ns1fEi
0" "demangled in a C++ program"
is "$(find_in /bin/true main ./missing)" -2 "a missing file is an error"
is "$(find_in /bin/true '/(/' ./cxx | cut -c-24)" "not a regular expression" \
	"a pattern that is none is an error"

done_testing
