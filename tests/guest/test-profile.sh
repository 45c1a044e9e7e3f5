#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# tense profile as a user runs it: in a guest that it boots, on programs whose
# functions have known gains.
. "$source/tests/lib/tap.sh"

program=$out/accuracy/several
in_tmp -p /var/tmp

profile() {
	"$tense" profile --backend uml --seed 1 "$@" 2>stderr
	profile_status=$?
	unwrap stderr
	return "$profile_status"
}

hold_shares() { # FILE
	jq -r '.functions[] | select(.half.low < 50 * .share + 1 and
		.half.high > 50 * .share - 1 | not) |
		"# \(.name): \(50 * .share) is not in \(.half)"' "$1" >wrong ||
		echo "# $1 cannot be read" >wrong
	cat wrong >&8
	ok "their intervals hold half of their shares" [ ! -s wrong ]
}

cat >forever.sh <<'END'
while :; do :; done
END
mkdir tmp
export TMPDIR=$tmp/tmp

# One thread that never waits: each function gains its share.
profile --quiet --time 10m --only f2,f4,f1 --json a.json --csv a.csv \
	--report a.html -- "$program" serial --length 60 >stdout
is $? 0 "an answer"
is "$(cat stderr)" "" "without a message"
is "$(jq -r '[.functions[].name] | join(" ")' a.json)" "f1 f2 f4" \
	"the functions are in order"
hold_shares a.json
ok "the program waits for the first" jq -e '.functions[0].why == "waits"' \
	a.json >/dev/null
is "$(jq -c '[.timed_out, .interrupted, .separated >= 2]' a.json)" \
	'[false,false,true]' "the first two are told apart"
ok "their intervals are apart" jq -e '[.functions[].half] |
	.[0].low > .[1].high and .[1].low > .[2].high' \
	a.json >/dev/null
ok "the best one ran at all cuts" jq -e '.functions[0] |
	.tenth.runs > 0 and .free.runs > 0 and
	.tenth.gain_percent < .half.gain_percent and
	.half.gain_percent < .free.gain_percent' a.json >/dev/null
[ "$TENSE_CPUS" = 1 ] && cpus="1 CPU" || cpus="$TENSE_CPUS CPUs"
ok "the table names the machine" grep -q "^On $cpus, Linux [0-9.]*[^ ]* (\(CFS\|EEVDF\))$" stdout
ok "so does the page" grep -q ", $cpus, Linux [0-9.]*[^ ]* (\(CFS\|EEVDF\))" a.html
ok "the last line says where to begin" grep -q '^Look first at f1: ' stdout
is "$(wc -l <a.csv)" 4 "the CSV has a line for each function"
ok "the page is there" grep -q '</html>' a.html
"$tense" profile --from a.json >again 2>&1
is "$(cat again)" "$(cat stdout)" "the answer from the file is the same"
is "$(ls tmp)" "" "no file stays behind"

# The same in two guests at the same time.
profile --quiet --engine local:2 --time 10m --precision 3 --only f4,f1 --json two.json \
	-- "$program" serial --length 60 >stdout
is $? 0 "an answer of two guests"
is "$(cat stderr)" "" "without a message"
is "$(jq -r '[.functions[].name] | join(" ")' two.json)" "f1 f4" \
	"the functions are in order"
hold_shares two.json
ok "guests ran at the same time" jq -e '[.groups[].samples[] |
	[.order, .began_unix_ns, .ended_unix_ns]] | . as $all |
	any(.[]; . as $a | any($all[]; .[0] != $a[0] and .[1] < $a[2] and .[2] > $a[1]))' \
	two.json >/dev/null
is "$(ls tmp)" "" "no file stays behind"

# Nobody named a function: a survey finds them.
profile --quiet --time 2m --precision 8 --exclude main --json found.json --folded folded -- \
	"$program" serial --length 60 >stdout
