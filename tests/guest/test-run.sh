#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# `tense run` in place of the command: exit status, standard streams, files,
# user, environment, signals, several at a time, and what stays behind.
. "$source/tests/lib/tap.sh"
. "$source/tests/lib/processes.sh"

# qemu may be emulated. Each back end has its kernel.
case $backend in
uml) arch=um kernel=linux size=100000000 processes=4 late=1 ;;
qemu) arch=x86_64 kernel=build/vmlinux size=10000000 processes=1 late=8 ;;
esac
# build/module is for this version. The other user's cache has no source of 7.2 or 7.3.
version=${TENSE_KERNEL_VERSION:-6.1}
in_tmp -p /var/tmp
chmod 755 "$tmp"
mkdir -m 777 "$tmp/cwd" "$tmp/other" "$tmp/third"
cd "$tmp/cwd" || exit 1

run() {
	"$tense" run --backend $backend "$@"
}

# The same where a process of the shell's must not come in between.
run=("$tense" run --backend "$backend")

# Builds the kernel, if need be, outside of what is tested.
ok "a kernel that boots" run --real true

# Exit status.
run true >stdout 2>stderr
is "$?" 0 "status 0"
is "$(cat stdout stderr)" "" "no word from the kernel or from tense"
run -- sh -c 'exit 7' && false
is "$?" 7 "status 7"
run -- sh -c 'kill -KILL $$'
is "$?" 137 "SIGKILL is 137"
run -- sh -c 'kill -SEGV $$'
is "$?" 139 "SIGSEGV is 139"
run nothing-by-this-name 2>stderr
is "$? $(cat stderr)" "127 tense: nothing-by-this-name: command not found in PATH: check its spelling, install it, or give its path" \
	"a command that is not there"
run ./nothing 2>stderr
is "$? $(cat stderr)" "127 tense: ./nothing: No such file or directory: check the program's path" \
	"nor by its path"
echo "#!/bin/sh" >plain
run ./plain 2>stderr
is "$? $(cat stderr)" "126 tense: ./plain: Permission denied: make it executable by chmod +x, or name the program first that runs it" \
	"a file that is no program"
run "$tmp" 2>stderr
is "$?" 126 "a directory"

# Streams. The data have every byte value and no structure.
head -c $size /dev/urandom >"$tmp/data"
sum=$(sha256sum <"$tmp/data")
is "$(cat "$tmp/data" | run sha256sum)" "$sum" "many bytes in through a pipe"
is "$(run sha256sum <"$tmp/data")" "$sum" "in from a file"
is "$(run cat "$tmp/data" | sha256sum)" "$sum" "out through a pipe"
run cat "$tmp/data" >copy
is "$(sha256sum <copy)" "$sum" "out to a file"
is "$(run sh -c 'cat "$1" >&2' sh "$tmp/data" 2>&1 >/dev/null | sha256sum)" \
	"$sum" "out through standard error"
is "$(cat "$tmp/data" | run cat | run cat | sha256sum)" "$sum" \
	"through two of them"
rm -f copy
is "$(run head -c 3000000 /dev/zero | (sleep $late; wc -c))" 3000000 \
	"a reader that is late gets it all"
is "$(run sh -c 'echo out; echo err >&2' 2>&1)" "out
err" "both outputs into one pipe, in order"
echo first >both
run sh -c 'echo out; echo err >&2' >>both 2>&1
is "$(cat both)" "first
out
err" "or appended to one file"
is "$(printf '1\n2\n3\n' >lines; (run head -c 2; cat) <lines)" "1
2
3" "a file's position is shared"
is "$(run yes 2>stderr | head -n 1; echo "${PIPESTATUS[0]}")" "y
141" "SIGPIPE when the reader has gone"
is "$(cat stderr)" "" "without a word"
is "$({ run sh -c 'trap "" PIPE; while echo y; do :; done 2>/dev/null
	echo EPIPE >&2' | head -n 1; } 2>&1 >/dev/null)" EPIPE \
	"or EPIPE where SIGPIPE is ignored"
