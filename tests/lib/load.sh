# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# Something else for the machine to do, while a test runs; sourced.
busy=

load() {
	for _ in 1 2 3; do
		while :; do :; done &
		busy="$busy $!"
	done
}

unload() {
	[ -n "$busy" ] || return 0
	# shellcheck disable=SC2086 # a list
	kill $busy
	# shellcheck disable=SC2086
	wait $busy 2>/dev/null
	busy=
}
