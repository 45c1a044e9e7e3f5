#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# tense trace-activity for real: what it writes fits together, whatever this
# machine does meanwhile; bad input.
#
# Filters of jq have variables of their own.
# shellcheck disable=SC2016
. "$source/tests/lib/tap.sh"

in_tmp

# STATUS WHAT ARGUMENT...
activity_is() {
	tense_is trace-activity "$@"
}

refused() { # MESSAGE WHAT ARGUMENT...
	message=$1
	what=$2
	shift 2
	activity_is 125 "$what" "$@"
	is "$(cut -c "1-$((${#message} + 23))" stderr)" \
		"tense: trace-activity: $message" "says: $message"
	is "$(cat stdout)" "" "and nothing else"
}

holds() { # TITLE FILTER, of the file j
	ok "$1" jq -e "$2" j >verdict
}

activity_is 0 "two recordings" --duration 100ms --load 0,2 --periods 3 \
	--json=j --csv c --svg s.svg
is "$(jq -c '[.version, .cpu >= 0, .counter.ns > 0, .counter.turn > 0,
	[.recordings[].load]]' j)" '[1,true,true,true,[0,2]]' \
	"the JSON says what was done"
holds "both clocks have a resolution and a latency" '.counter | .gettime,
	(.cycles // .gettime) | .resolution_ns > 0 and .latency_ns > 0'
holds "no recording is shorter than it was to be" \
	'.recordings | all(.ended_early or .duration_ms > 99.9)'
holds "periods follow each other from 0 to the end" '.recordings | all(
	.duration as $whole | .periods | (.[0].start == 0) and
	(.[-1].start + .[-1].duration == $whole) and
	. as $p | all(range(1; length);
		$p[.].start == $p[. - 1].start + $p[. - 1].duration))'
holds "by turns active, first and last" '.recordings | all(.periods |
	(length % 2 == 1) and ([to_entries[] | .value.active == (.key % 2 == 0)] |
	all))'
holds "inactive ones are longer than the threshold" '.counter.threshold as $t |
	.recordings | all(.periods | all(.active or .duration > $t))'
holds "their sum is what is told, of all causes and of each" '.recordings |
	all((.inactive.all.total ==
	     ([.periods[] | select(.active | not) | .duration] | add // 0)) and
	    (.inactive.all.total == .inactive.timer.total +
	     .inactive.process.total + .inactive.other.total) and
	    (.inactive.all.periods == .inactive.timer.periods +
	     .inactive.process.periods + .inactive.other.periods))'
holds "milliseconds are those of the unit" '.recordings | all(.unit_ns as $ns |
	.periods | all((.duration * $ns / 1e6 - .duration_ms | fabs) <
		       1e-6 * (1 + .duration_ms)))'
holds "active ones have no cause, the others have" '.recordings |
	all(.periods | all((.by == null) == .active))'
holds "a timer has an interval that was looked for" '.recordings | all(.timer |
	. == null or (.interval_ms > 0.2 and .interval_ms < 30 and
		      .seen >= 7 and .seen <= .expected))'
# However busy a machine is, two more processes on a CPU get some of it.
holds "others ran beside two of them" \
	'.recordings[1].inactive.process.periods > 0'
is "$(head -1 c)" "load,period,start,start_ms,duration,duration_ms,by" "CSV"
is "$(sed 1d c | awk -F, '{ print $1, $2, $3, $5 }')" \
	"$(jq -r '.recordings[] | .load as $load | .periods | to_entries[] |
		"\($load) \(if .value.active then "A" else "I" end)\(.key / 2 |
		floor) \(.value.start) \(.value.duration)"' j)" "is the same"
ok "the picture is XML" xmllint --noout s.svg
is "$(grep -c 'class="head"' s.svg)" 2 "of both"
is "$(grep -Ec '^  [AI][0-9]+ +[0-9]+ ' stdout)" \
	"$(jq '[.recordings[] | [.periods | length, 6] | min] | add' j)" \
	"the table lists as many as were to be"
ok "a table of each" sh -c "grep -q '^CPU [0-9]*, no load added, ' stdout &&
	grep -q '^CPU [0-9]*, 2 busy processes added, ' stdout"
ok "of causes" grep -q '^  another process  *[0-9]' stdout

activity_is 0 "JSON to standard output" --duration 20ms --json
ok "is all of it" jq -e '.recordings | length == 1' stdout >verdict
activity_is 0 "JSON to a file that is a word of its own" --duration 20ms \
	--json k --periods 0
ok "is there" jq -e '.version == 1' k >verdict
ok "beside the table, without a list" sh -c "grep -q '^  active ' stdout &&
	! grep -q '^  A0 ' stdout"
