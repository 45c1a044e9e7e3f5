#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The runner of tests: sums, failures, order, times and programs at a time.
# shellcheck disable=SC2016 # the programs expand it, not this shell
. "$source/tests/lib/tap.sh"

run_tap=$source/tests/run-tap
in_tmp
unset JOBS AGAIN TENSE_KERNEL_VERSION
TAP_LOGS=$tmp/log
export TAP_LOGS

script() { # NAME TEXT
	mkdir -p "$(dirname "$1")"
	printf '#!/bin/sh\n%s\n' "$2" >"$1"
	chmod +x "$1"
}

# The names of the programs in the order of their lines.
order() {
	sed -n 's/^\(ok\|FAIL\) *\([^ ]*\) .*/\2/p' stdout | tr '\n' ' '
}

# Sums and failures.
script good 'echo 1..2; echo ok 1; echo "ok 2 # SKIP none here"'
script bad 'echo ok 1; echo not ok 2 - it; echo "# why"; echo 1..2; exit 1'
script dead 'echo ok 1; kill -9 $$'
script short 'echo 1..2; echo ok 1'
script late 'echo 1..1; echo ok 1; exit 3'
script silent ':'
status_is 0 "all programs pass" "$run_tap" ./good
is "$(tail -n 1 stdout)" "1 passed, 0 failed, 1 skipped" "the sum counts a skip"
for test in bad dead short late; do
	status_is 1 "a program that is $test" "$run_tap" ./good ./$test
	is "$(tail -n 1 stdout)" "2 passed, 1 failed, 1 skipped" "fails"
done
script told 'echo 1..2; echo "# RUN a"; echo "# other"; echo ok 1
	echo "# RUN b"; echo "# why"; echo not ok 2 b; exit 1'
status_is 1 "a program explains a failure before the result" "$run_tap" ./told
is "$(sed -n '2,$p' stdout | head -n 2)" "    # why
  not ok 2 b" "and the explanation is printed"
status_is 1 "a program prints nothing" "$run_tap" ./silent
status_is 1 "a program does not exist" "$run_tap" ./nothing
status_is 1 "there is no program" "$run_tap"
script crash 'echo 1..1; echo ok 1; kill -SEGV $$'
status_is 1 "a program crashes after good results" "$run_tap" ./crash
is "$(tail -n 1 stdout)" "1 passed, 1 failed, 0 skipped" "and fails"

# The line of a program.
status_is 0 "one program" "$run_tap" ./good
ok "its line shows the time" grep -Eqx \
	'ok    good +1 passed, 1 skipped +[0-9]+\.[0-9] s' stdout
ok "the file of times has it" grep -Eqx 'good [0-9]+\.[0-9] [0-9]+\.[0-9]' log/times
script a/same 'echo 1..1; echo ok 1 from a'
script b/same 'echo 1..1; echo ok 1 from b'
status_is 0 "two programs of one name" "$run_tap" a/same b/same
is "$(order)" "a/same b/same " "get their folders' names"
is "$(cat log/a-same.log log/b-same.log)" "1..1
ok 1 from a
1..1
ok 1 from b" "and a log each"

# Two at a time: each waits for the other one's file.
meet='echo 1..1; touch $0.here
for i in $(seq 600); do [ -e $OTHER.here ] && echo ok 1 && exit; sleep 0.1; done
echo not ok 1'
script first "OTHER=./second; $meet"
script second "OTHER=./first; $meet"
status_is 0 "two programs run at the same time" env JOBS=2 "$run_tap" ./first ./second
is "$(order)" "first second " "in the order of the arguments"
script slow 'echo 1..2; echo "# slow begins"
for i in $(seq 600); do [ -e quick.here ] && break; sleep 0.1; done
echo not ok 1 slow; echo "# slow ends"; echo ok 2'
script quick 'echo 1..1; echo not ok 1 quick; touch quick.here'
rm -f quick.here
status_is 1 "the first program ends last" env JOBS=2 "$run_tap" ./slow ./quick ./good
is "$(order)" "slow quick good " "the order is that of the arguments"
is "$(grep -A 1 '^  not ok' stdout | tr '\n' ' ')" \
	"  not ok 1 slow     # slow ends --   not ok 1 quick   all of its output: $tmp/log/quick.log " \
	"the output of each is whole"
is "$(tail -n 1 stdout)" "2 passed, 2 failed, 1 skipped" "the sum is of all"

# One at a time: another one's file would tell.
apart='echo 1..1; [ -e running ] && echo "not ok 1 another runs" && exit
touch running; sleep 0.3; rm running; echo ok 1'
for name in one two three; do
	script $name "$apart"
