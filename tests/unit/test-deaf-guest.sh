#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Sends signals to a tense whose guest does not react, or reacts late. A program that
# stops at a given point replaces the guest's kernel.
. "$source/tests/lib/tap.sh"
. "$source/tests/lib/processes.sh"

in_tmp
# The source of this version is not fetched into the cache.
export TENSE_CACHE=$tmp/cache TENSE_KERNEL_VERSION=6.1
kernel=$("$source/tools/kernel-build" --arch um --print)
mkdir -p "$kernel"
cp "$out/tests/unit/fake-guest" "$kernel/linux"
: >"$kernel/tense.ko"

declare -A pids guests

# NAME MODE COMMAND...: starts tense with the fake guest in a directory of its own.
begin() {
	name=$1
	mkdir "$tmp/$name"
	cd "$tmp/$name" || exit 1
	echo "$2" >mode
	shift 2
	# A shell's background job would ignore SIGINT.
	# shellcheck disable=SC2016 # for perl
	perl -e '$SIG{$_} = "DEFAULT" for qw(INT QUIT); exec @ARGV' \
		"$@" </dev/null >stdout 2>stderr &
	pid=$!
	until_true test -e there
	guest=$(cat /proc/$pid/task/$pid/children)
	pids[$name]=$pid guests[$name]=${guest% }
}

# NAME STATUS WHAT: checks the exit status; goes on in the directory of NAME.
ends() {
	cd "$tmp/$1" || exit 1
	guest=${guests[$1]}
	status_of "${pids[$1]}"
	is "$?" "$2" "$3"
	unwrap stderr
	ok "no guest is left" until_true ended "$guest"
}

# NAME STATUS SIGNAL WHAT
is_killed() {
	ends "$1" "$2" "$4: the guest is killed"
	is "$(sed "s/process $guest/process N/" stderr)" \
		"tense: the guest (process N) did not react to SIG$3 for 5 s, so tense killed it: check the files that the command wrote, and run the command again" \
		"tense says that it killed the guest"
}

run=("$tense" run --backend uml)

# Start all of them at once, because each takes some seconds.
for sig in TERM HUP INT QUIT USR1; do
	begin silent-$sig silent "${run[@]}" true
	kill -$sig $pid
done
for mode in header payload; do
	begin $mode $mode "${run[@]}" true
	kill -TERM $pid
done

# Queue more messages than the socket holds.
begin much silent "${run[@]}" true
perl -e 'for (1 .. 3000) { kill "CONT", $ARGV[0]; select undef, undef, undef, 0.0005 }' \
	$pid
kill -TERM $pid

# The guest hangs before it reads its long command.
begin boot boot env LONG="$(head -c 100000 /dev/zero | tr '\0' x)" \
	LONGER="$(head -c 120000 /dev/zero | tr '\0' x)" "${run[@]}" true
kill -TERM $pid

# The guest closes its channel.
begin closed closed "${run[@]}" true

# The other commands also start guests.
begin trace silent "$tense" trace --backend uml -o t.svg --json t.json true
kill -TERM $pid
begin whatif silent "$tense" whatif --func main --faster 20% --backend uml -- \
	"$out/tests/unit/fake-guest"
kill -TERM $pid
begin stats silent "${run[@]}" --stats --json j.json true
kill -TERM $pid

# Guests that answer, late or at once, and a signal that needs no answer.
begin late late "${run[@]}" true
kill -TERM $pid
kill -CONT $pid
begin answers answers "${run[@]}" true
kill -TERM $pid
until_true test -e taken-1
begin ignored silent sh -c 'trap "" HUP; exec "$@"' sh "${run[@]}" true
kill -HUP $pid

# The second signal comes too early to count, the third does not.
begin second silent "${run[@]}" true
kill -TERM $pid
kill -TERM $pid
sleep 2
kill -TERM $pid
ends second 143 "a second signal kills a guest that has not answered the first"
ok "tense says that it killed the guest" grep -Eq "^tense: the guest \(process $guest\) (had not reacted to SIGTERM when another signal came|did not react to SIGTERM for 5 s), so tense killed it: " \
	stderr

for sig in TERM HUP INT QUIT USR1; do
	is_killed silent-$sig $((128 + $(kill -l $sig))) $sig \
		"no answer to SIG$sig"
done
is_killed header 143 TERM "half a header of a message"
is_killed payload 143 TERM "a message without its payload"
is_killed much 143 TERM "the guest reads none of many messages"
ends boot 143 "a signal before the command starts ends the run"
is "$(cat stderr)" "" "tense prints nothing"
ends closed 125 "a guest that closes its channel and does not end is killed"
is "$(sed "s/process $guest/process N/" stderr)" \
	"tense: the guest (process N) closed its channel to tense, but did not end within 5 s, so tense killed it: run the command again" \
	"tense says that it killed the guest"
is_killed trace 143 TERM "tense trace"
is "$(echo *)" "mode stderr stdout there" "a killed trace leaves no file"
ends whatif 143 "tense whatif"
ok "tense says that it killed the guest" grep -q "^tense: the guest (process $guest) did not react to SIGTERM for 5 s, " \
	stderr
is_killed stats 143 TERM "run with --stats"
is "$(jq -c '[.status, .experiment]' j.json)" "[143,null]" "the JSON has the status and no statistics"

ends late 4 "a guest may answer late"
is "$(cat stderr)" "" "tense prints nothing"
# The first signals were sent more than 5 s ago.
ok "a command may ignore a signal that its guest took" runs "${pids[answers]}"
kill -HUP "${pids[answers]}"
until_true test -e "$tmp/answers/taken-2"
kill -TERM "${pids[answers]}"
ends answers 3 "the command ends with its own status"
is "$(cat stderr)" "" "tense prints nothing"
ok "a signal that the caller ignores needs no answer" runs "${pids[ignored]}"
kill -TERM "${pids[ignored]}"
is_killed ignored 143 TERM "a signal that the caller does not ignore"

# Root in the guest may send this at the end.
for lie in threads size short text; do
	mkdir "$tmp/lies-$lie" && cd "$tmp/lies-$lie" || exit 1
	echo "lies-$lie" >mode
	timeout 60 "${run[@]}" --stats --json j.json true </dev/null >stdout 2>stderr
	is "$?" 125 "an outcome that is damaged: $lie"
	case $lie in
	text) said=$(head -c 299 /dev/zero | tr '\0' x) ;;
	*) said="the guest sent statistics that are damaged" ;;
	esac
	unwrap stderr
	is "$(grep -o "$said.*" stderr)" "$said" "is not taken for what it says"
done
done_testing
