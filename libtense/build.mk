# SPDX-License-Identifier: LGPL-2.1-or-later
#
# libtense.so, libtense.a, header, manual pages, pkg-config file.

LIBTENSE_CFLAGS = $(CFLAGS) -D_GNU_SOURCE -pthread -fPIC \
	-fvisibility=hidden -ftls-model=initial-exec \
	-Ilibtense -Ilibtense/include -Ikernel/include/uapi
# -z now: signal handlers read clocks.
LIBTENSE_LDFLAGS = $(LDFLAGS) -shared -pthread -Wl,-soname,libtense.so.1 \
	-Wl,--version-script,libtense/api/libtense.map \
	-Wl,-z,now -Wl,-z,relro -Wl,--no-undefined

LIBTENSE_API := $(addprefix api/,tense stack device area syscalls config health)
LIBTENSE_API_OBJ := $(LIBTENSE_API:%=$(O)/libtense/%.o)
LIBTENSE_OBJ := $(LIBTENSE_API_OBJ) $(O)/libtense/api/clocks.o \
	$(O)/libtense/api/preload.o $(O)/libtense/api/report.o
# Find the functions of an ELF file, and those that a text names. Used by
# libtense-functions.so and by the tool. Each links libelf and zlib in its own
# way: a program must not see the symbols of a library that is loaded into it.
LIBTENSE_SYMBOLS := $(addprefix symbols/,symbols frames spec cxx-name debug-file language)
LIBTENSE_SYMBOLS_OBJ := $(LIBTENSE_SYMBOLS:%=$(O)/libtense/%.o)
LIBTENSE_SYMBOLS_HIDDEN := $(LIBTENSE_SYMBOLS_OBJ) $(O)/libtense/symbols/elf-error.o
LIBTENSE_SYMBOLS_LIBS := -l:libelf.a -l:libz.a -Wl,--exclude-libs,ALL
LIBTENSE_MAN := $(wildcard libtense/man/*.[37])


# libtense-functions.so needs libtense.so only. It loads a library of its own to
# find and to decode functions.
LIBTENSE_FUNCTIONS := $(addprefix functions/,functions calls stub-span stub-mark stub-entry)
LIBTENSE_FUNCTIONS_OBJ := $(LIBTENSE_FUNCTIONS:%=$(O)/libtense/%.o)
LIBTENSE_REDIRECT := $(patsubst libtense/%.c,%,$(wildcard libtense/redirect/*.c))
LIBTENSE_REDIRECT_OBJ := $(LIBTENSE_REDIRECT:%=$(O)/libtense/%.o)
libtense_functions_ldflags = $(LDFLAGS) -shared -pthread \
	-Wl,-soname,$(@F) -Wl,--version-script,$(filter %.map,$^) \
	-Wl,-z,now -Wl,-z,relro -Wl,--no-undefined -Wl,-rpath,'$$ORIGIN' \
	-Wl,--enable-new-dtags -Wl,-z,noseparate-code

USER_TARGETS += $(O)/lib/libtense.so $(O)/lib/libtense.a \
	$(O)/lib/libtense-functions.so

$(O)/libtense/%.o: libtense/%.c $(O)/flags
	$(call quiet,CC,$@)mkdir -p $(@D) && \
	$(CC) $(LIBTENSE_CFLAGS) -MMD -MP -c -o $@ $<

$(O)/lib/libtense.so.1: $(LIBTENSE_OBJ) libtense/api/libtense.map
	$(call quiet,LD,$@)mkdir -p $(@D) && \
	$(CC) $(LIBTENSE_LDFLAGS) -o $@ $(LIBTENSE_OBJ) -ldl

$(O)/lib/libtense.so: $(O)/lib/libtense.so.1
	$(Q)ln -sf libtense.so.1 $@

# Callers use vector registers and do not save them.
$(addprefix $(O)/libtense/,functions/stub-span.o functions/stub-mark.o \
		$(addprefix api/,tense.o stack.o area.o)): \
	LIBTENSE_CFLAGS += -mgeneral-regs-only

$(O)/libtense/%.o: libtense/%.S $(O)/flags
	$(call quiet,AS,$@)mkdir -p $(@D) && \
	$(CC) $(LIBTENSE_CFLAGS) -MMD -MP -c -o $@ $<

$(O)/lib/libtense-functions.so.0: $(LIBTENSE_FUNCTIONS_OBJ) \
		libtense/functions/functions.map $(O)/lib/libtense.so.1
	$(call quiet,LD,$@)mkdir -p $(@D) && \
	$(CC) $(libtense_functions_ldflags) -o $@ $(LIBTENSE_FUNCTIONS_OBJ) \
		$(O)/lib/libtense.so.1 -ldl

$(O)/lib/libtense-redirect.so.0: $(LIBTENSE_REDIRECT_OBJ) \
		$(LIBTENSE_SYMBOLS_HIDDEN) libtense/redirect/redirect.map
	$(call quiet,LD,$@)mkdir -p $(@D) && \
	$(CC) $(libtense_functions_ldflags) -o $@ $(LIBTENSE_REDIRECT_OBJ) \
		$(LIBTENSE_SYMBOLS_HIDDEN) $(LIBTENSE_SYMBOLS_LIBS) -lZydis -ldl

$(O)/lib/libtense-functions.so: $(O)/lib/libtense-functions.so.0 \
		$(O)/lib/libtense-redirect.so.0
	$(Q)ln -sf libtense-functions.so.0 $@

$(O)/lib/libtense.a: $(LIBTENSE_API_OBJ)
	$(call quiet,AR,$@)mkdir -p $(@D) && rm -f $@ && $(AR) rcsD $@ $^

$(O)/libtense/libtense.pc: libtense/api/libtense.pc.in $(O)/prefix
	$(Q)mkdir -p $(@D)
	$(Q)sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@VERSION@|$(VERSION)|' $< >$@

install:: $(O)/libtense/libtense.pc
	$(Q)install -d $(LIBDIR)/pkgconfig $(INCLUDEDIR) $(MANDIR)/man3 $(MANDIR)/man7
	$(Q)install -m 755 $(O)/lib/libtense.so.1 $(LIBDIR)
	$(Q)ln -sf libtense.so.1 $(LIBDIR)/libtense.so
	$(Q)install -m 755 $(O)/lib/libtense-functions.so.0 \
		$(O)/lib/libtense-redirect.so.0 $(LIBDIR)
	$(Q)ln -sf libtense-functions.so.0 $(LIBDIR)/libtense-functions.so
	$(Q)install -m 644 $(O)/lib/libtense.a $(LIBDIR)
	$(Q)install -m 644 $(O)/libtense/libtense.pc $(LIBDIR)/pkgconfig
	$(Q)install -m 644 libtense/include/tense.h $(INCLUDEDIR)
	$(Q)install -m 644 $(filter %.3,$(LIBTENSE_MAN)) $(MANDIR)/man3
	$(Q)install -m 644 $(filter %.7,$(LIBTENSE_MAN)) $(MANDIR)/man7

# Earlier versions installed libtense.so.0.
uninstall::
	$(Q)rm -f $(LIBDIR)/libtense.so $(LIBDIR)/libtense.so.1 $(LIBDIR)/libtense.so.0 \
		$(LIBDIR)/libtense-functions.so \
		$(LIBDIR)/libtense-functions.so.0 \
		$(LIBDIR)/libtense-redirect.so.0 \
		$(LIBDIR)/libtense.a $(LIBDIR)/pkgconfig/libtense.pc \
		$(INCLUDEDIR)/tense.h \
		$(patsubst libtense/man/%,$(MANDIR)/man3/%,$(filter %.3,$(LIBTENSE_MAN))) \
		$(patsubst libtense/man/%,$(MANDIR)/man7/%,$(filter %.7,$(LIBTENSE_MAN)))

-include $(LIBTENSE_OBJ:.o=.d) $(LIBTENSE_SYMBOLS_OBJ:.o=.d) \
	$(LIBTENSE_FUNCTIONS_OBJ:.o=.d) $(LIBTENSE_REDIRECT_OBJ:.o=.d)
