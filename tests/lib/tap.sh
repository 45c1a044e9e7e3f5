# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# The Test Anything Protocol for tests that are shell scripts.

tap_run=0
tap_failed=0

# A check whose command's output is redirected still reports here.
exec 8>&1

# Checks that a command succeeds: WHAT COMMAND...
ok() {
	tap_what=$1
	shift
	tap_run=$((tap_run + 1))
	if "$@" 8>&-; then
		echo "ok $tap_run - $tap_what" >&8
	else
		echo "not ok $tap_run - $tap_what" >&8
		tap_failed=$((tap_failed + 1))
	fi
}

# Checks that two texts are the same: GOT EXPECTED WHAT
is() {
	ok "$3" [ "$1" = "$2" ]
	[ "$1" = "$2" ] || printf 'got:\n%s\nexpected:\n%s\n' "$1" "$2" |
		sed 's/^/# /'
}

# Makes one line of each message of tense's in a file, however it was wrapped.
unwrap() {
	sed -i -e ':a' -e '$!{N;ba' -e '}' -e 's/\n \{7\}\([^ ]\)/ \1/g' "$1"
}

skip() {
	tap_run=$((tap_run + 1))
	echo "ok $tap_run # SKIP $1"
}

done_testing() {
	echo "1..$tap_run"
	[ "$tap_failed" -eq 0 ]
	exit
}
