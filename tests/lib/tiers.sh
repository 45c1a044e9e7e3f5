# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# The tiers that a test of the clock runs on; sourced. $out is the build directory.
#
#	host		on this kernel, in real time
#	real-uml	in the UML guest, in real time; real-qemu-N as well
#	uml		in an experiment in the UML guest
#	qemu-N		the same on N CPUs, in an emulator
#	exact-N		the same, and the clock counts instructions

# TIER [OPTION]...: prints the command that runs a program there, with options of
# tense run.
tier_command() {
	local tier=$1 where real=

	shift
	case $tier in
	host)
		echo env TENSE=0
		return
		;;
	real-*) real='--real' ;;
	esac
	case $tier in
	*uml) where='--backend uml' ;;
	*qemu-*) where="--backend qemu --cpus ${tier##*-}" ;;
	*) where="--deterministic --cpus ${tier##*-}" ;;
	esac
	# Hide the library's warning about a kernel without the device.
	# shellcheck disable=SC2154 # the build directory, which the test names
	echo "$out/bin/tense run $where $real $* -- ${real:+env TENSE=0}"
}

# TIER: skips its tests if tense run may not have so many CPUs.
has_cpus() {
	case $1 in
	*qemu-*) [ "${1##*-}" -le "$(nproc)" ] && return ;;
	*) return ;;
	esac
	skip "$1: this machine has too few CPUs"
	false
}

# TIER: does it count instructions, so that the host has no influence?
is_exact() {
	[ "${1#exact}" != "$1" ]
}
