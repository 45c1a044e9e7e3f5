# SPDX-License-Identifier: GPL-2.0
#
# The tests on a running kernel that load tense.ko themselves, with the test
# harness of the kernel's tree.

guest_tests := $(addprefix $(O)/tests/guest/,guest-abi guest-time)
GUEST_TESTS += $(guest_tests)

# The harness's macros compare whatever they are given.
GUEST_TEST_CFLAGS = $(CFLAGS) -D_GNU_SOURCE -Wno-unused-parameter \
	-Wno-sign-compare -Ikernel/include/uapi \
	-isystem $$(tools/kernel-build --arch um --print)/build/tools/testing/selftests

$(guest_tests): $(O)/tests/guest/%: tests/guest/in-guest $(O)/tests/guest/%.bin
	$(Q)cp $< $@

$(guest_tests:=.bin): $(O)/tests/guest/%.bin: tests/guest/%.c \
		tests/guest/guest.h kernel/include/uapi/linux/tense.h \
		| $(O)/module/tense.ko
	$(call quiet,CC,$@)mkdir -p $(@D) && \
	$(CC) $(GUEST_TEST_CFLAGS) $(LDFLAGS) -o $@ $< -pthread
