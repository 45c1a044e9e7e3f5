# SPDX-License-Identifier: LGPL-2.1-or-later
#
# libtense-measure measures how long a function takes. It does not need libtense.

MEASURE_LIB_SRC := measure protocol kbest counter ticks cache published
# Pages that are the same as tense_fcyc(3).
MEASURE_LIB_LINKS := tense_start_counter tense_get_counter tense_mhz \
	tense_start_timer tense_get_timer tense_inactiveduration
MEASURE_LIB_OBJ := $(MEASURE_LIB_SRC:%=$(O)/libtense/measure/%.o)
MEASURE_LIB := $(O)/lib/libtense-measure.so

USER_TARGETS += $(MEASURE_LIB)

$(MEASURE_LIB_OBJ): $(O)/%.o: %.c $(O)/flags
	$(call quiet,CC,$@) mkdir -p $(@D) && \
	$(CC) $(CFLAGS) -D_GNU_SOURCE -fPIC -fvisibility=hidden \
		-Ilibtense/include -MMD -MP -c -o $@ $<

$(MEASURE_LIB).0: $(MEASURE_LIB_OBJ) libtense/measure/measure.map
	$(call quiet,LD,$@) mkdir -p $(@D) && \
	$(CC) $(LDFLAGS) -shared -Wl,-soname,$(@F) -Wl,--no-undefined \
		-Wl,--version-script,$(filter %.map,$^) -Wl,-z,relro \
		-o $@ $(filter %.o,$^)

$(MEASURE_LIB): $(MEASURE_LIB).0
	$(Q)ln -sf $(<F) $@

-include $(MEASURE_LIB_OBJ:.o=.d)

$(O)/libtense/measure/libtense-measure.pc: \
		libtense/measure/libtense-measure.pc.in $(O)/prefix
	$(Q)mkdir -p $(@D)
	$(Q)sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@VERSION@|$(VERSION)|' $< >$@

install:: $(O)/libtense/measure/libtense-measure.pc
	$(Q)install -d $(LIBDIR)/pkgconfig $(INCLUDEDIR) $(MANDIR)/man3
	$(Q)install -m 644 $(O)/libtense/measure/libtense-measure.pc \
		$(LIBDIR)/pkgconfig
	$(Q)install -m 755 $(MEASURE_LIB).0 $(LIBDIR)
	$(Q)ln -sf $(notdir $(MEASURE_LIB)).0 $(LIBDIR)/$(notdir $(MEASURE_LIB))
	$(Q)install -m 644 libtense/include/tense-measure.h $(INCLUDEDIR)
	$(Q)install -m 644 libtense/measure/tense_kbest.3 \
		libtense/measure/tense_fcyc.3 $(MANDIR)/man3
	$(Q)for name in $(MEASURE_LIB_LINKS); do \
		ln -sf tense_fcyc.3 $(MANDIR)/man3/$$name.3; done

uninstall::
	$(Q)rm -f $(LIBDIR)/$(notdir $(MEASURE_LIB)) \
		$(LIBDIR)/$(notdir $(MEASURE_LIB)).0 \
		$(LIBDIR)/pkgconfig/libtense-measure.pc \
		$(INCLUDEDIR)/tense-measure.h $(MANDIR)/man3/tense_kbest.3 \
		$(patsubst %,$(MANDIR)/man3/%.3,tense_fcyc $(MEASURE_LIB_LINKS))

# One test with sanitizers, one of the library as it is shipped.
$(O)/tests/unit/test-kbest: tests/unit/test-kbest.c \
		$(MEASURE_LIB_SRC:%=libtense/measure/%.c) \
		$(wildcard libtense/measure/*.h) \
		libtense/include/tense-measure.h tests/lib/tap.h $(O)/flags
	$(call quiet,CC,$@) mkdir -p $(@D) && \
	$(CC) $(CFLAGS) -D_GNU_SOURCE -Ilibtense/include -Ilibtense/measure \
		-Itests/lib -fsanitize=address,undefined \
		-fno-sanitize-recover=all $(LDFLAGS) -o $@ $(filter %.c,$^) -lm

$(O)/tests/unit/test-kbest-library: $(MEASURE_LIB)
UNIT_TESTS += $(addprefix $(O)/tests/unit/,test-kbest test-kbest-library)
