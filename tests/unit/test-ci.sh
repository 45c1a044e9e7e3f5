#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# .ci/run adds the sums of its tiers, and a tier without a sum is a failure. Here
# make only prints, and all packages seem to be installed.
. "$source/tests/lib/tap.sh"

in_tmp
mkdir bin
cat >bin/dpkg-query <<'END'
#!/bin/sh
for package; do
	printf '%s:installed ' "$package"
done
END
cat >bin/make <<'END'
#!/bin/sh
case " $* " in *" run_tap=: "*) exit ;; esac
eval "target=\${$#}"
echo "$target" >>"$TIERS/called"
sh "$TIERS/$target"
END
chmod +x bin/*
export TIERS=$tmp

tiers() { # CHECK REST LINT
	echo "$1" >check
	echo "$2" >check-rest
	echo "$sum" >check-cpus
	echo "$3" >lint
	rm -f called
}
sum='echo 2 passed, 0 failed, 1 skipped'

tiers "$sum" "$sum" "$sum"
status_is 0 "all tiers pass" env PATH="$tmp/bin:$PATH" "$source/.ci/run"
is "$(tail -n 1 stdout)" "8 passed, 0 failed, 4 skipped" "the last line is the sum"
is "$(xargs <called)" "check check-rest check-cpus lint" "each tier runs once"
tiers "$sum" 'echo 4 passed, 3 failed, 0 skipped; exit 1' "$sum"
status_is 1 "a tier fails" env PATH="$tmp/bin:$PATH" "$source/.ci/run"
is "$(tail -n 1 stdout)" "10 passed, 3 failed, 3 skipped" "its failures count"
is "$(xargs <called)" "check check-rest check-cpus lint" "the tiers after it run"
tiers 'exit 2' "$sum" "$sum"
status_is 1 "a tier does not get as far as a sum" \
	env PATH="$tmp/bin:$PATH" "$source/.ci/run"
is "$(tail -n 1 stdout)" "6 passed, 1 failed, 3 skipped" "this counts as a failure"
tiers "$sum" "$sum" ':'
status_is 1 "a tier ends well without a sum" \
	env PATH="$tmp/bin:$PATH" "$source/.ci/run"
is "$(tail -n 1 stdout)" "6 passed, 1 failed, 3 skipped" "this counts as a failure"

done_testing
