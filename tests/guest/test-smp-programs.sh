#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Programs as people have them, in an experiment on two CPUs: they do what they
# are there for, never stop getting on, and the kernel has nothing to say about
# it. The machine may be emulated: nothing here depends on its speed.
#
# STRESS_MINUTES=N goes on with stress-ng and hackbench for so long.
. "$source/tests/lib/tap.sh"

in_tmp -p /var/tmp
# This make's options are not for the one below.
unset MAKEFLAGS MFLAGS MAKELEVEL
# shellcheck disable=SC2317 # called by ok
watch=$out/tests/guest/stall-watch

# NAME COMMAND...: in an experiment; what it prints, and the kernel's log.
run() {
	local name=$1
	shift
	printf '%q ' "$watch" "$@" >"$name.sh"
	# Some report what is late themselves, as they are told to.
	printf ' >%q 2>&1\necho $? >%q\ndmesg >%q\n' "$name.out" "$name.status" \
		"$name.log" >>"$name.sh"
	"$out/bin/tense" run --backend qemu --cpus 2 --json "$name.json" -- \
		bash "./$name.sh" >"$name.run" 2>&1
	is "$(cat "$name.status" 2>/dev/null)" 0 "$name: succeeds and gets on"
	if [ -f "$name.out" ]; then
		sed -n 's/^stall-watch/# &/p' "$name.out"
	else
		sed 's/^/# /' "$name.run" | head -n 20
	fi
	ok "$name: the kernel has nothing to say" quiet "$name.log"
	ok "$name: nothing was charged that did not run" conserved "$name.json"
}

quiet() {
	[ -s "$1" ] || return 1
	! grep -E 'WARNING:|BUG:|INFO: (task|rcu)|lockup|Oops|stalled' "$1" |
		sed 's/^/# /' | grep .
}

# At percent 100 a virtual ns is a real one (R1).
conserved() {
	jq -e '.experiment | .cpu_virtual_ns > 0 and
		((.cpu_virtual_ns - .cpu_real_ns) / .cpu_real_ns | fabs) < 0.001' \
		"$1" >/dev/null
}

# dedup, 20 threads: what it packs can be unpacked.
head -c 3000000 "$out/bin/tense" >input
run dedup sh -c "'$out/workloads/dedup' -c -t 20 input packed &&
	'$out/workloads/dedup' -d packed restored"
ok "dedup: what was packed is what comes out" cmp input restored

# make -j of a small project.
mkdir project
for i in 1 2 3 4 5 6; do
	echo "int f$i(int x) { return x + $i; }" >"project/f$i.c"
done
{
	for i in 1 2 3 4 5 6; do echo "int f$i(int);"; done
	echo 'int main(void) { return f1(f2(f3(f4(f5(f6(0)))))); }'
} >project/main.c
cat >project/Makefile <<'END'
objects := main.o $(patsubst %,f%.o,1 2 3 4 5 6)
program: $(objects)
	$(CC) -o $@ $^
END
run make make -s -C project -j4 CC=gcc
project/program
is $? 21 "make: what it built computes"

# redis, and its benchmark from another process.
run redis sh -c 'redis-server --port 6390 --save "" --daemonize yes >/dev/null &&
	for i in 1 2 3 4 5 6 7 8 9; do
		redis-cli -p 6390 ping >/dev/null 2>&1 && break
		sleep 0.2
	done
	redis-benchmark -p 6390 -c 4 -n 400 -q -t set,get,incr &&
	redis-cli -p 6390 get counter:__rand_int__
	redis-cli -p 6390 shutdown nosave'
ok "redis: counted each request" grep -qx '"\{0,1\}400"\{0,1\}' redis.out

# Threads of node's, processes of Python's.
cat >workers.js <<'END'
const { Worker, isMainThread, parentPort, workerData } = require('worker_threads');
if (isMainThread) {
	let sum = 0;
	for (let i = 1; i <= 4; i++)
		new Worker(__filename, { workerData: i }).on('message', (n) => {
			sum += n;
		});
	process.on('exit', () => console.log('sum', sum));
} else {
	let n = 0;
	for (let i = 0; i < 1e6; i++)
		n = (n + i * workerData) % 1000003;
	parentPort.postMessage(n);
}
END
run node node workers.js
is "$(grep sum node.out)" "$(node workers.js)" "node: its threads compute"

cat >pool.py <<'END'
import hashlib, multiprocessing
def digest(n):
    h = b''
    for _ in range(500):
        h = hashlib.sha256(h + bytes([n])).digest()
    return h
if __name__ == '__main__':
    with multiprocessing.Pool(4) as pool:
        print(pool.map(digest, range(30)) == [digest(n) for n in range(30)])
END
run python python3 pool.py
is "$(grep -v stall python.out)" True "python: its processes compute"

stress=(stress-ng --switch 2 --switch-ops 1000 --futex 2 --futex-ops 2000
	--pipe 2 --pipe-ops 2000 --clone 1 --clone-ops 100 --affinity 2
	--affinity-ops 1000 --fork 2 --fork-ops 100 --nanosleep 1
	--nanosleep-ops 100)
run stress-ng "${stress[@]}"
run hackbench hackbench -g 2 -l 30
run threads hackbench -T -p -g 2 -l 30

end=$((SECONDS + 60 * ${STRESS_MINUTES:-0}))
round=0
while [ $SECONDS -lt $end ]; do
	round=$((round + 1))
	run "stress-$round" "${stress[@]}"
	run "hackbench-$round" hackbench -g 4 -l 100
done
done_testing
