#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# tense daemons: the tables of the papers, what is wrong in files; what is learnt
# here, stored and shown, and that its tables say the same.
. "$source/tests/lib/tap.sh"

data=$source/tests/data
in_tmp

# STATUS WHAT ARGUMENT...
daemons_is() {
	tense_is daemons "$@"
}

short() { # STATUS WHAT OPTION...
	status=$1
	what=$2
	shift 2
	daemons_is "$status" "$what" cutoffs \
		--short-central "$data/emp-inc128-central.csv" \
		--short-l "$data/emp-inc128-l-samples.csv" "$@"
}

both() { # TITLE OPTION...
	what=$1
	shift
	short 0 "$what" --long-central "$data/emp-inc16384-central.csv" \
		--long-l "$data/emp-inc16384-l-samples.csv" \
		--periods flush-9:0=20h,jbd2/md0-8=20h,md0_raid1=1200m \
		--periods rhn_check=4h,rhnsd=14400s,rhsmcertd-worke=14400000ms \
		"$@"
}

both "the cutoffs of the papers"
ok "are those printed there" cmp stdout "$data/emp-cutoffs.csv"
is "$(cat stderr)" "" "without a message"
both "the samples that they discard" --samples
is "$(sed 1d stdout | cut -d, -f1,2 | xargs)" "$(for i in 75 104 186 216 298 328 \
	366 410 439 522 551 634 663 746 775; do echo "short,$i"; done |
	xargs) long,10 long,16" "are those of the papers"
is "$(sed -n 1,2p stdout)" "task,sample,daemon,process_time_ms,cutoff_ms
short,75,rhn_check,35176,281" "with what was over its cutoff by most"
sed 1d stdout | cut -d, -f1,2 >discarded
both "as JSON" --json
is "$(jq -r '.version, (.cutoffs[] | [.daemon, .cutoff_short_ms, .cutoff_long_ms,
	.task_time_limit_s, .final_short_ms, .final_long_ms] | @csv)' stdout |
	tr -d '"' | sed 1d)" "$(sed 1d "$data/emp-cutoffs.csv")" "the same"
is "$(jq .discarded stdout)" null "without the samples"
both "with them" --json --samples
is "$(jq -r '.discarded[] | "\(.task),\(.sample)"' stdout)" "$(cat discarded)" \
	"the same"
short 0 "short tasks only"
is "$(cut -d, -f3,4 stdout | sort -u | xargs)" ", cutoff_long_ms,task_time_limit_s" \
	"have no other cutoffs"
is "$(awk -F, 'NR > 1 && ($2 != $5 || $2 != $6)' stdout)" "" \
	"theirs hold for all"
# The example of the protocol: two deviations above the longest are 16 ms.
printf 'daemon,max_process_time_ms,stddev_ms\ndd,10,3\n' >central
printf 'sample,daemon,process_time_ms\n1,dd,12\n2,dd,100\n3,dd,104\n' >l
daemons_is 0 "two standard deviations" cutoffs --short-central central --short-l l
is "$(sed 1d stdout)" dd,55,,,55,55 "are not long-running"
short 0 "a period of nobody" --periods rhnds=4h
is "$(cat stderr)" "tense: --periods: 'rhnds' is no infrequent daemon in these files: its period is not used" \
	"is told"

# tense reads these forms of a table.
l=$data/emp-inc128-l-samples.csv
printf '\r\n"stddev_ms",note,max_process_time_ms,daemon\r\n0,x,3,"a ""b"", c"\r\n\r\n' >central
printf 'process_time_ms,sample,daemon\n7,1,"a ""b"", c"\n0.5,1,d' >l
daemons_is 0 "columns in another order, quotes, CRLF, no end of line" \
	cutoffs --short-central central --short-l l
is "$(sed 1d stdout)" '"a ""b"", c",5,,,5,5
d,0,,,0,0' "are read and written"
daemons_is 0 "their samples" cutoffs --short-central central --short-l l \
	--samples
is "$(sed 1d stdout)" "short,1,d,0.5,0" "any time is over a cutoff of 0"

