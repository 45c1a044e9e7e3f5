#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# README and docs: their links lead somewhere, each rule has its section and its
# tests, and functions that they name are there.
# shellcheck disable=SC2016 # code between backquotes, in single quotes
. "$source/tests/lib/tap.sh"
cd "$source" || exit 1

shopt -s nullglob
documents=(README.md CHANGELOG.md CONTRIBUTING.md SECURITY.md docs/*.md examples/*.md)

ok "README.md has at most 150 lines" [ "$(wc -l <README.md)" -le 150 ]

# FILE: the links in it that do not lead out of the tree.
links() {
	grep -oE '\]\([^) ]+\)' "$1" | sed 's/^](//; s/)$//' |
		grep -vE '^[a-z]+:' | sort -u
}

# FILE: anchors of its headings, as a forge makes them.
anchors() {
	sed -n 's/^##* //p' "$1" | tr '[:upper:]' '[:lower:]' |
		sed 's/[^a-z0-9 _-]//g; s/ /-/g'
}

for document in "${documents[@]}"; do
	wrong=
	for link in $(links "$document"); do
		file=${link%%#*}
		file=${file:+$(dirname "$document")/$file}
		file=${file:-$document}
		if [ ! -e "$file" ]; then
			wrong="$wrong $link"
		elif [ "$link" != "${link#*#}" ] &&
		     ! anchors "$file" | grep -qxF "${link#*#}"; then
			wrong="$wrong $link"
		fi
	done
	is "$wrong" "" "$document: each link leads to something in the tree"
done

for document in docs/*.md CONTRIBUTING.md CHANGELOG.md SECURITY.md; do
	others=()
	for other in "${documents[@]}"; do
		[ "$other" = "$document" ] || others+=("$other")
	done
	ok "$document is linked from another document" \
		grep -qE "\]\([^)]*${document##*/}[)#]" "${others[@]}"
done

# RULE: its section.
section() {
	awk -v rule="$1" '/^## / { here = $2 == rule } here' docs/rules.md
}

# RULE: the paragraph about its tests, as words: files, and cases in the one before.
tests_of() {
	section "$1" | awk '/^\*\*Tests\.\*\*/ { here = 1 } /^$/ { here = 0 } here' |
		grep -oE '`[A-Za-z0-9_.-]+`' | tr -d '`'
}

for rule in R1 R2 R3 R4 R5 R6 R7 R8 R9 R10 R11 R12 R13; do
	is "$(section $rule | grep -oE '^\*\*(Rule|Reason|Code|Tests)\.' | xargs)" \
		"**Rule. **Reason. **Code. **Tests." \
		"$rule has its rule, reason, code and tests"
	file='' files=0 wrong=
	for word in $(tests_of $rule); do
		case $word in
		*.c | *.sh | *.pml)
			file=$(find tests -name "$word" | head -n 1)
			files=$((files + 1))
			[ -n "$file" ] || wrong="$wrong $word"
			;;
		*)
			{ [ -n "$file" ] && grep -qw "$word" "$file"; } ||
				wrong="$wrong $word"
			;;
		esac
	done
	ok "$rule names a test" [ "$files" -gt 0 ]
	is "$wrong" "" "$rule: these tests exist"
done

for document in docs/rules.md docs/architecture.md; do
	wrong=
	for name in $(grep -oE '`[a-z_0-9]+\(\)`' "$document" | tr -d '`()' | sort -u); do
		grep -rqE "(^|[^a-z_0-9])$name\(" --include='*.[ch]' --include='*.sh' --include=run-tap \
			module kernel libtense tools tests || wrong="$wrong $name"
	done
	# Functions of the kernel and of every program.
	is "$(xargs -n 1 <<<"$wrong" | grep -vxE 'update_curr|smp_mb|main|READ_ONCE' |
		xargs)" "" "$document: the functions that it names exist"
done

is "$(sed -n 's/^| \([^|]*\) |.*/\1/p' docs/glossary.md | sort | uniq -d)" "" \
	"docs/glossary.md defines no word twice"
done_testing
