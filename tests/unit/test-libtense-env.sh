#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# libtense.so as it is shipped: what it exports, and what it does and says
# where there is no device.
. "$source/tests/lib/tap.sh"

unset TENSE_WARNED
lib=$out/lib/libtense.so.1
in_tmp

warnings() { # FILE
	grep -c '^libtense: ' "$1"
}

api='tense_destroy tense_health_check tense_init tense_move tense_move_ns'
api="$api tense_scale_clear tense_scale_percent tense_scale_pop tense_sleep"
api="$api tense_sleep_ns tense_time tense_time_ns"
libc='clock_gettime gettimeofday pthread_create thrd_create time timespec_get'

is "$(nm -D --defined-only "$lib" | sed -n 's/.* T \(.*\)@@TENSE_1.0$/\1/p' |
	sort | xargs)" "$api" "the API is exported, with its version"
is "$(nm -D --defined-only "$lib" | sed -n 's/.* T \([^@]*\)$/\1/p' |
	sort | xargs)" "$libc" \
	"what stands in front of libc is exported, without one; nothing else is"
is "$(readelf -d "$lib" | sed -n 's/.*SONAME.*\[\(.*\)\]/\1/p')" \
	libtense.so.1 "soname"
is "$(nm -g --defined-only "$out/lib/libtense.a" |
	awk 'NF == 3 && $3 !~ /^(__)?tense_/ { print $3 }')" "" \
	"the static library defines only names of its own"
is "$(nm -g --defined-only "$out/lib/libtense.a" |
	awk '$3 == "clock_gettime"')" "" "and leaves libc's clocks alone"
is "$(readelf -lW "$lib" | awk '$1 == "GNU_STACK" { print $7 }')" RW \
	"no executable stack"

cat >"$tmp/annotated.c" <<'END'
#include <stdio.h>
#include <tense.h>
int main(void)
{
	int r = tense_init();

	printf("%d %d %d\n", r, tense_scale_percent(50), tense_scale_pop());
	return 0;
}
END
$cc -I "$source/libtense/include" -o "$tmp/annotated" "$tmp/annotated.c" \
	-L "$out/lib" -ltense -Wl,-rpath,"$out/lib"
$cc -I "$source/libtense/include" -o "$tmp/static" "$tmp/annotated.c" \
	"$out/lib/libtense.a" -pthread

# A program that was built for libtense.so.0, whose functions took numbers.
cat >"$tmp/old.c" <<'END'
int tense_init(void);
int tense_move(long ns);
int main(void) { return tense_init() + tense_move(1000) ? 3 : 3; }
END
echo 'int tense_init(void) { return 0; } int tense_move(long ns) { return ns != 0; }' \
	>"$tmp/library.c"
echo 'TENSE_0.1 { global: tense_init; tense_move; };' >"$tmp/library.map"
mkdir "$tmp/old" "$tmp/new" "$tmp/linked"
$cc -shared -fPIC -Wl,-soname,libtense.so.0 \
	-Wl,--version-script,"$tmp/library.map" -o "$tmp/old/libtense.so.0" \
	"$tmp/library.c"
$cc -o "$tmp/for-0" "$tmp/old.c" "$tmp/old/libtense.so.0"
ln -s "$lib" "$tmp/new/"
ln -s "$lib" "$tmp/linked/libtense.so.0"
LD_LIBRARY_PATH=$tmp/old "$tmp/for-0"
is "$?" 3 "a program for version 0 runs with that"
for preload in '' "$lib"; do
	TENSE=0 LD_PRELOAD=$preload LD_LIBRARY_PATH=$tmp/new "$tmp/for-0" \
		2>"$tmp/err"
	is "$?" 127 "without it, it does not load"
	ok "and says so" grep -q 'libtense.so.0: cannot open' "$tmp/err"
	TENSE=0 LD_PRELOAD=$preload LD_LIBRARY_PATH=$tmp/linked "$tmp/for-0" \
		2>"$tmp/err"
	ok "a link by the old name does not help" [ $? -ne 3 ]
	ok "and says so" grep -q "version .TENSE_0.1' not found" "$tmp/err"
done

if [ -e /dev/tense ]; then
	skip "there is a /dev/tense here: nothing to say about its absence"
	done_testing
fi

LD_PRELOAD=$lib env printf hello >"$tmp/out" 2>"$tmp/err"
is "$?" 0 "preloaded: the program runs"
is "$(cat "$tmp/out")" hello "and prints what it prints"
is "$(warnings "$tmp/err")" 1 "with one warning"
is "$(wc -l <"$tmp/err")" 1 "of one line"

LD_PRELOAD=$lib sh -c '/bin/true; /bin/true; /bin/true' 2>"$tmp/err"
is "$(warnings "$tmp/err")" 1 "a script: one warning for all that it runs"

LD_PRELOAD=$lib "$tmp/annotated" >"$tmp/out" 2>"$tmp/err"
is "$(cat "$tmp/out")" "-19 -19 -19" "preloaded and annotated: -ENODEV"
is "$(warnings "$tmp/err")" 1 "and one warning"

for program in annotated static; do
	"$tmp/$program" >"$tmp/out" 2>"$tmp/err"
	is "$?" 0 "$program: the program runs"
	is "$(cat "$tmp/out")" "-19 -19 -19" "every call is -ENODEV"
	is "$(warnings "$tmp/err")" 1 "with one warning"
	TENSE=0 "$tmp/$program" >"$tmp/out" 2>"$tmp/err"
	is "$(cat "$tmp/out")" "-19 -19 -19" "$program, TENSE=0: -ENODEV"
	is "$(cat "$tmp/err")" "" "in silence"
done

LD_PRELOAD=$lib TENSE=0 env printf hello >"$tmp/out" 2>"$tmp/err"
is "$?" 0 "preloaded, TENSE=0: the program runs"
is "$(cat "$tmp/err")" "" "in silence"

LD_PRELOAD=$lib TENSE_STRICT=1 env printf hello >"$tmp/out" 2>"$tmp/err"
is "$?" 1 "preloaded, TENSE_STRICT=1: status 1"
is "$(cat "$tmp/out")" "" "the program does not run"
is "$(warnings "$tmp/err")" 1 "one message says why"
ok "it names the variable" grep -q TENSE_STRICT "$tmp/err"
TENSE_STRICT=1 "$tmp/annotated" >"$tmp/out" 2>"$tmp/err"
is "$?" 1 "annotated, TENSE_STRICT=1: status 1"
is "$(cat "$tmp/out")" "" "the program does not run"
LD_PRELOAD=$lib TENSE=0 TENSE_STRICT=1 env printf hello >"$tmp/out" 2>"$tmp/err"
is "$? $(cat "$tmp/err")" "0 " "TENSE=0 goes before TENSE_STRICT=1"

LD_PRELOAD=$lib TENSE_WARNED=1 /bin/true 2>"$tmp/err"
is "$(cat "$tmp/err")" "" "TENSE_WARNED=1: no further warning"
LD_PRELOAD=$lib TENSE_WARNED=1 TENSE_STRICT=1 /bin/true 2>"$tmp/err"
is "$?" 1 "TENSE_WARNED=1 does not weaken TENSE_STRICT=1"

LD_PRELOAD=$lib /bin/true 2>&-
is "$?" 0 "with standard error closed"

LD_PRELOAD=$lib /bin/sleep 0.01 2>/dev/null
is "$?" 0 "sleep sleeps"
is "$(LD_PRELOAD=$lib TENSE=0 date +%Y)" "$(date +%Y)" "date shows the date"

done_testing
