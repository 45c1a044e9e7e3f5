#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# tense noise: times of known distributions, processes that take times, the
# coefficients of a machine, and misuse.
. "$source/tests/lib/tap.sh"

in_tmp
export XDG_DATA_HOME="$tmp/data"

# STATUS WHAT ARGUMENT...
noise_is() {
	tense_is noise "$@"
}

# Holds for the JSON on standard output: WHAT FILTER
holds() {
	ok "$1" jq -e "$2" stdout >verdict
}

# Quantiles of a distribution, by an expression of p.
quantiles() { # COUNT EXPRESSION
	awk -v n="$1" "BEGIN { for (i = 1; i <= n; i++) { p = (i - 0.5) / n
		printf \"%.12g\n\", $2 } }"
}

# Times of known distributions: 1 s and a scale of 1 ms.
quantiles 199 '1 + 1e-3 * sin(3.141592653589793 * (p - 0.5)) / cos(3.141592653589793 * (p - 0.5))' >cauchy
quantiles 199 '1 - 1e-3 * log(-log(p))' >gumbel
for name in cauchy gumbel; do
	noise_is 0 "times of a $name distribution" fit --json - "$name"
	holds "are closest to that" ".closest | ascii_downcase == \"$name\""
	# Quantiles are evener than what is drawn at random: half of its error.
	holds "whose parameters are found" ".fits[] |
		select(.distribution | ascii_downcase == \"$name\") |
		(.location_s - 1 | fabs) < 5e-5 and
		(.scale_s / 1e-3 - 1 | fabs) < 0.05"
done
holds "all four are told" '.version == 1 and (.fits | length) == 4 and
	([.fits[].distribution] | unique | length) == 4 and
	all(.fits[]; .converged and .log_likelihood > 0 and .anderson_darling > 0)'
holds "with what they have" '.fits | map({(.distribution): .}) | add |
	.Levy.bound_s > .Levy.location_s and .Levy.mean_s > .Levy.location_s and
	.Gaussian.bound_s == null and .Cauchy.mean_s == null and
	.Cauchy.variance_s2 == null and .Gumbel.variance_s2 > 0'
holds "and where they come from" '.source == {"file": "gumbel", "length_s": 0}'
is "$(jq -r '.times_s[]' stdout)" "$(cat gumbel)" "and the times as they were"
jq '[.fits[].anderson_darling]' stdout >distances
noise_is 0 "with what the work takes" fit --length 999ms --json - gumbel
jq '[.fits[].anderson_darling]' stdout >distances-less
# shellcheck disable=SC2016 # jq's
ok "the distances stay the same" jq -en --slurpfile a distances \
	--slurpfile b distances-less \
	'[range(1; 4)] | all($a[0][.] / $b[0][.] - 1 | fabs < 1e-3)' >verdict
holds "the location is less" '.fits[2].location_s - 0.001 | fabs < 5e-5'
is "$(jq -r '.times_s[]' stdout)" "$(cat gumbel)" "the times are not"

noise_is 0 "a table" fit --csv c --svg s.svg gumbel
ok "tells the closest" grep -Eqx '  closest fit by Anderson-Darling: Gumbel; Levy is [0-9.e+]+ times as far off' stdout
is "$(awk '/^  (Levy|Gaussian|Gumbel|Cauchy) / { print $1 }' stdout | xargs)" \
	"Levy Gaussian Gumbel Cauchy" "and all of them"
ok "tells p-values" grep -Eqx '    Levy 0[.0-9]*, Gaussian 0[.0-9]*, Gumbel [01][.0-9]*, Cauchy 0.01' stdout
ok "and which are not refused" \
	grep -Eqx '  at 5 %, these times are not refused as (.*, )?Gumbel' stdout
ok "of a queue" grep -q '^  nats from exponential ' stdout
is "$(awk 'length > 80' stdout)" "" "in lines that fit"
is "$(sed 1d c)" "$(cat gumbel)" "the times as a column"
for column in '' '--column time_s'; do
	noise_is 0 "which it reads" fit $column --json - c
	is "$(jq -r '.times_s | length' stdout)" 199 "all of it"
done
holds "as the same" '(.times_s | length) == 199 and .closest == "Gumbel"'
ok "a picture is XML" xmllint --noout s.svg
is "$(grep -c '<circle' s.svg)" $((4 * 199)) "with each time in each panel"

quantiles 199 'p + 0.01' >even
noise_is 0 "times as if there was no work but noise" fit --json - even
holds "have next to no best case" '.fits[0].location_s | . >= 0 and . < 1e-6'

# p-values.
noise_is 0 "p-values" fit --json - gumbel
holds "of each fit" '[.fits[].p_value] | all(. >= 0.01 and . <= 1)'
holds "are high where quantiles are evener than chance" '.fits[2].p_value > 0.9'
holds "and low elsewhere" '.fits[3].p_value == 0.01 and .replicates == 99'
cp stdout once
noise_is 0 "again" fit --json - gumbel
ok "the same" cmp -s once stdout
noise_is 0 "more of them" fit --bootstrap 199 --json - gumbel
holds "are finer" '.replicates == 199 and all(.fits[].p_value * 200;
	. >= 1 and (. - round | fabs) < 1e-9) and .fits[3].p_value < 0.03'
