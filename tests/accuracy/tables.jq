# SPDX-License-Identifier: GPL-2.0
#
# A table of a document, $table, from the result that $command left.

include "stats";

def fixed($digits):
	(. * pow(10; $digits) | round) as $n | ($n | fabs | tostring) |
	("0" * ($digits + 1 - length) // "") + . |
	(if $n < 0 then "-" else "" end) + .[:length - $digits] +
	if $digits > 0 then "." + .[length - $digits:] else "" end;

def sign($digits): (if . > 0 then "+" else "" end) + fixed($digits);

def signed: sign(2);

# Three digits that count.
def short: fixed(if . == 0 then 0 else [0, 2 - (fabs | log10 | floor)] | max end);

def interval: "\(.value | fixed(2)) [\(.low | fixed(2)) \(.high | fixed(2))]";

def size: .error.value | fabs;

def row: "| " + join(" | ") + " |";

# HEAD, [ROW...]
def table($head): ($head | row), "|" + "---|" * ($head | length), (.[] | row);

def group($name):
	[.cases[] | select(.group == $name)] | sort_by(.name, .cut) |
	if . == [] then error("has no cases of the group \($name)") else . end;

def case: "`\(.name)`, \(.cut) %";

# "3 of 40": how many of the cases fulfil the condition.
def count(condition): "\(map(select(condition)) | length) of \(length)";

def worst:
	if . == [] then "none" else max_by(size) | "\(size | fixed(2)) points (\(case))" end;

def predictions:
	map(["`\(.name)`", "\(.cut) %", (.predicted | interval), (.true | interval),
	     (.error.value | signed), "\(.error.low | signed) to \(.error.high | signed)",
	     (.verdict | gsub("-"; " "))]) |
	table(["", "less work", "predicted, % faster", "true, % faster",
	       "error, points", "its 95 % interval", "verdict"]);

def summary:
	[["predictions", "\(length)"],
	 ["median error", "\(map(size) | median | fixed(2)) points"],
	 ["worst", worst],
	 ["worst with the verdict \"prediction\"",
	  (map(select(.verdict == "prediction")) | worst)],
	 ["error within 1 point, but \"not trusted\"",
	  (map(select(size <= 1)) | count(.verdict == "not-trusted"))],
	 ["error within 1 point, but \"not converged\"",
	  (map(select(size <= 1)) | count(.verdict == "not-converged"))],
	 ["error over 2 points, but \"prediction\"",
	  (map(select(size > 2)) | count(.verdict == "prediction"))],
	 ["interval of the error without 0, but \"prediction\"",
	  (map(select(.error.low > 0 or .error.high < 0)) |
	   count(.verdict == "prediction"))]] |
	table(["figure", "measured"]);

# All cuts of a workload are variants of one answer, with one null experiment.
def bias:
	group_by([.name, .bias]) |
	(map(.[0].bias.value | fabs)) as $sizes |
	(map(["`\(.[0].name)`", (map("\(.cut)") | join(", ")) + " %",
	      (.[0].bias | interval)]) |
	 table(["", "less work", "bias, % slower, and its 95 % interval"])),
	"",
	"Size of the bias: median \($sizes | median | fixed(2)) %, worst \($sizes | max |
	fixed(2)) %. The interval excludes 0 for \(map(.[0].bias) |
	count(.low > 0 or .high < 0)).";

def instruments:
	map(["`\(.name)`", (.error | interval)]) |
	table(["", "% faster with the instruments, and its 95 % interval"]);

def exact:
	(.cases | map(["`\(.name)`", "\(.cut) %"] + if .error then
		[(.predicted | fixed(2)), (.true | fixed(2)), (.error | signed)]
		else ["-", "-", "failed"] end) |
	 table(["", "less work", "predicted, % faster", "true, % faster", "error, points"])),
	"",
	([.cases[] | select(.error)] | map(.error |= { value: . }) |
	 "\(length) predictions: median error \(map(size) | median |
	fixed(2)) points, worst \(worst).");

