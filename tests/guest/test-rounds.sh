#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The truth of the accuracy suite, measured in a guest: complete, of the right
# work, and roughly in proportion to it. How exact it is, `make accuracy` tells.

. "$source/tests/lib/tap.sh"
in_tmp -p /var/tmp

rounds() {	# ARGUMENT...
	$out/bin/tense run --backend uml --device -- $out/accuracy/rounds "$@"
}

# Sum of a key over the rounds of a variant.
sum() {	# VARIANT KEY
	awk -v variant="$1" -v key="$2" '
		$1 == "run" { wanted = $2 == variant }
		wanted && $1 == key { sum += $2; n++ }
		END { printf "%.0f\n", sum; exit n != 2 }' "$tmp/log"
}

measure() {	# WORKLOAD
	local command="LD_PRELOAD=$out/lib/libtense.so $out/accuracy/$1 --length 13"

	rounds -k -n 2 "whole=$command" "half=$command --cut 50" \
		"scaled=$command --percent 200" >"$tmp/log"
}

is_cheaper() {
	local whole half scaled

	whole=$(sum whole charged_ns) half=$(sum half charged_ns)
	scaled=$(sum scaled charged_ns)
	[ "$half" -lt "$whole" ] && [ "$scaled" -lt "$whole" ]
}

# Other load may slow one round down to half its speed, but not each round.
measure_cheaper() {	# WORKLOAD
	for _ in 1 2 3; do
		measure "$1" || return
		! is_cheaper || return 0
	done
}

for workload in $workloads; do
	measure_cheaper "$workload"
	ok "$workload: ends well" [ $? -eq 0 ]
	whole=$(sum whole hot)
	ok "$workload: some work" [ "$whole" -gt 0 ]
	is "$(sum scaled hot)" "$whole" "$workload: all of the work if scaled"
	is $(($(sum half hot) * 2)) "$whole" "$workload: half of it if cut"
	ok "$workload: cut or scaled, less virtual CPU time" is_cheaper
	ok "$workload: never more virtual CPU time than elapsed" [ \
		"$(sum whole charged_ns)" -le "$(sum whole elapsed_ns)" ]
done

# shellcheck disable=SC2016 # the shell's in there
rounds -k -n 1 'words=WORDS=3\ 4 sh -c echo\ said\ ${WORDS#*\ }' >"$tmp/log"
ok "a backslash keeps a space" grep -qx 'said 4' "$tmp/log"

rounds -n 1 "bad=false" 2>"$tmp/errors" >"$tmp/log"
status=$?
ok "a command that fails is an error" [ $status -eq 1 ]
ok "which says what failed" grep -q 'bad ended with status 1' "$tmp/errors"
rounds -n 1 "bad=./no-such-command" 2>"$tmp/errors" >"$tmp/log"
status=$?
ok "a command that is not there is an error" [ $status -eq 1 ]

done_testing
