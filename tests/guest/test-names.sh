#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Programs that were started separately share an experiment by its name: in a shell
# of `tense shell`, by TENSE_EXPERIMENT, and by `tense run --experiment`.
. "$source/tests/lib/tap.sh"

# qemu may be emulated, and has several CPUs.
case $backend in
uml) guest=(--backend uml) messages=100000 ;;
qemu) guest=(--backend qemu --cpus 2) messages=10000 ;;
esac
in_tmp -p /var/tmp
cd "$tmp" || exit 1
talk=$out/tests/guest/talk
export talk messages
export SHELL=/bin/bash

shell() { # ARGUMENT...
	"$tense" shell "${guest[@]}" -- "$@"
}

# Builds the kernel, if need be, outside of the tests.
ok "a kernel that boots" "$tense" run "${guest[@]}" --device true

# The shell.
shell -c 'exit 7'
is "$?" 7 "the shell's status"
is "$(echo 'echo a "$0"' | "$tense" shell "${guest[@]}")" "a /bin/bash" \
	"its commands from standard input"
is "$(shell -c 'echo "$0 $1 $#"' name 'an argument')" "name an argument 1" \
	"its arguments"
SHELL=/no/shell shell -c true 2>stderr
is "$? $(cat stderr)" "127 tense: /no/shell: No such file or directory: check the program's path" \
	"a shell that is not there"
is "$(PATH=/usr/bin:/bin shell -c 'tense version')" "$("$tense" version)" \
	"tense is in the shell's PATH"
is "$(SHELL='' shell -c 'echo "$TENSE_EXPERIMENT"' | grep -c '^shell-[0-9]*$')" 1 \
	"without SHELL and a name: sh, and a name of its own"
is "$(TENSE_EXPERIMENT=web shell -c 'echo "$TENSE_EXPERIMENT"')" web \
	"the name of the environment"
is "$(TENSE_EXPERIMENT=web "$tense" shell "${guest[@]}" --experiment db -- \
	-c 'echo "$TENSE_EXPERIMENT"')" db "the option's goes before it"
"$tense" shell --experiment 'a b' true 2>stderr
is "$? $(grep -c "shell: experiment 'a b' is not a name" stderr)" "125 1" \
	"what is no name"
if [ ! -e /dev/tense ]; then
	"$tense" shell --backend native -- -c true 2>stderr
	is "$? $(grep -c /dev/tense stderr)" "125 1" "no device, no shell"
fi

# A server and a client, each started in the background of the shell.
shell -c 'LD_PRELOAD=libtense.so "$talk" server port "$messages" &
	LD_PRELOAD=libtense.so "$talk" client port "$messages"
	status=$?; wait $!; echo "$? $status"' >talked 2>stderr
is "$(sort talked)" "0 0
client: 0 early
server: 0 early" "$messages messages between them: no reading is early"
is "$(cat stderr)" "" "without a warning"

# Whether the experiment had a thread of that name. The library makes further ones.
has() { # FILE NAME
	grep -q "\"name\": \"$2\"" "$1"
}

lacks() { # FILE NAME
	[ -s "$1" ] && ! has "$@"
}

# The sleeper has joined when it is called sleep: a preloaded program joins first.
cat >script <<'END'
sleeper() {
	LD_PRELOAD=libtense.so sleep 1000 &
	until tense run --json before -- true && grep -q '"sleep"' before; do
		kill -0 $! || exit 1
	done
}
tense run --json alone.json -- true
sleeper
tense run --json shared.json -- true
tense run --experiment other --json other.json -- true
TENSE_EXPERIMENT= tense run --json none.json -- true
TENSE_EXPERIMENT=other tense run --json env.json -- true
kill -KILL $!
wait $! 2>/dev/null
tense run --json after.json -- true
END
shell script 2>stderr
is "$?" 0 "programs in the background of a shell"
sed 's/^/# /' stderr
ok "before another one starts, a program is alone" lacks alone.json sleep
ok "then they share an experiment" has shared.json sleep
ok "which has both" has shared.json true
ok "another --experiment has another one" lacks other.json sleep
ok "no name, a new one" lacks none.json sleep
ok "another TENSE_EXPERIMENT has another one" lacks env.json sleep
ok "after SIGKILL, the name is free" lacks after.json sleep

# The library's message tells which variable is wrong.
shell -c 'TENSE_EXPERIMENT="a b" LD_PRELOAD=libtense.so /bin/echo real' \
	>stdout 2>stderr
is "$? $(cat stdout)" "0 real" "a wrong name: the program runs in real time"
is "$(grep -c '^libtense: .*TENSE_EXPERIMENT takes' stderr)" 1 \
	"the message names the variable"
is "$(wc -l <stderr)" 1 "there is one message"
shell -c 'TENSE_STRICT=1 TENSE_EXPERIMENT="a b" LD_PRELOAD=libtense.so /bin/echo real' \
	>stdout 2>stderr
is "$? $(cat stdout)" "1 " "TENSE_STRICT=1: the program does not run"

# A run in a guest of its own.
is "$("$tense" run "${guest[@]}" --experiment web -- \
	sh -c 'echo "$TENSE_EXPERIMENT"' 2>stderr)" web \
	"the command finds the name in its environment"
is "$(grep -c "^tense: --experiment web: only programs in this run's guest" stderr)" \
	1 "a message says that guests share nothing"
is "$(TENSE_EXPERIMENT=web "$tense" run "${guest[@]}" \
	sh -c 'echo "$TENSE_EXPERIMENT"' 2>stderr)" web "the variable is passed on"
is "$(grep -c experiment stderr)" 0 "without a message about it"

done_testing
