// SPDX-License-Identifier: GPL-2.0
#include "kernel.h"

#include <stdlib.h>
#include <string.h>

#include "base/paths.h"
#include "base/util.h"
#include "script.h"

/* It has several CPUs, and its system calls take half as long as those of 6.1. */
#define KERNEL_VERSION_UML	"7.2"

/* Not kept in the environment, which the command inherits. NULL: nobody has chosen. */
static const char *chosen;

/* To the scripts, an empty variable is the same as none. */
static const char *setting(const char *name)
{
	const char *value = getenv(name);

	return value && *value ? value : NULL;
}

/* Returns the version that the user or tense has chosen, or NULL. */
static const char *version(void)
{
	return chosen ? chosen : setting("TENSE_KERNEL_VERSION");
}

static bool is_version(const char *text)
{
	static const char *const known[] = { KERNEL_VERSION_LIST };

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (!strcmp(text, known[i]))
			return true;
	return false;
}

void kernel_choose(const char *text)
{
	if (!is_version(text))
		die(STATUS_FAILED, "kernel version '%s' is not known: choose one of %s",
		    text, KERNEL_VERSIONS);
	chosen = text;
}

void kernel_choose_none(void)
{
	chosen = NULL;
}

/* TENSE_KERNEL_SOURCE without a version means Linux 6.1. */
bool kernel_is_decided(void)
{
	return version() || setting("TENSE_KERNEL_SOURCE");
}

bool kernel_choose_for_uml(void)
{
	char *options[] = { NULL }, *source;

	if (kernel_is_decided())
		return true;
	source = script_try(PATH_KERNEL_SOURCE, options, "the kernel's source");
	if (!source)
		return false;
	free(source);
	kernel_choose(KERNEL_VERSION_UML);
	return true;
}

void kernel_expect_for_uml(void)
{
	char *options[] = { "--check", NULL };
	int status = 0;

	if (kernel_is_decided())
		return;
	free(script_ask(PATH_KERNEL_SOURCE, options, &status));
	if (!status)
		kernel_choose(KERNEL_VERSION_UML);
}

const char *kernel_version(void)
{
	return version() ? version() : "6.1";
}

bool kernel_uses_filters(void)
{
	return !strcmp(kernel_version(), KERNEL_VERSION_UML);
}

unsigned int kernel_uml_cpus(void)
{
	/* CONFIG_NR_CPUS of kernel/v7.2/configs/uml.config. */
	return kernel_uses_filters() ? 64 : 1;
}

static const char *given;

void kernel_use(const char *directory)
{
	bool is_newer = !strncmp(base_name(directory), "um-" KERNEL_VERSION_UML "-",
				 strlen("um-" KERNEL_VERSION_UML "-"));

	given = directory;
	chosen = is_newer ? KERNEL_VERSION_UML : "6.1";
}

/* Adds the version to the options of a script, if one was chosen. */
static void name_version(char **options)
{
	if (!chosen)
		return;
	while (*options)
		options++;
	*options++ = "--version";
	*options = (char *)chosen;
}

char *kernel_build(const char *arch)
{
	char *options[] = { "--arch", (char *)arch, NULL, NULL, NULL };

	name_version(options);
	if (given)
		return xstrdup(given);
	return script_run(PATH_KERNEL_BUILD, options, "the kernel");
}

static char *ask(const char *arch, char *option, int *status)
{
	char *options[] = { "--arch", (char *)arch, option, NULL, NULL, NULL };

	name_version(options);
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
