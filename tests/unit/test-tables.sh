#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Tables of documents: results of measurements become the tables between the marks,
# and nothing else of a document changes. Without its results it stays as it is.
# shellcheck disable=SC2016 # code between backquotes, in single quotes
. "$source/tests/lib/tap.sh"
in_tmp

machine='"date": "2026-05-04T03:02:01Z", "commit": "c0ffee", "machine": { "system":
	"Linux", "release": "6.1.0", "cpu": "Z80", "cpus": 2, "load": [0.5, 1, 2] }'
measured='on 2026-05-04, 03:02 UTC. Commit c0ffee; Z80, 2 CPUs, Linux 6.1.0, load before 0.5'

document() { # TABLE...
	echo before
	for name; do
		printf '<!-- table: %s -->\nold figures\n<!-- end -->\nafter %s\n' "$name" "$name"
	done
}

write() { # the document, and what the script says
	"$source/tests/accuracy/tables" "$tmp" document >said 2>&1
}

# TABLE: its lines in the document, without the line on the measurement.
lines_of() {
	sed -n "/^<!-- table: $1 -->\$/,/^<!-- end -->\$/p" document |
		sed '1,3d; $d'
}

refused() { # NAME REASON
	cp document before
	if write; then status=0; else status=$?; fi
	is $status 1 "refuses $1"
	ok "$1: says why" grep -qF "$2" said
	ok "$1: the document stays as it is" cmp -s before document
}

document accuracy-workloads >document
refused "a missing result" "accuracy.json is missing; run: make accuracy"
document accuracy-exact-1 >document
refused "another one" "cpus-1.json is missing; run: CPUS=1 make accuracy-exact"
document bench >document
refused "and another" "bench.json is missing; run: make bench"

case_of() { # GROUP NAME CUT ERROR VERDICT BIAS
	jq -n --arg group "$1" --arg name "$2" --argjson cut "$3" --argjson error "$4" \
		--arg verdict "$5" --argjson bias "$6" '
		def interval: { value: ., low: (. - 0.5), high: (. + 0.5) };
		{ group: $group, name: $name, cut: $cut, predicted: (10 + $error | interval),
		  true: (10 | interval), error: ($error | interval), verdict: $verdict,
		  bias: ($bias | interval) }'
}

{
	case_of workloads serial 25 -0.004 prediction 0.1
	case_of workloads serial 10 0.25 not-trusted 0.1
	case_of workloads barrier 50 -4.3 not-converged -0.7
	case_of workloads branchy 50 2.5 prediction 0.2
	case_of programs xz:code -25 0.5 prediction 0
} | jq -s "{ $machine, rounds: 9, length: 60, cases: . }" >accuracy.json

document accuracy-workloads accuracy-workloads-summary accuracy-workloads-bias \
	accuracy-programs >document
ok "rewrites tables" write
is "$(cat said)" "" "says nothing"
is "$(lines_of accuracy-workloads)" \
'|  | less work | predicted, % faster | true, % faster | error, points | its 95 % interval | verdict |
|---|---|---|---|---|---|---|
| `barrier` | 50 % | 5.70 [5.20 6.20] | 10.00 [9.50 10.50] | -4.30 | -4.80 to -3.80 | not converged |
| `branchy` | 50 % | 12.50 [12.00 13.00] | 10.00 [9.50 10.50] | +2.50 | +2.00 to +3.00 | prediction |
| `serial` | 10 % | 10.25 [9.75 10.75] | 10.00 [9.50 10.50] | +0.25 | -0.25 to +0.75 | not trusted |
| `serial` | 25 % | 10.00 [9.50 10.50] | 10.00 [9.50 10.50] | 0.00 | -0.50 to +0.50 | prediction |' \
	"a row for each prediction"
is "$(lines_of accuracy-workloads-summary)" \
'| figure | measured |
|---|---|
| predictions | 4 |
| median error | 1.38 points |
| worst | 4.30 points (`barrier`, 50 %) |
| worst with the verdict "prediction" | 2.50 points (`branchy`, 50 %) |
| error within 1 point, but "not trusted" | 1 of 2 |
| error within 1 point, but "not converged" | 0 of 2 |
| error over 2 points, but "prediction" | 1 of 2 |
| interval of the error without 0, but "prediction" | 1 of 2 |' "the summary"
is "$(lines_of accuracy-workloads-bias)" \
'|  | less work | bias, % slower, and its 95 % interval |
|---|---|---|
| `barrier` | 50 % | -0.70 [-1.20 -0.20] |
| `branchy` | 50 % | 0.20 [-0.30 0.70] |
| `serial` | 10, 25 % | 0.10 [-0.40 0.60] |