# The command's own error, or that of tense, which writes for it.
is "$(run cat lines 2>&1 >/dev/full | sed 's/.*: //')" \
	"No space left on device" "a full disk"
is "$(run sh -c 'cat; echo end' <&-)" "end" "closed standard input"
run sh -c 'echo x || exit 3' >&- 2>/dev/null
is "$?" 3 "closed standard output"
run sh -c 'readlink /proc/self/fd/0 /proc/self/fd/1' >links <&-
is "$(wc -l <links)" 1 "what is closed is closed inside"
is "$("${run[@]}" sh -c 'exec >&-; sleep 2; touch later' | (cat; ls later 2>&1))" \
	"ls: cannot access 'later': No such file or directory" \
	"the reader sees the end when the command closes"
is "$(run sh -c 'echo a >/dev/stdout; echo b >>/dev/fd/1')" "a
b" "/dev/stdout and /dev/fd"
is "$(run wc -c </dev/null)" 0 "/dev/null"

# Files.
run sh -c 'echo data >new && mkdir dir && mv new dir/'
is "$(cat dir/new)" data "the current directory can be written"
is "$(run sh -c 'touch ../other/x; mkdir /usr/x; touch /etc/x' 2>&1 |
	grep -c 'Read-only file system')" 3 "others cannot"
run --rw ../other --rw "$tmp/third" -- sh -c 'touch ../other/x ../third/y'
is "$(ls ../other ../third | tr '\n' ' ')" "../other: x  ../third: y " \
	"but for those of --rw"
is "$(cd / && run --rw "$tmp/cwd" -- touch /usr/x "$tmp/cwd/from-root" 2>&1)" \
	"touch: cannot touch '/usr/x': Read-only file system" \
	"the root directory is not writable because it is the current one"
ok "while another is" test -f from-root
file=$(mktemp -p /tmp) && echo host >"$file"
is "$(run sh -c 'cat "$1"; echo guest >"$1"; cat "$1"' sh "$file")" "host
guest" "/tmp holds the host's files and can be written"
is "$(cat "$file")" host "which the host does not see"
rm -f "$file"
(mkdir -p "/tmp/tense $$" && cd "/tmp/tense $$" && run sh -c 'pwd; touch "a b"')
ok "a current directory in /tmp, with a space" test -f "/tmp/tense $$/a b"
rm -rf "/tmp/tense $$"
mkdir -m 555 sealed
is "$(cd sealed && run --real pwd)" "$PWD/sealed" "a directory without write permission"

# The process.
is "$(run id)" "$(id)" "user and groups"
if [ "$(id -u)" = 0 ]; then
	nobody() {
		setpriv --reuid 65534 --regid 65534 --groups 65534,5,6 \
			env TENSE_KERNEL_VERSION="$version" "$@"
	}
	# A cache of the other user's own, as it would have.
	cache=$tmp/cache
	dir=$("$source/tools/kernel-build" --arch $arch --print)
	mkdir -m 777 "$cache"
	mkdir -p "$cache/${dir##*/}/build"
	cp -L "${dir%-*}/$kernel" "$cache/${dir##*/}/$kernel"
	cp "$dir/tense.ko" "$dir/config" "$cache/${dir##*/}/"
	export TENSE_CACHE=$cache
	is "$(nobody "$tense" run --backend $backend id)" "$(nobody id)" \
		"those of another user"
	nobody "$tense" run --backend $backend touch theirs
	is "$(stat -c %u:%g theirs)" 65534:65534 "who owns what they write"
	is "$(nobody "$tense" run --backend $backend sh -c 'echo >/dev/stderr; cat /dev/stdin' <lines 2>/dev/null)" \
		"$(cat lines)" "who may open their own streams"
	is "$(nobody "$tense" run --backend $backend cat /etc/shadow 2>&1)" \
		"cat: /etc/shadow: Permission denied" \
		"and may read no more than outside"
	unset TENSE_CACHE
	# A command of root's that becomes another user, as servers do. QEMU makes no special
	# files on the host.
	special='pipe socket'
	[ $backend = uml ] || special=
	mkdir -m 777 served && chgrp 7 served && chmod g+s served
	is "$(special=$special run setpriv --reuid 65534 --regid 65533 --clear-groups sh -c '
		umask 077 && mkdir own && cd own && echo data >file && cat file &&
		ln -s file link && echo x >../served/file &&
		if [ -n "$special" ]; then
			mkfifo pipe && perl -MSocket -e "socket(S, AF_UNIX, SOCK_STREAM, 0);
				bind(S, pack_sockaddr_un(q(socket))) or die"
		fi && mkdir ../served/dir && chmod 640 file $special ../served/file' 2>&1)" data \
		"another user inside can open and change what it has created"
	# shellcheck disable=SC2086 # a list
	is "$(cd own && stat -c %u:%g link ../served/dir &&
		stat -c '%n %u:%g %a' . ../served/file file $special)" "65534:65533
