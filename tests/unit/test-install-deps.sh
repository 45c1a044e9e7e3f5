#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Each tier of packages has those of the one before it, and users do not get the
# programs that only some tests run. No package is installed here.
. "$source/tests/lib/tap.sh"

in_tmp
mkdir bin
# Nothing is installed, and this is not root.
printf '#!/bin/sh\nexit 1\n' >bin/dpkg-query
printf '#!/bin/sh\necho 1000\n' >bin/id
printf '#!/bin/sh\necho apt-get runs >&2\n' >bin/apt-get
chmod +x bin/*

# TIER: its packages, a line each, in a file of this name.
tier() {
	status_is 1 "packages of $1 are missing" env PATH="$tmp/bin:$PATH" \
		"$source/tools/install-deps" "$1"
	is "$(sed 's/ --no.*/ .../' stderr)" "tense: packages are missing, install them with:
  sudo apt-get install ..." "a user who is not root sees a command"
	sed -n 's/.*--no-install-recommends //p' stderr | tr ' ' '\n' | sort >"$1"
}

tier user
tier check
tier all
is "$(comm -23 user check)" "" "check has all of user"
is "$(comm -23 check all)" "" "all has all of check"
for package in redis-server redis-tools nodejs stress-ng; do
	ok "check does not have $package" sh -c "! grep -qx $package check"
	ok "all has $package" grep -qx "$package" all
done
for package in linux-source-6.1 libelf-dev build-essential; do
	ok "user has $package" grep -qx "$package" user
done
is "$(sort all | uniq -d)" "" "no package is named twice"
status_is 2 "a tier that does not exist" "$source/tools/install-deps" some
is "$(cat stderr)" "usage: install-deps [user|check|all]" "tells the tiers"

done_testing
