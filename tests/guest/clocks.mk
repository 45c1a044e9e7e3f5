# SPDX-License-Identifier: GPL-2.0
#
# Is the clock causally consistent (R9)? A program counts readings that are too
# early, on each tier.

clocks_programs := $(addprefix $(O)/tests/guest/,clock-order stamped-queue)

$(clocks_programs): $(O)/tests/guest/%: tests/guest/%.c tests/guest/raw-clock.h \
		libtense/include/tense.h $(O)/lib/libtense.so $(O)/flags
	$(test_gnu_cc) -Ilibtense/include $(LDFLAGS) -o $@ $< -L$(O)/lib \
		-ltense -Wl,-rpath,'$$ORIGIN/../../lib' -pthread

# NAME-uml, -qemu and -exact run the same script on other tiers.
%-exact: TIERS_FOR = exact-1 exact-2

clock_order_tests := $(addprefix $(O)/tests/guest/test-clock-order-,uml qemu exact)
GUEST_TESTS += $(clock_order_tests)
$(O)/tests/guest/test-clock-order-uml: TIERS_FOR = host real-uml uml
$(O)/tests/guest/test-clock-order-qemu: TIERS_FOR = qemu-1 qemu-2 qemu-4
$(clock_order_tests): $(O)/tests/guest/clock-order $(USER_TARGETS)

# Uses 4 CPUs even if the machine has fewer.
GUEST_TESTS += $(O)/tests/guest/smp4-clock-order
$(O)/tests/guest/guest-clock-order.bin: tests/guest/guest-clock-order.c \
		tests/guest/clock-order.c tests/guest/raw-clock.h \
		tests/guest/guest.h $(O)/lib/libtense.a $(O)/flags
	$(test_gnu_cc) -Ilibtense/include -Ikernel/include/uapi $(LDFLAGS) \
		-static -o $@ $< $(O)/lib/libtense.a -pthread -lrt

$(O)/tests/guest/smp4-clock-order: tests/guest/in-qemu \
		$(O)/tests/guest/guest-clock-order.bin $(O)/tests/guest/qemu-init
	$(call in_qemu,4,guest-clock-order.bin)

stamped_queue_tests := $(addprefix $(O)/tests/guest/test-stamped-queue-,uml qemu exact)
GUEST_TESTS += $(stamped_queue_tests)
$(O)/tests/guest/test-stamped-queue-uml: TIERS_FOR = host real-uml uml
$(O)/tests/guest/test-stamped-queue-qemu: TIERS_FOR = qemu-2
$(stamped_queue_tests): $(O)/tests/guest/stamped-queue $(USER_TARGETS)

GUEST_TESTS += $(O)/tests/guest/test-queue-waits
$(O)/tests/guest/test-queue-waits: $(O)/workloads/queue $(O)/bench/queue-table \
		$(USER_TARGETS)

# The kernel's selftests, from the source of Linux 6.1. The guest's kernel may be 7.2.
selftests_dir = $$(tools/kernel-build --arch um --print)/build/tools/testing/selftests
selftests_out := $(O)/tests/guest/selftests
timers_selftests := $(addprefix $(selftests_out)/,threadtest inconsistency-check nanosleep \
	nsleep-lat set-timer-lat raw_skew mqueue-lat posix_timers)
futex_selftests := $(addprefix $(selftests_out)/,$(addprefix futex_,wait wait_timeout \
	wait_wouldblock wait_uninitialized_heap wait_private_mapped_file requeue \
	requeue_pi requeue_pi_mismatched_ops requeue_pi_signal_restart waitv))

# No warnings for code that is not ours.
$(timers_selftests): $(selftests_out)/%: $(O)/flags | $(O)/module/tense.ko
	$(test_cc) -O2 -w $(LDFLAGS) -o $@ $(selftests_dir)/timers/$*.c \
		-pthread -lrt -lm

$(futex_selftests): $(selftests_out)/%: $(O)/flags | $(O)/module/tense.ko
	$(test_cc) -O2 -w -D_GNU_SOURCE -I$(selftests_dir)/futex/include \
		-I$(selftests_dir) $(LDFLAGS) -o $@ \
		$(selftests_dir)/futex/functional/$*.c -pthread -lrt

# CI runs the first two, make clock-order all of them.
selftests_tests := $(addprefix $(O)/tests/guest/test-kernel-selftests-,uml qemu smp \
	exact)
$(O)/tests/guest/test-kernel-selftests-uml: TIERS_FOR = uml
$(O)/tests/guest/test-kernel-selftests-qemu: TIERS_FOR = qemu-2
$(O)/tests/guest/test-kernel-selftests-smp: TIERS_FOR = qemu-1 qemu-4
$(selftests_tests): $(timers_selftests) $(futex_selftests) $(USER_TARGETS)
GUEST_TESTS += $(filter %-uml %-qemu,$(selftests_tests))

# Runs all of them at full length and prints a table. It takes hours.
clock_order_all := $(clock_order_tests) $(O)/tests/guest/smp4-clock-order $(stamped_queue_tests) \
	$(O)/tests/guest/test-queue-waits $(selftests_tests)
clock-order: user module $(clock_order_all)
	$(Q)for t in $(clock_order_all); do \
		READINGS=$${READINGS:-1000000} JOBS=$${JOBS:-1000000} LONG=1 \
			$$t || failed=1; \
	done; [ -z "$$failed" ]
