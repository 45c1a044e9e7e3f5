#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# `tense trace` of real programs: what is recorded is what the kernel charged,
# and all of it, or it is said that some is missing.
# shellcheck disable=SC2016 # for jq, and for the shell in the guest
. "$source/tests/lib/tap.sh"

speeds=$out/workloads/speeds
in_tmp -p /var/tmp

trace() {
	"$tense" trace --backend $backend "$@"
}

# FILTER FILE WHAT: jq says true
holds() {
	ok "$3" jq -e "$1" "$2" >/dev/null
}

# Lists the file's events of one name: NAME
of='def of(name): [.traceEvents[] | select(.name == name)];'

if [ $backend = qemu ]; then
	if [ "$(nproc)" -lt 2 ]; then
		skip "two CPUs: this machine has one"
		done_testing
	fi
	trace --cpus 2 -o in-step.svg -o in-step.json --json t.json --quiet -- \
		"$speeds" 100,50 200
	is "$?" 0 "two threads on two CPUs"
	holds '.cpus == 2 and .lost_events == 0' t.json "which both run one"
	holds '.window_ns == 500000' t.json "in a window of 500 us"
	holds '[.threads[].gated_ns] | add > 0' t.json "are kept in step"
	holds "$of"' of("gated") | length > 0 and all(.dur > 0)' in-step.json \
		"which is recorded"
	holds "$of"' [of("thread_name")[].args.name] |
		index("CPU 0") != null and index("CPU 1") != null' \
		in-step.json "on tracks of two CPUs"
	holds '[.threads[1:][] | .virtual_ns == .recorded_virtual_ns] | all' \
		t.json "what the kernel charged is recorded to the ns"
	ok "a picture" xmllint --noout in-step.svg
	is "$(grep -c '<polygon class="window"' in-step.svg)" 1 "with the window"
	ok "and gates" grep -q 'class="gated" fill-opacity' in-step.svg
	trace --cpus 2 --window 100ms -o apart.json --axis virtual --json t.json \
		--quiet -- "$speeds" 100,50 60
	holds '.window_ns == 100000000' t.json "another window"
	holds '.otherData.axis == "virtual time"' apart.json "in virtual time"
	done_testing
fi

# In place of the command.
trace -- sh -c 'cat; echo err >&2; exit 7' <<<in >stdout 2>stderr
is "$?" 7 "the command's exit status"
is "$(cat stdout)" in "its input and output"
is "$(grep -cx err stderr)" 1 "and errors"
is "$(sed -n 's/^ *[0-9]* *\([a-z]*\) *100 %.*/\1/p' stderr | sort | xargs)" \
	"cat sh" "a table of its threads"
is "$(grep -o '^  trace\.[a-z]*' stderr | xargs)" "trace.svg trace.json" \
	"the names of the files"
ok "the picture in the current directory" xmllint --noout trace.svg
ok "and the trace" jq -e '.traceEvents | length > 20' trace.json >/dev/null
trace --quiet -o x.svg -- sh -c 'kill $$' 2>stderr
is "$? $(cat stderr)" "143 " "a signal; --quiet"
echo old >old.json
trace -o y.svg -o old.json nothing-by-this-name 2>stderr
is "$? $(cat stderr)" "127 tense: nothing-by-this-name: command not found in PATH: check its spelling, install it, or give its path" \
	"a command that is not there"
ok "leaves no picture" test ! -e y.svg
is "$(cat old.json)" old "and the old trace"
ln -s /dev/full full.svg
trace --quiet -o full.svg true 2>stderr
is "$? $(cat stderr)" "125 tense: full.svg: No space left on device" \
	"a full disk"

# R1, by what each slice ran, without Tense's calls, and was charged.
cat >spin.pl <<'END'
open my $device, "+<", "/dev/tense" or die "$!";
sub spin { my $n = 0; my $end = (times)[0] + 0.1;
	   do { $n++ for 1 .. 100000 } until (times)[0] >= $end }
for (50, 200, 100) { syswrite $device, $_ or die "$!"; spin }
END
trace --quiet -o rate.json --json t.json perl spin.pl
is "$?" 0 "a program that changes its percent"
holds "$of"' [.traceEvents[] | select(.name | test("^percent ")) |
	.args.value] == [50, 200, 100]' rate.json "its changes are marked"
