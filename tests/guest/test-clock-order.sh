#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# No reading of a clock is earlier than a reading that happened before it (R9):
# in real time, and in an experiment on each tier, by each way of reading the
# clock, at each percent. A busy host must not matter: other processes compute
# beside every second run.
#
# TIERS and READINGS replace the defaults. The last lines are a table.
. "$source/tests/lib/tap.sh"
. "$source/tests/lib/tiers.sh"
. "$source/tests/lib/load.sh"

program=$out/tests/guest/clock-order
in_tmp -p /var/tmp
trap 'unload; rm -rf "$tmp"' EXIT

# TIER: prints the readings per line of output. So many take less than a minute, beside a load.
# "make clock-order" takes a million.
default_readings() {
	case $1 in
	host) echo 50000 ;;
	real-*) echo 5000 ;;
	uml) echo 2000 ;;
	qemu-*) echo 10000 ;;
	exact-*) echo 5000 ;;
	esac
}

# FILE BY PERCENT: prints the number of readings, of early ones, and the worst over all
# hand-overs.
sum() {
	awk -F, -v by="$2" -v percent="$3" '
		$1 == by && $2 == percent {
			readings += $4
			early += $5
			if ($6 > worst)
				worst = $6
		}
		END { printf "%d %d %d\n", readings, early, worst }' "$1"
}

in_order() {	# READINGS EARLY
	[ "$1" -ge "$wanted" ] && [ "$2" = 0 ]
}

# TIER LOAD BY PERCENT
check() {
	local tier=$1 load=$2 by=$3 percent=$4 readings early worst

	read -r readings early worst <<<"$(sum "$tier-$load" "$by" "$percent")"
	ok "$tier, $load, by $by, percent $percent: $readings readings, $early early" \
		in_order "$readings" "$early"
	[ "$early" = 0 ] ||
		awk -F, -v by="$by" -v percent="$percent" '
			$1 == by && $2 == percent && $5 {
				printf "# by %s: %d of %d, worst %.1f us\n",
				       $3, $5, $4, $6 / 1000
			}' "$tier-$load"
	printf '%-10s %-5s %-5s %-9s %10d %8d %12.1f\n' "$tier" "$load" "$by" \
		"$percent" "$readings" "$early" "$(bc <<<"scale=1; $worst / 1000")" \
		>>table
}

# TIER LOAD
measure() {
	local tier=$1 load=$2

	[ "$load" = quiet ] || load
	# shellcheck disable=SC2046 # a command
	$(tier_command "$tier") "$program" --readings "$wanted" \
		--percent "${percents// /,}" >"$tier-$load" 2>messages </dev/null
	is $? 0 "$tier, $load: clock-order succeeds"
	sed 's/^/# /' messages
	unload
	for by in page call both; do
		for percent in $percents; do
			check "$tier" "$load" $by "$percent"
		done
	done
}

for tier in ${TIERS:-$tiers}; do
	has_cpus "$tier" || continue
	wanted=${READINGS:-$(default_readings "$tier")}
	percents="1 50 100 200 changing"
	case $tier in
	exact-*)
		# Nothing differs there, whatever else runs. No host stops a CPU.
		loads=quiet percents="50 100 200 changing"
		;;
	host | real-*) loads=busy ;;
	*) loads='quiet busy' ;;
	esac
	for load in $loads; do
		measure "$tier" "$load"
	done
done

printf '# %-10s %-5s %-5s %-9s %10s %8s %12s\n' tier host by percent readings early \
	'worst, us'
sed 's/^/# /' table
done_testing