65534:7
. 65534:65533 700
../served/file 65534:7 640
$(for name in file $special; do echo "$name 65534:65533 640"; done)" "on the host, the files belong to that user, too"
else
	skip "other users: only root can become one"
fi
is "$(A='two
lines' run sh -c 'echo "$A"')" "two
lines" "environment"
is "$(run env -0 | tr '\0' '\n' | grep -v -e ^LD_PRELOAD= -e ^_= | sort)" \
	"$(env -0 | tr '\0' '\n' | grep -v ^_= | sort)" "all of it"
is "$(env -u PATH "$tense" run --backend $backend sh -c 'echo $0')" sh \
	"without a PATH"
is "$(run printf '<%s>' '' 'a b' $'\n' '*' $'\377' | od -c)" \
	"$(printf '<%s>' '' 'a b' $'\n' '*' $'\377' | od -c)" "arguments"
is "$(run printf %s "$(head -c 120000 /dev/zero | tr '\0' x)" | wc -c)" \
	120000 "long ones"
is "$(umask 027; run sh -c umask)" 0027 "umask"
is "$(ulimit -n 77; ulimit -c 0; run sh -c 'ulimit -n; ulimit -c')" "77
0" "resource limits"
is "$(run hostname)" "$(hostname)" "host name"
is "$(trap '' USR1; run sh -c 'kill -USR1 $$; echo alive')" alive \
	"ignored signals stay ignored"
is "$(cd "$tmp/third" && run pwd)" "$tmp/third" "current directory"
is "$(run sh -c 'test -t 0 || test -t 1 || echo none' </dev/null)" none \
	"no terminal where there is none"
is "$(run perl -MIO::Socket::INET -e '
	$a = IO::Socket::INET->new(Listen => 1, LocalAddr => "127.0.0.1");
	$b = IO::Socket::INET->new(PeerAddr => "127.0.0.1",
				   PeerPort => $a->sockport);
	print $b ? "connected" : $!')" \
	connected "the loopback interface"

# Waits until the command is there: it makes a file.
start() {
	rm -f there
	"$@" <&0 &
	pid=$!
	until [ -e there ]; do
		kill -0 $pid 2>/dev/null || return 1
		sleep 0.05
	done
}

# Signals.
for sig in TERM HUP USR1 USR2 ALRM; do
	start "${run[@]}" sh -c 'touch there; exec sleep 1000'
	kill -$sig $pid
	wait $pid
	is "$?" $((128 + $(kill -l $sig))) "SIG$sig ends the command"
done
start "${run[@]}" bash -c 'n=0; trap "n=\$((n + 1)); echo \$n >n" USR1
	trap "exit \$n" TERM; touch there; while :; do sleep 0.01; done'
counted() {
	[ "$(cat n 2>/dev/null)" = "$1" ]
}
for i in 1 2; do
	kill -USR1 $pid
	until_true counted $i
done
# Another one may be on its way.
sleep 0.5
kill -TERM $pid
wait $pid
is "$?" 2 "each signal arrives once"
mkfifo fifo
start "${run[@]}" sh -c 'touch there; exec cat' <>fifo
kill -TERM $pid
wait $pid
is "$?" 143 "a read that waits is interrupted"
start "${run[@]}" sh -c 'touch there; exec sleep 1000'
kill -STOP $pid && kill -CONT $pid && kill -TERM $pid
wait $pid
is "$?" 143 "after a stop as well"

