#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# User-Mode Linux with 1, 2, 4 and 16 CPUs, on machines with fewer, too: programs get
# what they computed, virtual time is the time of the CPUs, and no process stays.
. "$source/tests/lib/tap.sh"
version=${TENSE_KERNEL_VERSION:-7.3}

in_tmp -p /var/tmp

# The gate has a minute for this: test-uml-cpus-few leaves out what needs longer.
if [ -n "$few" ]; then
	counts="1 2 4" pairs=4 crowds=4 repeats="1 2 3" scattered=2
else
	counts="1 2 4 16" pairs="2 4" crowds="2 4 16" repeats="1 2 3 4 5 6 7 8 9 10"
	scattered="1 2 4"
fi

# CPUS [OPTION]... -- COMMAND...
guest() {
	cpus=$1
	shift
	"$out/bin/tense" run --kernel "$version" --backend uml --cpus "$cpus" "$@"
}

for cpus in $counts; do
	is "$(guest $cpus --real -- nproc)" $cpus "$cpus CPUs: so many are there"
done

# Nobody has to know which kernel has several CPUs. A virtual machine could not have 7.
# shellcheck disable=SC2016 # for the guest's shell
is "$(env -u TENSE_KERNEL_VERSION -u TENSE_KERNEL_SOURCE "$out/bin/tense" run --cpus 7 \
	--real -- sh -c 'echo "$(nproc) $(uname -r | cut -d . -f 1)"')" "7 7" \
	"--cpus alone takes User-Mode Linux of Linux 7"

# The list may be "0-3" or "2,5-7": prints the first two CPUs that this process may use.
two_cpus() {
	sed -n 's/^Cpus_allowed_list:\t*//p' /proc/self/status | tr , '\n' |
		awk -F- '{ for (i = $1; i <= $NF && n++ < 2; i++) print i }' | paste -sd,
}

# CPUS [OPTION]... -- COMMAND...: like guest, on two CPUs of the host.
crowded() {
	cpus=$1
	shift
	taskset -c "$(two_cpus)" "$out/bin/tense" run --kernel "$version" --backend uml --cpus "$cpus" "$@"
}

# COMMAND...: runs it without a number of CPUs in the environment.
by_default() {
	env -u TENSE_CPUS "$@"
}
hint="--cpus and TENSE_CPUS set another number, and TENSE_CPUS=1 silences this message"
host=$(nproc)
if [ "$host" -gt 64 ]; then host=64; fi
is "$(by_default "$out/bin/tense" run --kernel "$version" --json default.json nproc)" "$host" \
	"a guest has the CPUs that tense may use"
is "$(jq -c '[.machine[]]' default.json)" "[$host,\"$version\",\"EEVDF\"]" \
	"the result names them, the kernel and the scheduler"
by_default "$out/bin/tense" run --kernel "$version" --stats true 2>stats
if [ "$host" -gt 1 ]; then
	ok "so does the table" grep -qx \
		"1 thread in virtual time on $host CPUs, Linux $version (EEVDF)" stats
	by_default "$out/bin/tense" whatif --kernel "$version" --engine "local:$(nproc)" --func nowhere \
		--faster 10% -- true 2>stderr
	unwrap stderr
	is "$(head -n 1 stderr)" \
		"tense: the guest has 1 CPU, because guests that run at the same time share the machine: $hint" \
		"guests at the same time have one each, and tense says so"
	is "$(by_default taskset -c "$(two_cpus | cut -d, -f1)" "$out/bin/tense" run \
		--kernel "$version" nproc)" 1 "taskset limits the guest's CPUs"
fi
is "$(TENSE_CPUS=3 "$out/bin/tense" run --kernel "$version" nproc)" 3 "TENSE_CPUS is the default"
is "$(TENSE_CPUS=3 "$out/bin/tense" run --kernel "$version" --cpus 1 nproc)" 1 "--cpus wins"
for wrong in many 65 0; do
	TENSE_CPUS=$wrong "$out/bin/tense" run --kernel "$version" true 2>stderr
	is "$? $(cat stderr)" "125 tense: TENSE_CPUS is '$wrong': should be a number from 1 to 64" \
		"TENSE_CPUS=$wrong is refused"
done
for n in 1 3 65; do
	TENSE_CPUS=$n TENSE_KERNEL_VERSION=$version "$out/bin/tense" check --json |
		jq -c '.items.cpus | [.ok, .detail, .mend]'
