# SPDX-License-Identifier: GPL-2.0
#
# The tiers of the tests. UNIT_TESTS and GUEST_TESTS have each test of the tree;
# this file only divides them. A test that no list below names belongs to the
# rest of check-all.

ALL_TESTS := $(UNIT_TESTS) $(GUEST_TESTS) tests/check-patches

# FOLDER,NAME...: the tests of these names; % stands for any text.
named = $(filter $(addprefix $(O)/tests/$(1)/,$(2)),$(ALL_TESTS))

# ABI, time, fairness, libraries and one pass of run and whatif, all on UML. Fairness
# of groups of tasks (guest-groups) takes minutes: it belongs to the rest.
CHECK_TESTS := $(UNIT_TESTS) $(call named,guest,guest-abi guest-area guest-defects \
	guest-time guest-fair guest-libtense guest-libtense-native \
	guest-spans guest-functions test-run test-whatif)

# Patches, several CPUs, debug kernels, and clocks on each tier.
KERNEL_TESTS := $(sort tests/check-patches $(call named,guest,guest-probe smp-% smp2-% \
	smp4-% debug-% test-smp-programs test-clock-order-% test-stamped-queue-% \
	test-queue-waits test-kernel-selftests-%))

REST_TESTS := $(filter-out $(CHECK_TESTS),$(ALL_TESTS))

# These tests run one at a time, after the others. They measure CPU time or the
# host's time, put load on the machine, or have guests of several CPUs. Guests
# whose clock counts instructions (exact) do not depend on the host.
exact_tests := $(call named,guest,%-exact test-producer test-deterministic)
ALONE_TESTS := $(filter-out $(exact_tests),$(sort \
	$(filter %-qemu %-smp,$(ALL_TESTS)) $(KERNEL_TESTS) \
	$(call named,unit,test-bench test-accuracy test-measure-run% test-daemons% \
		test-noise test-noise-asan test-libtense-signal) \
	$(call named,timed,test-timed test-timed-static test-timed-programs guest-timed%) \
	$(call named,guest,guest-time guest-fair guest-groups test-rounds test-whatif \
		test-trace) \
	$(debug_tests) $(kcsan_tests)))

LINT_TESTS := $(addprefix tests/lint/test-,includes shell c kernel spelling style)

# In this order. Seeds are random, unlike those of check-all.
NIGHTLY := lint check-patches debug fuzz kcsan storms mutate sim-random fuzz-parsers coverage accuracy
