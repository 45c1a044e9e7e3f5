# SPDX-License-Identifier: GPL-2.0
#
# The part of tense that measures: times of commands, daemons and their cutoffs.

MEASURE_CFLAGS := $(patsubst -I%,-isystem %, \
	$(shell $(PKG_CONFIG) --cflags libnl-genl-3.0 2>/dev/null))
MEASURE_LIBS := -lnl-genl-3 -lnl-3
$(patsubst %.c,$(O)/%.o,$(wildcard tools/measure/*.c tools/cli/*.c)): \
	CPPFLAGS += $(MEASURE_CFLAGS) -Ilibtense/include

# `tense daemons learn` runs this program as its samples.
COUNT_BIN := $(O)/libexec/tense/count
USER_TARGETS += $(COUNT_BIN)

$(COUNT_BIN): tools/measure/count.c $(O)/flags
	$(call quiet,CC,$@) mkdir -p $(@D) && \
	$(CC) $(CPPFLAGS) $(CFLAGS) -D_GNU_SOURCE $(LDFLAGS) -static -o $@ $<

install::
	$(Q)install -D -m 755 $(COUNT_BIN) $(LIBEXECDIR)/count

measure_tests := $(addprefix $(O)/tests/unit/test-,cutoffs emp activity \
	taskstats measure environment learn learn-plan \
	sample-sizes compensation)
$(measure_tests): $(wildcard tests/data/*.hex)

# Killed at each step of these.
tune_steps := open write fsync unlink ftruncate posix_spawnp

$(O)/tests/unit/test-tune: WRAPPED := $(tune_steps:%=-Wl,--wrap=%) -Wl,--wrap=adjtimex

ARCHIVE_TESTS += $(measure_tests) $(O)/tests/unit/test-tune

measure_cli_tests := $(addprefix $(O)/tests/unit/,test-daemons \
	test-measure-run test-measure-tune test-terminal)
measure_asan_tests := $(measure_cli_tests:%=%-asan)
$(measure_cli_tests): $(O)/bin/tense
$(measure_asan_tests): $(O)/asan/bin/tense
$(measure_cli_tests) $(measure_asan_tests): $(COUNT_BIN) \
		$(wildcard tests/data/emp-*) | $(O)/tests/unit/measured

$(O)/tests/unit/measured: tests/unit/measured.c $(O)/flags
	$(call quiet,CC,$@) mkdir -p $(@D) && \
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $< -pthread

UNIT_TESTS += $(measure_cli_tests) $(measure_asan_tests)
