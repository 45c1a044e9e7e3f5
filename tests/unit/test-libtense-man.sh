#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Every public function has a manual page, with an example that compiles and
# runs, also where there is no device.
. "$source/tests/lib/tap.sh"

export TENSE_WARNED=1
man=$source/libtense/man
in_tmp

functions=$(nm -D --defined-only "$out/lib/libtense.so" |
	sed -n 's/.* T \(.*\)@@TENSE_[0-9].*/\1/p')
ok "the library has functions" [ -n "$functions" ]

# The program between .EX and .EE of the section EXAMPLES, without roff.
example() { # FILE
	awk '/^\.SH/ { in_section = /EXAMPLES/ }
	     /^\.EE/ { in_example = 0 }
	     in_section && in_example
	     /^\.EX/ { in_example = 1 }' "$1" |
		sed -e 's/^\\&//' -e 's/\\-/-/g' -e 's/\\(aq/'"'"'/g' \
			-e 's/\\e/\\/g'
}

for f in $functions; do
	page=$man/$f.3
	ok "$f has a page" [ -f "$page" ]
	[ -f "$page" ] || continue
	# A page of several functions has links.
	link=$(sed -n 's/^\.so man3\///p' "$page")
	page=$man/${link:-$f.3}
	ok "$f.3 leads to a page" [ -f "$page" ]
	for name in NAME SYNOPSIS DESCRIPTION "RETURN VALUE" ERRORS EXAMPLES \
		"SEE ALSO"; do
		ok "$f.3 has $name" grep -q "^\.SH $name" "$page"
	done
	ok "$f.3 names the function" grep -Eq "^([a-z_]+, )*$f(,| )" "$page"
	grep -h "int $f(" "$source/libtense/include/tense.h" |
		sed 's/;.*//' >"$tmp/prototype"
	ok "$f.3 has its prototype" grep -qF "$(cat "$tmp/prototype")" "$page"

	example "$page" >"$tmp/$f.c"
	ok "$f.3: the example calls it" grep -q "$f(" "$tmp/$f.c"
	ok "$f.3: the example compiles" $cc -std=gnu17 -Wall -Wextra -Werror \
		-I "$source/libtense/include" -o "$tmp/$f" "$tmp/$f.c" \
		-L "$out/lib" -ltense -Wl,-rpath,"$out/lib" -pthread
	if [ -e /dev/tense ]; then
		skip "there is a /dev/tense here: examples run elsewhere"
	else
		"$tmp/$f" >/dev/null 2>"$tmp/err"
		ok "$f.3: the example ends by itself" [ $? -lt 2 ]
	fi
done

for page in "$man"/*.3; do
	f=$(basename "$page" .3)
	ok "$f.3 is of a function that exists" \
		sh -c "echo '$functions' | grep -qx '$f'"
done
for page in "$man"/*; do
	grep -q '^\.so ' "$page" && continue
	if command -v groff >/dev/null; then
		is "$(groff -t -man -Tutf8 -ww -z "$page" 2>&1)" "" \
			"$(basename "$page") formats without warnings"
	else
		skip "no groff to format $(basename "$page")"
	fi
done
done_testing
