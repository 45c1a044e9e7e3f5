# SPDX-License-Identifier: GPL-2.0
#
# The tests on a running kernel, with the test harness of the kernel's tree:
# those that load tense.ko themselves, and those that `tense run` loads it for.

guest_tests := $(addprefix $(O)/tests/guest/,guest-abi guest-area guest-defects guest-time guest-fair \
	guest-groups guest-names guest-samples guest-unseen guest-libtense-native)
experiment_tests := $(addprefix $(O)/tests/guest/,guest-libtense guest-spans)
functions_tests := $(O)/tests/guest/guest-functions
GUEST_TESTS += $(guest_tests) $(experiment_tests) \
	$(functions_tests)

# The harness's macros compare whatever they are given.
GUEST_TEST_CFLAGS = $(CFLAGS) -D_GNU_SOURCE -Wno-unused-parameter \
	-Wno-sign-compare -Ikernel/include/uapi -Imodule/uapi \
	-isystem $$(tools/kernel-build --arch um --print)/build/tools/testing/selftests

$(guest_tests): $(O)/tests/guest/%: tests/guest/in-guest $(O)/tests/guest/%.bin
	$(Q)cp $< $@

$(experiment_tests): $(O)/tests/guest/%: tests/guest/in-experiment \
		$(O)/tests/guest/%.bin
	$(Q)cp $< $@

# These tests need several CPUs, or breakpoints in user space. smp2-NAME and
# smp4-NAME run guest-NAME on two and four CPUs, the others run on two.
smp_programs := users gate gate-events migrate order sessions races
smp2_tests := $(addprefix $(O)/tests/guest/smp2-,$(smp_programs))
smp4_tests := $(addprefix $(O)/tests/guest/smp4-,$(smp_programs))
smp_tests := $(addprefix $(O)/tests/guest/,smp-abi smp-area smp-defects smp-names smp-samples \
	guest-probe)
GUEST_TESTS += $(smp_tests) $(smp2_tests)

in_qemu = $(Q)sed -e 's|@SOURCE@|$(CURDIR)|' -e 's|@CPUS@|$(1)|' \
	-e 's|@PROGRAM@|$(2)|' -e 's|@ARCH@|$(or $(3),x86_64)|' $< >$@ && \
	chmod +x $@

$(smp_tests): $(O)/tests/guest/%: tests/guest/in-qemu $(O)/tests/guest/%.bin \
		$(O)/tests/guest/qemu-init
	$(call in_qemu,2,$*.bin)

$(smp2_tests): $(O)/tests/guest/smp2-%: tests/guest/in-qemu \
		$(O)/tests/guest/guest-%.bin $(O)/tests/guest/qemu-init
	$(call in_qemu,2,guest-$*.bin)

$(smp4_tests): $(O)/tests/guest/smp4-%: tests/guest/in-qemu \
		$(O)/tests/guest/guest-%.bin $(O)/tests/guest/qemu-init
	$(call in_qemu,4,guest-$*.bin)

# On the debug kernel, debug-NAME: smp-NAME or guest-NAME.
debug_smp_tests := $(addprefix $(O)/tests/guest/debug-,abi area defects names samples)
debug_guest_tests := $(addprefix $(O)/tests/guest/debug-,probe faults fuzz storms \
	$(smp_programs))
# debug-several runs several programs in one guest: to boot this kernel, and to have
# it look for lost memory afterwards, takes 30 s of CPU time.
debug_several := $(O)/tests/guest/debug-several
debug_single_tests := $(debug_smp_tests) $(debug_guest_tests)
in_several := $(addprefix $(O)/tests/guest/,smp-abi.bin smp-area.bin smp-names.bin \
	guest-users.bin guest-gate-events.bin)
debug_tests := $(debug_several) $(filter-out $(addprefix %/debug-,abi area names users \
	gate-events),$(debug_single_tests))
# Minutes each. All of them: make debug. CI runs the programs of debug-several as
# uml-debug-several, because QEMU takes three times as long for them.
GUEST_TESTS += $(addprefix $(O)/tests/guest/debug-,races fuzz storms)

