#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The programs that turn measurements into tables: numbers that are known come
# out, and input that is not complete is refused.
. "$source/tests/lib/tap.sh"

# The last part of a pipe counts its tests here.
shopt -s lastpipe

bench=$out/bench
tap_shown=output
in_tmp
export FIGURES=$tmp/figures

figure() {	# ID VALUE SAMPLES: all of its numbers are VALUE
	awk -v id="$1" -v value="$2" -v samples="$3" '
		function is(x) { return x - value < 1e-6 && value - x < 1e-6 }
		$2 == id { found = is($3) && is($4) && is($5) && $6 == samples }
		END { exit !found }' figures
}

refused() {	# PROGRAM NAME [ARGUMENT]...: input from stdin
	local program=$1 name=$2
	shift 2
	! "$bench/$program" "$@" >output 2>&1 && grep -q '^bench: ' output
	passed $? "$program refuses $name"
}

# Spinners: 100 : 50 exactly, then 2 % too many loops.
spinners() {	# SETTING LOOPS SETTING LOOPS MODE MS
	echo "mode,ms,run,spinner,setting,loops"
	for run in 0 1 2; do
		echo "$5,$6,$run,0,$1,$2"
		echo "$5,$6,$run,1,$3,$4"
	done
}
spinners 100 1000 50 500 percent 100 | "$bench/spinner-table" sum >output 2>&1
figure spinner_error_percent_100_ms 0 3 &&
	[ "$(tail -n 1 sum)" = \
	  "percent,100,3,0.000000,0.000000,0.000000,0.000000" ]
passed $? "spinner-table: exact shares"
spinners 100 1000 50 510 percent 1000 | "$bench/spinner-table" >output 2>&1
figure spinner_error_percent_1000_ms 2 3
passed $? "spinner-table: 2 % too much"
spinners 0 1024 5 335 nice 30 | "$bench/spinner-table" >output 2>&1
figure spinner_error_nice_30_ms 0 3
passed $? "spinner-table: nice levels by weight"
spinners 100 1000 50 0 percent 5 | "$bench/spinner-table" >output 2>&1
figure spinner_error_percent_5_ms 100 3
passed $? "spinner-table: one that never ran"
{
	spinners 100 1000 50 500 percent 100
	spinners 100 1000 50 500 percent 200 | tail -n +2
} | "$bench/spinner-table" sum >output 2>&1
[ "$(wc -l <sum)" -eq 3 ]
passed $? "spinner-table: two durations"
spinners 100 0 50 500 percent 100 | refused spinner-table "a first one that never ran"
spinners 100 9 50 500 percent 100 | sed 3d | refused spinner-table "half a run"
echo "something else" | refused spinner-table "other input"
refused spinner-table "no input" </dev/null

log() {	# BASELINE PREDICTED TRUTH
	echo "run calibration 0"
	echo "calibrated_cut 20"
	for round in 0 1 2; do
		for variant in "baseline $1" "predicted $2" "truth $3"; do
			echo "run ${variant% *} $round"
			for key in elapsed_ns cpu_ns real_ns compress_chunk_ns; do
				echo "$key ${variant#* }"
			done
		done
	done
}
log 1000000000 800000000 810000000 >whatif
"$bench/whatif-table" <whatif >output 2>&1
figure dedup_predicted_minus_true 1 3 &&
	figure dedup_predicted_minus_true_wall 1 3
passed $? "whatif-table: predicted minus true"
grep -q '^predicted (virtual time) .*0.800 .* 20.00 ' output &&
	grep -q '^the truth (CPU time) .*0.810 .* 19.00 ' output
passed $? "whatif-table: its rows"
sed '/^run truth 2$/,$d' whatif | refused whatif-table "a round without truth"
grep -v real_ns whatif | refused whatif-table "runs without a key"
{ cat whatif; echo "dedup: cannot read"; } | refused whatif-table "complaints"
refused whatif-table "no input" </dev/null

"$bench/ratio" a truth cpu_ns baseline cpu_ns <<<"$(sed 1,2d whatif)" \
	>output 2>&1
