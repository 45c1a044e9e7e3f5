# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Parts that the checks of the source share; sourced by them, from the source's
# folder. Each check is a test that speaks TAP.
. tests/lib/tap.sh

# PROGRAM: ends this test as a failure if the program is not installed.
need() {
	command -v "$1" >/dev/null && return
	echo "Bail out! $1 is missing: tools/install-deps"
	exit 1
}

# PATTERN...: the files of the tree, those not yet committed as well.
files() {
	git ls-files --cached --others --exclude-standard -- "$@" | sort -u |
		while read -r file; do
			# Links and files that git does not know to be removed.
			[ -f "$file" ] && [ ! -L "$file" ] && echo "$file"
		done
}

# COMMAND...: runs it with its output as comments of TAP.
quoted() {
	"$@" 2>&1 | sed 's/^/# /'
	return "${PIPESTATUS[0]}"
}

# Standard input has pairs; prints the members of each circle, which tsort finds.
has_no_circle() {
	local circles
	circles=$(tsort 2>&1 >/dev/null)
	[ -z "$circles" ] || { echo "$circles"; false; }
}

# Makes pairs of folders of pairs of files.
folders_of_pairs() {
	sed -E 's,/[^/ ]+( |$),\1,g' | awk '$1 != $2' | sort -u
}
