#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# run_unless_passed() runs a test unless it passed with the same files.
. "$source/tests/lib/tap.sh"
. "$source/tests/lib/last-pass.sh"

in_tmp
export TENSE_CACHE=$tmp/cache
unset AGAIN
sum() {
	cat input
}
try() {
	run_unless_passed name sum sh -c 'echo ran >>runs; cat results; exit "${1:-0}"' sh "$@" >got
}
runs() {
	wc -l <runs
}
# A test with these results runs each time: WHAT RESULTS [STATUS]
is_not_kept() {
	rm -rf cache runs
	printf '%b' "$2" >results
	try "${3:-0}"
	ok "$1: its results are shown" cmp -s got results
	try "${3:-0}"
	is "$(runs)" 2 "and it runs again"
}

echo 1 >input
printf 'ok 1 - one\n1..1\n' >results
ok "a test that passes" try
ok "has its results" cmp got results
ok "once more" try
is "$(runs)" 1 "it does not run again"
is "$(tail -n +2 got)" "$(cat results)" "but has the same results"
is "$(head -n 1 got)" "# nothing that this test reads has changed since it passed" "and says so"
AGAIN=1 try
is "$(runs)" 2 "AGAIN=1: it runs"
echo 2 >input
try
is "$(runs)" 3 "a file has changed: it runs"
is "$(ls cache)" passed-name "one pass is kept"

is_not_kept "a failure" 'not ok 1 - one\n1..1\n'
is_not_kept "no plan" 'ok 1 - one\n'
is_not_kept "a plan without a test" '1..0 # SKIP nothing\n'
is_not_kept "a skip" 'ok 1 - one # SKIP no such tool\n1..1\n'
is_not_kept "an end before all is done" 'ok 1 - one\nBail out! gone\n1..1\n'
is_not_kept "an error" 'ok 1 - one\n1..1\n' 3
printf 'ok 1 - one\n1..1\n' >results
rm -rf cache
run_unless_passed name sum sh -c 'echo 3 >input; cat results' >got
is "$(ls cache 2>/dev/null)" "" "a file that changes meanwhile: nothing is kept"
try 3
is $? 3 "the status is that of the test"
touch file
TENSE_CACHE=$tmp/file try 2>/dev/null
is "$? $(cat got)" "0 $(cat results)" "a cache that cannot be written: it runs"

done_testing