done >checked
printf '%s\n' '[true,"1, as TENSE_CPUS says",null]' '[true,"3, as TENSE_CPUS says",null]' \
	'[false,"TENSE_CPUS is '\''65'\'': should be a number from 1 to 64","unset TENSE_CPUS"]' \
	>expected
is "$(cat checked)" "$(cat expected)" "tense check says the same"
is "$(TENSE_KERNEL_VERSION=$version by_default "$out/bin/tense" check --json |
	jq -r ".items.cpus.detail | split(\", \")[0]")" "$host" "also without TENSE_CPUS"
if [ -z "$few" ]; then
	is "$(env -u TENSE_KERNEL_SOURCE TENSE_CPUS=3 "$out/bin/tense" run --backend uml \
		--kernel 6.1 --json default.json nproc 2>stderr)" 1 "Linux 6.1 has one CPU all the same"
	unwrap stderr
	is "$(cat stderr)" \
		"tense: TENSE_CPUS is 3, but the guest has 1 CPU, because Linux 6.1 has no more in User-Mode Linux: $hint" \
		"and tense says why"
	is "$(jq -c '[.machine[]]' default.json)" '[1,"6.1","CFS"]' \
		"the result names one CPU and Linux 6.1"
fi

for options in "" "--window 1ms"; do
	# shellcheck disable=SC2086 # options
	guest 2 $options --json window.json -- true
	is "$(jq .experiment.window_ns window.json)" \
		"$([ -n "$options" ] && echo 1000000 || echo 2000000)" \
		"2 CPUs: the window ${options:+with $options}"
done

# A host that forbids seccomp filters by one system call or by both.
for calls in seccomp all; do
	is "$("$out/tests/guest/forbid-filters" $calls "$out/bin/tense" run --kernel "$version" \
		-- echo traced)" traced "a host that forbids filters ($calls) has one CPU"
	is "$(TENSE_CPUS=2 "$out/tests/guest/forbid-filters" $calls "$out/bin/tense" run \
		--kernel "$version" nproc 2>stderr)" 1 "without filters, TENSE_CPUS=2 gives one CPU"
	unwrap stderr
	is "$(cat stderr)" \
		"tense: TENSE_CPUS is 2, but the guest has 1 CPU, because this host forbids seccomp filters, which several CPUs need: $hint" \
		"and tense says why"
	"$out/tests/guest/forbid-filters" $calls "$out/bin/tense" run --cpus 2 -- true \
		2>stderr
	is $? 125 "but not two"
	unwrap stderr
	ok "and tense says why" grep -qx \
		'tense: --cpus 2: several CPUs need seccomp filters, which this host forbids: use one CPU, or let the container set filters' \
		stderr
done

# Several CPUs and one answer: checksums after a pipeline of processes.
head -c 3000000 "$out/bin/tense" >input
for cpus in $crowds; do
	# shellcheck disable=SC2016 # for the guest's shell
	guest $cpus --real -- sh -c '
		for i in 1 2 3 4 5 6 7 8; do
			gzip -c input | gzip -dc | cmp - input || echo "$i differs" &
		done
		wait' >pipes 2>&1
	is $? 0 "$cpus CPUs: eight pipelines end"
	is "$(cat pipes)" "" "$cpus CPUs: each has the right bytes"
done

# The page of a process that another thread of it gives back is not written to.
for cpus in $pairs; do
	guest $cpus --real -- "$out/tests/guest/page-reuse" 3 3 >reuse
	is $? 0 "$cpus CPUs: pages that were given back are nobody's"
	sed 's/^/# /' reuse
done

guest 2 --real -- "$out/tests/guest/stale-pages" >stale
is $? 0 "a table of page entries keeps nothing of what it replaces"
sed 's/^/# /' stale

# The host allows fewer mappings than the program has pages that lie alone.
for cpus in $scattered; do
	guest $cpus --memory 2G --real -- "$out/tests/guest/scattered-pages" >scattered
	is $? 0 "$cpus CPUs: a program has more mappings than the host allows"
	sed 's/^/# /' scattered
done

# A first touch in order maps pages ahead.
guest 2 --real -- "$out/tests/guest/first-touch" >touches
sed 's/^/# /' touches
touches() { # NAME
	sed -n "s/^$1 //p" touches
}
is "$(touches in_order_resident) $(touches mixed_resident) $(touches second_resident)" \
	"1000 500 500" "pages in order are mapped, in another order, and every second one"
is "$(touches beyond_resident)" 0 "none is beyond the end of a mapping"
ok "in order, a fault is for several pages" [ "$(touches in_order_faults)" -lt 250 ]
ok "at most as many pages again are mapped" [ "$(touches few_resident)" -le 200 ]
is "$(sed -n 's/^[a-z_]*_\(set\|changed\) //p' touches | xargs)" "0 0 0 0 0" \
	"each page is 0 at first, and a child has its own"