def figures:
	.figures | map((.unit | if . == "" then . else " " + . end) as $unit |
		[.title] + if .samples == 0 then ["-", "-"] else
		["\(.value | short)\($unit)", "\(.low | short) to \(.high | short)"] end +
		["\(.target)\($unit)",
		 if .samples == 0 then "missing" elif .reached then "yes" else "no" end]) |
	table(["figure", "measured", "95 % interval", "aim", "reached"]);

# Rows of [TITLE, [NUMBER, TEXT], AIM]; the aim is null if there is none. Results from
# before charges at percent 80 and beside an outsider were counted lack two rows.
def costs:
	.figures as $f |
	def plain($digits): [., fixed($digits)];
	def more($digits): [., sign($digits)];
	def over($name; $new; $old): $f[$name][$new] - $f[$name][$old];
	def charge($by; $new; $old; $digits): over($by; $new; $old) | more($digits);
	"charge_by_reading_cpu_time" as $reading |
	[["a charge of a task outside, module not loaded, over a kernel without the patches: by yielding",
	  charge("yield_alone"; "unloaded"; "plain"; 1), 2],
	 ["the same by reading CPU time, which is a hook of its own",
	  charge($reading; "unloaded"; "plain"; 1), 2],
	 ["a charge of a task beside an experiment over a kernel without the patches: by yielding",
	  charge("yield_alone"; "loaded"; "plain"; 1), 10],
	 ["the same by reading CPU time", charge($reading; "loaded"; "plain"; 1), 10],
	 ["a charge in an experiment over one beside it, no ring: by yielding",
	  charge("yield_alone"; "inside"; "loaded"; 0), 150],
	 ["the same by reading CPU time", charge($reading; "inside"; "loaded"; 0), 150],
	 ["the same with a ring",
	  ($f.charge_with_an_area.inside - $f[$reading].loaded | more(0)), null],
	 if $f.charge_at_percent_80 then
	 ["a charge in an experiment at percent 80 over one beside it, no ring",
	  ($f.charge_at_percent_80.inside - $f[$reading].loaded | more(0)), 170] else empty end,
	 if $f.charge_beside_an_outsider then
	 ["a charge in an experiment over one beside it, with a task outside in the queue",
	  charge("charge_beside_an_outsider"; "inside"; "loaded"; 0), 220] else empty end,
	 ["a change of percent by the ring: in the program",
	  ($f.two_percents_written_to_the_ring.inside / 2 | plain(0)), 40],
	 ["the same with the kernel's reading of it",
	  ($f.two_percents_by_the_ring.inside / 2 | plain(0)), 90],
	 if $f.function_entry_and_exit then
	 ["entry and exit of a redirected function, in the program",
	  ($f.function_entry_and_exit.inside | plain(0)), 100],
	 ["a call that such a function makes to itself",
	  ($f.function_calls_itself.inside | plain(0)), 100] else empty end,
	 ["a change of percent by a system call",
	  ($f.percent_by_system_call.inside | plain(0)), 1500],
	 ["a wake-up and a switch in an experiment over outside",
	  (over("wake_up_and_switch_twice"; "inside"; "loaded") / 2 | more(0)), 500],
	 ["a sleep beside 100000 timers over one beside 100, in an experiment: ratio",
	  ($f.sleep_beside_100000.inside / $f.sleep_beside_100.inside | plain(3)), 2.5],
	 ["fork, exit and wait in an experiment over without the patches: ratio",
	  ($f.fork_and_exit.inside / $f.fork_and_exit.plain | plain(2)), null],
	 ["to wait at a gate and be released, as far as the tasks themselves run for it",
	  ($f.gate_and_release.inside | plain(0)), 5000]] |
	map(. as [$title, [$value, $text], $aim] |
		[$title, $text] + if $aim == null then ["", ""] else
			["\($aim)", if $value <= $aim then "yes" else "no" end] end) |
	table(["figure", "instructions", "aim", "reached"]);

