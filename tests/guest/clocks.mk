# SPDX-License-Identifier: GPL-2.0
#
# Is the clock causally consistent (R9)? A program that counts readings which are
# too early, on each tier.

clocks_programs := $(O)/tests/guest/clock-order

$(clocks_programs): $(O)/tests/guest/%: tests/guest/%.c tests/guest/raw-clock.h \
		libtense/include/tense.h $(O)/lib/libtense.so $(O)/flags
	$(call quiet,CC,$@)mkdir -p $(@D) && $(CC) $(WARN) $(CFLAGS) \
		-D_GNU_SOURCE -Ilibtense/include $(LDFLAGS) -o $@ $< \
		-L$(O)/lib -ltense -Wl,-rpath,'$$ORIGIN/../../lib' -pthread

# TEST-TIERS runs on these tiers. test-clock-order-TIERS takes a minute or two.
tiers_uml := host real-uml uml
tiers_qemu := qemu-1 qemu-2 qemu-4
tiers_exact := exact-1 exact-2

in_tiers = $(Q)sed -e 's|@SOURCE@|$(CURDIR)|' -e 's|@O@|$(abspath $(O))|' \
	-e 's|@TIERS@|$(tiers_$*)|' $< >$@ && chmod +x $@

clock_order_tests := $(addprefix $(O)/tests/guest/test-clock-order-,uml qemu exact)
GUEST_TESTS += $(clock_order_tests)
$(clock_order_tests): $(O)/tests/guest/test-clock-order-%: \
		tests/guest/test-clock-order.sh tests/lib/tap.sh tests/lib/load.sh \
		$(O)/tests/guest/clock-order $(USER_TARGETS)
	$(call in_tiers)

clock-order-run: user module $(clock_order_tests)
	$(Q)for t in $(clock_order_tests); do \
		READINGS=$${READINGS:-1000000} $$t || failed=1; \
	done; [ -z "$$failed" ]
