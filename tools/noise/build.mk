# SPDX-License-Identifier: GPL-2.0
#
# The part of tense that looks at the noise of a machine: times of equal work,
# and distributions that fit them.

noise_tests := $(addprefix $(O)/tests/unit/test-noise-,levy fit model)
noise_tested := $(addprefix tools/noise/,families.c fit.c levy.c model.c nops.c \
	service.c)

$(noise_tests): $(O)/tests/unit/%: tests/unit/%.c $(noise_tested) tools/base/util.c \
		$(wildcard tools/noise/*.h) tests/lib/tap.h $(O)/flags
	$(call quiet,CC,$@) mkdir -p $(@D) && \
	$(CC) $(CPPFLAGS) $(CFLAGS) -D_GNU_SOURCE -I. -Itools -Itests/lib \
		-fsanitize=address,undefined -fno-sanitize-recover=all \
		$(LDFLAGS) -o $@ $(filter %.c,$^) -lgsl -lgslcblas -lm

noise_cli_tests := $(addprefix $(O)/tests/unit/,test-noise test-noise-asan)
$(O)/tests/unit/test-noise: $(O)/bin/tense
$(O)/tests/unit/test-noise: TESTED = $(abspath $(O)/bin/tense)
$(O)/tests/unit/test-noise-asan: $(O)/asan/bin/tense
$(O)/tests/unit/test-noise-asan: TESTED = $(abspath $(O)/asan/bin/tense)
$(noise_cli_tests): tests/unit/test-noise.sh tests/lib/tap.sh
	$(Q)mkdir -p $(@D)
	$(Q)sed -e 's|@SOURCE@|$(CURDIR)|' -e 's|@TENSE@|$(TESTED)|' $< >$@ && \
	chmod +x $@

UNIT_TESTS += $(noise_tests) $(noise_cli_tests)
