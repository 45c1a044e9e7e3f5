#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# `--engine slurm`: with --deterministic, an answer from two nodes of a cluster is like that
# of this machine to the last byte, also if a node is lost. At native speed, whatif and
# profile have all their runs. Starts a cluster of its own on the loopback address.
. "$source/tests/lib/tap.sh"
. "$source/tests/lib/processes.sh"

PATH=$PATH:/usr/sbin
for program in sbatch squeue scancel sinfo slurmctld slurmd munged; do
	if ! command -v $program >/dev/null; then
		skip "$program is missing: apt-get install slurm-wlm"
		done_testing
	fi
done

serial=$out/accuracy/serial
in_tmp -p /var/tmp
umask 077
mkdir cwd shared state spool-n1 spool-n2 munge
# munged wants that others can reach its socket.
chmod 711 . munge
port=$((20000 + $$ % 10000 * 4))
user=$(id -un)

configure() {
	cat <<EOF
ClusterName=tense
SlurmctldHost=localhost(127.0.0.1)
SlurmctldPort=$port
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
AuthType=auth/munge
AuthInfo=socket=$tmp/munge/socket
CredType=cred/munge
SlurmUser=$user
SlurmdUser=$user
StateSaveLocation=$tmp/state
SlurmdSpoolDir=$tmp/spool-%n
SlurmctldPidFile=$tmp/slurmctld.pid
SlurmdPidFile=$tmp/slurmd-%n.pid
SlurmctldLogFile=$tmp/slurmctld.log
SlurmdLogFile=$tmp/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SwitchType=switch/none
MpiDefault=none
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
ReturnToService=2
SlurmdTimeout=10
KillWait=2
NodeName=n1 NodeHostname=$(hostname) NodeAddr=127.0.0.1 Port=$((port + 1)) CPUs=1
NodeName=n2 NodeHostname=$(hostname) NodeAddr=127.0.0.1 Port=$((port + 2)) CPUs=1
PartitionName=all Nodes=n1,n2 Default=YES State=UP
PartitionName=closed Nodes=n1,n2 State=INACTIVE
PartitionName=stopped Nodes=n1,n2 State=DOWN
EOF
}

# Reads the pid files of the cluster: each process ends by its number.
stop() {
	local file

	for file in "$tmp"/slurm*.pid "$tmp/munge/pid"; do
		[ -s "$file" ] && kill "$(cat "$file")" 2>/dev/null
	done
}

configure >slurm.conf
export SLURM_CONF=$tmp/slurm.conf
trap 'scancel --user="$user" 2>/dev/null; stop; sleep 1; rm -rf "$tmp"' EXIT
head -c 128 /dev/urandom >munge/key
munged --key-file="$tmp/munge/key" --socket="$tmp/munge/socket" \
	--pid-file="$tmp/munge/pid" --log-file="$tmp/munge/log" \
	--seed-file="$tmp/munge/seed" &&
	slurmctld -c && slurmd -N n1 && slurmd -N n2
are_idle() {
	[ "$(sinfo -h -p all -t idle -o %D)" = 2 ]
}
ok "a cluster of two nodes" until_true are_idle
cd cwd || exit 1

# COMMAND NAME ENGINE OPTION...
ask() {
	local command=$1 name=$2 engine=$3

	shift 3
	"$tense" "$command" --quiet --engine "$engine" --json "$tmp/$name.json" "$@" \
		>"$tmp/$name.out" 2>stderr
	ask_status=$?
	unwrap stderr
	mv stderr "$tmp/stderr"
	return "$ask_status"
}
question=(--func hot --faster 20%)

# NAME ENGINE OPTION...
whatif() {
	ask whatif "$@" --deterministic "${question[@]}" -- "$serial" --length 1
}
whatif_native() {
	ask whatif "$@" "${question[@]}" -- "$serial" --length 50
}

is_running() {
	[ -n "$(squeue -h -t running)" ]
}
is_empty() {
	[ -z "$(squeue -h)" ]
}

# Nothing of a measurement is left, but the parts for the next one. Slurm lists an ended job
# as completing for a while.
is_clean() {
	until_true is_empty
	is "$(squeue -h)" "" "$1: no job is left"
	is "$(echo "$private"/run-*)" "$private/run-*" "$1: no directory is left"
}

# On a busy machine, the two nodes may predict differently, and Slurm may start a job late.
# tense then warns, as it should.
said_nothing() { # TEXT
	is "$(grep -vE '^tense: --engine slurm: (nodes n. and n. disagree|the job is still in the queue)' \
		"$tmp/stderr")" "" "$1"
}

# Shows what differs: FILE FILE
are_same() {
	diff "$1" "$2" >"$tmp/differences" && return
	head -n 20 "$tmp/differences" | sed 's/^/# /'
	false
}