# On the kernel that looks for data races, kcsan-NAME: make kcsan.
kcsan_smp_tests := $(O)/tests/guest/kcsan-abi
kcsan_guest_tests := $(addprefix $(O)/tests/guest/kcsan-,gate order fuzz)
kcsan_tests := $(kcsan_smp_tests) $(kcsan_guest_tests)

$(debug_smp_tests): $(O)/tests/guest/debug-%: $(O)/tests/guest/smp-%.bin
$(debug_guest_tests): $(O)/tests/guest/debug-%: $(O)/tests/guest/guest-%.bin
$(debug_several): $(in_several)
$(debug_several) $(debug_single_tests): tests/guest/in-qemu $(O)/tests/guest/qemu-init \
		$(O)/tests/guest/debug-watch
	$(call in_qemu,2,$(notdir $(filter %.bin,$^)),debug)

$(kcsan_smp_tests): $(O)/tests/guest/kcsan-%: $(O)/tests/guest/smp-%.bin
$(kcsan_guest_tests): $(O)/tests/guest/kcsan-%: $(O)/tests/guest/guest-%.bin
$(kcsan_tests): tests/guest/in-qemu $(O)/tests/guest/qemu-init \
		$(O)/tests/guest/race-watch
	$(call in_qemu,2,$(notdir $(filter %.bin,$^)),kcsan)

$(O)/tests/guest/smp-abi.bin: tests/guest/guest-abi.c tests/guest/smp.h
$(O)/tests/guest/smp-area.bin: tests/guest/guest-area.c
$(O)/tests/guest/smp-defects.bin: tests/guest/guest-defects.c tests/guest/smp.h
$(O)/tests/guest/smp-samples.bin: tests/guest/guest-samples.c \
		tests/guest/samples.h module/uapi/linux/tense-samples.h
$(O)/tests/guest/smp-names.bin: tests/guest/guest-names.c tests/guest/smp.h \
		tests/guest/exchange.h
$(O)/tests/guest/guest-probe.bin: tests/guest/guest-probe.c
smp_bins := $(addprefix $(O)/tests/guest/guest-,$(smp_programs:=.bin))
$(O)/tests/guest/guest-faults.bin: tests/guest/guest-faults.c
$(O)/tests/guest/guest-fuzz.bin: tests/guest/guest-fuzz.c \
		$(wildcard tests/guest/fuzz-*.c) tests/guest/fuzz.h
$(O)/tests/guest/guest-storms.bin: tests/guest/guest-storms.c tests/guest/smp.h \
		tests/guest/runner.h
$(smp_bins): $(O)/tests/guest/%.bin: tests/guest/%.c tests/guest/smp.h \
		tests/guest/runner.h tests/guest/traveller.h
$(smp_tests:=.bin) $(smp_bins) \
$(addprefix $(O)/tests/guest/guest-,faults.bin fuzz.bin storms.bin): \
		tests/guest/guest.h tests/guest/harness.h \
		kernel/include/uapi/linux/tense.h | $(O)/module/tense.ko
	$(test_cc) $(GUEST_TEST_CFLAGS) $(LDFLAGS) -static -o $@ \
		$(filter %.c,$^) -pthread

$(addprefix $(O)/tests/guest/,debug-watch race-watch): tests/guest/watch.h
$(addprefix $(O)/tests/guest/,qemu-init debug-watch race-watch): \
		$(O)/tests/guest/%: tests/guest/%.c
	$(test_gnu_cc) $(LDFLAGS) -static -o $@ $<

$(addprefix $(O)/tests/guest/guest-,abi.bin defects.bin names.bin): tests/guest/smp.h
$(O)/tests/guest/guest-names.bin: tests/guest/exchange.h
$(addprefix $(O)/tests/guest/guest-,samples.bin unseen.bin): tests/guest/samples.h \
		module/uapi/linux/tense-samples.h
$(addprefix $(O)/tests/guest/guest-,fair.bin groups.bin sessions.bin): tests/guest/race.h

$(O)/tests/guest/static-work: tests/guest/static-work.c
	$(test_cc) $(CFLAGS) $(LDFLAGS) -static -o $@ $<

GUEST_TESTS += $(O)/tests/guest/test-static
$(O)/tests/guest/test-static: $(O)/tests/guest/static-work $(USER_TARGETS)