activity_is 0 "CSV to standard output" --duration 20ms --csv -
is "$(cut -c 1-5 stdout | head -2 | xargs)" "load, 0,A0," "is all of it"
activity_is 0 "a threshold in time" --duration 20ms --threshold 20us --json=j
holds "is one in units of the counter" \
	'.counter | (.threshold * .ns - 20000 | fabs) <= .ns'
activity_is 0 "and in these" --duration 20ms --threshold 50000 --json=j
holds "as it is" '.counter.threshold == 50000'
cpu=$(awk '/Cpus_allowed_list/ { print $2 }' /proc/self/status |
	sed 's/.*[-,]//')
activity_is 0 "on another CPU" --duration 20ms --cpu "$cpu" --json=j
holds "is on that" ".cpu == $cpu"

# The error of clocks.
activity_is 0 "interval error" --interval-error --duration 5ms --load 0,1 \
	--json=j --csv c --svg s.svg
is "$(jq -c '[.errors[] | [.load, .expected_ms, (.measured_ms | length)]]' j)" \
	"[[0,1,5],[0,2,5],[0,5,5],[1,1,5],[1,2,5],[1,5,5]]" \
	"lengths of 1, 2 and 5 ms beside each load"
holds "times(2) counts whole ticks" '.tick_ms as $t | .errors |
	all(.measured_ms[] | (.times / $t | . == floor) and .times >= 0)'
holds "from beginning to end it is not less" '.errors | all(.expected_ms as $e |
	.measured_ms | all(.cycle_counter >= $e * 0.9999))'
# The process clock has what the loop had, and interrupts. It leaves out what a
# host below this machine steals: that spares one of five in each group.
holds "nor by the process clock" '.errors | all(.expected_ms as $e |
	.measured_ms | map(.process_clock) | max >= $e * 0.99)'
holds "means and worst are those of the samples" '.errors | all(
	.expected_ms as $e | .mean_error_ms as $mean | .worst_error_ms as $worst |
	[.measured_ms[].process_clock - $e] |
	((add / length - $mean.process_clock | fabs) < 1e-6) and
	((max_by(fabs) - $worst.process_clock | fabs) < 1e-6))'
is "$(wc -l <c) $(head -1 c)" \
	"31 load,expected_ms,times_ms,user_ms,process_clock_ms,cycle_counter_ms" \
	"CSV"
ok "the picture is XML" xmllint --noout s.svg
is "$(grep -c '^ *[125]  *-*[0-9]' stdout)" 6 "a table of both"

# Without a CPU.
refused "only one of --json, --csv and --svg can be written to -, standard output" \
	"two on standard output" --json --csv -
refused "--cpu 99999: this machine has CPUs 0 to " "no such CPU" --cpu 99999
for cpu in x -1 "" 1x 99999999999; do
	refused "--cpu '$cpu' is not a number from 0 to" "--cpu '$cpu'" \
		--cpu "$cpu"
done
# Bad input.
for time in 0 x "" -1s 1x; do
	refused "--duration '$time' is not a time" "--duration '$time'" \
		--duration "$time"
done
refused "--duration is 3600 s: should be at most 600 s" "for too long" \
	--duration 1h
refused "--duration is 0.0005 s: should be 0.001 s to 10 s" \
	"computations that are too short" --interval-error --duration 0.5ms
for threshold in x "" -1 10m 1e3; do
	refused "--threshold '$threshold' is not a number of " \
		"--threshold '$threshold'" --threshold "$threshold"
done
refused "--threshold 1 is too short: a turn of the loop takes " \
	"a threshold that all turns are over" --threshold 1
refused "--threshold 50ms is longer than all of the time" \
	"one that nothing is over" --threshold 50ms --duration 40ms
for load in x 65 '' '1,' '1,,2' -1; do
	refused "--load '" "--load '$load'" --load "$load"
done
refused "--load 2 is there twice" "a load that is there twice" --load 2,1,2
refused "--load has more than 8 numbers" "too many loads" \
	--load 1,2,3,4,5,6,7,8,9
refused "--periods '-1' is not a number" "--periods '-1'" --periods -1
refused "unknown option '--fast'" "an unknown option" --fast
refused "--csv needs an argument" "an option without its argument" --csv
refused "--svg needs an argument, but '--csv' is an option" \
	"or with an option for that" --svg --csv x
refused "takes no argument 'sleep'" "a command" sleep 1
activity_is 125 "a file that cannot be written" --svg no/such.svg
is "$(cat stderr)" "tense: no/such.svg: No such file or directory: create the directory first" "says so"
echo old >kept
activity_is 125 "a recording that fails" --duration 20ms --threshold 1s \
	--csv kept
is "$(cat kept)" old "leaves the old result"
activity_is 125 "a full disk" --duration 20ms --csv /dev/full
is "$(cat stderr)" "tense: /dev/full: No space left on device" "says so"
activity_is 125 "a full disk for JSON" --duration 20ms --json=/dev/full
is "$(cat stderr)" "tense: /dev/full: No space left on device" "says so"
done_testing
