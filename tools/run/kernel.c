// SPDX-License-Identifier: GPL-2.0
#include "kernel.h"

#include <stdlib.h>
#include <string.h>

#include "base/paths.h"
#include "base/util.h"
#include "script.h"

static bool is_version(const char *text)
{
	static const char *const known[] = { KERNEL_VERSION_LIST };

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (!strcmp(text, known[i]))
			return true;
	return false;
}

void kernel_choose(const char *version)
{
	if (!is_version(version))
		die(STATUS_FAILED, "kernel version '%s' is not known: choose one of %s",
		    version, KERNEL_VERSIONS);
	setenv("TENSE_KERNEL_VERSION", version, 1);
}

bool kernel_choose_for_cpus(void)
{
	char *options[] = { NULL }, *source;

	if (getenv("TENSE_KERNEL_VERSION") || getenv("TENSE_KERNEL_SOURCE"))
		return kernel_uml_cpus() > 1;
	source = script_try(PATH_KERNEL_SOURCE, options, "the kernel's source");
	if (!source)
		return false;
	free(source);
	kernel_choose("7.2");
	return true;
}

unsigned int kernel_uml_cpus(void)
{
	const char *version = getenv("TENSE_KERNEL_VERSION");

	/* CONFIG_NR_CPUS of kernel/v7.2/configs/uml.config. */
	return version && !strcmp(version, "7.2") ? 64 : 1;
}

static const char *given;

void kernel_use(const char *directory)
{
	given = directory;
}

char *kernel_build(const char *arch)
{
	char *options[] = { "--arch", (char *)arch, NULL };

	if (given)
		return xstrdup(given);
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
