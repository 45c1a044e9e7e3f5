// SPDX-License-Identifier: LGPL-2.1-or-later
/* Damaged programs and libraries: each is read, or the error says of what kind. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "symbols/debug-file.h"
#include "fuzz.h"
#include "symbols/symbols.h"

static volatile size_t sink;

/* All that a caller may look at is there. */
static int look(const struct tense_symbol *symbol, void *data)
{
	size_t *count = data;

	sink += strlen(symbol->name);
	if (symbol->version)
		sink += strlen(symbol->version);
	if (symbol->file)
		sink += strlen(symbol->file);
	return ++*count > 100000;
}

static void look_for_debug_file(const char *path)
{
	Elf *elf;
	int fd;

	if (tense_elf_open(path, &fd, &elf))
		return;
	free(tense_debug_file(elf, path));
	tense_elf_close(fd, elf);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *path = fuzz_file(data, size);
	size_t count = 0;
	int err;

	/* Not the host's own. */
	setenv(TENSE_DEBUG_PATH, "/nonexistent", 1);
	err = tense_functions_each(path, look, &count);
	if (err < 0 && err != -ENOEXEC && err != -EBADMSG && err != -ENOMEM)
		abort();
	look_for_debug_file(path);
	return 0;
}
