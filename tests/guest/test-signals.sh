#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Sends signals to `tense run`, `trace` and `whatif`, with guests that react and guests
# that do not. A stopped process of the host stands for a kernel that hangs.
. "$source/tests/lib/tap.sh"
. "$source/tests/lib/processes.sh"

in_tmp -p /var/tmp
run=("$tense" run --backend "$backend")

# Builds the kernel before the tests if the cache has none.
ok "a kernel that boots" "${run[@]}" true

# Waits until the command has made a file, and until tense knows that it started.
begin() {
	rm -f there
	# shellcheck disable=SC2016 # for perl
	perl -e '$SIG{$_} = "DEFAULT" for qw(INT QUIT); exec @ARGV' \
		"$@" </dev/null >stdout 2>stderr &
	pid=$!
	until_true test -e there
	sleep 0.5
	guest=$(cat /proc/$pid/task/$pid/children)
	guest=${guest% }
}

# STATUS SIGNAL WHAT
is_killed() {
	status_of $pid
	is "$?" "$1" "$3: the guest is killed"
	unwrap stderr
	ok "tense says that it killed the guest" grep -Eq "^tense: the guest \(process $guest\) did not react to SIG$2 for 5 s, so tense killed it: check the files that the command wrote, and run the command again$" \
		stderr
	ok "no process of the guest is left" until_true ended "$guest"
}

# A guest that does not react.
for sig in TERM INT; do
	begin "${run[@]}" sh -c 'touch there; exec sleep 1000'
	kill -STOP "$guest"
	kill -$sig $pid
	is_killed $((128 + $(kill -l $sig))) $sig "SIG$sig to a guest that hangs"
done
begin "$tense" trace --backend $backend -o trace.svg \
	sh -c 'touch there; exec sleep 1000'
kill -STOP "$guest"
kill -TERM $pid
is_killed 143 TERM "tense trace"
ok "a killed trace leaves no file" [ ! -e trace.svg ]
begin "$tense" whatif --func main --faster 20% --backend $backend \
	--prepare 'touch there; exec sleep 1000' -- \
	"$out/tests/unit/fake-guest"
kill -STOP "$guest"
kill -TERM $pid
is_killed 143 TERM "tense whatif"

# The guest is stopped only for a moment: the command gets its signals.
begin "${run[@]}" sh -c 'trap "exit 6" TERM
	touch there; while :; do sleep 0.1; done'
kill -STOP "$guest"
kill -TERM $pid
sleep 1
kill -CONT "$guest"
status_of $pid
is "$? $(cat stderr)" "6 " "a guest that hung for a second"

# Tense and its guest are stopped for longer, as by closing a laptop.
begin "${run[@]}" sh -c 'trap "exit 6" TERM
	touch there; while :; do sleep 0.1; done'
kill -STOP "$guest"
kill -TERM $pid
kill -STOP $pid
sleep 6
kill -CONT "$guest"
kill -CONT $pid
status_of $pid
is "$? $(cat stderr)" "6 " "a guest and a tense that were stopped for 6 s"

# A command may take longer to end than the guest to answer.
begin "${run[@]}" bash -c 'trap "sleep 7; exit 5" TERM
	touch there; while :; do sleep 0.1; done'
kill -TERM $pid
sleep 1.5
kill -TERM $pid
status_of $pid
is "$? $(cat stderr)" "5 " "a command may take 7 s to end"

# A command that goes on after SIGINT as Python, after SIGHUP and SIGUSR1 as a daemon.
# shellcheck disable=SC2016 # for perl
begin "${run[@]}" perl -e '
	$SIG{$_} = sub { $n++ } for qw(INT HUP USR1 ALRM QUIT);
	$SIG{TERM} = sub { print "$n\n"; exit 7 };
	open F, ">", "there";
	while (1) {
		select undef, undef, undef, 0.05;
		if ($n > $m) { $m = $n; open F, ">", "handled-$n" }
	}'
n=0
for sig in INT HUP USR1 ALRM QUIT INT HUP; do
	kill -$sig $pid
	n=$((n + 1))
	until_true test -e handled-$n
done
sleep 6
ok "a command may handle signals and go on" runs $pid
kill -TERM $pid
status_of $pid
is "$? $(cat stdout stderr)" "7 7" "each signal arrives once"
begin "${run[@]}" sh -c 'trap "" TERM INT HUP; touch there
	until [ -e go ]; do sleep 0.1; done; exit 8'
for sig in TERM INT HUP TERM TERM; do
	kill -$sig $pid
	sleep 1.2
done
ok "a command may ignore signals" runs $pid
touch go
status_of $pid
is "$? $(cat stderr)" "8 " "the command ends with its own status"

# --deterministic passes no signals: the first one ends the guest in any case.
if [ "$backend" = qemu ]; then
	ok "a deterministic guest" "$tense" run --deterministic true
	mkdir empty
	for state in CONT STOP; do
		(cd empty && exec "$tense" run --deterministic sh -c \
			'echo up; while :; do :; done' </dev/null >../stdout 2>../stderr) &
		pid=$!
		until_true test -s stdout
		guest=$(cat /proc/$pid/task/$pid/children)
		guest=${guest% }
		kill -$state "$guest"
		kill -TERM $pid
		status_of $pid
		is "$? $(cat stderr)" "143 " \
			"--deterministic, SIG$state for the guest: SIGTERM ends it"
		ok "no process of the guest is left" until_true ended "$guest"
		rm stdout
	done
fi

done_testing
