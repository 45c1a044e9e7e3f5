#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# tense measure: process times, who else ran, what is left behind, bad input.
. "$source/tests/lib/tap.sh"

measured=$out/tests/unit/measured
in_tmp
visitor=
trap '[ -z "$visitor" ] || kill "$visitor"; rm -rf "$tmp"' EXIT
export XDG_DATA_HOME="$tmp/data"

# STATUS WHAT ARGUMENT...
measure_is() {
	tense_is measure "$@"
}

quick() { # STATUS WHAT ARGUMENT...
	status=$1
	what=$2
	shift 2
	measure_is "$status" "$what" --runs 2 --warmup 0 "$@"
}

# All samples in the file m are in a range: MIN MAX FIELD, the first two in s.
within() {
	ok "$3 is $1 to $2 s" jq -e --argjson min "$1" --argjson max "$2" \
		".commands[0].samples | length > 0 and
		all(.$3 >= \$min and .$3 <= \$max)" m >verdict
}

# CPU time is not the clock's on the wall: that it is not less is exact.
quick 0 "three threads and two children" --json m -- "$measured" 3 2 40
within 0.2 0.3 process_s
is "$(jq -c '[.version, .protocol, (.commands | length), (.commands[0].samples | length)]' m)" \
	'[2,"emp",1,2]' "the JSON says what was done"
is "$(jq -r '.commands[0].command | join("|")' m)" "$measured|3|2|40" \
	"and with what"
ok "of the machine, too" jq -e \
	'.environment | (.kernel | startswith("Linux ")) and (.kernel_version | startswith("#")) and .aslr != null' m >verdict
mkdir -p root/proc
echo 0.25 1 2 3/4 5 >root/proc/loadavg
printf 'model name: 1\nflags: fpu\n' >root/proc/cpuinfo
TENSE_SYSROOT=root "$tense" measure --runs 1 --json - -- true >e
is "$(jq -c '.environment | [.load, .cpu, .virtual_machine, .governor, .smt]' e)" \
	'[0.25,"1",false,null,null]' "numbers are numbers, and so on"
is "$(jq -c '.environment | [.cpus, .time_synchronised | type]' e)" \
	'["number","boolean"]' "also of this machine"
ok "elapsed time is at least that of a thread" jq -e \
	'.commands[0].samples | all(.elapsed_s >= 0.04)' m >verdict
ok "a table" grep -q '^  process time ' stdout
# Whatever comes in between makes the elapsed time longer, and not this one.
measure_is 0 "one that does nothing" --runs 150 --warmup 0 --json m -- true
ok "takes no more CPU time than there is, in any sample" jq -e \
	'.commands[0].samples | all(.process_s <= .elapsed_s)' m >verdict
quick 0 "children that a shell leaves behind" --json m -- \
	sh -c "$measured 1 0 50 & exit 0"
is "$(jq '.commands[0].samples | length' m)" 2 "are samples"
if [ "$(jq .degraded m)" = null ]; then
	quick 0 "children that nobody waits for" --json m -- \
		"$measured" 0 3 50 --unwaited
	# Each may lack up to a tick of the timer, 10 ms at most.
	within 0.12 0.25 process_s
else
	skip "children that nobody waits for: taskstats is not available here"
fi

