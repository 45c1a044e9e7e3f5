#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# `tense run --backend qemu` where QEMU, KVM, the cache or the kernel's source is
# not what it should be. QEMU is a script here, so that no guest is started.
. "$source/tests/lib/tap.sh"
. "$source/tests/lib/processes.sh"
. "$source/tests/lib/commands.sh"

build=$source/tools/kernel-build
in_tmp
trap 'umount "$tmp/small" 2>/dev/null; rm -rf "$tmp"' EXIT
chmod 755 "$tmp"
unset TENSE_KERNEL_SOURCE TENSE_MEMORY XDG_CACHE_HOME LD_PRELOAD MAKEFLAGS \
	MFLAGS MAKELEVEL
export TENSE_CACHE=$tmp/cache
mkdir bin
PATH=$tmp/bin:$PATH

# A cache that has a kernel, of which nobody boots anything.
make_cache() {
	mkdir -p "$("$build" --arch x86_64 --print)/build"
}
make_cache

# A QEMU that does this, with its arguments, when it is to use KVM, or else that.
make_qemu() {
	printf '#!/bin/sh\necho "$$ $*" >>"%s"\ncase "$*" in\n*"-accel kvm"*) %s ;;\n*) %s ;;\nesac\n' \
		"$tmp/calls" "$1" "$2" >bin/qemu-system-x86_64
	chmod 755 bin/qemu-system-x86_64
	rm -f calls "$TENSE_CACHE"/kvm-*
}

# The last line is this one.
said() {
	is "$(tail -n 1 stderr)" "$1" "says: $1"
}

# The same, and there is no other.
said_only() {
	is "$(cat stderr)" "$1" "says only: $1"
}

run() {
	"$tense" run --backend qemu "$@"
}

# A guest that does not begin, or ends.
no_kvm='echo "qemu: no KVM here"; exit 1'
make_qemu "$no_kvm" "echo 'qemu: cannot set up guest memory'; exit 1"
status_is 125 "memory that the machine does not give" run true
said "tense: there is not enough memory here for the guest: --memory gives it less"
make_qemu "$no_kvm" "echo 'Out of memory: Killed process 1'; exit 0"
status_is 125 "a guest whose own processes were killed" run true
said "tense: the guest ran out of memory: --memory gives it more"
make_qemu "$no_kvm" 'kill -KILL $$'
status_is 125 "a guest that is killed" run true
said "tense: the kernel was killed: Killed"
make_qemu "$no_kvm" 'exit 0'
status_is 125 "a guest that says nothing" run true
said "tense: the kernel ended without a result"
ok "the timer of an emulated guest is not tried" grep -q no_timer_check calls

# Sizes.
for size in 63 0 x "" 64T -1 -18446744073709551000 18014398509481985G; do
	status_is 125 "--memory '$size'" run --memory "$size" true
	said_only "tense: --memory is $size: should be 64M to 1024G"
done
if awk '/^(Mem|Swap)Total/ { n += $2 } END { exit n >= 2 ^ 30 }' /proc/meminfo
then
	status_is 125 "more memory than there is" run --memory 1024G true
	ok "says how much there is" grep -Eqx \
		'tense: --memory: 1048576M is more than the [0-9]+M that this machine has' \
		stderr
	TENSE_MEMORY=1024G status_is 125 "by the environment" run true
	ok "says where it was asked for" \
		grep -q '^tense: TENSE_MEMORY: 1048576M' stderr
else
	skip "more memory than there is: this machine has all that can be asked for"
fi

# A notice for a guest that has no KVM, one for each boot of the machine.
emulated="tense: the guest is emulated, which makes it some 20 times slower:"
: >file
# COMMAND...: in a mount namespace whose /dev/kvm is a plain file.
with_kvm() {
	# shellcheck disable=SC2016 # for that shell
	unshare -m sh -c 'mount --bind file /dev/kvm && exec "$@"' sh "$@"
}
if [ "$(id -u)" != 0 ] || ! [ -e /dev/kvm ] || ! with_kvm true; then
	skip "another /dev/kvm: needs root, mount namespaces, and one to begin with"
else
	chmod 600 file
	chmod 777 cache .
	make_qemu "$no_kvm" 'exit 0'
	status_is 125 "no permission for /dev/kvm" with_kvm setpriv \
		--reuid 65534 --regid 65534 --clear-groups \
		"$tense" run --backend qemu true
	is "$(head -n 1 stderr)" "$emulated no permission for /dev/kvm: add yourself to the group kvm" \
		"says who has it"
	ok "and emulates" grep -q -e '-accel tcg' calls
	is "$(grep -c -e '-accel kvm' calls)" 0 "without a try"
	make_qemu 'echo "qemu: failed to initialize kvm: Bad device"; exit 1' \
		'exit 0'
	status_is 125 "a /dev/kvm that is none" with_kvm "$tense" run \
		--backend qemu true
	is "$(head -n 1 stderr)" "$emulated failed to initialize kvm: Bad device" \
		"says why"
	ok "and emulates" grep -q -e '-accel tcg' calls
	status_is 125 "the same again" with_kvm "$tense" run --backend qemu true
	said_only "tense: the kernel ended without a result"
	make_qemu 'exec sleep 1000' 'exit 0'
	status_is 125 "a guest that gets nowhere" with_kvm "$tense" run \
		--backend qemu true
	is "$(head -n 1 stderr)" "$emulated a guest does not get anywhere in 5 s with KVM" \
		"says so"
	is "$(grep -c -e '-accel kvm' calls)" 1 "after one try"
	read -r pid _ <calls
	ok "that has ended" ended "$pid"
