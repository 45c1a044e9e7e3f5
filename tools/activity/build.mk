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
$(O)/tests/unit/test-trace-activity: $(O)/bin/tense
$(O)/tests/unit/test-trace-activity-asan: $(O)/asan/bin/tense
UNIT_TESTS += $(periods_cli_tests)