shared=slurm:dir=$tmp/shared
private=$tmp/shared/tense-$(id -u)
runs=${TENSE_SLURM_RUNS:-12}
whatif here local --runs "$runs"
is $? 0 "an answer of this machine"
whatif nodes "$shared" --runs "$runs"
is $? 0 "an answer of two nodes"
said_nothing "without a message"
ok "is the same" are_same "$tmp/here.json" "$tmp/nodes.json"
is "$(jq .rounds "$tmp/nodes.json")" "$runs" "and has all rounds"
ok "which were jobs of the cluster" grep -q '_job_complete: JobId=.* done' \
	"$tmp/slurmctld.log"
is_clean "after an answer"
ok "the kernel stays for the next measurement" ls "$private"/vmlinux-* >/dev/null

# A node dies with all its processes while it works: WHATIF NAME OPTION...
lose_a_node() {
	local name=$2 pid shell='' victims

	"$1" "$name" "$shared" "${@:3}" &
	pid=$!
	while [ -z "$shell" ] && kill -0 $pid 2>/dev/null; do
		# The task's shell knows its node and the cluster's configuration.
		shell=$(grep -lsxzF SLURMD_NODENAME=n2 /proc/[0-9]*/environ |
			xargs -r grep -lsxzF "SLURM_CONF=$SLURM_CONF" | cut -d/ -f3 |
			sort -n | head -n 1)
	done
	ok "$name: a task runs on the node" [ -n "$shell" ]
	# Its parent is the slurmstepd of the task.
	victims="$(cat "$tmp/slurmd-n2.pid") $(ps -o ppid= -p "$shell") $shell $(descendants "$shell")"
	# shellcheck disable=SC2086 # a list
	kill -KILL $victims
	wait $pid
	is $? 0 "$name: an answer although a node was killed"
	ok "$name: the lost node is named" \
		grep -q 'node n2 lost batch .*: tense submits it again' "$tmp/stderr"
	is_clean "$name"
	slurmd -N n2
	until_true are_idle
}
lose_a_node whatif lost --runs "$runs"
ok "the answer is the same" are_same "$tmp/here.json" "$tmp/lost.json"

# At native speed, nodes run tense itself.
whatif_native native "$shared" --max-runs 12 --precision 0.001
is $? 0 "an answer at native speed"
said_nothing "without a message of another kind"
is "$(jq -c '[.rounds, .environment.backend, .environment.host]' "$tmp/native.json")" \
	'[12,"uml",null]' "with all rounds, of several hosts"
is_clean "after an answer at native speed"
ok "the kernel stays, too" [ -x "$(echo "$private"/um-*/linux)" ]
"$tense" whatif --from "$tmp/native.json" >"$tmp/from.out"
ok "it is read again" cmp "$tmp/from.out" "$tmp/native.out"
lose_a_node whatif_native native-lost --max-runs 12 --precision 0.001
is "$(jq .rounds "$tmp/native-lost.json")" 12 "all rounds are there"
submissions() {
	grep -c '_slurm_rpc_submit_batch_job: JobId=' "$tmp/slurmctld.log"
}
before=$(submissions)
ask profile profile "$shared,guests=2" --time 10s --only hot,work_rest -- "$serial" --length 10
is $? 0 "a profile of two nodes"
is "$(jq -c '[.candidates[].name] | sort' "$tmp/profile.json")" '["hot","work_rest"]' \
	"has all functions"
ok "with runs of several stages" [ "$(submissions)" -gt $((before + 1)) ]
is_clean "after a profile"
profile_exactly() {
	ask profile "$@" --deterministic --time 1s --only hot,work_rest -- "$serial" --length 1
}
profile_exactly profile-here local
is $? 0 "a deterministic profile of this machine"
profile_exactly profile-nodes "$shared"
is $? 0 "one of two nodes"
ok "is the same" are_same "$tmp/profile-here.json" "$tmp/profile-nodes.json"
# The nodes read the kernel and the saved boot in the cache.
profile_exactly profile-cache slurm
is $? 0 "a deterministic profile of two nodes that share the cache"
ok "is the same" are_same "$tmp/profile-here.json" "$tmp/profile-cache.json"
is_clean "after a deterministic profile"
ask whatif failed "$shared" --func hot --faster 20% -- "$serial" --no-such-option
is $? 1 "a command that fails on the nodes"
ok "is told once" [ "$(grep -c 'exit status was 2' "$tmp/stderr")" = 1 ]
ok "and is not repeated" sh -c "! grep 'submits it again' \"\$1\"" sh "$tmp/stderr"
is_clean "after a command that failed"
ask whatif ended "$shared" --ignore-failure --func sh:main --faster 20% -- \
	sh -c 'kill -TERM $$'
ok "a command that ends itself by a signal fails" [ "$ask_status" -gt 0 ]
ok "and is not repeated" sh -c "! grep 'submits it again' \"\$1\"" sh "$tmp/stderr"
is_clean "after that"