noise_is 0 "none" fit --bootstrap 0 --json - gumbel
holds "are null" '.replicates == 0 and ([.fits[].p_value] == [null, null, null, null])'
noise_is 0 "none in the table" fit --bootstrap 0 gumbel
ok "either" sh -c "! grep -q p-values stdout"

# A histogram: the area of its bars is the share of the times in it.
noise_is 0 "a histogram" fit --histogram h.svg gumbel
ok "is XML" xmllint --noout h.svg
is "$(grep -c '<polyline' h.svg)" 4 "with the four densities"
ok "each bar has its share" awk '
	/class="grid"/ { split($0, a, /[M ]/); n++ }
	/class="bar"/ { match($0, /width="[0-9.]+/); w = substr($0, RSTART + 7, RLENGTH - 7)
		match($0, /height="[0-9.]+/); h = substr($0, RSTART + 8, RLENGTH - 8)
		bars++; area += w * h; if (!first) first = w; if (w != first && \
			w - first > 0.11 || first - w > 0.11) bad = 1 }
	END { exit bad || bars < 10 || area <= 0 }' h.svg
ok "it tells how many are beyond it" grep -q '; 4 of 199 times are longer' h.svg

# Switches: times that are 10 us longer for each.
{
	echo time_s,voluntary_switches,involuntary_switches
	awk 'BEGIN { for (i = 0; i < 200; i++) { n = i * 7 % 5
		printf "%.9g,%d,%d\n", 1e-3 + n * 1e-5 + i * 1e-9, 3, n } }'
} >switched
noise_is 0 "times with switches" fit --bootstrap 0 --json - --csv copy switched
holds "correlate with them" '.switches.involuntary |
	.pearson > 0.999 and .pearson <= 1 and .spearman > 0.97 and (.counts | length) == 200'
holds "not with what is always the same" '.switches.voluntary |
	.pearson == null and .spearman == null and (.counts | unique) == [3]'
is "$(cat copy)" "$(cat switched)" "and are written as they were read"
noise_is 0 "a table of them" fit --bootstrap 0 switched
ok "tells them" grep -Eq '^  involuntary +2 +4 +1 ' stdout
cut -d, -f1 switched >unswitched
noise_is 0 "a table of before there were switches" fit --bootstrap 0 --json - unswitched
holds "has none" '.switches == {"voluntary": null, "involuntary": null} and
	(.times_s | length) == 200'
noise_is 0 "a column of a table with switches" fit --bootstrap 0 --column time_s \
	--json - switched
holds "is the times" '(.times_s | length) == 200'
for row in 1e-3,1 1e-3,1,x 1e-3,1,-1 x,1,1; do
	{ cat switched; echo "$row"; } >bad
	noise_is 125 "a row '$row'" fit bad
	ok "is told by its line" grep -q '^tense: bad:202: ' stderr
done

# The bound of the Levy.
noise_is 0 "a bound" fit --bound 3 --json - gumbel
holds "is what was said" '.fits[0].bound_s == 3'
noise_is 125 "one that is too low" fit --bound 1ms gumbel
ok "is refused" grep -q '^tense: noise: --bound 0.001 s is not over all times: the longest takes 1.0' stderr

