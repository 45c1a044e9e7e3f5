#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# tense whatif without a kernel: misuse, and what it makes of the samples of a
# program that is not real.
set -u
. "$source/tests/lib/tap.sh"

tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
cd "$tmp" || exit 1
unset LD_PRELOAD TENSE NO_COLOR

said() {
	is "$(wc -l <stderr) $(cut -c "1-${#1}" stderr)" "1 $1" "says: $1"
	is "$(cat stdout)" "" "and no output"
}

# MESSAGE ARGUMENT...
misuse() {
	message=$1
	shift
	status_is 125 "misuse: $*" "$tense" whatif "$@"
	said "tense: whatif: $message"
}

misuse "no command" --func f --faster 20
misuse "no command" --func f --faster 20 --
misuse "unknown option '--fster', perhaps --faster: see tense whatif --help" --fster 20% -- true
misuse "no function: name one with --func" --faster 20 -- true
misuse "how much faster? Say it with --faster 20%" --func f -- true
misuse "--faster and --slower have nothing to vary" \
	--func f@150 --faster 20 -- true
misuse "'' names no function" --func "" -- true
misuse "'cloud' is not an engine: use local, local:N with the number of guests, slurm or slurm:OPTIONS" --engine cloud --func f@2 -- true
for n in '' 0 x 2x -1 257; do
	misuse "'$n' is not a number of guests from 1 to 256" --engine "local:$n" \
		--func f@2 -- true
done
misuse "--engine cannot be used with --from, which runs nothing" --engine local --from file
misuse "percent '0' of 'f' is not a number from 1 to 100000" --func f@0 -- true
misuse "'2x' is not a list like 20% or 10,20,50% or 0..90/10%" \
	--func f --faster 2x -- true
misuse "100 % less time: should be below 99.9" --func f --faster 100 -- true
misuse "'0.2' is less than 1 %: write a percentage with its sign, as in 20% or 0.2%" \
	--func f --faster 0.2 -- true
misuse "a change by 0.0002% is too small to be run" \
	--func f --faster 0.0002% -- true
misuse "metric 'speed' is not elapsed, cpu," --func f --metric speed -- true
misuse "expression '(': missing closing parenthesis at 1" \
	--func f --metric 'stdout:(' -- true
misuse "--better 'fewer' is neither less nor more" \
	--func f@150 --metric 'stdout:x' --better fewer -- true
misuse "--better is only for a number that the command prints" \
	--func f@150 --metric cpu --better less -- true
misuse "--show-output cannot be used with --metric stdout:REGEX or stderr:REGEX" \
	--func f@150 --metric 'stdout:(x)' --show-output -- true
misuse "'a' is not two functions with a comma between them" \
	--func f@150 --latency a -- true
misuse "'a,b,c' is not two functions" --func f@150 --latency a,b,c -- true
misuse "--latency needs an argument" --latency
misuse "--precision '0' is not a number above 0, up to 100" \
	--func f --precision 0 -- true
misuse "--max-runs is at least 5" --func f --max-runs 4 -- true
misuse "--max-runs '7.5' is not a whole number" --func f --max-runs 7.5 -- true
misuse "unknown option '--swift'" --swift true
misuse "unknown option '--each=1'" --each=1 true
misuse "--func needs an argument" --func
misuse "unknown back end 'vmware'" --backend vmware true
misuse "percent '0' is not a number from 1 to 100000" --percent 0 -- true
misuse "clock 'sun' is not known: choose all, monotonic or none, and ordered or unordered" --clock sun -- true
misuse "idle 'never' is not known: choose real or skip" --idle never -- true
misuse "--from takes no command" --from x.json -- true
misuse "--func cannot be used with --from, which runs nothing: drop one of them" \
	--from x.json --func a --faster 10%
for option in --precision=2 --better=less --max-runs=9 --deterministic --window=1ms --seed=3 \
	      --kernel=6.1 --each --progress=f; do
	misuse "${option%=*} cannot be used with --from" --json x --from x.json "$option"
done
misuse "--runs is for --deterministic" --func f@150 --runs 3 -- true
misuse "--runs is at least 2" --func f@150 --deterministic --runs 1 -- true
misuse "--runs fixes the number of runs" \
	--func f@150 --deterministic --runs 3 --max-runs 9 -- true
misuse "--file is for --deterministic" --func f@150 --file x -- true
misuse "--cpus 1,,2: a number is missing: use a list such as 1,2,4 or 1..8" \
	--cpus 1,,2 --func f@150 -- true
misuse "--cpus 0,1: '0' is not a number of CPUs" --cpus 0,1 --func f@150 -- true
misuse "--cpus 1,65: '65': a guest has at most 64 CPUs" --cpus 1,65 --func f@150 -- true
misuse "--cpus 4,2: 2 comes after 4" --cpus 4,2 --func f@150 -- true
misuse "--cpus 8..1: the range 8..1 runs backwards" --cpus 8..1 --func f@150 -- true
misuse "--cpus cannot be used with --from, which runs nothing" --cpus 1,2 --from file
misuse "--report is for one number of CPUs: use --svg" \
	--cpus 1,2 --report x --func f@150 -- true
misuse "--svg draws several numbers of CPUs" --svg x --func f@150 -- true
misuse "--svg draws several numbers of CPUs" --cpus 4..4 --svg x --func f@150 -- true
misuse "no function: name one with --func" --cpus 1,2 -- true
status_is 125 "--cpus of one wrong number" "$tense" whatif --cpus 0 --func f@150 -- true
said "tense: --cpus 0: should be a number from 1 to 64"
status_is 125 "several CPUs of a back end without guests" \
	"$tense" whatif --backend native --cpus 1,2 --func f@150 -- true
said "tense: --kernel, --cpus and --memory apply only to guests"
status_is 125 "a number of CPUs that cannot be had, before the first run" \
	taskset 1 "$tense" whatif --backend qemu --cpus 1,2 --func f@150 -- true
said "tense: --cpus 2: tense may use 1 of this machine's CPUs"
echo old >kept
status_is 127 "a command that is not there, on several numbers of CPUs" \
	"$tense" whatif --backend uml --cpus 1,2 --func f@150 --json=kept -- \
	nothing-by-this-name
ok "the message names the first number" \
	grep -q '^tense: whatif: no answer for 1 CPU (1 of 2)' stderr
is "$(cat kept)" old "the old result is left"
status_is 125 "instructions that another back end should count" \
	"$tense" whatif --deterministic --backend uml --func f@150 -- true
said "tense: --deterministic: instructions are counted by the back end qemu, not by uml"
status_is 125 "input that cannot be packed" "$tense" whatif --deterministic \
	--func main@150 --input nothing -- "$out/tests/unit/test-whatif-plan"
said "tense: --input nothing: No such file or directory"
status_is 125 "--window of nothing" "$tense" whatif --window 1us -- true
said "tense: --window 1us: should be a time from 20us to 100ms"
status_is 125 "--rw of nothing" "$tense" whatif --rw nothing true
said "tense: --rw nothing: No such file or directory"
status_is 125 "a report to where nothing can be" \
	"$tense" whatif --func f@150 --report nothing/x -- true
said "tense: nothing/x: No such file or directory"
echo old >kept
status_is 127 "a command that is not there" "$tense" whatif --func f@150 \
	--json=kept --report kept -- nothing-by-this-name
is "$(cat kept)" old "leaves the old result"
status_is 127 "without one" \
	"$tense" whatif --func f@150 -- nothing-by-this-name
ok "is found out before any run" grep -q nothing-by-this-name stderr
status_is 125 "a function that is not there" \
	"$tense" whatif --func no_function_by_this_name@150 -- sh
ok "as well" grep -q no_function_by_this_name stderr

status_is 125 "nor one that a latency is of" \
	"$tense" whatif --func main@150 --latency main,no_function_by_this_name \
	-- "$out/tests/unit/test-whatif-plan"
ok "is told" grep -q no_function_by_this_name stderr

printf 'void f(void) { } int main(void) { f(); return 0; }' >static.c
cc -static -o static static.c
status_is 125 "a static program where only libraries can scale" \
	"$tense" whatif --backend uml --func f@150 -- ./static
said "tense: ./static is linked statically"

printf 'void f(void) __asm__("runtime.morestack.abi0"); void f(void) { } int main(void) { f(); return 0; }' >go.c
cc -static -o go go.c
status_is 125 "a static program of Go" "$tense" whatif --backend qemu --func main@150 -- ./go
said "tense: ./go: no function can be scaled, because the runtime of Go"

# The answer, from samples.
"$out/tests/unit/test-whatif-plan" one.json 20 || exit 1
"$out/tests/unit/test-whatif-plan" sweep.json 10,20,50 || exit 1
status_is 0 "--from" "$tense" whatif --from one.json
is "$(cat stderr)" "" "without a message"
ok "the command as it could be typed" grep -qx "fake 'a b' '<c>'" stdout
ok "the variant, its calls, share, change and verdict" grep -Eq \
	'^  faster 20% +1000 +(59|60)\.. %  +-1[12]\..*\[-1.* -1.*\] +prediction$' \
	stdout
ok "the null experiment" grep -Eq 'null experiment .* bias [+-]' stdout
ok "the estimator" grep -q "estimated by: control variates: CPU time" stdout
is "$(grep -c "$(printf '\033')" stdout)" 0 "no colour in a file"
is "$(awk 'length > 110' stdout)" "" "no line is too long"
status_is 0 "--stats" "$tense" whatif --from one.json --stats
ok "what was scaled and how" grep -q \
	'scaled   compress in /lib/libfake.so: in-process' stdout
ok "and what it cost" grep -q 'entering and leaving a function costs 44 ns' \
	stdout
ok "all of it" grep -q 'overhead given back' stdout

status_is 0 "--json" "$tense" whatif --from sweep.json --json
is "$(jq -c '[.schema,.version,.command,.metric.kind,(.results|length)]' stdout)" \
	'["tense-whatif",2,["fake","a b","<c>"],"elapsed",3]' "is on standard output"
ok "and the table is not" grep -q "3 *[0-9]* rounds\|rounds in virtual time" \
	stderr
is "$(jq -c '.results[] | select(.change.low > .change.value or .change.high < .change.value)' stdout)" \
	"" "values lie in their intervals"
is "$(jq '[.samples[] | select(.round > 0)] | length == 5 * (.[-1].round)' stdout)" \
	true "each round has five runs"
is "$(jq -c '.samples == input.samples' sweep.json stdout)" true \
	"all samples are kept"
is "$(jq -c '.asked | [.percent,.clock,.order,.idle,.window_ns]' stdout)" \
	'[100,"all","ordered","real",null]' "tells the defaults"
jq '.asked |= (.percent = 50 | .clock = "none" | .order = "unordered" |
	.idle = "skip" | .window_ns = 20000)' one.json >choice.json
