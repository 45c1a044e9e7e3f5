# SPDX-License-Identifier: GPL-2.0
#
# The tiers of the tests. UNIT_TESTS and GUEST_TESTS have each test of the tree;
# this file only divides them. A test that no list below names belongs to the
# rest of check-all.

ALL_TESTS := $(UNIT_TESTS) $(GUEST_TESTS) tests/check-patches

# FOLDER,NAME...: the tests of these names; % stands for any text.
named = $(filter $(addprefix $(O)/tests/$(1)/,$(2)),$(ALL_TESTS))

# For each change, CI runs NAME-asan, which tests the sanitized tense. check-all and nightly
# also run NAME, which tests the plain tense, and so does CI for two short ones.
PLAIN_TESTS := $(filter-out %/test-functions %/test-whatif, \
	$(filter $(patsubst %-asan,%,$(filter %-asan,$(UNIT_TESTS))),$(UNIT_TESTS)))

# ABI, time, fairness, libraries and one pass of run and whatif, all on UML. Fairness
# of groups of tasks (guest-groups) takes minutes: it belongs to the rest.
CHECK_TESTS := $(filter-out $(PLAIN_TESTS),$(UNIT_TESTS)) $(call named,guest,guest-abi guest-area guest-defects \
	guest-time guest-fair guest-libtense guest-libtense-native \
	guest-spans guest-functions test-published test-run test-whatif)

# Patches, several CPUs, debug kernels, and clocks on each tier.
KERNEL_TESTS := $(sort tests/check-patches $(call named,guest,guest-probe smp-% smp2-% \
	smp4-% uml2-% uml4-% uml-debug-% test-uml-cpus% debug-% test-smp-programs test-clock-order-% \
	test-stamped-queue-% test-queue-waits test-kernel-selftests-%))

# Several CPUs in User-Mode Linux: those for each change, and those for the night. There
# are none unless TENSE_KERNEL_VERSION is 7.x.
# Programs that load tense.ko run with one CPU, too.
CPUS_TESTS := $(call named,guest,uml-debug-several uml-debug-races uml-debug-fuzz \
	test-uml-cpus-few test-run-two test-whatif-sweep uml2-abi uml4-abi uml4-order \
	guest-abi guest-area guest-defects guest-names guest-samples guest-libtense-native)
CPUS_ALL_TESTS := $(CPUS_TESTS) $(call named,guest,test-uml-cpus test-%-two uml2-% uml4-% uml-debug-% \
	guest-% test-brink) \
	$(call named,timed,guest-timed%)

# For each change, CI runs races and fuzz on Linux 7.3 in User-Mode Linux instead, and no
# storms. In QEMU the three take 18 minutes: check-kernel, check-all and nightly run them.
# check-all and nightly run the others, too. Instead of these, CI runs guest-timed, smp-names,
# smp4-clock-order and test-stamped-queue-exact.
SLOW_TESTS := $(call named,guest,debug-races debug-fuzz debug-storms test-names-qemu \
	test-clock-order-qemu test-stamped-queue-qemu) \
	$(call named,timed,guest-timed-static)

REST_TESTS := $(filter-out $(CHECK_TESTS) $(PLAIN_TESTS) $(SLOW_TESTS),$(ALL_TESTS))

# These tests run one at a time, beside the others, for one of two reasons:
# - They wait most of their time and would hold a place that computes nothing.
# - They measure processes of the host and end them by name, so no two of them may
#   run at once. Others may: they assert no time of the host's clock.
WAITING_TESTS := $(call named,unit,test-bench test-accuracy test-measure-run% \
	test-daemons% test-noise test-noise-asan test-deaf-guest \
	test-bad-setup) \
	$(call named,timed,test-timed test-timed-static guest-timed \
	guest-timed-static guest-timed-preloaded test-timed-programs) \
	$(call named,guest,test-slurm test-signals test-signals-qemu test-bad-input \
	test-bad-input-two test-signals-two test-clocks test-streams test-terminal)

