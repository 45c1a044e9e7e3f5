# SPDX-License-Identifier: GPL-2.0
#
# make			user space and the module; nothing outside of build/
# make help		the other targets
#
# Variables: O= output directory, V=1 shows commands, KDIR= kernel tree to
# build the module for, PREFIX= and DESTDIR= of install.
MAKEFLAGS += --no-builtin-rules --no-builtin-variables
# By default, make uses all CPUs; an option -j of the user's takes precedence. Several goals run
# one after the other, because their order may matter.
ifeq ($(MAKELEVEL)$(word 2,$(MAKECMDGOALS))$(filter -j%,$(MAKEFLAGS)),0)
MAKEFLAGS += -j$(shell nproc)
endif
.DELETE_ON_ERROR:
.SUFFIXES:

VERSION := 0.1.0

O ?= build
# A command line O= would reach the recursive makes of the workloads.
unexport O
PREFIX ?= /usr/local
ifeq ($(origin CC),default)
CC := gcc
endif
CC ?= gcc
CFLAGS ?= -O2 -g
override CFLAGS += -std=gnu17 -Wall -Wextra -Werror
ifeq ($(origin AR),default)
AR := ar
endif
AR ?= ar
PKG_CONFIG ?= pkg-config

V ?= 0
ifeq ($(V),1)
Q :=
say = :
else
Q := @
say = echo
endif
quiet = $(Q)$(say) "  $(1)	$(2)";

# The recipes of tests go on with flags and files.
test_cc = $(call quiet,CC,$@)mkdir -p $(@D) && $(CC)
test_gnu_cc = $(test_cc) $(CFLAGS) -D_GNU_SOURCE
test_ld = $(call quiet,LD,$@)mkdir -p $(@D) && $(CC)

BINDIR = $(DESTDIR)$(PREFIX)/bin
LIBDIR = $(DESTDIR)$(PREFIX)/lib
LIBEXECDIR = $(DESTDIR)$(PREFIX)/libexec/tense
SHAREDIR = $(DESTDIR)$(PREFIX)/share/tense
MANDIR = $(DESTDIR)$(PREFIX)/share/man
COMPLETIONDIR = $(DESTDIR)$(PREFIX)/share/bash-completion/completions
INCLUDEDIR = $(DESTDIR)$(PREFIX)/include
# udev looks in this of /usr, of /usr/local, and in /etc/udev/rules.d.
UDEVDIR = $(DESTDIR)$(PREFIX)/lib/udev/rules.d

ifneq ($(filter-out help clean,$(or $(MAKECMDGOALS),all)),)
# tests/run-tap asks which files are newer than the beginning of a build.
ifneq ($(shell mkdir -p '$(O)' 2>/dev/null && touch '$(O)/begun' 2>/dev/null && echo good),good)
$(error cannot write to $(O): name another directory with O=)
endif
endif

# Each of these targets installs the packages that it needs. This happens before
# the build.mk files below look for libraries.
NEED_CHECK := check unit demo docs-tables
NEED_ALL := check-kernel check-all check-rest check-cpus check-cpus-all guest check-patches nightly lint \
	experiments bench bench-cost bench-diff bench-measure bench-noise \
	accuracy accuracy-exact accuracy-exact-whatif accuracy-order accuracy-survey accuracy-first \
	gallery parsec window stress debug fuzz \
	fuzz-parsers storms kcsan \
	coverage clock-order mutate sim-random
packages := $(if $(filter $(NEED_ALL),$(MAKECMDGOALS)),all,$(if $(filter \
	$(NEED_CHECK),$(MAKECMDGOALS)),check))
ifneq ($(packages),)
ifneq ($(shell tools/install-deps $(packages) >&2 && echo good),good)
$(error packages are missing)
endif
endif

# The build.mk files below add to these lists.
USER_TARGETS :=
UNIT_TESTS :=
ARCHIVE_TESTS :=
GUEST_TESTS :=

# LIST: moves the programs of LONG_TESTS to the front.
long_first = $(foreach t,$(LONG_TESTS),$(filter %/$(t),$(1))) \
	$(filter-out $(addprefix %/,$(LONG_TESTS)),$(1))

# LIST: runs its programs, those of WAITING_TESTS one at a time beside the others, and
# those of ALONE_TESTS one at a time at the end.
run_tap = $(Q)TAP_LOGS=$(O)/tests/log TAP_KEPT='$(KEPT_TESTS)' tests/run-tap \
	$(call long_first,$(filter-out $(WAITING_TESTS) $(ALONE_TESTS),$(1))) \
	--beside $(call long_first,$(filter $(WAITING_TESTS),$(1))) \
	--alone $(filter $(ALONE_TESTS),$(1))

.PHONY: all user module kernels fetched-source uml-kernel uml-debug-kernel test-kernels $(NEED_CHECK) $(NEED_ALL)
.PHONY: install uninstall clean dist help FORCE
all: user module

-include libtense/build.mk
-include libtense/measure/build.mk
-include tools/build.mk
-include tests/build.mk
-include tests/guest/build.mk
-include tests/workloads/build.mk
-include tests/bench/build.mk
-include tests/accuracy/build.mk
-include tests/parsec/build.mk
-include examples/build.mk
-include tests/tiers.mk

