#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# The build in another directory, and installation.
. "$source/tests/lib/tap.sh"

build=$source/tools/kernel-build
in_tmp
unset TENSE_CACHE TENSE_KERNEL_SOURCE XDG_CACHE_HOME LD_PRELOAD MAKEFLAGS \
	MFLAGS MAKELEVEL DESTDIR

# The build.
status_is 2 "make where nothing can be written" \
	make -C "$source" O=/proc/tense user
ok "says what to do" grep -q \
	'cannot write to /proc/tense: name another directory with O=' stderr
ok "make help" sh -c "make -C '$source' help | grep -q '^check '"
ok "a build elsewhere" make -s -j2 -C "$source" O="$tmp/elsewhere" \
	"$tmp/elsewhere/bin/tense" "$tmp/elsewhere/share/tense"
is "$("$tmp/elsewhere/bin/tense" version)" "$("$tense" version)" "works"
is "$("$tmp/elsewhere/bin/tense" check --json |
	jq -r .items.build_tools.ok)" \
	"$("$tense" check --json | jq -r .items.build_tools.ok)" \
	"and finds the source"

# Installation: found from where it is, and removed whole.
before=$(cat "$out/flags")
export DESTDIR="$tmp/root"
ok "make install" make -s -C "$source" O="$out" PREFIX=/opt/x install \
	>make.log 2>&1
x=$tmp/root/opt/x
for file in bin/tense libexec/tense/guest-init lib/libtense.so.1 \
	    share/tense/Kbuild share/tense/tools/kernel-build \
	    share/tense/tools/fetch/qemu-fetch share/tense/tools/kernel-source \
	    share/tense/tools/fetch/debian.sh \
	    share/tense/tools/measure/daemons.csv \
	    share/tense/kernel/configs/uml.config \
	    share/tense/patches/v6.1/series share/tense/patches/v7.2/series \
	    share/tense/kernel/v7.2/sched/tense-fair.h \
	    share/tense/module/v7.2/compat.h share/man/man1/tense-run.1 \
	    share/bash-completion/completions/tense; do
	ok "installs $file" test -f "$x/$file"
done
is "$(cat "$out/flags")" "$before" "another PREFIX rebuilds no program"
is "$("$x/bin/tense" version)" "$("$tense" version)" "the same version"
is "$(TENSE_CACHE=/c "$x/share/tense/tools/kernel-build" --arch um --print)" \
	"$(TENSE_CACHE=/c "$build" --arch um --print)" \
	"and the same kernel as of the source"
is "$(TENSE_CACHE=/c "$x/share/tense/tools/kernel-build" --arch um --version 7.2 --print)" \
	"$(TENSE_CACHE=/c "$build" --arch um --version 7.2 --print)" "of each version"
kernel() { # ARCH
	TENSE_CACHE=/c "$x/share/tense/tools/kernel-build" --arch "$1" --print
}
for_um=$(kernel um) for_qemu=$(kernel x86_64)
for part in "$x"/share/tense/patches/v6.1/0001-um-* "$x/share/tense/kernel/um/hostfd.h"; do
	echo >>"$part"
	now=$(kernel um)
	ok "a change of ${part##*/} makes another kernel for UML" [ "$now" != "$for_um" ]
	for_um=$now
	is "$(kernel x86_64)" "$for_qemu" "and none for QEMU"
done
is "$("$x/bin/tense" check --json | jq -r .items.guest_init.detail)" \
	"$x/libexec/tense/guest-init" "finds its own parts"
# The soname of earlier versions.
touch "$x/lib/libtense.so.0"
ok "make uninstall" make -s -C "$source" O="$out" PREFIX=/opt/x uninstall \
	>make.log 2>&1
is "$(find "$tmp/root" -type f -o -type l)" "" "leaves nothing"

done_testing
