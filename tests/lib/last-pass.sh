# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# For a test whose results depend on files alone. It runs when one of them has changed. Else
# it repeats the results of its last pass, which are in the cache of tools/kernel-build. With
# AGAIN=1 it runs in any case.

# Runs a command that speaks TAP, or repeats what it said: NAME SUM COMMAND...
# SUM: a function that prints a checksum of all that the command reads
run_unless_passed() {
	local cache=${TENSE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/tense}
	local kept=$cache/passed-$1 sum_of=$2 sum first results status
	shift 2

	sum=$($sum_of)
	# Another run may replace the file: it is opened once.
	if [ -z "${AGAIN:-}" ] && [ -r "$kept" ] && {
		read -r first && [ "$first" = "# $sum" ] &&
			echo '# nothing that this test reads has changed since it passed' &&
			cat
	} <"$kept"; then
		return
	fi
	results=$(mktemp) || return
	"$@" | tee "$results"
	status=${PIPESTATUS[0]}
	if [ "$status" = 0 ] && grep -q '^1\.\.[1-9]' "$results" &&
	   ! grep -Eq '^(not ok|Bail out)|# SKIP' "$results" &&
	   [ "$($sum_of)" = "$sum" ] && mkdir -p "$cache"; then
		# Another run sees all of the file, or none.
		{ echo "# $sum" && cat "$results"; } >"$kept.$$" && mv "$kept.$$" "$kept" ||
			rm -f "$kept.$$"
	fi
	rm -f "$results"
	return "$status"
}