for percent in 50 200 100; do
	holds "$of"' (of("percent '$percent'")[0].args.real_ns) as $from |
		([.traceEvents[] | select(.name | test("^percent ")) |
		  .args.real_ns | select(. > $from)] + [1e18] | min) as $to |
		[of("running")[].args | select(.real_from_ns >= $from and
			.real_to_ns <= $to and .charged_ns > 0) |
			.ran_ns -= .own_ns] |
		(map(.ran_ns) | add) as $ran |
		([.[] | select(.charged_ns * '$percent' / 100 / .ran_ns - 1 |
			       fabs < 0.0001) | .ran_ns] | add) > 0.9 * $ran and
		$ran > 20000000' \
		rate.json "R1: at $percent, all is charged at $percent"
done

trace --quiet --cpus 1 -o speeds.svg -o speeds.json --json t.json "$speeds" 100,50 60
holds '[.threads[].name] == ["thread A", "thread B"]' t.json "two threads"
holds '[.threads[].percents[0]] == [100, 50]' t.json "at two percents"
holds '.cpus == 1 and .machine.cpus == 1 and .lost_events == 0 and .status == 0' t.json "on one CPU"
holds '.threads[1] | .virtual_ns == .recorded_virtual_ns' t.json \
	"what the kernel charged is recorded to the ns"
holds '.threads[0] | .virtual_ns - .recorded_virtual_ns |
	fabs < 2000000' t.json "of the first thread, from when it was the program"
holds "$of"' [.traceEvents[] | select(.ph == "X" and .pid == 4194305) |
	.tid] | unique == [0]' speeds.json "both on one track"
is "$(grep -c 'class="line s' speeds.svg)" 2 "two lines"
is "$(grep -c 'class="gated"\|class="window"' speeds.svg)" 0 \
	"and no gate on one CPU"

# Waits. The host may delay the program between its call of sleep and the block. The block
# is then shorter than the sleep. It is longer by as much as the clock was ahead of the charged
# time at the call, which is at most 2 ms.
trace --quiet -o sleep.json --json t.json sleep 0.05
deadline="$of"' of("deadline")[-1].args.virtual_ns as $deadline |
	([of("running")[].args.virtual_from_ns] | min) as $began |'
holds "$deadline"' $deadline >= $began + 50000000' sleep.json \
	"a sleep of 50 ms has a deadline in virtual time"
holds "$deadline"' [of("blocked")[].args | select(.virtual_from_ns < $deadline and
	.virtual_to_ns >= $deadline and .virtual_from_ns >= $deadline - 52000000)] |
	length == 1' sleep.json "which is 50 ms after the call, and ends the block"
trace --quiet -o virtual.json --axis virtual sleep 0.05
holds "$of"' of("blocked") | length > 0 and all(.[];
	(.dur * 1000 | round) == .args.virtual_to_ns - .args.virtual_from_ns)' \
	virtual.json "on a virtual axis, blocks are as long as in virtual time"

# tense reports lost events.
cat >ping-pong.pl <<'END'
pipe my $r1, my $w1; pipe my $r2, my $w2;
if (!fork) { for (1 .. 6000) { sysread $r1, $b, 1; syswrite $w2, "x" } exit }
for (1 .. 6000) { syswrite $w1, "x"; sysread $r2, $b, 1 }
wait;
END
trace --quiet --buffer 1 -o lost.svg --json t.json perl ping-pong.pl 2>stderr
is "$?" 0 "more events than there is room for"
unwrap stderr
lost=$(jq .lost_events t.json)
ok "are counted" [ "$lost" -gt 0 ]
is "$(cat stderr)" "tense: $lost events were lost, and the end of the trace is missing: use a larger --buffer" \
	"and told of"
is "$(grep -c "$lost events were lost" lost.svg)" 1 "in the picture too"
holds '.threads | all(.recorded_virtual_ns < .virtual_ns)' t.json \
	"where the account is still complete"

# A kernel with the module: that of a guest.
if [ "$(id -u)" = 0 ]; then
	native() {
		"$tense" run --backend uml --device -- "$@"
	}
	native sh -c 'mount -t tracefs none /sys/kernel/tracing
		"$@"; echo $? $(ls /sys/kernel/tracing/instances)' sh \
		"$tense" trace --quiet -o native.svg --json t.json sh -c 'exit 5' \
		>stdout
	is "$(cat stdout)" 5 "on a native kernel, where nothing stays behind"
	holds '.backend == "native" and .lost_events == 0' t.json "the same"
	native "$tense" trace --quiet -o native.json "$speeds" 100,50 20
	holds "$of"' of("running") | length > 2' native.json \
		"without a file system for it, too"
else
	skip "the native back end: only root can trace"
fi
done_testing
