# SPDX-License-Identifier: GPL-2.0
#
# make accuracy: predictions of `tense whatif` beside the truth. Workloads whose
# answer is known, and real programs.

accuracy_dir := tests/accuracy
accuracy_out := $(O)/accuracy

ACCURACY_WORKLOADS := serial short-calls long-calls recursion branchy memory \
	system-calls pipeline producer-consumer lock-inside lock-outside \
	barrier two-processes thread-pool requests
accuracy_programs := $(addprefix $(accuracy_out)/,$(ACCURACY_WORKLOADS))
# For several CPUs only.
accuracy_smp := $(addprefix $(accuracy_out)/,critical off-critical)

define accuracy_compile
$(call quiet,CC,$@)mkdir -p $(@D) && $(CC) $(CPPFLAGS) $(CFLAGS) \
	-D_GNU_SOURCE -I. -Itools -Ikernel/include/uapi -MMD -MP -c -o $@ $<
endef

$(accuracy_out)/obj/%.o: $(accuracy_dir)/%.c $(O)/flags
	$(accuracy_compile)

# Not stripped: hot() is in .symtab.
$(accuracy_out)/obj/critical.o: CPPFLAGS = -DHOT_UNITS=2000
$(accuracy_out)/obj/off-critical.o: CPPFLAGS = -DHOT_UNITS=1200
$(accuracy_out)/obj/off-critical.o: $(accuracy_dir)/critical.c $(O)/flags
	$(accuracy_compile)
$(accuracy_programs) $(accuracy_smp): $(accuracy_out)/%: $(accuracy_out)/obj/%.o \
		$(accuracy_out)/obj/work.o
	$(test_ld) $(CFLAGS) $(LDFLAGS) -o $@ $^ -pthread

# For tense profile.
$(accuracy_out)/several: $(accuracy_out)/obj/several.o
	$(test_ld) $(CFLAGS) $(LDFLAGS) -o $@ $^ -pthread

$(accuracy_out)/rounds: $(accuracy_out)/obj/rounds.o $(O)/tools/run/launch.o $(O)/tools/run/clock-choice.o \
		$(O)/tools/run/trace-record.o $(O)/tools/run/samples-record.o \
		$(O)/tools/base/util.o
	$(test_ld) $(CFLAGS) $(LDFLAGS) -o $@ $^

accuracy_tables := $(addprefix $(accuracy_out)/,accuracy-table function-cut)
$(accuracy_tables): $(accuracy_out)/%: $(accuracy_out)/obj/%.o $(accuracy_out)/obj/compare.o \
		$(bench_out)/obj/log.o $(O)/tools/whatif/estimate.o \
		$(O)/tools/base/util.o
	$(test_ld) $(CFLAGS) $(LDFLAGS) -o $@ $^ -ljansson $(STATS_LIBS)

$(accuracy_out)/libslow.so: $(accuracy_dir)/slow.c $(O)/flags
	$(test_gnu_cc) -Ikernel/include/uapi -fPIC -fvisibility=hidden -shared \
		-ftls-model=initial-exec $(LDFLAGS) -o $@ $<

$(accuracy_out)/workloads: $(accuracy_dir)/build.mk
	$(Q)mkdir -p $(@D) && echo $(ACCURACY_WORKLOADS) >$@

ACCURACY := $(accuracy_programs) $(addprefix $(accuracy_out)/,rounds \
	libslow.so workloads) $(accuracy_tables)

-include $(wildcard $(accuracy_out)/obj/*.d)

accuracy-exact: $(accuracy_smp) $(accuracy_programs)
	$(Q)$(accuracy_dir)/exact $(O)

accuracy-exact-whatif: $(ACCURACY)
	$(Q)$(accuracy_dir)/exact-whatif $(O)

accuracy-order: $(addprefix $(accuracy_out)/,several rounds)
	$(Q)$(accuracy_dir)/order $(O)

accuracy-first: $(accuracy_out)/several
	$(Q)$(accuracy_dir)/first $(O)

accuracy-survey: $(accuracy_out)/several
	$(Q)$(accuracy_dir)/survey $(O)

window: $(accuracy_programs)
	$(Q)$(accuracy_dir)/window $(O)

accuracy: $(ACCURACY)
	$(Q)$(accuracy_dir)/accuracy $(O)

docs-tables:
	$(Q)$(accuracy_dir)/tables $(O) docs/accuracy.md docs/benchmarks.md

$(O)/tests/unit/test-accuracy $(O)/tests/guest/test-rounds: $(ACCURACY)
$(O)/tests/guest/test-rounds: $(O)/lib/libtense.so
GUEST_TESTS += $(O)/tests/guest/test-rounds
UNIT_TESTS += $(O)/tests/unit/test-accuracy $(O)/tests/unit/test-tables
