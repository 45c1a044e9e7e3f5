# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# Waiting for processes and for what they do; sourced.

# Until the condition holds, for up to three minutes: COMMAND...
until_true() {
	for _ in $(seq 1800); do
		"$@" && return
		sleep 0.1
	done
	false
}

# Is there such a process, and not only what is left of it?
runs() {
	[ -n "$(sed -n 's/^State:\t[^ZX]/&/p' "/proc/$1/status" 2>/dev/null)" ]
}

ended() {
	! runs "$1"
}

# Have all of them ended? PID...
all_ended() {
	for pid; do
		ended "$pid" || return
	done
}

# Prints the processes that a process started, and those that they started: PID
descendants() {
	for child in $(cat /proc/"$1"/task/*/children 2>/dev/null); do
		echo "$child"
		descendants "$child"
	done
}

# Waits for a child and returns its status. Kills it if it has not ended in a minute.
status_of() {
	for _ in $(seq 600); do
		runs "$1" || break
		sleep 0.1
	done
	if runs "$1"; then
		kill -KILL "$1"
	fi
	wait "$1" 2>/dev/null
}

# FILE
lock_is_free() {
	flock -n "$1" true
}

lock_is_taken() {
	! lock_is_free "$1"
}
