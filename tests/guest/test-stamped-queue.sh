#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Jobs go through a queue whose producers and consumers stamp them: no job is
# taken before it was put, however fast either side is imagined (R9).
#
# TIERS and JOBS replace the defaults.
. "$source/tests/lib/tap.sh"
. "$source/tests/lib/tiers.sh"
. "$source/tests/lib/load.sh"

program=$out/tests/guest/stamped-queue
in_tmp -p /var/tmp
trap 'unload; rm -rf "$tmp"' EXIT

# TIER LOAD KIND PERCENTS
check() {
	local name="$1, $2, $3${4:+, percents $4}" count jobs negative worst

	# shellcheck disable=SC2046,SC2086 # a command, and two numbers or none
	$(tier_command "$1") "$program" "$3" "$wanted" $4 >counts 2>messages \
		</dev/null
	is $? 0 "$name: succeeds"
	sed 's/^/# /' messages
	count=$(sed 's/.* //' counts | xargs)
	read -r jobs negative worst <<<"$count"
	is "$jobs" "$wanted" "$name: all jobs"
	ok "$name: negative waits: $negative" [ "$negative" = 0 ]
	[ "$negative" = 0 ] || echo "# the worst is $worst ns"
}

for tier in ${TIERS:-$tiers}; do
	has_cpus "$tier" || continue
	case $tier in
	exact-*) wanted=${JOBS:-10000} ;;
	qemu-*) wanted=${JOBS:-20000} ;;
	*) wanted=${JOBS:-50000} ;;
	esac
	case $tier in
	exact-*) loads=quiet percents=', 50 200, 200 50' ;;
	host | real-*) loads=busy percents=' ' ;; # which mean nothing there
	*) loads='quiet busy' percents=', 50 200, 200 50' ;;
	esac
	for load in $loads; do
		[ "$load" = quiet ] || load
		for kind in locked ring; do
			while read -r -d , pair; do
				check "$tier" "$load" $kind "$pair"
			done <<<"$percents,"
		done
		unload
	done
done
done_testing
