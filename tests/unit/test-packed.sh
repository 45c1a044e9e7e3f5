#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Which files a deterministic guest gets: of an emulator that is none, which
# keeps what the guest would begin with. One with a single CPU would resume from a saved boot.
. "$source/tests/lib/tap.sh"
. "$source/tests/lib/commands.sh"

in_tmp
kept=$tmp/initrd
export TENSE_CACHE="$tmp/cache"
kernel=$("$source/tools/kernel-build" --arch x86_64 --print)
mkdir -p "$kernel" "$TENSE_CACHE/qemu-10.0.2" "$tmp/work"
: >"$kernel/tense.ko"
: >"$kernel/bzImage"
cat >"$TENSE_CACHE/qemu-10.0.2/qemu-system-x86_64" <<'END'
#!/bin/sh
while [ "$1" != -initrd ]; do shift; done
cat "$2" >"${0%/*}/../../initrd"
END
chmod +x "$TENSE_CACHE/qemu-10.0.2/qemu-system-x86_64"
cd "$tmp/work" || exit 1

# The archive has its names as they are, each ended by a byte that is 0.
packed() {
	tr '\0' '\n' <"$kept" | sed -n "s|.*${tmp#/}/work/||p" | sort -u | xargs
}

echo 1 >data
echo old >old.json
for json in old.json new.json "$PWD/new.json"; do
	: >"$kept"
	"$tense" run --deterministic --cpus 2 --json "$json" -- true >../stdout 2>../stderr \
		</dev/null
	is "$(packed)" "data$([ "$json" = old.json ] || echo ' old.json')" \
		"run --json $json"
	rm -f new.json
done
"$tense" trace --deterministic --cpus 2 -o a.svg --json b.json -- true >../stdout \
	2>../stderr </dev/null
is "$(packed)" "data old.json" "trace with two files of its own"

# An earlier command may have left here whatever it likes.
pack_for() { # COMMAND
	: >"$kept"
	timeout 60 "$tense" run --deterministic --cpus 2 -- "$1" >"$tmp/stdout" 2>"$tmp/stderr" </dev/null
}

rm ./*
for directory in self other; do
	mkdir $directory
	echo "#!$PWD/$directory/script" >$directory/script
done
echo "#!$PWD/other/env x" >self/env
echo "#!$PWD/self/env x" >other/env
chmod +x ./*/*
pack_for true
ok "scripts that name themselves or each other" [ $? -ne 124 ]
ok "are packed" grep -q "other/env x" "$kept"
rm -r self other

make_command "$PWD/own-loader" "touch '$tmp/called'"
cp own-loader ld-linux-x86-64.so.2
echo 'int main(void) { return 0; }' >main.c
$cc -Wl,--dynamic-linker=./own-loader -o first main.c &&
	$cc -Wl,--dynamic-linker="$PWD/ld-linux-x86-64.so.2" -o second main.c || exit 1
rm main.c
pack_for true
is "$(packed)" "first ld-linux-x86-64.so.2 own-loader second" "programs with loaders of their own"
ok "a file's own loader is not run" [ ! -e "$tmp/called" ]
for program in ./first ./second; do
	pack_for $program
	is "$?" 127 "nor that of the command, $program"
	ok "nothing was called" [ ! -e "$tmp/called" ]
	ok "and a message says why" grep -q "^tense: .*: its loader .* is not trusted" "$tmp/stderr"
	"$tense" functions -- $program >"$tmp/stdout" 2>"$tmp/stderr"
	is "$?" 125 "tense functions runs none either, $program"
	ok "nothing was called" [ ! -e "$tmp/called" ]
done
done_testing