# tense noise reads the JSON of tense measure.
jq -Rn '{commands: [{samples: [inputs | tonumber | {elapsed_s: ., process_s: (. / 2)}]}]}' \
	<gumbel >m.json
noise_is 0 "samples of measure" fit --json - m.json
holds "by elapsed time" '.fits[2].location_s - 1 | fabs < 5e-5'
noise_is 0 "or another" fit --column process_s --json - m.json
holds "which is half" '.fits[2].location_s - 0.5 | fabs < 5e-5'
noise_is 125 "one that is not there" fit --column x m.json
tense_said "m.json: sample 1 has no time 'x'"
jq '.commands += .commands' m.json >two.json
noise_is 125 "of two commands" fit two.json
tense_said "two.json: is not of one command: write it with tense measure --json"
echo '{' >bad.json
noise_is 125 "a JSON file that is none" fit bad.json
ok "says where" grep -q '^tense: bad.json:[12]: ' stderr
noise_is 125 "none at all" fit gone.json
ok "says so" grep -q '^tense: .*gone.json: No such file or directory' stderr

# Files that are wrong.
noise_is 125 "no such file" fit gone
tense_said "gone: No such file or directory"
noise_is 125 "a directory" fit .
tense_said ".: Is a directory"
noise_is 125 "no such column" fit --column x c
tense_said "c:1: no column 'x': the first line names the columns"
sed 's/time/other/' c >other
noise_is 125 "a header without a column" fit other
tense_said "other:1: 'other_s' is not a time in seconds: if the first line names columns, say which one with --column"
for time in 0 -1 nan inf 0x1 1s '1 2' 1e999; do
	{ cat gumbel; echo "$time"; } >bad
	noise_is 125 "a time of '$time'" fit bad
	tense_said "bad:200: '$time' is not a time in seconds: if the first line names columns, say which one with --column"
	printf 'x,t\n1,%s\n' "$time" >bad
	noise_is 125 "in a column" fit --column t bad
	tense_said "bad:2: '$time' is not a time in seconds"
done
head -n 19 gumbel >bad
noise_is 125 "19 times" fit bad
tense_said "noise: fewer than 20 times tell nothing of a distribution"
: >bad
noise_is 125 "no times" fit bad
tense_said "noise: fewer than 20 times tell nothing of a distribution"
quantiles 60 'p < 0.4 ? 1 : 1 + p' >bad
noise_is 125 "many equal times" fit bad
tense_said "noise: more than a third of the times are equal: a finer clock is needed, or a longer workload"
noise_is 125 "a full disk" fit --json /dev/full gumbel
tense_said "/dev/full: No space left on device"
noise_is 125 "a file that cannot be written" fit --svg no/file gumbel
tense_said "no/file: No such file or directory: create the directory first"
echo old >kept
noise_is 125 "a fit that fails" fit --json kept bad
is "$(cat kept)" old "leaves the old result"
noise_is 125 "coefficients that cannot be stored" refit --coefficients \
	/dev/null/x
is "$(cat stderr)" "tense: /dev/null/x: Not a directory" \
	"are found before any time is taken"

# Taking times.
cores=$(nproc)
noise_is 0 "times of this machine" fit --length 50us --samples 60 --json -
holds "are as many as asked for" "(.times_s | length) as \$n |
	\$n >= 60 and \$n < 60 + $cores and all(.times_s[]; . > 0)"
holds "by one process on each core" \
	".source | .processes_per_core == 1 and .cores == $cores"
holds "with switches of each" ".switches | [.voluntary, .involuntary] |
	all(.[]; (.counts | length) >= 60 and all(.counts[]; . >= 0))"
holds "of the work that was asked for" '.source | .length_s / 50e-6 - 1 |
	fabs < 0.1'
status_is 0 "five processes on one core" taskset 1 "$tense" noise fit \
	--length 20us --processes-per-core 5 --samples 41 --json -
