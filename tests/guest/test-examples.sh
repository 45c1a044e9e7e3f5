#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Each file of examples/ compiles and runs by the commands in its first comment,
# to the letter. Orders, counts and charged times are compared; no time of the host.
. "$source/tests/lib/tap.sh"

in_tmp -p /var/tmp

# A tree of links, so that what the commands write into build/ stays in here.
mkdir build
ln -s "$source/examples" "$source/libtense" .
ln -s "$out/bin" "$out/lib" "$out/libexec" "$out/share" build/

# EXAMPLE PATTERN [OPTION...]: runs the commands that its comment has, as far as
# they match, each with the options put before its "--".
run() {
	local commands command

	commands=$(sed -n 's/^ \*	\$ //p' "examples/$1.c" | grep -e "$2")
	[ -n "$commands" ] || return 1
	while read -r command; do
		bash -c "${command/ -- / ${*:3} -- }" </dev/null || return 1
	done <<<"$commands"
}

# FILE NAME: the number behind it.
number() {
	awk -v name="$2" '$1 == name { print $2 }' "$1"
}

for file in examples/*.c; do
	name=${file##*/}
	name=${name%.c}
	ok "$name: compiles by its comment" run "$name" '^cc '
done

# The commands run it at 125 and at 200 percent, and without the device.
run annotated 'run -- build/annotated$' >at-125 2>messages
is "$? $(cat messages)" "0 " "annotated: runs"
run annotated 'run -- build/annotated 200$' >at-200 2>messages
is "$? $(cat messages)" "0 " "annotated: runs at another percent"
sed 's/^/# /' at-125 at-200
between() {	# FILE LEAST MOST: percent of the time of parse() that compress() takes
	[ $((100 * $(number "$1" compress))) -gt $(($2 * $(number "$1" parse))) ] &&
		[ $((100 * $(number "$1" compress))) -lt $(($3 * $(number "$1" parse))) ]
}
ok "annotated: compress() takes about 80 % at percent 125" between at-125 65 95
ok "annotated: and about 50 % at percent 200" between at-200 35 64
if [ -e /dev/tense ]; then
	skip "there is a /dev/tense here"
else
	ok "annotated: runs without the device, too" run annotated \
		'^build/annotated$' >real 2>messages
	is "$(grep -c 'running in real time' messages)" 1 "annotated: warns once"
fi

ok "hottest: gives an answer" run hottest ' profile ' --backend uml --quiet --time 20s \
	--only parse,write_page,decode --json profile.json >table 2>messages
sed 's/^/# /' table messages
is "$(jq -r '[.functions[] | { name, share }] | max_by(.share).name' profile.json)" decode \
	"hottest: decode() has the most time"
ok "hottest: the program gains less from decode() than from write_page()" jq -e '[.functions[] | { (.name): .half.gain_percent }] |
	add | .write_page > .decode' profile.json >/dev/null

ok "latency: gives an answer" run latency ' whatif ' --backend uml --quiet \
	--max-runs 6 --json answer.json >table 2>messages
sed 's/^/# /' table messages
is "$(jq -c '[.samples[].latency | [.from, .to, .pairs, .lost]] | unique' \
	answer.json)" '[[100,100,100,0]]' "latency: pairs each request with its reply"
is "$(jq -c '[.samples[] | select(.condition > 0) | .slots[] |
	select(.slot == 1) | .calls] | unique' answer.json)" '[100]' \
	"latency: counts each call of parse()"
ok "latency: charges parse() half of its time" jq -e '
	[.samples[] | select(.condition == 2) | .slots[] | select(.slot == 1) |
	 .virtual_ns / .real_ns] | sort | length >= 5 and
	.[length / 2 | floor] > 0.49 and .[length / 2 | floor] < 0.51' \
	answer.json >/dev/null
ok "latency: a reply comes sooner, by less than parse() gains" jq -e \
	'.results[0].change.value < -5 and .results[0].change.value > -50' \
	answer.json >/dev/null

is "$(timeout 600 bash -c "$(sed -n 's/^ \*	\$ //p' examples/static.c |
	grep ' run ')" 2>&1)" "slept 3600 s" "static: sleeps an hour of virtual time"

ok "queue: runs" run queue ' run ' >waits 2>messages
sed 's/^/# /' waits messages
# shellcheck disable=SC2016 # a program of awk
ok "queue: jobs wait as long as Lindley's recursion tells" awk '
	{ at[$1] = $2 }
	END { off = at["measured"] - at["expected"]
	      exit !(NR == 2 && off > -500 && off < 2500) }' waits
"$out/bin/tense" run --idle skip -- build/queue 30 >fewer 2>messages
sed 's/^/# /' fewer messages
ok "queue: and less where the server is less busy" \
	[ "$(number fewer measured)" -lt "$(number waits measured)" ]
done_testing
