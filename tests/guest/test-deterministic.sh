#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# `tense run --deterministic`: each run is like the other, whatever else the
# machine does, and else it is as any other run.
. "$source/tests/lib/tap.sh"
. "$source/tests/lib/load.sh"
. "$source/tests/lib/processes.sh"

mixture=$out/tests/guest/mixture
in_tmp -p /var/tmp
trap 'unload; rm -rf "$tmp"' EXIT
mkdir "$tmp/cwd" "$tmp/results"
cd "$tmp/cwd" || exit 1

run() {
	"$tense" run --deterministic "$@"
}

# Fetches QEMU and builds the kernel, if need be. Nothing can be tested without.
if ! run true 2>"$tmp/results/first"; then
	ok "a run at all" false
	sed 's/^/# /' "$tmp/results/first"
	done_testing
fi

# NAME CPUS ARGUMENT...: all that a run tells, in files of that name.
keep() {
	local name=$tmp/results/$1 cpus=$2

	shift 2
	run --cpus "$cpus" --stats --json "$name.json" -- "$mixture" "$@" \
		>"$name.out" 2>"$name.err" </dev/null
	echo $? >"$name.status"
}

# NAME KEY: of an experiment
told() {
	jq ".experiment.$2" "$tmp/results/$1.json"
}

for cpus in 1 2 4; do
	keep "quiet$cpus" $cpus
	load
	keep "busy$cpus" $cpus
	unload
	for what in out err json status; do
		ok "$cpus CPUs: $what is the same on a busy machine" \
			cmp "$tmp/results/quiet$cpus.$what" \
			"$tmp/results/busy$cpus.$what"
	done
done
is "$(cat "$tmp/results/quiet1.status")" 3 "which had an end"
is "$(grep -c '^child, ' "$tmp/results/quiet4.out")" 8 "and an output"
ok "and a table, which tells its unit" grep -qx \
	"Times are counts of instructions (1 instruction = 1 ns)" \
	"$tmp/results/quiet1.err"
is "$(jq -c '[.version, .deterministic, .time_unit, .backend]' \
	"$tmp/results/quiet1.json")" \
	'[2,true,"instructions","qemu"]' "as does the JSON"
# A calibration takes 0.1 s just before this message.
run dmesg >"$tmp/results/log"
ok "the kernel does not calibrate its timer" awk -F '[][]' '
	/smpboot: CPU0: / { seen = 1; late = $2 - last > 0.05 }
	{ last = $2 }
	END { exit !seen || late }' "$tmp/results/log"
ok "several CPUs run at the same time" [ \
	"$(told quiet4 worst_skew_ns)" -gt 0 ]

# Other programs may touch files. 0x60000000 and 0x6fffffff: the guest's kernel needs more
# instructions to parse the digit f than the digit 0.
for time in 1610612736 1879048191; do
	touch -d "@$time" touched
	run --json "$tmp/results/$time.json" -- "$mixture" >/dev/null 2>&1 </dev/null
	is "$(run -- stat -c %Y touched)" "$time" "the guest has the time of a file"
done
ok "a run is the same whatever the times of files" \
	cmp "$tmp/results/1610612736.json" "$tmp/results/1879048191.json"
run --json "$tmp/results/apart.json" -- "$mixture" >"$tmp/results/apart.out" \
	2>"$tmp/results/apart.err" </dev/null
ok "a run is the same if its outputs are kept or dropped" \
	cmp "$tmp/results/apart.json" "$tmp/results/1879048191.json"
rm touched

# The guest counts instructions. The first run reads the program. The other two differ
# only by the instructions of the mixture and by work of the kernel in between: ticks
# of 100 ms, and things that earlier programs left to be cleaned up.
# shellcheck disable=SC2016 # for the guest's shell
run --json "$tmp/results/counted.json" --file "$mixture" -- \
	sh -c '"$1" 1; "$1" 10000000; "$1" 60000000' sh "$mixture"
