# SPDX-License-Identifier: GPL-2.0
#
# libtense-functions.so as it is shipped, under programs that do what is hard
# for it, with a libtense.so that needs no device.

functions_out := $(O)/tests/unit/functions
functions_src := tests/unit/functions
FUNCTIONS_CFLAGS = $(CFLAGS) -D_GNU_SOURCE -pthread -Itests/lib
# $(CC) may be clang, which has C++ too.
FUNCTIONS_CXXFLAGS = $(filter-out -std=%,$(FUNCTIONS_CFLAGS)) -x c++ -std=c++17

functions_programs := $(addprefix $(functions_out)/, \
	program exceptions plugin.so early.so fake/libtense.so.1) \
	$(O)/bench/stub-pair

$(functions_out)/program: $(functions_src)/program.c $(functions_src)/odd.S \
		$(functions_src)/common.h tests/lib/tap.h $(O)/flags
	$(test_cc) $(FUNCTIONS_CFLAGS) -rdynamic -o $@ $(filter %.c %.S,$^) \
		-ldl

$(functions_out)/exceptions: $(functions_src)/exceptions.cc \
		$(functions_src)/common.h tests/lib/tap.h $(O)/flags
	$(test_cc) $(FUNCTIONS_CXXFLAGS) -rdynamic -o $@ $< -ldl -lstdc++

$(functions_out)/%.so: $(functions_src)/%.c $(O)/flags
	$(test_cc) $(FUNCTIONS_CFLAGS) -fPIC -shared -o $@ $<

$(functions_out)/fake/libtense.so.1: $(functions_src)/fake-span.c \
		$(wildcard libtense/api/*.h) libtense/api/libtense.map $(O)/flags
	$(test_cc) $(FUNCTIONS_CFLAGS) -fPIC -shared -mgeneral-regs-only \
		-ftls-model=initial-exec -Ilibtense -Ilibtense/include \
		-Ikernel/include/uapi \
		-Wl,-soname,libtense.so.1 \
		-Wl,--version-script,libtense/api/libtense.map -o $@ $<

$(O)/tests/unit/test-redirect: $(functions_programs) $(O)/lib/libtense-functions.so
UNIT_TESTS += $(O)/tests/unit/test-redirect
