#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# `tense whatif --deterministic`: an answer is like the other to the last byte,
# whatever else the machine does, and it is the right one.
. "$source/tests/lib/tap.sh"
. "$source/tests/lib/load.sh"

serial=$out/accuracy/serial
critical=$out/accuracy/critical
static=$out/tests/guest/static-work
in_tmp -p /var/tmp
trap 'unload; rm -rf "$tmp"' EXIT
mkdir "$tmp/cwd" "$tmp/results" "$tmp/elsewhere" "$tmp/elsewhere/.debug"
cd "$tmp/cwd" || exit 1

# --quiet: the real clock decides when progress is printed, so outputs would differ.
whatif() {
	"$tense" whatif --deterministic --quiet "$@"
}

# NAME ARGUMENT...: an answer in all its forms, in files of that name. It is written
# where the next one finds what this one left.
keep() {
	local name=$1 form

	shift
	whatif --stats --json answer.json --csv answer.csv --report answer.html "$@" \
		>"$tmp/results/$name.out" 2>"$tmp/results/$name.err"
	echo $? >"$tmp/results/$name.status"
	for form in json csv html; do
		cp "answer.$form" "$tmp/results/$name.$form"
	done
}

# TITLE NAME ARGUMENT...
twice() {
	local what=$1 name=$2 form

	shift 2
	rm -f answer.*
	keep "$name-idle" "$@"
	load
	keep "$name-busy" "$@"
	unload
	is "$(cat "$tmp/results/$name-idle.status")" 0 "$what: an answer"
	sed 's/^/# /' "$tmp/results/$name-idle.err"
	for form in out json csv html err; do
		ok "$what: $form is the same on a busy machine" \
			cmp "$tmp/results/$name-idle.$form" \
			"$tmp/results/$name-busy.$form"
	done
}

# NAME FILTER: of its JSON
check() {
	jq -e "$2" "$tmp/results/$1.json" >/dev/null
}

twice "1 CPU" one --func hot --faster 20% -- "$serial" --length 10
"$tense" whatif --deterministic --stats --json answer.json --csv answer.csv \
	--report answer.html --func hot --faster 20% -- "$serial" --length 10 \
	>"$tmp/results/loud.out" 2>&1
ok "showing progress does not change the answer" cmp answer.json "$tmp/results/one-idle.json"
version=${TENSE_KERNEL_VERSION:-6.1}
[ $version = 6.1 ] && scheduler=CFS || scheduler=EEVDF
is "$(sed -n "3 s/\\(Linux $version\\)[^ ]*/\\1/p; 4p" "$tmp/results/one-idle.out")" \
	"3 rounds in virtual time on 1 CPU, Linux $version ($scheduler)
Times are counts of instructions (1 instruction = 1 ns)" "tells the machine and its unit"
ok "scales as anywhere" grep -q "scaled   hot in $serial: in-process" \
	"$tmp/results/one-idle.out"
is "$(jq -c '[.deterministic, .time_unit, .environment.backend,
	.environment.cpus, .environment.date, .environment.host, .environment.load]' \
	"$tmp/results/one-idle.json")" \
	'[true,"instructions","qemu",1,null,null,null]' \
	"says nothing of when and where"
ok "nor is there a path of a moment's" check one-idle \
	'[.. | strings | select(test("/tense-[A-Za-z0-9]{6}"))] == []'
is "$(jq '.samples | length' "$tmp/results/one-idle.json")" 12 \
	"of three rounds and one that is discarded"
# shellcheck disable=SC2016 # for that shell
keep random --func "$serial:hot" --file "$serial" --faster 20% --ignore-failure -- \
	bash -c '"$0" --length 1; exit $((SRANDOM % 100))' "$serial"
ok "each run has random numbers of its own" check random '[.samples[].status] | unique | length > 8'

# The truth: what the program takes when its function really does less.
for cut in 0 20; do
	"$tense" run --deterministic --json "$tmp/results/cut-$cut.json" -- \
		"$serial" --length 10 --cut "$cut" >"$tmp/results/cut-$cut.out" 2>&1
	is $? 0 "the program with a cut of $cut %"
done
truth=$(jq -s '100 * (.[1].experiment.elapsed_virtual_ns /
	.[0].experiment.elapsed_virtual_ns - 1)' \
	"$tmp/results/cut-0.json" "$tmp/results/cut-20.json")
said=$(jq '.results[0].change.value' "$tmp/results/one-idle.json")
ok "it says $said %, and $truth % is true" \
	jq -en "$said - ($truth) | fabs < 0.1" >/dev/null

# Without its symbols: the same function, by its address.
strip -o bare "$serial"
hot=bare+0x$(nm "$serial" | sed -n 's/^0*\([0-9a-f]*\) . hot$/\1/p')
keep stripped --func "$hot" --faster 20% -- ./bare --length 10
is "$(cat "$tmp/results/stripped.status")" 0 "$hot in a stripped program"
sed 's/^/# /' "$tmp/results/stripped.err"
said=$(jq '.results[0].change.value' "$tmp/results/stripped.json")
ok "it says $said %, and $truth % is true" \
	jq -en "$said - ($truth) | fabs < 0.1" >/dev/null
hot=${hot%?}f
keep no-function --func "$hot" --faster 20% -- ./bare --length 10
ok "no function begins there" [ "$(cat "$tmp/results/no-function.status")" != 0 ]
ok "the message says so" grep -q "begins at +${hot#bare+}" "$tmp/results/no-function.err"
strip -o bare-static "$static"
hot=bare-static+0x$(nm "$static" | sed -n 's/^0*\([0-9a-f]*\) . hot$/\1/p')

twice "2 CPUs" two --cpus 2 --runs 2 --func hot --faster 20% -- \
	"$critical" --length 1
