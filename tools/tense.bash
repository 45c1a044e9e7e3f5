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
		echo --backend --cpus --memory --percent --clock --idle --rw \
			--stats --json --real --device --help --
		;;
	whatif)
		echo --func --faster --slower --each --metric --progress \
			--latency --precision --max-runs --prepare --input \
			--ignore-failure --show-output --quiet --seed --stats \
			--json --csv --report --from --backend --cpus --memory --rw \
			--help --
		;;
	functions)
		echo --all --object --json --help --
		;;
	check)
		echo --json --help
		;;
	kernel)
		echo build list remove uml qemu --json --unused --all --help
		;;
	esac
}

# Does an option of a subcommand take the next word?
_tense_takes_word() { # SUBCOMMAND OPTION
	case $1$2 in
	functions--json|check--json|kernel--json)
		return 1
		;;
	*--each|*--ignore-failure|*--show-output|*--quiet|*--stats|*--real|\
	*--device|*--help|*--all|*--unused)
		return 1
		;;
	*--*)
		return 0
		;;
	esac
	return 1
}

_tense_argument() { # OPTION WORD
	case $1 in
	--backend)
		_tense_words "native uml qemu" "$2"
		;;
	--clock)
		_tense_words "all monotonic none" "$2"
		;;
	--idle)
		_tense_words "real skip" "$2"
		;;
	--metric)
		_tense_words "elapsed cpu stdout: stderr:" "$2"
		[[ ${COMPREPLY[0]-} != *: ]] || compopt -o nospace 2>/dev/null
		;;
	--rw)
		_tense_files -d "$2"
		;;
	--json|--csv|--report|--from|--input|--object)
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
		elif [[ $1 != functions && $1 != kernel ]]; then
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
		_tense_words "run whatif functions kernel check version help --help \
			--version" "$word"
		return
	fi
	at=$(_tense_find_command "$command")
	if [[ $at != 0 ]]; then
		case $command in
		run|whatif|functions)
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
	elif [[ $before == --* ]] && _tense_takes_word "$command" "$before" &&
	     [[ $before != --json || $word != -* ]]; then
		_tense_argument "$before" "$word"
	elif [[ $word == -* || $command == check || $command == functions ||
		$command == kernel ]]; then
		_tense_words "$(_tense_options "$command")" "$word"
	elif [[ $command == run || $command == whatif ]]; then
		_tense_command "$COMP_CWORD"
	fi
}

complete -F _tense tense
