# SPDX-License-Identifier: GPL-2.0
# tense and guest-init, and the links that make the build directory look like
# an installation.

include tools/measure/build.mk
include tools/noise/build.mk
include tools/activity/build.mk

# The folders whose sources are all linked into tense, from the lowest upwards:
# each includes only from its own and from those before it.
TENSE_DIRS := base names run run/engine run/packed measure noise activity trace whatif profile cli
TENSE_SRC := $(patsubst tools/%.c,%,$(filter-out tools/measure/count.c, \
	$(wildcard $(TENSE_DIRS:%=tools/%/*.c))))
TOOLS_HEADERS := $(wildcard $(TENSE_DIRS:%=tools/%/*.h))
INIT_SRC := $(patsubst tools/%.c,%,$(wildcard tools/guest/*.c)) run/pump run/launch run/clock-choice \
	run/trace-record run/samples-record base/util

TENSE_MEASURE_LIB := kbest protocol cache $(PERIODS_LIB)
TENSE_OBJ := $(TENSE_SRC:%=$(O)/tools/%.o) $(LIBTENSE_SYMBOLS_OBJ) \
	$(TENSE_MEASURE_LIB:%=$(O)/libtense/measure/%.o)
# libstdc++ for what it demangles, looked up when it is needed.
TENSE_LIBS := $(MEASURE_LIBS) -ljansson -lz -lelf -ldw -lpcre2-8 -lgsl -lgslcblas -ltraceevent -lm \
	-Wl,--no-as-needed -lstdc++
INIT_OBJ := $(INIT_SRC:%=$(O)/tools/%.o)
TENSE_BIN := $(O)/bin/tense
TENSE_LIB := $(O)/tense.a
INIT_BIN := $(O)/libexec/tense/guest-init
TURNS_LIB := $(O)/libexec/tense/tense-turns.so

USER_TARGETS += $(TENSE_BIN) $(INIT_BIN) $(TURNS_LIB) $(O)/share/tense

$(O)/tools/%.o: tools/%.c $(O)/flags
	$(call quiet,CC,$@) mkdir -p $(@D) && \
	$(CC) $(CPPFLAGS) $(CFLAGS) -D_GNU_SOURCE \
		-DTENSE_VERSION='"$(VERSION)"' -I. -Itools -Ikernel/include/uapi -Imodule/uapi \
		-I$(O)/tools -MMD -MP -c -o $@ $<

# The parts of pages as strings of C.
PAGE_PARTS := $(O)/tools/whatif/report.css.h $(O)/tools/profile/flame.js.h
$(PAGE_PARTS): $(O)/%.h: %
	$(Q)mkdir -p $(@D)
	$(Q)sed -e 's/[\\"]/\\&/g' -e 's/.*/"&\\n"/' $< >$@
$(O)/tools/whatif/page.o: $(O)/tools/whatif/report.css.h
$(O)/tools/profile/flame-picture.o: $(O)/tools/profile/flame.js.h

# All but main(). tests/lib/inputs.sh takes from it what a command needs.
$(TENSE_LIB): $(filter-out %/cli/main.o,$(TENSE_OBJ))
	$(call quiet,AR,$@) rm -f $@ && $(AR) rcsD $@ $^

$(TENSE_BIN): $(O)/tools/cli/main.o $(TENSE_LIB)
	$(call quiet,LD,$@) mkdir -p $(@D) && \
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(TENSE_LIBS)

# Static: it starts in a guest that has nothing yet, and the sooner the better.
$(INIT_BIN): $(INIT_OBJ)
	$(call quiet,LD,$@) mkdir -p $(@D) && \
	$(CC) $(CFLAGS) $(LDFLAGS) -static -o $@ $^ -lz

# Part of QEMU while it runs, which has the functions that it calls.
$(TURNS_LIB): tools/qemu-turns/turns.c tools/qemu-turns/plugin.h \
		kernel/include/linux/tense-turns.h $(O)/flags
	$(call quiet,LD,$@) mkdir -p $(@D) && \
	$(CC) $(CPPFLAGS) $(CFLAGS) -D_GNU_SOURCE -fPIC -fvisibility=hidden \
		-Ikernel/include $(LDFLAGS) -shared -o $@ $<

$(O)/share/tense:
	$(Q)mkdir -p $(@D) && ln -srfn . $@

-include $(wildcard $(O)/tools/*/*.d $(O)/tools/*/*/*.d)

# Tests of the above. The tests of the guest's side need its kernel.
cli_tests := $(addprefix $(O)/tests/,unit/test-cli unit/test-cli-asan \
	unit/test-functions unit/test-functions-asan unit/test-completion \
	unit/test-bad-setup unit/test-packed unit/test-deaf-guest \
	unit/test-kernel-build \
	guest/test-signals guest/test-signals-qemu guest/test-bad-input guest/test-run guest/test-clocks guest/test-run-qemu guest/test-trace \
	guest/test-trace-qemu)
asan_tests := $(filter %-asan,$(cli_tests))
$(asan_tests): $(O)/asan/bin/tense
$(addprefix $(O)/tests/,unit/test-deaf-guest guest/test-signals \
	guest/test-signals-qemu): | $(O)/tests/unit/fake-guest
$(O)/tests/guest/test-trace $(O)/tests/guest/test-trace-qemu: \
	| $(O)/workloads/speeds

# With sanitizers: the program, in a directory that looks like the other one, and
# an archive of its objects for tests, without main().
ASAN_BIN := $(O)/asan/bin/tense
ASAN_LIB := $(O)/asan/obj/tense.a
ASAN_OBJ := $(addprefix $(O)/asan/obj/,$(TENSE_SRC:%=tools/%.o) \
	$(LIBTENSE_SYMBOLS:%=libtense/%.o) $(TENSE_MEASURE_LIB:%=libtense/measure/%.o))

$(O)/asan/obj/%.o: %.c $(O)/flags | $(PAGE_PARTS)
	$(call quiet,CC,$@) mkdir -p $(@D) && \
	$(CC) $(CPPFLAGS) $(CFLAGS) -D_GNU_SOURCE \
		-DTENSE_VERSION='"$(VERSION)"' -I. -Itools -Ikernel/include/uapi -Imodule/uapi \
		-I$(O)/tools -fsanitize=address,undefined \
		-fno-sanitize-recover=all -MMD -MP -c -o $@ $<

# The headers of each folder's own libraries.
$(ASAN_OBJ): CPPFLAGS += $(MEASURE_CFLAGS) -Ilibtense/include

$(ASAN_LIB): $(filter-out %/cli/main.o,$(ASAN_OBJ))
	$(call quiet,AR,$@) rm -f $@ && $(AR) rcsD $@ $^

$(ASAN_BIN): $(O)/asan/obj/tools/cli/main.o $(ASAN_LIB)
	$(call quiet,LD,$@) mkdir -p $(@D) && \
	ln -sfn ../lib $(O)/asan/lib && ln -sfn ../libexec $(O)/asan/libexec && \
	ln -sfn ../share $(O)/asan/share && \
	$(CC) $(CFLAGS) -fsanitize=address,undefined $(LDFLAGS) -o $@ $^ $(TENSE_LIBS)

-include $(ASAN_OBJ:.o=.d)

stream_tests := $(addprefix $(O)/tests/guest/,test-streams test-terminal \
	test-streams-qemu test-terminal-qemu)
$(O)/tests/guest/test-streams $(O)/tests/guest/test-streams-qemu: \
		tests/guest/test-streams.c
$(O)/tests/guest/test-terminal $(O)/tests/guest/test-terminal-qemu: \
		tests/guest/test-terminal.c
$(stream_tests): tests/lib/tap.h $(O)/flags
	$(call quiet,CC,$@) mkdir -p $(@D) && \
	$(CC) $(CPPFLAGS) $(CFLAGS) -D_GNU_SOURCE -Itests/lib $(LDFLAGS) \
		-DTENSE='"$(abspath $(O))/bin/tense"' \
		-DBACKEND='"$(BACKEND)"' -o $@ $(filter %.c,$^) -lutil

UNIT_TESTS += $(filter $(O)/tests/unit/%,$(cli_tests))
GUEST_TESTS += $(filter $(O)/tests/guest/%,$(cli_tests)) $(stream_tests)

# Files that kernel-build takes, in the layout of the source.
SHARE_FILES := Kbuild tools/kernel-build tools/kernel-source tools/fetch/qemu-fetch \
	tools/fetch/debian.sh \
	tools/measure/daemons.csv \
	$(wildcard kernel/Kconfig kernel/configs/* kernel/sched/* kernel/time/* kernel/um/* kernel/x86/*) \
	$(wildcard kernel/include/linux/* kernel/include/uapi/linux/*) \
	$(wildcard kernel/v*/configs/* kernel/v*/sched/* kernel/v*/um/*) \
	$(wildcard patches/v*/*) $(wildcard module/*.[ch] module/v*/*.h module/uapi/linux/*)

install::
	$(Q)install -D -m 755 $(TENSE_BIN) $(BINDIR)/tense
	$(Q)install -D -m 755 $(INIT_BIN) $(LIBEXECDIR)/guest-init
	$(Q)install -D -m 644 $(TURNS_LIB) $(LIBEXECDIR)/tense-turns.so
	$(Q)for f in $(SHARE_FILES); do \
		mode=644; [ -x $$f ] && mode=755; \
		install -D -m $$mode $$f $(SHAREDIR)/$$f || exit 1; \
	done
	$(Q)install -D -m 644 tools/cli/tense.bash $(COMPLETIONDIR)/tense
	$(Q)install -D -m 644 tools/60-tense.rules $(UDEVDIR)/60-tense.rules
	$(Q)for f in tools/man/*.1; do \
		install -D -m 644 $$f $(MANDIR)/man1/$${f##*/} || exit 1; \
	done

uninstall::
	$(Q)rm -f $(BINDIR)/tense $(MANDIR)/man1/tense.1 \
		$(MANDIR)/man1/tense-run.1 $(MANDIR)/man1/tense-check.1 \
		$(MANDIR)/man1/tense-daemons.1 \
		$(MANDIR)/man1/tense-functions.1 $(MANDIR)/man1/tense-kernel.1 \
		$(MANDIR)/man1/tense-measure.1 $(MANDIR)/man1/tense-noise.1 \
		$(MANDIR)/man1/tense-profile.1 $(MANDIR)/man1/tense-shell.1 \
		$(MANDIR)/man1/tense-trace.1 $(MANDIR)/man1/tense-trace-activity.1 \
		$(MANDIR)/man1/tense-whatif.1 $(COMPLETIONDIR)/tense \
		$(UDEVDIR)/60-tense.rules
	$(Q)rm -rf $(LIBEXECDIR) $(SHAREDIR)

# Parts of whatif, with a fake program and a fake machine. The tests of the
# statistics repeat too often for sanitizers.
whatif_tested := $(addprefix tools/whatif/,$(addsuffix .c,options question found plan samples \
	rounds log metric latency assess environment answer whatif json load table curve html page words estimate drop \
	sweep-cpus)) \
	$(addprefix tools/measure/,cutoffs-store.c cutoffs.c csv.c) \
	$(addprefix tools/run/,time-unit.c clock-choice.c) \
	$(addprefix tools/base/,util.c user-data.c json-text.c drawing.c axis.c paths.c \
		result-file.c)
WHATIF_TEST_CFLAGS = $(CPPFLAGS) $(CFLAGS) -D_GNU_SOURCE \
	-DTENSE_VERSION='"$(VERSION)"' -Ikernel/include/uapi -Imodule/uapi -I. -Itools \
	-Itests/lib -Itests/unit -I$(O)/tools

$(O)/tests/unit/test-whatif-estimate: tests/unit/test-whatif-estimate.c \
		tools/whatif/estimate.c tools/base/util.c tools/whatif/estimate.h \
		tests/lib/tap.h $(O)/flags
	$(call quiet,CC,$@) mkdir -p $(@D) && \
	$(CC) $(WHATIF_TEST_CFLAGS) $(LDFLAGS) -o $@ $(filter %.c,$^) \
		$(TENSE_LIBS)

whatif_archive_tests := $(addprefix $(O)/tests/unit/test-whatif-,parse plan json drop watch batches nodes sweep)
$(whatif_archive_tests): tests/unit/fake-program.c

ARCHIVE_TESTS += $(whatif_archive_tests)
UNIT_TESTS += $(O)/tests/unit/test-whatif-estimate

# The race of profile with simulated candidates, repeated too often for sanitizers; and
# profile with a fake program.
$(O)/tests/unit/test-race: tests/unit/test-race.c tools/profile/race.c \
		tools/profile/outliers.c tools/base/util.c \
		$(addprefix tools/profile/,race.h race-data.h outliers.h) tests/lib/tap.h $(O)/flags
	$(call quiet,CC,$@) mkdir -p $(@D) && \
	$(CC) $(WHATIF_TEST_CFLAGS) $(LDFLAGS) -o $@ $(filter %.c,$^) \
		$(TENSE_LIBS)

$(O)/tests/unit/test-profile: tests/unit/fake-machine.c
ARCHIVE_TESTS += $(addprefix $(O)/tests/unit/test-,profile machine)
UNIT_TESTS += $(O)/tests/unit/test-race

# trace, with known recordings.
trace_tests := $(addprefix $(O)/tests/unit/test-trace-,read model output)
trace_tested := $(addprefix tools/trace/,$(addsuffix .c,page read model percent \
	table chrome svg svg-picture svg-lines svg-lanes)) \
	$(addprefix tools/base/,axis.c drawing.c json-text.c machine.c util.c)

$(trace_tests): tests/unit/fake-recording.c tests/unit/fake-story.c
ARCHIVE_TESTS += $(trace_tests)

whatif_cli_tests := $(addprefix $(O)/tests/unit/,test-whatif test-whatif-asan)
$(O)/tests/unit/test-whatif: $(TENSE_BIN)
$(O)/tests/unit/test-whatif-asan: $(ASAN_BIN)
$(whatif_cli_tests): $(addprefix $(O)/tests/unit/test-whatif-,plan sweep)
UNIT_TESTS += $(whatif_cli_tests)

$(O)/tests/guest/test-whatif: $(O)/accuracy/serial $(O)/tests/guest/latency
GUEST_TESTS += $(O)/tests/guest/test-whatif

$(O)/tests/guest/test-profile: $(O)/accuracy/several
GUEST_TESTS += $(O)/tests/guest/test-profile

# Its functions are found in .symtab.
$(O)/tests/guest/latency: tests/guest/latency.c $(O)/flags
	$(call quiet,CC,$@) mkdir -p $(@D) && \
	$(CC) $(CFLAGS) -D_GNU_SOURCE $(LDFLAGS) -o $@ $< -pthread

# Recordings of samples of the test's own stack.
$(O)/tests/unit/test-survey: tests/unit/fake-samples.c
ARCHIVE_TESTS += $(O)/tests/unit/test-survey

# Functions with known shares of the charged time, and threads that wait.
$(O)/tests/guest/test-survey: $(addprefix $(O)/tests/guest/,shares giver) $(USER_TARGETS)
GUEST_TESTS += $(O)/tests/guest/test-survey

$(O)/tests/guest/giver: tests/guest/giver.c $(O)/flags
	$(call quiet,CC,$@) mkdir -p $(@D) && \
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $< -pthread

$(O)/tests/guest/shares: tests/guest/shares.c libtense/include/tense.h \
		$(O)/lib/libtense.so $(O)/flags
	$(call quiet,CC,$@) mkdir -p $(@D) && \
	$(CC) $(CFLAGS) -D_GNU_SOURCE -Ilibtense/include $(LDFLAGS) -o $@ $< \
		-L$(O)/lib -ltense -Wl,-rpath,'$$ORIGIN/../../lib' -pthread