ok "has two" check two-busy '.environment.cpus == 2'
is "$(jq '.rounds' "$tmp/results/two-busy.json")" 2 "and as many rounds as asked for"
rm -f answer.*
whatif --cpus 1,2 --runs 2 --func hot --faster 20% --json answer.json -- \
	"$critical" --length 1 >"$tmp/results/sweep.out"
is "$? $(jq -c '[.sweep[].cpus]' answer.json)" "0 [1,2]" "a sweep over 1 and 2 CPUs"
ok "has the same answer for 2 CPUs" cmp <(jq '.sweep[1].answer' answer.json) \
	<(jq . "$tmp/results/two-busy.json")

# Runs guests one after the other on one CPU of the host, and as --engine says.
mkdir "$tmp/cwd/batches"
cd "$tmp/cwd/batches" || exit 1
all=$(taskset -cp $$ | sed 's/.*: //')
for how in serial local:1 local:2; do
	cpus=$all
	engine=(--engine "$how")
	if [ "$how" = serial ]; then
		cpus=${all%%[,-]*}
		engine=()
	fi
	rm -f written answer.json
	# Use taskset each time, because the environment holds the program's name.
	taskset -c "$cpus" "$tense" whatif --deterministic --quiet --cpus 2 --runs 4 \
		"${engine[@]}" --func hot --faster 20% --file cat --prepare 'echo >>written' \
		--json answer.json -- "$critical" --length 1 \
		>"$tmp/results/$how.out" 2>"$tmp/results/$how.err"
	is $? 0 "$how guests: an answer"
	sed 's/^/# /' "$tmp/results/$how.err"
	cp answer.json "$tmp/results/$how.json"
	is "$(grep -c '' written)" 9 "only the first guest's files come back"
done
cd "$tmp/cwd" || exit 1
for how in local:1 local:2; do
	ok "serial guests and $how give the same answer" \
		cmp "$tmp/results/serial.json" "$tmp/results/$how.json"
	ok "their messages are the same" cmp "$tmp/results/serial.err" "$tmp/results/$how.err"
done
is "$(jq '.rounds' "$tmp/results/serial.json")" 4 "the answer has four rounds"
ok "the rounds differ" check serial '[.samples[] |
	select(.round > 0 and .condition == 0) | .elapsed_virtual_ns] |
	unique | length > 1'

# R13: instruments cost nothing, for a function of 2 us and for a recursive one.
for name in short-calls recursion; do
	keep "null-$name" --runs 2 --func hot --faster 20% -- \
		"$out/accuracy/$name" --length 20
	is "$(cat "$tmp/results/null-$name.status")" 0 "$name: an answer"
	bias=$(jq '.null_experiment.bias.value' "$tmp/results/null-$name.json")
	ok "$name: the instruments change $bias %" check "null-$name" \
		'.null_experiment.bias.value | fabs < 0.2'
	ok "$name: a prediction" check "null-$name" \
		'.results[0].verdict == "prediction"'
done

# Breakpoints, in a program that has no libraries.
keep static --runs 2 --func hot --faster 20% -- "$static" alone 6
is "$(jq -c '.patches[] | [.symbol, .mechanism]' "$tmp/results/static.json")" \
	'["hot","uprobe"]' "a static program"
ok "is scaled" check static '[.samples[] | select(.condition == 2) | .slots[] |
	select(.slot == 1) | [.calls, .virtual_ns / .real_ns]] |
	length == 3 and all(.[0] == 6 and (.[1] - 0.8 | fabs) < 0.001)'

keep bare-static --runs 2 --func "$hot" --faster 20% -- ./bare-static alone 6
is "$(jq -c '.patches[] | [.symbol, .mechanism]' "$tmp/results/bare-static.json")" \
	"[\"${hot#bare-static}\",\"uprobe\"]" "a static program without symbols"

# The program, its debug file with the function, its input, and the command
# before it are elsewhere. Results come back here.
objcopy --only-keep-debug "$serial" "$tmp/elsewhere/.debug/serial"
objcopy --strip-all --add-gnu-debuglink="$tmp/elsewhere/.debug/serial" "$serial" \
	"$tmp/elsewhere/serial"
echo data >"$tmp/elsewhere/input"
echo first >"$tmp/elsewhere/named"
PATH=$tmp/elsewhere:$PATH
mkdir "$tmp/tmp"
TMPDIR=$tmp/tmp whatif --func serial:hot@125 --runs 2 --file cat --file "$tmp/elsewhere/named" \
	--prepare "cat $tmp/elsewhere/named >>prepared" \
	--input "$tmp/elsewhere/input" --show-output --json second.json -- \
	serial --length 1 >stdout 2>stderr
is $? 0 "a program elsewhere, with a debug file, input and preparation"
sed 's/^/# /' stderr
is "$(grep -c first prepared)" 9 "files that were written come back"
is "$(grep -c '^calls 2$' stderr)" 9 "output is shown, on standard error"
is "$(grep -c '^calls' stdout)" 0 "and not on standard output"
is "$(jq '[.samples[].status] | unique == [0]' second.json)" true "which is whole"
is "$(ls -A "$tmp/tmp" && find "$tmp/cwd" -name '.*.??????')" "" "and no file stays behind"

# These commands have no answer.
whatif --func "$serial:hot@125" --file "$serial" -- \
	sh -c 'echo why >&2; exit 3' >stdout 2>stderr
is $? 1 "a run that fails"
is "$(cat stdout)" "" "has no answer"
unwrap stderr
ok "is told by its run" grep -Eq "run 1 .*: the command.s exit status was 3" stderr
ok "with what it said" grep -q "  why" stderr

done_testing
