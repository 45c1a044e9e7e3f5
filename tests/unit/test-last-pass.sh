#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# last-pass.sh keeps the results of a pass, and inputs.sh finds what they depend on.
# shellcheck disable=SC2016 # eval or the program expands it, not this shell
. "$source/tests/lib/tap.sh"
. "$source/tests/lib/last-pass.sh"
. "$source/tests/lib/inputs.sh"

in_tmp
export TENSE_CACHE=$tmp/cache

printf 'ok 1 - one\n1..1\n' >results
ok "nothing is kept" eval '! repeat_pass name 1 >got'
ok "results are kept" keep_pass name 1 results
ok "they are repeated" eval 'repeat_pass name 1 >got'
is "$(tail -n +2 got)" "$(cat results)" "as they were"
is "$(head -n 1 got)" "$repeats_pass" "and say so"
ok "another checksum: they are not" eval '! repeat_pass name 2 >got'
ok "one that begins like it: they are not" eval '! repeat_pass name 10 >got'
ok "another name: they are not" eval '! repeat_pass other 1 >got'
ok "another pass is kept" keep_pass name 2 results
is "$(ls cache/passed | tr '\n' ' ')" "name-1 name-2 " "in another file"
ok "a pass is forgotten" forget_pass name 2
is "$(repeat_pass name 2) $?" " 1" "and not repeated"
touch -d '8 days ago' cache/passed/name-1
is "$(repeat_pass name 1) $?" " 1" "nor is one of the week before last"
ok "a pass is kept" keep_pass name 2 results
is "$(ls cache/passed)" name-2 "and the old one removed"
touch file
ok "a cache that cannot be written" eval '! TENSE_CACHE=$tmp/file keep_pass name 1 results 2>got'

# Checksums.
cat >program.c <<'END'
int main(void)
{
	return 0;
}
END
mkdir elsewhere
cp program.c elsewhere
"$cc" -g -o program program.c
first=$(sum_of_inputs program ./program)
ok "a program has a checksum" [ "${#first}" -eq 64 ]
(cd elsewhere && "$cc" -g -o program program.c)
is "$(sum_of_inputs program elsewhere/program)" "$first" "the same where it was compiled elsewhere"
sed -i 's/0/1/' program.c
"$cc" -g -o program program.c
ok "another one with other code" [ "$(sum_of_inputs program ./program)" != "$first" ]
is "$(sum_of_inputs program ./program.c) $?" " 1" "a script has none"
is "$(sum_of_inputs program ./nothing) $?" " 1" "nor has a file that is not there"
is "$(sum_of_inputs nothing ./program 2>/dev/null)" "" "nor has a program of no kind"
printf '#!/bin/sh\ncat given && exit "$(cat status)"\n' >itself
chmod +x itself
echo 0 >status
echo 1 >given
first=$(sum_of_inputs itself ./itself)
ok "a program tells itself" [ "${#first}" -eq 64 ]
echo 2 >given
ok "another checksum for other files" [ "$(sum_of_inputs itself ./itself)" != "$first" ]
echo 1 >status
is "$(sum_of_inputs itself ./itself) $?" " 1" "none if it does not know"

# Commands of tense.
mkdir -p commands/tools/cli commands/tests/unit commands/tests/lib commands/docs
cd commands || exit
touch tools/cli/cmd-run.c tools/cli/cmd-noise.c tools/cli/cmd-trace.c tools/cli/cmd-trace-activity.c
cat >script <<'END'
# A comment on noise.
"$tense" trace-activity read <file
END
is "$(commands_in script)" "run
trace-activity" "a script names its commands"
printf 'echo whatif; tense run\n' >other
is "$(commands_in other)" run "what is no command does not count"
printf '\0\1noise\0' >binary
is "$(commands_in script binary | tr '\n' ' ')" "noise run trace-activity " "so does a program"
is "$(commands_in gone 2>/dev/null) $?" " 1" "a file that is not there names none"
mkdir -p objects/tools/cli
for name in main run noise common unused; do
	echo "int cmd_$name;" >"$name.c"
	[ "$name" != noise ] && [ "$name" != main ] ||
		echo 'extern int cmd_common; int *of_'$name' = &cmd_common;' >>"$name.c"
done
rebuild() { # NAME
	"$cc" -g -c -o "objects/$1.o" "$1.c"
	ar rcs objects/tense.a "objects/$1.o"
}
for name in run noise common unused; do
	rebuild "$name"