# Nodes get the environment, and have their own directory for temporary files.
helper() { for ((i = 0; i < 20000; i++)); do :; done; }
export -f helper
TMPDIR=/proc/none ask whatif environment "$shared,guests=1" --max-runs 6 --func malloc \
	--faster 20% -- bash -c helper
is $? 0 "functions of the shell are in the environment of a node"
said_nothing "without a message of another kind"

# nohup lets a measurement go on after its terminal has gone.
(
	trap '' HUP
	whatif_native nohup "$shared" --max-runs 12 --precision 0.001
	echo $? >"$tmp/nohup"
) &
pid=$!
until_true is_running
kill -HUP "$(pgrep -f -- "--json $tmp/nohup.json" | head -n 1)"
wait $pid
is "$(cat "$tmp/nohup")" 0 "an answer in spite of an ignored signal"

# After a signal, a profile has the answer of what has run. (Bash lets background jobs ignore
# SIGINT.)
before=$(submissions)
ask profile interrupted "$shared,guests=2" --time 10m --precision 0.001 \
	--only hot,work_rest -- "$serial" --length 10 &
pid=$!
has_begun() {
	[ "$(submissions)" -gt $((before + 3)) ]
}
until_true has_begun
kill -TERM "$(pgrep -f -- "--json $tmp/interrupted.json" | head -n 1)"
wait $pid
is $? 0 "a profile after a signal"
is "$(jq .interrupted "$tmp/interrupted.json")" true "says so"
is_clean "after a signal to a profile"

# A reader that ends, as head does, leaves nothing behind.
"$tense" whatif --engine "$shared" --max-runs 6 "${question[@]}" -- "$serial" --length 50 \
	2>&1 | head -n 0
is_clean "after a reader that ended"


# Ends a measurement by a signal as soon as a condition holds: COMMAND...
end_when() {
	whatif ended "$shared" --runs 30 &
	pid=$!
	until "$@"; do
		kill -0 $pid 2>/dev/null || break
		sleep 0.1
	done
	kill -TERM "$(ps -o pid= --ppid "$pid")"
	wait $pid
}

# A signal ends all.
end_when is_running
is $? 143 "a signal ends the measurement"
is_clean "after a signal"

# The signal does not wait for an answer of Slurm's that is not needed any more.
mkdir "$tmp/bin"
cat >"$tmp/bin/squeue" <<'END'
#!/bin/sh
echo $$ >"${0%/bin/*}/asked"
exec sleep 1000
END
chmod +x "$tmp/bin/squeue"
PATH=$tmp/bin:$PATH end_when [ -e "$tmp/asked" ]
is $? 143 "a signal ends the measurement while Slurm does not answer"
ok "which ends the question" until_true ended "$(cat "$tmp/asked")"
ok "and is no fault of Slurm's" sh -c "! grep squeue \"\$1\"" sh "$tmp/stderr"
is_clean "after that"

# Errors.
whatif error "$shared,partition=closed"
is $? 125 "a partition that takes no jobs"
ok "is told" grep -q 'Slurm did not take the job: .*: correct the options of' \
	"$tmp/stderr"
is_clean "after a refusal"
whatif error slurm:dir=/nonexistent
is $? 125 "a shared directory that is not there"
ok "is told, and what to do" grep -q '/nonexistent: .*: --engine slurm:dir=PATH names' \
	"$tmp/stderr"
chmod 777 "$private"
whatif error "$shared"
is $? 125 "a directory in which others may write"
ok "is told" grep -q 'is not yours alone: chmod 700 it' "$tmp/stderr"
chmod 700 "$private"
mkdir -m 777 "$tmp/open"
mkdir "$tmp/open/mine"
whatif error "slurm:dir=$tmp/open/mine"
is $? 125 "a directory that others may replace"
ok "is told" grep -q 'other users can replace the files in .*/open,' "$tmp/stderr"
whatif error "$shared,clusters=other"
is $? 125 "an option for another cluster"
ok "is told" grep -q 'cannot use the option clusters=other of sbatch' "$tmp/stderr"
ask whatif error "$shared" --backend qemu "${question[@]}" -- "$serial"
is $? 125 "virtual machines at native speed"
ok "is told" grep -q 'nodes run guests of User-Mode Linux, not of the back end qemu' "$tmp/stderr"
for guests in 0 201 2x ''; do
	ask whatif error "$shared,guests=$guests" "${question[@]}" -- "$serial"
	is $? 125 "'$guests' guests"
	ok "is told" grep -q "'$guests' is not a number of guests from 1 to 200" "$tmp/stderr"
done
PATH=/nonexistent "$tense" whatif --deterministic --engine "$shared" --func hot \
	--faster 20% -- "$serial" 2>"$tmp/stderr"
is $? 125 "without Slurm"
unwrap "$tmp/stderr"
ok "is told" grep -q 'sbatch is not in PATH' "$tmp/stderr"
done_testing
