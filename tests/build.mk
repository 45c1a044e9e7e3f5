# SPDX-License-Identifier: GPL-2.0
#
# The tests of module/vclock.c on the host: unit tests and the simulator,
# compiled with the very same file and with sanitizers.

# A test that is a script is run by a file in $(O). It tells the script where
# everything is, and gives it the same environment whoever runs it. NAME-asan,
# NAME-qemu and so on run the script NAME as well. A guest has one CPU, or two in NAME-two,
# unless the script names a number.
TESTED = $(TENSE_BIN)
%-asan: TESTED = $(ASAN_BIN)
BACKEND = uml
%-qemu: BACKEND = qemu
%-few: FEW = 1
TEST_CPUS = 1
%-two: private TEST_CPUS = 2

define script_test
$(O)/tests/%$(1): tests/%.sh tests/build.mk $(O)/flags
	$$(Q)mkdir -p $$(@D) && { head -n 1 $$< && printf '%s\n' \
		"source='$$(CURDIR)' out='$$(abspath $$(O))' tense='$$(abspath $$(TESTED))'" \
		"cc='$$(CC)' backend=$$(BACKEND) tiers='$$(TIERS_FOR)'" \
		"workloads='$$(ACCURACY_WORKLOADS)' few=$$(FEW)" \
		'set -u; export LC_ALL=C TENSE_CPUS=$$(TEST_CPUS)' \
		'unset LD_PRELOAD TENSE TENSE_EXPERIMENT TENSE_STRICT TENSE_MEMORY NO_COLOR' \
		'. "$$$$source/$$<"'; } >$$@ && chmod +x $$@
endef
script_suffixes := -asan -qemu -uml -exact -smp -few -two
$(foreach suffix,'' $(script_suffixes),$(eval \
	$(call script_test,$(subst '',,$(suffix)))))
