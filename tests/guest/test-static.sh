#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# tense whatif and tense run on a program that is linked statically, on a
# kernel with /dev/tense, two CPUs and breakpoints in user space. It may be
# emulated, at nobody's speed: only figures of one run are compared.
. "$source/tests/lib/tap.sh"

program=$out/tests/guest/static-work
in_tmp -p /var/tmp

check() { # PROGRAM FILE
	jq -e "def median: sort | .[length / 2 | floor]; $1" "$2" >/dev/null
}

cat >session <<END
for mode in alone fork exec; do
	$out/bin/tense whatif --backend native --func hot --faster 20% \
		--max-runs 6 --seed 1 --stats --json \$mode.json -- \
		$program \$mode 60 >\$mode.out 2>&1
	echo \$? >\$mode.status
done
$out/bin/tense run --backend native --json run.json -- $program fork 60
$out/bin/tense whatif --backend native --func cold --progress hot \
	--faster 50% --max-runs 5 --json progress.json -- $program alone 60 \
	>progress.out 2>&1
echo \$? >progress.status
cat /proc/modules >modules
dmesg >log
END
"$out/bin/tense" run --backend qemu --cpus 2 --device -- sh session
is $? 0 "a kernel with the device"
sed 's/^/# /' ./*.out

for mode in alone fork exec; do
	is "$(cat $mode.status)" 0 "$mode: an answer"
	ok "$mode: that says how" \
		grep -q "scaled  *hot in $program: uprobe" $mode.out
	is "$(jq -c '.patches[] | [.patched, .symbol, .mechanism]' $mode.json)" \
		'[true,"hot","uprobe"]' "$mode: so does the JSON"
	is "$(jq -c '[.samples[] | select(.condition > 0) | .slots[] |
		select(.slot == 1) | .calls] | unique' $mode.json)" '[60]' \
		"$mode: each call was counted, and none twice"
	is "$(jq -c '[.samples[] | select(.condition == 0) | .slots | length] |
		unique' $mode.json)" '[1]' "$mode: none without breakpoints"
	# In most runs. Where the emulator is stopped in the middle of Tense's own
	# work, what that cost is given back at the percent of another moment.
	ok "$mode: time in it was charged at its percent" check '
		[.samples[] | {at: [100, 100, 125][.condition],
			slot: .slots[] | select(.slot == 1)} |
		 .slot.virtual_ns * .at / 100 / .slot.real_ns - 1 | fabs] |
		length >= 10 and median < 0.0001' $mode.json
	ok "$mode: and time outside at 100" check '
		[.samples[] | select(.condition > 0) | .slots[] |
		 select(.slot == 0) | .virtual_ns / .real_ns - 1 | fabs] |
		length >= 10 and median < 0.0001' $mode.json
	ok "$mode: and all of it without breakpoints" check '
		[.samples[] | select(.condition == 0) | .slots[0] |
		 .virtual_ns / .real_ns - 1 | fabs] | max < 0.0001' $mode.json
	# How much that is in all, in each run.
	ok "$mode: a fifth of its time is what the program saves" check '
		[.samples[] | select(.condition == 2) |
		 (.slots[] | select(.slot == 1) | .real_ns / 5) as $saved |
		 (.cpu_real_ns - .cpu_virtual_ns - $saved) / $saved | fabs] |
		length >= 6 and median < 0.0002' $mode.json
	ok "$mode: it takes neither nothing nor all" check '.results[0] |
		.share > 0.1 and .share < 0.95 and
		(.amdahl + 20 * .share | fabs < 0.01)' $mode.json
done

is "$(jq -c '[.backend, .status]' run.json)" '["native",0]' "tense run"
ok "charges it at 100" check '.experiment |
	(.cpu_virtual_ns / .cpu_real_ns - 1) | fabs < 0.001' run.json
ok "in both of its processes" check '.experiment.threads | length == 2 and
	(.[].virtual_ns > 0)' run.json

is "$(cat progress.status)" 0 "a breakpoint as progress point"
is "$(jq -c '[.patches[] | [.symbol, .mechanism]] | sort' progress.json)" \
	'[["cold","uprobe"],["hot","uprobe"]]' "is one"
ok "no experiment stays behind" grep -q '^tense [0-9]* 0 ' modules
is "$(grep -E 'WARNING|BUG|INFO:|Oops|Call Trace' log)" "" \
	"the kernel has nothing to say"
done_testing
