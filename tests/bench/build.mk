# SPDX-License-Identifier: GPL-2.0
#
# make demo, make experiments, make bench.

bench_dir := tests/bench
bench_out := $(O)/bench

BENCH_LOG := whatif-table ratio memory-table
BENCH_STATS := $(BENCH_LOG) spinner-table queue-table
BENCH_INIT := overhead-init many-tasks-init many-sleepers-init ping-pong-init \
	cost-init
BENCH := $(addprefix $(bench_out)/,$(BENCH_STATS) $(BENCH_INIT) \
	pi-table report cpu-bound percent-pair stub-pair lateness \
	wake-late clock-cost clock-lead whatif gate-spin)

BENCH_CFLAGS = $(CFLAGS) -D_GNU_SOURCE -Ilibtense/include \
	-Ikernel/include/uapi
STATS_LIBS := -lgsl -lgslcblas -lm

$(bench_out)/obj/%.o: $(bench_dir)/%.c $(O)/flags
	$(test_cc) $(BENCH_CFLAGS) -MMD -MP -c -o $@ $<

$(bench_out)/obj/stats.o: tests/lib/stats.c $(O)/flags
	$(test_cc) $(BENCH_CFLAGS) -MMD -MP -c -o $@ $<

$(BENCH): $(bench_out)/%: $(bench_out)/obj/%.o
	$(test_ld) $(CFLAGS) $(LDFLAGS) -o $@ $(filter %.o,$^) $(BENCH_LIBS)

$(addprefix $(bench_out)/,$(BENCH_STATS)): $(bench_out)/obj/figure.o \
	$(bench_out)/obj/stats.o
$(addprefix $(bench_out)/,$(BENCH_STATS)): BENCH_LIBS = $(STATS_LIBS)
$(addprefix $(bench_out)/,$(BENCH_LOG)): $(bench_out)/obj/log.o
$(addprefix $(bench_out)/,$(BENCH_INIT)): $(bench_out)/obj/init.o
$(addprefix $(bench_out)/many-,tasks-init sleepers-init): BENCH_LIBS = -pthread
$(bench_out)/ping-pong-init: $(bench_out)/obj/stats.o
$(bench_out)/cost-init: $(O)/lib/libtense.a
$(bench_out)/cost-init: BENCH_LIBS = -static $(O)/lib/libtense.a -pthread -lrt
$(bench_out)/ping-pong-init: BENCH_LIBS = $(STATS_LIBS)
$(bench_out)/report: BENCH_LIBS = -ljansson
$(addprefix $(bench_out)/,percent-pair lateness wake-late clock-lead gate-spin): \
	$(O)/lib/libtense.so
$(addprefix $(bench_out)/,percent-pair lateness wake-late clock-lead gate-spin): \
	BENCH_LIBS = $(WORKLOADS_LINK) -pthread
$(bench_out)/whatif: $(call workloads_objects,$(workloads_dir)/dedup-calibrate.c \
	$(filter-out %/dedup.c,$(DEDUP_SOURCES))) $(O)/lib/libtense.so
$(bench_out)/whatif: BENCH_LIBS = $(WORKLOADS_LINK) $(DEDUP_LIBS) -lm

-include $(wildcard $(bench_out)/obj/*.d)

$(O)/tests/unit/test-stats: tests/unit/test-stats.c tests/lib/stats.c \
		tests/lib/stats.h tests/lib/tap.h $(O)/flags
	$(test_cc) $(BENCH_CFLAGS) $(LDFLAGS) -o $@ $(filter %.c,$^) \
		$(STATS_LIBS)

$(O)/tests/unit/test-bench: $(BENCH) $(bench_out)/clock-figures
UNIT_TESTS += $(O)/tests/unit/test-stats $(O)/tests/unit/test-bench

# With parts of the suite in tests/accuracy.
demo: $(WORKLOAD_PROGRAMS) $(BENCH) $(addprefix $(O)/accuracy/,rounds libslow.so \
		accuracy-table)
	$(Q)$(bench_dir)/demo $(O)

experiments: $(WORKLOAD_PROGRAMS) $(BENCH) $(bench_out)/clock-figures
	$(Q)$(bench_dir)/experiments $(O)

bench: $(WORKLOAD_PROGRAMS) $(BENCH) $(O)/lib/libtense-functions.so
	$(Q)$(bench_dir)/bench $(O)

bench-cost: $(bench_out)/cost-init $(bench_out)/gate-spin $(bench_out)/stub-pair
	$(Q)$(bench_dir)/cost $(O)

bench-diff:
	$(Q)$(bench_dir)/cost-diff tests/data/cost.json $(bench_out)/cost.json

$(addprefix $(bench_out)/,kbest-error kbest-ticks clock-figures): $(bench_out)/%: \
		tests/bench/%.c $(O)/lib/libtense-measure.so
	$(test_cc) $(BENCH_CFLAGS) $(LDFLAGS) -o $@ $< -L$(O)/lib \
		-ltense-measure -Wl,-rpath,'$$ORIGIN/../lib' -lm

bench-measure: $(COUNT_BIN) $(addprefix $(bench_out)/,kbest-error kbest-ticks) $(O)/bin/tense
	$(Q)$(bench_dir)/measure $(O)

bench-noise: $(O)/bin/tense
	$(Q)$(bench_dir)/noise $(O)
