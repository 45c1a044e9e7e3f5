# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Completion of tense(1) for bash. `tense --completion` tells the commands and
# options.

# COMPREPLY from an option of compgen, as -f, or from words.
_tense_reply() { # COMPLETION WORD
	if [[ $1 == -[fdc] ]]; then
		compopt -o filenames 2>/dev/null
		mapfile -t COMPREPLY < <(compgen "$1" -- "$2")
	else
		mapfile -t COMPREPLY < <(compgen -W "$1" -- "$2")
		[[ ${COMPREPLY[0]-} != *: ]] || compopt -o nospace 2>/dev/null
	fi
}

_tense_command() { # its place
	if declare -F _command_offset >/dev/null; then
		_command_offset "$1"
	elif [[ $1 == "$COMP_CWORD" ]]; then
		_tense_reply -c "${COMP_WORDS[COMP_CWORD]}"
	else
		_tense_reply -f "${COMP_WORDS[COMP_CWORD]}"
	fi
}

# Is the second word, which follows the option, its argument?
_tense_takes() { # OPTION WORD
	case ${arguments[$1]-} in
	'')
		return 1
		;;
	\[*)
		[[ $2 != -* ]]
		;;
	esac
}

_tense() {
	local word=${COMP_WORDS[COMP_CWORD]-} before=${COMP_WORDS[COMP_CWORD - 1]-}
	local tense=${COMP_WORDS[0]/#\~\//$HOME/} words='' actions='' operands='' acted=''
	local name argument completion i
	local -A arguments=() completions=()

	COMPREPLY=()
	while read -r name argument completion; do
		case $name in
		-)
			actions=$completion
			;;
		--)
			operands=$completion
			[[ $operands != -[c-] ]] || words+=' --'
			;;
		*)
			words+=" $name" arguments[$name]=$argument
			completions[$name]=$completion
			;;
		esac
	done < <("$tense" --completion "${COMP_WORDS[@]:1:COMP_CWORD > 1 ? 2 : 0}" \
		2>/dev/null)

	for ((i = 2; i < COMP_CWORD; i++)); do
		name=${COMP_WORDS[i]}
		if [[ $name == -- || ($name != -* && $operands == -c) ]]; then
			[[ $name != -- ]] || ((i++))
			[[ $operands != -[c-] ]] || _tense_command "$i"
			return
		elif [[ ${COMP_WORDS[i + 1]} == = ]]; then
			((i += 2))
		elif [[ $name == -* ]]; then
			! _tense_takes "$name" "${COMP_WORDS[i + 1]}" || ((i++))
		else
			acted=1
		fi
	done
	# The shell makes three words of --json=file.
	if [[ $word == = ]]; then
		_tense_reply "${completions[$before]-}" ""
	elif [[ $before == = ]]; then
		_tense_reply "${completions[${COMP_WORDS[COMP_CWORD - 2]}]-}" "$word"
	elif [[ $before == -* ]] && _tense_takes "$before" "$word"; then
		_tense_reply "${completions[$before]}" "$word"
	elif [[ $operands == -c && $word != -* ]]; then
		_tense_command "$COMP_CWORD"
	elif [[ $acted && $word != -* ]]; then
		_tense_reply "$operands" "$word"
	else
		_tense_reply "$actions$words" "$word"
	fi
}

complete -F _tense tense