help:
	@sed -n 's/^## //p' $(firstword $(MAKEFILE_LIST))

## user           tense and libtense
user: $(USER_TARGETS)

## module         tense.ko, for Linux 6.1 in User-Mode Linux, or for KDIR=
module: $(O)/module/tense.ko
ifdef KDIR
KARCH := $(if $(shell grep -s '^CONFIG_UML=y' $(KDIR)/.config),um,$(shell uname -m))
# For the kernel's own makefiles, O= is the directory in which it was built.
$(O)/module/tense.ko: FORCE
	$(Q)mkdir -p $(@D)/src
	$(Q)cp -Ru Kbuild module $(@D)/src
	$(Q)MAKEFLAGS='$(filter-out O=%,$(MAKEFLAGS))' \
		$(MAKE) -C $(abspath $(KDIR)) M=$(abspath $(@D))/src ARCH=$(KARCH) \
		$(if $(filter 1,$(V)),V=1) modules
	$(Q)cp $(@D)/src/tense.ko $@
else
$(O)/module/tense.ko: FORCE
	$(Q)mkdir -p $(@D)
	$(Q)dir=$$(tools/kernel-build --arch um --verbose) && install -C -m 644 "$$dir/tense.ko" $@
endif

## kernels        the kernels that `tense run` would build on its first use
kernels: user
	$(Q)$(O)/bin/tense kernel build

# Otherwise the first test of a kind would build its kernel while others wait, and what
# measures would do so on the one CPU that it keeps to.
uml-kernel: user
	$(Q)$(O)/bin/tense kernel build uml
check guest: uml-kernel
check-rest: kernels module
check-kernel check-all: test-kernels
test-kernels: kernels module
	$(Q)tools/kernel-build --arch debug --verbose

# Fetches and unpacks the source of the default kernel while the compilers run. If that fails,
# tense kernel build takes Linux 6.1.
fetched-source:
	$(Q)[ -n "$${TENSE_KERNEL_VERSION:-}$${TENSE_KERNEL_SOURCE:-}" ] || \
		tools/kernel-source >/dev/null || :

check-cpus-here check-cpus-all-here: uml-debug-kernel
ifneq ($(filter 7.%,$(TENSE_KERNEL_VERSION)),)
check-kernel check-all check-rest: uml-debug-kernel
endif
# Several CPUs need Linux 7: TENSE_KERNEL_VERSION if it is 7.x, else the default of guests.
cpus_version := $(or $(filter 7.%,$(TENSE_KERNEL_VERSION)),7.3)
uml-debug-kernel:
	$(Q)tools/kernel-build --arch um-debug --version $(cpus_version) --verbose

## check          what a change of user space needs: unit tests, and UML guests
check: user module $(CHECK_TESTS)
	$(call run_tap,$(CHECK_TESTS))

## check-kernel   patches, several CPUs, debug kernels, clocks: for kernel changes
check-kernel: user module $(KERNEL_TESTS)
	$(call run_tap,$(KERNEL_TESTS))

## check-all      all tests; check-rest, for CI: those that check leaves out, but no
##                debug kernels in QEMU, and no test that check runs with sanitizers
check-all: user module $(ALL_TESTS)
	$(call run_tap,$(ALL_TESTS))

check-rest: user module $(REST_TESTS)
	$(call run_tap,$(REST_TESTS))

## check-cpus     tests with several CPUs in User-Mode Linux, on Linux 7.3, or on 7.2 with
##                TENSE_KERNEL_VERSION=7.2 (check-cpus-all: on more CPUs)
check-cpus check-cpus-all:
	$(Q)TENSE_KERNEL_VERSION=$(cpus_version) \
		$(MAKE) --no-print-directory O=$(O)/$(cpus_version) $@-here

## check-cpus-older  check-cpus on Linux 7.2
check-cpus-older:
	$(Q)TENSE_KERNEL_VERSION=7.2 $(MAKE) --no-print-directory O=$(O) check-cpus

check-cpus-here: user module $(CPUS_TESTS)
	$(call run_tap,$(CPUS_TESTS))

check-cpus-all-here: user module $(CPUS_ALL_TESTS)
	$(call run_tap,$(CPUS_ALL_TESTS))

## nightly        lint, all tests, patches, debug, several CPUs, fuzz, kcsan, storms,
##                mutate, simulator, parsers, coverage, accuracy
nightly:
	$(Q)failed=; for target in $(NIGHTLY); do \
		echo "== make $$target"; \
		AGAIN=1 TENSE_TEST_ROUNDS=1000 $(MAKE) --no-print-directory O=$(O) $$target || failed="$$failed $$target"; \
	done; [ -z "$$failed" ] || { echo "nightly: failed:$$failed"; exit 1; }

## lint           clang-tidy, checkpatch, sparse, shellcheck, spelling and style
lint: export LINT_BUILD = $(O)
lint: user module compile_commands.json
	$(call run_tap,$(LINT_TESTS))

