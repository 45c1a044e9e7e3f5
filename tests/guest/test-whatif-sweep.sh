#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# tense whatif over several numbers of CPUs, each in a guest of its own, on a program
# of one thread: more CPUs change nothing.
. "$source/tests/lib/tap.sh"
. "$source/tests/lib/processes.sh"

program=$out/accuracy/serial
in_tmp -p /var/tmp
mkdir tmp
export TMPDIR=$tmp/tmp

sweep() {
	"$tense" whatif --backend uml --func hot --faster 20% "$@"
}

sweep --cpus 1,2 --seed 1 --precision 2 --max-runs 12 --json a.json --csv a.csv \
	--svg a.svg -- "$program" --length 40 >stdout 2>stderr
is $? 0 "an answer"
unwrap stderr
is "$(grep -c '^tense: whatif: 1 of 2: 1 CPU$' stderr) $(grep -c \
	'^tense: whatif: 2 of 2: 2 CPUs$' stderr)" "1 1" "the progress tells the CPUs"
is "$(jq -c '[.schema, .version, [.sweep[] | [.cpus, .answer.environment.cpus]]]' \
	a.json)" '["tense-whatif-sweep",1,[[1,1],[2,2]]]' "each from a guest with its CPUs"
# The cut of the function that this run measured. A busy host widens the intervals.
ok "each change is by the share of the function" jq -e '[.sweep[].answer.results[0] |
	(.change.value - .amdahl | fabs) < 2 or
	(.change.low < .amdahl and .amdahl < .change.high)] | all' a.json >/dev/null
is "$(jq -c '[.sweep[].answer.asked.seed] | unique' a.json)" '[1]' "of the same seed"
is "$(grep -Ec '^  faster 20% +[12] ' stdout)" 2 "the table has both"
ok "and a sentence" grep -Eq '^  hot: 20 % faster gains .* on 1 CPU, .* on 2' stdout
is "$(cut -d, -f1 a.csv | xargs)" "cpus 1 2" "and so has the CSV"
ok "the picture is there" grep -q '</svg>' a.svg
is "$(ls tmp)" "" "no file stays behind"

for i in 0 1; do
	jq ".sweep[$i].answer" a.json >one.json
	"$tense" whatif --from one.json --json two.json >stdout 2>stderr
	is "$? $(cat stderr)" "0 " "--from takes answer $i"
	is "$(jq -c '[.results[0].change, .rounds]' two.json)" \
		"$(jq -c ".sweep[$i].answer | [.results[0].change, .rounds]" a.json)" \
		"and has the same result"
done

# The first number has an answer, the second one has none.
cat >fails.sh <<'END'
[ "$(grep -c ^processor /proc/cpuinfo)" = 1 ] || exit 3
"$1" --length 1
END
echo old >kept
sweep --quiet --func "$program:hot@150" --cpus 1,2 --max-runs 5 --json kept -- true \
	>stdout 2>stderr
is $? 125 "a function that is not there"
ok "the message names the CPUs" grep -q 'no answer for 1 CPU (1 of 2)' stderr
"$tense" whatif --backend uml --quiet --func "$program:hot@125" --cpus 1,2 --max-runs 5 \
	--json kept -- sh fails.sh "$program" >stdout 2>stderr
is $? 1 "a command that fails on two CPUs"
unwrap stderr
ok "the message names them" grep -q \
	'^tense: whatif: no answer for 2 CPUs (2 of 2), so the sweep ends' stderr
is "$(grep -Ec ':hot@125 +[12] ' stdout)" 1 "the answer before is shown"
is "$(cat kept)" old "the file is as it was"

"$tense" whatif --backend uml --func hot --faster 20% --cpus 1,2 -- "$program" \
	--length 100000 >stdout 2>stderr &
main=$!
until grep -q 'whatif: about' stderr; do sleep 0.1; done
processes=$(descendants "$main")
kill -TERM "$main"
wait "$main"
is $? 143 "a signal ends all"
unwrap stderr
ok "the message names the CPUs" grep -q '^tense: whatif: interrupted at 1 CPU (1 of 2)$' \
	stderr
# shellcheck disable=SC2086 # one word per process
ok "no process stays behind" until_true all_ended $processes
is "$(ls tmp)" "" "and no file"
done_testing
