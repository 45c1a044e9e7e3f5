# SPDX-License-Identifier: GPL-2.0
#
# The timed calls on the host, dynamically and statically linked: no library
# of ours has a part in either.

timed_tests := $(O)/tests/timed/test-timed $(O)/tests/timed/test-timed-static
timed_sources := $(filter-out %/raw-futex.c,$(wildcard tests/timed/*.c))

$(O)/tests/timed/timed: TIMED_LDFLAGS :=
$(O)/tests/timed/timed-static: TIMED_LDFLAGS := -static
$(O)/tests/timed/timed $(O)/tests/timed/timed-static: $(timed_sources) \
		$(wildcard tests/timed/*.h) tests/guest/guest.h tests/lib/sort.h \
		kernel/include/uapi/linux/tense.h $(O)/flags
	$(test_gnu_cc) -Wno-unused-parameter -Ikernel/include/uapi $(LDFLAGS) \
		$(TIMED_LDFLAGS) -o $@ $(timed_sources) -pthread

$(timed_tests): $(O)/tests/timed/test-%: tests/timed/on-host $(O)/tests/timed/%
	$(Q)cp $< $@

timed_table := $(O)/tests/timed/test-timed-table
$(timed_table): $(O)/tests/timed/timed

UNIT_TESTS += $(timed_tests) $(timed_table)

# The same in experiments, and what holds there only.
timed_guest_tests := $(O)/tests/timed/guest-timed $(O)/tests/timed/guest-timed-static

$(timed_guest_tests): $(O)/tests/timed/guest-%: tests/timed/in-guest \
		$(O)/tests/timed/% | $(O)/module/tense.ko
	$(Q)cp $< $@

# With the library.
timed_preloaded := $(O)/tests/timed/guest-timed-preloaded

$(timed_preloaded): tests/timed/in-experiment $(O)/tests/timed/timed \
		$(O)/lib/libtense.so | $(O)/module/tense.ko
	$(Q)cp $< $@

# Calls that only the kernel for real machines has.
timed_qemu := $(O)/tests/timed/guest-timed-uring

$(timed_qemu): tests/timed/in-qemu $(O)/tests/timed/timed \
		$(O)/lib/libtense.so | $(O)/module/tense.ko
	$(Q)cp $< $@

# Programs that are not ours.
timed_programs := $(O)/tests/timed/test-timed-programs

$(O)/tests/timed/raw-futex: tests/timed/raw-futex.c $(O)/flags
	$(test_gnu_cc) $(LDFLAGS) -static -o $@ $<

$(timed_programs): $(O)/tests/timed/raw-futex

GUEST_TESTS += $(timed_guest_tests) $(timed_preloaded) $(timed_qemu)
GUEST_TESTS += $(timed_programs)