# Two at a time.
for i in 1 2; do
	run sh -c 'for i in 1 2 3 4 5; do sleep 0.1; echo '$i'; done' >out$i &
	pids[i]=$!
done
wait "${pids[1]}" && wait "${pids[2]}"
is "$(xargs <out1) $(xargs <out2)" "1 1 1 1 1 2 2 2 2 2" "two at a time"

# Statistics.
# Asks for the time rarely, for that is a system call.
spin='do { $n++ for 1 .. 100000 } until (times)[0] > 0.5'
run --percent 200 --json s.json -- perl -e "$spin"
ok "--json writes JSON" jq -e . s.json >/dev/null
is "$(jq -c '[.version, .command[0], .backend, .percent, .status]' s.json)" \
	'[2,"perl","'$backend'",200,0]' "that says what ran"
ok "at percent 200, virtual CPU time is half of real" jq -e \
	'.experiment | (.cpu_real_ns / .cpu_virtual_ns - 2) | fabs < 0.02' s.json
ok "threads add up to the sum" jq -e '.experiment |
	(([.threads[].virtual_ns] | add) - .cpu_virtual_ns) | fabs <= 1000' s.json
ok "elapsed is at least the CPU time of one CPU" jq -e \
	'.experiment | .elapsed_virtual_ns >= .cpu_virtual_ns * 0.999' s.json
is "$(jq -r '.experiment.threads[0] | .name, .percent, .exited' s.json |
	xargs)" "perl 200 true" "each thread is named"
if [ $backend = uml ]; then
run --stats sh -c 'sh -c : & sh -c : & wait' 2>stderr
ok "--stats prints a table" grep -q '^  elapsed, virtual  *[0-9.]* s$' stderr
is "$(grep -c ' sh  *100 ' stderr)" 3 "with a line for each thread"
run --json s.json -- sh -c 'exit 9'
is "$? $(jq .status s.json)" "9 9" "of a command that fails, too"
run --json s.json -- sh -c 'kill $$'
is "$? $(jq .status s.json)" "143 143" "or is killed"
cp /bin/true "$(printf 'tr\033')"
run --stats "./$(printf 'tr\033')" 2>stderr
ok "no control character of a thread's name" grep -q '^  *[0-9]*  tr? ' stderr
run --stats dd if=/dev/zero of=/dev/null bs=1 count=100000 2>stderr
ok "--stats tells when system calls take the time" \
	grep -q "CPU time went into system calls and page faults" stderr
run --stats perl -e "$spin" 2>stderr
ok "and does not when they do not" \
	sh -c '! grep -q "CPU time went" stderr'
fi

# --window
run --window 2.5ms --json s.json true
is "$(jq .experiment.window_ns s.json)" 2500000 "--window"

# --real
is "$(run --real sh -c 'exec 2>&1; ls /dev/tense; echo "$LD_PRELOAD"')" \
	"ls: cannot access '/dev/tense': No such file or directory" \
	"--real: neither module nor library"
is "$(TENSE=0 run sh -c 'echo "$LD_PRELOAD"; ls /dev/tense')" "
/dev/tense" "TENSE=0: an experiment without the library"
is "$(run --device sh -c 'echo /dev/tens* "($LD_PRELOAD)"' 2>&1)" \
	"/dev/tense ()" "--device: the module, and no library"
run --real --json s.json true
is "$(jq -c '[.percent, .experiment]' s.json)" "[null,null]" \
	"no statistics of an experiment in real time"