more=$(jq '[.experiment.threads[] | select(.name == "mixture").virtual_ns] |
	sort | .[2] - .[1]' "$tmp/results/counted.json")
ok "100000000 more instructions take $more ns" [ $((
	more >= 99500000 && more < 101000000)) = 1 ]

# Each turn copies 1 MB. With an instruction that repeats, each byte would count.
for turns in 5 55; do
	# shellcheck disable=SC2016 # for perl
	run --json "$tmp/results/copy-$turns.json" -- \
		perl -e '$x = "x" x 1e6; $y = $x . $_ for 1 .. shift' $turns
done
more=$(($(told copy-55 cpu_virtual_ns) - $(told copy-5 cpu_virtual_ns)))
ok "a copy of 50 MB takes $more instructions: less than one for 4 bytes" [ $((
	more > 0 && more < 12500000)) = 1 ]

# Two CPUs take turns, but neither pays for the other's.
# shellcheck disable=SC2016 # for the guest's shell
run --cpus 2 --json "$tmp/results/turns.json" --file "$mixture" -- \
	sh -c '"$1" 1; "$1" 60000000 & "$1" 60000000; wait' sh "$mixture"
two=$(jq -c '[.experiment.threads[] | select(.name == "mixture").virtual_ns] |
	sort | .[1:]' "$tmp/results/turns.json")
ok "120000000 instructions beside as many others take $two ns" jq -ne \
	--argjson two "$two" '$two | length == 2 and .[0] >= 119500000 and
	.[1] < 122000000'
ok "and both together as long as one" jq -e '.experiment |
	.elapsed_virtual_ns < 140000000 and .cpu_virtual_ns > 239000000' \
	"$tmp/results/turns.json"

# Files, with the exit status and all bytes in and out.
head -c 3000000 /dev/urandom >data
echo old >changed
echo old >removed
echo mapped >mapped
echo same >same
touch -d 2020-02-02 same
ln -s /etc outside
ln -s "$tmp/elsewhere" dangling
mkdir empty
mkdir "$tmp/elsewhere"
# shellcheck disable=SC2016 # for the guest's shell
run --file perl --file mkdir --file rm --file ln --file chmod -- sh -c '
	echo new >changed; rm removed; rm -r empty; mkdir -p a/b
	echo deep >a/b/c; ln -s c a/b/l; ln -s ../above a/above
	chmod 750 a/b/c; chmod 500 a
	mkdir -p outside "$1" && echo lost >outside/tense-test
	echo lost >dangling/file; echo lost >../above
	perl -e "open F, qq(+<mapped); sysseek F, 0, 0; syswrite F, qq(MAPPED)"
	perl -pe ""; perl -e "print STDERR pack q(C*), 0 .. 255"; exit 5' \
	sh "$tmp/elsewhere" <data >copy 2>errors
is "$?" 5 "exit status"
ok "standard input and output, byte by byte" cmp data copy
ok "standard error as well" cmp errors <(perl -e 'print pack "C*", 0 .. 255')
is "$(cat changed a/b/c a/b/l mapped)" "new
deep
deep
MAPPED" "files that the command wrote come back"
is "$(stat -c '%n %a' a a/b/c | xargs)" "a 500 a/b/c 750" "with their modes"
is "$(find removed empty 2>/dev/null)" "" "what it removed is gone"
is "$(stat -c %y same | cut -c 1-10)" 2020-02-02 "what it did not is left alone"
is "$(find "$tmp/elsewhere" "$tmp/above" /etc/tense-test -type f 2>/dev/null)" \
	"" "and nothing beyond the directory is changed"
chmod 700 a

# Streams.
printf '1\n2\n3\n' >lines
# shellcheck disable=SC2016
is "$( (run sh -c 'read a; echo $a; nothing >&2; echo b' 2>&1; echo $?; cat) \
	<lines)" "1
sh: 1: nothing: not found
b
0
2
3" "streams that are one, in order, and the position of a file, shared"
is "$(run yes 2>stderr | head -n 1; echo "${PIPESTATUS[0]}")" "y
141" "SIGPIPE when the reader has gone"
is "$(script -qec "$tense run --deterministic wc -c" /dev/null | tr -d '\r')" \
	0 "a terminal is no input"

# tense refuses these commands.
run nothing-by-this-name 2>stderr
is "$? $(cat stderr)" "127 tense: nothing-by-this-name: command not found in PATH: check its spelling, install it, or give its path" \
	"a command that is not there"
run --file nothing true 2>stderr
is "$? $(cat stderr)" "125 tense: --file nothing: No such file or directory" \
	"a file that is not there"
cp "$out/tests/guest/needy" .
run ./needy 2>stderr
status=$?
unwrap stderr
is "$status $(cat stderr)" \
	"127 tense: ./needy: libraries that are not found: libneeded.so" \
	"a library that is not there"
truncate -s 30M "$tmp/large"
run --memory 64M --file "$tmp/large" true 2>stderr
status=$?
unwrap stderr
is "$status $(cut -c 1-67 stderr)" \
	"125 tense: the files for the guest take more than the 21 MB that its me" \
	"more files than memory"
# shellcheck disable=SC2016
run --memory 128M --file perl sh -c \
	'perl -e "\$x .= q(x) x 1e6 while 1"; nothing-inside' 2>stderr
is "$?" 127 "a command that is not in the guest, after one without memory"
ok "says how there is more memory" grep -q "ran out of memory.*--memory" stderr
ok "and more files" grep -q -e '--file adds' stderr

# The files fit, and so does the input, but not both.
mkdir "$tmp/full"
head -c 15000000 /dev/zero >"$tmp/full/file"
(cd "$tmp/full" && run --memory 64M cat <file >/dev/null 2>"$tmp/results/full")
is $? 125 "too little memory for the files and the input"
ok "says how there is more" grep -q "was not unpacked: --memory gives the guest more" \
	"$tmp/results/full"

# Guests with one CPU resume from a saved boot. Use another cache.
cache=$tmp/cache
mkdir "$cache"
for entry in "${TENSE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/tense}"/{x86_64-*,qemu-*,source-*}; do
	[ ! -d "$entry" ] || ln -s "$entry" "$cache"
done
booted() {
	(cd "$cache" && echo booted-*)
}
# NAME TITLE
resume() {
	TENSE_CACHE=$cache keep "$1" 1
	for what in out err json status; do
		ok "$2: $what is the same" cmp "$tmp/results/saving.$what" "$tmp/results/$1.$what"
	done
}
# The command sees the name of the cache.
TENSE_CACHE=$cache keep saving 1
is "$(cat "$tmp/results/saving.status")" 3 "a run that saves a boot"
first=$(booted)
ok "it is in the cache" [ -f "$cache/$first/state" ]
inode=$(stat -c %i "$cache/$first")
cp "$cache/$first"/{memory,state} "$tmp/results"
is_same_boot() {
	ok "$1: its memory is the same" cmp "$tmp/results/memory" "$cache/$first/memory"
	ok "$1: and its state" cmp "$tmp/results/state" "$cache/$first/state"
}
touch -d "9 days ago" "$cache/$first"
resume going "a run that resumes from it"
is "$(stat -c %i "$cache/$first")" "$inode" "and leaves it there"
ok "and notes that it was used" [ "$cache/$first" -nt "$tmp/results/saving.json" ]
echo >>"$cache/$first/key"
resume other "a run that finds a saved boot with another key"
ok "and saves its own" [ "$(stat -c %i "$cache/$first")" != "$inode" ]
is_same_boot "a second boot"
rm "$cache/$first/memory"
load
resume damaged "a run on a busy machine that finds a saved boot without its memory"
unload
is_same_boot "a boot on a busy machine"
mkdir "$cache/booted-part-left"
touch -d "6 days ago" "$cache/booted-part-left"
for i in 1 2 3 4 5; do
	cp -a "$cache/$first" "$cache/booted-old$i"
	touch -d "$i days ago" "$cache/booted-old$i"
done
# Somebody uses one of them.
exec {used}<"$cache/booted-old5/memory"
flock -s "$used"
rm -r "${cache:?}/$first"
run_in_cache() {
	TENSE_CACHE=$cache run "$@"
}
run_in_cache true &
run_in_cache true
is "$?" 0 "two runs at once save a boot"
wait $!
is "$?" 0 "and both have it"
is "$(booted)" "$(printf '%s\n' "$first" booted-old1 booted-old2 booted-old3 booted-old5 | sort | xargs)" \
	"the cache keeps saved boots in use, and those that were used last"
exec {used}<&-
TENSE_CACHE=$cache "$tense" run --deterministic sh -c 'while :; do :; done' &
pid=$!
# Not at once: tense starts first.
is_in_use() {
	! flock -n -x "$cache/$first/memory" true
}
ok "a guest uses its saved boot" until_true is_in_use
kill $pid
wait $pid
# Somebody uses another one in its place.
echo >>"$cache/$first/key"
exec {used}<"$cache/$first/memory"
flock -s "$used"
inode=$(stat -c %i "$cache/$first")
resume private "a run that cannot save its boot"
is "$(stat -c %i "$cache/$first")" "$inode" "and leaves the one in use"
exec {used}<&-
random_number() {
	# shellcheck disable=SC2016 # for that shell
	run_in_cache bash -c 'echo $SRANDOM'
}
random_number >"$tmp/results/random"
is "$(random_number)" "$(cat "$tmp/results/random")" "random numbers are the same"
# A kernel that does not boot.
for module in "$cache"/x86_64-*/tense.ko; do
	kernel=${module%/tense.ko}
done
mkdir -p "$tmp/broken/kernel/build"
ln -s "$kernel/tense.ko" "$kernel/config" "$tmp/broken/kernel"
echo nothing >"$tmp/broken/kernel/build/vmlinux"
run_in_cache --kernel "$tmp/broken/kernel" true 2>"$tmp/results/broken"
is "$?" 125 "a kernel that does not boot"
ok "says so" grep -qx "tense: cannot save the boot of a guest: the emulator ended too early" \
	"$tmp/results/broken"
ok "and what the emulator says" grep -q "^qemu: " "$tmp/results/broken"
is "$(ls "$tmp/broken")" kernel "and leaves nothing"

# When tense ends, so does the guest.
"$tense" run --deterministic sh -c 'while :; do :; done' &
pid=$!
until guest=$(cat /proc/$pid/task/*/children) && [ -n "$guest" ] &&
      grep -q qemu "/proc/${guest% }/comm" 2>/dev/null; do
	sleep 0.1
done
kill -TERM $pid
wait $pid
is "$?" 143 "a signal ends it"
ok "and leaves no guest" [ ! -e "/proc/${guest% }" ]

done_testing
