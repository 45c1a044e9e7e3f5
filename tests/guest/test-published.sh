#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# The API of the report compiles as printed, with all warnings as errors. It works
# under tense run, and in a program that joins an experiment by itself.
. "$source/tests/lib/tap.sh"

in_tmp -p /var/tmp
listing=$source/tests/guest/published.c

compiles() { # COMPILER-OPTION...
	$cc "$@" -Wall -Wextra -Wpedantic -Wconversion -Wstrict-prototypes -Werror \
		-I "$source/libtense/include" -o published "$listing" \
		-L "$out/lib" -ltense -Wl,-rpath,"$out/lib"
}

for std in c11 c17 gnu99 gnu17; do
	ok "the listing compiles with -std=$std" compiles -std=$std
done
ok "the header alone with -std=c99" sh -c "echo '#include <tense.h>' |
	$cc -std=c99 -Wall -Wextra -Wpedantic -Werror -fsyntax-only -x c \
		-I '$source/libtense/include' -"
if echo 'int x;' | $cc -fsyntax-only -x c++ - 2>/dev/null; then
	ok "and in C++" sh -c "echo '#include <tense.h>' |
		$cc -Wall -Wextra -Wpedantic -Werror -fsyntax-only -x c++ \
			-I '$source/libtense/include' -"
else
	skip "no compiler for C++"
fi
printf '#include <tense.h>\nint main(void) { return tense_move(1000); }\n' >old.c
ok "a number of nanoseconds instead of a pointer does not" sh -c "! $cc -Werror \
	-fsyntax-only -I '$source/libtense/include' old.c 2>errors"
ok "because it is one" grep -q 'tense_move' errors

# The results of a function, in order: FILE NAME
results() {
	awk -v name="$2" '$1 == name { print $2 }' "$1" | xargs
}

# The time that passed is so much, or more: FILE NAME NS
passed_ns() {
	[ "$(results "$1" "$2_ns")" -ge "$3" ]
}

works() { # FILE HOW
	is "$(grep -c . "$1")" 17 "$2: to its end"
	for name in tense_health_check tense_init tense_time tense_move tense_sleep \
		tense_scale_percent tense_scale_pop tense_scale_clear tense_destroy; do
		is "$(results "$1" $name | tr -d '0 ')" "" "$2: $name() returns 0"
	done
	ok "$2: tense_move() moves by seconds and nanoseconds" \
		passed_ns "$1" jump 2250000000
	ok "$2: by no more than that and what ran" \
		[ "$(results "$1" jump_ns)" -lt 3000000000 ]
	ok "$2: tense_sleep() sleeps as long" passed_ns "$1" sleep 1500000000
}

"$out/bin/tense" run --backend uml -- ./published >inherited 2>messages
is "$? $(cat messages)" "0 " "under tense run"
works inherited "under tense run"

# With a device, but without an experiment, nothing stays behind.
"$out/bin/tense" run --backend uml --device -- sh -c './published >joined
	LD_PRELOAD=$1/libtense.so ./published >preloaded
	cat /proc/modules >modules' sh "$out/lib" 2>messages
is "$? $(cat messages)" "0 " "with a device"
works joined "joins by itself"
works preloaded "preloaded"
ok "no experiment stays behind" grep -q '^tense [0-9]* 0 ' modules

if [ -e /dev/tense ]; then
	skip "there is a /dev/tense here"
else
	./published >without 2>messages
	is "$?" 0 "without the device it runs as well"
	is "$(awk '!/_ns/ { print $2 }' without | sort -u)" -19 \
		"and all calls return -ENODEV"
fi
done_testing
