#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The workloads whose answers are known: the cut takes exactly that part of
# the function's work, and of nothing else. They check themselves that the
# work which they count was done. Real programs print the same when they are
# made slower. And the table of it all tells known numbers as they are.
export TENSE=0

. "$source/tests/lib/tap.sh"
cd "$out/accuracy" || exit 1

count() {	# OUTPUT KEY
	awk -v key="$2" '$1 == key { print $2; n++ } END { exit n != 1 }' \
		<<<"$1"
}

for workload in $workloads; do
	whole=$("./$workload" --length 13)
	ok "$workload: runs" [ $? -eq 0 ]
	hot=$(count "$whole" hot)
	calls=$(count "$whole" calls)
	rest=$(count "$whole" rest)
	ok "$workload: does work inside and outside of hot()" \
		[ $((hot > 0 && calls > 0 && rest > 0)) -eq 1 ]
	ok "$workload: hot() can be named" sh -c \
		"nm '$workload' | grep -q ' T hot\$'"
	for cut in 10 25 50; do
		part=$("./$workload" --length 13 --cut $cut)
		is $(($(count "$part" hot) * 100)) $((hot * (100 - cut))) \
			"$workload: $cut % less work in hot()"
		is "$(count "$part" rest)" "$rest" \
			"$workload: as much work elsewhere"
	done
	# The one that is cut in calls, of the kernel.
	[ "$workload" = system-calls ] ||
		is "$(count "$part" calls)" "$calls" \
			"$workload: as many calls as before"
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

tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
cp "$source/tools/run/launch.c" "$tmp/text"
for _ in 1 2 3 4 5 6 7; do
	cat "$tmp/text" "$tmp/text" >"$tmp/more" && mv "$tmp/more" "$tmp/text"
done

# CPU time in ms, and the output in $tmp/NAME.
cpu() {	# NAME ENVIRONMENT COMMAND...
	local name=$1 variables=$2 TIMEFORMAT='%U %S'
	shift 2
	# shellcheck disable=SC2086 # several words
	{ time env $variables "$@" >"$tmp/$name" 2>/dev/null; } 2>&1 |
		awk '{ printf "%.0f\n", 1000 * ($1 + $2) }'
}

slower() {	# STEPS COMMAND...
	local plain slow steps=$1
	shift
	plain=$(cpu plain SLOW=0 "$@")
	# So much that no neighbour on the machine can hide it.
	slow=$(cpu slow "LD_PRELOAD=$out/accuracy/libslow.so SLOW=$steps" "$@")
	ok "$1: the same output when slower" cmp -s "$tmp/plain" "$tmp/slow"
	ok "$1: and it is slower" [ "$slow" -gt $((plain * 2)) ]
}

slower 20000000 pigz -n -p 2 -c "$tmp/text"
slower 5000000 xz -1 -T 1 -c "$tmp/text"
slower 5000000 bzip2 -1 -c "$tmp/text"
slower 5000000 openssl dgst -sha3-512 "$tmp/text"
slower 200000000 sqlite3 :memory: "with recursive n(x) as (select 1 union all
	select x + 1 from n where x < 300000) select sum(x) from n"
# shellcheck disable=SC2016 # perl's
slower 20000 perl -ne '$n += @{[split /\W+/]}; END { print $n }' "$tmp/text"