# The API of the report.
GUEST_TESTS += $(O)/tests/guest/test-published
$(O)/tests/guest/test-published: tests/guest/published.c $(USER_TARGETS) | $(O)/module/tense.ko

# Lines of threads that return.
$(O)/tests/guest/returns: tests/guest/returns.c libtense/include/tense.h \
		$(O)/lib/libtense.so $(O)/flags
	$(test_gnu_cc) -Ilibtense/include $(LDFLAGS) -o $@ $< -L$(O)/lib \
		-ltense -Wl,-rpath,'$$ORIGIN/../../lib' -pthread

GUEST_TESTS += $(O)/tests/guest/test-report
$(O)/tests/guest/test-report: $(O)/tests/guest/returns $(USER_TARGETS) | $(O)/module/tense.ko

# Programs that share an experiment by its name.
$(O)/tests/guest/talk: tests/guest/talk.c tests/guest/exchange.h $(O)/flags
	$(test_gnu_cc) $(LDFLAGS) -o $@ $<

GUEST_TESTS += $(addprefix $(O)/tests/guest/,test-names test-names-qemu)
$(addprefix $(O)/tests/guest/,test-names test-names-qemu): \
		$(O)/tests/guest/talk $(USER_TARGETS)

# Programs that may hang or kill their guest.
$(O)/tests/guest/brink: tests/guest/brink.c tests/guest/guest.h \
		kernel/include/uapi/linux/tense.h $(O)/flags
	$(test_gnu_cc) -Ikernel/include/uapi $(LDFLAGS) -static -o $@ $<

GUEST_TESTS += $(O)/tests/guest/test-brink
$(O)/tests/guest/test-brink: $(O)/tests/guest/brink $(USER_TARGETS) | $(O)/module/tense.ko

$(O)/tests/guest/stall-watch: tests/guest/stall-watch.c
	$(test_gnu_cc) -Ikernel/include/uapi $(LDFLAGS) -o $@ $<

GUEST_TESTS += $(O)/tests/guest/test-smp-programs
$(O)/tests/guest/test-smp-programs: $(O)/tests/guest/stall-watch $(O)/workloads/dedup \
		$(USER_TARGETS)

# Several CPUs in User-Mode Linux, which Linux 7 has. uml2-NAME and uml4-NAME run
# the programs of smp2-NAME and smp4-NAME at the speed of this machine. guest-gate
# asks how far CPUs get ahead, which depends on the host where it has fewer.
uml_programs := abi area defects $(smp_programs)
uml_tests := $(addprefix $(O)/tests/guest/uml2-,$(uml_programs)) \
	$(addprefix $(O)/tests/guest/uml4-,$(filter-out gate,$(uml_programs)))
uml_cpus_programs := $(addprefix $(O)/tests/guest/,page-reuse futex-count \
	stale-pages scattered-pages first-touch lock-crowd spinners hand-over forbid-filters)
# Users of a machine with two CPUs run the commands so.
two_tests := $(addprefix $(O)/tests/guest/test-,$(addsuffix -two, \
	run whatif profile survey trace names signals bad-input))
$(two_tests): %-two: %
ifneq ($(filter 7.%,$(TENSE_KERNEL_VERSION)),)
GUEST_TESTS += $(uml_tests) $(O)/tests/guest/test-uml-cpus $(two_tests) \
	$(O)/tests/guest/test-uml-cpus-few $(O)/tests/guest/test-whatif-sweep
endif
$(O)/tests/guest/test-whatif-sweep: $(O)/accuracy/serial $(USER_TARGETS)

$(uml_cpus_programs): $(O)/tests/guest/%: tests/guest/%.c $(O)/flags
	$(test_gnu_cc) $(LDFLAGS) -static -o $@ $< -pthread

$(O)/tests/guest/test-uml-cpus $(O)/tests/guest/test-uml-cpus-few: \
		$(uml_cpus_programs) $(USER_TARGETS)

in_uml = $(Q)sed -e 's|@CPUS@|$(1)|' -e 's|@PROGRAM@|$(2)|' $< >$@ && chmod +x $@

define uml_test
$(O)/tests/guest/uml$(1)-$(2): tests/guest/in-uml $(O)/tests/guest/$(3).bin $(USER_TARGETS)
	$$(call in_uml,$(1),$(3).bin)