# measure names another process that ran, even one that comes and goes. A sample
# lasts until one has come and gone.
cp "$measured" visitor
cp "$(command -v sh)" own-sh
: >visits
(while :; do ./visitor 1 0 60; echo >>visits; sleep 0.02; done) &
visitor=$!
cat >wait-for-visit <<'END'
from=$(wc -l <visits)
while [ "$(wc -l <visits)" -lt $((from + 2)) ]; do sleep 0.02; done
END
quick 0 "with a visitor" --json m --csv c --markdown d -- ./own-sh wait-for-visit
if [ "$(jq .degraded m)" = null ]; then
	# It may lack up to a tick of the timer, 10 ms at most.
	ok "it is named" jq -e '.commands[0].samples | all(.others |
		any(.name == "visitor" and .ns > 40000000))' m >verdict
	ok "and listed" jq -e '.others[] | select(.name == "visitor") |
		.samples == 2 and .longest_s > 0.04 and .dropped == 0' m >verdict
	ok "the command is not" jq -e '.others | all(.name != "own-sh")' m \
		>verdict
	printf '%s\n' 'daemon,task_time_limit_s,final_short_ms,final_long_ms' \
		'visitor,,10,10' >cutoffs
	quick 0 "with its cutoff" --cutoffs cutoffs --json m -- \
		./own-sh wait-for-visit
	is "$(jq -c '[.commands[0].samples[].dropped_for]' m)" \
		'["visitor","visitor"]' "its samples are dropped"
	is "$(jq -c '.commands[0].emp.process_s | [.samples, .mean]' m)" \
		'[0,null]' "none is left"
	ok "which is told" grep -q 'daemons spoiled all samples' stdout
	ok "with what it ran" grep -Eq \
		'sample 1 dropped: visitor ran [0-9.]+ ms, its cutoff is 10 ms' stdout
	jq -n '{version: 1, cutoffs: [{daemon: "visitor",
		task_time_limit_s: 0.001, final_short_ms: 10,
		final_long_ms: 20}]}' >cutoffs
	quick 0 "with one for its length" --cutoffs cutoffs -- \
		./own-sh wait-for-visit
	ok "it is that which is told" grep -Eq \
		'sample 1 dropped: visitor ran [0-9.]+ ms, its cutoff is 20 ms' stdout
	mkdir -p data/tense
	for limit in 0.001 100000; do
		jq -n "{version: 1, cutoffs: [{daemon: \"visitor\",
			task_time_limit_s: $limit, final_short_ms: 10,
			final_long_ms: 100000}]}" >data/tense/cutoffs.json
		quick 0 "the user's cutoffs, a long task from $limit s on" \
			--json m -- ./own-sh wait-for-visit
		is "$(jq -c '[.cutoffs, .commands[0].emp.process_s.samples]' m)" \
			"[\"$tmp/data/tense/cutoffs.json\",$([ $limit = 0.001 ] &&
				echo 2 || echo 0)]" "the one for its length holds"
	done
	rm data/tense/cutoffs.json
else
	skip "processes that come and go: taskstats is not available here"
fi
kill "$visitor"
wait "$visitor" 2>/dev/null
visitor=
is "$(head -1 c)" "command,metric,unit,samples,mean_all,stddev_all,kept,mean,stddev,low,high,ratio,ratio_low,ratio_high,verdict,min_all,max_all,min,max" \
	"CSV"
is "$(cut -d, -f1-4,12-15 c | sed 1d)" "./own-sh wait-for-visit,elapsed time,s,2,,,,
./own-sh wait-for-visit,process time,s,2,,,,
./own-sh wait-for-visit,by reference loop,loops,2,,,," "a line for each"
is "$(awk -F'|' '{ print NF }' d | sort -u) $(wc -l <d)" "8 5" "Markdown"

# Without the rights to more.
if unshare -Ur true 2>/dev/null; then
	unshare -Ur "$tense" measure --runs 2 --warmup 0 --json m -- \
		"$measured" 2 1 40 >stdout 2>stderr
	is $? 0 "an ordinary user"
	within 0.12 0.2 process_s
	ok "is told what is missing" jq -e \
		'.degraded | startswith("taskstats needs root, or CAP_NET_ADMIN: ")' \
		m >verdict
	ok "also in the table" grep -q 'taskstats needs root' stdout
	ok "and of others that live" jq -e '.others | length > 0' m >verdict
else
	skip "an ordinary user: there are no user namespaces here"
fi

# Two of them.
quick 0 "two commands" --runs 6 --json m --csv c --markdown d --compare "$measured 1 0 30" \
	"$measured 1 0 60; true"
is "$(jq -c '.commands | map(.command[0] | split("/") | last)' m)" \
	'["measured","sh"]' "a shell only where one is needed"
ok "the second takes twice as long" jq -e '.ratios.process_s |
	.low > 1 and .high < 4 and .verdict == "slower"' m >verdict
ok "in the table" grep -Eq '^  process time +[0-9.]+  \[[0-9. ]+\]  slower$' stdout
is "$(cut -d, -f12,15 c | sed 1,4d | xargs)" "$(jq -r '.ratios |
	.elapsed_s, .process_s, .process_loops | .ratio, .verdict' m |
	while read -r ratio && read -r verdict; do
		printf '%.9g,%s\n' "$ratio" "$verdict"
	done | xargs)" "in CSV, of the second"
