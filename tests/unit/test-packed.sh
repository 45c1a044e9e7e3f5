#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Which files a deterministic guest gets: of an emulator that is none, which
# keeps what the guest would begin with. One with a single CPU would resume from a saved boot.
. "$source/tests/lib/tap.sh"

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
done_testing
