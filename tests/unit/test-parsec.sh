#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# make parsec refuses trees and settings that it cannot measure, says why, and writes
# nothing. The part that a function saves is computed from known rounds. The inputs are the same
# each time.
. "$source/tests/lib/tap.sh"
# shellcheck source=/dev/null
. "$source/tests/lib/commands.sh"

parsec=$source/tests/parsec/parsec
accuracy=$out/accuracy
unset CPUS EXACT ROUNDS CASES JSON
in_tmp
mkdir build tree

# A tree with these programs.
tree_with() { # FOLDER...
	rm -rf tree
	mkdir -p tree/pkgs
	for folder; do
		mkdir -p "tree/pkgs/$folder/src"
		printf 'all:\n\tcp /bin/true %s\n' "${folder##*/}" >"tree/pkgs/$folder/src/Makefile"
	done
}

refused() { # NAME PATTERN ARGUMENT...
	local name=$1 pattern=$2
	shift 2
	"$parsec" "$@" >said 2>&1
	is $? 1 "refuses $name"
	ok "$name: says why" grep -q -- "$pattern" said
	is "$(ls build)" "" "$name: writes nothing"
}

refused "no tree" "name the PARSEC tree: make parsec PARSEC=DIR" build ""
refused "a tree that is not there" "/none is no PARSEC tree" build /none
refused "a directory without a tree" "tree is no PARSEC tree: it has no directory pkgs" build tree
tree_with kernels/dedup apps/swaptions
CASES="dedup-hash fluidanimate-barrier" refused "a tree without a program" \
	"lacks fluidanimate: no file pkgs/apps/fluidanimate/src/Makefile" build tree
ok "names only the program that is missing" [ "$(wc -l <said)" -eq 1 ]
CASES=dedup refused "a case that is none" "no case is called dedup; there are: dedup-hash" build tree
CASES=swaptions-rows CPUS=3 refused "three CPUs" "CPUS=3: must be 1 or 2" build tree
CASES=swaptions-rows ROUNDS=2 refused "too few rounds" "ROUNDS=2: must be at least 3" build tree
link_commands_but g++
PATH=$tmp/bin CASES=swaptions-rows refused "a machine without compiler" \
	"g++ is missing: apt-get install" build tree
rm -r bin

# A patch that does not fit: the tree keeps its files.
mkdir build/bin
make_command build/bin/tense 'exit 0'
CASES=swaptions-rows "$parsec" build tree >said 2>&1
is $? 1 "refuses sources that are others"
ok "and says which patch does not fit" grep -q "swaptions-rows.*swaptions-rows.patch does not fit" said
is "$(cd tree && find . -type f | LC_ALL=C sort | tr '\n' ' ')" \
	"./pkgs/apps/swaptions/src/Makefile ./pkgs/kernels/dedup/src/Makefile " \
	"and leaves the tree as it is"
for patch in "$source"/tests/parsec/*.patch; do
	ok "${patch##*/} is used by a case" grep -q "\\b$(basename "$patch" .patch)\\b" "$parsec"
done

for kind in "text 5000" "fluid 100"; do
	# shellcheck disable=SC2086 # two words
	for n in 1 2; do perl "$source/tests/parsec/inputs" $kind >input$n; done
	ok "inputs: $kind: the same twice" cmp -s input1 input2
done
is "$(wc -c <input1)" $((8 + 100 * 36)) "inputs: 36 bytes for each particle"
perl "$source/tests/parsec/inputs" text 5000 >input1
is "$(($(wc -c <input1) / 5000))" 1 "inputs: as much text as asked for"

# The machine gets slower by the half: the function takes 25 % less time all the same.
for round in 0 1 2 3 4; do
	speed=$((100 + 10 * round))
	printf 'run old %d\nfunction_ns %d\noutside_ns %d\nfunction_calls 7\n' \
		$round $((40 * speed)) $((60 * speed))
	printf 'run new %d\nfunction_ns %d\noutside_ns %d\nfunction_calls 7\n' \
		$round $((30 * speed)) $((60 * speed))
done >rounds
is "$("$accuracy/function-cut" rounds old new | jq -c '[.value, .calls, .share]')" "[25,7,40]" \
	"function-cut: a quarter less time, of 40 %"
"$accuracy/function-cut" rounds new old | jq -e '.value < -33 and .value > -34' >said
is $? 0 "function-cut: a third more"
grep -v function_ns rounds >empty
"$accuracy/function-cut" empty old new >said 2>&1
is $? 1 "function-cut refuses rounds without the function"
ok "and says so" grep -q "function_ns" said

done_testing