for cpus in $pairs; do
	guest $cpus --real -- "$out/tests/guest/futex-count" 4 40000 >count
	is $? 0 "$cpus CPUs: operations on futexes are atomic"
	sed 's/^/# /' count
done

# The threads of a process run at the same time. They hand over to each other many
# times without an interrupt, unless the host has no second CPU for them.
if [ "$(nproc)" -ge 2 ]; then
	guest 2 --real -- "$out/tests/guest/hand-over" 100000 >turns
	is $? 0 "two threads of a process run user code at once"
	sed 's/^/# /' turns
fi

# A CPU idles until the last one has started. With a periodic tick on each CPU, they had
# 250000 interrupts on an idle machine, and 320000 on a busy one. 900 were measured.
interrupts=$(guest 64 --real -- sed -n 's/^intr \([0-9]*\) .*/\1/p' /proc/stat)
echo "# $interrupts interrupts"
ok "64 CPUs start without ticks" [ "$interrupts" -lt $((64 * 300)) ]

# 64 CPUs of a host with two: a queue for a lock has members that the host has stopped.
# 1.9 to 2.5 times as much CPU time was measured, and 8.7 to 10.2 with a queue.
if [ -z "$few" ] && [ "$(nproc)" -ge 2 ]; then
	crowded 64 --memory 2G --real -- "$out/tests/guest/lock-crowd" 64 500 >crowd
	sed 's/^/# /' crowd
	is "$(awk '{ print $2 < 5 * $1 }' crowd)" 1 \
		"a lock costs 64 CPUs less than 5 times what it costs one"
fi

# CPUS PROCESSES: prints the virtual time that they take, in units of one process.
virtual_ratio() {
	guest "$1" --json run.json -- "$out/tests/guest/spinners" process "$2" 400 \
		>/dev/null || return
	jq --argjson n "$2" '.experiment | .elapsed_virtual_ns / (.cpu_virtual_ns / $n)' \
		run.json
}

# The next number of processes is a factor of 2 away, and so is a kernel that charges
# stolen time on a machine with half as many CPUs.
# shellcheck disable=SC2317 # called by ok
near() {	# RATIO WANTED
	echo "# ratio $1"
	[ "$(echo "$1 > $2 / 1.4 && $1 < $2 * 1.4" | bc)" = 1 ]
}

if [ -z "$few" ]; then
	ok "two processes on one CPU take twice as long as one" \
		near "$(virtual_ratio 1 2)" 2
	ok "two processes on two CPUs take as long as one" near "$(virtual_ratio 2 2)" 1
fi
ok "four processes on four CPUs take as long as one" near "$(virtual_ratio 4 4)" 1
is "$(jq '.experiment | (.cpu_virtual_ns / .cpu_real_ns - 1) | fabs < 0.001' run.json)" \
	true "R1: at percent 100, virtual time is CPU time"

# While other guests start, the host stops CPUs for up to half a second, also while one
# wakes a task on another one. No task is charged for stolen time. The largest charge over
# the smallest: 1.03 was measured, and 1.1 to 2 in one run of three with a kernel that
# charged it.
start_guests() {
	while [ -d "$tmp" ] && [ ! -e enough ]; do
		# shellcheck disable=SC2016 # for the guest's shell
		crowded 4 -- sh -c 'for i in 1 2 3 4; do
			(j=0; while [ $j -lt 300000 ]; do j=$((j + 1)); done) &
		done; wait' && echo ended >>started
	done >/dev/null 2>&1
}
start_guests &
start_guests &
for _ in $repeats; do
	rm -f run.json
	crowded 4 --json run.json -- "$out/tests/guest/spinners" process 4 400 >/dev/null &&
		jq '[.experiment.threads[].virtual_ns] | sort | .[4] / .[1]' run.json
done >charged
ok "other guests ran meanwhile" [ -s started ]
touch enough
wait
sed 's/^/# /' charged
is "$(awk '$1 < 1.2' charged | wc -l)" "$(echo $repeats | wc -w)" \
	"beside other guests, four equal processes are charged alike"

# Its size tells this guest from others.
mib=$((200 + $$ % 700))
guest 4 --memory ${mib}M --real -- sh -c "sleep 100 & kill -9 \$\$"
is $? 137 "a signal is the status"
is "$(pgrep -fc "linux mem=${mib}M .*ncpus=4")" 0 "no guest stays"

done_testing
