# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: GPL-2.0
#
# The comparison of tests/parsec/parsec by counted instructions, in an emulated guest of
# $cpus CPUs; sourced. Each answer has several runs, which begin at different phases of
# the tick.

# FILE PERCENT COMMAND...: an answer of whatif, with all of its samples.
answer_exactly() {
	local file=$1 percent=$2
	shift 2
	"$tense" whatif --func "$symbol" "${option:---faster}" "$percent%" --quiet \
		--deterministic --cpus "$cpus" --file input --json="$file" -- "$@" \
		>answer 2>&1 || die "$name: whatif failed: see $PWD/answer"
}

measure_exactly() {
	local option=

	[ -e input ] || : >input
	set_command after
	# shellcheck disable=SC2086 # a command
	answer_exactly after.json 10 $command
	set_command before
	# shellcheck disable=SC2086 # a command
	answer_exactly before.json 10 $command
	jq -n --slurpfile before before.json --slurpfile after after.json '
		def median: sort | (.[length / 2 | floor] + .[(length - 1) / 2 | floor]) / 2;
		def runs($kind): . as $answer | [.samples[] | select(.round > 0 and
			$answer.conditions[.condition].kind == $kind)];
		def slot($n): .slots[] | select(.slot == $n);
		# Ratios of all pairs of runs, as what is saved in percent.
		def saved($old; $new): [$old[] as $o | $new[] as $n | 100 * (1 - $n / $o)] |
			{ value: median, low: min, high: max };

		[$before[0], $after[0] | runs("null") | map(slot(1).virtual_ns)] as [$old, $new] |
		($before[0] | runs("null")) as $null |
		saved($old; $new) + {
			calls: ($null | map(slot(1).calls) | median),
			share: (100 * ($old | median) / ($null | map([.slots[].virtual_ns] | add) | median)),
			true: ([$before[0], $after[0] | runs("baseline") | map(.elapsed_virtual_ns)] |
				. as [$o, $n] | saved($o; $n)) }' >cut.json
	ask_percent
	# shellcheck disable=SC2086 # a command
	answer_exactly answer.json "$asked" $command
	jq --slurpfile cut cut.json '
		.results[0] as $r | { cases: [{ true: $cut[0].true,
			predicted: ($r.change | { value: -.value, low: -.high, high: -.low }),
			bias: .null_experiment.bias, verdict: $r.verdict }] }' answer.json >truth.json
}