status_is 0 "other choices" "$tense" whatif --from choice.json --json
is "$(jq -c '.asked == input.asked' choice.json stdout)" true "are kept"
jq 'del(.asked[("percent","clock","order","idle","window_ns")])' one.json \
	>older.json
status_is 0 "a file without them" "$tense" whatif --from older.json --json
is "$(jq -c '.asked == input.asked' one.json stdout)" true "has the defaults"
status_is 0 "--json FILE" "$tense" whatif --from one.json --json two.json
is "$(jq -c .samples two.json)" "$(jq -c .samples one.json)" "is a file"
status_is 0 "--json=FILE" "$tense" whatif --from one.json --json=two.json
status_is 0 "--csv" "$tense" whatif --from sweep.json --csv a.csv
is "$(wc -l <a.csv)" 4 "has a line for each variant and one of names"
is "$(awk -F, '{ print NF }' a.csv | sort -u)" 14 "of as many fields"
is "$(cut -d, -f2 a.csv | tail -n +2 | xargs)" "10 20 50" "sorted as asked"

# A latency.
"$out/tests/unit/test-whatif-plan" latency.json 10,20 request,reply || exit 1
status_is 0 "--from a latency" "$tense" whatif --from latency.json \
	--csv b.csv --report b.html --json c.json
