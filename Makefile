# SPDX-License-Identifier: GPL-2.0
#
# make			user space and the module; nothing outside of build/
# make help		the other targets
#
# Variables: O= output directory, V=1 shows commands, KDIR= kernel tree to
# build the module for, PREFIX= and DESTDIR= of install.
MAKEFLAGS += --no-builtin-rules --no-builtin-variables
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

BINDIR = $(DESTDIR)$(PREFIX)/bin
LIBDIR = $(DESTDIR)$(PREFIX)/lib
LIBEXECDIR = $(DESTDIR)$(PREFIX)/libexec/tense
SHAREDIR = $(DESTDIR)$(PREFIX)/share/tense
MANDIR = $(DESTDIR)$(PREFIX)/share/man
COMPLETIONDIR = $(DESTDIR)$(PREFIX)/share/bash-completion/completions
INCLUDEDIR = $(DESTDIR)$(PREFIX)/include

ifneq ($(filter-out help clean,$(or $(MAKECMDGOALS),all)),)
ifneq ($(shell mkdir -p '$(O)' 2>/dev/null && [ -w '$(O)' ] && echo good),good)
$(error cannot write to $(O): name another directory with O=)
endif
endif

# What these need is installed before anything is built.
ifneq ($(filter check unit guest check-patches demo experiments bench accuracy,$(MAKECMDGOALS)),)
ifneq ($(shell tools/install-deps >&2 && echo good),good)
$(error packages are missing)
endif
endif

# Those of the build.mk files below.
USER_TARGETS :=
UNIT_TESTS :=
GUEST_TESTS :=

RUN_TAP := TAP_LOGS=$(O)/tests/log tests/run-tap

.PHONY: all user module kernels check unit guest check-patches demo
.PHONY: experiments bench accuracy check-run demo-run experiments-run bench-run
.PHONY: accuracy-run
.PHONY: install uninstall clean dist help FORCE
all: user module

-include libtense/build.mk
-include tools/build.mk
-include tests/build.mk
-include tests/guest/build.mk
-include tests/workloads/build.mk
-include tests/bench/build.mk
-include tests/accuracy/build.mk

help:
	@sed -n 's/^## //p' $(firstword $(MAKEFILE_LIST))

## user           tense and libtense
user: $(USER_TARGETS)

## module         tense.ko, for the UML kernel of `tense run` or for KDIR=
module: $(O)/module/tense.ko
ifdef KDIR
KARCH := $(if $(shell grep -s '^CONFIG_UML=y' $(KDIR)/.config),um,$(shell uname -m))
$(O)/module/tense.ko: FORCE
	$(Q)mkdir -p $(@D)/src
	$(Q)cp -Ru Kbuild module $(@D)/src
	$(Q)$(MAKE) -C $(abspath $(KDIR)) M=$(abspath $(@D))/src ARCH=$(KARCH) \
		$(if $(filter 1,$(V)),V=1) modules
	$(Q)cp $(@D)/src/tense.ko $@
else
$(O)/module/tense.ko: FORCE
	$(Q)mkdir -p $(@D)
	$(Q)dir=$$(tools/kernel-build --arch um --verbose) && cp -u "$$dir/tense.ko" $@
endif

## kernels        the kernels that `tense run` would build on its first use
kernels:
	$(Q)for config in kernel/configs/*.config; do \
		arch=$$(basename $$config .config); \
		[ $$arch = uml ] && arch=um; \
		tools/kernel-build --arch $$arch --verbose || exit 1; \
	done

## check          all tests
check-run: user module $(UNIT_TESTS) $(GUEST_TESTS)
	$(Q)$(RUN_TAP) $(UNIT_TESTS) $(GUEST_TESTS) tests/check-patches

## unit           the tests that need no kernel of ours
unit: user $(UNIT_TESTS)
	$(Q)$(RUN_TAP) $(UNIT_TESTS)

## guest          the tests on the patched kernel, in User-Mode Linux
guest: user module $(GUEST_TESTS)
	$(Q)$(RUN_TAP) $(GUEST_TESTS)

## check-patches  each patch applies, compiles and passes checkpatch
check-patches:
	$(Q)$(RUN_TAP) tests/check-patches

## demo           a real program, predicted and then measured
demo-run: user module
## experiments    shares, schedules and a queue: tables, CSV and SVG in build/
experiments-run: user module
## bench          the figures of the README: cost and accuracy
bench-run: user module
## accuracy       predictions beside the truth, for 15 workloads and 6 programs
accuracy-run: user module

# By a make of their own, which finds what was installed.
check demo experiments bench accuracy:
	$(Q)tools/install-deps && $(MAKE) --no-print-directory O=$(O) $@-run

## install        to $(DESTDIR)$(PREFIX); uninstall removes it again
install:: user
uninstall::

## dist           tense-VERSION.tar.gz from the commit checked out
dist:
	$(Q)mkdir -p $(O)
	$(Q)git archive --format=tar.gz --prefix=tense-$(VERSION)/ \
		-o $(O)/tense-$(VERSION).tar.gz HEAD

## clean          removes build/
clean:
	$(Q)rm -rf $(O)

# What the flags were: a change of CC or CFLAGS rebuilds.
$(O)/flags: FORCE
	@mkdir -p $(@D)
	@echo '$(CC) $(CFLAGS) $(LDFLAGS) $(PREFIX) $(VERSION)' | \
		cmp -s - $@ || echo '$(CC) $(CFLAGS) $(LDFLAGS) $(PREFIX) $(VERSION)' >$@
