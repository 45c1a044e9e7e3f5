#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# `tense run --clock` and `--idle`: which clocks are virtual, and when time is
# skipped.
. "$source/tests/lib/tap.sh"
. "$source/tests/lib/processes.sh"

in_tmp -p /var/tmp

run() {
	"$tense" run --backend uml --json json "$@"
}

is_so() {
	jq -e ".experiment | $1" json >/dev/null
}

holds() { # TEXT FILTER
	ok "$1" is_so "$2"
	jq -c '.experiment | {elapsed_virtual_ns, elapsed_real_ns, cpu_virtual_ns}' \
		json | sed 's/^/# /'
}

hour='.elapsed_virtual_ns >= 3600e9 and .elapsed_virtual_ns < 3700e9'
skipped='.elapsed_real_ns < .elapsed_virtual_ns / 10'

run --idle skip -- sleep 3600
is "$?" 0 "an hour of sleep is skipped"
holds "and has passed" "$hour"
holds "but not in real time" "$skipped"
# shellcheck disable=SC2016 # for the guest's shell
run --idle skip -- bash -c 'sleep 3600 & wait $!'
holds "nor while a child is waited for" "$hour and $skipped"
run --idle skip -- /usr/bin/python3 -c '
import threading
threading.Event().wait(3600)'
holds "nor for a futex" "$hour and $skipped"
run --idle skip -- bash -c 'sleep 3600 | cat; echo "$EPOCHSECONDS"' >seconds
holds "nor for a pipe of its own" "$hour and $skipped"
ok "the program's clock says so, too" \
	[ "$(cat seconds)" -ge "$((EPOCHSECONDS + 3000))" ]

# A wait that only the outside can end takes its time: tense skips nothing.
# shellcheck disable=SC2016
run --idle skip -- bash -c 'touch there; sleep 3600 & read -r; kill $!' \
	< <(until_true test -e there; sleep 2; echo)
holds "a wait for standard input is not skipped" \
	'.elapsed_virtual_ns > 1e9 and .elapsed_virtual_ns < 1000e9'
run --idle real -- sleep 1
holds "idle time is real by default" \
	'.elapsed_virtual_ns >= 1e9 and .elapsed_real_ns > 0.9e9'

# At percent 1 virtual time is a hundred times the CPU time that passed.
measure='a=$EPOCHREALTIME
for ((i = 0; i < 30000; i++)); do :; done
b=$EPOCHREALTIME
echo $((${b/./} - ${a/./}))'
cpu() {
	jq '.experiment.cpu_virtual_ns / 1000 | floor' json
}
us=$(run --percent 1 -- bash -c "$measure")
ok "all clocks are virtual" [ "$us" -ge $(($(cpu) / 10)) ]
echo "# $us of $(cpu) us"
us=$(run --percent 1 --clock all -- bash -c "$measure")
ok "as by --clock all" [ "$us" -ge $(($(cpu) / 10)) ]
for clock in monotonic none; do
	us=$(run --percent 1 --clock $clock -- bash -c "$measure")
	ok "the time of day is real by --clock $clock" \
		[ "$us" -lt $(($(cpu) / 10)) ]
	echo "# $us of $(cpu) us"
done
measure='import time
a = time.monotonic_ns()
for i in range(300000):
	pass
print((time.monotonic_ns() - a) // 1000)'
us=$(run --percent 1 --clock monotonic -- /usr/bin/python3 -c "$measure")
ok "the monotonic clock is virtual by --clock monotonic" \
	[ "$us" -ge $(($(cpu) / 100)) ]
echo "# $us of $(cpu) us"
run --clock none -- sleep 1
holds "sleeps are real by --clock none" '.elapsed_real_ns > 0.9e9'

done_testing
