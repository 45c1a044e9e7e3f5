#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# tense measure --tune and --restore, on directories that look like a machine and
# with a systemctl that is a script: nothing of this machine is changed.
. "$source/tests/lib/tap.sh"
. "$source/tests/lib/processes.sh"

in_tmp
export XDG_DATA_HOME="$tmp/data"
export TENSE_SYSROOT="$tmp/root" TENSE_STATE="$tmp/state" \
	TENSE_SYSTEMCTL="$tmp/systemctl"
cpu=$TENSE_SYSROOT/sys/devices/system/cpu
governor=$cpu/cpu0/cpufreq/scaling_governor

# It kills who called it when it is to do so much, before or after it did.
cat >systemctl <<'END'
#!/bin/sh
cd "${0%/*}/root/units" || exit 1
verb=$1
[ "$verb" != --no-ask-password ] || verb=$2
while [ "$1" != -- ]; do shift; done
shift
calls=$(($(cat ../../calls) + 1))
echo $calls >../../calls
[ "$calls" != "${KILL_BEFORE-}" ] || { kill -9 $PPID; exit; }
case $verb in
start) echo active >"$1" ;;
stop)
	[ "$1" != "${STUBBORN-}" ] || { echo "Refused: $1"; exit 1; }
	echo inactive >"$1"
	;;
show)
	for unit; do
		load=not-found active=inactive
		[ -e "$unit" ] && { load=loaded; read -r active <"$unit"; }
		printf 'LoadState=%s\nId=%s\nActiveState=%s\n\n' $load "$unit" \
			"$active"
	done
	;;
esac
[ "$calls" != "${KILL_AFTER-}" ] || kill -9 $PPID
END
chmod +x systemctl

create() {
	rm -rf root state copy
	mkdir -p "$cpu/intel_pstate" "$cpu/cpu0/cpufreq" "$cpu/cpu1/cpufreq" \
		root/units root/proc/sys/kernel/random
	echo 0 >"$cpu/intel_pstate/no_turbo"
	echo powersave >"$governor"
	echo powersave >"$cpu/cpu1/cpufreq/scaling_governor"
	echo one >root/proc/sys/kernel/random/boot_id
	for unit in cron atd chrony; do
		echo active >root/units/$unit.service
	done
	echo inactive >root/units/anacron.timer
	echo 0 >calls
	cp -a root copy
}

whole() {
	diff -r root copy && [ ! -e state/tune.journal ]
}

tuned() { # ARGUMENT...
	"$tense" measure --runs 1 --warmup 0 --tune "$@" >stdout 2>stderr </dev/null
}

create
status_is 0 "a command" "$tense" measure --runs 1 --warmup 0 --tune --json m \
	--show-output -- cat "$governor" root/units/cron.service \
	root/units/chrony.service "$cpu/intel_pstate/no_turbo"
is "$(head -n 4 stdout | xargs)" "performance inactive active 1" \
	"finds the machine quiet"
ok "which then is as it was" whole
is "$(cat stderr)" "" "and that is all"
is "$(jq -c '[.tuned[] | [.unit // (.file | split("/") | last), .found, .set]]' m)" \
	'[["atd.service","active","inactive"],["cron.service","active","inactive"],["no_turbo","0","1"],["scaling_governor","powersave","performance"],["scaling_governor","powersave","performance"]]' \
	"the JSON tells what was changed"
is "$(jq -c '.environment | [.governor, .turbo]' m)" '["performance",false]' \
	"and the environment is that of the samples"
ok "the table, too" grep -q 'of the machine, 5 settings were changed' stdout
status_is 0 "without --tune" "$tense" measure --runs 1 --warmup 0 --json m -- true
is "$(jq -c '[.tuned, .environment.governor]' m)" '[null,"powersave"]' \
	"nothing is changed"

# Every way out.
tuned -- false
is $? 1 "a command that fails"
ok "puts all back" whole
tuned --timeout 200ms -- sleep 1000
is $? 1 "one that is too slow"
ok "puts all back" whole
tuned --json /dev/full -- true
is $? 125 "a full disk"
ok "puts all back" whole
for signal in 1 2 3 15; do
	# A shell's background commands ignore SIGINT.
	env --default-signal "$tense" measure --tune -- sleep 1004.5 \
		>stdout 2>stderr </dev/null &
	until_true grep -q performance "$governor"
	kill -$signal $!
	wait $!
	is $? $((128 + signal)) "signal $signal"
	ok "puts all back" whole