is $? 0 "an answer without --only"
ok "the functions with most of the time were found, and gain most" jq -e '
	[.functions[0:2][].name] | sort == ["compute", "serial"]' found.json >/dev/null
ok "their intervals hold half of their shares" jq -e '[.functions[0:2][] |
	.half.low < 50 * .share + 1 and .half.high > 50 * .share - 1] | all' \
	found.json >/dev/null
ok "the samples have their stacks" grep -q ';main;serial;' folded
profile --quiet --time 20s --precision 10 -- sh -c "echo ran >>written && exec $program serial --length 30" \
	>stdout
is $? 0 "a command that writes to the current directory"
ok "writes in each run, not only in the survey" [ "$(grep -c ran written)" -gt 5 ]
profile --time 3s -- bash forever.sh >stdout
is $? 125 "a survey of a command that never ends"
ok "ends with --time" grep -q 'did not end within --time 3 s' stderr
profile --only f1 --from a.json --survey-only >stdout
is $? 125 "a survey of a file"
ok "is refused" grep -q -- '--from makes no survey' stderr

# Without names, functions have addresses. compute() does all the work of f1() to f5().
strip -o bare "$program"
compute=bare+0x$(nm "$program" | sed -n 's/^0*\([0-9a-f]*\) . compute$/\1/p')
profile --quiet --time 20s --precision 8 --object bare --json bare.json -- ./bare serial --length 30 \
	>stdout
is $? 0 "a program without names"
ok "$compute gains half of its share" jq -e --arg name "$compute" '.functions[] |
	select(.name == $name) | .share > 0.5 and .half.low < 50 * .share + 1 and
	.half.high > 50 * .share - 1' bare.json >/dev/null

# The progress point is also compared.
profile --quiet --time 20s --precision 15 --for 500ms --progress f5 --only f1,f5 \
	--json progress.json -- "$program" serial --length 100000 >stdout
is $? 0 "a function that is also the progress point"
is "$(jq -c '[.functions[].name]' progress.json)" '["f1","f5"]' \
	"is compared with others"
ok "and its calls are counted" jq -e '.baseline > 0 and
	([.functions[] | .calls > 0 and .half.runs > 0] | all)' progress.json >/dev/null
# A guest takes longer than that to boot.
profile --survey-only --for 200ms --json survey.json -- "$program" serial \
	--length 100000 >stdout
is $? 0 "a survey ends a command that does not end by itself"
ok "and has its functions" jq -e '[.survey.functions[].name] |
	index("serial") != null' survey.json >/dev/null

# The first thread waits for a device, longer than prefetch() takes.
profile --quiet --time 10m --precision 4 --idle skip \
	--only consume,prefetch,lock --json b.json -- "$program" hidden \
	--length 50 >stdout
is $? 0 "a program with a thread that nobody waits for"
is "$(jq -r '.functions[0].name' b.json)" consume "its work on the path is first"
ok "the other one has more time" jq -e '[.functions[] |
	select(.name == "consume" or .name == "prefetch")] |
	map({(.name): .share}) | add | .prefetch > 1.2 * .consume' b.json \
	>/dev/null
is "$(jq -c '[.functions[] | select(.name == "prefetch") | .why |
	. == "off-path" or . == "loses"]' b.json)" '[true]' \
	"and gains nothing"
is "$(jq -r '.functions[] | select(.name == "lock") | .state' b.json)" \
	never-called "a function that is never called is told"
ok "and left out of the table" grep -q '1 of the 3 functions is not called once the instruments are in place' \
	stdout

profile --quiet --time 20s --precision 15 --idle skip --only main --json main.json -- "$program" \
	hidden --length 50 >stdout
is $? 0 "main() of a program with another thread"
ok "is not nearly the whole program if it has less of the time" jq -e \
	'.functions[0] | .share < 0.9 and .why != "whole-program"' main.json >/dev/null

