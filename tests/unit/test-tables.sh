#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Tables of documents: results of measurements become the tables between the marks,
# and nothing else of a document changes. A table without its result stays as it is.
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

kept() { # NAME REASON
	cp document before
	ok "$1: succeeds" write
	ok "$1: is told" grep -qF "$2" said
	ok "$1: the table stays as it is" cmp -s before document
}

document accuracy-workloads >document
kept "a missing result" \
	"document: table 'accuracy-workloads' stays as it is: $tmp/accuracy.json is missing; run: make accuracy"
document accuracy-exact-1 >document
kept "another one" "cpus-1.json is missing; run: CPUS=1 make accuracy-exact"
document bench >document
kept "and another" "bench.json is missing; run: make bench"

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
cp document written
document bench >missing
cat missing written >document
ok "rewrites them beside one without a result" write
is "$(cat document)" "$(cat missing written)" "which stays as it is"
cp written document
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
cp accuracy.json accuracy-2.json
document accuracy-2-workloads >document
ok "rewrites a table of two CPUs" write
is "$(grep -c "^Measured by \`CPUS=2 make accuracy\` " document)" 1 \
	"which names their command"
is "$(lines_of accuracy-2-workloads | head -n 3 | tail -n 1)" \
	'| `barrier` | 50 % | 5.70 [5.20 6.20] | 10.00 [9.50 10.50] | -4.30 | -4.80 to -3.80 | not converged |' \
	"and has rows of its own"
cp written document
cp document first
ok "and again" write
ok "writes the same from the same results" cmp -s first document

document accuracy-workloads accuracy-instruments >document
refused "a group that was not measured" "has no table 'accuracy-instruments'; run: make accuracy"
document accuracy-workloads accuracy-lunch >document
refused "an unknown table" "no table is called 'accuracy-lunch'"
document accuracy-workloads | sed '/end/d' >document
refused "a table without an end" "no '<!-- end -->' follows table 'accuracy-workloads'"

document accuracy-lunch >other
document accuracy-workloads accuracy-workloads-summary accuracy-workloads-bias accuracy-programs \
	>document
ok "one document is written in spite of a fault in another" sh -c \
	"! '$source/tests/accuracy/tables' . other document 2>said && \
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

jq -n "{ $machine, unit: \"instructions\", figures: {
	yield_alone: { plain: 500, unloaded: 501.5, loaded: 511, inside: 661 },
	charge_by_reading_cpu_time: { plain: 600, unloaded: 599, loaded: 609.9, inside: 760 },
	charge_with_an_area: { inside: 800 },
	two_percents_written_to_the_ring: { inside: 80 },
	two_percents_by_the_ring: { inside: 180.2 },
	percent_by_system_call: { inside: 1500 },
	function_entry_and_exit: { inside: 100.4 }, function_calls_itself: { inside: 99 },
	wake_up_and_switch_twice: { loaded: 7000, inside: 8000 },
	sleep_beside_100: { inside: 8000 }, sleep_beside_100000: { inside: 20400 },
	fork_and_exit: { plain: 1000, inside: 1500 }, gate_and_release: { inside: 5001 } } }" \
	>cost.json
document bench-cost >document
export COST=cost.json
ok "rewrites costs" write
is "$(lines_of bench-cost)" \
'| figure | instructions | aim | reached |
|---|---|---|---|
| a charge of a task outside, module not loaded, over a kernel without the patches: by yielding | +1.5 | 2 | yes |
| the same by reading CPU time, which is a hook of its own | -1.0 | 2 | yes |
| a charge of a task beside an experiment over a kernel without the patches: by yielding | +11.0 | 10 | no |
| the same by reading CPU time | +9.9 | 10 | yes |
| a charge in an experiment over one beside it, no ring: by yielding | +150 | 150 | yes |
| the same by reading CPU time | +150 | 150 | no |
| the same with a ring | +190 |  |  |
| a change of percent by the ring: in the program | 40 | 40 | yes |
| the same with the kernel'"'s"' reading of it | 90 | 90 | no |
| entry and exit of a redirected function, in the program | 100 | 100 | no |
| a call that such a function makes to itself | 99 | 100 | yes |
| a change of percent by a system call | 1500 | 1500 | yes |
| a wake-up and a switch in an experiment over outside | +500 | 500 | yes |
| a sleep beside 100000 timers over one beside 100, in an experiment: ratio | 2.550 | 2.5 | no |
| fork, exit and wait in an experiment over without the patches: ratio | 1.50 |  |  |
| to wait at a gate and be released, as far as the tasks themselves run for it | 5001 | 5000 | no |' \
	"costs: a row for each figure, by the aim before rounding"
jq '.figures += { charge_at_percent_80: { inside: 780 },
	charge_beside_an_outsider: { loaded: 700, inside: 920 } }' cost.json >newer.json
COST=newer.json write
is "$(lines_of bench-cost | grep -e ' percent 80 ' -e 'task outside in')" \
'| a charge in an experiment at percent 80 over one beside it, no ring | +170 | 170 | no |
| a charge in an experiment over one beside it, with a task outside in the queue | +220 | 220 | yes |' \
	"costs: rows of figures that only newer results have"
unset COST

# Measured by hand, a table stays until there is a result.
by_hand() { # TABLE
	document "$1" | sed 's/old figures/Measured by hand, long ago./'
}
by_hand window >document
cp document before
ok "succeeds without the result of a table by hand" write
ok "which stays" cmp -s before document
mkdir window bench
jq -n "{ $machine, cpus: 2, length: 100, cases: [
	{ workload: \"a\", window_us: 500, real_time_ratio: 1.0125, error_points: -0.25 },
	{ workload: \"b\", window_us: 500, real_time_ratio: 0.5, error_points: 0.125 },
	{ workload: \"a\", window_us: 20, real_time_ratio: 1.5, error_points: 0 }] }" \
	>window/window.json
ok "rewrites it with a result" write
is "$(lines_of window)" \
'| window | real time at percent 100 over outside, least and most of the programs | aim | worst error of a prediction, points |
|---|---|---|---|
| 20 us | 1.500 to 1.500 | 1.08 | 0.00 |
| 500 us | 0.500 to 1.013 | 1.01 | 0.25 |' "windows: of all programs, in order"

jq -n "{ $machine, works: [{ work: \"counting\", tools: [
	{ tool: \"perf\", unit: \"s\", alone: null, beside: null, error_percent: null },
	{ tool: \"tense\", unit: \"loops\", alone: 1, beside: 1.0625,
	  error_percent: 6.25 }] }] }" \
	>bench/measure-tools.json
jq -n "{ $machine, learnt: { took_s: 240, cutoff_ms: 36, period_s: 20, period_error_s: 0.5 },
	lengths: [{ length_s: 8, samples: 20, dropped: 7, elapsed_ms: 100, process_ms: 20.25,
	loops_ms: 5 }] }" >bench/measure-periodic.json
jq -n "{ $machine, loads: [{ load: 2, lengths: 16, known: 12, converged: 6, within: 1,
	worst_percent: 5.5 }, { load: 11, lengths: 16, known: 3, converged: 0, within: 0,
	worst_percent: null }] }" >bench/measure-kbest.json
cp bench/measure-kbest.json bench/measure-kbest-counted.json
for part in tools periodic kbest kbest-counted; do
	by_hand bench-measure-$part
done >document
ok "rewrites measurements" write
is "$(lines_of bench-measure-tools)" \
'| work | tool | alone | beside two | error, % |
|---|---|---|---|---|
| counting | perf | cannot be used | cannot be used | - |
| counting | tense | 1.000 loops | 1.063 loops | +6.3 |' "tools"
is "$(lines_of bench-measure-periodic)" \
'| counting for | samples | dropped | deviation of elapsed time, all samples, ms | of process time by EMP, ms | of reference loops by EMP, ms |
|---|---|---|---|---|---|
| 8 s | 20 | 7 | 100.0 | 20.3 | 5.0 |

`tense daemons learn` named the periodic process, with a cutoff of 36 ms, and its period of 20.00 s +- 0.50, in 240 s.' \
	"a periodic process"
is "$(lines_of bench-measure-kbest)" \
'| load | cost known | of these, converged | of these, off by at most 0.1 % | the worst, % |
|---|---|---|---|---|
| 2 | 12 of 16 | 6 | 1 | 5.50 |
| 11 | 3 of 16 | 0 | 0 | - |' "K-best"
is "$(lines_of bench-measure-kbest-counted)" "$(lines_of bench-measure-kbest)" \
	"the same with instructions counted"

jq -n "{ $machine, samples: 1000, cases: [
	{ processes_per_core: 1, work: \"300 us\", closest: \"Levy\", anderson_darling: 44 },
	{ processes_per_core: 1, work: \"5 ms\", closest: \"Gumbel\", anderson_darling: 10.4 },
	{ processes_per_core: 5, work: \"5 ms\", closest: \"Gumbel\", anderson_darling: 1.625 }] }" \
	>bench/noise-distances.json
by_hand bench-noise >document
ok "rewrites distributions" write
is "$(lines_of bench-noise)" \
'| work | Levy, truncated | Gaussian | Gumbel | Cauchy | statistic of the closest, least and most |
|---|---|---|---|---|---|
| 300 us | 1 | 0 | 0 | 0 | 44.0, 44.0 |
| 5 ms | 0 | 0 | 2 | 0 | 1.63, 10.4 |' "how often each is the closest"
ok "a time is of so many samples" grep -q '; 1000 times of each work\.$' document

# The result of bench-cost is committed, so its table must be in step with it.
sed -n '/^<!-- table: bench-cost -->$/,/^<!-- end -->$/p' "$source/docs/benchmarks.md" >document
cp document before
ok "docs/benchmarks.md has the committed costs" write
ok "and they are the present ones (else run: make docs-tables)" cmp before document

for table in parsec-exact-1 parsec-exact-2; do
	sed -n "/^<!-- table: $table -->\$/,/^<!-- end -->\$/p" "$source/docs/accuracy.md"
done >document
cp document before
ok "docs/accuracy.md has the committed predictions of PARSEC" write
ok "and they are the present ones (else run: make docs-tables)" cmp before document

for document in docs/accuracy.md docs/benchmarks.md; do
	names=$(sed -n 's/^<!-- table: \(.*\) -->$/\1/p' "$source/$document")
	ok "$document has tables" [ -n "$names" ]
	is "$(grep -c '^<!-- end -->$' "$source/$document")" "$(wc -l <<<"$names")" \
		"$document: each table has an end"
done

jq -n "{ $machine, version: 1, loads: [
	{ load: 0, rounds: 6, found: 6, above: 1, kbest_ns: 15000, trace_ns: 20000, ratio: 0.75 },
	{ load: 11, rounds: 6, found: 0, above: 0, kbest_ns: null, trace_ns: null, ratio: null }
	] }" >bench/measure-ticks.json
document bench-measure-ticks >document
ok "rewrites the cost of timer interrupts" write
is "$(lines_of bench-measure-ticks)" \
'| other processes | K-best found a cost | the least by K-best, us | the least by trace-activity, us | ratio | K-best above it |
|---|---|---|---|---|---|
| 0 | 6 of 6 | 15.0 | 20.0 | 0.75 | 1 |
| 11 | 0 of 6 | - | - | - | 0 |' "costs, and none"

document parsec-exact-2 >document
PARSEC_DATA=$tmp kept "no result of PARSEC" "parsec-exact-2.json is missing; run: CPUS=2 make parsec PARSEC=DIR"
jq -n "{ $machine, version: 1, cpus: 2, cases: [
	{ name: \"a-b\", function: \"f\", change: \"c\", share: 40.04,
	  cut: { value: 25, low: 24, high: 26 }, predicted: { value: 10, low: 9, high: 11 },
	  true: { value: 12.5, low: 12, high: 13 }, error: { value: -2.5, low: -4, high: -1 },
	  verdict: \"not-converged\", published: 15.8 },
	{ name: \"a-c\", function: \"g\", change: \"d\", share: 1,
	  cut: { value: -1, low: -2, high: 0 }, predicted: { value: 0, low: 0, high: 0 },
	  true: { value: -0.5, low: -1, high: 0 }, error: { value: 0.5, low: 0, high: 1 },
	  verdict: \"prediction\", published: null } ] }" >parsec-exact-2.json
ok "rewrites predictions of PARSEC" env PARSEC_DATA="$tmp" \
	"$source/tests/accuracy/tables" "$tmp" document
is "$(lines_of parsec-exact-2)" \
'| case | function | patch | time in it, % | it takes less, % | predicted, % faster | true, % faster | difference, points | its 95 % interval | verdict | published, % faster |
|---|---|---|---|---|---|---|---|---|---|---|
| `a-b` | `f` | c | 40.0 | 25.00 [24.00 26.00] | 10.00 [9.00 11.00] | 12.50 [12.00 13.00] | -2.50 | -4.00 to -1.00 | not converged | 15.8 |
| `a-c` | `g` | d | 1.0 | -1.00 [-2.00 0.00] | 0.00 [0.00 0.00] | -0.50 [-1.00 0.00] | +0.50 | 0.00 to +1.00 | prediction | - |

2 predictions: median difference 1.50 points, worst 2.50 points.' "a row for each case, with the published gain"

done_testing
