#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Programs as Debian ships them, and one that uses only system calls, run in an
# experiment without the library. They wait in virtual time, alone and beside a
# neighbour that never lets the CPU idle.
. "$source/tests/lib/tap.sh"

in_tmp
chmod 755 "$tmp"
export TENSE=0

run() {
	"$out/bin/tense" run --backend uml "$@"
}

names="sleep timeout read-t raw-futex perl-select perl-alarm python-event
python-asyncio python-socket redis-blpop redis-expire"

check_all() { # WHERE
	for name in $names; do
		read -r _ us status < <(grep "^$name " "$tmp/log")
		case $name in
		timeout)
			expected=124
			;;
		read-t)
			expected=142
			;;
		*)
			expected=0
			;;
		esac
		is "${status-none}" $expected "$1: $name ends as it should"
		ok "$1: $name is never early" [ "${us-0}" -ge 300000 ]
		echo "# ${us-0} us"
	done
}

run --json alone.json -- "$source/tests/timed/programs" \
	"$out/tests/timed/raw-futex" >log
check_all alone

for percent in 50 200; do
	# shellcheck disable=SC2016 # for the guest's shell
	run --json company.json -- bash -c '
		(echo "$3" >/dev/tense; while :; do :; done) &
		"$1" "$2"
		kill $!' sh "$source/tests/timed/programs" \
		"$out/tests/timed/raw-futex" "$percent" >log
	check_all "beside a neighbour at percent $percent"
	read -r _ us _ < <(grep "^all " log)
	ok "beside a neighbour at percent $percent: their time is that of the experiment" \
		jq -e --argjson us "${us-0}" '.experiment.elapsed_virtual_ns |
			. >= $us * 1000 and . * 0.9 < $us * 1000' company.json
	ok "beside a neighbour at percent $percent: all time is CPU time" \
		jq -e '.experiment |
			.cpu_virtual_ns > .elapsed_virtual_ns * 0.99' company.json
	ok "beside a neighbour at percent $percent: the neighbour's most of all" \
		jq -e --argjson percent "$percent" '.experiment |
			[.threads[] | select(.percent == $percent)] |
			(map(.real_ns) | add) / (map(.virtual_ns) | add) |
			. * 100 / $percent - 1 | fabs < 0.01' company.json
done

done_testing
