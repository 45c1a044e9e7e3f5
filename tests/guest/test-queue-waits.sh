#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# How long jobs wait for a server, M/D/1 and M/M/1, as the program measures it
# itself: the server's reading of the clock minus the producer's. In virtual time
# the mean lies within the 95 % interval of real time, at utilisations 0.3 to
# 0.9. Instructions are counted, so that no other program disturbs either. In the
# UML guest the real means depend on the host: there, only negative waits are
# counted, beside other processes.
#
# CPUS (a list) and WAITING (the jobs of a run) replace the defaults.
. "$source/tests/lib/tap.sh"
. "$source/tests/lib/load.sh"

queue=$out/workloads/queue
in_tmp -p /var/tmp
trap 'unload; rm -rf "$tmp"' EXIT

run() {	# FILE MODEL OPTION...: of tense run
	local file=$1 model=$2

	shift 2
	"$out/bin/tense" run "$@" -- "$queue" --jobs "${WAITING:-45}" --service 500 \
		--model "$model" >"$file" 2>messages </dev/null
	is $? 0 "$file: the program succeeds"
	sed 's/^/# /' messages
}

# NAME: the waits are unsigned, so a negative one looks longer than any run.
none_is_negative() {
	is "$(awk -F, 'NR > 1 && $12 > 1e12' virtual | wc -l)" 0 \
		"$1: no batch has a negative wait"
}

for cpus in ${CPUS-1 2}; do
	for model in d m; do
		name="M/${model^^}/1, CPUs: $cpus"
		run real $model --deterministic --cpus "$cpus" --real
		run virtual $model --deterministic --cpus "$cpus"
		"$out/bench/queue-table" -m real virtual >table 2>&1
		# CPUs that take turns on one clock are no reference in real time: a
		# server and its producer wait for each other's turns.
		[ "$cpus" -gt 1 ] ||
			is "$(grep -c ' inside$' table)" 7 \
				"$name: all means are inside the interval"
		sed 's/^/# /' table
		none_is_negative "$name"
	done
done

load
for model in d m; do
	run virtual $model --backend uml --idle skip
	none_is_negative "M/${model^^}/1, UML"
done
done_testing
