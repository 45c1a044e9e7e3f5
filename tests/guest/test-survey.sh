#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# `tense profile --survey-only`: a program whose functions take known shares of the
# charged time, in threads and children, with symbols and without.
# shellcheck disable=SC2016 # for jq
. "$source/tests/lib/tap.sh"

shares=$out/tests/guest/shares
in_tmp -p /var/tmp

survey() {
	"$tense" profile --survey-only --backend $backend "$@"
}

# FILTER FILE WHAT: jq says true
holds() {
	ok "$3" jq -e "$1" "$2" >/dev/null
}

# Percent of the time in work() that is in a function: NAME
share='def time(name): [.survey.functions[] | select(.name == name and
		(.object | endswith("shares")))][0].inclusive_ns;
	def share(name): 100 * time(name) / time("work");
	def near(value): . > value - 1 and . < value + 1;'

survey --json --folded stacks.txt --speedscope stacks.json -- "$shares" 50 >s.json
is "$?" 0 "a survey"
holds ".machine.cpus == $TENSE_CPUS" s.json "the number of CPUs is told"
holds '.version == 1 and .status == 0 and .survey.lost_samples == 0' s.json \
	"loses no sample"
for function in ten,10 twenty,20 thirty,30 forty,40 outer,30; do
	holds "$share"' share("'"${function%,*}"'") | near('"${function#*,}"')' s.json \
		"${function%,*}() has ${function#*,} % of the time"
done
holds "$share"' (time("waiting") // 0) < time("ten") / 4' s.json \
	"to wait is not charged"
holds "$share"' time("in_thread") / time("work") | . > 0.32 and . < 0.35' s.json \
	"a third of the time is in a thread"
# Two periods for each of the program's three tasks, and the time before the program.
holds '.survey | .charged_virtual_ns - .sampled_ns |
	fabs < 10 * 1000000 + 0.002 * 15000000000' s.json \
	"the samples stand for the charged time"
holds '[.survey.functions[] | select(.name == "forty")][0] | .scalable and
	(.spec | endswith("shares:=forty"))' s.json "whatif can scale forty()"
holds '.survey.functions | all(.scalable == (.obstacle == null)) and
	all(.self_ns <= .inclusive_ns)' s.json "obstacles are told"
holds '.survey | [.functions[].self_ns] | add' s.json "functions have time"
holds '([.survey.functions[].self_ns] | add) == .survey.sampled_ns' s.json \
	"each sample counts for one function"
holds '.survey | .attributed_ns >= 0.999 * .sampled_ns' s.json \
	"99.9 % is attributed to functions"

is "$(awk '{ ns += $NF } END { printf "%.0f", ns }' stacks.txt)" \
	"$(jq .survey.sampled_ns s.json)" "folded stacks have all the time"
ok "and the callers, from the beginning on" grep -q \
	'^shares;_start;.*;main;work;outer;twenty;' stacks.txt
holds '[.profiles[].weights | add] | add' stacks.json "speedscope has weights"
is "$(jq '[.profiles[].weights | add] | add' stacks.json)" \
	"$(jq .survey.sampled_ns s.json)" "all of them"
holds '(.shared.frames | length) as $n | [.profiles[].samples[][]] |
	all(. >= 0 and . < $n)' stacks.json "with frames that are there"

# A preparation makes the input, and takes much time.
survey --json --prepare "'$shares' 5 && echo data >made" --input made -- \
	sh -c '[ "$(cat)" = data ] && exec "$0"' "$out/tests/guest/giver" >prepared.json
is "$?" 0 "a survey after a preparation"
holds '.status == 0' prepared.json "which made the input"
holds '[.survey.functions[].object | endswith("giver")] | any' prepared.json \
	"has samples of the command"
holds '[.survey.functions[].object | endswith("shares")] | any | not' prepared.json \
	"but none of the preparation"
survey --prepare 'exit 4' -- "$shares" 1 >failed.txt 2>failed.err
is "$?" 1 "a preparation that fails"
ok "is told" grep -q 'the command of --prepare failed: its exit status was 4' failed.err
survey --prepare true --input absent -- "$shares" 1 >absent.txt 2>absent.err
is "$?" 125 "a preparation that does not make the input"
ok "is told" grep -q '^tense: absent: No such file' absent.err
# Its parent is what starts the command, here or in the guest, where it is root's.
if [ "$(id -u)" = 0 ]; then
	survey --prepare 'trap "" INT; kill -INT $PPID; sleep 0.1' -- "$shares" 1 \
		>ended.txt 2>ended.err
	is "$?" 130 "an interrupt that the preparation ignores"
	is "$(cat ended.txt ended.err)" "" "ends it all without a table"
fi
# Standard input of tense is one, too.
echo data | survey --json --input /dev/stdin -- sh -c '[ "$(cat)" = data ] && exec "$0"' \
	"$out/tests/guest/giver" >given.json
is "$(jq .status given.json)" 0 "--input may be any file that can be opened here"

# Its main thread computes for 2 ms, and then wakes the other one, 50 times.
survey --json -- "$out/tests/guest/giver" >waits.json
is "$?" 0 "a program whose threads wait"
holds '[.survey.blocks[] | select(.thread == "taker")][0] |
	.function == "take" and .callee == "pthread_cond_wait" and
	.reason == "lock" and .woken_by == "thread" and
	.waker_function == "give" and .waker_thread == "giver"' waits.json \
	"the survey shows where a thread waits, and who wakes it"
holds '[.survey.blocks[] | select(.thread == "taker") | .ns] | add |
	. > 80000000 and . < 200000000' waits.json "for how long"
holds '.survey.blocks[] | select(.function == "main" and .reason == "sleep") |
	.woken_by == "timer" and .waker_function == null' waits.json "and its sleep"
holds '.survey | ([.blocks[].ns] | add) == .blocked_ns and .blocked_missing_ns == 0' \
	waits.json "all of them are there"

strip -o bare "$shares"
survey --json -- ./bare 20 >bare.json
is "$?" 0 "a stripped program"
holds '.survey | .attributed_ns >= 0.95 * .sampled_ns' bare.json \
	"95 % is attributed to functions"
# A sample may hit _init(), which has no frame information: it is no function of these.
holds '[.survey.functions[] | select(.object | endswith("bare")) |
	select(.name | startswith("bare+0x")) | select(.inclusive_ns >= 100000000) |
	.scalable] | length >= 5 and all' bare.json \
	"which have no names, but addresses that whatif can scale"

survey -- sh -c 'echo said; exit 3' >output 2>table
is "$?" 3 "the status is the command's"
is "$(cat output)" said "and the output"
ok "the table" grep -q 'samples of' table
survey --json -- sh -c 'echo said' >s.json 2>output
is "$(jq .version s.json) $(cat output)" "1 said" "JSON is alone on standard output"
survey -- ./missing 2>/dev/null
is "$?" 127 "a command that is missing"
"$tense" profile --survey-only --survey-period 99us -- true 2>/dev/null
is "$?" 125 "a period that is too short"
"$tense" profile --survey-only 2>/dev/null
is "$?" 125 "no command"
done_testing