# A kernel with the module: that of a guest.
if [ "$(id -u)" = 0 ]; then
	module=$("$source/tools/kernel-build" --arch $arch --print)/tense.ko
	native() {
		TENSE_KERNEL_VERSION=$version run --real sh -c 'insmod "$1" && shift && exec "$@"' sh \
			"$module" "$tense" run "$@"
	}
	# As a user builds it for the kernel of a machine.
	if [ $arch = um ]; then
		ok "builds the module for a kernel tree" make -s -C "$source" \
			O="$tmp/module" KDIR="$(dirname "$module")/build" module
		module=$tmp/module/module/tense.ko
	fi
	native --percent 400 --json s.json -- perl -e "$spin"
	is "$? $(jq -r .backend s.json)" "0 native" \
		"where there is a device, native is the back end"
	ok "which scales as well" jq -e \
		'.experiment | (.cpu_real_ns / .cpu_virtual_ns - 4) | fabs < 0.04' \
		s.json
	is "$(native sh -c 'basename "$LD_PRELOAD"')" libtense.so.1 \
		"and preloads the library"
	native -- sh -c 'exit 7'
	is "$?" 7 "exit status"
	native -- sh -c 'kill $$'
	is "$?" 143 "or signal"
	native --window 500us true
	is "$?" 0 "a window that the module has"
	is "$(native --window 4ms true 2>&1 | xargs)" \
		"tense: --window: here tense.ko was loaded with a window of 500000 ns: load it with window=4000000, or use --backend uml" \
		"and one that it has not"
	is "$(native --backend native nothing 2>&1; echo $?)" \
		"tense: nothing: command not found in PATH: check its spelling, install it, or give its path
127" "not found"
else
	skip "the native back end: only root can load a module in a guest"
fi

# Memory.
is "$(TENSE_MEMORY=600M run awk '/MemTotal/ { print ($2 > 500000 && $2 < 620000) }' /proc/meminfo)" \
	1 "TENSE_MEMORY"
TENSE_MEMORY=lots run true 2>stderr
is "$? $(cat stderr)" "125 tense: TENSE_MEMORY is lots: should be 64M to 1024G" \
	"that makes no sense"

# alive PID...: those that run on.
alive() {
	for p; do
		state=$(awk '{ sub(/.*\) /, ""); print $1 }' "/proc/$p/stat" \
			2>/dev/null) || continue
		case $state in
		Z|X|'') ;;
		*) echo "$p" ;;
		esac
	done
}

# When tense is killed, so is all that it started, and no file stays.
mkdir "$tmp/home" "$tmp/tmpdir"
TENSE_CACHE=$(dirname "$("$source/tools/kernel-build" --arch $arch --print)")
export TENSE_CACHE HOME=$tmp/home TMPDIR=$tmp/tmpdir

touch marker
start "${run[@]}" sh -c 'sleep 1000 & sleep 1000 & touch there; while :; do :; done'
all=$(descendants $pid)
ok "the guest is processes" [ "$(echo "$all" | wc -w)" -ge $processes ]
kill -KILL $pid
wait $pid 2>/dev/null
# shellcheck disable=SC2086 # a list
for _ in $(seq 200); do
	[ -z "$(alive $all)" ] && break
	sleep 0.05
