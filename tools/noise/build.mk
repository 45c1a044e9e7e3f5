# SPDX-License-Identifier: GPL-2.0
#
# The part of tense that looks at the noise of a machine: times of equal work,
# and distributions that fit them.

ARCHIVE_TESTS += $(addprefix $(O)/tests/unit/test-noise-,levy fit model)

noise_cli_tests := $(addprefix $(O)/tests/unit/,test-noise test-noise-asan)
$(O)/tests/unit/test-noise: $(O)/bin/tense
$(O)/tests/unit/test-noise-asan: $(O)/asan/bin/tense
UNIT_TESTS += $(noise_cli_tests)
