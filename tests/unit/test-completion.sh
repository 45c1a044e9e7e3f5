#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# bash completes a tense command line to all that --help tells, and nothing
# else. The parser and the manual pages know the same options.
set -u
export LC_ALL=C
. "$source/tests/lib/tap.sh"

tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
cd "$tmp" || exit 1
mkdir dir && echo >file.json && printf '#!/bin/sh\n' >prog && chmod +x prog ||
	exit 1
cat >complete.bash <<'END'
# WORD...: what the last of them can become
. "$1" || exit 1
shift
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
_tense
[ "${#COMPREPLY[@]}" = 0 ] || printf '%s\n' "${COMPREPLY[@]}"
END

# WORD...
completed() {
	bash --norc complete.bash "$source/tools/cli/tense.bash" "$tense" "$@" \
		2>stderr | sort -u | xargs
}

is "$(completed '')" \
	"$({ printf '%s\n' --help --version; "$tense" --help |
		sed -n '/^Commands:/,/^$/s/^  \([a-z-]*\) .*/\1/p'; } | sort | xargs)" \
	"the commands are those of --help"
is "$(completed f)" functions "and one may be begun"
for command in run trace profile whatif functions measure check; do
	is "$(completed "$command" -)" \
		"$({ [ "$command" = check ] || echo --
			"$tense" "$command" --help |
			grep -Eo '^ +-(-[a-z-]+|o)' | tr -d ' '; } | sort -u |
			xargs)" \
		"the options of $command are those of --help"
	# A word that would be the option's argument is not taken for a command.
	for option in $("$tense" "$command" --help |
		sed -En 's/^ +(--[a-z-]+|-o) [A-Z].*/\1/p'); do
		is "$(completed "$command" "$option" file -- ./pro)" ./prog \
			"$command $option has an argument"
	done
	for option in $("$tense" "$command" --help |
		sed -En 's/^ +(--[a-z-]+)   *[a-z].*/\1/p'); do
		[ "$command" != check ] || continue
		is "$(completed "$command" "$option" -- ./pro)" ./prog \
			"$command $option has none"
	done
done
is "$(completed run --ba)" --backend "an option may be begun"
is "$(completed run --backend '')" "auto native qemu uml" "its values"
is "$(completed whatif --metric st)" "stderr: stdout:" "those of --metric"
is "$(completed trace --axis v)" virtual "those of --axis"
is "$(completed trace -o fi)" file.json "files of -o"
is "$(completed whatif --report fi)" file.json "files"
is "$(completed whatif --svg fi)" file.json "and pictures"
is "$(completed whatif --json fi)" file.json "also those that may be left out"
is "$(completed whatif --json --st)" --stats "or are"
is "$(completed whatif --json = fi)" file.json "behind a ="
is "$(completed whatif --json =)" "complete.bash dir file.json prog stderr" \
	"of any name"
is "$(completed run --rw '')" dir "directories"
is "$(completed functions --json --o)" --object "functions --json takes no file"
is "$(completed run ./pr)" ./prog "a command"
is "$(completed run --ex)" --experiment "the name of an experiment"
is "$(completed shell --ex)" --experiment "also of a shell's"
is "$(completed shell --p)" "" "a shell takes no percent"
is "$(completed shell ./prog fi)" file.json "but has arguments"
is "$(completed run --stats -- ./pr)" ./prog "behind dashes"
is "$(completed run ./prog fi)" file.json "its arguments"
is "$(completed run ./prog --s)" "" "which have no options of ours"
is "$(completed kernel remove --)" "--all --help --unused" \
	"options of kernel remove"
is "$(completed kernel list --)" "--help --json" "of kernel list"
is "$(completed kernel build --a)" "" "kernel build takes none"
is "$(completed kernel l)" list "and what it does"
is "$(completed functions pattern -- ./prog fi)" file.json \
	"behind the patterns of functions"
is "$(completed help me)" measure "a command to be helped with"
is "$(completed help me me)" "" "one"
is "$(completed measure --json fi)" file.json "files of measure"
is "$(completed measure --protocol k)" k-best "a protocol"
is "$(completed measure --cutoffs fi)" file.json "and of cutoffs"
is "$(completed measure --compare ./pr)" ./prog "commands to compare"
is "$(completed daemons -)" "$("$tense" daemons --help |
	grep -Eo '^ +--[a-z-]+' | tr -d ' ' | sort -u | xargs)" \
	"the options of daemons are those of --help"
is "$(completed trace-activity -)" "$("$tense" trace-activity --help |
	grep -Eo '^ +--[a-z-]+' | tr -d ' ' | sort -u | xargs)" \
	"the options of trace-activity are those of --help"
is "$(completed trace-activity --interval-error --j)" --json \
	"also behind one without an argument"
is "$(completed trace-activity --svg fi)" file.json "its files"
is "$(completed trace-activity --json fi)" file.json \
	"also those that may be left out"
is "$(completed trace-activity --duration 2s --sv)" --svg \
	"a number is not completed, what follows is"
is "$(completed daemons cut)" cutoffs "what it does"
is "$(completed daemons learn --svg fi)" file.json "a picture of it"
is "$(completed daemons learn --samples --j)" "" "a number of samples"
is "$(completed daemons show --plot --j)" --json "what is shown"
is "$(completed daemons cutoffs --short-l fi)" file.json "files of its tables"
is "$(completed daemons cutoffs --samples --j)" --json "behind which are options"
is "$(completed noise -)" "$("$tense" noise --help |
	grep -Eo '^ +--[a-z-]+' | tr -d ' ' | sort -u | xargs)" \
	"the options of noise are those of --help"
is "$(completed noise re)" refit "what it does"
is "$(completed noise fit fi)" file.json "files of times"
is "$(completed noise fit --svg fi)" file.json "and of pictures"
is "$(completed noise fit --quiet --j)" --json "behind which are options"
is "$(completed noise refit --c)" --coefficients "options of noise refit"
is "$(completed noise fit --c)" "--column --csv" "are not those of noise fit"
is "$(completed noise predict --s)" --scale "or those of noise predict"
is "$(completed version '')" "" "nothing to complete"
is "$(completed kernel build u)" uml "a back end whose kernel is built"
is "$(completed functions pattern '')" -- "dashes behind patterns"

# WORD...: options of the table that the parser does not know, or whose names the
# manual page lacks.
untold() {
	"$tense" --completion "$@" | while read -r option _; do
		case $option in
		-|--) continue ;;
		esac
		"$tense" "$@" "$option" --help 2>&1 | grep -o 'unknown option.*'
		grep -Eq -e "$(echo "$option" | sed 's/-/\\\\-/g')([^a-z\\]|[\\][^-]|$)" \
			"$source/tools/man/tense-$1.1" || echo "$option"
	done
}
for words in $("$tense" --completion help | cut -d ' ' -f 3-) \
	"daemons learn" "daemons show" "daemons cutoffs" \
	"kernel build" "kernel list" "kernel remove" \
	"noise fit" "noise refit" "noise predict"; do
	# shellcheck disable=SC2086 # two words
	is "$(untold $words)" "" \
		"$words takes all options of its table, and its manual tells them"
done
is "$(cat stderr)" "" "without a message"
done_testing
