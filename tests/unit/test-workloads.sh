#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# spinners and pi: what they print is right and complete. Not who is faster.
set -u
export LC_ALL=C TENSE=0

here=$(cd -- "$(dirname -- "$0")" && pwd)
bin=$here/../../workloads
tests=0 failed=0

ok() {	# STATUS NAME
	tests=$((tests + 1))
	if [ "$1" -eq 0 ]; then
		echo "ok $tests - $2"
	else
		failed=$((failed + 1))
		echo "not ok $tests - $2"
	fi
}

[ "$("$bin/pi" -n 51)" = \
	3.14159265358979323846264338327950288419716939937510 ]
ok $? "pi: 51 digits"
case $("$bin/pi" -n 1000) in
3.14*4999999837*9216420198) true ;;
*) false ;;
esac
ok $? "pi: 1000 digits"
case $("$bin/pi" -n 4000) in
*7211166039) true ;;
*) false ;;
esac
ok $? "pi: 4000 digits"
[ "$("$bin/pi" -n 1)" = 3. ]
ok $? "pi: one digit"

# Each one runs, and no two at the same time; it notes gaps from 20 us on.
"$bin/pi" --nice 6,6,3,3,0,0 | tail -n +2 | sort -t, -k3n | awk -F, '
	$3 < end - 0.020 || $4 < $3 { bad = 1 }
	{ end = $4; seen[$1 "," $2] = 1 }
	END { exit bad || !(seen["0,6"] && seen["1,6"] && seen["2,3"] &&
			    seen["3,3"] && seen["4,0"] && seen["5,0"]) }'
ok $? "pi: a race has a schedule without overlaps"

"$bin/spinners" --nice 0,3,6 -d 20,30 -n 2 | awk -F, '
	NR == 1 { bad = $0 != "mode,ms,run,spinner,setting,loops"; next }
	$1 != "nice" || $6 !~ /^[0-9]+$/ || seen[$2, $3, $4]++ { bad = 1 }
	END { exit bad || NR != 13 }'
ok $? "spinners: a line for each duration, run and spinner"

for arguments in "" "--nice" "--nice 20" "--nice 1,x" "--percent 0" \
		 "--percent 100001" "--nice 0 -d 0" "--nice 0 -n 0" "--no-such"; do
	# shellcheck disable=SC2086 # several words
	message=$("$bin/spinners" $arguments 2>&1 >/dev/null)
	[ $? -eq 2 ] && [ -n "$message" ]
	ok $? "spinners: misuse: '$arguments'"
done
"$bin/pi" -n 0 >/dev/null 2>&1
[ $? -eq 2 ]
ok $? "pi: misuse: no digits"

# Without virtual time a percent would mean nothing: no result is printed.
if [ ! -e /dev/tense ]; then
	output=$("$bin/spinners" --percent 100,50 2>/dev/null)
	[ $? -eq 1 ] && [ "$output" = "mode,ms,run,spinner,setting,loops" ]
	ok $? "spinners: no virtual time"
else
	tests=$((tests + 1))
	echo "ok $tests - spinners: no virtual time # SKIP there is /dev/tense"
fi

echo "1..$tests"
[ $failed -eq 0 ]
