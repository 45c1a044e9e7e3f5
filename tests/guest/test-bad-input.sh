#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# `tense run` with guests that cannot do what they are to do, or that somebody
# ends: in QEMU, which is emulated where there is no KVM.
. "$source/tests/lib/tap.sh"
. "$source/tests/lib/processes.sh"

in_tmp -p /var/tmp
run=("$tense" run --backend qemu)

# Builds the kernel and tries KVM, if need be, outside of what is tested.
ok "a guest that boots" "${run[@]}" true

# The emulator that a tense has started, in $guest.
has_guest() {
	guest=$(cat /proc/"$1"/task/*/children 2>/dev/null)
	guest=${guest% }
	[ -n "$guest" ] &&
		grep -q ^qemu "/proc/$guest/comm" 2>/dev/null
}

# A group of its own, in which signals are as a program of a shell's has them.
begin() {
	rm -f there
	# shellcheck disable=SC2016 # for perl
	setsid perl -e '$SIG{$_} = "DEFAULT" for qw(INT QUIT); exec @ARGV' \
		"${run[@]}" "$@" </dev/null >stdout 2>stderr &
	pid=$!
}

# One read() fills the memory inside the kernel. A program that fills it itself
# touches its own pages in between, and the guest would reread these for
# minutes.
# shellcheck disable=SC2016 # for perl
"${run[@]}" --memory 64M perl -e 'open F, "/dev/zero";
	sysread F, $x[@x], $ARGV[0] while 1' 40000000 2>stderr
is "$?" 137 "a command that takes more memory than there is, is killed"
unwrap stderr
is "$(cat stderr)" "tense: the guest ran out of memory, and its kernel killed what used most of it: --memory gives it more" \
	"and tense says why"

# A terminal and timeout(1) send signals to a group.
for sig in INT TERM; do
	begin sh -c "trap 'exit 3' $sig; touch there; while :; do sleep 0.1; done"
	until_true test -e there
	kill -$sig -- -$pid
	wait $pid
	is "$? $(cat stderr)" "3 " "SIG$sig to the group is the command's to handle"
done

# While it boots, wherever that is: at once, and when there is an emulator.
for sig in INT TERM HUP KILL; do
	begin sleep 1000
	until_true has_guest $pid
	kill -$sig $pid
	wait $pid 2>/dev/null
	is "$? $(cat stderr)" "$((128 + $(kill -l $sig))) " \
		"SIG$sig before the guest is up ends tense"
	ok "and the guest" until_true ended "$guest"
done

# The emulator, while the command runs. Another run does not notice.
begin sh -c 'touch there; exec sleep 1000'
until_true test -e there
has_guest $pid
kill -KILL "$guest"
wait $pid
is "$? $(tail -n 1 stderr)" "125 tense: the kernel was killed: Killed" \
	"a guest that is killed"
begin sh -c 'touch there; exec sleep 1000'
until_true test -e there
has_guest $pid
kill -KILL $pid
wait $pid 2>/dev/null
ok "a guest whose tense is killed ends" until_true ended "$guest"
is "$("${run[@]}" echo again 2>&1)" again "and the next one runs"

# A /dev/kvm that is another device, in a cache that has not tried KVM yet.
with_kvm() {
	unshare -m sh -c 'mount --bind /dev/null /dev/kvm && exec "$@"' sh "$@"
}
if [ "$(id -u)" = 0 ] && [ -e /dev/kvm ] && with_kvm true 2>/dev/null; then
	kernel=$("$source/tools/kernel-build" --arch x86_64 --print)
	mkdir -p "cache/${kernel##*/}/build"
	ln -s "$kernel/tense.ko" "cache/${kernel##*/}"
	ln -s "$kernel/build/vmlinux" "cache/${kernel##*/}/build"
	export TENSE_CACHE=$tmp/cache
	with_kvm "${run[@]}" sh -c 'exit 4' 2>stderr
	is "$?" 4 "a /dev/kvm that is none: the guest is emulated"
	unwrap stderr
	is "$(wc -l <stderr) $(grep -o '^.* slower: ' stderr)" \
		"1 tense: the guest is emulated, which makes it some 20 times slower: " \
		"which a line says"
else
	skip "a /dev/kvm that is none: needs root, mount namespaces, and one to begin with"
fi

done_testing