# Errors of a prediction and real time of an experiment, by window.
def windows:
	.cases | group_by(.window_us) |
	map(. as $of | ($of | map(.real_time_ratio)) as $real |
		["\($of[0].window_us) us", "\($real | min | fixed(3)) to \($real | max | fixed(3))",
		 ({ "20": "1.08", "100": "1.02", "500": "1.01" }["\($of[0].window_us)"] // ""),
		 ($of | map(.error_points | fabs) | max | fixed(2))]) |
	table(["window", "real time at percent 100 over outside, least and most of the programs",
	       "aim", "worst error of a prediction, points"]);

def with_unit($unit): if . == null then "cannot be used" else "\(fixed(3)) \($unit)" end;

def tools:
	[.works[] | .work as $work | .tools[] |
	 [$work, .tool, (.unit as $unit | (.alone, .beside) | with_unit($unit)),
	  (if .error_percent == null then "-" else .error_percent | sign(1) end)]] |
	table(["work", "tool", "alone", "beside two", "error, %"]);

def learnt:
	if .cutoff_ms == null then "`tense daemons learn` did not name the periodic process"
	else "`tense daemons learn` named the periodic process, with a cutoff of \(.cutoff_ms) ms" end +
	(if .period_s then ", and its period of \(.period_s | fixed(2)) s +- \(.period_error_s |
	fixed(2))" else ", and no period of it" end) + ", in \(.took_s) s.";

def periodic:
	(.lengths | map(["\(.length_s) s", "\(.samples)", "\(.dropped)",
		(.elapsed_ms | fixed(1)), (.process_ms | fixed(1)), (.loops_ms | fixed(1))]) |
	 table(["counting for", "samples", "dropped", "deviation of elapsed time, all samples, ms",
		"of process time by EMP, ms", "of reference loops by EMP, ms"])),
	"", (.learnt | learnt);

def kbest:
	.loads | map(["\(.load)", "\(.known) of \(.lengths)", "\(.converged)", "\(.within)",
		(if .worst_percent == null then "-" else .worst_percent | fixed(2) end)]) |
	table(["load", "cost known", "of these, converged", "of these, off by at most 0.1 %",
	       "the worst, %"]);

# The least cost of a timer interrupt, by both ways. K-best found none where it is null.
def ticks:
	.loads | map(["\(.load)", "\(.found) of \(.rounds)",
		(.kbest_ns, .trace_ns | if . == null then "-" else . / 1000 | fixed(1) end),
		(if .ratio == null then "-" else .ratio | fixed(2) end), "\(.above)"]) |
	table(["other processes", "K-best found a cost", "the least by K-best, us",
	       "the least by trace-activity, us", "ratio", "K-best above it"]);

def families: ["Levy", "Gaussian", "Gumbel", "Cauchy"];

# How often each distribution was the closest, by length of the work.
def distances:
	[.cases | group_by(.work)[] | sort_by(.processes_per_core) | . as $of |
	 ($of | map(.anderson_darling | numbers)) as $closest |
	 [$of[0].work] +
	 (families | map(. as $f | "\([$of[] | select(.closest == $f)] | length)")) +
	 ["\($closest | min | short), \($closest | max | short)"]] |
	sort_by(.[0] / " " | .[1] == "ms", (.[0] | tonumber)) |
	table(["work", "Levy, truncated", "Gaussian", "Gumbel", "Cauchy",
	       "statistic of the closest, least and most"]);

# Functions that a patch makes cheaper. An error has an interval, because the truth and
# the cut are estimates.
def parsec:
	(.cases | map(["`\(.name)`", "`\(.function)`", .change, (.share | fixed(1)), (.cut | interval),
		(.predicted | interval), (.true | interval), (.error.value | signed),
		"\(.error.low | signed) to \(.error.high | signed)",
		(.verdict | gsub("-"; " ")), (if .published then "\(.published)" else "-" end)]) |
	 table(["case", "function", "patch", "time in it, %", "it takes less, %", "predicted, % faster",
		"true, % faster", "difference, points", "its 95 % interval", "verdict",
		"published, % faster"])),
	"",
	(.cases | map(size) |
	 "\(length) predictions: median difference \(median | fixed(2)) points, worst \(max | fixed(2)) points.");

# What a profile says of functions with known gains.
def order:
	def errors($cut): [.[][$cut] | select(.predicted and .true) | .predicted - .true | fabs];
	def numbers($cut): errors($cut) | length as $n |
		if $n == 0 then ["-", "-"] else [(median | fixed(2)), (max | fixed(2))] end;
	def holds: map(.half | select(.low)) |
		"\(map(select(.low <= .true and .true <= .high)) | length) of \(length)";
	(.programs | map(["`\(.name)`", (.tau | if . then fixed(2) else "-" end), "\(.pairs)"] +
		(.functions | numbers("half") + numbers("tenth") + [holds])) |
	 table(["program", "tau", "pairs", "50 % faster: median error, points", "worst",
		"10 % faster: median error", "worst", "intervals that hold the truth"])),
	"",
	([.programs[].functions[]] as $all |
	 "All \(.programs | length) programs: tau \([.programs[].tau | numbers] | add / length | fixed(2)) on average; error at 50 % median \($all | numbers("half") | join(", worst ")), at 10 % median \($all | numbers("tenth") | join(", worst ")) points; \($all | holds) intervals hold the truth. Twice the standard error of the truth at 50 %: \($all | map(.half.true_error) | "median \(median | fixed(2)), worst \(max | fixed(2))") points.");

# The cost of a survey.
def survey:
	.programs | map(["`\(.name)`", "\(.pairs)", (.more_percent | fixed(2)),
		(.error_percent | fixed(2)), (.exact_more_percent | fixed(2)),
		(.work_percent | fixed(2))]) |
	table(["program", "pairs of runs", "more virtual CPU time, %", "standard error",
		"with `--deterministic`, %", "the survey's own work, % of the run"]);

def measured:
	if .date == null then
		"Measured by `\($command)`. Its result names no date, machine or commit."
	else
	"Measured by `\($command)` on \(.date[:10]), \(.date[11:16]) UTC. Commit " +
	"\(.commit // "unknown"); \(.machine.cpu), \(.machine.cpus) CPUs, " +
	"\(.machine.system) \(.machine.release), load before \(.machine.load[0])" +
	(if .rounds then "; \(.rounds) rounds of each truth" else "" end) +
	(if .length then "; workloads at \(.length) % of their length" else "" end) +
	(if .samples then "; \(.samples) times of each work" else "" end) + "." end;

measured, "",
($table | sub("^accuracy-[0-9]+-"; "accuracy-")) as $table |
if $table == "accuracy-workloads" then group("workloads") | predictions
elif $table == "accuracy-workloads-summary" then group("workloads") | summary
elif $table == "accuracy-workloads-bias" then group("workloads") | bias
elif $table == "accuracy-programs" then group("programs") | predictions
elif $table == "accuracy-programs-summary" then group("programs") | summary
elif $table == "accuracy-programs-bias" then group("programs") | bias
elif $table == "accuracy-instruments" then group("instruments") | instruments
elif $table == "accuracy-exact-whatif" then .cases | predictions
elif $table == "accuracy-exact-whatif-summary" then .cases | summary
elif $table == "accuracy-exact-whatif-bias" then .cases | bias
elif $table | startswith("parsec-") then parsec
elif $table | startswith("order-") then order
elif $table == "survey" then survey
elif $table == "bench" then figures
elif $table == "bench-cost" then costs
elif $table == "window" then windows
elif $table == "bench-measure-tools" then tools
elif $table == "bench-measure-periodic" then periodic
elif $table | startswith("bench-measure-kbest") then kbest
elif $table | startswith("bench-measure-ticks") then ticks
elif $table == "bench-noise" then distances
else exact end