ok "in Markdown" grep -Eqx \
	'[|] `.* 1 0 60; true` [|] `.* 1 0 30` [|] process time [|] [0-9.]+ [|] [0-9.]+ to [0-9.]+ [|] slower [|]' d
quick 0 "a command and itself" --json m --compare true true
is "$(jq -c '[.ratios.process_s.pairs <= 2, (.commands | length)]' m)" \
	'[true,2]' "in pairs"

measure_is 0 "one pair" --runs 1 --json m --markdown d --compare true true
is "$(jq -c '.ratios.elapsed_s | [.verdict, .low]' m)" '["unknown",null]' \
	"tells no interval"
ok "in the table" grep -Eq '^  elapsed time +[0-9.]+  unknown$' stdout
ok "nor in Markdown" grep -q ' | 1 of 1 | [0-9.]* | - | - |$' d
is "$(grep -hcw nan stdout d | xargs)" "0 0" "and no number that is none"

# So that two samples are as different as can be.
quick 0 "times that scatter" --csv c --json m -- \
	sh -c '[ -e odd ] && rm odd || { : >odd; sleep 0.5; }'
is "$(jq -c '.commands[0] | [.all, .emp | .elapsed_s | .low > 0 and .low < .mean and .mean < .high]' m)" \
	'[true,true]' "have an interval of times"

measure_is 0 "minimum and maximum" --runs 6 --json m --csv c -- \
	"$measured" 1 0 20
ok "are those of all samples" jq -e '.commands[0] |
	.all.elapsed_s.min == ([.samples[].elapsed_s] | min) and
	.all.elapsed_s.max == ([.samples[].elapsed_s] | max) and
	.emp.elapsed_s.min == ([.samples[] | select(.kept.elapsed_s).elapsed_s] | min) and
	.emp.elapsed_s.max == ([.samples[] | select(.kept.elapsed_s).elapsed_s] | max)' \
	m >verdict
is "$(sed -n 2p c | cut -d, -f16-19)" "$(jq -r '.commands[0] |
	.all.elapsed_s.min, .all.elapsed_s.max, .emp.elapsed_s.min, .emp.elapsed_s.max' m |
	while read -r value; do printf '%.9g\n' "$value"; done | paste -sd,)" "in CSV"
is "$(grep -A3 '^  *minimum  *maximum  *minimum  *maximum$' stdout |
	cut -c3-20 | sed 1d | xargs)" "elapsed time process time by reference loop" \
	"in the table"

# K-best.
measure_is 0 "K-best" --protocol k-best --k 2 --runs 4 --epsilon 0 \
	--json m --csv c --markdown d -- "$measured" 1 0 20
ok "takes the shortest of the samples" jq -e '.protocol == "k-best" and
	(.commands[0] | (.samples | length) as $n | $n >= 2 and $n <= 4 and
	.k_best.elapsed_s.best == ([.samples[].elapsed_s] | min) and
	.k_best.process_s.best == ([.samples[].process_s] | min) and
	(.k_best.elapsed_s.converged or $n == 4))' m >verdict
ok "those that did not agree are told" grep -Eq \
	'^  elapsed time .* (did not converge: 2 samples agree to [0-9.]+ % only|2 samples agree to 0.000 %)$' stdout
is "$(head -1 c) $(wc -l <c) $(wc -l <d)" \
	"command,metric,unit,samples,best,spread,converged 3 4" "in tables"
is "$(cut -d, -f1-3 c | sed 1d | xargs)" \
	"$measured 1 0 20,elapsed time,s $measured 1 0 20,process time,s" "of both times"
measure_is 0 "one that has to agree with itself" --protocol k-best --k 1 \
	--json m -- true
ok "does at once" jq -e '.commands[0] | (.samples | length) == 1 and
	.k_best.elapsed_s.converged and .k_best.elapsed_s.spread == 0' m >verdict
