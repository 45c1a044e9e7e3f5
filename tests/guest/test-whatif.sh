#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# tense whatif as a user runs it: in a guest that it boots, on a program whose
# function it finds by name.
. "$source/tests/lib/tap.sh"
. "$source/tests/lib/processes.sh"

program=$out/accuracy/serial
in_tmp -p /var/tmp

whatif() {
	"$tense" whatif --backend uml "$@" 2>stderr
	whatif_status=$?
	unwrap stderr
	return "$whatif_status"
}

mkdir tmp
export TMPDIR=$tmp/tmp
whatif --quiet --func hot --faster 20% --stats --seed 1 --json a.json --csv a.csv \
	--report a.html -- "$program" --length 40 >stdout
is $? 0 "an answer"
is "$(cat stderr)" "" "without a message"
ok "is a table" grep -Eq '^  faster 20% +80 +' stdout
ok "that says how" grep -q "scaled   hot in $program: in-process" stdout
is "$(wc -l <a.csv)" 2 "the CSV is there"
ok "and the page" grep -q '</html>' a.html
ok "and the JSON" jq -e . a.json >/dev/null
is "$(jq -r '[.environment.backend, .environment.cpus] | @text' a.json)" \
	"[\"uml\",$TENSE_CPUS]" "from a guest with $TENSE_CPUS CPUs"
ok "and its scheduler" jq -e '.environment | .scheduler ==
	if .kernel | test("^Linux 6[.]1[.]") then "CFS" else "EEVDF" end' a.json >/dev/null
ok "in which runs are whole rounds" jq -e '(.samples | length) % 3 == 0 and
	(.samples | length) == 3 * (.rounds + 1) and .rounds >= 5' a.json \
	>/dev/null
is "$(jq -c '[.samples[] | select(.condition > 0) | .slots[] |
	select(.slot == 1) | .calls] | unique' a.json)" '[80]' \
	"each call was counted"
is "$(jq -c '[.samples[] | select(.condition == 0) | .slots | length] | unique' \
	a.json)" '[1]' "the baseline has no instruments"
ok "what entering and leaving it costs is known" jq -e '[.samples[] |
	select(.condition > 0) | .pair_ns] | min > 3 and max < 100000' \
	a.json >/dev/null
ok "the function has its share" jq -e '.results[0].share > 0.2 and
	.results[0].share < 0.8' a.json >/dev/null
# One thread that never waits: nothing but its share matters.
ok "and the change is by that" jq -e '.results[0] |
	(.change.value - .amdahl) < 3 and (.change.value - .amdahl) > -3' \
	a.json >/dev/null
is "$(jq -c '.patches[0] | [.patched, .symbol, .mechanism]' a.json)" \
	'[true,"hot","in-process"]' "what was scaled is told"
is "$(jq -c .asked.cuts a.json)" '[0.2]' "and what was asked"
is "$(ls tmp)" "" "no file stays behind"

# Batches of rounds in two guests at the same time.
whatif --quiet --engine local:2 --func hot --faster 20% --seed 1 --max-runs 8 \
	--precision 0.01 --json d.json -- "$program" --length 10 >stdout
is $? 0 "an answer of two guests"
is "$(cat stderr)" "" "without a message"
is "$(jq -c '[.rounds, .asked.max_runs, .environment.backend]' d.json)" '[8,8,"uml"]' \
	"it has all rounds of all batches"
ok "rounds and orders are in sequence" jq -e '
	[.samples[].round] == [range(27) | . / 3 | floor] and
	([.samples[].order] | sort) == [range(27)]' d.json >/dev/null
ok "batches ran at the same time" jq -e '[.samples[] | select(.round > 0) |
	[.round, .began_unix_ns, .ended_unix_ns]] | . as $all |
	any(.[]; . as $a | any($all[]; .[0] != $a[0] and .[1] < $a[2] and .[2] > $a[1]))' \
	d.json >/dev/null
