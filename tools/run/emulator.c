// SPDX-License-Identifier: GPL-2.0
#include "emulator.h"

#include <stdlib.h>

#include "base/paths.h"
#include "script.h"

char *emulator_fetch(void)
{
	char *none[] = { NULL };

	return script_run(PATH_QEMU_FETCH, none, "QEMU");
}

char *emulator_path(void)
{
	char *options[] = { "--print", NULL };
	int status;
	char *text = script_ask(PATH_QEMU_FETCH, options, &status);

	if (!status && *text)
		return text;
	free(text);
	return NULL;
}

char *emulator_missing(void)
{
	char *options[] = { "--check", NULL };
	int status;
	char *text = script_ask(PATH_QEMU_FETCH, options, &status);

	if (status)
		return text;
	free(text);
	return NULL;
}
