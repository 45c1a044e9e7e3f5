#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# `tense profile --deterministic`: an answer is like the other to the last byte, on a busy
# machine and however many guests run at the same time, and it is the right one.
. "$source/tests/lib/tap.sh"
. "$source/tests/lib/load.sh"

program=$out/accuracy/several
in_tmp -p /var/tmp
trap 'unload; rm -rf "$tmp"' EXIT
mkdir cwd
cd cwd || exit 1

# NAME OPTION...
profile() {
	local name=$1

	shift
	"$tense" profile --deterministic --quiet --json answer.json "$@" \
		>"$tmp/$name.out" 2>"$tmp/stderr"
	profile_status=$?
	unwrap "$tmp/stderr"
	mv -f answer.json "$tmp/$name.json" 2>/dev/null
	return "$profile_status"
}
work=("$program" serial --length 10)

# The time of a run, in instructions: ARGUMENT...
elapsed() {
	"$tense" run --deterministic --json "$tmp/run.json" "${work[@]}" "$@" >/dev/null
	jq .experiment.elapsed_virtual_ns "$tmp/run.json"
}

# NAME FILTER: of its JSON
check() {
	jq -e "$2" "$tmp/$1.json" >/dev/null
}

question=(--time 1s --only 'f2,f1,f3' --prepare 'echo prepared >written')
profile one --engine local:1 "${question[@]}" -- "${work[@]}"
is $? 0 "an answer"
is "$(cat "$tmp/stderr")" "" "without a message"
is "$(jq -r '[.functions[].name] | join(" ")' "$tmp/one.json")" "f1 f2 f3" \
	"the functions are in order"
ok "the first is apart from the second" check one \
	'[.functions[].half] | .[0].low > .[1].high'
ok "nothing of the host is in it" check one \
	'.environment | .host == null and .date == null and .load == null'
ok "no control variate is used" check one '[.functions[].control] == ["none", "none", "none"]'
ok "the files of its runs are dropped" [ ! -e written ]
whole=$(elapsed)
for function in f1 f2 f3; do
	half=$(elapsed --cut "$function:50")
	ok "$function gains what it really gains, within 0.3 points" check one \
		"[.functions[] | select(.name == \"$function\").half.gain_percent -
		 100 * (1 - $half / $whole)] | .[0] > -0.3 and .[0] < 0.3"
done

load
profile two --engine local:2 "${question[@]}" -- "${work[@]}"
unload
is $? 0 "an answer of two guests at the same time on a busy machine"
ok "it is the same" cmp "$tmp/one.json" "$tmp/two.json"
ok "so is the table" cmp "$tmp/one.out" "$tmp/two.out"
profile other --seed 2 "${question[@]}" -- "${work[@]}"
is $? 0 "an answer with another seed"
ok "it has other runs" sh -c '! cmp -s "$1" "$2"' sh "$tmp/one.json" "$tmp/other.json"

# A survey finds the functions. The program is short, so that --time 1s suffices for all.
profile survey --time 1s -- "$program" serial --length 2
is $? 0 "an answer without names of functions"
"$tense" profile --deterministic --time 1s --json answer.json -- "$program" serial --length 2 \
	>/dev/null 2>&1
ok "is the same again, without --quiet" cmp "$tmp/survey.json" answer.json
ok "main is nearly the whole program" check survey \
	'[.functions[] | select(.name == "main").why] == ["whole-program"]'

# R13: a survey is not charged to threads that block often.
"$tense" run --deterministic --json "$tmp/plain.json" -- "$program" lock --length 20 >/dev/null
"$tense" profile --deterministic --survey-only --quiet --json "$tmp/survey.json" -- \
	"$program" lock --length 20 >/dev/null
ok "a survey costs the program at most 0.2 % of its time" jq -e --slurpfile plain "$tmp/plain.json" \
	'.survey.charged_virtual_ns / $plain[0].experiment.cpu_virtual_ns - 1 | fabs < 0.002' \
	"$tmp/survey.json"

# The preparation makes the input, which cannot be packed. The race does not see the survey's
# own files.
profile folded --time 1s --prepare 'echo >made' --input made --file "$program" --only printf --folded folded.txt \
	--show-output -- sh -c 'echo "[[" *; exec "$0" serial --length 10' "$program"
is $? 0 "an answer with the stacks of the survey"
ok "which are there" [ -s folded.txt ]
ok "the output of the runs is shown" grep -q '^\[\[' "$tmp/folded.out"
ok "and they do not see the stacks" sh -c "! grep -q 'folded.txt' \"\$1\"" sh "$tmp/folded.out"
rm -f folded.txt
profile ended --for 1s --progress f1 -- "${work[@]}"
is $? 125 "a survey that is to be ended"
ok "is told, and what to do" grep -q 'as --for asks: name functions with --only' "$tmp/stderr"

# Threads on two CPUs.
profile threads --cpus 2 --time 1s --only locked,outside -- "$program" lock --length 10
is $? 0 "an answer for two CPUs"
profile again --cpus 2 --time 1s --only locked,outside -- "$program" lock --length 10
ok "is the same each time" cmp "$tmp/threads.json" "$tmp/again.json"

profile failed --only f1 -- "$program" serial --no-such-option
is $? 1 "a command that fails"
ok "is told" grep -q 'exit status was' "$tmp/stderr"
profile from --from "$tmp/one.json"
is $? 125 "--from runs nothing"
ok "is told" grep -q -- '--deterministic cannot be used with --from' "$tmp/stderr"
done_testing