is "$(ls tmp)" "" "no file stays behind"
whatif --engine local:2 --func "$program:hot@125" -- sh -c 'echo why >&2; exit 3'
is "$?" 1 "a command that fails in two guests"
is "$(grep -c 'the command.s exit status was 3' stderr)" 1 "is told once"
kernels() { # PID: the guests' kernels, whose parents are children of tense
	for job in $(ps -o pid= --ppid "$1"); do
		ps -o pid=,comm= --ppid "$job"
	done | sed -n 's/ linux$//p'
}
# SIGNAL VICTIM: sends it to tense, or to the kernel of one of two guests that run.
end_two() {
	"$tense" whatif --backend uml --engine local:2 --func hot --faster 20% -- \
		"$program" --length 100000 2>stderr &
	main=$!
	until [ "$(kernels "$main" | wc -l)" = 2 ]; do sleep 0.1; done
	processes=$(descendants "$main")
	case $2 in
	tense) kill "-$1" "$main" ;;
	kernel) kill "-$1" "$(kernels "$main" | head -n 1)" ;;
	esac
	wait "$main"
	end_status=$?
	unwrap stderr
	# shellcheck disable=SC2086 # one word per process
	ok "no process stays behind" until_true all_ended $processes
	is "$(ls tmp)" "" "and no file"
}
end_two TERM tense
is "$end_status" 143 "a signal ends both guests"
end_two KILL kernel
is "$end_status" 125 "a killed guest ends the other one"
is "$(grep -c '^tense: the kernel was killed: Killed' stderr)" 1 "and is told once"
"$tense" whatif --backend native --engine local:2 --func hot --faster 20% -- "$program" 2>stderr
is $? 125 "two guests of a back end without guests"
unwrap stderr
ok "are refused" grep -q 'the back end native has no guests' stderr

# A command may end by its own status when it is interrupted, as pigz does.
cat >trap.sh <<'END'
trap 'exit 4' INT
>started
while :; do :; done
END
env --default-signal=INT "$tense" whatif --backend uml --func libc:malloc --faster 20% -- \
	sh trap.sh 2>stderr &
main=$!
until_true [ -e started ]
kill -INT $main
wait $main
is $? 130 "a signal that the command catches"
unwrap stderr
ok "is told" grep -q 'interrupted by signal 2' stderr
ok "and is no failure of the command" sh -c '! grep -q "exit status" stderr'

# A number that is the same in each run, whatever the clock says.
whatif --func hot@200 --metric 'stdout:^hot (\d+)' --json - -- "$program" \
	--length 10 >b.json
is $? 0 "a number from the output"
is "$(jq -c '.results[0] | [.change.value, .change.low, .change.high, .verdict]' \
	b.json)" '[0,0,0,"no-effect"]' "that does not change"
ok "the table is beside it" grep -q '^  hot@200 ' stderr
is "$(grep -c '^tense: whatif: about 18 runs in rounds of 3' stderr)" 1 \
	"what is ahead is said without a terminal"
is "$(grep -Ec '^tense: whatif: a round took [0-9.]+ s, so that at least [0-9]+ s are left' \
	stderr)" 1 "and how long it takes"

# One that differs in each.
cat >random.sh <<'END'
"$1" --length 5 >/dev/null
echo "number $((1000 + RANDOM))"
END
whatif --func "$program:hot" --faster 20% --metric 'stdout:^number (\d+)' \
	--max-runs 7 -- bash random.sh "$program" >stdout
is $? 0 "a number that scatters"
ok "more rounds are said to follow" grep -Eq \
	'^tense: whatif: intervals are wider than --precision: about [0-9]+ more runs follow, about [0-9]+ s' \
	stderr
# In one of twenty runs such a number differs in the null experiment: whatif says that.
ok "and that there were not enough" grep -Eq \
	'note: 1 of 1 intervals are wider than --precision 1 after 7 rounds: raise --max-runs for more|not trusted: the instruments alone change it' \
	stdout

# The options of tense run hold in the guest. The script prints the window only
# if the time of day is real while it sleeps. At 50 percent CPU time is twice
# the real one.
cat >choices.sh <<'END'
began=$EPOCHSECONDS
"$1" --length 1 >/dev/null
sleep 1000
[ $((EPOCHSECONDS - began)) -ge 900 ] ||
	echo "window $(cat /sys/module/tense/parameters/window)"
END
whatif --quiet --func "$program:hot@200" --percent 50 --clock monotonic \
	--idle skip --window 20us --metric 'stdout:^window (\d+)' --max-runs 5 \
	--json c.json -- bash choices.sh "$program" >/dev/null
is "$? $(cat stderr)" "0 " "options of tense run"
is "$(jq -c '[.samples[].metric] | unique' c.json)" '[20000]' \
	"set the window and the clocks"
ok "skip idle time" jq -e '[.samples[] | .elapsed_virtual_ns >= 1e12 and
	.elapsed_real_ns < 1e12] | all' c.json >/dev/null
ok "and set the percent" jq -e '[.samples[] | select(.condition == 0) |
	.cpu_virtual_ns / .cpu_real_ns | . > 1.99 and . < 2.01] | all' c.json \
	>/dev/null
is "$(jq -c '.asked | [.percent, .clock, .order, .idle, .window_ns]' c.json)" \
	'[50,"monotonic","ordered","skip",20000]' "which the answer tells"