# Three rounds in which the truth is 10 % and the machine drifts.
rounds_of() {	# TIME_OF_PREDICTION [TICKS_IF_CUT]
	local round=0 speed
	for speed in 1000 1100 950; do
		for variant in "base 100" "cut 90" "scaled $1"; do
			echo "run ${variant% *} $round"
			echo "elapsed_ns $((speed * ${variant#* }))"
			[ $# -eq 1 ] && continue
			[ "${variant% *}" = cut ] && echo "ticks_per_unit $2" ||
				echo "ticks_per_unit 10"
		done
		round=$((round + 1))
	done
}

answer() {	# CHANGE
	cat <<-JSON
		{ "null_experiment":
		    { "bias": { "value": 0.5, "low": -1, "high": 2 } }, "conditions": [ { "name": "baseline", "cut": null },
		    { "name": "null", "cut": 0 }, { "name": "10", "cut": 0.1 } ],
		  "results": [ { "condition": 2, "verdict": "$2", "change":
		    { "value": $1, "low": $1.25, "high": $1 } } ] }
	JSON
}

table() {
	./accuracy-table "$tmp/json" "$tmp/data" <"$tmp/cases" >"$tmp/table" \
		2>"$tmp/errors"
}

# Prints "ERROR LOW HIGH" of the case NAME.
error_of() {
	jq -r --arg name "$1" '.cases[] | select(.name == $name) | .error |
		[.value, .low, .high] | map(. * 1000 | round / 1000 + 0) |
		join(" ")' "$tmp/json"
}

rounds_of 90 >"$tmp/exact"
rounds_of 88 >"$tmp/off"
rounds_of 90 12 >"$tmp/control"
answer -10 prediction >"$tmp/right.json"
answer -11 not-converged >"$tmp/wrong.json"
cat >"$tmp/cases" <<CASES
a exact 10 $tmp/exact base cut scaled
a off 10 $tmp/off base cut scaled
c control 10 $tmp/control base cut scaled
d nothing 0 $tmp/exact base base base
d something 0 $tmp/exact base base scaled
b right 10 $tmp/exact base cut $tmp/right.json
b wrong 10 $tmp/exact base cut $tmp/wrong.json
CASES
ok "table: succeeds" table
is "$(error_of exact)" "0 0 0" "table: no error"
is "$(error_of off)" "2 2 2" "table: two points too much"
is "$(error_of control)" "0 0 0" "table: a speed that depends on the variant"
is "$(error_of nothing)" "0 0 0" "table: a null experiment without effect"
is "$(error_of something)" "10 10 10" "table: and one with"
is "$(error_of right)" "0 0 0.25" "table: an answer of whatif"
is "$(error_of wrong)" "1 1 1.25" "table: one point too much"
is "$(jq -r '.groups[] | "\(.name) \(.cases) \(.median * 10 | round) \(
	.worst * 10 | round)"' "$tmp/json")" "a 2 10 20
b 2 5 10
c 1 0 0
d 2 50 100" "table: median and worst of each group"
is "$(jq -r '.cases[] | select(.group == "b") | "\(.verdict) \(.bias |
	[.value, .low, .high] | map(. * 10) | join(" "))"' "$tmp/json")" \
	"prediction 5 -10 20
not-converged 5 -10 20" "table: the verdict and the bias of an answer"
is "$(jq '.cases[] | select(.group != "b") | .verdict, .bias' "$tmp/json" | sort -u)" \
	null "table: neither without an answer"
is "$(awk '/^(exact|off|right|wrong) / { print $1 }' "$tmp/table" |
	tr '\n' ' ')" "exact off right wrong " "table: the worst one comes last"
ok "table: a doubtful answer is marked" grep -q 'wrong .*not-converged' \
	"$tmp/table"
ok "table: a prediction is not" grep -q '^right .*\]$' "$tmp/table"
is "$(awk 'NF == 6' "$tmp/data" | wc -l)" 7 "table: data of each case"

refused() {	# NAME CASE
	echo "$2" >"$tmp/cases"
	if table; then status=0; else status=$?; fi
	ok "table refuses $1" [ $status -eq 1 -a -s "$tmp/errors" ]
}
refused "what is not a case" "a b"
refused "a log that is not there" "a b 10 $tmp/none base cut scaled"
refused "a variant that is not there" "a b 10 $tmp/exact base no scaled"
refused "an answer without that cut" "a b 20 $tmp/exact base cut $tmp/right.json"
jq 'del(.null_experiment)' "$tmp/right.json" >"$tmp/biased.json"
refused "an answer without a bias" "a b 10 $tmp/exact base cut $tmp/biased.json"

done_testing