# These tests run one at a time, after the others, for one of three reasons:
# - They step through code instruction by instruction, beside a thread of their own.
# - Their guests have several CPUs and the host's clock. Such a guest counts the
#   time that the host gives to other processes as its own. The tests assert
#   shares of CPU time, that real-time tasks leave time to others, how late a
#   wake-up is, or the order of readings beside a load.
# - Only `make nightly` runs them.
# All other tests in guests run beside each other.
ALONE_TESTS := $(call named,guest,%-sessions %-races test-kernel-selftests-qemu \
	test-clock-order-qemu) \
	$(call named,unit,test-libtense-signal) \
	$(filter-out $(ALL_TESTS),$(debug_tests) $(kcsan_tests))

# These tests take a minute or more. They start first, in this order, so that no
# CPU is idle at the end.
LONG_TESTS := test-kernel test-c uml-debug-several test-slurm test-exact-profile \
	guest-groups test-profile test-profile-two test-signals-two test-run-two test-whatif-two \
	test-run-qemu test-deterministic \
	test-signals-qemu test-signals debug-fuzz test-exact-whatif check-patches \
	guest-fair test-queue-waits test-stamped-queue-exact debug-storms \
	test-stamped-queue-uml test-smp-programs test-producer \
	test-kernel-selftests-uml test-static test-clock-order-uml test-ledger \
	test-whatif test-timed-programs uml-debug-fuzz test-dedup test-run test-build

# Tests that run commands of tense, most of them in guests. Documents and the code of other
# commands do not change their results.
COMMAND_TESTS := $(call named,guest,$(foreach name,run whatif profile survey trace names signals \
	bad-input streams terminal,test-$(name) test-$(name)-qemu test-$(name)-two) \
	test-uml-cpus-few test-whatif-sweep test-static test-deterministic \
	test-smp-programs test-clock-order-% test-stamped-queue-% test-queue-waits \
	test-kernel-selftests-% test-producer test-exact-% test-slurm test-clocks \
	test-published test-report test-brink test-rounds) \
	$(call named,timed,guest-timed-uring test-timed%) \
	$(call named,unit,test-cli% test-measure-run% test-measure-tune% test-daemons% test-noise \
	test-noise-asan test-functions% test-trace-activity% test-whatif test-whatif-asan \
	test-deaf-guest test-bad-setup test-dedup test-run-tap)

# Tests that run a program of theirs by tense run, and nothing else. The tests of the order of
# CPUs are not among them: they skip one that a busy host spoils.
IN_UML_TESTS := $(filter-out %-races %-fuzz %-order,$(guest_tests) $(experiment_tests) $(functions_tests) \
	$(timed_guest_tests) $(timed_preloaded) $(uml_tests) $(uml_debug_tests))

# run-tap repeats the last pass of these tests until something changes that they depend on.
# tests/lib/inputs.sh knows what that is for each kind. Tests of races and fuzz depend most on
# chance: they always run.
KEPT_TESTS := $(addprefix program:,$(call named,unit,test-ledger test-profile test-race \
	test-whatif-estimate test-noise-fit test-vclock-%) $(call named,sim,sim)) \
	$(addprefix in_qemu:,$(smp_tests) $(filter-out %-races,$(smp2_tests)) $(call named,guest,smp4-clock-order)) \
	$(addprefix in_uml:,$(IN_UML_TESTS)) $(addprefix commands:,$(COMMAND_TESTS)) \
	models:tests/spin/test-spin kernel_style:tests/lint/test-kernel \
	itself:tests/check-patches

LINT_TESTS := $(addprefix tests/lint/test-,includes links mutations shell c kernel spelling style)

# In this order. check-all has fixed seeds, the others have random ones.
NIGHTLY := lint check-all check-patches debug check-cpus-all check-cpus-older fuzz kcsan storms mutate sim-random fuzz-parsers coverage accuracy
