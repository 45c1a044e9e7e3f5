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
ok "another name: they are not" eval '! repeat_pass other 1 >got'
ok "another pass is kept" keep_pass name 2 results
is "$(ls cache)" passed-name "in the same file"
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
cd "$source" || exit
is "$(contents tests/nothing 2>/dev/null) $?" " 0" "no files"
ok "are an error of a checksum" eval '! (set -o pipefail; contents tests/nothing) >"$tmp/got" 2>&1'
done_testing
