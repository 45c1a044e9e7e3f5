// SPDX-License-Identifier: GPL-2.0
#include "kernel.h"

#include <stdlib.h>

#include "base/paths.h"
#include "script.h"

char *kernel_build(const char *arch)
{
	char *options[] = { "--arch", (char *)arch, NULL };

	return script_run(PATH_KERNEL_BUILD, options, "the kernel");
}

static char *ask(const char *arch, char *option, int *status)
{
	char *options[] = { "--arch", (char *)arch, option, NULL };

	return script_ask(PATH_KERNEL_BUILD, options, status);
}

char *kernel_directory(const char *arch)
{
	int status;
	char *text = ask(arch, "--print", &status);

	if (!status && *text)
		return text;
	free(text);
	return NULL;
}

char *kernel_missing(const char *arch)
{
	int status;
	char *text = ask(arch, "--check", &status);

	if (status)
		return text;
	free(text);
	return NULL;
}
