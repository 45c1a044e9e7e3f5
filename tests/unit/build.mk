# SPDX-License-Identifier: GPL-2.0
#
# The tests of libtense that run on the host, compiled with sanitizers, and
# those of the library as it is shipped.

libtense_test_out := $(O)/tests/unit
libtense_test_sources := $(addprefix libtense/api/,tense.c stack.c device.c area.c \
	syscalls.c config.c clocks.c health.c report.c)
libtense_test_headers := $(wildcard libtense/*/*.h \
	tests/unit/*.h tests/lib/tap.h)
LIBTENSE_TEST_CFLAGS = $(CFLAGS) -D_GNU_SOURCE -pthread -Ilibtense \
	-Ilibtense/include -Ikernel/include/uapi -Itests/lib -Itests/unit \
	-fno-sanitize-recover=all

libtense_tests := $(addprefix $(libtense_test_out)/test-libtense-, \
	stack config names api clocks syscalls threads ring page)
libtense_tsan_tests := $(addprefix $(libtense_test_out)/test-libtense-, \
	threads-tsan cancel-tsan ring-tsan)

libtense_plain_tests := $(libtense_test_out)/test-libtense-signal

# The library with the fake device: one object for each sanitizer, and one
# without.
libtense_tested := $(addprefix $(libtense_test_out)/libtense-,asan.o tsan.o plain.o)
%/libtense-asan.o $(libtense_tests): SANITIZE := -fsanitize=address,undefined
%/libtense-tsan.o $(libtense_tsan_tests): SANITIZE := -fsanitize=thread

$(libtense_tested): tests/unit/fake-device.c $(libtense_test_sources) \
		$(libtense_test_headers) $(O)/flags
	$(test_cc) $(LIBTENSE_TEST_CFLAGS) $(SANITIZE) -r -o $@ \
		$(filter %.c,$^)

$(libtense_tests): $(libtense_test_out)/libtense-asan.o
$(libtense_tsan_tests): $(libtense_test_out)/libtense-tsan.o
$(libtense_plain_tests): $(libtense_test_out)/libtense-plain.o
$(libtense_tests) $(libtense_plain_tests): $(libtense_test_out)/%: tests/unit/%.c
$(libtense_tsan_tests): $(libtense_test_out)/%-tsan: tests/unit/%.c
$(libtense_tests) $(libtense_tsan_tests) $(libtense_plain_tests): \
		libtense/api/preload.c $(libtense_test_headers) $(O)/flags
	$(test_cc) $(LIBTENSE_TEST_CFLAGS) $(SANITIZE) $(LDFLAGS) -o $@ \
		$(filter tests/unit/test-%.c %.o,$^) -ldl

# Tests of the shipped files: the library, the manual pages and their examples.
libtense_scripts := $(addprefix $(libtense_test_out)/test-libtense-, env man)
$(libtense_scripts): $(O)/lib/libtense.so $(O)/lib/libtense.a

UNIT_TESTS += $(libtense_tests) $(libtense_tsan_tests) \
	$(libtense_plain_tests) $(libtense_scripts)

# Tests of functions and their names, on programs that the tests build.
ARCHIVE_TESTS += $(addprefix $(O)/tests/unit/test-,spec symbols resolve)

# As they are linked into a library: nothing of it is seen, nothing is needed.
$(O)/tests/unit/symbols.so: tests/unit/symbols-library.c \
		$(LIBTENSE_SYMBOLS_HIDDEN) $(O)/flags
	$(test_ld) $(CFLAGS) -Ilibtense -fPIC -shared $(LDFLAGS) -o $@ $< \
		$(LIBTENSE_SYMBOLS_HIDDEN) $(LIBTENSE_SYMBOLS_LIBS) \
		-Wl,--no-undefined -Wl,-z,now

$(O)/tests/unit/test-symbols-library: $(O)/tests/unit/symbols.so
UNIT_TESTS += $(O)/tests/unit/test-symbols-library

# Lines of the kernel that the guests' watchers take for a warning.
$(O)/tests/unit/test-watch: tests/unit/test-watch.c tests/guest/watch.h \
		tests/lib/tap.h $(O)/flags
	$(test_gnu_cc) -fsanitize=address,undefined $(LDFLAGS) -o $@ $<

UNIT_TESTS += $(O)/tests/unit/test-watch

# A guest that does not react to signals.
$(O)/tests/unit/fake-guest: tests/unit/fake-guest.c tools/base/util.c \
		$(TOOLS_HEADERS) $(O)/flags
	$(test_cc) $(LIBTENSE_TEST_CFLAGS) -Itools $(LDFLAGS) -o $@ \
		$(filter %.c,$^) -lm

# Guests' reactions to signals, progress without a terminal, files that a guest
# without the host's files sends back, result files, axes of pictures, and removal of
# directories.
ARCHIVE_TESTS += $(addprefix $(O)/tests/unit/test-,reaction progress-log bring-back \
	result-file axis remove-tree)