ok "in the table" grep -Eq '^  elapsed time .* 1 samples agree to 0.000 %$' stdout
measure_is 125 "an unknown protocol" --protocol fast -- true
tense_said "measure: --protocol 'fast' is not emp, k-best or auto"
measure_is 125 "K without its protocol" --k 4 -- true
tense_said "measure: --k and --epsilon apply only to --protocol k-best"
measure_is 125 "epsilon without it" --epsilon 0.01 -- true
tense_said "measure: --k and --epsilon apply only to --protocol k-best"
measure_is 125 "more than there will be" --protocol k-best --k 5 --runs 4 -- true
tense_said "measure: --runs 4 are fewer than have to agree, 5 (--k)"
measure_is 125 "two commands" --protocol k-best --compare true true
tense_said "measure: --compare applies only to --protocol emp"
for epsilon in -1 x "" 101% 1s 100%; do
	measure_is 125 "--epsilon '$epsilon'" --protocol k-best \
		--epsilon "$epsilon" -- true
	tense_said "measure: --epsilon '$epsilon' is not a fraction from 0 to 1, for example 0.001"
done
measure_is 125 "a percentage without its sign" --protocol k-best --epsilon 1 -- true
tense_said "measure: --epsilon '1' is a fraction, below 1: for 1 percent, write 0.01 or 1%"
for epsilon in 0.5 50%; do
	measure_is 0 "--epsilon $epsilon" --protocol k-best --k 2 --runs 2 \
		--epsilon $epsilon --json m -- true
	ok "is a half" jq -e '.commands[0].k_best.elapsed_s |
		.converged == (.spread <= 0.5)' m >verdict
done

# The protocol that fits length and load. $TENSE_SYSROOT tells the load: nothing
# makes a command shorter than what it sleeps.
loaded() { # LOAD STATUS WHAT ARGUMENT...
	echo "$1 0 0 1/200 4242" >root/proc/loadavg
	shift
	TENSE_SYSROOT=root measure_is "$@"
}
# A command of 0.1 to 1 s.
loaded 0 0 "auto, idle" --protocol auto --runs 3 --json m -- sleep 0.1
is "$(jq -c '[.protocol_asked, .protocol, .protocol_advice]' m)" \
	'["auto","k-best",null]' "takes k-best"
ok "and says so" grep -qx '  --protocol auto took k-best' stdout
loaded 0 0 "auto for a comparison" --protocol auto --runs 3 --json m --compare true true
is "$(jq -c '[.protocol_asked, .protocol]' m)" '["auto","emp"]' "takes emp"
loaded 99999 0 "auto beside much other work" --protocol auto --runs 3 --json m \
	-- sleep 0.1
is "$(jq -c '[.protocol_asked, .protocol, (.commands[0].samples | length)]' m)" \
	'["auto","emp",3]' "takes emp"
ok "and says so" grep -qx '  --protocol auto took emp' stdout
loaded 0 0 "auto for a long command" --protocol auto --runs 2 --k 2 --json m \
	-- sleep 1.01
is "$(jq -c '[.protocol, (.commands[0].samples | length)]' m)" '["emp",2]' \
	"takes emp"
loaded 99999 0 "auto without a number" --protocol auto --json m -- sleep 0.02
is "$(jq -c '[.protocol, (.commands[0].samples | length)]' m)" '["emp",10]' \
	"takes as many samples as EMP"
advises() { # PROTOCOL LOAD ID TEXT COMMAND...
	protocol=$1 load=$2 id=$3 text=$4
	shift 4
	loaded "$load" 0 "$protocol at load $load: $*" --protocol "$protocol" \
		--runs 3 --json m -- "$@"
	is "$(jq -c '.protocol_advice | [.id, .protocol]' m)" "$id" "advises $id"
	is "$(grep -c '^  --protocol' stdout) $(grep -cx "  $text" stdout)" \
		"$([ "$text" ] && echo 1 1 || echo 0 0)" "in one line, if at all"
}
advises emp 0 '["k-best-fits-length","k-best"]' \
	'--protocol k-best fits better: the command takes only [0-9.e-]* s' sleep 0.1
advises k-best 99999 '["emp-fits-load","emp"]' \
	'--protocol emp fits better: the command takes [0-9.e-]* s, and the machine does much other work' sleep 0.1
advises k-best 0 '["emp-fits-length","emp"]' \
	'--protocol emp fits better: the command takes [0-9.e-]* s' sleep 1.01
advises emp 99999 '[null,null]' '' sleep 0.1
advises k-best 0 '[null,null]' '' sleep 0.1
loaded 0 0 "auto of two commands" --protocol auto --runs 2 --warmup 0 --json m \
	--compare true true
