# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0
#
# Tests of a script $fetch that fetches a package from Debian into the cache; sourced.
# They work with commands in bin/ of their own, and no network.
# shellcheck disable=SC2154 # tap.sh and the test set $source, $tmp and $fetch

# shellcheck source=/dev/null
. "$source/tests/lib/commands.sh"

in_tmp
unset XDG_CACHE_HOME TENSE_KERNEL_VERSION TENSE_KERNEL_SOURCE
export TENSE_CACHE="$tmp/cache"

# NAME TEXT
program() {
	make_command "bin/$1" "$2"
}

# STATUS WHAT: leaves the output in the files stdout and stderr.
fetch_is() {
	"$fetch" >stdout 2>stderr </dev/null
	is $? "$1" "$2"
}

said() {
	is "$(wc -l <stderr) $(cut -c "1-${#1}" stderr)" "1 $1" "says: $1"
	is "$(cat stdout; ls -d cache/tmp cache/*-[0-9]* 2>/dev/null)" "" \
		"and leaves nothing"
}
