# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# Checksums of all that is known to change the results of a test program, apart from chance.
# tests/run-tap repeats the last pass of a program whose checksum has not changed. The current
# directory is the source tree.

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

# A script that runs programs in User-Mode Linux by "tense run", and does nothing else, depends on
# itself, the programs, that command, the libraries, the kernels and the host.
inputs_in_uml() { # PROGRAM
	local out=${1%/tests/*} programs program

	# These variables change what the script does.
	[ -z "${COVERAGE:-}${STRESS_MINUTES:-}" ] || return
	programs=$(programs_in_uml "$1") && sed "s|$PWD/||" "$1" || return
	for program in $programs; do
		code "$program" || return
	done
	code_of_commands "$out" run && once host host_of_commands &&
		once "built${out//\//-}" built_of "$out"
}

# Prints the programs that such a script NAME may run: NAME.bin, NAME without "guest-", and each
# program whose name stands in it.
programs_in_uml() { # PROGRAM
	local here=${1%/*} name=${1##*/} word found=

	for word in "$name.bin" "${name#guest-}" $(grep -oE '[a-z0-9.-]+' "$1"); do
		[ "$word" != "$name" ] && [ -f "$here/$word" ] && [ -x "$here/$word" ] || continue
		echo "$here/$word" && found=1
	done
	[ "$found" ]
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

# A test of commands depends on their code, on the host, on files of the tree, and on what was
# built from these. run-tap keeps no pass if a file has changed since make began to build.
inputs_commands() { # PROGRAM
	local out=${1%/tests/*} objects script='' names program

	# With one of these variables, a test does something else.
	[ -z "${READINGS:-}${TIERS:-}${LONG:-}${CPUS:-}${WAITING:-}${STRESS_MINUTES:-}${BRINK_SECONDS:-}" ] ||
		return
	# Such objects hold no machine code in which the linker finds what a command needs.
	! grep -qe -flto "$out/flags" || return
	objects=$out
	if grep -Iq . "$1"; then
		# The line "source=" tells where the tree and the build are.
		sed -e '/^source=/d' -e "s|$PWD/||" "$1" || return
		script=$(sed -n 's|^\. "$source/\(.*\)"$|\1|p' "$1")
		! grep -q "^source=.*/asan/bin/tense'" "$1" || objects=$out/asan/obj
	else
		code "$1" || return
	fi
	for program in $(helpers_in "$out" "${script:-/dev/null}"); do
		code "$program" || return
	done
	names=$(commands_in "${script:-$1}" tests/lib/*.sh) || return
	# shellcheck disable=SC2086 # words
	code_of_commands "$objects" $names && cat "${script:-/dev/null}" && once host host_of_commands &&
		once "files${out//\//-}" files_of_commands "$out" && once "built${out//\//-}" built_of "$out"
}

# Prints the programs made of code that files_of_commands() leaves out whose names stand in a
# script.
helpers_in() { # BUILD SCRIPT
	local name program

	grep -oE '[a-z][a-z0-9-]+' "$2" | sort -u | while read -r name; do
		for program in "$1/tests/unit/$name" "$1/bench/$name"; do
			# A script of a test is no helper.
			[ ! -f "$program" ] || grep -Iq . "$program" || echo "$program"
		done
	done
}

# Runs a command, or repeats what it printed before. $once: a directory for that; unset: none.
once() { # NAME COMMAND...
	local file=${once:+$once/$1}

	shift
	if [ -z "$file" ]; then
		"$@"
		return
	fi
	[ -e "$file" ] || { "$@" >"$file.$BASHPID" && mv "$file.$BASHPID" "$file"; } || return
	cat "$file"
}

# Prints the commands of tense that files name. A word that is only spelled like one counts.
commands_in() { # FILE...
	local known words

	known=$(find tools/cli -name 'cmd-*.c' | sed 's|.*/cmd-||; s|\.c$||') && [ -n "$known" ] &&
		words=$(cat "$@" | sed '/^[[:space:]]*#/d' | grep -aoE '[a-z]+(-[a-z]+)*') || return
	{
		# Most tests run it, some by a program that does not name it.
		echo run
		grep -xF "$known" <<<"$words" || [ $? -eq 1 ]
	} | sort -u
}

# Prints the code of commands, and of all that they call.
code_of_commands() { # OBJECTS COMMAND...
	local objects=$1 linked status

	shift
	set -- "${@//-/_}"
	linked=$(mktemp) || return
	code "$objects/tools/cli/main.o" &&
		ld -r -S -o "$linked" "${@/#/--require-defined=cmd_}" "$objects/tense.a" && cat "$linked"
	status=$?
	rm -f "$linked"
	return "$status"
}

# Prints the user, the host and its packages, and variables that change tests.
host_of_commands() {
	local arch version

	id -u && uname -r && nproc && dpkg-query -W && qemu-system-x86_64 --version || return
	# The names of kernels have checksums of their sources and of those of the module.
	for arch in um um-debug x86_64; do
		for version in 6.1 "${TENSE_KERNEL_VERSION:-7.3}"; do
			case $version,$arch in
			6.1,um-debug | 7*,x86_64) ;;
			*) tools/kernel-build --arch "$arch" --version "$version" --print || return ;;
			esac
		done
	done
	grep -m 2 -E '^(model name|flags)' /proc/cpuinfo
	cat /sys/devices/system/clocksource/clocksource0/current_clocksource
	find /dev/kvm /dev/tense "$(cache_of_kernels)"/qemu-* -maxdepth 0 -printf '%p %U %G %m\n' 2>/dev/null
	env | sed -En '/^(TENSE_|PATH=|LD_|GLIBC_|CC=|CFLAGS=|[A-Z]+SAN_OPTIONS=)/p' | sort
}

# Prints what was built and what all programs in guests share.
built_of() { # BUILD
	local file

	for file in "$1"/lib/*.so.[0-9]* "$1"/libexec/tense/* "$1/module/tense.ko"; do
		[ ! -e "$file" ] || code "$file" || return
	done
	cat "$1/flags"
}

# Prints the files of the tree that tests and commands read. Code of tense, of its libraries, of
# kernels and of unit tests is not among them, nor are the scripts of other tests.
files_of_commands() { # BUILD
	list_files "$1" ':!tools/*.[ch]' ':!libtense/*.[cS]' ':!module/*.[ch]' ':!kernel/*.[ch]' \
		':!patches' ':!tests/unit/*.[ch]' ':!tests/unit/functions' ':!tests/fuzz' ':!tests/sim' \
		':!tests/spin' ':!tests/bench' ':!tests/*/test-*.sh' ':!tests/lint' ':!tests/check-patches' \
		':!docs' ':!*.md' ':!.ci' |
		sort -z | xargs -0 -r sh -c 'for f; do [ ! -x "$f" ] || echo "$f"; done; tail -v -c +1 "$@"' sh
}

# Prints the names of the tree's files, apart from those of the build, with a 0 behind each. A file
# that somebody left beside the Makefile is not one of them.
list_files() { # BUILD PATHSPEC...
	local build=${1#"$PWD/"}

	shift
	case $build in
	/* | ../*) ;;
	*) set -- "$@" ":!$build" ;;
	esac
	git ls-files -z -c -- . "$@" &&
		git ls-files -z -o --exclude-standard -- ':(glob)*/**' "$@"
}

# Succeeds if a file of the tree has changed since the time of STAMP, or if nobody can tell.
has_changed_since() ( # STAMP BUILD
	set -o pipefail
	newer=$(list_files "$2" | xargs -0 -r sh -c 'find "$@" -maxdepth 0 -cnewer "$0"' "$1" 2>&1) &&
		[ -z "$newer" ] && exit 1
	true
)

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
