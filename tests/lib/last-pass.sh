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

# Days after which a pass counts no more: a test may depend on more than its checksum covers.
days_of_pass=7

file_of_pass() { # NAME SUM
	echo "$(cache_of_kernels)/passed/$1-${2:0:16}"
}

# Prints the results that were kept with this checksum, or fails.
repeat_pass() { # NAME SUM
	local file first

	file=$(file_of_pass "$1" "$2")
	[ -n "$(find "$file" -mtime "-$days_of_pass" 2>/dev/null)" ] || return
	# Another user may own the file, and another run may remove it.
	{
		read -r first && [ "$first" = "# $2" ] && echo "$repeats_pass" && cat
	} 2>/dev/null <"$file"
}

# Another run sees all of the file, or none.
keep_pass() { # NAME SUM RESULTS
	local file new

	file=$(file_of_pass "$1" "$2")
	mkdir -p "${file%/*}" && new=$(mktemp "$file.XXXXXX") || return
	find "${file%/*}" -type f -mtime "+$days_of_pass" -delete 2>/dev/null
	{ echo "# $2" && cat "$3"; } >"$new" && mv "$new" "$file" && return
	rm -f "$new"
	false
}

# A test with this checksum that fails now passed by chance before.
forget_pass() { # NAME SUM
	rm -f "$(file_of_pass "$1" "$2")"
}