figure a 0.81 3
passed $? "ratio"
"$bench/ratio" b -x truth cpu_ns baseline cpu_ns <<<"$(sed 1,2d whatif)" \
	>output 2>&1
figure b -19 3
passed $? "ratio, how far from 1"

"$bench/ratio" c -d truth cpu_ns baseline cpu_ns <<<"$(sed 1,2d whatif)" \
	>output 2>&1
figure c -190000 3 && grep -q '^cpu_ns minus cpu_ns, us: ' output
passed $? "ratio, the difference in us"

for round in 0 1; do
	echo "run experiment $round"
	printf 'slab_kb 150\npercpu_kb 3\nused_kb 400\n'
	echo "run plain $round"
	printf 'slab_kb 50\npercpu_kb 1\nused_kb 200\n'
done | "$bench/memory-table" >output 2>&1
figure thousand_tasks_bytes 104448 2
passed $? "memory-table"

{
	echo "runner,setting,start_ms,end_ms"
	echo "0,6,1.0,2.0"
	echo "0,6,5.0,7.0"
	echo "1,0,2.0,5.0"
} | "$bench/pi-table" >output 2>&1
[ "$(awk 'NR > 1 { print $1, $2, $3, $4, $5, $6 }' output)" = \
  "1 1 0 5.0 3.0 1
2 0 6 7.0 3.0 2" ]
passed $? "pi-table: order, time and stretches"

# Two runs of two batches at two utilisations, which wait so many ms.
queue() {	# WAIT WAIT WAIT WAIT SERVED
	echo "model,utilisation,seed,batch,wait,own,ideal,formula,served,length,late,measured"
	for utilisation in 0.3 0.9; do
		for run in 1 2; do
			for batch in 0 1; do
				echo "d,$utilisation,$run,$batch,${1}000000,2000000,1000000,1071429,$5,5000000,9,${1}500000"
				set -- "$2" "$3" "$4" "$1" "$5"
			done
		done
	done
}
queue 1 2 3 6 5000000 >reference
queue 1 2 3 10 5050000 >virtual
"$bench/queue-table" reference virtual points >output 2>&1
[ "$(awk 'NR > 2 { print $1, $2, $3, $4, $8, $9, $10, $11, $NF }' \
	FS='[][| ]+' output)" = \
  "0.30 1.071 1.000 3.000 4.000 1.0 2.000 1.000 inside
0.90 1.071 1.000 3.000 4.000 1.0 2.000 1.000 inside" ]
passed $? "queue-table: means, inside"
"$bench/queue-table" -m reference virtual >output 2>&1
[ "$(awk 'NR > 2 { print $4, $8, $NF }' FS='[][| ]+' output)" = \
  "3.500 4.500 inside
3.500 4.500 inside" ]
passed $? "queue-table -m: waits by the program's stamps"
sed 's/,[0-9]*$/,18446744073709500000/' virtual >backwards
"$bench/queue-table" -m reference backwards >output 2>&1
[ "$(grep -c ' OUTSIDE$' output)" -eq 2 ]
passed $? "queue-table -m: negative waits"
queue 1 2 3 60 5000000 >virtual
"$bench/queue-table" reference virtual points >output 2>&1
[ "$(grep -c ' OUTSIDE$' output)" -eq 2 ] && [ "$(cat points)" = \
	"utilisation,seed,wait_ms,formula_ms
0.3,1,1.500000,1.071429
0.3,2,31.500000,1.071429
0.9,1,1.500000,1.071429
0.9,2,31.500000,1.071429" ]
passed $? "queue-table: outside, and the points"
queue 1 2 3 6 5300000 >disturbed
"$bench/queue-table" disturbed virtual >output 2>&1
[ "$(grep -c ' disturbed$' output)" -eq 2 ]
passed $? "queue-table: a disturbed reference"
"$bench/queue-table" disturbed disturbed >output 2>&1
[ "$(grep -c ' inside$' output)" -eq 2 ]
passed $? "queue-table: both take longer"
sed s/1071429/nan/ reference >other
"$bench/queue-table" other other >output 2>&1
[ "$(awk 'NR > 2 { print $2 }' output | sort -u)" = - ]
passed $? "queue-table: without a formula"
sed '$d' reference >other
refused queue-table "half a run" reference other
sed s/,1000000,/,1100000,/ reference >other
refused queue-table "other jobs" reference other
sed 's/,[0-9]*$//' reference >other
refused queue-table "half a line" other reference
head -n 1 reference >other
refused queue-table "no runs" other reference
refused queue-table "other input" whatif reference
refused queue-table "what is not there" reference no-such
refused queue-table "points that cannot be written" reference reference \
	/no/such/points

cat >given <<END
figure ping_pong_ratio 1.005 0.99 1.02 10
figure percent_pair_ratio 3.5 3.4 3.6 10
figure dedup_predicted_minus_true -0.7 -1.2 0.1 10
figure wake_late_50_median_us -700 -900 -500 10
figure wake_late_50_p99_us 21 20 22 10
figure unknown 1 1 1 1
END
"$bench/report" report.json <given >output 2>&1 &&
	grep -q '^ping-pong.* 1.0050 .* reached$' output &&
	grep -q '^percent pair by write.* 3.500 .* MISSED$' output &&
	grep -q '^dedup, predicted.* -0.70 .* reached$' output &&
	grep -q '^wake-up beyond real, percent 50, median  *-700.0 .* reached$' output &&
	grep -q '^wake-up beyond real, percent 50, p99  *21.0 .* MISSED$' output &&
	grep -q '^CPU-bound.* MISSING$' output
passed $? "report: reached, missed and missing"
jq -e '.version == 1 and
	(.figures | length) == 28 and
	(.figures[] | select(.id == "percent_pair_ratio") |
	 .value == 3.5 and .low == 3.4 and .high == 3.6 and .samples == 10 and
	 .target == 3 and .reached == false) and
	(.figures[] | select(.id == "cpu_bound_error") |
	 .value == null and .samples == 0 and .reached == false)' \
	report.json >output 2>&1
passed $? "report: JSON"
echo "figure x 1 2" | refused report "half a figure" report.json
"$bench/report" /no/such/report.json <given >output 2>&1
[ $? -eq 1 ] && grep -q "cannot write" output
passed $? "report: a file that cannot be written"

# Figures of clocks: the shortest routines only.
"$bench/clock-figures" steps 1 >steps 2>output
awk -F, 'NR == 1 { head = $0; next }
	{ n++; bad += $1 < real || $2 < told; real = $1; told = $2 }
	END { exit !(head == "real_us,gettimeofday_us" && n == 400 && !bad && told > 0) }' \
	steps
passed $? "clock-figures: both clocks go on, and neither goes back"
mkdir -p build
ln -s "$bench" build/bench
LONGEST_MS=0.06 "$source/tests/bench/clocks" build >output 2>&1
passed $? "clocks"
series() { # FIGURE
	sed 1d "build/experiments/clock-$1.csv" | cut -d, -f1 | uniq -c |
		sed 's/^ *//' | paste -sd,
}
k="12 K = 1,12 K = 2,12 K = 3,12 K = 4,12 K = 5"
[ "$(series k)" = "$k" ] && [ "$(series k-beside)" = "$k" ] &&
	[ "$(series compensated)" = "12 raw,12 compensated" ] &&
	[ "$(series together)" = "12 alone,12 first of two,12 second of two" ]
passed $? "clocks: each series has each length"
awk -F, 'FNR > 1 && $1 == "K = 1" { n++; bad += !$5 } END { exit !(n && !bad) }' \
	build/experiments/clock-k.csv
passed $? "clocks: one time agrees with itself"
bad=0
for figure in steps k k-beside compensated together; do
	xmllint --noout "build/experiments/clock-$figure.svg" || bad=1
done >output 2>&1
passed $bad "clocks: five pictures"
for arguments in "" "k" "k 0" "k x" "k 0.05" "curve 1" "k 1 1"; do
	# shellcheck disable=SC2086 # a list
	refused clock-figures "'$arguments'" $arguments
done

done_testing