is "$(jq -c '[.protocol, .protocol_advice]' m)" '["emp",null]' "compares"
measure_is 125 "auto without a warm-up" --protocol auto --warmup 0 -- true
tense_said "measure: --protocol auto needs a warm-up, which tells it how long the command takes: --warmup 1"
measure_is 125 "auto with too few samples" --protocol auto --runs 2 -- true
tense_said "measure: --runs 2 are fewer than have to agree, 3 (--k)"

# The sample-size study.
measure_is 0 "--choose-samples" --choose-samples --runs 50 --json m -- true
is "$(jq -c '.sample_sizes | .epsilon, (.elapsed_s, .process_s |
	[.sizes[] | [.samples, .subsets]])' m | xargs)" \
	"0.01 [[50,1],[25,2],[12,4],[6,8]] [[50,1],[25,2],[12,4],[6,8]]" \
	"halves the samples"
ok "the choice is the smallest size from which on none is further off" jq -e '
	.sample_sizes as $s | $s.elapsed_s, $s.process_s |
	([.sizes[] | select(.furthest_off == null or .furthest_off > $s.epsilon) |
	  .samples] | max // 0) as $bad |
	([.sizes[] | select(.subsets > 1 and .samples > $bad) | .samples] | min)
	== .chosen' m >verdict
ok "all samples are one subset, of which the means are those of the table" jq -e '
	.commands[0].emp as $emp | .commands[0].samples as $samples |
	.sample_sizes | .elapsed_s.sizes[0] |
	.between_means == null and .furthest_off < 1e-9 and
	.outliers == 50 - $emp.elapsed_s.samples' m >verdict
ok "both tables and choices are printed" [ "$(grep -Ec \
	'^  subsets by (elapsed|process) time; |^  n = (25|12|6): |^  no n: ' stdout)" = 4 ]
measure_is 0 "any error is allowed" --choose-samples --runs 12 --epsilon 0.999999 \
	--json m -- sleep 0.01
is "$(jq .sample_sizes.elapsed_s.chosen m)" 6 "the smallest size suffices"
ok "which is told" grep -q '^  n = 6: the smallest size at which no subset is off by more than 99.9999 %$' stdout
measure_is 0 "none is" --choose-samples --runs 12 --epsilon 0 --json m -- true
is "$(jq .sample_sizes.elapsed_s.chosen m)" null "none suffices"
ok "which is told" grep -q '^  no n: even a subset of half of the samples is off by more than 0 %: try ' stdout
quick 0 "without --choose-samples" --json m -- true
is "$(jq '.sample_sizes' m)" null "there is no study"
measure_is 125 "too few to halve" --choose-samples --runs 11 -- true
tense_said "measure: --runs 11 are too few to halve: --choose-samples needs 12"
for words in "--protocol k-best" "--protocol auto" "--compare true"; do
	# shellcheck disable=SC2086 # a list
	measure_is 125 "--choose-samples $words" --choose-samples $words true
	tense_said "measure: --choose-samples applies only to one command and --protocol emp"
done
measure_is 125 "K with it" --choose-samples --k 3 -- true
tense_said "measure: --k and --epsilon apply only to --protocol k-best"

# Clock, caches and timer interrupts.
# The counter is read by rdtscp, which some virtual machines lack.
has_counter() {
	grep -qw constant_tsc /proc/cpuinfo && grep -qw rdtscp /proc/cpuinfo
}
for clock in gettime raw counter; do
	[ $clock != counter ] || has_counter || continue
	quick 0 "--clock $clock" --clock $clock --json m -- sleep 0.1
	is "$(jq -r .clock m)" $clock "is told"
	# A clock whose rate nobody corrects may be a little slow.
	ok "and tells the time" jq -e '.commands[0].samples |
		all(.elapsed_s > 0.099)' m >verdict
done
ok "also in the table" grep -q "^  elapsed time is by [A-Zt].* (--clock)$" stdout
measure_is 125 "an unknown clock" --clock sundial -- true
tense_said "measure: --clock 'sundial' is not gettime, raw or counter"
quick 0 "cold caches" --cold --json m -- true
ok "are told" jq -e .cold m >verdict
ok "also in the table" grep -qx \
	'  the caches of the CPUs were emptied before each run (--cold)' stdout
quick 0 "--compensate" --compensate --json m -- "$measured" 1 0 100
if [ "$(jq .compensation m)" = null ]; then
	unwrap stderr
	is "$(cat stderr)" "tense: --compensate: timer interrupts stay in the elapsed times: the cost of a timer interrupt cannot be measured here and now" \
		"is said to be impossible"
	ok "then none is taken out" jq -e '.commands[0].samples | all(.ticks == 0)' \
		m >verdict
else
	ok "takes out as many as hit a CPU of the command" jq -e --argjson cpus "$(nproc)" '
		.compensation as $c | .commands[0].samples | all(
		([.process_s / $cpus, .elapsed_s + .ticks * $c.cost_s] | min) as $busy |
		.ticks == ($busy / $c.tick_s | floor))' m >verdict
	ok "which is told" grep -q '^  [0-9]* timer interrupts* of [0-9.]* us were taken out of elapsed times (--compensate)$' stdout
fi
mkdir -p root/sys/devices/system/cpu
echo 1-3 >root/sys/devices/system/cpu/nohz_full
TENSE_SYSROOT=root quick 0 "CPUs without ticks" --compensate --json m -- true
unwrap stderr
is "$(cat stderr)" "tense: --compensate: timer interrupts stay in the elapsed times: some CPUs have no timer interrupts while one task runs there (nohz_full)" \
	"are told"
is "$(jq -c '[.compensation, .clock, .cold, .commands[0].samples[].ticks]' m)" \
	'[null,"gettime",false,0,0]' "are not compensated for"
rm root/sys/devices/system/cpu/nohz_full

# measure copes with these commands.
quick 0 "gigabytes of output" -- sh -c 'head -c 2G /dev/zero'
is "$(cat stderr)" "" "go nowhere"
quick 0 "output that is shown" --show-output -- echo hello
is "$(grep -cx hello stdout)" 2 "is shown"
echo text >input
quick 0 "an input" --input input --show-output -- cat
is "$(grep -cx text stdout)" 2 "is read each time"
quick 0 "something before each" --prepare 'echo x >>prepared' -- true
is "$(xargs <prepared)" "x x" "is done before each"
measure_is 1 "which fails" --prepare 'exit 3' -- true
tense_said "--prepare: exit status 3: --show-output shows what it says, --ignore-failure goes on then"
quick 0 "daemons" -- sh -c 'setsid sleep 1000.5 & setsid sleep 1000.5 & exit 0'
is "$(pgrep -xf 'sleep 1000.5')" "" "are ended"
ok "which is told" grep -q 'left 4 processes behind, which were killed' stdout
# It becomes tense after it has started two of its own: one that stays, and one
# that ends in the second sample, and is nothing of the command's.
cat >starter <<'END'
sleep 1003.5 &
"$1" 0 1 600 &
shift
exec "$@"
END
sh starter "$measured" "$tense" measure --runs 2 --warmup 0 --json m -- \
	sleep 0.5 >stdout 2>stderr </dev/null
is $? 0 "one that has children before it is tense"
ok "neither kills them nor counts them" jq -e '.commands[0].samples |
	all(.left_behind == 0 and .process_s < 0.3)' m >verdict
stranger=$(pgrep -xf 'sleep 1003.5')
ok "which then go on" kill "$stranger"
# A child that tense had before its command may leave an orphan meanwhile. tense
# adopts it, as it adopts the command's orphans.
cat >starter <<'END'
sh -c 'sleep 1006.5 & until [ -e begun ]; do sleep 0.02; done' &
until pgrep -xf 'sleep 1006.5' >/dev/null; do sleep 0.02; done
sleep 0.1
exec "$@"
END
rm -f begun
sh starter "$tense" measure --runs 3 --warmup 0 --json m -- \
	sh -c ': >begun; sleep 0.5' >stdout 2>stderr </dev/null
is $? 0 "one that has grandchildren"
ok "nor does it count these" jq -e '.commands[0].samples |
	all(.left_behind == 0)' m >verdict
stranger=$(pgrep -xf 'sleep 1006.5')
ok "which go on, too" kill "$stranger"
measure_is 1 "one that hangs" --timeout 200ms -- \
	sh -c 'trap "" TERM; setsid sleep 1001.5 & sleep 1001.5'
tense_said "sh -c trap \"\" TERM; setsid sleep 1001.5 & sleep 1001.5: had not ended after 0.2 s (--timeout), and was killed"
is "$(pgrep -xf 'sleep 1001.5')" "" "nothing of it goes on"
# It would end by itself after hours: to be killed here is to hang.
timeout -s KILL 120 "$tense" measure --timeout 200ms -- \
	"$measured" 1 0 9999999 --other-group >stdout 2>stderr </dev/null
is $? 1 "one that left its process group"
unwrap stderr
tense_said "$measured 1 0 9999999 --other-group: had not ended after 0.2 s (--timeout), and was killed"
is "$(pgrep -xf "$measured 1 0 9999999 --other-group")" "" "is not left"
measure_is 1 "one that fails" -- sh -c 'exit 7'
tense_said "sh -c exit 7: exit status 7: --show-output shows what it says, --ignore-failure goes on then"
quick 0 "one that may" --ignore-failure -- sh -c 'exit 7'
measure_is 1 "one that a signal ends" -- sh -c 'kill -9 $$'
tense_said 'sh -c kill -9 $$: was ended by signal 9 (Killed): --ignore-failure goes on then'
"$tense" measure -- sleep 1002.5 >stdout 2>stderr &
pid=$!
for _ in $(seq 100); do
	pgrep -xf 'sleep 1002.5' >/dev/null && break
	sleep 0.1
done
kill -TERM "$pid"
wait "$pid"
is $? 143 "tense itself is ended"
unwrap stderr
tense_said "interrupted by signal 15 (Terminated): the command was killed"
is "$(pgrep -xf 'sleep 1002.5')" "" "with the command"

# These are not commands.
measure_is 127 "no such command" -- nonexistent-command
tense_said "nonexistent-command: command not found in PATH: check its spelling, install it, or give its path"
measure_is 127 "no such path" -- ./nonexistent
tense_said "./nonexistent: No such file or directory: check the program's path"
measure_is 126 "not a program" -- /etc/passwd
tense_said "/etc/passwd: Permission denied: make it executable by chmod +x, or name the program first that runs it"
printf '#!/nonexistent\n' >script && chmod +x script
measure_is 127 "a script of nobody's" -- ./script
tense_said "./script: cannot be executed: No such file or directory"
measure_is 127 "one of two" --compare true 'nonexistent-command x'
tense_said "nonexistent-command: command not found in PATH: check its spelling, install it, or give its path"

# Misuse.
measure_is 125 "no command"
tense_said "measure: no command: give it after two dashes, as in tense measure -- ls: see tense measure --help"
for words in true "true true true"; do
	# shellcheck disable=SC2086 # a list
	measure_is 125 "--compare with $words" --compare $words
	tense_said "measure: --compare needs two commands, each of them one word, as in tense measure --compare 'sort a' 'sort -u a'"
done
measure_is 125 "an empty command" --compare '' true
tense_said "measure: --compare: a command is empty"
for n in 0 -1 x 1.5 "" 1000000 99999999999999999999; do
	measure_is 125 "--runs '$n'" --runs "$n" -- true
	tense_said "measure: --runs '$n' is not a number from 1 to 100000"
done
for t in 0 -1s x "" 5y; do
	measure_is 125 "--timeout '$t'" --timeout "$t" -- true
	tense_said "measure: --timeout '$t' is not a time: write it as in 90s or 5m"
done
measure_is 125 "an option without its argument" --runs
tense_said "measure: --runs needs an argument: see tense measure --help"
for next in --csv --csv=x --; do
	measure_is 125 "--json with $next instead of a file" --json $next -- true
	tense_said "measure: --json needs an argument, but '$next' is an option: see tense measure --help"
	ok "which is not made" [ ! -e "./$next" ]
done
quick 0 "a file of such a name" --json=--csv -- true
ok "is made if it is meant" rm -- --csv
for t in 300s 5m 5min 1h 2d 300000ms 300000000us 300000000000ns 300 999999d 213503d; do
	measure_is 0 "--timeout $t" --timeout $t --runs 1 --warmup 0 -- true
done
measure_is 1 "--timeout 1ns" --timeout 1ns -- sleep 1000
tense_said "sleep 1000: had not ended after 1e-09 s (--timeout), and was killed"
measure_is 125 "an unknown option" --fast -- true
tense_said "measure: unknown option '--fast': see tense measure --help"
quick 0 "options of the command" -- true --runs x
measure_is 125 "an input that is not there" --input gone -- true
tense_said "gone: No such file or directory"
measure_is 125 "two tables in one" --json - --markdown - -- true
tense_said "measure: only one of --json, --csv and --markdown can be written to -, standard output"
measure_is 125 "a table and what the command prints" --show-output --csv - -- true
tense_said "measure: --show-output would mix what the command prints with what is written to -: name a file"
quick 0 "one" --csv - --json m -- true
is "$(wc -l <stdout)" 4 "is all of standard output"
measure_is 125 "a file that cannot be written" --json /nonexistent/x -- true
tense_said "/nonexistent/x: No such file or directory: create the directory first"
measure_is 125 "in a directory that is not there" --json gone/x \
	-- touch was-run
ok "is found before the command runs" test ! -e was-run
echo old >kept
measure_is 1 "a command that fails" --json kept --csv new -- false
is "$(cat kept)" old "leaves the old result"
ok "and makes no new one" test ! -e new
status_is 143 "a measurement that is interrupted" "$tense" measure --runs 1 \
	--warmup 0 --json kept -- sh -c 'kill -TERM $PPID; sleep 1'
is "$(cat kept)" old "leaves the old result"
is "$(echo .*.??????)" '.*.??????' "and nothing beside it"
quick 0 "a measurement that succeeds" --json kept -- true
ok "replaces it" jq -e ".version > 0" kept >/dev/null
quick 125 "a full disk" --csv /dev/full -- true
tense_said "/dev/full: No space left on device"

# Files of cutoffs.
bad() { # CONTENT MESSAGE
	printf '%b' "$1" >bad
	measure_is 125 "$2" --cutoffs bad -- true
	tense_said "$2"
}
bad '' "bad: is empty"
bad 'daemon\n' "bad:1: no column 'task_time_limit_s': the first line names the columns"
bad 'daemon,task_time_limit_s,final_short_ms,final_long_ms\na,,x,1\n' \
	"bad:2: 'x' is not a number that is 0 or more"
bad '{"version": 1, "cutoffs": [' "bad:1: ']' expected near end of file"
for json in '{}' '[]' '{"version": 2, "cutoffs": []}' '{"version": 1}'; do
	bad "$json" "bad: is not a file of cutoffs that this version of tense knows: write it with tense daemons cutoffs --json"
done
bad '{"version": 1, "cutoffs": [{}]}' "bad: a cutoff is without its daemon"
bad '{"version": 1, "cutoffs": [{"daemon": "a", "task_time_limit_s": -1}]}' \
	"bad: 'task_time_limit_s' of a cutoff is not a number that is 0 or more, nor null"
bad '{"version": 1, "cutoffs": [{"daemon": "a", "task_time_limit_s": null,
	"final_short_ms": 1, "final_long_ms": 1}, {"daemon": "a",
	"task_time_limit_s": null, "final_short_ms": 2, "final_long_ms": 2}]}' \
	"bad: 'a' is there twice: a daemon has one cutoff"