holds "have nine samples each" '.source.cores == 1 and (.times_s | length) == 45'
noise_is 0 "a table of them" fit --length 20us --samples 40
ok "says what was done" grep -qx "[0-9]* times of nops that take 20 us without noise, 1 process per core, $cores cores\?;" stdout

# Processes that hang about would be the noise of all that is measured later.
"$tense" noise fit --length 10s --processes-per-core 2 >stdout 2>stderr &
parent=$!
children() {
	pgrep -P "$parent" | xargs
}
for _ in $(seq 200); do
	[ "$(children | wc -w)" = $((2 * cores)) ] && break
	sleep 0.05
done
all=$(children)
allowed() {
	for pid in $all; do
		sed -n 's/^Cpus_allowed_list:\t//p' "/proc/$pid/status"
	done | sort -n
}
# Cores with two processes that may run nowhere else.
pairs() {
	allowed | uniq -c | awk '$1 == 2 && $2 !~ /[-,]/' | wc -l
}
for _ in $(seq 200); do
	[ "$(pairs)" = "$cores" ] && break
	sleep 0.05
done
is "$(pairs)" "$cores" "two processes are on each core"
kill -KILL "${all%% *}"
wait "$parent"
is $? 125 "end when one of them is killed"
tense_said "noise: a process was ended by signal 9 (Killed)"
# shellcheck disable=SC2086 # a list
is "$(ps -o pid= -p ${all#* } | xargs)" "" "all of them"
"$tense" noise fit --length 10s >stdout 2>stderr &
parent=$!
for _ in $(seq 200); do
	[ "$(children | wc -w)" = "$cores" ] && break
	sleep 0.05
done
all=$(children)
kill -KILL "$parent"
wait "$parent" 2>/dev/null
for _ in $(seq 200); do
	# shellcheck disable=SC2086 # a list
	[ -z "$all" ] || [ -n "$(ps -o pid= -p $all)" ] || break
	sleep 0.05
done
# shellcheck disable=SC2086 # a list
is "$(ps -o pid= -p ${all:-$$} | xargs)" "" "they end with their parent, too"
# shellcheck disable=SC2086 # a list
[ -z "$all" ] || kill -KILL $all 2>/dev/null

# A refit may have no answer on a busy machine: the calibration may fail, or a fit of the four
# that it needs: OPTION...
refit() {
	for _ in 1 2 3 4 5; do
		"$tense" noise refit "$@"
		refit_status=$?
		[ $refit_status = 125 ] || break
	done
	return $refit_status
}

# Coefficients.
status_is 0 "a refit" refit --processes-per-core 1,3 --length 50us,200us \
	--samples 40 --coefficients sub/dir/c.json
ok "has a line of each in each table" \
	[ "$(awk '$1 == 1 || $1 == 3' stdout | wc -l)" = 12 ]
is "$(awk 'length > 80' stdout)" "" "in lines that fit"
ok "tells where to" grep -qx 'written to sub/dir/c.json' stdout
is "$(jq -c '[.version, .machine, (.cells | length), ([.cells[].processes_per_core] | unique), (.best, .scale, .range | .coefficients | length)]' sub/dir/c.json)" \
	"[1,\"$(uname -n)\",4,[1,3],3,3,3]" "writes them"
is "$(jq -c '[.linear | .best, .scale, .range | .coefficients | length]' sub/dir/c.json)" \
	"[3,3,3]" "in both forms"
ok "says which is better" grep -Eqx "the (log|linear) model predicts the mean better, and predict uses it" stdout
is "$(jq -r .better sub/dir/c.json)" \
	"$(sed -En 's/^the (log|linear) model predicts the mean.*/\1/p' stdout)" "in the file, too"
is "$(jq -c '[.evaluation[] | .classes, .impossible + 0] | length' sub/dir/c.json)" 4 \
	"with the evaluation of each"
is "$(jq -c '[.cells[] | .times >= 40, (.distances | length), (.switches | length),
	has("waits_over_mm1")] | unique' sub/dir/c.json)" '[true,2,4]' "and a summary of each class"
status_is 0 "pictures of a refit" refit --processes-per-core 1,2 --length 50us,100us \
	--samples 40 --bootstrap 0 --coefficients p.json --svg q.svg --queue-svg m.svg