## unit           the tests that need no kernel of ours
unit: user $(UNIT_TESTS)
	$(call run_tap,$(UNIT_TESTS))

## guest          the tests on the patched kernel, in User-Mode Linux and QEMU
guest: user module $(GUEST_TESTS)
	$(call run_tap,$(GUEST_TESTS))

## check-patches  each patch applies, compiles and passes checkpatch
check-patches:
	$(Q)EACH=1 TAP_LOGS=$(O)/tests/log tests/run-tap tests/check-patches

## examples       the programs of examples/, by the commands in their comments
## demo           a real program, predicted and then measured
demo: uml-kernel fetched-source
## experiments    shares, schedules, a queue and clocks: tables, CSV, SVG in build/
experiments: uml-kernel
## bench          figures of docs/benchmarks.md: cost and accuracy
bench: uml-kernel
## bench-cost     what calls cost in instructions, the same each time
bench-cost: user
## bench-diff     and what of that has changed since the figures in tests/data
bench-diff: bench-cost
## bench-measure  times of `tense measure` beside those of hyperfine and perf
bench-measure: user
## bench-noise    how the times of the same work are distributed here
bench-noise: user
## accuracy       predictions beside the truth, for 15 workloads and 6 programs
accuracy: uml-kernel
## accuracy-exact the same on two CPUs, where instructions are counted
accuracy-exact: user
## accuracy-exact-whatif  the same by whatif, with verdicts and the null bias
accuracy-exact-whatif: user
## accuracy-order  what `tense profile` says beside the truth, for 12 programs
accuracy-order: uml-kernel
## accuracy-first  how soon `tense profile` answers about 30 functions
accuracy-first: uml-kernel
## accuracy-survey  the virtual CPU time that a survey of `tense profile` adds
accuracy-survey: uml-kernel
## gallery        profiles of seven programs of Debian, into docs/gallery.md
gallery: uml-kernel
	$(Q)tests/gallery/run $(O) docs/gallery.md
## parsec         PARSEC=DIR: optimised programs of a PARSEC tree, predicted and true
parsec: uml-kernel
## docs-tables    writes the results of accuracy*, bench* and window into docs/
## window         what a window costs and what it misplaces, over its length
window: user
## stress         programs on two CPUs for STRESS_MINUTES, 30: nothing may stop
stress: $(O)/tests/guest/test-smp-programs $(smp4_tests)
	$(Q)for t in $(smp4_tests); do $$t || exit; done
	$(Q)STRESS_MINUTES=$${STRESS_MINUTES:-30} $<

## debug          tests on a kernel that checks its locks, memory and objects
debug: user module $(debug_tests)
	$(call run_tap,$(debug_tests))

## kcsan          tests on a kernel that looks for data races: OPS=, 20000, calls
kcsan: $(kcsan_tests)
	$(call run_tap,$(filter-out %-fuzz,$(kcsan_tests)))
	$(Q)tests/guest/fuzz-rounds $(filter %-fuzz,$(kcsan_tests)) \
		$(or $(OPS),20000) $(SEED)

## storms         SCALE=, 100, times 100 tasks and 10 experiments at once, killed
storms: $(O)/tests/guest/debug-storms
	$(Q)GUEST_MEMORY=3072 GUEST_SECONDS=7200 $< $(or $(SCALE),100)

## fuzz           the device's calls at random: OPS=, 1000000, and SEED=
fuzz: $(O)/tests/guest/debug-fuzz
	$(Q)tests/guest/fuzz-rounds $< $(or $(OPS),1000000) $(SEED)

## clock-order    count clock readings that are too early, on each tier: READINGS=, 1000000
## fuzz-parsers   what reads files and options, damaged: SECONDS= each, 60; clang
## coverage       lines of the module that the tests of debug and fuzz run
coverage: $(debug_tests)
	$(Q)tests/coverage $(O)/coverage $(debug_tests)

## install        to $(DESTDIR)$(PREFIX); uninstall removes it again
install:: user
uninstall::

## dist           tense-VERSION.tar.gz from the commit checked out
dist:
	$(Q)mkdir -p $(O)
	$(Q)git archive --format=tar.gz --prefix=tense-$(VERSION)/ \
		-o $(O)/tense-$(VERSION).tar.gz HEAD

# For editors and clang-tidy. The module's own files are compiled by Kbuild, and
# in here as far as tests on the host compile them.
## compile_commands.json  how each file is compiled, for editors
compile_commands.json: FORCE
	$(Q)$(MAKE) --no-print-directory -nB V=1 O=$(O) user $(UNIT_TESTS) \
		$(WORKLOAD_PROGRAMS) | tests/compile-commands >$@

## clean          removes build/
clean:
	$(Q)rm -rf $(O)

# A change of CC or CFLAGS rebuilds all, another PREFIX only the files that name it.
$(O)/flags: built_with = $(CC) $(CFLAGS) $(LDFLAGS) $(VERSION)
$(O)/prefix: built_with = $(PREFIX) $(VERSION)
$(O)/flags $(O)/prefix: FORCE
	@mkdir -p $(@D)
	@echo '$(built_with)' | cmp -s - $@ || echo '$(built_with)' >$@