# The rule above makes test-NAME-exact from test-NAME.sh. So no script may have a name
# that ends with a suffix: the test of that name would run another script.
ambiguous := $(wildcard $(script_suffixes:%=tests/*/test-*%.sh))
$(if $(ambiguous),$(error the name of $(ambiguous) ends with a suffix that runs another script: rename it))

-include tests/unit/build.mk
-include tests/unit/functions/build.mk
-include tests/timed/build.mk
-include tests/fuzz/build.mk

# Each of these tests links with the archive ASAN_LIB. The linker prefers
# functions of the test's own sources, such as fakes, to those of the archive.
$(ARCHIVE_TESTS): $(O)/tests/unit/%: tests/unit/%.c $(ASAN_LIB) $(TOOLS_HEADERS) \
		$(libtense_test_headers) $(O)/flags
	$(test_cc) $(LIBTENSE_TEST_CFLAGS) $(MEASURE_CFLAGS) -I. -Itools -Imodule/uapi \
		-I$(O)/tools -DTENSE_VERSION='"$(VERSION)"' \
		-DSOURCE='"$(CURDIR)"' -DCC='"$(CC)"' \
		-fsanitize=address,undefined $(WRAPPED) $(LDFLAGS) -o $@ \
		$(filter %.c,$^) $(ASAN_LIB) $(TENSE_LIBS)
UNIT_TESTS += $(ARCHIVE_TESTS)

vclock_out := $(O)/tests/vclock
vclock_tests := $(addprefix $(O)/tests/unit/test-vclock-, \
	charge deadline holes horizon stretch time)
vclock_sim_objects := $(patsubst tests/sim/%.c,$(vclock_out)/sim/%.o, \
	$(wildcard tests/sim/*.c))

vclock_objects := $(addprefix $(vclock_out)/,vclock.o gvt.o reading.o)

VCLOCK_CFLAGS = $(CFLAGS) -I. -Itests/lib \
	-fsanitize=address,undefined -fno-sanitize-recover=all

$(vclock_out)/sim/%.o: tests/sim/%.c $(O)/flags
	$(test_cc) $(VCLOCK_CFLAGS) -MMD -MP -c -o $@ $<

$(vclock_out)/%.o: tests/unit/%.c $(O)/flags
	$(test_cc) $(VCLOCK_CFLAGS) -MMD -MP -c -o $@ $<

$(vclock_out)/%.o: module/%.c $(O)/flags
	$(test_cc) $(VCLOCK_CFLAGS) -MMD -MP -c -o $@ $<

$(vclock_tests): $(O)/tests/unit/%: $(vclock_out)/%.o $(vclock_objects)
$(O)/tests/sim/sim: $(vclock_sim_objects) $(vclock_objects)
$(vclock_tests) $(O)/tests/sim/sim $(O)/tests/sim/oracle:
	$(test_ld) $(VCLOCK_CFLAGS) $(LDFLAGS) -o $@ $(filter %.o,$^)

# Generated programs, against their exact schedule.
oracle_objects := $(patsubst tests/sim/%.c,$(vclock_out)/sim/%.o, \
	$(wildcard tests/sim/oracle/*.c)) \
	$(addprefix $(vclock_out)/sim/,model.o ops.o check.o driver.o memory.o)

$(vclock_out)/sim/oracle/%.o: tests/sim/oracle/%.c $(O)/flags
	$(test_cc) $(VCLOCK_CFLAGS) -Itests/sim -MMD -MP -c -o $@ $<

$(O)/tests/sim/oracle: $(oracle_objects) $(vclock_objects)
UNIT_TESTS += $(O)/tests/sim/oracle

# Shares of a CPU, in a model of its queue.
$(O)/tests/unit/test-ledger: $(addprefix $(vclock_out)/, \
		test-ledger.o cfs.o ledger.o groups.o)
	$(test_ld) $(VCLOCK_CFLAGS) $(LDFLAGS) -o $@ $^ -lm

$(vclock_out)/%.o: tests/lib/%.c $(O)/flags
	$(test_cc) $(VCLOCK_CFLAGS) -MMD -MP -c -o $@ $<

UNIT_TESTS += $(O)/tests/unit/test-ledger

# Locks and barriers, by threads: under the sanitizer that knows them.
$(O)/tests/unit/test-gvt: tests/unit/test-gvt.c module/gvt.c module/gvt.h \
		tests/lib/vclock-host.h tests/lib/tap.h tests/sim/rng.h $(O)/flags
	$(test_cc) $(CFLAGS) -I. -Itests/lib -Wno-tsan -fsanitize=thread \
		$(LDFLAGS) -o $@ $(filter %.c,$^) -pthread

UNIT_TESTS += $(vclock_tests) $(O)/tests/sim/sim $(O)/tests/unit/test-gvt

# The tools of the tests, finding a QEMU, README and docs.
UNIT_TESTS += $(addprefix $(O)/tests/unit/test-,run-tap last-pass lint-style \
	install-deps build ci qemu-fetch kernel-source documents)
$(O)/tests/unit/test-build: $(USER_TARGETS)

# Models of it for spin, which tries every order of steps.
UNIT_TESTS += tests/spin/test-spin

# Do these tests notice when the virtual clock breaks a rule? Takes minutes.
mutate:
	$(Q)CC='$(CC)' tests/sim/mutate

# More schedules and programs than in check-all, from SEED= or a random one.
sim-random: $(O)/tests/sim/sim $(O)/tests/sim/oracle
	$(Q)seed=$(or $(SEED),$$(od -An -N3 -tu4 /dev/urandom | tr -d ' ')) && \
	echo "sim-random: SEED=$$seed" && \
	$(O)/tests/sim/sim --seed $$seed --schedules $(or $(SCHEDULES),20000) && \
	$(O)/tests/sim/oracle --seed $$seed

-include $(oracle_objects:.o=.d)
-include $(vclock_sim_objects:.o=.d) $(vclock_objects:.o=.d) \
	$(vclock_tests:$(O)/tests/unit/%=$(vclock_out)/%.d) \
	$(addprefix $(vclock_out)/,test-ledger.d cfs.d ledger.d groups.d)