done
# shellcheck disable=SC2086
is "$(alive $all)" "" "none of them survives tense"
start "${run[@]}" sh -c 'touch there; exec sleep 1000'
guest=$(cat /proc/$pid/task/*/children)
all=$(descendants "$guest")
kill -KILL $guest
wait $pid 2>stderr
is "$?" 125 "a kernel that is killed is a failure of tense"
# shellcheck disable=SC2086
for _ in $(seq 200); do
	[ -z "$(alive $all)" ] && break
	sleep 0.05
done
# shellcheck disable=SC2086
is "$(alive $all)" "" "and leaves no process either"

# An emulator whose guest gets stuck while it boots: the first ones only say so, as the
# kernel does. The last one is real.
if [ $backend = qemu ]; then
	mkdir "$tmp/bin"
	cat >"$tmp/bin/qemu-system-x86_64" <<-END
		#!/bin/sh
		case "\$*" in
		*tense-root*) ;;
		*) exec $(command -v qemu-system-x86_64) "\$@" ;;
		esac
		echo \$\$ >>$tmp/starts
		[ "\$(wc -l <$tmp/starts)" -gt "\$STUCK" ] &&
			exec $(command -v qemu-system-x86_64) "\$@"
		echo "rcu: INFO: rcu_sched \$SAYS"
		[ -z "\$ENDS" ] || exit 3
		exec sleep 1000
	END
	chmod 755 "$tmp/bin/qemu-system-x86_64"
	# tense tries KVM again, and says so, for an emulator of another date: tests that run
	# beside this one share the verdict.
	touch -r "$(command -v qemu-system-x86_64)" "$tmp/bin/qemu-system-x86_64"
	SAYS="detected stalls on CPUs/tasks:" ENDS=
	export STUCK SAYS ENDS
	is "$(echo in | PATH=$tmp/bin:$PATH STUCK=2 run --real cat 2>stderr)" in \
		"a guest that gets stuck twice while it boots"
	is "$(grep -c 'got stuck while it booted: tense starts it again' stderr)" 2 \
		"is started again"
	# shellcheck disable=SC2046 # a list
	is "$(alive $(cat "$tmp/starts"))" "" "none of them is left"
	: >"$tmp/starts"
	PATH=$tmp/bin:$PATH STUCK=9 ENDS=1 run --real true 2>stderr
	is "$? $(wc -l <"$tmp/starts")" "125 1" "an emulator that ends is not started again"
	ok "tense says that the kernel ended" grep -q 'the kernel ended without a result' stderr
fi

# Each stop of a program is a voluntary switch of its process on the host. There were 1030 in
# a second of CPU time when each tick of the guest stopped the program.
if [ $backend = uml ]; then
	cpu_ticks() { # PID
		cut -d ' ' -f 14 "/proc/$1/stat"
	}
	stops() { # PID
		sed -n 's/^voluntary_ctxt_switches:\t//p' "/proc/$1/status"
	}
	# Each process of the guest: PID TICKS STOPS.
	list_processes() {
		local process

		for process in $(descendants "$guest"); do
			echo "$process $(cpu_ticks "$process") $(stops "$process")"
		done 2>/dev/null
	}
	# Sets ticks and stops to those of a process that has computed for a second since
	# "begin" was written: the guest's kernel does not, once the program runs.
	has_computed() {
		read -r ticks stops < <(list_processes | awk '
			FILENAME == "begin" { ticks[$1] = $2; stops[$1] = $3; next }
			$1 in ticks && $2 - ticks[$1] >= 100 {
				print $2 - ticks[$1], $3 - stops[$1]
			}' begin -)
	}
	"${run[@]}" -- perl -e '$| = 1; print "runs"; $i++ while 1' >stdout 2>stderr &
	guest=$!
	until_true [ -s stdout ]
	list_processes >begin
	until_true has_computed
	echo "# $stops stops in $ticks ticks of the host"
	ok "a tick stops no program if nobody waits" [ "$stops" -lt "$ticks" ]
	kill "$guest"
	wait "$guest"
fi

# User-Mode Linux counts interrupts as stolen time. Each took 20 to 60 us. On several CPUs it
# also counts what the host takes.
if [ $backend = uml ]; then
	cat >spin.pl <<-'END'
		sub counts {
			open my $f, "<", "/proc/stat" or die;
			my $text = join "", <$f>;
			$text =~ /^cpu +(?:\d+ ){7}(\d+).*^intr (\d+)/ms or die;
			return ($1, $2);
		}
		my ($stolen, $interrupts) = counts;
		1 while (times)[0] < 2;
		my ($stolen_now, $interrupts_now) = counts;
		print 1e4 * ($stolen_now - $stolen), " ", $interrupts_now - $interrupts;
	END
	read -r stolen interrupts <<<"$("${run[@]}" --cpus 1 -- perl spin.pl)"
	echo "# $stolen us stolen in $interrupts interrupts"
	ok "stolen time includes interrupts" [ "$stolen" -gt 10000 ]
	ok "at most 150 us for each" [ "$stolen" -lt $((150 * interrupts)) ]
fi

is "$(find "$HOME" "$TMPDIR" -mindepth 1)" "" "no file stays behind"
is "$(find /tmp /dev/shm -maxdepth 1 -newer marker \
	\( -name 'vm_file*' -o -name '*uml*' \))" "" "nor one of the kernel's"

done_testing
