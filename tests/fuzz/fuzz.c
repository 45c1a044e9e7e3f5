// SPDX-License-Identifier: GPL-2.0
#include "fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

const char *fuzz_file(const uint8_t *data, size_t size)
{
	static int memory = -1;
	static char path[32];

	if (memory < 0)
		memory = memfd_create("fuzz", MFD_CLOEXEC);
	if (memory < 0 || ftruncate(memory, 0) ||
	    pwrite(memory, data, size, 0) != (ssize_t)size)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", memory);
	return path;
}

char *fuzz_text(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);

	if (!text)
		abort();
	memcpy(text, data, size);
	text[size] = '\0';
	return text;
}
