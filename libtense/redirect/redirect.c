// SPDX-License-Identifier: LGPL-2.1-or-later
#include "host.h"

#include "code.h"
#include "internal.h"
#include "object.h"

static const char *probe(uintptr_t address, size_t size,
			 const struct tense_stub *stub, uintptr_t *entry)
{
	return redirect_probe(address, size, stub, false, entry);
}

__attribute__((visibility("default")))
const struct redirect *tense_redirect(const struct redirect_host *host)
{
	static const struct redirect redirect = {
		.parse = redirect_parse,
		.marks = redirect_marks,
		.scan = redirect_scan,
		.watch = redirect_watch,
		.probe = probe,
		.log_cost = redirect_log_cost,
		.log_start = redirect_log_start,
	};

	redirect_host = host;
	return redirect_code_init() ? &redirect : NULL;
}