done
"$tense" measure --tune -- sh -c 'sleep 0.5; exit 1' 2>&1 >stdout | :
ok "so does one whose messages nobody reads" whole
"$tense" measure --tune -- sleep 1004.5 >stdout 2>stderr </dev/null &
until_true grep -q performance "$governor"
status_is 125 "another one" "$tense" measure --tune -- true
is "$(cat stderr)" "tense: --tune: another tense measure --tune is running: wait until it has ended" \
	"may not tune"
status_is 125 "while one measures" "$tense" measure --restore
is "$(cat stderr)" "tense: --restore: a tense measure --tune is running: it puts everything back when it ends" \
	"nothing is put back"
ok "the machine stays tuned" grep -q performance "$governor"
kill -KILL $!
wait $! 2>/dev/null
ok "it does so after a kill" grep -q performance "$governor"
status_is 0 "--restore" "$tense" measure --restore
ok "puts all back" whole
is "$(cat stdout)" "$cpu/cpu1/cpufreq/scaling_governor: powersave, was performance
$governor: powersave, was performance
$cpu/intel_pstate/no_turbo: 0, was 1
cron.service: started, was stopped
atd.service: started, was stopped" "and says so"
status_is 0 "again" "$tense" measure --restore
is "$(cat stdout)" "nothing to put back" "there is nothing"

# Killed by each of its calls of systemctl, before and after that has an effect.
for when in KILL_BEFORE KILL_AFTER; do
	bad='' killed=0
	for call in 1 2 3 4 5 6 7 8 9 10; do
		create
		env $when=$call sh -c "$tense measure --runs 1 --warmup 0 --tune -- true" \
			>stdout 2>stderr </dev/null
		[ $? != 137 ] || killed=$((killed + 1))
		"$tense" measure --restore >stdout 2>&1
		whole >verdict || bad="$bad $call"
	done
	is "$bad" "" "$when $killed of its calls"
	ok "of which there are several" [ $killed -ge 6 ]
done

# --tune reports changes that fail.
create
STUBBORN=atd.service
export STUBBORN
tuned --show-output -- cat root/units/atd.service root/units/cron.service
is $? 0 "a daemon that does not end"
is "$(cat stderr)" "tense: --tune: atd.service stays active: Refused: atd.service" \
	"is told"
unset STUBBORN
is "$(head -n 2 stdout | xargs)" "active inactive" "and left"
ok "the rest is put back" whole
create
TENSE_SYSTEMCTL=$tmp/nothing tuned -- true
is $? 0 "without systemd"
ok "daemons stay" grep -q "^tense: --tune: daemons stay as they are: $tmp/nothing: No such file" stderr
ok "and that is all" whole
create
rm -r root/sys copy/sys
tuned -- true
is $? 0 "a virtual machine"
ok "has no frequency" grep -q "^tense: --tune: the CPUs' frequency stays as it is: " stderr
create
: >file
TENSE_STATE=$tmp/file tuned -- true
is $? 0 "without a place for a journal"
unwrap stderr
is "$(cat stderr)" "tense: --tune: nothing is changed, as what is found cannot be noted in $tmp/file: Not a directory" \
	"nothing is changed"
ok "at all" whole

# Lists of daemons. Only this list's daemons are stopped, and only if they run.
create
echo active >root/units/mine.timer
echo inactive >root/units/idle.service
rm -r copy && cp -a root copy
printf 'daemon,note,units\nmine,x,gone.timer mine.timer\nidle,,idle.service\n' >list
status_is 0 "--daemons" "$tense" measure --runs 1 --warmup 0 --tune \
	--daemons list --json m --show-output -- \
	cat root/units/mine.timer root/units/cron.service
is "$(head -n 2 stdout | xargs)" "inactive active" "stops that list instead"
ok "and starts it again" whole
is "$(jq -c '[.tuned[] | select(.unit) | .unit]' m)" '["mine.timer"]' \
	"and nothing that did not run"
