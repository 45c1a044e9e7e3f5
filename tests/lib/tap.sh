# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# The Test Anything Protocol for tests that are shell scripts.

tap_run=0
tap_failed=0

# The file that the build makes for each script of the tests sets these:
# the source, the build directory, the program under test and the compiler; for some
# scripts the guest's kind, the tiers (tests/lib/tiers.sh) and the programs to run.
: "${source=}" "${out=}" "${tense=}" "${cc=}" "${backend=}" "${tiers=}" "${workloads=}"

# Makes the directory $tmp, works in it and removes it at the end. Arguments are
# options of mktemp. A guest has a /tmp of its own, but the host's /var/tmp.
in_tmp() {
	tmp=$(mktemp -d "$@") || exit 1
	trap 'rm -rf "$tmp"' EXIT
	cd "$tmp" || exit 1
}

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

# Checks the status of what ran before. If it is not 0, shows the file
# $tap_shown: STATUS WHAT
passed() {
	ok "$2" [ "$1" -eq 0 ]
	[ "$1" -eq 0 ] || [ -z "${tap_shown:-}" ] || sed 's/^/# /' "$tap_shown" |
		head -n 20
}

# Makes one line of each message of tense's in a file, however it was wrapped.
unwrap() {
	sed -i -e ':a' -e '$!{N;ba' -e '}' -e 's/\n \{7\}\([^ ]\)/ \1/g' "$1"
}

# Runs a command whose status is to be so, and leaves its output in the files stdout
# and stderr. With another status, shows what it said: STATUS WHAT COMMAND...
status_is() {
	tap_status=$1
	tap_named=$2
	shift 2
	"$@" >stdout 2>stderr </dev/null
	tap_got=$?
	is $tap_got "$tap_status" "$tap_named"
	[ $tap_got = "$tap_status" ] || sed 's/^/# /' stderr | head -n 20
	unwrap stderr
}

# The same of a command of $tense: COMMAND STATUS WHAT ARGUMENT...
tense_is() {
	tap_command=$1
	tap_wanted=$2
	tap_what=$3
	shift 3
	# shellcheck disable=SC2154 # the program, which the test names
	status_is "$tap_wanted" "$tap_what" "$tense" "$tap_command" "$@"
}

# It said this, and printed nothing.
tense_said() {
	is "$(cat stderr)" "tense: $1" "says so"
	is "$(cat stdout)" "" "and nothing else"
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
