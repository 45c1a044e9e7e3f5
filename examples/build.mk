# SPDX-License-Identifier: GPL-2.0
#
# Each example is compiled by the command in its first comment, and nothing else.

EXAMPLES := $(patsubst examples/%.c,%,$(wildcard examples/*.c))

.PHONY: examples
examples: user
	$(Q)for e in $(EXAMPLES); do \
		command=$$(sed -n 's/^ \*	\$$ \(cc .*\)/\1/p' examples/$$e.c) && \
		echo "  $$command" && eval "$$command" || exit 1; \
	done

GUEST_TESTS += $(O)/tests/guest/test-examples
$(O)/tests/guest/test-examples: $(wildcard examples/*.c) $(USER_TARGETS)
