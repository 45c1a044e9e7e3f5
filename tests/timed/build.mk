# SPDX-License-Identifier: GPL-2.0
#
# The timed calls on the host, dynamically and statically linked: no library
# of ours has a part in either.

timed_tests := $(O)/tests/timed/test-timed $(O)/tests/timed/test-timed-static
timed_sources := $(wildcard tests/timed/*.c)

$(O)/tests/timed/timed: TIMED_LDFLAGS :=
$(O)/tests/timed/timed-static: TIMED_LDFLAGS := -static
$(O)/tests/timed/timed $(O)/tests/timed/timed-static: $(timed_sources) \
		tests/timed/timed.h $(O)/flags
	$(call quiet,CC,$@)mkdir -p $(@D) && \
	$(CC) $(CFLAGS) -D_GNU_SOURCE $(LDFLAGS) $(TIMED_LDFLAGS) -o $@ \
		$(timed_sources) -pthread

$(timed_tests): $(O)/tests/timed/test-%: tests/timed/on-host $(O)/tests/timed/%
	$(Q)cp $< $@

UNIT_TESTS += $(timed_tests)
