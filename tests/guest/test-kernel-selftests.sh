#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The kernel's own selftests of timers and futexes, listed in kernel-selftests:
# all pass in an experiment, as they do in real time in the same guest.
#
# A busy host cannot fail them. In the experiment idle time is skipped, so that a
# sleep ends at its deadline, whenever the host wakes the guest. In real time
# a test that depends on latency is tried, but its failure is only reported. An
# emulated machine with the host's clock counts what the host gives to others as
# its own time: there, such a test has three tries. If all fail, it must pass where
# instructions are counted, unless that takes too long.
#
# TIERS replaces the default. LONG=1 also runs the long tests in real time,
# and all of them in an experiment whose idle time is real.
. "$source/tests/lib/tap.sh"
. "$source/tests/lib/tiers.sh"

in_tmp -p /var/tmp
cp "$out"/tests/guest/selftests/* .
grep -v '^#' "$source/tests/guest/kernel-selftests" >list

# Reads lines of the list, and leaves the number, status and output of each test.
cat >guest.sh <<'END'
tries=$1
while read -r number how test; do
	left=$tries
	[ "$how" != order ] || left=1
	while
		# shellcheck disable=SC2086 # a name and its arguments
		./$test >"$number.out" 2>&1 </dev/null
		status=$?
		left=$((left - 1))
		[ "$left" -gt 0 ] && { [ "$status" != 0 ] ||
			grep -q '^not ok\|\[FAIL' "$number.out"; }
	do :; done
	echo "$number $status" >>status
done <selected
END

# TIER TIME: prints the command that runs the tests there, in that kind of time.
runner() {
	case $2 in
	real) tier_command "real-$1" ;;
	skip) tier_command "$1" --idle skip ;;
	idle) tier_command "$1" --idle real ;;
	esac
}

# TIER TIME: prints the tests that run there, with their numbers.
choose() {
	local not='^$'

	case $1,$2,${LONG:-} in
	exact-*) not='^cpu ' ;;
	*,real,) not='^long ' ;;
	esac
	grep -n '' list | sed 's/:/ /' | awk -v not="$not" '
		{
			line = $0
			sub(/^[0-9]+ /, "", line)
			if (line !~ not)
				print
		}'
}

# NUMBER: checks the output as well, because some tests fail with status 0.
passed() {
	grep -qx "$1 0" status && ! grep -q '^not ok\|\[FAIL' "$1.out"
}

# FILE: prints readings that are out of order, and the end of the output.
show() {
	{
		grep -A 3 -m 1 -e '^-----' "$1"
		tail -n 5 "$1"
	} 2>/dev/null | sed 's/^/# /'
}

# TIER TIME NUMBER HOW TEST: runs the test where the host has no influence.
count_instructions() {
	echo "# $1, $2: $5: fails, as it may on a busy host: runs again where instructions are counted"
	echo "$3 $4 $5" >selected
	grep -v "^$3 " status >others
	mv others status
	# shellcheck disable=SC2046 # a command
	timeout -k 10 600 $(runner "exact-${1##*-}" "$2") sh guest.sh 1 2>&1 </dev/null | sed 's/^/# /'
}

# TIER TIME NUMBER HOW TEST
judge() {
	local name="$1, $2: $5"

	if [ "$4" != order ] && ! passed "$3"; then
		case $1,$2 in
		*,real)
			echo "# $name: fails, as it may on a busy host"
			return
			;;
		qemu-*) [ "$4" = cpu ] || count_instructions "$@" ;;
		esac
	fi
	ok "$name" passed "$3"
	passed "$3" || show "$3.out"
}

# TIER TIME
run() {
	local tries=1

	case $1,$2 in
	qemu-*,real) ;;
	qemu-*) tries=3 ;;
	esac
	rm -f status ./*.out
	touch status
	choose "$1" "$2" >selected
	# shellcheck disable=SC2046 # a command
	timeout -k 10 1500 $(runner "$1" "$2") sh guest.sh "$tries" >messages 2>&1 </dev/null
	is $? 0 "$1, $2: the tests end"
	sed 's/^/# /' messages
	cp selected chosen
	while read -r number how test; do
		judge "$1" "$2" "$number" "$how" "$test"
	done <chosen
}

for tier in ${TIERS:-$tiers}; do
	has_cpus "$tier" || continue
	run "$tier" skip
	[ -z "${LONG:-}" ] || run "$tier" idle
	# The exact tier counts instructions: there is no real time.
	is_exact "$tier" || run "$tier" real
done
done_testing
