# SPDX-License-Identifier: GPL-2.0
#
# The tests of module/vclock.c on the host: unit tests and the simulator,
# compiled with the very same file and with sanitizers.

-include tests/unit/build.mk
-include tests/unit/functions/build.mk
-include tests/timed/build.mk

vclock_out := $(O)/tests/vclock
vclock_tests := $(addprefix $(O)/tests/unit/test-vclock-, \
	charge deadline holes horizon stretch time)
vclock_sim_objects := $(patsubst tests/sim/%.c,$(vclock_out)/sim/%.o, \
	$(wildcard tests/sim/*.c))

VCLOCK_CFLAGS = $(WARN) $(CFLAGS) -I. -Itests/lib \
	-fsanitize=address,undefined -fno-sanitize-recover=all

$(vclock_out)/sim/%.o: tests/sim/%.c $(O)/flags
	$(call quiet,CC,$@)mkdir -p $(@D) && \
	$(CC) $(VCLOCK_CFLAGS) -MMD -MP -c -o $@ $<

$(vclock_out)/%.o: tests/unit/%.c $(O)/flags
	$(call quiet,CC,$@)mkdir -p $(@D) && \
	$(CC) $(VCLOCK_CFLAGS) -MMD -MP -c -o $@ $<

$(vclock_out)/vclock.o: module/vclock.c $(O)/flags
	$(call quiet,CC,$@)mkdir -p $(@D) && \
	$(CC) $(VCLOCK_CFLAGS) -MMD -MP -c -o $@ $<

$(vclock_tests): $(O)/tests/unit/%: $(vclock_out)/%.o $(vclock_out)/vclock.o
$(O)/tests/sim/sim: $(vclock_sim_objects) $(vclock_out)/vclock.o
$(vclock_tests) $(O)/tests/sim/sim:
	$(call quiet,LD,$@)mkdir -p $(@D) && \
	$(CC) $(VCLOCK_CFLAGS) $(LDFLAGS) -o $@ $(filter %.o,$^)

UNIT_TESTS += $(vclock_tests) $(O)/tests/sim/sim

# Do these tests notice when the virtual clock breaks a rule? Takes minutes.
.PHONY: mutate
mutate:
	$(Q)CC='$(CC)' tests/sim/mutate

-include $(vclock_sim_objects:.o=.d) $(vclock_out)/vclock.d \
	$(vclock_tests:$(O)/tests/unit/%=$(vclock_out)/%.d)
