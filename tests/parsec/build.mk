# SPDX-License-Identifier: GPL-2.0
#
# make parsec PARSEC=DIR: programs of a PARSEC tree and SQLite, predicted and optimised.

parsec: $(addprefix $(O)/accuracy/,rounds accuracy-table function-cut)
	$(Q)tests/parsec/parsec $(if $(JSON),--json) $(O) '$(PARSEC)'

$(O)/tests/unit/test-parsec: $(addprefix $(O)/accuracy/,accuracy-table function-cut)
UNIT_TESTS += $(O)/tests/unit/test-parsec
