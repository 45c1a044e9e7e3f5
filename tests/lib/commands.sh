# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0
#
# Commands that tests make themselves; sourced.

# Makes a script that is a command: FILE TEXT
make_command() {
	rm -f "$1"
	printf '#!/bin/sh\n%s\n' "$2" >"$1"
	chmod +x "$1"
}

# Fills bin/ with all commands of this machine but these: NAME...
link_commands_but() {
	mkdir bin
	# Both directories may be the same one: a name that is there stays.
	ln -s /usr/bin/* bin
	ln -s /bin/* bin 2>/dev/null
	for name; do
		rm -f "bin/$name"
	done
}