for signal in 2 15; do
	env --default-signal "$tense" measure --tune --daemons list -- sleep 1004.5 \
		>stdout 2>stderr </dev/null &
	until_true grep -qx inactive root/units/mine.timer
	kill -$signal $!
	wait $!
	is $? $((128 + signal)) "signal $signal"
	ok "starts it again" whole
done
tuned --daemons list -- false
is $? 1 "a command that fails"
ok "starts it again" whole
# A list that cannot be taken changes nothing, and the command is not run.
refuses() { # CONTENT MESSAGE
	printf '%b' "$1" >bad
	echo 0 >calls
	status_is 125 "$2" "$tense" measure --tune --daemons bad -- touch was-run
	unwrap stderr
	is "$(cat stderr)" "tense: $2" "says so"
	ok "nothing is changed or run" sh -c '[ ! -e was-run ] && [ ! -e state/tune.journal ]'
	ok "not even for a while" whole
}
refuses 'daemon,units\nmine,mine.timer\nnone,none.service no.timer\n' \
	"bad:3: this machine has no unit of 'none', such as none.service: nothing is changed; correct the line or remove it"
refuses '' "bad: is empty"
refuses 'daemon,units\n' "bad: names no daemon"
refuses 'mine\n' "bad:1: no column 'daemon': the first line names the columns"
refuses 'daemon,units\n\nmine\n' "bad:3: 'units' is missing"
refuses 'daemon,units\n,mine.timer\n' "bad:2: the daemon has no name"
refuses 'daemon,units\nmine, \n' "bad:2: 'mine' has no unit"
refuses 'daemon,units\nmine,"mine.timer\n' \
	"bad:2: a quote is not closed, or not at the end of its value"
for unit in mine --now.service ../mine.timer .timer; do
	refuses "daemon,units\nmine,mine.timer\nother,$unit\n" \
		"bad:3: '$unit' is not a unit of systemd: write it with its type, as in cron.service or fstrim.timer"
done
refuses 'daemon,units\nmine,mine.timer\nother,mine.timer\n' \
	"bad:3: 'mine.timer' is a unit of 'mine' already, in line 2"
TENSE_SYSTEMCTL=$tmp/nothing refuses 'daemon,units\nmine,mine.timer\n' \
	"bad: cannot be compared with the units of this machine: $tmp/nothing: No such file or directory: nothing is changed"
status_is 125 "a list that is not there" "$tense" measure --tune --daemons gone -- true
is "$(cat stderr)" "tense: gone: No such file or directory" "is told"
status_is 125 "--daemons without --tune" "$tense" measure --daemons list -- true
is "$(cat stderr)" "tense: measure: --daemons applies only to --tune" "is misuse"

# Tense's own list: 14 daemons, with the names of three distributions.
csv=$source/tools/measure/daemons.csv
is "$(sed 1d "$csv" | cut -d, -f1 | sort -u | wc -l)" 14 "14 daemons"
is "$(sed 1d "$csv" | cut -d, -f2 | sort -u | xargs)" \
	"debian fedora older ubuntu" "of each distribution"
create
printf 'daemon,units\n' >list
sed 1d "$csv" | cut -d, -f1,3 >>list
for unit in $(cut -d, -f2 list | sed 1d); do
	echo active >"root/units/$unit"
done
rm -r copy && cp -a root copy
tuned --daemons list --json m -- true
is $? 0 "a list of all of them"
is "$(jq -r '.tuned[] | select(.unit) | .unit' m | sort | xargs)" \
	"$(cut -d, -f2 list | sed 1d | tr ' ' '\n' | sort -u | xargs)" \
	"is accepted, and each unit is stopped"
ok "and started" whole

# Misuse.
status_is 125 "--restore with a command" "$tense" measure --restore -- true
is "$(cat stderr)" "tense: measure: --restore measures no command: use it alone" \
	"is misuse"
status_is 125 "--restore with --tune" "$tense" measure --restore --tune
is "$(cat stdout)" "" "as well"
status_is 125 "--restore with --daemons" "$tense" measure --restore --daemons list
is "$(cat stdout)" "" "as well"
done_testing
