#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A producer and a consumer on two CPUs, one imagined slower or faster. When they meet,
# they find the same as if that one really had more or less to do. The guest counts
# instructions, so that the counts are the same each time.
. "$source/tests/lib/tap.sh"

producer=$out/tests/guest/producer
in_tmp -p /var/tmp

# HOW they meet, and their percents.
cat >cases <<END
drop 100 50
drop 100 80
drop 125 100
drop 200 100
race 100 50
race 200 100
wait 100 50
wait 200 100
END

# All in one guest, each into a file of its own. Two instructions a unit: 1 ms for an
# item, and for the consumer a little less.
window=500 gives=1000 takes=950
# shellcheck disable=SC2016 # for the guest's shell
"$out/bin/tense" run --deterministic --cpus 2 --window ${window}us \
	--file "$producer" -- sh -c '
	give=$((500 * $2)) take=$((500 * $3))
	for how in drop race wait; do
		"$1" $how $give 100 $take 100 >$how || exit
	done
	while read -r how p c; do
		"$1" $how $give $p $take $c >$how-$p-$c.imagined || exit
		"$1" $how $((give * 100 / p)) 100 $((take * 100 / c)) 100 \
			>$how-$p-$c.real || exit
	done <cases' sh "$producer" $gives $takes >messages 2>&1
status=$?
is $status 0 "all meetings"
sed 's/^/# /' messages
[ $status = 0 ] || done_testing

# FILE WHAT: a count, of one meeting
count() {
	sed -n "s/^$2 //p" "$1"
}

items=$(count drop produced)

# CASE WHAT TOLERANCE: as it really is
same() {
	local imagined real

	imagined=$(count "$1.imagined" "$2") real=$(count "$1.real" "$2")
	ok "$1: $2 $imagined, and really $real" [ $((
		imagined - real <= $3 && real - imagined <= $3)) = 1 ]
}

# CASE WHAT: by more than a tenth not what it is if both have as much to do
matters() {
	local before real

	before=$(count "${1%%-*}" "$2") real=$(count "$1.real" "$2")
	ok "$1: $2 $real, and $before at percent 100" [ $((
		10 * (real - before) > items ||
		10 * (before - real) > items)) = 1 ]
}

while read -r how p c; do
	name=$how-$p-$c
	# These counts follow from the speeds.
	exact=$((items / 100))
	same "$name" consumed $exact
	# These follow from which process comes first at each item. Within a
	# window, the order is not determined.
	close=$((items * window * c / (takes * 100)))
	case $how in
	drop)
		matters "$name" dropped
		same "$name" dropped $exact
		same "$name" fill $close
		;;
	race)
		matters "$name" missed
		same "$name" missed $close
		same "$name" again $close
		;;
	wait)
		matters "$name" full
		same "$name" took $(($(count "$name.real" took) / 100))
		same "$name" full $close
		same "$name" empty $close
		;;
	esac
done <cases

done_testing
