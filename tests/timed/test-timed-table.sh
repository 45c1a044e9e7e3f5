#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# The manual page lists the calls that are tested, no more and no fewer.
. "$source/tests/lib/tap.sh"

is "$(sed -e '1,/^_$/d' -e '/^\.TE/,$d' -e 's/\\-/-/g' \
	"$source/libtense/man/tense-time.7")" \
	"$("$out/tests/timed/timed" --list)" \
	"the table in tense-time(7) is that of the tests"
done_testing
