#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# libtense-functions.so: what runs with it gives the same results, at the
# percents that were asked for.
. "$source/tests/lib/tap.sh"

unset TENSE_WARNED TENSE_FUNCTIONS TENSE_FUNCTIONS_LOG FAKE_AGAIN
lib=$out/lib/libtense-functions.so.0
bin=$out/tests/unit/functions
bench=$out/bench/stub-pair
fake=$bin/fake/libtense.so.1
in_tmp
log=$tmp/log

# with SPECS COMMAND... : under the library; its lines are in $log
with() {
	with_specs=$1
	shift
	rm -f "$log"
	env TENSE_FUNCTIONS="$with_specs" TENSE_FUNCTIONS_LOG="$log" \
		LD_PRELOAD="$lib:$fake${preload:+:$preload}" "$@"
}
preload=

fields() { # EVENT FIELD: sorted
	grep "^$1	" "$log" | cut -f"$2" | sort | xargs
}

checked() { # TITLE FILE: all checks of a program passed, and it came to its end
	grep '^not ok\|^#' "$2" | sed 's/^not/# not/'
	ok "$1" [ "$(grep -c '^ok' "$2")" = "$(sed -n 's/^1\.\.//p' "$2")" ]
}

specs='1 200 :f_*
2 50 :g_*
3 80 :odd_*
4 70 plugin_twice
1 200 :scaled::*
2 50 :other::*'

is "$(nm -D --defined-only "$lib" | awk '{ print $3 }' | sort | xargs)" \
	"__longjmp_chk _longjmp longjmp pthread_exit siglongjmp" \
	"only what stands in front of libc is exported"
is "$(nm -D --defined-only "$out/lib/libtense-redirect.so.0" |
	awk '{ print $3 }')" tense_redirect "and one function of the helper"
is "$(readelf -d "$lib" | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p' | sort | xargs)" \
	"ld-linux-x86-64.so.2 libc.so.6 libtense.so.1" \
	"it needs libc and libtense only"
is "$(readelf -lW "$lib" | awk '$1 == "GNU_STACK" { print $7 }')" RW \
	"no executable stack"

"$bin/program" "$bin/plugin.so" >"$tmp/plain" 2>&1
grep '^ok' "$tmp/plain" >"$tmp/checks"
checked "a program in C, without it" "$tmp/plain"
for again in 0 1 2 3; do
	FAKE_AGAIN=$again with "$specs" "$bin/program" "$bin/plugin.so" \
		>"$tmp/out" 2>&1
	checked "with it, one in $again the slow way" "$tmp/out"
	grep '^ok' "$tmp/out" >"$tmp/checks.with"
	ok "the same checks" cmp -s "$tmp/checks.with" "$tmp/checks"
done
is "$(grep '^refused' "$log" | cut -f5,7 | sort | tr '\t\n' ':;')" \
	"odd_all_jumped_into:there are jumps into its first bytes;\
odd_jrcxz:its first instructions have a branch that has no longer form;\
odd_loop_head:its entry is the head of a loop;\
odd_tiny:it is shorter than a jump;" "what is refused, and why"
is "$(fields patched 7 | tr ' ' '\n' | sort -u)" in-process "the mechanism"
ok "odd ones that are not" [ "$(grep -c '^patched.*odd_' "$log")" -ge 25 ]
is "$(grep -c '^cost' "$log")" 1 "the cost is logged once"
ok "and what the start took" grep -q '^start	[0-9]*	[0-9]*$' "$log"

# A child of vfork(2) calls execve with its parent's spans: its own would never end.
with '1 50 libc:execve' true
is "$(fields refused 5,7)" "execve it returns only if it fails" "a function that does not return"

# The same in a stripped program, where more functions are redirected by their
# addresses. These run at 100 percent, because the program checks the percents of
# the others. It also counts the gates on its stack, so check_backtrace is left out.
strip -o "$tmp/bare" "$bin/program"
nameless=$(nm "$bin/program" | grep -v ' check_backtrace$' |
	sed -n 's/^0*\([0-9a-f]*\) t \(check_\|coroutine\|handler\|hammer\|sleeper\|step_\|on_step\|vfork_\|tick_jump\|builtin_jump\|exit_thread\|new_calls\).*/5 100 bare+0x\1/p')
