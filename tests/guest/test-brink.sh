#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Programs at the end of virtual time neither hang nor kill their kernel. Each
# has a guest of its own. The host ends a guest that does not end by itself:
# a CPU that loops with interrupts off handles no signal.
. "$source/tests/lib/tap.sh"

if [ "$(id -u)" != 0 ]; then
	echo "Bail out! test-brink needs root, in the guest as outside"
	exit 1
fi
# build/module is for Linux 6.1 if nothing says otherwise.
export TENSE_KERNEL_VERSION="${TENSE_KERNEL_VERSION:-6.1}"
export TENSE_KO="$out/module/tense.ko"
# Each case takes some seconds, but a busy host may stop a guest for long.
patience=${BRINK_SECONDS:-120}
log=$(mktemp) || exit 1
trap 'rm -f "$log"' EXIT

survives() { # ARGUMENT...
	timeout --foreground -k 5 "$patience" "$out/bin/tense" run --backend uml \
		--real -- "$out/tests/guest/brink" "$@" >"$log" 2>&1 </dev/null
	status=$?
	sed 's/^/# /' "$log" | tail -n 5
	case $status in
	124 | 137) echo "# the guest hangs: the host ended it" ;;
	esac
	[ $status = 0 ] && grep -qx alive "$log"
}

for clock in monotonic realtime boottime tai; do
	ok "$clock interval timer with an ignored signal" \
		survives timer $clock
done
ok "setitimer() with an ignored signal" survives itimer
ok "CPU time after jumps that overflow its sum" survives cputime

done_testing
