# SPDX-License-Identifier: GPL-2.0
#
# Parsers of foreign input get damaged input: names of functions, programs, options,
# tables, results, recordings, samples. The unit tests use the same inputs each time;
# fuzz-parsers uses those that libFuzzer finds.

fuzz_targets := spec symbols inlines options cutoffs results log recording \
	samples
fuzz_tests := $(fuzz_targets:%=$(O)/tests/unit/test-damaged-%)
fuzz_programs := $(fuzz_targets:%=$(O)/tests/fuzz/fuzz-%)
fuzz_seeds := $(fuzz_targets:%=$(O)/tests/fuzz/seeds-%)
FUZZ_CLANG := clang

# The sources that each target tests.
fuzz_whatif := $(whatif_tested) $(addprefix tools/measure/,cutoffs.c \
	cutoffs-input.c csv.c) tools/base/duration.c
symbol_sources := $(LIBTENSE_SYMBOLS:%=libtense/%.c)
fuzz_spec := $(symbol_sources)
fuzz_symbols := $(symbol_sources)
fuzz_inlines := $(symbol_sources) $(addprefix tools/names/,inlines.c inlines-dwarf.c) \
	tools/base/util.c
fuzz_options := $(fuzz_whatif)
fuzz_results := $(fuzz_whatif)
fuzz_log := $(fuzz_whatif)
fuzz_cutoffs := $(addprefix tools/measure/,csv.c cutoffs.c cutoffs-input.c \
	cutoffs-store.c cutoffs-output.c) tools/base/duration.c \
	tools/base/json-text.c tools/base/user-data.c tools/base/util.c
fuzz_helpers_recording := tests/unit/fake-recording.c
fuzz_recording := $(trace_tested) $(fuzz_helpers_recording)
fuzz_samples := $(symbol_sources) $(addprefix tools/profile/,samples.c survey.c attribute.c \
	code.c unwind.c stacks.c survey-table.c) tools/names/functions.c \
	$(addprefix tools/base/,json-text.c machine.c paths.c util.c)

fuzz_libraries := -lelf -lz -ldw -ljansson -lpcre2-8 -lgsl -lgslcblas -ltraceevent \
	-lm -Wl,--no-as-needed -lstdc++

FUZZ_CFLAGS = -std=gnu17 -Wall -Wextra -Werror -D_GNU_SOURCE -O1 -g -Ilibtense \
	-Ilibtense/include -Ikernel/include/uapi -Imodule/uapi -I. -Itools -Itests/unit \
	-I$(O)/tools -DTENSE_VERSION='"$(VERSION)"' -fno-sanitize-recover=all

fuzz_headers := $(libtense_test_headers) $(TOOLS_HEADERS) \
	tests/fuzz/fuzz.h $(O)/tools/whatif/report.css.h $(O)/flags

.SECONDEXPANSION:
$(fuzz_tests:=.bin): $(O)/tests/unit/test-damaged-%.bin: tests/fuzz/fuzz-%.c \
		tests/fuzz/fuzz.c tests/fuzz/mutate.c $$(fuzz_helpers_$$*) \
		$(ASAN_LIB) $(fuzz_headers)
$(fuzz_programs): $(O)/tests/fuzz/fuzz-%: tests/fuzz/fuzz-%.c tests/fuzz/fuzz.c \
		$$(fuzz_$$*) $(fuzz_headers)

$(O)/tests/fuzz/fuzz-inlines: FUZZ_CFLAGS += -DREAD_HERE

$(fuzz_tests:=.bin):
	$(test_cc) $(FUZZ_CFLAGS) -fsanitize=address,undefined $(LDFLAGS) \
		-o $@ $(filter %.c %.a,$^) $(fuzz_libraries)

$(fuzz_programs):
	$(call quiet,CC,$@)mkdir -p $(@D) && \
	$(FUZZ_CLANG) $(FUZZ_CFLAGS) -fsanitize=fuzzer,address,undefined \
		$(LDFLAGS) -o $@ $(filter %.c,$^) $(fuzz_libraries)

# About three seconds each.
fuzz_runs := 20000
fuzz_runs_inlines := 500
fuzz_runs_results := 1000
fuzz_runs_recording := 2000
$(fuzz_tests): $(O)/tests/unit/test-damaged-%: $(O)/tests/unit/test-damaged-%.bin \
		$(O)/tests/fuzz/seeds-%
	$(Q)printf '#!/bin/sh\nexec "%s" %d "%s"/*\n' "$(abspath $<)" \
		$(or $(fuzz_runs_$*),$(fuzz_runs)) \
		"$(abspath $(O)/tests/fuzz/seeds-$*)" >$@ && chmod +x $@