# Misuse and bad programs.
profile --only nothere -- "$program" serial >stdout
is $? 125 "a name that is not there"
ok "is told" grep -q "no function 'nothere'" stderr
profile --only f1 --engine local:2 --survey-only -- "$program" >stdout
is $? 125 "two guests for a survey"
ok "are refused" grep -q -- '--engine cannot be used with --survey-only' stderr
for option in --only=f1 --exclude=f1 --object=libc --time=9s --top=2 --precision=3; do
	"$tense" profile $option --from a.json >stdout 2>stderr
	is $? 125 "${option%=*} for an answer that there is"
	ok "is refused" grep -q -- "${option%=*} cannot be used with --from, which runs nothing" stderr
done
profile --engine local:2 --time 4s --only malloc -- bash forever.sh >stdout
is $? 125 "a command that never ends, in two guests"
is "$(grep -c 'did not end within --time 4 s' stderr)" 1 "is told once"
profile --only locked -- "$program" serial --length 5 >stdout
is $? 1 "a function that is not called"
ok "is told, too" grep -q 'the command calls none of the functions' stderr
profile --only libz:deflate -- "$program" serial --length 5 >stdout
is $? 1 "a function of a library that the program does not load"
ok "is told, with what it loads" grep -q \
	'libz:deflate: .* does not load libz.*It loads several.* and libc' stderr
profile --time 2s --only main -- "$program" >stdout
is $? 1 "a command that fails"
profile --time 60s -- sh -c '"$0" serial --length 5; exit 4' "$program" >stdout
is $? 1 "a command that fails in the survey"
ok "stops there, and says what to do" grep -q \
	'the exit status of sh was 4 in the first run, .*--ignore-failure' stderr
is "$(grep -c 'run 1 ' stderr)" 0 "and before any other run"
touch input
profile --time 60s -- sh -c 'rm input && exec "$0" serial --length 30' "$program" \
	>stdout
is $? 1 "a command that removes its input"
ok "fails in a later run" grep -q "the command's exit status was 1" stderr
ok "with advice to restore the input" grep -q \
	'an earlier run succeeded: .*remove or change its input.*--prepare' stderr
touch input
profile --quiet --time 30s --precision 15 --prepare 'touch input' -- \
	sh -c 'rm input && exec "$0" serial --length 30' "$program" >stdout
is $? 0 "with --prepare it has an answer"
sed 's/^/# /' stderr
# The 16th run fails. With so small a precision, the race does not end before.
cat >late.sh <<'EOF'
mktemp runs/XXXXXX >/dev/null
[ "$(ls runs | wc -l)" -lt 16 ] && exec "$@"
exit 3
EOF
for engine in local:1 local:2; do
	rm -rf runs
	mkdir runs
	profile --time 60s --engine $engine --precision 0.001 --json late.json \
		--only "$program:f1,$program:f2" -- \
		bash late.sh "$program" serial --length 30 >stdout
	is $? 1 "--engine $engine: a command that fails late"
	is "$(grep -c "the command's exit status was 3" stderr)" 1 "shows its error once"
	ok "the table has a function of the earlier runs" grep -q ':f1 .*%' stdout
	ok "the last line says that the race ended with an error" \
		grep -q 'The race ended with an error after' stdout
	is "$(jq '.failure_status' late.json)" 1 "JSON has the failure's status"
	# In one guest, all count but the first one and the one that is timed.
	[ $engine = local:2 ] || is "$(jq .runs late.json)" 13 "no run is lost"
done
profile --time 2s --only malloc -- bash forever.sh >stdout
is $? 125 "a command that never ends"
ok "does not take longer than --time" \
	grep -q 'did not end within --time 2 s' stderr
profile --time 8s --for 1s --metric 'stdout:(\d+)' --only malloc -- \
	bash -c 'echo 7; malloc=1; while :; do :; done' >stdout
is $? 0 "but with --for it has an answer"
is "$(ls tmp)" "" "no file stays behind"

done_testing
