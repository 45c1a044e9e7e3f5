# SPDX-License-Identifier: GPL-2.0
#
# tense trace-activity: when a program has its CPU, by the cycle counter.

# Clocks, of the library that measures functions.
PERIODS_LIB := counter ticks

$(patsubst %.c,$(O)/%.o,$(wildcard tools/activity/*.c tools/cli/*.c)): \
	CPPFLAGS += -Ilibtense/include

periods_tested := $(addprefix tools/activity/,periods.c interval.c interrupts.c \
	interval-error.c)

$(O)/tests/unit/test-periods: tests/unit/test-periods.c $(periods_tested) \
		tools/base/util.c $(PERIODS_LIB:%=libtense/measure/%.c) \
		$(wildcard tools/activity/*.h libtense/measure/*.h) \
		tests/lib/tap.h $(O)/flags
	$(call quiet,CC,$@) mkdir -p $(@D) && \
	$(CC) $(CPPFLAGS) $(CFLAGS) -D_GNU_SOURCE -I. -Itools -Itests/lib \
		-Ilibtense/include -fsanitize=address,undefined \
		-fno-sanitize-recover=all $(LDFLAGS) -o $@ $(filter %.c,$^) \
		-lgsl -lgslcblas -lm

UNIT_TESTS += $(O)/tests/unit/test-periods

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
