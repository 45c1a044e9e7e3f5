# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# Keeps the results of a test that passed, in the cache of tools/kernel-build, to repeat them
# while nothing that the test depends on has changed.

# The first line of results that are repeated.
repeats_pass='# nothing that this test depends on has changed since it passed'

cache_of_kernels() {
	echo "${TENSE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/tense}"
}

file_of_pass() { # NAME
	echo "$(cache_of_kernels)/passed/$1"
}

# Prints the results that were kept with this checksum, or fails.
repeat_pass() { # NAME SUM
	local file first

	file=$(file_of_pass "$1")
	# Another run may replace the file: it is opened once.
	[ -r "$file" ] && {
		read -r first && [ "$first" = "# $2" ] && echo "$repeats_pass" && cat
	} <"$file"
}

# Another run sees all of the file, or none.
keep_pass() { # NAME SUM RESULTS
	local file new

	file=$(file_of_pass "$1")
	mkdir -p "${file%/*}" && new=$(mktemp "$file.XXXXXX") || return
	if { echo "# $2" && cat "$3"; } >"$new"; then
		mv "$new" "$file"
	else
		rm -f "$new"
		false
	fi
}
