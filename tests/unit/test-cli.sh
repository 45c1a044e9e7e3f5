#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Usage, exit statuses and messages of tense, and the errors of the kernel build.
set -u
. "$source/tests/lib/tap.sh"
# shellcheck source=/dev/null
. "$source/tests/lib/processes.sh"
# shellcheck source=/dev/null
. "$source/tests/lib/commands.sh"

# Once as it is shipped, once with sanitizers.
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
cd "$tmp" || exit 1
unset TENSE_CACHE TENSE_KERNEL_SOURCE XDG_CACHE_HOME LD_PRELOAD MAKEFLAGS \
	MFLAGS MAKELEVEL DESTDIR

# The command said one line that begins so, and nothing on standard output.
said() {
	is "$(wc -l <stderr) $(cut -c "1-${#1}" stderr)" "1 $1" "says: $1"
	is "$(cat stdout)" "" "and no output"
}

# The names in a folder.
listed() {
	(cd "$1" && echo *)
}

contains() {
	case $1 in
	*"$2"*) true ;;
	*) echo "# not in it: $2"; false ;;
	esac
}

# Usage and help.
status_is 125 "no command is misuse" "$tense"
ok "which shows the usage" contains "$(cat stderr)" "Usage: tense COMMAND"
status_is 125 "an unknown command is misuse" "$tense" walk
said "tense: unknown command 'walk'"
for arg in help --help -h; do
	status_is 0 "$arg" "$tense" $arg
	ok "$arg shows the usage" contains "$(cat stdout)" "Usage: tense COMMAND"
done
status_is 125 "nearly a command" "$tense" profil
said "tense: unknown command 'profil', perhaps profile: see tense --help"
status_is 125 "help of an unknown command" "$tense" help walk
said "tense: unknown command 'walk'"
status_is 125 "help of two commands" "$tense" help run trace
said "tense: help is for one command at a time"
for command in run shell trace check functions measure noise trace-activity daemons \
	kernel profile whatif; do
	status_is 0 "help $command" "$tense" help $command
	mv stdout help
	status_is 0 "$command --help" "$tense" $command --help
	is "$(cat stdout)" "$(cat help)" "is the same"
	ok "shows its usage" contains "$(cat stdout)" "Usage: tense $command"
	is "$(awk 'length > 80' stdout)" "" "in at most 80 columns"
	sed -n '/^Examples:$/,/^$/p' stdout | sed -n "s/^  .*| tense/  tense/
		s/ -- .*//; s/ [&|] .*//; s/ && .*//; /^  tense $command /p" >examples
	ok "has examples" [ -s examples ]
	for option in $(grep -o -e ' --[a-z][a-z-]*' examples | sort -u); do
		ok "$option of an example is an option" grep -q -e "^  ${option}[ =]" stdout
	done
	ok "tells units of TIME in the same words" awk '/ TIME  /{ has = 1 }
		$0 == "TIME is a number with its unit: ns, us, ms, s, m, h or d." { told = 1 }
		END { exit has != told }' stdout
done
status_is 0 "version" "$tense" version
ok "is a version" grep -Eqx 'tense [0-9]+\.[0-9]+\.[0-9]+' stdout
status_is 125 "version takes no arguments" "$tense" version 2
status_is 125 "a full disk for the help is an error" \
	sh -c "'$tense' help >/dev/full"
for words in "check --json" "kernel list --json" "functions --json -- sh"; do
	status_is 125 "a full disk for $words is an error" \
		sh -c "'$tense' $words >/dev/full"
	said "tense: standard output: No space left on device"
done

# Misuse of run is 125, so that 2 can be the command's.
status_is 125 "run without a command" "$tense" run
said "tense: run: no command"
status_is 125 "run -- without a command" "$tense" run --stats --
said "tense: run: no command"
status_is 125 "an unknown option" "$tense" run --fast true
said "tense: run: unknown option '--fast'"
status_is 125 "an unknown short option" "$tense" run -x true
said "tense: run: unknown option '-x'"
status_is 125 "a long option with one dash" "$tense" run -cpus 4 true
said "tense: run: unknown option '-cpus'"
status_is 125 "two results on standard output" \
	"$tense" whatif --func f --faster 20% --json - --csv - -- true