is "$(cat stderr)" "" "without a message"
ok "the mean in the table" grep -Eq \
	'^  request to reply, mean +[0-9.]+ us$' stdout
ok "and the median" grep -Eq '^  median +[0-9.]+ us$' stdout
ok "less of it is better" grep -Eq '^  faster 20% .* -1[0-9]\.' stdout
is "$(jq -c .metric c.json)" \
	'{"kind":"latency","pattern":"request,reply","unit":"ns","less_is_better":true}' \
	"and in JSON"
is "$(jq -c '[.samples[].latency | [.from, .to, .pairs, .lost]] | unique' c.json)" \
	'[[1000,1000,1000,0]]' "with the calls"
ok "and the median of each run" jq -e '[.samples[] |
	.latency.median_ns * 2 / .metric > 0.999] | all' c.json >/dev/null
is "$(wc -l <b.csv)" 3 "a CSV"
ok "the page says from where to where" grep -Eq \
	'would take 1[0-9.]+ % less time from request to reply' b.html
jq '.metric.pattern = "request"' latency.json >bad.json
status_is 125 "a latency of one function" "$tense" whatif --from bad.json
is "$(jq -c '[.samples[].latency] | unique' one.json)" '[null]' \
	"other metrics have none"

# Counted instructions.
jq '.deterministic = true | .environment |= (.date = null | .load = null)' one.json \
	>counted.json
