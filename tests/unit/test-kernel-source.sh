#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# kernel-source with archives, disks and packages that are not what they should be.
# Nothing is fetched from a network. test-qemu-fetch tests what both share.
. "$source/tests/lib/tap.sh"

fetch=$source/tools/kernel-source
# shellcheck source=/dev/null
. "$source/tests/lib/fetch.sh"

# The same as if no fetch had failed before.
fetch_anew_is() {
	rm -f cache/source.failed
	fetch_is "$@"
}

link_commands_but apt-get apt-cache
PATH=$tmp/bin

fetch_is 1 "no apt"
said "tense: the source of Linux 7.3 or 7.2 can be fetched on Debian only: set TENSE_KERNEL_VERSION=7.3, and TENSE_KERNEL_SOURCE to"
program apt-get 'exit 0'
fetch_is 1 "no source of Debian"
said "tense: apt knows no archive of Debian, from which the source of Linux 7.3 or 7.2 could be fetched: set TENSE_KERNEL_VERSION=7.3, and TENSE_KERNEL_SOURCE to"
"$fetch" --check >stdout
is "$?" 1 "--check tells the same"
ok "in words" grep -q "apt knows no archive" stdout
is "$("$fetch" --print; echo $?)" 1 "--print finds none"
# On one of the host's CPUs, the virtual machine is refused before its kernel is built.
taskset -c "$(taskset -cp $$ | sed 's/.*[^0-9]//')" "$tense" run --cpus 2 -- true \
	>stdout 2>stderr
is "$?" 125 "without that source, --cpus 2 fails on one CPU"
ok "it says that the source is missing" grep -q '^tense: apt knows no archive of Debian, from which the source of Linux 7.3 or 7.2 could be fetched' stderr
ok "it falls back to a virtual machine" grep -q \
	'^tense: --cpus 2: without Linux 7.2 or 7.3, a virtual machine runs the command' stderr
ok "it says that the host has one CPU" grep -q 'tense may use 1 of this machine.s CPUs' stderr

# A kernel 6.1 that leaves a file and ends.
kernel=$("$source/tools/kernel-build" --arch um --print)
mkdir -p "$kernel"
make_command "$kernel/linux" "touch '$tmp/booted'"
: >"$kernel/tense.ko"
"$tense" run --backend uml -- true >stdout 2>stderr
ok "without that source, one CPU boots 6.1" rm booted
ok "it says why" grep -q '^tense: apt knows no archive of Debian, from which the source of Linux 7.3 or 7.2 could be fetched' stderr
ok "and what it does" grep -q '^tense: the guest runs Linux 6.1' stderr
TENSE_KERNEL_VERSION=6.1 "$tense" run --backend uml -- true >stdout 2>stderr
ok "which it also boots if that is asked for" rm booted
ok "and then without these words" sh -c '! grep -q "Linux [67]" stderr'
rm -r "$kernel"

# DEB: apt that knows the package, and delivers this file.
deliver() {
	program apt-get "case \$1 in
indextargets) echo 'trixie main http://archive.invalid/debian/' ;;
download) cp $1 linux-source-7.2_7.2.13-1~bpo13+1_all.deb ;;
esac"
	program apt-cache '[ "$2" = linux-source-7.2 ]'
}
deliver /dev/null
program apt-get 'case $1 in
indextargets) echo "sid main http://archive.invalid/debian/"; exit ;;
esac
echo "Could not resolve the host" >&2; exit 100'
fetch_is 1 "an archive that cannot be reached"
said "tense: cannot reach trixie-backports sid by the archive that apt is configured for, see $tmp/cache/source.log"
ok "where it is said why" grep -q "Could not resolve" cache/source.log
ok "--check has nothing to complain of" "$fetch" --check
fetch_is 1 "that is not tried again in the same hour"
said "tense: the source of Linux 7.3 or 7.2 could not be fetched within the last hour, see $tmp/cache/source.log: remove $tmp/cache/source.failed to"
touch -d '2 hours ago' cache/source.failed
fetch_is 1 "but later"
said "tense: cannot reach"
deliver /dev/null
program apt-cache 'exit 100'
fetch_anew_is 1 "suites that have moved on"
said "tense: none of the suites trixie-backports sid has the source of Linux 7.3 or 7.2, see"
deliver /nowhere
fetch_anew_is 1 "a package that is not delivered"
said "tense: cannot fetch linux-source-7.2, see"
deliver /dev/null
fetch_anew_is 1 "a package that is broken"
said "tense: cannot unpack linux-source-7.2_7.2.13-1~bpo13+1_all.deb, see"

