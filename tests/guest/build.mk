# SPDX-License-Identifier: GPL-2.0
#
# The tests on a running kernel, with the test harness of the kernel's tree:
# those that load tense.ko themselves, and those that `tense run` loads it for.

guest_tests := $(addprefix $(O)/tests/guest/,guest-abi guest-area guest-time \
	guest-libtense-native)
experiment_tests := $(addprefix $(O)/tests/guest/,guest-libtense guest-spans)
functions_tests := $(O)/tests/guest/guest-functions
GUEST_TESTS += $(guest_tests) $(experiment_tests) $(functions_tests)

# The harness's macros compare whatever they are given.
GUEST_TEST_CFLAGS = $(CFLAGS) -D_GNU_SOURCE -Wno-unused-parameter \
	-Wno-sign-compare -Ikernel/include/uapi \
	-isystem $$(tools/kernel-build --arch um --print)/build/tools/testing/selftests

$(guest_tests): $(O)/tests/guest/%: tests/guest/in-guest $(O)/tests/guest/%.bin
	$(Q)cp $< $@

$(experiment_tests): $(O)/tests/guest/%: tests/guest/in-experiment \
		$(O)/tests/guest/%.bin
	$(Q)cp $< $@

# Those that need several CPUs, or breakpoints in user space.
smp_tests := $(addprefix $(O)/tests/guest/,smp-abi smp-area guest-probe)
GUEST_TESTS += $(smp_tests)

$(smp_tests): $(O)/tests/guest/%: tests/guest/in-qemu $(O)/tests/guest/%.bin \
		$(O)/tests/guest/qemu-init
	$(Q)sed -e 's|@SOURCE@|$(CURDIR)|' $< >$@ && chmod +x $@

$(O)/tests/guest/smp-abi.bin: tests/guest/guest-abi.c
$(O)/tests/guest/smp-area.bin: tests/guest/guest-area.c
$(O)/tests/guest/guest-probe.bin: tests/guest/guest-probe.c
$(smp_tests:=.bin): tests/guest/guest.h kernel/include/uapi/linux/tense.h \
		| $(O)/module/tense.ko
	$(call quiet,CC,$@)mkdir -p $(@D) && \
	$(CC) $(GUEST_TEST_CFLAGS) $(LDFLAGS) -static -o $@ $(filter %.c,$^) \
		-pthread

$(O)/tests/guest/qemu-init: tests/guest/qemu-init.c
	$(call quiet,CC,$@)mkdir -p $(@D) && \
	$(CC) $(CFLAGS) $(LDFLAGS) -static -o $@ $<

$(O)/tests/guest/static-work: tests/guest/static-work.c
	$(call quiet,CC,$@)mkdir -p $(@D) && \
	$(CC) $(CFLAGS) $(LDFLAGS) -static -o $@ $<

GUEST_TESTS += $(O)/tests/guest/test-static
$(O)/tests/guest/test-static: tests/guest/test-static.sh tests/lib/tap.sh \
		$(O)/tests/guest/static-work $(USER_TARGETS)
	$(Q)sed -e 's|@SOURCE@|$(CURDIR)|' -e 's|@O@|$(abspath $(O))|' \
		$< >$@ && chmod +x $@

$(functions_tests): $(O)/tests/guest/%: tests/guest/in-functions \
		$(O)/tests/guest/%.bin $(O)/lib/libtense-functions.so
	$(Q)cp $< $@

GUEST_LIBTENSE := $(addprefix $(O)/tests/guest/,guest-libtense.bin \
	guest-libtense-native.bin guest-spans.bin)
$(GUEST_LIBTENSE): $(O)/lib/libtense.so libtense/include/tense.h
$(GUEST_LIBTENSE): GUEST_TEST_LIBS = -Ilibtense/include -Ilibtense -L$(O)/lib -ltense \
	-Wl,-rpath,'$$ORIGIN/../../lib'

$(guest_tests:=.bin) $(experiment_tests:=.bin) $(functions_tests:=.bin): \
		$(O)/tests/guest/%.bin: tests/guest/%.c \
		tests/guest/guest.h kernel/include/uapi/linux/tense.h \
		| $(O)/module/tense.ko
	$(call quiet,CC,$@)mkdir -p $(@D) && \
	$(CC) $(GUEST_TEST_CFLAGS) $(LDFLAGS) -o $@ $< \
		$(GUEST_TEST_LIBS) -pthread