with "$specs
$nameless" "$tmp/bare" "$bin/plugin.so" >"$tmp/out" 2>&1
checked "the program in C, stripped, and functions by their addresses" "$tmp/out"
grep '^ok' "$tmp/out" >"$tmp/checks.with"
ok "the same checks" cmp -s "$tmp/checks.with" "$tmp/checks"
is "$(grep -c '^patched.*	+0x' "$log")" "$(echo "$nameless" | wc -l)" \
	"all of them are redirected"

# Marks: a file with room for 30, of two numbers and then the marks.
marks=$tmp/marks
export TENSE_FUNCTIONS_MARKS="$marks"
new_marks() {
	printf '\036\0\0\0\0\0\0\0' >"$marks"
	truncate -s 256 "$marks"
}
all_marks() {
	od -An -v -t u8 -w8 "$marks" | xargs
}
for again in 0 2; do
	new_marks
	FAKE_AGAIN=$again with "from :f_*
$specs
to :g_*
to :f_*" "$bin/program" "$bin/plugin.so" >"$tmp/out" 2>&1
	grep '^ok' "$tmp/out" >"$tmp/checks.with"
	ok "with marks the same checks, one in $again the slow way" \
		cmp -s "$tmp/checks.with" "$tmp/checks"
	ok "and more marks than there is room for" \
		[ "$(od -An -t u8 -j8 -N8 "$marks")" -gt 30 ]
	is "$(wc -c <"$marks")" 256 "do no harm"
done
is "$(grep -c '^patched	[0-9]*	from	' "$log")" \
	"$(grep -c '^patched	[0-9]*	to	.*	f_' "$log")" \
	"a function may have a slot and both kinds of marks"
ok "all of which are logged" [ "$(grep -c '	from	' "$log")" -gt 10 ]

# The fake clock goes on by 1000 at each look, and FROM is 1, TO 2.
new_marks
with "from :main" sh -c "$bench 1 >/dev/null; $bench 1 >/dev/null"
is "$(all_marks | cut -d' ' -f1-5)" "30 2 4001 4001 0" \
	"processes share the marks, by which functions keep their percent"
new_marks
with "to :main
from :main" "$bench" 1 >/dev/null
is "$(all_marks | cut -d' ' -f1-4)" "30 1 4003 0" "one call that is both"
rm "$marks"
with "from :main" "$bench" 1 >/dev/null 2>"$tmp/err"
ok "no file for the marks is told" grep -q \
	"calls cannot be marked: No such file" "$tmp/err"
printf '\036\0\0\0\0\0\0\0' >"$marks"
with "from :main" "$bench" 1 >/dev/null 2>"$tmp/err"
ok "so is one that is too small" grep -q "it is too small" "$tmp/err"
truncate -s 248 "$marks"
with "from :main" "$bench" 1 >/dev/null 2>"$tmp/err"
ok "or smaller than it says" grep -q "less room than it says" "$tmp/err"
unset TENSE_FUNCTIONS_MARKS

"$bin/exceptions" >"$tmp/plain" 2>&1
checked "a program in C++, without it" "$tmp/plain"
for again in 0 1 3; do
	FAKE_AGAIN=$again with "$specs" "$bin/exceptions" >"$tmp/out" 2>&1
	checked "with it, one in $again the slow way" "$tmp/out"
done

# Threads that are there before, and run what is overwritten.
wrong=0
preload=$bin/early.so
for _ in 1 2 3 4 5; do
	with '1 50 early_function' true >"$tmp/out" 2>&1
	[ "$(cat "$tmp/out")" = "early: 0 wrong" ] || wrong=$((wrong + 1))
	[ "$(fields patched 5)" = early_function ] || wrong=$((wrong + 1))
done
is "$wrong" 0 "threads that ran before are stopped"
preload=

