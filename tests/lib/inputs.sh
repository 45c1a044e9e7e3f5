# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# Checksums of all that the results of a test program depend on, apart from chance. tests/run-tap
# repeats the last pass of a program whose checksum has not changed. The current directory is the
# source tree.

# Prints the checksum. Fails if it cannot read a file, or if the inputs are not known.
sum_of_inputs() { # KIND PROGRAM
	(
		set -o pipefail
		sum=$("inputs_$1" "$2" 2>&1 | sha256sum) && echo "${sum%% *}"
	)
}

# A program that takes random numbers from a fixed seed and reads no file depends on its code and
# its libraries.
inputs_program() { # PROGRAM
	# These variables change what a sanitizer finds.
	echo "${ASAN_OPTIONS:-} ${UBSAN_OPTIONS:-} ${LSAN_OPTIONS:-}"
	code "$1" && ldd "$1" | awk '$2 == "=>" { print $3 }' | xargs -r cat
}

# A script that tests/guest/build.mk makes of in-qemu depends on itself, the programs that it
# takes to the guest, the kernel, the emulator and the host.
inputs_in_qemu() { # PROGRAM
	local kernel programs program

	# These variables change what the script does.
	[ -z "${GUEST_MEMORY:-}${GUEST_SECONDS:-}${COVERAGE:-}" ] || return
	kernel=$(tools/kernel-build --arch x86_64 --print) || return
	programs=$(sed -n 's/^for program in \(.*\); do$/\1/p' "$1")
	[ -n "$programs" ] || return
	for program in qemu-init $programs; do
		code "${1%/*}/$program" || return
	done
	sed "s|$PWD/||" "$1" && cat "$kernel/build/vmlinux" "$kernel/tense.ko" &&
		qemu-system-x86_64 --version && uname -r && nproc
}

# spin explores the models of tests/spin.
inputs_models() {
	spin -V && "${CC:-gcc}" --version && contents tests/spin tests/lib/tap.sh
}

# checkpatch and sparse read the sources of kernel code.
inputs_kernel_style() {
	local file

	tools/kernel-build --arch um --print && sparse --version && perl --version || return
	for file in .checkpatch.conf ~/.checkpatch.conf; do
		[ ! -e "$file" ] || cat "$file" || return
	done
	contents kernel module Kbuild patches tests/lint/test-kernel tests/lint/lint.sh \
		tests/lib/tap.sh
}

# The program prints what it depends on, because only it knows.
inputs_itself() { # PROGRAM
	timeout -k 10 60 "$1" --inputs
}

# Prints a program without its debug symbols, which tell where it was compiled.
code() { # PROGRAM
	local stripped status

	stripped=$(mktemp) || return
	objcopy --strip-debug --remove-section=.note.gnu.build-id "$1" "$stripped" &&
		cat "$stripped"
	status=$?
	rm -f "$stripped"
	return "$status"
}

# Prints the names and contents of files, also of those in directories.
contents() { # PATH...
	find "$@" -type f -print0 | sort -z | xargs -0 -r tail -v -c +1
}