head='daemon,max_process_time_ms,stddev_ms'
bad() { # CONTENT MESSAGE
	printf '%b' "$1" >bad
	daemons_is 125 "$2" cutoffs --short-central bad --short-l "$l"
	tense_said "$2"
}
bad "" "bad: is empty"
bad "\n\n" "bad: is empty"
bad "daemon,max_process_time_ms\na,1\n" \
	"bad:1: no column 'stddev_ms': the first line names the columns"
bad "$head\na,1\n" "bad:2: 'stddev_ms' is missing"
bad "$head\na,1,0\nb,,0\n" "bad:3: '' is not a number that is 0 or more"
for number in -1 x nan inf 0x10 1e999 ' 1' 1-2; do
	bad "$head\na,$number,0\n" \
		"bad:2: '$number' is not a number that is 0 or more"
done
bad "$head\na,1,0\na,1,0\n" "bad:3: 'a' is there twice: a daemon has one line"
bad "$head\n\"a,1,0\n" \
	"bad:2: a quote is not closed, or not at the end of its value"
bad "$head\n\"a\"b,1,0\n" \
	"bad:2: a quote is not closed, or not at the end of its value"
bad "$head\na\0,1,0\n" "bad:2: is not text"
printf 'sample,daemon,process_time_ms\n1.5,a,1\n' >bad
daemons_is 125 "a sample without a number" cutoffs --short-central central \
	--short-l bad
tense_said "bad:2: '1.5' is not a whole number"
daemons_is 125 "no such file" cutoffs --short-central gone --short-l l
tense_said "gone: No such file or directory"
daemons_is 125 "a directory" cutoffs --short-central . --short-l l
tense_said ".: Is a directory"

# tense learns from whoever runs here, and from as few samples as can be.
export XDG_DATA_HOME="$tmp/data"
stored=$tmp/data/tense/cutoffs-$(uname -n).json
daemons_is 1 "nothing is stored" show
tense_said "no cutoffs are stored for this machine: tense daemons learn finds them"
learn() { # STATUS WHAT OPTION...
	status=$1
	what=$2
	shift 2
	daemons_is "$status" "$what" learn --task-length 20ms --samples 12 "$@"
}
learn 0 "to learn" --long-length 60ms --long-samples 10 --csv t --svg p.svg
ok "which says how long it takes" grep -q '^tense: this takes [0-9]* s, more on a busy machine; Ctrl-C ends it' stderr
ok "stores it" grep -qx "Stored in $stored" stdout
is "$(jq -c '[.version, [.tasks[] | .task, .length_s, .asked, (.samples | length)]]' "$stored")" \
	'[1,["short",0.02,12,12,"long",0.06,10,10]]' "with all samples"
is "$(jq -r '.machine | [.host, .kernel] | join(" ")' "$stored")" \
	"$(uname -n) $(uname -sr)" "and the machine"
# CPU time is not the clock's on the wall: half of it would be another count.
ok "samples count as far as they are to" jq -e 'all(.tasks[];
	(.samples | map(.process_s) | min) / .length_s | . > 0.2 and . < 20)' \
	"$stored" >verdict
# shellcheck disable=SC2016 # a variable of jq's
ok "one after the other" jq -e '[.tasks[].samples[]] as $s |
	all(range(1; $s | length); $s[.].began_s >= $s[. - 1].began_s + $s[. - 1].elapsed_s)' \
	"$stored" >verdict
is "$(cut -d, -f1 t/short-samples.csv t/long-samples.csv | xargs)" \
	"sample $(seq -s ' ' 12) sample $(seq -s ' ' 10)" "tables have them, too"
ok "a picture" xmllint --noout p.svg
mv stdout learnt
set -- --short-central t/short-central.csv --short-l t/short-l.csv \
	--long-central t/long-central.csv --long-l t/long-l.csv
set -- "$@" --periods "$(cat t/periods)"
daemons_is 0 "the tables" cutoffs "$@"
ok "have the same cutoffs" cmp stdout t/cutoffs.csv
# The table prints 15 significant digits, and the JSON up to 17.
is "$(jq -r '.cutoffs[] | [.daemon, .cutoff_short_ms, .cutoff_long_ms,
	.task_time_limit_s, .final_short_ms, .final_long_ms] | @csv' "$stored" | tr -d '"' |
	awk -F, -v OFS=, '{ for (i = 2; i <= NF; i++) if ($i != "") $i = sprintf("%.15g", $i) } 1')" \
	"$(sed 1d stdout)" "which are those that are stored"