said "tense: whatif: only one of --json, --csv, --report and --svg can be written to -"
status_is 125 "also of profile" "$tense" profile --json - --folded - -- true
said "tense: profile: only one of --json"
status_is 125 "an option without its argument" "$tense" run --percent
said "tense: run: --percent needs an argument"
status_is 125 "another option instead of it" "$tense" run --json --stats true
said "tense: run: --json needs an argument, but '--stats' is an option"
status_is 125 "also of trace" "$tense" trace -o --json true
said "tense: trace: -o needs an argument, but '--json' is an option"
status_is 125 "an option with an argument too many" "$tense" run --stats=1 true
said "tense: run: unknown option '--stats=1'"
status_is 125 "nearly an option" "$tense" run --stast true
said "tense: run: unknown option '--stast', perhaps --stats: see tense run --help"
status_is 125 "an unknown back end" "$tense" run --backend vmware true
said "tense: run: unknown back end 'vmware'"
for percent in 0 -1 100001 99999999999999999999 abc 10x "" 1.5 " "; do
	status_is 125 "percent '$percent'" \
		"$tense" run --percent "$percent" -- true
	said "tense: run: percent '$percent' is not a number from 1 to 100000"
done
for name in "" "a b" a/b a: \
	123456789012345678901234567890123 "$(printf '\303\244')"; do
	for command in run shell; do
		status_is 125 "$command --experiment '$name'" \
			"$tense" $command --experiment "$name" true
		said "tense: $command: experiment '$name' is not a name of 1 to 32 letters, digits, '.', '_' and '-'"
	done
done
status_is 125 "TENSE_EXPERIMENT that is no name" \
	env TENSE_EXPERIMENT='a b' "$tense" run true
said "tense: run: experiment 'a b' is not a name of 1 to 32 letters"
status_is 125 "--real and --experiment" "$tense" run --real --experiment x true
said "tense: run: --real excludes --percent, --clock, --idle and --experiment"
status_is 125 "shell takes no option of run's alone" "$tense" shell --percent 50
said "tense: shell: unknown option '--percent'"
for cpus in 0 -1 x "" 2x; do
	status_is 125 "--cpus '$cpus'" "$tense" run --cpus "$cpus" true
	said "tense: --cpus $cpus: should be a number from 1 to 64"
done
status_is 125 "more CPUs than a guest can have" "$tense" run --cpus 65 true
said "tense: --cpus 65: should be a number from 1 to 64"
for list in 1,2 1..8; do
	status_is 125 "a list of CPUs" "$tense" run --cpus "$list" true
	said "tense: --cpus $list: --cpus takes one number here; a list is for tense whatif"
done
status_is 125 "of profile" "$tense" profile --cpus 1,2 -- true
said "tense: --cpus 1,2: --cpus takes one number here; a list is for tense whatif"
status_is 125 "of trace" "$tense" trace --cpus 1,2 -- true
said "tense: --cpus 1,2: --cpus takes one number here; a list is for tense whatif"
status_is 125 "more CPUs than tense itself" \
	taskset 1 "$tense" run --kernel 6.1 --cpus 2 true
said "tense: --cpus 2: tense may use 1 of this machine's CPUs"
status_is 125 "more memory than there can be" "$tense" run --memory 2000G true
said "tense: --memory is 2000G: should be 64M to 1024G"
status_is 125 "a machine of this size" \
	"$tense" run --backend native --memory 1G true
said "tense: --kernel, --cpus and --memory apply only to guests; the back end native uses"
[ "$(nproc)" -lt 2 ] || {
	status_is 125 "several CPUs where there is one" \
		"$tense" run --kernel 6.1 --backend uml --cpus 2 true
	said "tense: --cpus 2: Linux 6.1 has one CPU in User-Mode Linux: use --kernel 7.2 or --backend qemu"
}
mkdir without
for program in sh; do
	ln -s "$(command -v $program)" without/
done
status_is 125 "no QEMU" env PATH="$PWD/without" \
	"$tense" run --backend qemu true
