#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Checks tense's output on a terminal, narrow ones too, and elsewhere.
. "$source/tests/lib/tap.sh"

in_tmp

# The file "screen" has what a terminal of so many columns got: COLUMNS COMMAND
on_terminal() {
	printf 'stty cols %s\n%s\n' "$1" "$2" >commands
	script -qec 'sh commands' /dev/null </dev/null | tr -d '\r' >screen
}

# Prints the screen at the end: a line begins anew where it is cleared.
seen() {
	sed 's/.*\x1b\[K//' screen
}

# The longest of its lines, of those that are cleared later, too.
widest() {
	sed 's/\x1b\[K/\n/g' screen | awk '{ if (length > n) n = length } END { print n }'
}

failing="$tense measure --runs 4 --warmup 0 -- sh -c 'sleep 0.2; exit 3'"
on_terminal 200 "$failing"
ok "there is a bar" grep -q 'tense: measuring \[\.*\]   0%' screen
is "$(seen | head -n 1)" \
	"tense: sh -c sleep 0.2; exit 3: exit status 3: --show-output shows what it says, --ignore-failure" \
	"a message is not behind it, and not too wide to read"
is "$(seen | sed -n 2p)" "       goes on then" "but goes on in the next line"
for columns in 60 40 25; do
	on_terminal $columns "$failing"
	ok "$columns columns: wide enough for all" [ "$(widest)" -le $columns ]
	is "$(seen | xargs)" "tense: sh -c sleep 0.2; exit 3: exit status 3: --show-output shows what it says, --ignore-failure goes on then" \
		"which is whole"
done
on_terminal 10 "$tense measure --runs 2 --warmup 0 -- sh -c 'sleep 0.2' >/dev/null"
is "$(tr -d '\n' <screen | sed 's/\x1b\[K/|/g')" "tense: me|tense: me|" \
	"10 columns: as much as there is room for"
is "$(sh -c "$failing" 2>&1)" \
	"tense: sh -c sleep 0.2; exit 3: exit status 3: --show-output shows what it says, --ignore-failure goes on then" \
	"elsewhere a message is a line"
done_testing