UNIT_TESTS += $(fuzz_tests)

# A line of a text is a seed.
fuzz_texts := spec options
$(fuzz_texts:%=$(O)/tests/fuzz/seeds-%): $(O)/tests/fuzz/seeds-%: tests/fuzz/%.txt
	$(Q)rm -rf $@ && mkdir -p $@ && \
	awk '{ printf "%s", $$0 >"$@/" NR; close("$@/" NR) }' $<

# A program, a library with versions and one that is stripped, all small.
$(O)/tests/fuzz/seeds-symbols: tests/fuzz/build.mk
	$(Q)rm -rf $@ && mkdir -p $@ && \
	echo 'int f(int a) { return a + 1; } static int g(void) { return f(1); } int main(void) { return g(); }' | \
		$(CC) -g -x c -o $@/program - && \
	echo 'V1 { global: h; local: *; };' >$@.map && \
	echo 'int h(void) { return 1; }' | $(CC) -shared -fPIC \
		-Wl,--version-script=$@.map -x c -o $@/library - && \
	echo 'int i(void) { return 1; }' | \
		$(CC) -shared -fPIC -s -x c -o $@/stripped -

# A library of two functions, one of them in others; small as well.
$(O)/tests/fuzz/seeds-inlines: tests/fuzz/build.mk
	$(Q)rm -rf $@ && mkdir -p $@ && for version in 4 5; do \
		echo 'static inline __attribute__((always_inline)) int f(int a) { return a * 3; } static __attribute__((noinline)) int g(int a) { return f(a) + f(a + 1); } int h(int a) { return g(a) + f(a); }' | \
		$(CC) -gdwarf-$$version -O1 -shared -fPIC -nostdlib \
			-Wl,--build-id=none,-z,noseparate-code \
			-x c -o $@/dwarf-$$version - || exit; \
	done

$(O)/tests/fuzz/seeds-log: tests/fuzz/log.txt
	$(Q)rm -rf $@ && mkdir -p $@ && cp $< $@/

$(O)/tests/fuzz/seeds-cutoffs: $(wildcard tests/data/emp-*.csv) $(TENSE_BIN)
	$(Q)rm -rf $@ && mkdir -p $@ && cp tests/data/emp-*.csv $@/ && \
	$(TENSE_BIN) daemons cutoffs --json \
		--short-central tests/data/emp-inc128-central.csv \
		--short-l tests/data/emp-inc128-l-samples.csv >$@/cutoffs.json

# Without what is of this machine: the same ones each time.
$(O)/tests/fuzz/seeds-results: $(O)/tests/unit/test-whatif-plan
	$(Q)rm -rf $@ && mkdir -p $@ && for latency in '' f,g; do \
		$< $@.json 10,20 $$latency && \
		jq -c '.environment = { tense: "1", backend: "uml", cpus: 2 }' \
			$@.json >$@/result$$latency || exit; \
	done

$(O)/tests/fuzz/make-recording: tests/fuzz/make-recording.c \
		tests/unit/fake-recording.c tests/unit/fake-story.c tools/base/util.c \
		$(fuzz_headers)
	$(test_cc) $(FUZZ_CFLAGS) $(LDFLAGS) -o $@ $(filter %.c,$^)

$(O)/tests/fuzz/make-samples: tests/fuzz/make-samples.c tests/unit/fake-samples.c \
		tests/unit/fake-samples.h $(fuzz_headers)
	$(test_cc) $(FUZZ_CFLAGS) $(LDFLAGS) -o $@ $(filter %.c,$^)

$(O)/tests/fuzz/seeds-samples: $(O)/tests/fuzz/make-samples
	$(Q)rm -rf $@ && mkdir -p $@ && $< >$@/recording

$(O)/tests/fuzz/seeds-recording: $(O)/tests/fuzz/make-recording
	$(Q)rm -rf $@ && mkdir -p $@ && $< >$@/recording && \
		{ printf 'f\0\0\0\10\0\0\0\20\0\0\0' && $<; } >$@/place

.PHONY: fuzz-parsers
fuzz-parsers: $(fuzz_programs) $(fuzz_seeds)
	$(Q)for target in $(fuzz_targets); do \
		mkdir -p $(O)/tests/fuzz/found-$$target || exit; \
		$(O)/tests/fuzz/fuzz-$$target -max_total_time=$(or $(SECONDS),60) \
			-print_final_stats=1 -verbosity=0 \
			-close_fd_mask=2 \
			-artifact_prefix=$(O)/tests/fuzz/$$target- \
			$(O)/tests/fuzz/found-$$target \
			$(O)/tests/fuzz/seeds-$$target || exit; \
	done