status_is 0 "a deterministic answer" "$tense" whatif --from counted.json \
	--json d.json --report d.html
is "$(sed -n 4p stdout)" "Times are counts of instructions (1 instruction = 1 ns)" \
	"tells its unit"
ok "estimates by nothing but the metric" \
	grep -qx "  estimated by: median of the rounds" stdout
is "$(jq -c '[.deterministic, .time_unit, .environment.date, .environment.load]' \
	d.json)" '[true,"instructions",null,null]' \
	"and is told as such in JSON"
ok "and on the page" grep -q 'times are counts of instructions' d.html
is "$(grep -c ', load' d.html)" 0 "which has no load"
is "$(jq -c '[.deterministic, .time_unit]' one.json)" '[false,"ns"]' \
	"any other is of time"

# JSON has identifiers, which a program can test, and sentences beside them.
is "$(jq -c '.results[0] | [.verdict, .estimator, .reason, .fallback]' one.json)" \
	'["prediction","cpu",null,null]' "identifiers of an answer"
jq '.patches[0].patched = false | .patches[0].reason = "too short"' one.json |
	"$tense" whatif --from /dev/stdin --json 2>/dev/null >other.json
is "$(jq -c '.results[0] | [.verdict, .reason.id, .reason.text]' other.json)" \
	'["not-trusted","refused","1 of 1 functions that match could not be scaled"]' \
	"of one that is not trusted"
jq '.samples[].overhead_ns = 1e10' one.json |
	"$tense" whatif --from /dev/stdin --json 2>/dev/null >other.json
is "$(jq -c '[.warnings[] | [.id, (.text | length > 20)]]' other.json)" \
	'[["overhead",true]]' "of a warning"
jq '.samples |= map(if .condition == 2 then .slots[1].calls *= 2 else . end)' \
	one.json | "$tense" whatif --from /dev/stdin --json 2>/dev/null >other.json
is "$(jq -c '.results[0] | [.estimator, .fallback.id]' other.json)" \
	'["cpu-per-call","calls-differ"]' "of another estimator"

# An earlier tense wrote this file of version 1, with sentences for identifiers.
old=$source/tests/data/whatif-version-1.json
is "$(jq -c '[.version, .results[0].estimator]' "$old")" \
	'[1,"control variates: CPU time"]' "a file of version 1"
status_is 0 "can be read" "$tense" whatif --from "$old" --json new.json
is "$(jq -c '[.version, .results[0].estimator, .asked.percent]' new.json)" \
	'[2,"cpu",100]' "and is written as version 2"
is "$(jq -c '[.samples, .conditions, .rounds]' new.json)" \
	"$(jq -c '[.samples, .conditions, .rounds]' "$old")" "with all samples"
ok "and the same answer" jq -en --slurpfile a "$old" --slurpfile b new.json \
	'[$a[0], $b[0] | .results[0].change] | (.[0].value - .[1].value |
	fabs < 1e-9) and (.[0].low - .[1].low | fabs < 1e-9)' >/dev/null

# The page.
status_is 0 "--report" "$tense" whatif --from sweep.json --report a.html
ok "is a page" grep -qi '^<!doctype html>' a.html
is "$(grep -Eo '(src|href|url)[=(][^ >]*|https?:[^ "]*' a.html)" "" \
	"that needs no other"
ok "with a curve" grep -q '<polyline class="curve s0"' a.html
ok "Amdahl's line" grep -q '<polyline class="amdahl s0"' a.html
is "$(grep -c '>Amdahl</text>' a.html)" 1 "with its name"
is "$(grep -Eo 'polyline class="[a-z]+' a.html | head -2 | sed 's/.*"//' |
	xargs)" "curve amdahl" "on top of the curve"