# Latencies, beside those that the program itself has seen in each run. All of
# it is hot(), of which the program is a half.
latency=$out/tests/guest/latency
predict_latency() { # NAME ARGUMENT...
	name=$1
	shift
	whatif --func hot --faster 50% --latency request,reply --show-output \
		--precision 3 --max-runs 12 --json "$name.json" -- \
		"$latency" "$@" >"$name.out"
}
# Nothing but the reading of two clocks lies between them. Between these, the host may
# steal time, and another thread may run. In most runs that cancels out.
program_sees_it() { # NAME
	jq -en --slurpfile a "$1.json" --slurpfile b "$1.seen" '[[$b, ($a[0].samples |
		sort_by(.order) | map(.metric))] | transpose[] | .[1] / .[0]] |
		sort | .[length / 2 | floor] | . > 0.97 and . < 1.03' >/dev/null
}
latency_of() { # NAME WHAT ARGUMENT...
	name=$1 what=$2
	shift 2
	predict_latency "$name" "$@"
	is $? 0 "a latency $what"
	sed -n 's/^latency //p' "$name.out" >"$name.seen"
	is "$(jq '.samples | length' "$name.json")" "$(wc -l <"$name.seen")" \
		"is measured in each run"
	is "$(jq -c '[.samples[].latency | [.from, .to, .pairs, .lost]] |
		unique' "$name.json")" '[[200,200,200,0]]' "of each call"
	for _ in 1 2 3; do
		program_sees_it "$name" && break
		predict_latency "$name" "$@"
		sed -n 's/^latency //p' "$name.out" >"$name.seen"
	done
	ok "is what the program sees" program_sees_it "$name"
}
latency_of one "in one thread" thread 200
# A prediction for the run would be half of that: hot() is half of the run. A busy
# host steals time from some conditions more than from others, and not each time.
all_in_function() {
	jq -e '.results[0].change |
		.low < -47 and .high > -53 and .high < -30' one.json >/dev/null
}
for _ in 1 2 3; do
	all_in_function && break
	predict_latency one thread 200
done
ok "is all in the function" all_in_function
ok "which is half of the run" jq -e '.results[0].share < 0.7' one.json \
	>/dev/null
ok "with the table" grep -Eq '^  request to reply, mean +[0-9]+' one.out
latency_of two "from thread to thread" threads 200 3
latency_of three "from process to process" processes 200
ok "is in the function, more or less" jq -e \
	'.results[0].change.value < -30' three.json >/dev/null
# hot() is a slot, and both ends of a latency.
whatif --func hot@200 --latency hot,hot --max-runs 5 --json four.json -- \
	"$latency" thread 50 >/dev/null
is "$?" 0 "from each call of a function to its next"
is "$(jq -c '[.samples[] | [.latency.from, .latency.pairs] +
	[.slots[] | select(.slot == 1) | .calls]] | unique' four.json)" \
	'[[50,49],[50,49,50]]' "is counted once"
whatif --func hot@200 --latency reply,request --max-runs 5 -- \
	"$latency" thread 1
is "$?" 1 "a reply that no request follows"
ok "is told" grep -q 'no call of the second function came after one of the first' \
	stderr
whatif --func hot@200 --latency "$program:hot,reply" --max-runs 5 -- \
	"$latency" thread 1
is "$?" 1 "a function that is in another program"
ok "is told as well" grep -q 'serial:hot: its calls cannot be seen' stderr

# tense whatif reports runs that fail.
whatif --func "$program:hot@125" -- sh -c 'echo why >&2; exit 3'
is "$?" 1 "a command that fails"
ok "is told by its run" grep -Eq \
	'run 1 \(.*, round 0\): the command.s exit status was 3' stderr
ok "with what it said" grep -q "  why" stderr
whatif --func "$program:hot@125" -- sh -c 'kill -SEGV $$'
is "$?" 1 "one that dies"
ok "by its signal" grep -q 'ended by signal 11' stderr
whatif --func hot@125 --prepare 'exit 4' -- "$program"
is "$?" 1 "a preparation that fails"
ok "is told" grep -q 'prepare failed' stderr
whatif --func "$program:hot@125" -- true
is "$?" 1 "a command without the function"
ok "is told" grep -q 'nothing was scaled' stderr
whatif --func hot@125 --metric 'stdout:speed (\d+)' -- "$program" --length 5
is "$?" 1 "a metric that is not printed"
ok "is told" grep -q "nothing matches" stderr

# Each run is prepared and has the same input, which the preparation makes.
whatif --func "$program:hot@125" --prepare 'echo x >>prepared; echo data >input' \
	--input input --show-output --max-runs 5 -- \
	sh -c "cat; '$program' --length 5" >stdout
is "$?" 0 "prepared, with input and output"
is "$(wc -l <prepared)" "$(grep -c '^data$' stdout)" "as often as it ran"
ok "which was in whole rounds" [ $(($(wc -l <prepared) % 3)) = 0 ]
done_testing
