# SPDX-License-Identifier: GPL-2.0
#
# A table of a document, $table, from the result that $command left.

def fixed($digits):
	(. * pow(10; $digits) | round) as $n | ($n | fabs | tostring) |
	("0" * ($digits + 1 - length) // "") + . |
	(if $n < 0 then "-" else "" end) + .[:length - $digits] +
	if $digits > 0 then "." + .[length - $digits:] else "" end;

def signed: (if . > 0 then "+" else "" end) + fixed(2);

# Three digits that count.
def short: fixed(if . == 0 then 0 else [0, 2 - (fabs | log10 | floor)] | max end);

def interval: "\(.value | fixed(2)) [\(.low | fixed(2)) \(.high | fixed(2))]";

def median: sort | (.[length / 2 | floor] + .[(length - 1) / 2 | floor]) / 2;

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

def measured:
	"Measured by `\($command)` on \(.date[:10]), \(.date[11:16]) UTC. Commit " +
	"\(.commit // "unknown"); \(.machine.cpu), \(.machine.cpus) CPUs, " +
	"\(.machine.system) \(.machine.release), load before \(.machine.load[0])" +
	(if .rounds then "; \(.rounds) rounds of each truth" else "" end) +
	(if .length then "; workloads at \(.length) % of their length" else "" end) + ".";

measured, "",
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
elif $table == "bench" then figures
else exact end
