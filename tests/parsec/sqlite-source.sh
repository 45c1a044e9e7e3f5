# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: GPL-2.0
#
# Fetches Debian's source package of SQLite for tests/parsec/parsec, and makes its single
# file; sourced. $out/sqlite-source has sqlite3.c and sqlite3.h when it exists.

# shellcheck source=tools/fetch/debian.sh
. "$here/../../tools/fetch/debian.sh"

sqlite_fail() {
	die "cannot get the source of SQLite: $*; see $log, or leave out sqlite-calls: CASES="
}

sqlite_source() (
	[ -e "$out/sqlite-source/sqlite3.c" ] && exit
	fail() { sqlite_fail "$@"; }
	log=$out/sqlite.log
	: >"$log"
	command -v apt-get >/dev/null && command -v dpkg-source >/dev/null &&
		command -v tclsh >/dev/null ||
		fail "apt-get, dpkg-source or tclsh is missing: apt-get install dpkg-dev tcl"
	tmp=$out/sqlite-tmp
	rm -rf "$tmp"
	mkdir -p "$tmp/work"
	trap 'rm -rf "$tmp"' EXIT
	archive=$(debian_archive bookworm trixie forky sid)
	[ -n "$archive" ] || fail "apt has no archive of Debian"
	# The patch is for this version.
	debian_configure "$archive" bookworm
	sed -i 's/^deb /deb-src /' "$tmp/sources.list"
	debian_update bookworm
	cd "$tmp/work" || exit
	apt-get source -q sqlite3 >>"$log" 2>&1 </dev/null || fail "apt-get source failed"
	cd sqlite3-*/ || exit
	{ ./configure && env -u MAKEFLAGS -u MFLAGS make sqlite3.c; } >>"$log" 2>&1 ||
		fail "its build failed"
	mkdir "$tmp/done"
	cp sqlite3.c sqlite3.h "$tmp/done"
	rm -rf "$out/sqlite-source"
	mv "$tmp/done" "$out/sqlite-source"
)
