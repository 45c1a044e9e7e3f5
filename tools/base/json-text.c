// SPDX-License-Identifier: GPL-2.0
#include "json-text.h"

#include <stdlib.h>
#include <string.h>

#include "util.h"

json_t *json_text(const char *bytes, size_t len)
{
	json_t *json = json_stringn(bytes, len);
	char *clean, *p;

	if (json)
		return json;
	clean = p = xmalloc(3 * len + 1);
	for (size_t i = 0; i < len; i++) {
		if ((unsigned char)bytes[i] < 0x80)
			*p++ = bytes[i];
		else
			p = mempcpy(p, "\xef\xbf\xbd", 3);
	}
	json = json_stringn(clean, p - clean);
	free(clean);
	return json;
}