Size of the bias: median 0.20 %, worst 0.70 %. The interval excludes 0 for 1 of 3.' "the bias"
is "$(lines_of accuracy-programs | tail -n 1)" \
	'| `xz:code` | -25 % | 10.50 [10.00 11.00] | 10.00 [9.50 10.50] | +0.50 | 0.00 to +1.00 | prediction |' \
	"other groups have tables of their own"
is "$(grep -c "^Measured by \`make accuracy\` $measured; 9 rounds of each truth; workloads at 60 % of their length\.\$" document)" \
	4 "each table names the date and machine of the measurement"
is "$(grep -v '^[|MS]\|^$' document)" "$(document accuracy-workloads \
	accuracy-workloads-summary accuracy-workloads-bias accuracy-programs |
	grep -v '^old')" "the text around tables stays"
cp document first
ok "and again" write
ok "writes the same from the same results" cmp -s first document

document accuracy-workloads accuracy-instruments >document
refused "a group that was not measured" "has no table 'accuracy-instruments'; run: make accuracy"
document accuracy-workloads accuracy-lunch >document
refused "an unknown table" "no table is called 'accuracy-lunch'"
document accuracy-workloads | sed '/end/d' >document
refused "a table without an end" "no '<!-- end -->' follows table 'accuracy-workloads'"

document bench >other
ok "one document is written without the results of another" sh -c \
	"sed '/^<!-- end/d' first >/dev/null; cp first document; \
	! '$source/tests/accuracy/tables' . other document 2>said && \
	cmp -s first document && grep -q '^tables: other stays' said"

jq -n "{ $machine, figures: [
	{ title: \"a ratio\", unit: \"\", target: 1.02, value: 0.98765, low: -0.5, high: 1.5,
	  samples: 20, reached: true },
	{ title: \"a time\", unit: \"us\", target: 2, value: 1234.5, low: 0.00123, high: 2000,
	  samples: 20, reached: false },
	{ title: \"no time\", unit: \"us\", target: 2, value: null, low: null, high: null,
	  samples: 0, reached: false } ] }" >bench.json
document bench >document
ok "rewrites benchmarks" write
is "$(lines_of bench)" \
'| figure | measured | 95 % interval | aim | reached |
|---|---|---|---|---|
| a ratio | 0.988 | -0.500 to 1.50 | 1.02 | yes |
| a time | 1235 us | 0.00123 to 2000 | 2 us | no |
| no time | - | - | 2 us | missing |' "reached, missed and missing"

# The results of exact, of a tense that takes known times. One run fails.
mkdir bin accuracy
cat >bin/tense <<'SH'
#!/bin/sh
while [ "$1" != --json ]; do shift; done
case $2 in
*/serial-percent-200.json) exit 1 ;;
*percent-200.json) ns=590 ;;
*percent-125.json) ns=840 ;;
*cut-50.json) ns=600 ;;
*cut-20.json) ns=835 ;;
*) ns=1000 ;;
esac
echo "{ \"elapsed_virtual_ns\": $ns }" >"$2"
SH
chmod +x bin/tense
export CPUS=1 LENGTH=10
ok "exact: succeeds" env WORKLOADS=barrier "$source/tests/accuracy/exact" . >said
jq -c .cases accuracy-exact/cpus-1.json >cases
ok "exact: fails if a run did" sh -c \
	"! WORKLOADS='barrier serial' '$source/tests/accuracy/exact' . >said 2>&1"
ok "exact: names the run" grep -q '^# serial 50: not all runs succeeded$' said
is "$(jq -c '.cases[:2]' accuracy-exact/cpus-1.json)" "$(cat cases)" \
	"exact: keeps the others"
ok "exact: when and where" jq -e '(.date | fromdate) > 0 and .machine.cpus > 0 and
	(.machine.load | length) == 3 and has("commit") and .cpus == 1' \
	accuracy-exact/cpus-1.json >/dev/null
document accuracy-exact-1 >document
ok "rewrites exact predictions" write
is "$(lines_of accuracy-exact-1)" \
'|  | less work | predicted, % faster | true, % faster | error, points |
|---|---|---|---|---|
| `barrier` | 20 % | 16.00 | 16.50 | -0.50 |
| `barrier` | 50 % | 41.00 | 40.00 | +1.00 |
| `serial` | 20 % | 16.00 | 16.50 | -0.50 |
| `serial` | 50 % | - | - | failed |

3 predictions: median error 0.50 points, worst 1.00 points (`barrier`, 50 %).' \
	"exact: a row for each prediction"

for document in docs/accuracy.md docs/benchmarks.md; do
	names=$(sed -n 's/^<!-- table: \(.*\) -->$/\1/p' "$source/$document")
	ok "$document has tables" [ -n "$names" ]
	is "$(grep -c '^<!-- end -->$' "$source/$document")" "$(wc -l <<<"$names")" \
		"$document: each table has an end"
done

done_testing
