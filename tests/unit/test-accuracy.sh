#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The workloads whose answers are known: the cut takes exactly that part of
# the function's work, and of nothing else. They check themselves that the
# work which they count was done.
set -u
export LC_ALL=C TENSE=0

# shellcheck source=/dev/null
. "@SOURCE@/tests/lib/tap.sh"
cd "@O@/accuracy" || exit 1

count() {	# OUTPUT KEY
	awk -v key="$2" '$1 == key { print $2; n++ } END { exit n != 1 }' \
		<<<"$1"
}

for workload in @WORKLOADS@; do
	whole=$("./$workload" --length 25)
	ok "$workload: runs" [ $? -eq 0 ]
	hot=$(count "$whole" hot)
	calls=$(count "$whole" calls)
	rest=$(count "$whole" rest)
	ok "$workload: does work inside and outside of hot()" \
		[ $((hot > 0 && calls > 0 && rest > 0)) -eq 1 ]
	ok "$workload: hot() can be named" sh -c \
		"nm '$workload' | grep -q ' T hot\$'"
	for cut in 10 25 50; do
		part=$("./$workload" --length 25 --cut $cut)
		is $(($(count "$part" hot) * 100)) $((hot * (100 - cut))) \
			"$workload: $cut % less work in hot()"
		is "$(count "$part" rest)" "$rest" \
			"$workload: as much work elsewhere"
	done
	# The one that is cut in calls, of the kernel.
	[ "$workload" = system-calls ] ||
		is "$(count "$part" calls)" "$calls" \
			"$workload: as many calls as before"
	double=$("./$workload" --length 50)
	is "$(count "$double" hot)" $((hot * 2)) \
		"$workload: work in proportion to the length"
done

for arguments in "--cut 7" "--cut 100" "--cut x" "--percent 0" "--length 0" \
		 "--no-such" "word"; do
	# shellcheck disable=SC2086 # several words
	message=$(./serial $arguments 2>&1 >/dev/null)
	status=$?
	ok "misuse: $arguments" [ $status -eq 2 -a -n "$message" ]
done
message=$(./serial --length 1 --percent 125 2>&1 >/dev/null)
status=$?
ok "--percent without libtense is an error" [ $status -eq 1 -a -n "$message" ]

done_testing
