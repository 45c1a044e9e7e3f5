#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# spinners, pi, queue and speeds: what they print is right and complete. Not who
# is faster.
. "$source/tests/lib/tap.sh"

export TENSE=0
bin=$out/workloads

[ "$("$bin/pi" -n 51)" = \
	3.14159265358979323846264338327950288419716939937510 ]
passed $? "pi: 51 digits"
case $("$bin/pi" -n 1000) in
3.14*4999999837*9216420198) true ;;
*) false ;;
esac
passed $? "pi: 1000 digits"
case $("$bin/pi" -n 4000) in
*7211166039) true ;;
*) false ;;
esac
passed $? "pi: 4000 digits"
[ "$("$bin/pi" -n 1)" = 3. ]
passed $? "pi: one digit"

# Each one runs, and no two at the same time; it notes gaps from 20 us on.
"$bin/pi" --nice 6,6,3,3,0,0 | tail -n +2 | sort -t, -k3n | awk -F, '
	$3 < end - 0.020 || $4 < $3 { bad = 1 }
	{ end = $4; seen[$1 "," $2] = 1 }
	END { exit bad || !(seen["0,6"] && seen["1,6"] && seen["2,3"] &&
			    seen["3,3"] && seen["4,0"] && seen["5,0"]) }'
passed $? "pi: a race has a schedule without overlaps"

"$bin/spinners" --nice 0,3,6 -d 20,30 -n 2 | awk -F, '
	NR == 1 { bad = $0 != "mode,ms,run,spinner,setting,loops"; next }
	$1 != "nice" || $6 !~ /^[0-9]+$/ || seen[$2, $3, $4]++ { bad = 1 }
	END { exit bad || NR != 13 }'
passed $? "spinners: a line for each duration, run and spinner"

for arguments in "" "--nice" "--nice 20" "--nice 1,x" "--percent 0" \
		 "--percent 100001" "--nice 0 -d 0" "--nice 0 -n 0" "--no-such"; do
	# shellcheck disable=SC2086 # several words
	message=$("$bin/spinners" $arguments 2>&1 >/dev/null)
	[ $? -eq 2 ] && [ -n "$message" ]
	passed $? "spinners: misuse: '$arguments'"
done
"$bin/pi" -n 0 >/dev/null 2>&1
[ $? -eq 2 ]
passed $? "pi: misuse: no digits"

# Mean waits by Pollaczek and Khinchine, which a million jobs come close to.
queue() {	# ARGUMENT...: without the header
	"$bin/queue" --dry-run "$@" | tail -n +2
}
near() {	# COLUMN EXPECTED ERROR: of one line
	awk -F, -v column="$1" -v expected="$2" -v error="$3" '
		{ difference = $column / expected - 1 }
		END { exit NR != 1 || difference > error || difference < -error }'
}
many="--jobs 1000000 --batch 1000000 --seeds 4 -u 0.5"
# shellcheck disable=SC2086 # several words
{
	queue $many | near 8 2500000 0
	passed $? "queue: the formula for M/D/1"
	queue $many | near 7 2500000 0.02
	passed $? "queue: jobs wait as by the formula"
	queue $many --model m | near 8 5000000 0
	passed $? "queue: the formula for M/M/1"
	queue $many --model m | near 7 5000000 0.02
	passed $? "queue: jobs of exponential length wait as by the formula"
	queue $many --model m | near 10 5000000 0.01
	passed $? "queue: the mean of exponential lengths"
	queue $many --speed 50 | near 8 5000000 0
	passed $? "queue: a slow server's jobs wait longer"
	queue $many --speed 50,200 | near 10 6250000 0
	passed $? "queue: the mean length of jobs in turns"
	[ "$(queue $many --speed 50,200 | cut -d, -f 8)" = nan ]
	passed $? "queue: no formula for jobs in turns"
}
[ "$(queue --percent 50,200)" = "$(queue --speed 50,200)" ]
passed $? "queue: a server that is imagined slower has the same jobs"
[ "$(queue --seeds 7)" = "$(queue --seeds 7)" ] &&
	[ "$(queue --seeds 7)" != "$(queue --seeds 8)" ]
passed $? "queue: the same seed, the same jobs"
[ "$(queue | wc -l)" -eq 126 ]
passed $? "queue: a line for each batch of each run"

# Really: nobody is served early, before others, or while others are.
for room in "" "--room 1"; do
	# shellcheck disable=SC2086 # no word, or two
	"$bin/queue" -u 0.9 --seeds 1 --jobs 20 --batch 1 --service 1000 $room |
		awk -F, 'NR == 1 { next }
		$5 < $6 || $9 <= 0 || $11 < 0 { bad = 1 }
		{ own += $6 }
		END { exit bad || NR != 21 || !own }'
	passed $? "queue: served one after the other ${room:-without bound}"
done

for arguments in "-u 0" "-u 1" "-u 0.5,x" "--seeds -1" "--jobs 0" \
		 "--jobs 20 --batch 15" "--service 1" "--model x" "--speed 0" \
		 "--percent 100001" "--room 0" "--no-such" "word"; do
	# shellcheck disable=SC2086 # several words
	message=$("$bin/queue" $arguments 2>&1 >/dev/null)
	[ $? -eq 2 ] && [ -n "$message" ]
	passed $? "queue: misuse: '$arguments'"
done

for arguments in "" "100" "100 0" "100 x" "0 10" "100, 10" "100001 10" \
		 "100 10 10"; do
	# shellcheck disable=SC2086 # several words
	message=$("$bin/speeds" $arguments 2>&1 >/dev/null)
	[ $? -eq 2 ] && [ -n "$message" ]
	passed $? "speeds: misuse: '$arguments'"
done

# Without virtual time a percent would mean nothing: no result is printed.
if [ ! -e /dev/tense ]; then
	output=$("$bin/spinners" --percent 100,50 2>/dev/null)
	[ $? -eq 1 ] && [ "$output" = "mode,ms,run,spinner,setting,loops" ]
	passed $? "spinners: no virtual time"
	output=$("$bin/queue" --percent 50 2>/dev/null)
	[ $? -eq 1 ] && [ "$(wc -l <<<"$output")" -eq 1 ]
	passed $? "queue: no virtual time"
	message=$("$bin/speeds" 100,50 10 2>&1 >/dev/null)
	[ $? -eq 1 ] && [ "$message" = "speeds: no virtual time: No such device" ]
	passed $? "speeds: no virtual time"
else
	for program in spinners queue speeds; do
		skip "$program: there is /dev/tense"
	done
fi

done_testing
