#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Checks the messages without a terminal, while tense builds a kernel and while it
# waits for another build. Fake programs build nothing.
. "$source/tests/lib/tap.sh"
. "$source/tests/lib/processes.sh"

in_tmp -p /var/tmp
trap 'touch "$tmp/go"; wait; rm -rf "$tmp"' EXIT

mkdir -p linux/scripts/kconfig bin
printf 'VERSION = 6\nPATCHLEVEL = 1\n' >linux/Makefile
cat >linux/scripts/kconfig/merge_config.sh <<'END'
#!/bin/sh
shift 2
sed -n -e 's/^\(CONFIG_[A-Z0-9_]*\)=n$/# \1 is not set/' -e '/^CONFIG_/p' "$@" >.config
END
printf '#!/bin/sh\n' >bin/patch
printf '#!/bin/sh\necho\necho x x x 9000000 x x\n' >bin/df
# Prints half of the lines, and the rest when the file "go" exists.
cat >bin/make <<'END'
#!/bin/sh
while [ $# -gt 0 ]; do
	case $1 in
	-C) cd "$2" || exit 1; shift ;;
	M=*) module=${1#M=} ;;
	modules) [ -z "${module-}" ] || echo >"$module/tense.ko" ;;
	all)
		seq 625
		: >"$FAKE/half"
		until [ -e "$FAKE/go" ]; do sleep 0.05; done
		seq 625
		echo >linux ;;
	esac
	shift
done
END
chmod +x bin/* linux/scripts/kconfig/merge_config.sh
export PATH=$tmp/bin:$PATH FAKE=$tmp TENSE_CACHE=$tmp/cache \
	TENSE_KERNEL_SOURCE=$tmp/linux
build=$source/tools/kernel-build

"$tense" kernel build uml >first.out 2>first.err </dev/null &
first=$!
until_true test -e half
"$tense" kernel build uml >second.out 2>second.err </dev/null &
second=$!
"$build" --arch x86_64 >third.out 2>third.err </dev/null &
third=$!
until_true test -s second.err
until_true test -s third.err
builder=$(pgrep -P $first)
is "$(cat second.err)" \
	"tense: waiting for another build: process $builder builds the User-Mode Linux kernel (--backend uml)" \
	"a waiting tense names the builder"
is "$(cat third.err)" "$(cat second.err)" "the script names it, too"
kill $third
wait $third 2>/dev/null
ok "the builder says so before the build ends" grep -q \
	"^tense: building the User-Mode Linux kernel (--backend uml) from Linux 6.1, because $tmp/cache has none for this version of tense: about [0-9]* min, once$" \
	first.err
touch go
wait $first
is "$?" 0 "the build ends"
wait $second
is "$? $(cat second.out)" "0 $(cat first.out)" "the waiting tense gets the same kernel"
is "$(wc -l <second.err)" 1 "it prints nothing else"
is "$(sed -n 's/^tense: compiling the kernel, once: \([0-9]*\) % done, [0-9]*:[0-9][0-9] left$/\1/p' first.err | xargs)" \
	"10 20 30 40 50 60 70 80 90" "a line for each tenth"
ok "the cache has lines and seconds of the build" grep -Eq '^1250 [0-9]+$' cache/um.count
is "$("$tense" kernel build uml 2>&1)" "$(cat first.out)" \
	"a cached kernel needs no message"

# The cache knows the build time. The lock names a process that does not run.
echo "1250 301" >cache/um.count
rm -rf cache/um-*
(
	flock 9
	echo "999999999 builds nothing" >cache/lock
	: >held
	until [ -e again ]; do sleep 0.05; done
) 9>>cache/lock &
until_true test -e held
"$tense" kernel build uml >/dev/null 2>last.err </dev/null &
last=$!
until_true test -s last.err
touch again
wait $last
is "$(head -n 1 last.err)" "tense: waiting for another kernel build" \
	"an unknown builder is not named"
ok "the estimate is the time of the last build" grep -q "about 6 min, once" last.err

done_testing
