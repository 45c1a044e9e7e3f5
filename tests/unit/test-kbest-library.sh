#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# libtense-measure as it is shipped: what it exports, its page, its example.
. "$source/tests/lib/tap.sh"

page=$source/libtense/measure/tense_kbest.3
library=$out/lib/libtense-measure.so
in_tmp

is "$(nm -D --defined-only "$library" | sed -n 's/.* T //p' | xargs)" \
	"$(grep -o '\btense_[a-z_]*(' "$source/libtense/include/tense-measure.h" |
		grep -v 'tense_kbest()' | tr -d '(' | sort -u |
		sed 's/$/@@TENSE_MEASURE_0.1/' | xargs)" \
	"exports what its header has"
is "$(objdump -p "$library" | awk '/NEEDED/ { print $2 }' | sort | xargs)" \
	"libc.so.6" "needs nothing"
is "$(objdump -p "$library" | awk '/SONAME/ { print $2 }')" \
	libtense-measure.so.0 "has a version"
awk '/^\.EE/ { in_example = 0 } in_example; /^\.EX/ { in_example = 1 }' "$page" |
	sed -e 's/\\-/-/g' -e 's/\\e/\\/g' >"$tmp/example.c"
ok "the example calls it" grep -q 'tense_kbest(' "$tmp/example.c"
ok "and compiles" $cc -std=gnu17 -Wall -Wextra -Werror \
	-I "$source/libtense/include" -o "$tmp/example" "$tmp/example.c" \
	-L "$out/lib" -ltense-measure -Wl,-rpath,"$out/lib"
ok "and runs" "$tmp/example" >"$tmp/output"
sed "s|@PREFIX@|$tmp/prefix|; s|@VERSION@|0|" \
	"$source/libtense/measure/libtense-measure.pc.in" >"$tmp/libtense-measure.pc"
mkdir "$tmp/prefix"
ln -s "$out/lib" "$tmp/prefix/lib"
ln -s "$source/libtense/include" "$tmp/prefix/include"
export PKG_CONFIG_PATH="$tmp" LD_LIBRARY_PATH="$out/lib"
# shellcheck disable=SC2046 # words
ok "by what pkg-config tells, too" $cc "$tmp/example.c" -o "$tmp/example" \
	$(pkg-config --cflags --libs libtense-measure)
ok "and runs" "$tmp/example" >"$tmp/output"
ok "and tells a time" grep -Eq \
	'^[1-9][0-9]* ns, [0-9]+ samples(, did not converge)?$' "$tmp/output"
ok "the header is C++, too" sh -c "echo '#include <tense-measure.h>' |
	g++ -Wall -Wextra -Werror -I '$source/libtense/include' -fsyntax-only -x c++ -"
is "$(groff -t -man -Tutf8 -ww -z "$page" 2>&1)" "" "the page formats"
page=$source/libtense/measure/tense_fcyc.3
is "$(groff -t -man -Tutf8 -ww -z "$page" 2>&1)" "" "and the one of tense_fcyc"
awk '/^\.EE/ { in_example = 0 } in_example; /^\.EX/ { in_example = 1 }' "$page" |
	sed -e 's/\\-/-/g' -e 's/\\e/\\/g' >"$tmp/example.c"
ok "its example compiles" $cc -std=gnu17 -Wall -Wextra -Werror \
	-I "$source/libtense/include" -o "$tmp/example" "$tmp/example.c" \
	-L "$out/lib" -ltense-measure -Wl,-rpath,"$out/lib"
ok "and runs" "$tmp/example" >"$tmp/output"
ok "and tells cycles" grep -Eq '^[1-9][0-9]* cycles, [1-9][0-9]* ns$' "$tmp/output"
done_testing