# VERSION: makes package.deb with the source of a kernel, which is a Makefile here.
make_package() {
	mkdir -p package/DEBIAN package/usr/src linux-source
	printf 'Package: linux-source-7.2\nVersion: 7.2.13-1\nArchitecture: all\nMaintainer: x <x@x>\nDescription: x\n' \
		>package/DEBIAN/control
	printf 'VERSION = %s\nPATCHLEVEL = 2\n' "$1" >linux-source/Makefile
	tar -cJf package/usr/src/linux-source-7.2.tar.xz linux-source
	dpkg-deb -b package package.deb >/dev/null
}
make_package 6
deliver "$tmp/package.deb"
fetch_anew_is 1 "another kernel"
said "tense: linux-source-7.2_7.2.13-1~bpo13+1_all.deb does not hold a Linux 7 kernel, see"
make_package 7
program df 'echo; echo x x x 100000 x x'
fetch_anew_is 1 "a full disk"
said "tense: no space left in $tmp/cache: the source needs 2500 MB there"
rm bin/df && ln -s /usr/bin/df bin
rm bin/dpkg-deb
fetch_anew_is 1 "no dpkg"
said "tense: dpkg-deb, which unpacks the source, is missing: apt-get install dpkg"
ln -s /usr/bin/dpkg-deb bin

fetch_is 0 "all is well"
is "$(cat stdout stderr)" "$tmp/cache/source-7.2.13-1~bpo13+1" \
	"and the directory is told"
is "$(echo cache/*)" "cache/lock cache/source-7.2.13-1~bpo13+1 cache/source.log" \
	"nothing else stays"
ok "the source is in it" grep -q 'VERSION = 7' cache/source-7.2.13-1~bpo13+1/Makefile
program apt-get 'exit 100'
is "$("$fetch")" "$tmp/cache/source-7.2.13-1~bpo13+1" "it is fetched once"
mkdir cache/source-7.2.101-1
is "$("$fetch" --print)" "$tmp/cache/source-7.2.101-1" "the newest one is taken"
mkdir cache/source-0123456789ab cache/source-7.20.1-1
is "$("$fetch" --print)" "$tmp/cache/source-7.2.101-1" "and no other one"
is "$("$fetch" --version 7.2 --print)" "$tmp/cache/source-7.2.101-1" "also by its version"
"$fetch" --version 7.3 --print >stdout
is "$? $(cat stdout)" "1 " "it is not taken for 7.3"

# Suites move on. Another cache: Debian has both, or no longer 7.2.
(
	export TENSE_CACHE=$tmp/later
	program apt-get "case \$1 in
indextargets) echo 'trixie main http://archive.invalid/debian/' ;;
download) cp $tmp/package.deb \${3}_\${3#linux-source-}.4-1~bpo13+1_all.deb ;;
esac"
	program apt-cache '[ "$2" = linux-source-7.3 ]'
	"$fetch" --version 7.2
	program apt-cache 'exit 0'
	"$fetch" && "$fetch" --print
	rm "$TENSE_CACHE/source.failed-7.2"
	"$fetch" --version 7.2 && "$fetch"
) >stdout 2>stderr
is "$(cat stdout)" "$tmp/later/source-7.3.4-1~bpo13+1
$tmp/later/source-7.3.4-1~bpo13+1
$tmp/later/source-7.2.4-1~bpo13+1
$tmp/later/source-7.3.4-1~bpo13+1" "the newest of the versions is preferred"
is "$(grep -c 'has the source of Linux 7.2' stderr)" 1 "a version that Debian lacks is not replaced"

# The build finds it, tells the versions apart, and knows no others.
build=$source/tools/kernel-build
ok "a build of 7.2 lacks nothing" "$build" --arch um --version 7.2 --check
is "$("$build" --arch um --version 7.2 --print | sed 's/[0-9a-f]\{12\}/KEY/g')" \
	"$tmp/cache/um-7.2-KEY-KEY" "its directory has the version in its name"
is "$(TENSE_KERNEL_VERSION=7.2 "$build" --arch um --print)" \
	"$("$build" --arch um --version 7.2 --print)" "the environment may choose"
"$build" --arch um --version 5.10 >stdout 2>stderr
is "$? $(cat stderr)" "2 tense: no kernel 5.10: 6.1, 7.2 and 7.3 can be built" \
	"another version is refused"

done_testing