endef
$(foreach cpus,2 4,$(foreach name,abi area defects,$(eval \
	$(call uml_test,$(cpus),$(name),smp-$(name)))))
$(foreach cpus,2 4,$(foreach name,$(smp_programs),$(eval \
	$(call uml_test,$(cpus),$(name),guest-$(name)))))

# uml-debug-NAME: the same on a kernel that checks itself. Some programs share a guest, as in
# debug-several.
uml_debug_several := $(O)/tests/guest/uml-debug-several
uml_debug_smp_tests := $(addprefix $(O)/tests/guest/uml-debug-,defects samples)
uml_debug_guest_tests := $(addprefix $(O)/tests/guest/uml-debug-,gate migrate order sessions \
	races fuzz)
uml_debug_tests := $(uml_debug_several) $(uml_debug_smp_tests) $(uml_debug_guest_tests)
ifneq ($(filter 7.%,$(TENSE_KERNEL_VERSION)),)
GUEST_TESTS += $(uml_debug_tests)
endif

$(uml_debug_several): $(in_several)
$(uml_debug_smp_tests): $(O)/tests/guest/uml-debug-%: $(O)/tests/guest/smp-%.bin
$(uml_debug_guest_tests): $(O)/tests/guest/uml-debug-%: $(O)/tests/guest/guest-%.bin
$(uml_debug_tests): tests/guest/in-uml-debug $(O)/tests/guest/debug-watch $(USER_TARGETS)
	$(Q)sed -e 's|@SOURCE@|$(CURDIR)|' \
		-e 's|@PROGRAMS@|$(notdir $(filter %.bin,$^))|' $< >$@ && chmod +x $@

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
		tests/guest/guest.h tests/guest/harness.h \
		kernel/include/uapi/linux/tense.h | $(O)/module/tense.ko
	$(test_cc) $(GUEST_TEST_CFLAGS) $(LDFLAGS) -o $@ $< $(GUEST_TEST_LIBS) \
		-pthread

# A program whose library is elsewhere.
$(O)/tests/guest/needed/libneeded.so:
	$(call quiet,LD,$@)mkdir -p $(@D) && \
	echo 'int needed(void) { return 0; }' | \
	$(CC) $(CFLAGS) $(LDFLAGS) -shared -fPIC -o $@ -Wl,-soname,$(@F) -x c -

$(O)/tests/guest/needy: $(O)/tests/guest/needed/libneeded.so
	$(call quiet,LD,$@)echo 'int needed(void); int main(void) { return needed(); }' | \
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ -x c - -x none $<

$(O)/tests/guest/mixture: tests/guest/mixture.c $(O)/flags
	$(test_gnu_cc) $(LDFLAGS) -o $@ $< -pthread

GUEST_TESTS += $(O)/tests/guest/test-deterministic
$(O)/tests/guest/test-deterministic: $(O)/tests/guest/mixture \
		$(O)/tests/guest/needy $(USER_TARGETS)

$(O)/tests/guest/producer: tests/guest/producer.c $(O)/lib/libtense.so $(O)/flags
	$(test_gnu_cc) -Ilibtense/include $(LDFLAGS) -o $@ $< -L$(O)/lib \
		-ltense -Wl,-rpath,'$$ORIGIN/../../lib' -pthread

GUEST_TESTS += $(O)/tests/guest/test-producer
$(O)/tests/guest/test-producer: $(O)/tests/guest/producer $(USER_TARGETS)

GUEST_TESTS += $(O)/tests/guest/test-exact-whatif
$(O)/tests/guest/test-exact-whatif: $(O)/tests/guest/static-work $(USER_TARGETS) \
		$(addprefix $(O)/accuracy/,serial critical short-calls recursion)

GUEST_TESTS += $(O)/tests/guest/test-exact-profile
$(O)/tests/guest/test-exact-profile: $(O)/accuracy/several $(USER_TARGETS)

GUEST_TESTS += $(O)/tests/guest/test-slurm
$(O)/tests/guest/test-slurm: $(O)/accuracy/serial $(USER_TARGETS)

-include tests/guest/clocks.mk
