# SPDX-License-Identifier: GPL-2.0
#
# The programs that demo, experiments and bench run, and the test of dedup.

workloads_dir := tests/workloads
workloads_out := $(O)/workloads

# calibrate is for tests/bench/whatif.c.
DEDUP_SOURCES := $(filter-out %-calibrate.c,$(sort $(wildcard $(workloads_dir)/dedup*.c)))
DEDUP_LIBS := -lz -lcrypto -pthread
SPINNERS_SOURCES := $(addprefix $(workloads_dir)/,spinners.c racers.c)
PI_SOURCES := $(addprefix $(workloads_dir)/,pi.c pi-digits.c racers.c)
QUEUE_SOURCES := $(addprefix $(workloads_dir)/,queue.c queue-plan.c queue-run.c)

WORKLOAD_PROGRAMS := $(addprefix $(workloads_out)/,dedup spinners pi queue)
DEDUP_SANITIZED := $(addprefix $(O)/tests/unit/dedup-,asan tsan)

WORKLOADS_FLAGS := -D_GNU_SOURCE -Ilibtense/include -Ikernel/include/uapi
# Usable in place, wherever build/ is moved to.
WORKLOADS_LINK = -L$(O)/lib -ltense -Wl,-rpath,'$$ORIGIN/../lib'

workloads_objects = $(patsubst $(workloads_dir)/%.c,$(workloads_out)/obj/%.o,$(1))

$(workloads_out)/obj/%.o: $(workloads_dir)/%.c $(O)/flags
	$(test_cc) $(CFLAGS) $(WORKLOADS_FLAGS) -MMD -MP -c -o $@ $<

$(workloads_out)/dedup: $(call workloads_objects,$(DEDUP_SOURCES))
$(workloads_out)/dedup: WORKLOADS_LIBS = $(DEDUP_LIBS)
$(workloads_out)/spinners: $(call workloads_objects,$(SPINNERS_SOURCES))
$(workloads_out)/pi: $(call workloads_objects,$(PI_SOURCES))
$(workloads_out)/queue: $(call workloads_objects,$(QUEUE_SOURCES))
$(workloads_out)/queue: WORKLOADS_LIBS = -lm -pthread

$(WORKLOAD_PROGRAMS): $(O)/lib/libtense.so
	$(test_ld) $(CFLAGS) $(LDFLAGS) -o $@ $(filter %.o,$^) \
		$(WORKLOADS_LINK) $(WORKLOADS_LIBS)

# Static: what is traced is to be its threads, not the way to them.
$(workloads_out)/speeds: $(call workloads_objects,$(workloads_dir)/speeds.c) \
		$(O)/lib/libtense.a
	$(test_ld) $(CFLAGS) $(LDFLAGS) -static -o $@ $^ -pthread

-include $(wildcard $(workloads_out)/obj/*.d)

# All sources at once: the objects above have other flags.
$(O)/tests/unit/dedup-asan: SANITIZE := address,undefined
$(O)/tests/unit/dedup-tsan: SANITIZE := thread
$(DEDUP_SANITIZED): $(DEDUP_SOURCES) $(wildcard $(workloads_dir)/*.h) \
		tests/lib/real-clock.h $(O)/lib/libtense.so $(O)/flags
	$(test_cc) $(CFLAGS) -fsanitize=$(SANITIZE) -fno-sanitize-recover=all \
		$(WORKLOADS_FLAGS) $(LDFLAGS) -o $@ $(DEDUP_SOURCES) \
		-L$(O)/lib -ltense -Wl,-rpath,'$$ORIGIN/../../lib' \
		$(DEDUP_LIBS)

$(O)/tests/unit/test-dedup: $(workloads_out)/dedup $(DEDUP_SANITIZED)
$(O)/tests/unit/test-workloads: $(WORKLOAD_PROGRAMS) $(workloads_out)/speeds
UNIT_TESTS += $(O)/tests/unit/test-dedup $(O)/tests/unit/test-workloads
