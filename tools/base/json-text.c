// SPDX-License-Identifier: GPL-2.0
#include "json-text.h"

#include <errno.h>
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

int json_write(FILE *f, json_t *root)
{
	int err;

	if (!root) {
		warn("cannot make JSON: a number is not finite, a text is not UTF-8, or memory is short");
		errno = EINVAL;
		return -1;
	}
	errno = 0;
	err = json_dumpf(root, f, JSON_INDENT(2));
	if (!err && fputc('\n', f) == EOF)
		err = -1;
	/* Buffered data may not fit on the disk. */
	if (!err && fflush(f))
		err = -1;
	json_decref(root);
	return err;
}

int json_print(json_t *root)
{
	if (!json_write(stdout, root))
		return 0;
	warn("standard output: %s", strerror(errno));
	/* Otherwise main() would report the error again. */
	clearerr(stdout);
	return -1;
}
