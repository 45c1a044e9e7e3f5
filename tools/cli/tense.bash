# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Completion of tense(1) for bash: subcommands, options and what they take, and
# the command that tense is to run.

# COMPREPLY from a list of words.
_tense_words() {
	mapfile -t COMPREPLY < <(compgen -W "$1" -- "$2")
}

_tense_files() { # compgen's option, WORD
	compopt -o filenames 2>/dev/null
	mapfile -t COMPREPLY < <(compgen "$1" -- "$2")
}

_tense_options() { # SUBCOMMAND
	case $1 in
	run)
		echo --backend --cpus --memory --percent --clock --idle \
			--window --deterministic --file --rw --stats --json --real \
			--device --help --
		;;
	trace)
		echo -o --axis --buffer --json --quiet --backend --cpus \
			--memory --percent --clock --idle --window --deterministic \
			--file --rw --help --
		;;
	whatif)
		echo --func --faster --slower --each --metric --progress \
			--latency --precision --max-runs --prepare --input \
			--ignore-failure --show-output --quiet --seed --stats \
			--json --csv --report --from --deterministic --runs --file \
			--backend --cpus --memory --rw --percent --clock --idle \
			--window --help --
		;;
	functions)
		echo --all --object --json --help --
		;;
	check)
		echo --json --help
		;;
	measure)
		echo --compare --protocol --k --epsilon --runs --warmup --cutoffs \
			--tune --restore --timeout --prepare --input --ignore-failure --show-output --quiet \
			--json --csv --markdown --help --
		;;
	trace-activity)
		echo --duration --threshold --cpu --load --periods \
			--interval-error --json --csv --svg --help
		;;
	daemons)
		echo learn show cutoffs --task-length --samples --long-length \
			--long-samples --periods --cutoffs --csv --quiet --plot --svg \
			--short-central --short-l --long-central --long-l --json --help
		;;
	noise)
		echo fit refit predict --processes-per-core --length --samples \
			--bound --column --coefficients --best --scale --range \
			--quiet --json --csv --svg --help
		;;
	kernel)
		echo build list remove uml qemu --json --unused --all --help
		;;
	esac
}

# Does an option of a subcommand take the next word?
_tense_takes_word() { # SUBCOMMAND OPTION
	case $1$2 in
	functions--json|check--json|kernel--json|daemons--json|daemons--plot)
		return 1
		;;
	daemons--samples)
		[[ ${COMP_WORDS[2]-} == learn ]]
		return
		;;
	*--each|*--ignore-failure|*--show-output|*--quiet|*--stats|*--real|\
	*--device|*--compare|*--tune|*--restore|*--help|*--all|*--unused|\
	*--deterministic|*--interval-error)
		return 1
		;;
	*--*|trace-o)
		return 0
		;;
	esac
	return 1
}

_tense_argument() { # OPTION WORD
	case $1 in
	--backend)
		_tense_words "auto native uml qemu" "$2"
		;;
	--clock)
		_tense_words "all monotonic none ordered unordered" "$2"
		;;
	--protocol)
		_tense_words "emp k-best" "$2"
		;;
	--idle)
		_tense_words "real skip" "$2"
		;;
	--axis)
		_tense_words "real virtual" "$2"
		;;
	--metric)
		_tense_words "elapsed cpu stdout: stderr:" "$2"
		[[ ${COMPREPLY[0]-} != *: ]] || compopt -o nospace 2>/dev/null
		;;
	--processes-per-core)
		_tense_words "1 2 5 10 20" "$2"
		;;
	--rw)
		_tense_files -d "$2"
		;;
	-o|--json|--csv|--markdown|--svg|--cutoffs|--coefficients|--report|--from|--input|--object|--file|--*-central|--*-l)
		_tense_files -f "$2"
		;;
	--prepare)
		_tense_files -c "$2"
		;;
	esac
}

# Where the command begins that is to be run, or where it would be: 0 for not yet.
_tense_find_command() { # SUBCOMMAND
	local i word

	for ((i = 2; i < COMP_CWORD; i++)); do
		word=${COMP_WORDS[i]}
		if [[ $word == -- ]]; then
			echo $((i + 1))
			return
		elif [[ ${COMP_WORDS[i + 1]-} == = ]]; then
			((i += 2))
		elif [[ $word == -* ]]; then
			if _tense_takes_word "$1" "$word"; then
				((i++))
			fi
		elif [[ $1 != functions && $1 != kernel && $1 != daemons &&
			$1 != noise && $1 != trace-activity ]]; then
			echo "$i"
			return
		fi
	done
	echo 0
}

_tense_command() { # its place
	if declare -F _command_offset >/dev/null; then
		_command_offset "$1"
	elif [[ $1 == "$COMP_CWORD" ]]; then
		_tense_files -c "${COMP_WORDS[COMP_CWORD]}"
	else
		_tense_files -f "${COMP_WORDS[COMP_CWORD]}"
	fi
}

_tense() {
	local command=${COMP_WORDS[1]-} word=${COMP_WORDS[COMP_CWORD]-}
	local before=${COMP_WORDS[COMP_CWORD - 1]-} at

	COMPREPLY=()
	if [[ $COMP_CWORD == 1 ]]; then
		_tense_words "run trace whatif functions measure noise trace-activity daemons \
			kernel check version help --help --version" "$word"
		return
	fi
	if [[ $command == help ]]; then
		[[ $COMP_CWORD != 2 ]] || _tense_words "run trace whatif functions measure noise trace-activity daemons \
			kernel check" "$word"
		return
	fi
	at=$(_tense_find_command "$command")
	if [[ $at != 0 ]]; then
		case $command in
		run|trace|whatif|functions|measure)
			_tense_command "$at"
			;;
		esac
		return
	fi
	# The shell makes three words of --json=file.
	if [[ $word == = ]]; then
		_tense_argument "$before" ""
	elif [[ $before == = ]]; then
		_tense_argument "${COMP_WORDS[COMP_CWORD - 2]}" "$word"
	elif [[ $before == -* ]] && _tense_takes_word "$command" "$before" &&
	     [[ $before != --json || $word != -* ]]; then
		_tense_argument "$before" "$word"
	elif [[ $command == noise && $word != -* && $COMP_CWORD -gt 2 ]]; then
		_tense_files -f "$word"
	elif [[ $word == -* || $command == check || $command == functions ||
		$command == kernel || $command == daemons ||
		$command == noise || $command == trace-activity ]]; then
		_tense_words "$(_tense_options "$command")" "$word"
	elif [[ $command == run || $command == trace ||
		$command == whatif || $command == measure ]]; then
		_tense_command "$COMP_CWORD"
	fi
}

complete -F _tense tense