bad 'daemon,task_time_limit_s,final_short_ms,final_long_ms\na,,1,1\na,,2,2\n' \
	"bad:3: 'a' is there twice: a daemon has one cutoff"
measure_is 125 "a directory" --cutoffs . -- true
tense_said ".: Is a directory"
measure_is 125 "cutoffs that are not there" --cutoffs gone -- true
tense_said "gone: No such file or directory"
sed -n '/^daemon,task_time/,/^\.EE/p' "$source/tools/man/tense-measure.1" |
	sed '$d' >cutoffs
quick 0 "the file of the manual page" --cutoffs cutoffs -- true
ok "is known, too" grep -q 'cutoffs of 2 daemons from cutoffs' stdout
data=$source/tests/data
"$tense" daemons cutoffs --short-central "$data/emp-inc128-central.csv" \
	--short-l "$data/emp-inc128-l-samples.csv" >cutoffs
quick 0 "what tense daemons cutoffs prints" --cutoffs cutoffs -- true
ok "is known" grep -q 'cutoffs of 10 daemons from cutoffs' stdout
"$tense" daemons cutoffs --short-central "$data/emp-inc128-central.csv" \
	--short-l "$data/emp-inc128-l-samples.csv" --json >cutoffs
quick 0 "also as JSON" --cutoffs cutoffs -- true
ok "the same" grep -q 'cutoffs of 10 daemons from cutoffs' stdout
mkfifo pipe
cat cutoffs >pipe &
quick 0 "from a pipe" --cutoffs pipe -- true
ok "the same again" grep -q 'cutoffs of 10 daemons from pipe' stdout
done_testing