said "tense: qemu-system-x86_64 is not installed: apt-get install qemu-system-x86"
mkdir rw && (cd rw && mkdir $(seq 20))
set --
for dir in rw/*; do
	set -- "$@" --rw "$dir"
done
status_is 125 "more directories than a machine has slots" \
	"$tense" run --backend qemu "$@" true
said "tense: --rw: the back end qemu has at most 16 directories"

# kernel, with a cache that is not the user's.
export TENSE_CACHE=$PWD/kernels
status_is 0 "kernel list without a cache" "$tense" kernel list
is "$(cat stdout)" "nothing in $PWD/kernels" "is empty"
mkdir -p kernels/um-0123456789ab/build kernels/um-0123456789ab-ba9876543210 \
	kernels/x86_64-0123456789ab kernels/source-0123456789ab \
	kernels/debug-0123456789ab kernels/debug-0123456789ab-ba9876543210 \
	kernels/qemu-9.1.1 kernels/qemu-10.1.1 kernels/passed kernels/tidy
for dir in kernels/qemu-*; do
	make_command $dir/qemu-system-x86_64 ''
done
: >kernels/um-0123456789ab.log
status_is 0 "kernel list" "$tense" kernel list
is "$(sed '/^$/,$d; s/results of tests/results/' stdout |
	awk '{ print $1, $2, $6 }')" "debug-0123456789ab tests not
passed results 
qemu-10.1.1 emulator 
qemu-9.1.1 emulator not
source-0123456789ab source 
tidy results 
um-0123456789ab uml not
x86_64-0123456789ab qemu not" "of a cache"
head -c 3500000 /dev/zero >kernels/source-0123456789ab/big
head -c 2500000 /dev/zero >kernels/um-0123456789ab/build/big
status_is 0 "kernel list" "$tense" kernel list
is "$(tail -n 2 stdout)" "6 MB in $PWD/kernels
'tense kernel remove --unused' removes 2 MB that this version does not use" \
	"the last lines tell the size, and how to reduce it"
rm kernels/um-0123456789ab/build/big
status_is 0 "kernel list" "$tense" kernel list
is "$(tail -n 2 stdout)" "
3 MB in $PWD/kernels" "no advice if less than 1 MB is not used"
rm kernels/source-0123456789ab/big
status_is 0 "kernel list --json" "$tense" kernel list --json
is "$(jq -c '[.entries[] | [.backend, .used]]' stdout)" \
	'[["tests",false],[null,true],[null,true],[null,false],[null,true],[null,true],["uml",false],["qemu",false]]' \
	"the same"
mkdir -p others/um-debug-7.2-0123456789ab others/um-debug-7.2-0123456789ab-ba9876543210 \
	others/um-7.2-0123456789ab
is "$(TENSE_CACHE=$PWD/others "$tense" kernel list | awk '/^um/ { print $1, $2 }')" \
	"um-7.2-0123456789ab uml
um-debug-7.2-0123456789ab tests" "the kernel um-debug belongs to the tests"
status_is 125 "a kernel that is not there" "$tense" kernel remove um-x
said "tense: kernel: not in the cache: 'um-x'"
status_is 125 "nothing to remove" "$tense" kernel remove
status_is 125 "kernel without an action" "$tense" kernel
for action in "kernel build --version" "run --kernel"; do
	for version in 7 "" 6.12 "6.1 7.2"; do
		# shellcheck disable=SC2086 # words
		status_is 125 "$action '$version'" "$tense" $action "$version" true
		said "tense: kernel version '$version' is not known: choose one of 6.1 7.2 7.3"
	done
done
status_is 125 "kernel list --version" "$tense" kernel list --version 7.2
status_is 125 "kernel build of nothing known" "$tense" kernel build vmware
said "tense: kernel: the back ends with a kernel are uml and qemu, not 'vmware'"
status_is 125 "and of that of tests" "$tense" kernel build tests
flock kernels/lock sleep 1000 &
builder=$!
until_true lock_is_taken kernels/lock
status_is 125 "under a build" "$tense" kernel remove --all
said "tense: something is being built or fetched: try again later"
pkill -P $builder
wait $builder
status_is 0 "by name" "$tense" kernel remove um-0123456789ab
is "$(listed kernels)" \
	"debug-0123456789ab debug-0123456789ab-ba9876543210 lock passed qemu-10.1.1 \
qemu-9.1.1 source-0123456789ab tidy x86_64-0123456789ab" \
	"with its modules"
status_is 0 "those that are not used" "$tense" kernel remove --unused
is "$(listed kernels)" "lock passed qemu-10.1.1 source-0123456789ab tidy" \
	"and no others"
status_is 0 "all" "$tense" kernel remove --all
is "$(listed kernels)" lock "of them"
unset TENSE_CACHE

status_is 125 "--deterministic by another back end" \
	"$tense" run --deterministic --backend uml true
said "tense: --deterministic: instructions are counted by the back end qemu, not by"
status_is 125 "--file without --deterministic" "$tense" run --file file true
said "tense: run: --file is for --deterministic: other guests see all files"
status_is 127 "--deterministic with a command that is not there" \
	"$tense" run --deterministic nothing-by-this-name
said "tense: nothing-by-this-name: command not found"
status_is 125 "--real and --percent" "$tense" run --real --percent 50 true
said "tense: run: --real excludes --percent, --clock, --idle and --experiment"
status_is 125 "--real and --window" "$tense" run --real --window 1ms true
said "tense: run: --real excludes --window"
for window in 19us 19999ns 100.1ms 1s 500 us "" 5m 1e3us -1ms 0 99999999999s; do
	status_is 125 "--window '$window'" "$tense" run --window "$window" true
	said "tense: --window $window: should be a time from 20us to 100ms"
done
status_is 125 "--rw of nothing" "$tense" run --rw nothing true
said "tense: --rw nothing: No such file or directory"
: >file
status_is 125 "--rw of a file" "$tense" run --rw file true
said "tense: --rw file: not a directory"
status_is 125 "--json to where nothing can be" \
	"$tense" run --json nothing/file true
said "tense: nothing/file: No such file or directory"
if [ -e /dev/tense ]; then
	skip "--backend native without a device: there is one here"
else
	status_is 125 "--backend native without a device" \
		"$tense" run --backend native true
	said "tense: /dev/tense: No such file or directory"
	status_is 7 "--backend native --real has the command's status" \
		"$tense" run --backend native --real -- sh -c 'exit 7'
	status_is 143 "or 128 + its signal" \
		"$tense" run --backend native --real -- sh -c 'kill $$'
	status_is 127 "not found" "$tense" run --backend native --real nothing
	said "tense: nothing: command not found"
	status_is 127 "not found by path" \
		"$tense" run --backend native --real ./nothing
	said "tense: ./nothing: No such file or directory"
	status_is 126 "not executable" \
		"$tense" run --backend native --real ./file
	said "tense: ./file: Permission denied"
	status_is 0 "options after the command are the command's" \
		"$tense" run --backend native --real echo --stats --help
	is "$(cat stdout)" "--stats --help" "all of them"
	status_is 0 "statistics of a run in real time" "$tense" run \
		--backend native --real --json j.json --stats true
	is "$(jq -c '[.version, .command, .backend, .percent, .status, .experiment]' j.json)" \
		'[2,["true"],"native",null,0,null]' "are JSON"
	ok "and a table" contains "$(cat stderr)" "Real time"
	status_is 127 "a command that is not there" "$tense" run \
		--backend native --real --json j.json nothing-by-this-name
	is "$(jq -c .command j.json)" '["true"]' "leaves the old statistics"
	echo "longer than what comes after it, this was here before" >j.json
	status_is 0 "a name that is not UTF-8" "$tense" run --backend native \
		--real --json j.json true "$(printf 'a\377b')"
	is "$(jq -r '.command[1]' j.json)" "$(printf 'a\357\277\275b')" \
		"is still JSON"
	status_is 125 "a full disk for JSON is an error" "$tense" run \
		--backend native --real --json /dev/full true
	said "tense: /dev/full: No space left on device"
fi

# trace
status_is 125 "trace without a command" "$tense" trace
said "tense: trace: no command"
status_is 125 "trace to a file of no known kind" "$tense" trace -o x.png true
said "tense: trace: -o x.png: a name that ends with .svg or .json is needed"
status_is 125 "or of no name" "$tense" trace -o .svg true
said "tense: trace: -o .svg: a name that ends with .svg or .json is needed"
status_is 125 "trace to where nothing can be" \
	"$tense" trace -o nothing/x.svg true
said "tense: nothing/x.svg: No such file or directory"
status_is 125 "an axis that is none" "$tense" trace --axis up true
said "tense: trace: --axis 'up' is neither real nor virtual"
for buffer in 0 x "" 1T 65G -1; do
	status_is 125 "--buffer '$buffer'" "$tense" trace --buffer "$buffer" true
	said "tense: --buffer is $buffer: should be 1M to 64G"
done
status_is 125 "trace in real time" "$tense" trace --real true
said "tense: trace: unknown option '--real'"
[ -e /dev/tense ] || {
	status_is 125 "trace without a device" \
		"$tense" trace --backend native true
	said "tense: /dev/tense: No such file or directory"
}

# --kernel
for command in check "run true"; do
	# shellcheck disable=SC2086 # words
	TENSE_KERNEL_VERSION=9.9 status_is 125 "$command with a wrong version" "$tense" $command
	said "tense: TENSE_KERNEL_VERSION is '9.9': should be one of 6.1 7.2 7.3"
done
status_is 125 "a directory that is not there" "$tense" run --kernel ./none true
said "tense: --kernel ./none: No such file or directory"
mkdir um x86 new
echo '# Linux/um 7.2.13 Kernel Configuration' >um/config
echo '# Linux/x86_64 6.1.192 Kernel Configuration' >x86/config
echo '# Linux/um 9.0.1 Kernel Configuration' >new/config
for directory in ./new /proc; do
	status_is 125 "a directory without a known kernel" \
		"$tense" run --kernel $directory true
	said "tense: $(realpath $directory) holds no kernel of a known version: name a directory that \`tense check\` or tools/kernel-build prints"
done
status_is 125 "a kernel without the module" "$tense" run --kernel ./um true
said "tense: $PWD/um/tense.ko: No such file or directory: name a directory that \`tense check\` or tools/kernel-build prints"
: >um/tense.ko
: >x86/tense.ko
status_is 125 "a kernel for another back end" "$tense" run --backend uml --kernel x86/ true
said "tense: --kernel $PWD/x86: this kernel is for x86_64: use --backend qemu"
status_is 125 "the other way round" "$tense" run --backend qemu --kernel ./um true
said "tense: --kernel $PWD/um: this kernel is for um: use --backend uml"
status_is 125 "the last --kernel wins" "$tense" run --kernel ./um --kernel 9 true
said "tense: kernel version '9' is not known: choose one of 6.1 7.2 7.3"

# check
status_is 125 "check with an unknown option" "$tense" check --fast
said "tense: check: unknown option '--fast'"
status_is 125 "check with an argument" "$tense" check this
said "tense: check: takes no argument 'this'"
"$tense" check --json >check.json
status=$?
ok "check --json is JSON" jq -e . check.json >/dev/null
is "$(jq .ok check.json)" "$([ $status = 0 ] && echo true || echo false)" \
	"whose verdict is the exit status"
is "$(jq -r '[.items | to_entries[] | select((.value.ok | type) != "boolean" or (.value.detail | type) != "string")] | length' check.json)" \
	0 "all items are told"
is "$(jq -r '.items | keys | join(" ")' check.json)" \
	"build_tools cache cpus device filters guest_init guest_kernel kernel library ptrace qemu qemu_counting" \
	"by these names"
TENSE_CACHE=$tmp/none "$tense" check --json >check.json
is "$(jq -c '.items.guest_kernel | [.ok, .mend]' check.json)" \
	'[false,"tense run true"]' "an empty cache has no kernel"
is "$(jq -c '.items.cache | [.ok, .detail]' check.json)" \
	"[true,\"$tmp/none\"]" "but can have one"
ok "and is not made for that" [ ! -e "$tmp/none" ]
TENSE_CACHE=/proc/tense "$tense" check --json >check.json
is "$(jq -c '.items.cache | [.ok, .mend]' check.json)" \
	'[false,"TENSE_CACHE=DIRECTORY tense run true"]' "one that cannot be made"
[ -e /dev/tense ] || {
	is "$(jq .ok check.json)" false "is of no use"
	TENSE_CACHE=/proc/tense "$tense" check >stdout
	ok "is told in the table" grep -Eq \
		'^missing  cache to build in  /proc/tense: ' stdout
}
TENSE_CACHE=$tmp/none TENSE_KERNEL_SOURCE=$tmp/none "$tense" check --json \
	>check.json
is "$(jq -c '.items.build_tools.ok' check.json)" false \
	"and without a source none can be built"
if [ ! -e /dev/tense ]; then
	is "$(jq -c '.ok' check.json)" false "so nothing can run"
	status_is 1 "which is the exit status" env TENSE_CACHE="$tmp/none" \
		TENSE_KERNEL_SOURCE="$tmp/none" "$tense" check
fi
TENSE_CPUS=many "$tense" check --json >check.json
is "$(jq -c '.items.cpus.mend' check.json)" '"unset TENSE_CPUS"' "a wrong TENSE_CPUS is told"
[ -e /dev/tense ] || {
	is "$(jq .ok check.json)" false "and nothing can run"
	is "$(TENSE_CPUS=1 "$tense" check --json | jq .ok)" \
		"$(env -u TENSE_CPUS "$tense" check --json | jq .ok)" \
		"which is not so with a good one"
}

# Manual pages.
for page in "$source"/tools/man/*.1; do
	is "$(groff -man -Tutf8 -ww -z "$page" 2>&1)" "" \
		"$(basename "$page") formats without warnings"
done
for command in run shell trace check functions measure noise trace-activity \
	daemons profile whatif; do
	options=$("$tense" $command --help | grep -o '^  --[a-z]*')
	for option in $options; do
		ok "tense-$command.1 tells of $option" grep -q \
			"^\.[A-Z]* .*${option#--}" \
			"$source/tools/man/tense-$command.1"
	done
done

# The kernel build, where it cannot be done.
build=$source/tools/kernel-build
status_is 2 "kernel-build without an architecture" "$build"
status_is 2 "kernel-build for an unknown one" "$build" --arch vax
TENSE_CACHE=$tmp/cache
export TENSE_CACHE
status_is 1 "without a source" \
	env TENSE_KERNEL_SOURCE="$tmp/none" "$build" --arch um
said "tense: TENSE_KERNEL_SOURCE: no such file: $tmp/none"
# A PATH with everything but the compiler.
link_commands_but gcc cc
tar -cf source.tar file
status_is 1 "without a compiler" env PATH="$tmp/bin" \
	TENSE_KERNEL_SOURCE="$tmp/source.tar" "$build" --arch um
said "tense: a kernel build needs programs that are missing: apt-get install gcc"
status_is 1 "a cache that cannot be written" \
	env TENSE_KERNEL_SOURCE="$tmp/source.tar" TENSE_CACHE=/proc/tense \
	"$build" --arch um
said "tense: cannot write to the cache /proc/tense: set TENSE_CACHE"
status_is 1 "a cache with a space in its name" \
	env TENSE_KERNEL_SOURCE="$tmp/source.tar" TENSE_CACHE="$tmp/my cache" \
	"$build" --arch um
said "tense: no kernel can be built in $tmp/my cache, because of a space or colon in the name"
status_is 1 "an archive of something else" \
	env TENSE_KERNEL_SOURCE="$tmp/source.tar" "$build" --arch um
said "tense: "
ok "the log is named" contains "$(cat stderr)" "$tmp"
mkdir -p fake/linux
printf 'VERSION = 6\nPATCHLEVEL = 1\nall:\n' >fake/linux/Makefile
status_is 1 "a source that does not build" \
	env TENSE_KERNEL_SOURCE="$tmp/fake/linux" "$build" --arch um
ok "says where to look" contains "$(cat stderr)" ", see $tmp/cache/um-"
is "$(wc -l <stderr)" 1 "in one line"
is "$(ls -d cache/tmp cache/um-????????????/ 2>/dev/null)" "" \
	"nothing half done stays behind"
make_command df 'echo; echo x x x 100000 x x'
status_is 1 "a full disk" env PATH="$tmp:$PATH" \
	TENSE_KERNEL_SOURCE="$tmp/fake/linux" "$build" --arch um
said "tense: no space left in $tmp/cache: a kernel build needs 3 GB there"
unset TENSE_CACHE

done_testing