daemons_is 0 "what is stored" show
is "$(sed 's/^Learnt .* ago/Learnt just now/' stdout)" \
	"$(sed -e '/^Stored in/d' learnt)" "is shown as it was learnt"
daemons_is 0 "the same" show --json --svg q.svg
is "$(jq -Sc 'del(.age_s, .path)' stdout)" "$(jq -Sc . "$stored")" "as JSON"
ok "with its age" jq -e '.age_s >= 0' stdout >verdict
ok "and as a picture" cmp p.svg q.svg
daemons_is 0 "its samples" show --plot
is "$(grep -c '^ +-*+ +-*+$' stdout)" 4 "are drawn in text"
jq '.machine.host = "elsewhere"' "$stored" >moved.json
daemons_is 0 "what another machine learnt" show --cutoffs moved.json
ok "is told" grep -qx "  the host is another one now, $(uname -n): learn again" stdout
learn 0 "again" --long-samples 0 --cutoffs new/c.json --json --quiet --periods no-such-one=1h
is "$(cat stderr)" "tense: --periods: 'no-such-one' did not run long in any sample: its period is not used" \
	"quietly"
is "$(jq -Sc . stdout)" "$(jq -Sc . new/c.json)" "what it prints is what it stores"
is "$(jq -c '[.tasks[].task]' new/c.json)" '["short"]' "short tasks only"
daemons_is 0 "cutoffs without samples" show --cutoffs "$data/emp-cutoffs.csv"
is "$(grep -E '^(flush|grep)' stdout)" "$(printf '%s\n%s' \
	'flush-9:0               64 ms        48 ms      3600 s' \
	'grep                    12 ms        12 ms         -  ')" "are shown"
daemons_is 125 "they cannot" show --cutoffs "$data/emp-cutoffs.csv" --plot
tense_said "$data/emp-cutoffs.csv: has no samples to draw, only cutoffs"
jq '.tasks[0].samples[3] = {}' "$stored" >damaged.json
daemons_is 125 "a damaged file" show --cutoffs damaged.json
ok "is told" grep -q '^tense: damaged.json: is damaged: .*: learn again with tense daemons learn$' stderr

# Long tasks are learnt by default. --time ends each series after ten samples.
learn 0 "without options of long tasks" --time 3s --cutoffs time.json --json
is "$(jq -c '[.tasks[] | [.task, (.samples | length >= 10)]]' time.json)" \
	'[["short",true],["long",true]]' "learns long ones, too"
ok "which are longer, and as long as the time allows" jq -e \
	'.tasks[1] | .length_s >= 0.04 and .length_s <= 0.3' time.json >verdict
ok "the time is announced" grep -q '^tense: this takes [23] s, and ends after --time if ' stderr
learn 0 "more samples than there is time for" --time 2s --samples 5000 \
	--cutoffs time.json --json --csv over
ok "ends by the time" jq -e '.tasks | all(.samples | length >= 10) and
	(.[0].asked == 5000) and (.[0].samples | length < 5000)' time.json >verdict
ok "and says so" grep -q \
	'^tense: --time is over: learning from [0-9]* of 5000 samples of 0.02 s$' stderr
# A terminal has one bar for both.
script -qec "'$tense' daemons learn --task-length 20ms --time 2s --cutoffs time.json" \
	/dev/null </dev/null | tr -d '\r' >screen
ok "a bar of short tasks" grep -q 'tense: short tasks \[[#.]*\] *[0-9]*%' screen
shares=$(tr '\033' '\n' <screen |
	sed -n 's/.*tense: \(short\|long\) tasks .* \([0-9]*\)%.*/\2/p')
is "$shares" "$(echo "$shares" | sort -n)" "goes on with that of long tasks"
ok "as one" grep -q 'tense: long tasks \[##' screen