is "$(grep -c '<g class="mark' a.html)" 7 \
	"a mark for each variant, in both pictures and the legend"
ok "and points of the rounds" grep -q '<circle class="raw s0"' a.html
ok "arguments are no markup" grep -q "'&lt;c&gt;'" a.html
is "$(grep -c '<c>' a.html)" 0 "nowhere"
is "$(grep -Eic 'nan|inf\b' a.html)" 0 "all numbers are numbers"
for tag in table tr td th div dl svg g figure main ul li h2 p code; do
	is "$(grep -Eo "<${tag}[ >]" a.html | wc -l)" \
		"$(grep -o "</$tag>" a.html | wc -l)" "each $tag is closed"
done

# A sweep over numbers of CPUs.
"$out/tests/unit/test-whatif-sweep" cpus.json >/dev/null || exit 1
status_is 0 "--from a sweep" "$tense" whatif --from cpus.json --json c.json \
	--csv c.csv --svg c.svg
is "$(cat stderr)" "" "without a message"
is "$(grep -Ec '^  faster [12]0% +[124] +[01]\.[0-9]+ s +-[0-9.]+ % \[.*\] +fake .* prediction$' \
	stdout)" 6 "a row for each variant and number"
ok "and a sentence for each variant" grep -Eq \
	'^  libfake:compress: 20 % faster gains 1[12]\.[0-9] % on 1 CPU, [56]\.[0-9] % on 2, [23]\.[0-9] % on 4$' \
	stdout
is "$(awk 'length > 120' stdout)" "" "no line is too long"
is "$(jq -c . c.json)" "$(jq -c . cpus.json)" "JSON is the same again"
is "$(cut -d, -f1,2 c.csv | tail -n +2 | xargs)" \
	"1,faster 10% 1,faster 20% 2,faster 10% 2,faster 20% 4,faster 10% 4,faster 20%" \
	"the lines of the CSV"
is "$(awk -F, '{ print NF }' c.csv | sort -u)" 15 "have as many fields"
is "$(grep -c '<polyline' c.svg)" 2 "the picture has a line for each variant"
jq '.sweep[1].answer' cpus.json >two.json
status_is 0 "--from one of its answers" "$tense" whatif --from two.json --report a.html
ok "has a page" grep -q '</html>' a.html
status_is 0 "--stats" "$tense" whatif --from cpus.json --stats
is "$(grep -Ec '^[123] of 3: [124] CPUs?$' stdout) $(grep -c 'overhead given back' stdout)" \
	"3 3" "has the table of each number, too"
misuse "--report is for one number of CPUs" --from cpus.json --report b.html
misuse "--svg: one.json has an answer for one number of CPUs" --from one.json --svg b.svg
jq '.sweep[1].answer = null' cpus.json >bad.json
status_is 125 "--from a sweep without an answer" "$tense" whatif --from bad.json
said "tense: bad.json: not a file of tense whatif --json"

# Files that are none.
echo '{' >bad.json
status_is 125 "--from a file that is no JSON" "$tense" whatif --from bad.json
said "tense: bad.json: not a complete JSON file (line "
echo '{"version": 1}' >bad.json
status_is 125 "or another's" "$tense" whatif --from bad.json
said "tense: bad.json: not a file of tense whatif --json"
jq '.version = 3' one.json >bad.json
status_is 125 "or a later one's" "$tense" whatif --from bad.json
said "tense: bad.json: of another version of tense"
jq '.version = 0' one.json >bad.json
status_is 125 "or one of no version" "$tense" whatif --from bad.json
for part in command metric functions conditions samples asked; do
	jq "del(.$part)" one.json >bad.json
	"$tense" whatif --from bad.json >stdout 2>stderr
	is "$? $(cat stderr)" "125 tense: bad.json: \"$part\" is not what tense whatif --json writes" \
		"or one without $part"
done
jq '.samples |= .[0:-1]' one.json >bad.json
status_is 125 "or with a run too few" "$tense" whatif --from bad.json
jq '.samples[4].metric = -1' one.json >bad.json
status_is 125 "or a metric that is none" "$tense" whatif --from bad.json
status_is 125 "or none at all" "$tense" whatif --from nothing.json
said "tense: nothing.json: No such file or directory"
status_is 125 "a full disk for the report" \
	"$tense" whatif --from one.json --report /dev/full
ok "is an error" grep -q "/dev/full: No space left on device" stderr

done_testing