ok "are XML" xmllint --noout q.svg m.svg
is "$(grep -c '<g ' q.svg)" 4 "a panel for each class"
is "$(grep -c '<circle' m.svg)" 4 "a point for each class"
status_is 0 "a picture on standard output" refit --processes-per-core 1,2 \
	--length 50us,100us --samples 40 --bootstrap 0 --coefficients p.json --queue-svg -
ok "is nothing but that" xmllint --noout stdout
noise_is 125 "a picture that cannot be written" refit --svg no/file
tense_said "no/file: No such file or directory: create the directory first"

# Coefficients of a busy machine need not give a distribution for the lengths below.
jq '.better = "log" | .best.coefficients = [-0.1, 0, 1] |
	.scale.coefficients = [-12, 0.3, 0.5] | .range.coefficients = [-2, 0.5, 1] |
	.linear.best.coefficients = [0, 0, 0.95] |
	.linear.scale.coefficients = [1e-9, 1e-9, 1e-4] |
	.linear.range.coefficients = [1e-5, 1e-5, 1]' sub/dir/c.json >known.json
mv known.json sub/dir/c.json
noise_is 0 "a prediction by coefficients" predict --coefficients sub/dir/c.json \
	--processes-per-core 2 --length 70us --json -
holds "is a distribution" '.version == 1 and .processes_per_core == 2 and
	.length_s == 7e-5 and .scale_s > 0 and .bound_s > .location_s and
	.location_s > -.length_s and .coefficients == "sub/dir/c.json"'
noise_is 125 "without any" predict
tense_said "$XDG_DATA_HOME/tense/noise-$(uname -n).json: No such file or directory: tense noise refit writes the coefficients of this machine"
mkdir -p data/tense && cp sub/dir/c.json "data/tense/noise-$(uname -n).json"
noise_is 0 "with those of the machine" predict
ok "a table" grep -q '^  location .* bound ' stdout
jq '.version = 2' sub/dir/c.json >bad.json
# Files of before there was a linear model.
jq 'del(.linear, .better, .evaluation) | .cells |= map(del(.times, .distances))' \
	sub/dir/c.json >old.json
noise_is 0 "a file of an older version" predict --coefficients old.json --json -
holds "has the log model" '.model == "log"'
noise_is 125 "but no other" predict --coefficients old.json --model linear
tense_said "old.json: has no linear model: write it anew with tense noise refit"
# One that is right where it was fitted, and gives no distribution beyond.
jq '.better = "linear" | .linear.scale.coefficients = [-1e-3, 0, 10]' \
	sub/dir/c.json >narrow.json
noise_is 0 "where the better model gives nothing" predict --coefficients narrow.json \
	--length 50us --json -
holds "the log model is taken" '.model == "log"'
is "$(tr -s '\n ' ' ' <stderr)" \
	"tense: noise predict: the linear model gives no Levy distribution for this length and number: the log model is used " \
	"and it says so"
noise_is 125 "unless it was asked for" predict --coefficients narrow.json \
	--length 50us --model linear
ok "which is refused" grep -q 'give no Levy distribution' stderr
for form in log linear; do
	jq ".linear = {best: .best, scale: .scale, range: .range} |
		.linear[].coefficients = [1e-3, 1e-4, 1] | .better = \"$form\"" sub/dir/c.json >better.json
	noise_is 0 "the better model" predict --coefficients better.json --length 100us --json -
	holds "is what it takes" ".model == \"$form\""
done
noise_is 0 "or the one that was asked for" predict --coefficients better.json \
	--length 100us --model log --json -
holds "is that" '.model == "log"'
jq '.linear.range.coefficients = [1]' sub/dir/c.json >bad.json
noise_is 125 "a linear model that is none" predict --coefficients bad.json
tense_said "bad.json: is not a file of coefficients that this version of tense knows: write it with tense noise refit"
for edit in '.version = 2' 'del(.scale)' '.range.coefficients = [1, 2]' \
	'.range.coefficients = [1, 2, 3, 4]' '.best.coefficients[1] = "1"' '[.]'; do
	jq "$edit" sub/dir/c.json >bad.json
	noise_is 125 "a file with $edit" predict --coefficients bad.json
	tense_said "bad.json: is not a file of coefficients that this version of tense knows: write it with tense noise refit"