# Processes.
with '1 50 :main' sh -c "$bench 1 >/dev/null; $bench 1 >/dev/null"
is "$(fields patched 5)" "main main" "children of a shell"
is "$(fields patched 2 | tr ' ' '\n' | sort -u | grep -c .)" 2 \
	"each with its number"
with '1 50 :nothing' true
is "$(grep -v '^start' "$log")" "" "no line for what there is not"
rm "$log"
with 'nonsense' true 2>"$tmp/err"
ok "nonsense is named" grep -q "nonsense" "$tmp/err"
rm -f "$log"
is "$(TENSE_FUNCTIONS_LOG=$log LD_PRELOAD=$lib:$fake sh -c 'echo good')" good \
	"without TENSE_FUNCTIONS"
ok "nothing happens" [ ! -e "$log" ]
if [ ! -e /dev/tense ]; then
	TENSE=0 TENSE_FUNCTIONS='1 50 :main' TENSE_FUNCTIONS_LOG=$log \
		LD_PRELOAD=$lib:$out/lib/libtense.so.1 "$bench" 1 >/dev/null
	is "$(fields refused 5,7)" "main the process is in no experiment" \
		"outside of an experiment"
fi
with '1 50 libc.so.6:dlopen
1 50 libc.so.6:setjmp
1 50 linux-vdso:clock_gettime
1 50 ld-linux-x86-64.so.2:_dl_catch_error' "$bench" 1 >/dev/null
is "$(fields patched 5)" "" "functions that cannot be"
is "$(fields refused 5)" "_dl_catch_error clock_gettime dlopen setjmp" \
	"are refused"

# As the linker of Go names its functions.
cat >"$tmp/go.c" <<'END'
void more(void) __asm__("runtime.morestack.abi0");
void more(void) { }
int leaf(int x) __asm__("main.leaf");
int leaf(int x) { return x + 1; }
int main(void) { more(); return leaf(0) - 1; }
END
cc -O0 -o "$tmp/go" "$tmp/go.c"
with '1 200 :main.leaf' "$tmp/go"
is "$(fields patched 5)$(grep '^refused' "$log" | cut -f7)" \
	"the runtime of Go checks return addresses, and ends the program if Tense replaces one" \
	"Go's functions are refused"

# Programs that somebody else wrote: everything in a library of theirs.
real() { # TITLE SPEC COMMAND...
	real_what=$1 real_spec=$2
	shift 2
	if ! command -v "$1" >/dev/null; then
		skip "there is no $1 for $real_what"
		return
	fi
	"$@" <"$tmp/in" >"$tmp/expected" 2>&1
	with "$real_spec" "$@" <"$tmp/in" >"$tmp/out" 2>&1
	ok "$real_what" cmp -s "$tmp/out" "$tmp/expected"
	ok "with $(grep -c ^patched "$log") functions, $(grep -c ^refused "$log") refused" \
		grep -q ^patched "$log"
}

cat "$out/lib/"* "$source"/libtense/*/*.c >"$tmp/in"
real "pigz, two threads, all of libz" '1 125 libz:*' pigz -c -n -p 2
real "xz, all of liblzma" '1 125 liblzma:*' xz -c -1 -T 2
real "openssl, all of libcrypto" '1 125 libcrypto:*' openssl dgst -sha512
real "and a cipher" '1 125 libcrypto:*' openssl enc -aes-256-cbc \
	-K 00112233445566778899aabbccddeeff -iv 0123456789abcdef
real "sqlite3, all of it" '1 125 libsqlite3:*' sqlite3 :memory: "
	create table t(a, b);
	with recursive c(x) as (select 1 union all select x + 1 from c
		where x < 20000) insert into t select x, hex(x) from c;
	select sum(a), count(distinct b), max(b) from t where a % 7 = 3;
	select group_concat(a) from (select a from t order by b desc limit 50)"
real "perl, all that there is" '1 125 *' perl -e '
	my %h; $h{$_ % 97} .= "$_ " for 1 .. 5000;
	print map { "$_: $h{$_}\n" } sort keys %h; eval { die "x\n" }; print $@'
done_testing