done
"$cc" -g -c -o objects/tools/cli/main.o main.c
code_differs() { # TITLE DIFFERS COMMAND...
	local title=$1 differs=$2

	shift 2
	code_of_commands objects "$@" >after
	is "$? $(cmp -s before after && echo same || echo other)" "0 $differs" "$title"
}
code_of_commands objects noise >before
code_differs "a command has code" same noise
code_differs "another command has other code" other run
echo '/* a comment */' >>noise.c
rebuild noise
code_differs "a comment is no code" same noise
for name in run unused; do
	echo 'int more;' >>"$name.c"
	rebuild "$name"
	code_differs "it does not depend on the code of $name" same noise
done
echo 'int more;' >>common.c
rebuild common
code_differs "it depends on what it refers to" other noise
code_of_commands objects noise >before
echo 'int more_options;' >>main.c
"$cc" -g -c -o objects/tools/cli/main.o main.c
code_differs "and on the main program" other noise
is "$(code_of_commands elsewhere noise 2>/dev/null) $?" " 1" "no code without objects"
ok "nor of a command that is not there" eval '! code_of_commands objects none >after 2>&1'
git init -q .
mkdir o
touch tests/lib/a.sh Makefile docs/a.md README.md tests/unit/test-a.sh tests/unit/test-a.c tools/a.c tools/a o/log notes.txt
git add Makefile tests/unit/test-a.sh
names_of_files() { # BUILD
	files_of_commands "$1" | sed -n 's/^==> \(.*\) <==$/\1/p' |
		grep -Ev '^objects|^[a-z]+\.c$|^(script|other|binary|before|after)$' | tr '\n' ' '
}
is "$(names_of_files o)" "Makefile tests/lib/a.sh tools/a " \
	"files of the tree, without documents, scripts of other tests and code"
is "$(names_of_files "$PWD/o")" "$(names_of_files o)" "nor of the build, wherever it is"
is "$(names_of_files /elsewhere)" "Makefile o/log tests/lib/a.sh tools/a " "if it is in the tree"
files_of_commands o >before
chmod +x tools/a
files_of_commands o >after
ok "a file that becomes a program" eval '! cmp -s before after'
touch -d '1 minute ago' o/begun
ok "a file is newer than the build" has_changed_since o/begun o
touch -d '1 minute' o/begun
ok "no file is" eval '! has_changed_since o/begun o'
touch -d '1 minute ago' o/begun
touch docs/a.md
ok "a document is" has_changed_since o/begun o
touch -d '1 minute' o/begun
rm tools/a
git add tests/lib
rm tests/lib/a.sh
ok "a file is gone" has_changed_since o/begun o
ok "no build has begun" has_changed_since elsewhere/begun o
# Scripts that run programs in guests.
mkdir guests
touch guests/test-one guests/test-one.bin guests/timed guests/two.bin guests/three.bin guests/notes
chmod +x guests/*.bin guests/timed
echo '"$0.bin"' >guests/test-one
is "$(programs_in_uml guests/test-one)" guests/test-one.bin "a script has a program of its name"
echo '"$here/${0##*/guest-}"' >guests/guest-timed
is "$(programs_in_uml guests/guest-timed)" guests/timed "guest-NAME runs NAME"
echo './two.bin + ./three.bin; ./notes' >guests/several
is "$(programs_in_uml guests/several | xargs)" "guests/two.bin guests/three.bin" "a script runs programs that it names"
echo 'echo ok' >guests/none
is "$(programs_in_uml guests/none) $?" " 1" "one without a program has no checksum"
# Programs of unit tests that scripts use.
mkdir -p built/tests/unit built/bench
cp objects/run.o built/tests/unit/measured
cp objects/run.o built/bench/queue-table
cp guests/none built/tests/unit/test-a
echo '"$out/tests/unit/measured" | "$out/bench/queue-table"; test-a; absent' >guests/user
is "$(helpers_in built guests/user | xargs)" "built/tests/unit/measured built/bench/queue-table" \
	"a script's helpers, but no other test"
# A command runs once, and what it printed is repeated.
mkdir "$tmp/once"
count() {
	echo >>"$tmp/counted"
	echo "$1"
}
is "$(once a count 1; once a count 2)" "1
2" "nothing is repeated"
is "$(once=$tmp/once; once a count 1; once a count 2; once b count 3)" "1
1
3" "with a directory, output is repeated under the same name"
is "$(wc -l <"$tmp/counted")" 4 "the command does not run again"
fails() {
	echo half
	return 1
}
is "$(once=$tmp/once; once c fails; echo $?; once c count 1)" "1
1" "the output of a command that failed is not repeated"
cd "$source" || exit
is "$(contents tests/nothing 2>/dev/null) $?" " 0" "no files"
ok "are an error of a checksum" eval '! (set -o pipefail; contents tests/nothing) >"$tmp/got" 2>&1'
done_testing