done
noise_is 125 "one that is no JSON" predict --coefficients gumbel
ok "says so" grep -q '^tense: gumbel:1: ' stderr
noise_is 125 "a refit of one length, before anything is measured" refit --length 1s \
	--samples 20 --processes-per-core 1,2,5,10
tense_said "noise refit: needs two or more lengths and two or more numbers of processes: it has 1 and 4"
noise_is 125 "one that cannot be kept" refit --length 20us,40us --samples 20 \
	--processes-per-core 1,2 --coefficients /proc/no/file
tense_said "/proc/no/file: No such file or directory: create the directory first"

# By hand: 4 processes and 1 ms make a best case of 2 ms, a scale of 10 us and a
# range of 1 ms.
hand="--best 0.6931471805599453,0,1 --scale -12.899219826090119,1,0
	--range -7.600902459542082,0.5,0"
# shellcheck disable=SC2086 # a list
noise_is 0 "coefficients by hand" predict --processes-per-core 4 $hand --json -
holds "make what they say" 'def near(x): . / x - 1 | fabs < 1e-9;
	(.location_s | near(1e-3)) and (.scale_s | near(1e-5)) and
	(.bound_s | near(2e-3)) and .coefficients == null'
# By integrating the density numerically: erfc(1 / sqrt(200)) is 0.920344.
holds "and what follows" 'def near(x): . / x - 1 | fabs < 1e-6;
	(.mean_s - .location_s | near(7.62617471530926e-05)) and (.variance_s2 | near(2.2683855815011813e-08))'
holds "of a queue, too" '.waits_over_mm1 / 0.9665752544917092 - 1 | fabs < 1e-9'
holds "in order" '[.quantiles[].noise_s] | . == sort and
	all(.[]; . > 1e-3 and . < 2e-3)'
# A linear one: 4 processes and 1 ms make a scale of 10 us and a range of 1 ms.
line="--model linear --scale 2e-6,1e-6,4e-3 --range 2e-4,1e-4,0.4"
# shellcheck disable=SC2086 # a list
noise_is 0 "linear coefficients by hand" predict --processes-per-core 4 $line \
	--best 1e-3,0,1 --json -
holds "make what they say" 'def near(x): . / x - 1 | fabs < 1e-9;
	(.location_s | near(1e-3)) and (.scale_s | near(1e-5)) and
	(.bound_s | near(2e-3)) and .model == "linear"'
cp stdout best
# shellcheck disable=SC2086 # a list
noise_is 0 "with a location" predict --processes-per-core 4 $line \
	--location 1e-3,0,0 --json -
ok "the same" [ "$(jq '.mean_s * 1e12 | round' stdout)" = \
	"$(jq '.mean_s * 1e12 | round' best)" ]
# shellcheck disable=SC2086 # a list
noise_is 125 "both" predict $line --location 1,2,3 --best 1,2,3
tense_said "noise predict: --best and --location exclude each other"
noise_is 125 "a location without the rest" predict --model linear --location 1,2,3
tense_said "noise predict: --location, --scale and --range are needed together"
noise_is 125 "a location of the log model" predict --location 1,2,3 --scale 1,2,3 \
	--range 1,2,3
tense_said "noise predict: --location is for --model linear: a location may be negative and has no logarithm"
noise_is 125 "a linear scale below 0" predict --model linear --best 0,0,1 \
	--scale -1,0,0 --range 1,0,0
ok "is refused" grep -q 'these coefficients give no Levy distribution of times: the best case is [-+.0-9e]* s, which must be above 0, the scale is -1 s' stderr
noise_is 125 "a best case below 0" predict --model linear --best=-1e-3,0,1 \
	--scale 1e-6,0,0 --range 1e-3,0,0 --length 500us
