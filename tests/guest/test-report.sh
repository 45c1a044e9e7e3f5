#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# TENSE_REPORT: a line of each thread that returns, however it does, and of no other.
. "$source/tests/lib/tap.sh"

in_tmp -p /var/tmp
program=$out/tests/guest/returns

# All in one guest, each into a file of its own.
cat >session <<'END'
for how in ways running elsewhere pending early forks execs many closes; do
	TENSE_REPORT=$how.report "$1" $how >$how.out 2>&1
	echo $? >$how.status
done
cd sub
TENSE_REPORT=1 "$1" ways 2>../stderr.report
TENSE_REPORT=0 "$1" ways 2>../off
TENSE_REPORT= "$1" ways 2>>../off
"$1" ways 2>>../off
TENSE_REPORT=missing/file "$1" ways 2>../missing
echo $? >../missing.status
END
mkdir sub
"$out/bin/tense" run --backend uml --idle skip -- sh session "$program" \
	>messages 2>&1
is "$? $(cat messages)" "0 " "programs that end in several ways"

names() { # FILE
	cut -f 1 "$1" | sort | xargs
}

# Whole lines of a name, a number and two times, and none else.
lines_are_whole() { # FILE
	awk -F '\t' 'NF != 4 || $2 !~ /^[1-9][0-9]*$/ ||
		$3 !~ /^[0-9]+\.[0-9]+$/ || $4 !~ /^[0-9]+\.[0-9]+$/ ||
		length($3) - index($3, ".") != 9 || length($4) - index($4, ".") != 9 {
			bad = 1 }
		END { exit bad }' "$1"
}

all='a?b?c d c11 leaver main sleeper waiter worker'
is "$(names ways.report)" "$all" \
	"return, pthread_exit(), cancellation, C11 and exit() are reported"
is "$(cut -f 2 ways.report | sort -u | wc -l)" 7 "each with its own number"
ok "in the order in which they return" sh -c "cut -f 3 ways.report | sort -nc"
# The clock goes on after a jump and a sleep; only the jump is CPU time.
field() { # FILE NAME FIELD
	awk -F '\t' -v name="$2" -v field="$3" '$1 == name { print $field }' "$1"
}
at_least() { # NUMBER LEAST
	awk -v a="$1" -v b="$2" 'BEGIN { exit !(a + 0 >= b) }'
}
ok "a thread has the CPU time that it was charged" \
	at_least "$(field ways.report worker 4)" 2
ok "one that sleeps has none" at_least 2 "$(field ways.report sleeper 4)"
ok "but the time goes on" at_least \
	"$(awk -F '\t' '$1 == "worker" { a = $3 } $1 == "sleeper" { b = $3 }
		END { print b - a }' ways.report)" 5

is "$(names running.report)" main "exit() while a thread runs: that never returned"
is "$(names elsewhere.report) $(cat elsewhere.status)" "ender 3" \
	"exit() in a thread: that one"
is "$(names pending.report) $(cat pending.status)" "cancelled 4" \
	"the line makes exit() no cancellation point"
is "$(cut -f 1 early.report | xargs)" "main sleeper" \
	"main() that ends first is reported first"
is "$(names forks.report)" "child forker main returner" \
	"a child that exits, and one that returns from its thread, but not by _exit()"
is "$(names execs.report)" true "execve() returns from nothing; the program after it does"
is "$(names many.report | tr ' ' '\n' | uniq -c | xargs)" \
	"4 main 64 one-of-many" "threads of four processes at once"
is "$(names closes.report)" "main worker" "also if the program closes all descriptors"
for file in *.report; do
	ok "$file: lines are whole" lines_are_whole "$file"
done
is "$(cat -- *.status | sort | uniq -c | xargs)" "8 0 1 3 1 4" \
	"no program ends otherwise than without it"
is "$(names stderr.report)" "$all" "TENSE_REPORT=1 is standard error"
is "$(cat off)" "" "without it, and with 0, there are no lines"
is "$(cat missing)" "libtense: TENSE_REPORT: missing/file: No such file or directory; no thread reports its time" \
	"a file that cannot be written is told"
is "$(ls sub)" "" "and no other is made"

if [ -e /dev/tense ]; then
	skip "there is a /dev/tense here"
else
	LD_PRELOAD=$out/lib/libtense.so TENSE_WARNED=1 TENSE_REPORT=real \
		"$program" ways
	is "$?" 0 "in real time the program runs"
	ok "and nothing is reported" [ ! -e real ]
fi
done_testing
