# SPDX-License-Identifier: GPL-2.0
#
# tense trace-activity: when a program has its CPU, by the cycle counter.

# Clocks, of the library that measures functions.
PERIODS_LIB := counter ticks

$(patsubst %.c,$(O)/%.o,$(wildcard tools/activity/*.c tools/cli/*.c)): \
	CPPFLAGS += -Ilibtense/include

ARCHIVE_TESTS += $(O)/tests/unit/test-periods

periods_cli_tests := $(addprefix $(O)/tests/unit/,test-trace-activity \
	test-trace-activity-asan)
$(O)/tests/unit/test-trace-activity: TESTED = $(abspath $(O)/bin/tense)
$(O)/tests/unit/test-trace-activity-asan: TESTED = $(abspath $(O)/asan/bin/tense)
$(O)/tests/unit/test-trace-activity: $(O)/bin/tense
$(O)/tests/unit/test-trace-activity-asan: $(O)/asan/bin/tense
$(periods_cli_tests): tests/unit/test-trace-activity.sh tests/lib/tap.sh
	$(Q)mkdir -p $(@D)
	$(Q)sed -e 's|@SOURCE@|$(CURDIR)|' -e 's|@TENSE@|$(TESTED)|' \
		$(filter %/test-trace-activity.sh,$^) >$@ && chmod +x $@

UNIT_TESTS += $(periods_cli_tests)