fi

# The cache.
make_qemu "$no_kvm" 'exit 0'
mkdir -p fake/linux
cat >fake/linux/Makefile <<'END'
VERSION = 6
PATCHLEVEL = 1
all:
END
export TENSE_KERNEL_SOURCE=$tmp/fake/linux
for cache in file file/below /proc/tense; do
	case $cache in
	/*) path=$cache ;;
	*) path=$tmp/$cache ;;
	esac
	status_is 125 "a cache that is no directory: $cache" \
		env TENSE_CACHE="$path" "$tense" run --backend qemu true
	said_only "tense: cannot write to the cache $path: set TENSE_CACHE to a directory of yours"
done
status_is 125 "no cache for the default kernel" env -u TENSE_KERNEL_SOURCE -u TENSE_KERNEL_VERSION \
	TENSE_CACHE=/proc/tense "$tense" run --backend uml true
said_only "tense: cannot write to the cache /proc/tense: set TENSE_CACHE to a directory of yours"
if [ "$(id -u)" = 0 ]; then
	mkdir -m 755 theirs
	status_is 125 "a cache of another user's" env TENSE_CACHE="$tmp/theirs" \
		setpriv --reuid 65534 --regid 65534 --clear-groups \
		"$tense" run --backend qemu true
	said_only "tense: cannot write to the cache $tmp/theirs: set TENSE_CACHE to a directory of yours"
	is "$(ls theirs)" "" "and leaves nothing there"
	# A kernel of Linux 6.1 is there, but not complete.
	with_default_kernel() {
		env -u TENSE_KERNEL_SOURCE -u TENSE_KERNEL_VERSION TENSE_CACHE="$tmp/theirs" "$@"
	}
	mkdir "$(with_default_kernel "$source/tools/kernel-build" --arch um --print)"
	status_is 125 "a kernel in it that is older than the default one" with_default_kernel \
		setpriv --reuid 65534 --regid 65534 --clear-groups "$tense" run --backend uml true
	ok "is tried" grep -q "^tense: the guest runs Linux 6.1" stderr
else
	skip "a cache of another user's: only root can become one"
	skip "a kernel in it"
fi
mkdir small
if unshare -m true 2>/dev/null && unshare -m mount -t tmpfs tmpfs small; then
	# shellcheck disable=SC2016 # for that shell
	status_is 125 "a cache on a small disk" unshare -m sh -c '
		mount -t tmpfs -o size=100k tmpfs small
		TENSE_CACHE=$PWD/small "$1" run --backend qemu true
		status=$?
		ls -d small/tmp small/x86_64-* >left 2>/dev/null
		flock -n small/lock true && echo free >>left
		exit $status' sh "$tense"
	said_only "tense: no space left in $tmp/small: a kernel build needs 3 GB there"
	is "$(grep -v 'log$' left)" free "leaves a lock that is free, and no kernel"
else
	skip "a cache on a small disk: no mount namespaces here"
fi

# Builds that are cut short. The compiler never comes to an end.
export TENSE_CACHE=$tmp/builds
mkdir -p fake/linux/scripts/kconfig
make_command fake/linux/scripts/kconfig/merge_config.sh ''
# shellcheck disable=SC2016 # for that script
make_command bin/make 'case "$*" in
*bzImage*) echo $$ >"$TENSE_CACHE/compiler"
	while :; do echo CC; sleep 0.1; done ;;
esac'
make_command bin/patch ''
make_command bin/df 'echo; echo x x x 4000000 x x'
# The options that the real configuration would have.
sed -n -e 's/^\(CONFIG_[A-Z0-9_]*\)=n$/# \1 is not set/' -e '/^CONFIG_/p' \
	"$source/kernel/configs/x86_64.config" \
	"$source/kernel/v6.1/configs/x86_64.config" >fake/linux/.config
for sig in TERM HUP INT KILL; do
	rm -f "$TENSE_CACHE/compiler"
	# Not as a job in the background, which ignores SIGINT.
	perl -e '$SIG{INT} = "DEFAULT"; exec @ARGV' \
		"$tense" run --backend qemu true >stdout 2>stderr </dev/null &
	pid=$!
	until_true test -s "$TENSE_CACHE/compiler"
	ok "a build runs the compiler" test -s "$TENSE_CACHE/compiler"
	[ -s "$TENSE_CACHE/compiler" ] || break
	ok "and takes the lock" lock_is_taken "$TENSE_CACHE/lock"
	kill -$sig $pid
	wait $pid 2>/dev/null
	is "$?" $((128 + $(kill -l $sig))) "SIG$sig ends tense while it builds"
	ok "and the compiler" until_true ended "$(cat "$TENSE_CACHE/compiler")"
	ok "and frees the lock" until_true lock_is_free "$TENSE_CACHE/lock"
	is "$(ls -d "$TENSE_CACHE"/x86_64-*/ 2>/dev/null)" "" \
		"there is no kernel"
done
printf '#!/bin/sh\necho why >&2\nexit 2\n' >bin/make
status_is 125 "the next build begins anew" run true
ok "which fails by itself" grep -q "^tense: .*, see $TENSE_CACHE/x86_64-" stderr
is "$(ls -d "$TENSE_CACHE"/tmp "$TENSE_CACHE"/x86_64-*/ 2>/dev/null)" "" \
	"and removes what those before left"

done_testing