# By CPU time, that of more samples than are needed.
"$tense" daemons learn --task-length 20ms --samples 100000 --quiet \
	--csv i >stdout 2>stderr </dev/null &
pid=$!
while cputime=$(awk '{ print $16 + $17 }' "/proc/$pid/stat") &&
      [ "$cputime" -lt 300 ]; do
	sleep 0.1
done
kill -INT "$pid"
wait "$pid"
is $? 130 "one that is interrupted"
unwrap stderr
is "$(sed 's/[0-9]* of 100000/N of 100000/' stderr)" \
	"tense: interrupted by signal 2 (Interrupt): the command was killed
tense: learning from N of 100000 samples of 0.02 s" "says so, and keeps what it has"
ok "which is stored" jq -e '.tasks[0] | .asked == 100000 and
	(.samples | length) >= 10' "$stored" >verdict
is "$(jq '.tasks[0].samples | length' "$stored")" \
	"$(sed 1d i/short-samples.csv | wc -l)" "and in tables"

# Misuse.
daemons_is 125 "nothing to do"
tense_said "daemons: say what to do: tense daemons learn, show or cutoffs"
daemons_is 125 "an unknown thing to do" cut
tense_said "daemons: 'cut' is not what it can do: see tense daemons --help"
daemons_is 125 "an argument too many" cutoffs x
tense_said "daemons: takes no argument 'x': see tense daemons --help"
daemons_is 125 "no files" cutoffs
tense_said "daemons cutoffs: needs --short-central FILE and --short-l FILE"
short 125 "half of the files of long tasks" --long-l "$l"
tense_said "daemons cutoffs: needs both of --long-central FILE and --long-l FILE, or none"
short 125 "an option without its file" --long-l
tense_said "daemons: --long-l needs an argument: see tense daemons --help"
short 125 "an unknown option" --fast
tense_said "daemons: unknown option '--fast': see tense daemons --help"
for length in 0 -1s x "" 5y; do
	daemons_is 125 "--task-length '$length'" learn --task-length "$length"
	tense_said "daemons learn: --task-length '$length' is not a time: write it as in 1s or 2m"
done
for n in 9 1.5 12x 100001 00; do
	daemons_is 125 "--long-samples '$n'" learn --long-samples "$n"
	tense_said "daemons learn: --long-samples '$n' is not a number from 10 to 100000, nor 0 for none"
done
for time in 0 -1s x "" 5y; do
	daemons_is 125 "--time '$time'" learn --time "$time"
	tense_said "daemons learn: --time '$time' is not a time: write it as in 20m or 3h"
done
daemons_is 125 "a time that is too short" learn --time 20s
tense_said "daemons learn: --time 20 s is too short for short and long tasks: give it at least 33 s, a shorter --task-length, or --long-samples 0"
daemons_is 125 "also for short tasks only" learn --time 5s --long-samples 0
tense_said "daemons learn: --time 5 s is too short: give it at least 12 s or a shorter --task-length"
daemons_is 125 "long tasks and none of them" learn --long-samples 0 --long-length 60s
tense_said "daemons learn: --long-length and --long-samples 0 contradict each other"
daemons_is 125 "long tasks that are not" learn --long-length 500ms
tense_said "daemons learn: --long-length 0.5 s is not longer than --task-length 1 s"
daemons_is 125 "an option of others" learn --short-l "$l"
tense_said "daemons: unknown option '--short-l': see tense daemons --help"
daemons_is 125 "a place that is none" learn --cutoffs /dev/null/x
tense_said "/dev/null/x: Not a directory"
daemons_is 125 "a directory that is a file" learn --csv l
tense_said "l: Not a directory"
daemons_is 125 "a picture that cannot be written" learn --svg gone/p.svg
tense_said "gone/p.svg: No such file or directory: create the directory first"
for period in a a= =4h a=x a=0 a=-1h a=4y a=1h,,b=2h; do
	short 125 "--periods $period" --periods "$period"
	case $period in
	*,,*) period= ;;
	esac
	tense_said "--periods: '$period' is not a daemon and its period: write it as in rhnsd=4h"
done
short 125 "two periods" --periods a=1h,a=2h
tense_said "--periods: 'a' has two periods"
done_testing