ok "is refused" grep -q 'the best case is -0.0005 s' stderr
noise_is 125 "the model of the paper" predict --model paper
tense_said "noise: the coefficients of the paper are not part of this program: with --model linear, give them by --location, --scale and --range"
noise_is 125 "another model" predict --model square
tense_said "noise: --model 'square' is not log or linear"
noise_is 125 "half of them" predict --scale 1,2,3
tense_said "noise predict: --best, --scale and --range are needed together"
# shellcheck disable=SC2086 # a list
noise_is 125 "beside a file" predict $hand --coefficients sub/dir/c.json
tense_said "noise predict: --coefficients and coefficients by hand exclude each other"
noise_is 125 "a scale that is too large" predict --best 0,0,1 --scale 10,0,0 \
	--range 0,0,0
ok "is refused" grep -q '^tense: noise predict: these coefficients give no Levy distribution of times: the best case is [-+.0-9e]* s, which must be above 0, the scale is 2.2e+04 s, and the range is 1 s' stderr
for law in 1 1,2 1,2,3,4 1,2,x 1,,3 '' nan,1,2; do
	noise_is 125 "--best '$law'" predict --best "$law" --scale 1,2,3 \
		--range 1,2,3
	tense_said "noise: --best '$law' is not three numbers: write it as in -7,0.5,1"
done

# Misuse.
noise_is 125 "two on standard output" fit --samples 20 --json - --csv -
tense_said "noise: only one file can be written to -, standard output"
noise_is 125 "nothing to do"
tense_said "noise: say what to do: fit, refit or predict"
noise_is 125 "an unknown thing to do" fits
tense_said "noise: 'fits' is not what it can do: see tense noise --help"
noise_is 125 "an unknown option" fit --fast
tense_said "noise: unknown option '--fast': see tense noise --help"
noise_is 125 "an option without its argument" fit --json --csv
tense_said "noise: --json needs an argument, but '--csv' is an option: see tense noise --help"
for option in --svg --histogram --queue-svg; do
	noise_is 125 "an option of another" predict $option x
	tense_said "noise predict: takes no $option: see tense noise --help"
done
noise_is 125 "a picture of refit" fit --queue-svg x gumbel
tense_said "noise fit: takes no --queue-svg: see tense noise --help"
noise_is 125 "a picture of fit" refit --histogram x
tense_said "noise refit: takes no --histogram: see tense noise --help"
noise_is 125 "and of another" refit --bound 1s
tense_said "noise refit: takes no --bound: see tense noise --help"
noise_is 125 "two files" fit a b
tense_said "noise fit: takes no argument 'b': see tense noise --help"
noise_is 125 "a file to predict" predict a
tense_said "noise predict: takes no argument 'a': see tense noise --help"
for n in 0 21 x -1 1.5 ''; do
	noise_is 125 "--processes-per-core '$n'" fit --processes-per-core "$n"
	tense_said "noise: --processes-per-core '$n' is not a number from 1 to 20"
done
for time in 0 0.9us 11s x 1y '' -1ms; do
	noise_is 125 "--length '$time'" fit --length "$time"
	tense_said "noise: --length '$time' is not a time from 1us to 10s"
done
for n in 19 1000001 x ''; do
	noise_is 125 "--samples '$n'" fit --samples "$n"
	tense_said "noise: --samples '$n' is not a number from 20 to 1000000"
done
for n in -1 x 100001 1.5 ''; do
	noise_is 125 "--bootstrap '$n'" fit --bootstrap "$n" gumbel
	tense_said "noise: --bootstrap '$n' is not a number from 0 to 100000"
done
for time in 0 x ''; do
	noise_is 125 "--bound '$time'" fit --bound "$time" gumbel
	tense_said "noise: --bound '$time' is not a time: write it as in 500us or 20ms"
done
noise_is 125 "a list for fit" fit --length 1ms,2ms
tense_said "noise fit: --processes-per-core and --length are one each: lists are for refit"
noise_is 125 "too many lengths" refit --length "$(seq -s s, 10)s,$(seq -s s, 10)s,1s"
tense_said "noise: --length: more than 20 times"
noise_is 125 "samples of a file" fit --samples 30 gumbel
tense_said "noise fit: --processes-per-core and --samples are for times that it takes, not for those of a file"
noise_is 125 "a column of nothing" fit --column x
tense_said "noise fit: --column is of a file: name the file, too"
done_testing
