#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# qemu-fetch with archives, disks and programs that are not what they should be.
# Nothing is fetched from a network.
. "$source/tests/lib/tap.sh"

fetch=$source/tools/fetch/qemu-fetch
# shellcheck source=/dev/null
. "$source/tests/lib/fetch.sh"

link_commands_but apt-get qemu-system-x86_64
real_apt=$(command -v apt-get)
PATH=$tmp/bin

# Without apt, or a source.
fetch_is 1 "no apt"
said "tense: counting instructions needs QEMU 10 or later, which can be fetched on Debian only: install qemu-system-x86_64 of that version"
program apt-get 'exit 0'
fetch_is 1 "no source of Debian"
said "tense: counting instructions needs QEMU 10 or later: apt has no source of Debian bookworm"
"$fetch" --check >stdout
is "$?" 1 "--check tells the same"
ok "in words" grep -q "apt has no source" stdout
is "$("$fetch" --print; echo $?)" 1 "--print finds none"

# The version that a QEMU prints decides.
program qemu-system-x86_64 'echo "QEMU emulator version 7.2.17 (Debian)"'
is "$("$fetch" --print; echo $?)" 1 "one that is too old is none"
program qemu-system-x86_64 'echo "QEMU emulator version 10.1.0"'
is "$("$fetch" --print)" "$tmp/bin/qemu-system-x86_64" "a new one is"
is "$("$fetch")" "$tmp/bin/qemu-system-x86_64" "and nothing is fetched then"
program qemu-system-x86_64 'echo "QEMU emulator version 7.2.17 (Debian)"'

# A network that is not there.
cat >answer <<'END'
case $1 in
indextargets) echo "bookworm main http://archive.invalid/debian/"; exit ;;
esac
END
program apt-get "$(cat answer)
echo 'Could not resolve the host' >&2; exit 100"
fetch_is 1 "an archive that cannot be reached"
said "tense: cannot reach bookworm-backports by the archive that apt is configured for, see $tmp/cache/qemu.log"
ok "where it is said why" grep -q "Could not resolve" cache/qemu.log
ok "--check has nothing to complain of" "$fetch" --check

# An archive whose packages nobody signed: real apt, and a real archive.
if [ -n "$real_apt" ] && [ -r /usr/share/keyrings/debian-archive-keyring.gpg ]; then
	for suite in bookworm bookworm-backports; do
		dir=archive/dists/$suite
		mkdir -p "$dir/main/binary-amd64"
		: >"$dir/main/binary-amd64/Packages"
		printf 'Codename: %s\nSuite: %s\nComponents: main\nArchitectures: amd64\nDate: %s\nSHA256:\n %s 0 main/binary-amd64/Packages\n' \
			"$suite" "$suite" "$(date -Ru | sed 's/+0000/UTC/')" \
			"$(sha256sum </dev/null | cut -c 1-64)" >"$dir/Release"
	done
	program apt-get "case \$1 in
	indextargets) echo 'bookworm main file://$tmp/archive/'; exit ;;
	esac
	exec $real_apt \"\$@\""
	fetch_is 1 "an archive that is not signed"
	said "tense: the archive that apt is configured for is not signed by Debian, see"
else
	skip "an archive that is not signed: there is no apt"
fi

# A package that is none, none at all, or an old one.
deliver() {	# VERSION COMMAND
	program apt-get "$(cat answer)
case \"\$*\" in
*install*) dir=\$(dirname \$APT_CONFIG)/cache/archives
	file=\$dir/qemu-system-x86_1%3a$1_amd64.deb
	$2 ;;
esac"
}
deliver 10.7.1+x :
fetch_is 1 "nothing that is delivered"
said "tense: bookworm-backports has no QEMU of version 10 or later, see"
# shellcheck disable=SC2016 # for that script
deliver 9.2.0+x 'echo x >$file'
fetch_is 1 "an old version"
said "tense: bookworm-backports has no QEMU of version 10 or later, see"
# shellcheck disable=SC2016
deliver 10.7.1+x 'echo x >$file'
fetch_is 1 "a package that is broken"
said "tense: cannot unpack qemu-system-x86_1%3a10.7.1+x_amd64.deb, see"

# A good one, which is a script here.
mkdir -p package/DEBIAN package/usr/bin package/usr/lib/x86_64-linux-gnu \
	package/usr/share/doc/qemu
printf 'Package: qemu-system-x86\nVersion: 1:10.7.1+x\nArchitecture: amd64\nMaintainer: x <x@x>\nDescription: x\n' \
	>package/DEBIAN/control
cat >package/usr/bin/qemu-system-x86_64 <<'END'
#!/bin/sh
[ -d "${LD_LIBRARY_PATH%%:*}" ] || exit 1
echo "QEMU emulator version 10.7.1 $1"
END
chmod 755 package/usr/bin/qemu-system-x86_64
dpkg-deb -b package package.deb >/dev/null
deliver 10.7.1+x "cp $tmp/package.deb \$file"
program df 'echo; echo x x x 100000 x x'
fetch_is 1 "a full disk"
said "tense: no space left in $tmp/cache: QEMU needs 600 MB there"
rm bin/df && ln -s /usr/bin/df bin
rm bin/dpkg-deb
fetch_is 1 "no dpkg"
said "tense: dpkg-deb, which unpacks QEMU, is missing: apt-get install dpkg"
ln -s /usr/bin/dpkg-deb bin
fetch_is 0 "all is well"
is "$(cat stdout stderr)" "$tmp/cache/qemu-10.7.1/qemu-system-x86_64" \
	"and the program is told"
is "$("$(cat stdout)" -x)" "QEMU emulator version 10.7.1 -x" \
	"which runs with its libraries"
is "$(echo cache/*)" "cache/lock cache/qemu-10.7.1 cache/qemu.log" "and nothing else stays"
program apt-get 'exit 100'
is "$("$fetch")" "$tmp/cache/qemu-10.7.1/qemu-system-x86_64" \
	"it is fetched once"
mkdir cache/qemu-10.11.0
cp cache/qemu-10.7.1/qemu-system-x86_64 cache/qemu-10.11.0
is "$("$fetch" --print)" "$tmp/cache/qemu-10.11.0/qemu-system-x86_64" \
	"the newest one is taken"
export TENSE_CACHE=/proc/tense
fetch_is 1 "a cache that cannot be written"
rm -rf cache
program apt-get "$(cat answer)"
fetch_is 1 "nor created"
said "tense: cannot write to the cache /proc/tense: set TENSE_CACHE"

done_testing