done
status_is 0 "JOBS=1 runs one at a time" env JOBS=1 "$run_tap" ./one ./two ./three
status_is 0 "programs after --alone run alone" env JOBS=2 "$run_tap" \
	./one --alone ./two ./three
is "$(order)" "one two three " "in the order of the arguments"
status_is 0 "programs after --beside run one at a time" env JOBS=2 "$run_tap" \
	--beside ./one ./two
script third "OTHER=./first; $meet"
rm -f ./*.here
status_is 0 "they run beside JOBS others" env JOBS=2 "$run_tap" \
	./first ./second --beside ./third
script helped 'echo 1..1; for i in $(seq 600); do [ -e helper.here ] && echo ok 1 && exit
	sleep 0.1; done; echo not ok 1'
script helper 'echo 1..1; echo ok 1; touch helper.here'
status_is 0 "the last of them runs while the others do" env JOBS=1 "$run_tap" \
	./helped --beside ./good ./helper --alone ./one ./two
is "$(order)" "helped good helper one two " "the order is that of the arguments"
script last 'echo 1..1; [ -e running ] && echo not ok 1 || echo ok 1'
script longer 'echo 1..1; touch running; sleep 1; rm running; echo ok 1'
status_is 0 "programs after --alone wait for those after --beside" env JOBS=2 \
	"$run_tap" ./good --beside ./longer --alone ./last
script jobs 'echo 1..1; [ -z "${JOBS:-}" ] && echo ok 1'
status_is 0 "programs do not see JOBS" env JOBS=2 "$run_tap" ./jobs
status_is 2 "JOBS=0" env JOBS=0 "$run_tap" ./good
is "$(cat stderr)" "run-tap: JOBS=0: give a number from 1" "is refused"

# A program that told the checksum of what it depends on, and passed.
script kept '[ "${1:-}" != --inputs ] || exec cat input
echo ran >>runs; cat results; cat errors >&2; exit "$(cat status)"'
: >errors
echo 0 >status
kept() { # TITLE RUNS STATUS [ARGUMENT]...
	local title=$1 runs=$2 status=$3

	shift 3
	status_is "$status" "$title" env TENSE_CACHE="$tmp/cache" TAP_KEPT="itself:./kept" "$@" \
		"$run_tap" ./kept ./a/same
	is "$(wc -l <runs)" "$runs" "it has run so often"
}
echo 1 >input
printf 'ok 1 - one\n1..1\n' >results
kept "a program passes" 1 0
ok "its line does not say more" grep -Eqx 'ok    kept +1 passed +[0-9]+\.[0-9] s' stdout
kept "nothing has changed since it passed" 1 0
ok "its line says so" grep -Eqx 'ok    kept +1 passed +0\.0 s, unchanged' stdout
is "$(tail -n 2 stdout)" "results of earlier passes, because nothing has changed (AGAIN=1 runs all): 1 of 2 programs
2 passed, 0 failed, 0 skipped" "and the sum tells how many there are"
ok "the file of times has it" grep -qx 'kept 0.0 0.0' log/times
kept "AGAIN=1" 2 0 AGAIN=1
kept "another version of the kernel" 3 0 TENSE_KERNEL_VERSION=7.2
rm input
kept "it cannot tell what it depends on" 4 0
echo 2 >input
kept "a file has changed" 5 0
kept "and no other one" 5 0
# A program with such results runs each time.
is_not_kept() { # TITLE STATUS
	rm -rf cache runs
	kept "$1" 1 "$2"
	kept "$1, again" 2 "$2"
}
printf 'not ok 1 - one\n1..1\n' >results
is_not_kept "a failure" 1
printf 'ok 1 - one\n1..2\n' >results
is_not_kept "a result too few" 1
printf '1..0 # skip nothing\n' >results
is_not_kept "a plan without a test" 0
printf 'ok 1 - one # skip no such tool\n1..1\n' >results
is_not_kept "a skip" 0
# A test of commands. Its checksum is also of files of the tree.
mkdir -p cache tree/build/tests/unit tree/build/tools/cli tree/tools/cli tree/tests/lib
(
	cd tree && git init -q && echo build >.gitignore || exit
	printf '#!/bin/sh\necho kernel\n' >tools/kernel-build
	printf '#!/bin/sh\ncat results\n' >build/tests/unit/test
	chmod +x tools/kernel-build build/tests/unit/test
	printf 'ok 1\nok 2\n1..2\n' >results
	echo 'int cmd_run;' | "$cc" -c -o build/run.o -x c - && ar rcs build/tense.a build/run.o
	cp build/run.o build/tools/cli/main.o
	touch tools/cli/cmd-run.c tests/lib/some.sh build/flags
	touch -d '1 minute' build/begun
)
commands() { # TITLE STATE [ARGUMENT]...
	local title=$1 state=$2

	shift 2
	status_is 0 "$title" env -C tree TENSE_CACHE="$tmp/cache" \
		TAP_KEPT="commands:build/tests/unit/test" "$@" "$run_tap" build/tests/unit/test
	is "$(sed -n 's/.* s\(, unchanged\)*$/.\1/p' stdout | head -n 1)" ".$state" "its line tells whether it ran"
}
commands "a test of commands passes" ""
commands "nothing has changed since it passed" ", unchanged"
commands "a variable that changes tests" "" READINGS=10
touch -d '1 minute ago' tree/build/begun
echo left >tree/notes.txt
commands "a file that somebody left beside the Makefile is none of the tree" ", unchanged"
echo more >tree/Makefile
git -C tree add Makefile
commands "a file of the tree has changed since the build began" ""
commands "the pass was not kept" ""
touch -d '1 minute' tree/build/begun
commands "the file has changed before another build began" ""
commands "the pass was kept" ", unchanged"
echo more >tree/build/flags
commands "a flag has changed" ""
commands "the pass with the new flag was kept" ", unchanged"
echo -flto >tree/build/flags
commands "with objects without machine code" ""
commands "no pass is kept" ""
echo more >tree/build/flags
commands "with the flags of before" ", unchanged"
commands "all programs run" "" AGAIN=1
commands "they passed" ", unchanged"
printf '#!/bin/sh\n[ -e ../fail ] && echo not ok 1 || echo ok 1\necho 1..1\n' >tree/build/tests/unit/test
commands "another program" ""
touch fail
status_is 1 "it fails" env -C tree TENSE_CACHE="$tmp/cache" AGAIN=1 \
	TAP_KEPT="commands:build/tests/unit/test" "$run_tap" build/tests/unit/test
rm fail
commands "a failure makes its pass void" ""
# A test that runs a program in User-Mode Linux.
cp tree/build/run.o tree/build/tests/unit/test.bin
chmod +x tree/build/tests/unit/test.bin
printf '#!/bin/sh\n# runs test.bin\necho "ok 1 # skip no such call"; echo ok 2; echo 1..2\n' \
	>tree/build/tests/unit/test
in_uml() { # TITLE STATE
	commands "$1" "$2" TAP_KEPT="in_uml:build/tests/unit/test"
}
in_uml "a test in a guest passes" ""
in_uml "its pass is kept, although a test was skipped" ", unchanged"
echo more >tree/Makefile
in_uml "and does not depend on files of the tree" ", unchanged"
echo 'int other;' | "$cc" -c -x c -o tree/build/tests/unit/test.bin - &&
	chmod +x tree/build/tests/unit/test.bin
in_uml "but on its program" ""
rm tree/build/tests/unit/test.bin
in_uml "a test without a program" ""
in_uml "is not kept" ""
printf 'ok 1 - one\n1..1\n' >results
echo 'Bail out! gone' >errors
is_not_kept "an end before all is done, told as an error" 1
: >errors
echo 3 >status
is_not_kept "an error" 1
echo 0 >status
script kept '[ "${1:-}" != --inputs ] || exec cat input
echo ran >>runs; echo $$ >input; cat results'
is_not_kept "a file that changes meanwhile" 0

# Signals. A shell's background job ignores SIGINT unless somebody resets it.
script interrupt 'echo 1..1; trap "echo ok 1; exit" INT; kill -INT $$; sleep 1'
status_is 0 "SIGINT reaches a program" "$run_tap" ./interrupt
script sleeper 'echo $$ >sleeper.pid; exec sleep 300'
status_is 1 "a program that hangs" env TAP_LIMIT=1 "$run_tap" ./sleeper ./good
ok "fails" grep -qx '  did not end' stdout
ok "and the next one runs" grep -q '^ok  *good ' stdout
# Ends the runner while the sleeper runs; returns its status.
end_with_sleeper() { # ARGUMENT...
	rm -f sleeper.pid
	"$run_tap" "$@" >stdout 2>stderr &
	runner=$!
	for _ in $(seq 600); do
		[ -s sleeper.pid ] && break
		sleep 0.1
	done
	kill -TERM "$runner"
	wait "$runner"
}
end_with_sleeper ./sleeper
is $? 143 "SIGTERM ends the runner"
ok "and its program" sh -c '! kill -0 "$(cat sleeper.pid)" 2>/dev/null'
script never 'echo 1..1; touch never.here; echo ok 1'
end_with_sleeper ./good --beside ./sleeper ./never
is $? 143 "SIGTERM ends a runner with programs after --beside"
ok "and the one that runs" sh -c '! kill -0 "$(cat sleeper.pid)" 2>/dev/null'
ok "and starts no other" [ ! -e never.here ]

done_testing
