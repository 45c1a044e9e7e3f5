// SPDX-License-Identifier: GPL-2.0
#include "kernel.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/paths.h"
#include "base/util.h"
#include "script.h"

/* It has one CPU in User-Mode Linux, and its system calls take twice as long as later ones'. */
#define KERNEL_VERSION_OLD	"6.1"
/* tools/kernel-source prefers it. */
#define KERNEL_VERSION_UML	"7.3"

/* Not kept in the environment, which the command inherits. NULL: nobody has chosen. */
static const char *chosen;

/* The directory of kernel_use(), or NULL, and the architecture of its kernel. */
static char *given;
static char given_arch[16];

static void forget_given(void)
{
	free(given);
	given = NULL;
}

/* Returns the version as this file names it, or NULL. */
static const char *find_version(const char *text)
{
	static const char *const known[] = { KERNEL_VERSION_LIST };

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (!strcmp(text, known[i]))
			return known[i];
	return NULL;
}

/*
 * Returns the version that the user or tense has chosen, or NULL. Ends the program on one
 * that is not known.
 */
static const char *version(void)
{
	const char *text = setting("TENSE_KERNEL_VERSION");

	if (chosen || !text)
		return chosen;
	if (!find_version(text))
		die(STATUS_FAILED, "TENSE_KERNEL_VERSION is '%s': should be one of %s",
		    text, KERNEL_VERSIONS);
	return text;
}

void kernel_choose(const char *text)
{
	forget_given();
	chosen = find_version(text);
	if (!chosen)
		die(STATUS_FAILED, "kernel version '%s' is not known: choose one of %s",
		    text, KERNEL_VERSIONS);
}

void kernel_choose_none(void)
{
	forget_given();
	chosen = NULL;
}

/* TENSE_KERNEL_SOURCE without a version means Linux 6.1. */
bool kernel_is_decided(void)
{
	return version() || setting("TENSE_KERNEL_SOURCE");
}

static bool is_built(const char *arch)
{
	char *directory = kernel_directory(arch);
	bool built = directory && !access(directory, R_OK);

	free(directory);
	return built;
}

/* The version of the source in a directory of the cache, such as source-7.2.13-1. */
static const char *version_of_source(const char *directory)
{
	const char *name = strrchr(directory, '/');
	unsigned int major, minor;
	char text[32];

	if (!name || sscanf(name, "/source-%u.%u", &major, &minor) != 2)
		return KERNEL_VERSION_UML;
	snprintf(text, sizeof(text), "%u.%u", major, minor);
	return find_version(text) ? find_version(text) : KERNEL_VERSION_UML;
}

bool kernel_choose_for_uml(void)
{
	char *options[] = { NULL }, *source;
	int exit_status;

	if (kernel_is_decided())
		return true;
	source = script_try(PATH_KERNEL_SOURCE, options, "the kernel's source", &exit_status);
	/* The cache of another user may hold kernels of Linux 6.1. */
	if (!source && exit_status == SCRIPT_NO_CACHE && !is_built("um") && !is_built("x86_64"))
		exit(STATUS_FAILED);
	if (!source)
		return false;
	kernel_choose(version_of_source(source));
	free(source);
	return true;
}

void kernel_expect_for_uml(void)
{
	char *print[] = { "--print", NULL }, *check[] = { "--check", NULL }, *source;
	int found = 0, can_fetch = 0;

	if (kernel_is_decided())
		return;
	source = script_ask(PATH_KERNEL_SOURCE, print, &found);
	if (found)
		free(script_ask(PATH_KERNEL_SOURCE, check, &can_fetch));
	if (!found)
		kernel_choose(version_of_source(source));
	else if (!can_fetch)
		kernel_choose(KERNEL_VERSION_UML);
	free(source);
}

const char *kernel_version(void)
{
	return version() ? version() : KERNEL_VERSION_OLD;
}

bool kernel_uses_filters(void)
{
	return strcmp(kernel_version(), KERNEL_VERSION_OLD) != 0;
}

unsigned int kernel_uml_cpus(void)
{
	/* CONFIG_NR_CPUS of kernel/v7.2/configs/uml.config. */
	return kernel_uses_filters() ? 64 : 1;
}

/*
 * Returns the version of the kernel in a directory, as its configuration tells it, and sets
 * its architecture; NULL if it is none that is known here.
 */
static const char *read_version(const char *directory, char arch[16])
{
	char *path = xprintf("%s/config", directory), line[128], text[32] = "";
	unsigned int major, minor;
	FILE *f = fopen(path, "re");

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "# Linux/%15s %u.%u", arch, &major, &minor) == 3) {
			snprintf(text, sizeof(text), "%u.%u", major, minor);
			break;
		}
	if (f)
		fclose(f);
	free(path);
	return find_version(text);
}

bool kernel_is_given(void)
{
	return given;
}

void kernel_use(const char *directory)
{
	chosen = read_version(directory, given_arch);
	if (!chosen)
		die(STATUS_FAILED, "%s holds no kernel of a known version: name a directory that `tense check` or tools/kernel-build prints",
		    directory);
	forget_given();
	given = xstrdup(directory);
}

void kernel_choose_or_use(const char *text)
{
	char *directory, *module;

	if (!strchr(text, '/')) {
		kernel_choose(text);
		return;
	}
	directory = realpath(text, NULL);
	if (!directory)
		die(STATUS_FAILED, "--kernel %s: %s", text, strerror(errno));
	kernel_use(directory);
	free(directory);
	module = xprintf("%s/tense.ko", given);
	if (access(module, R_OK))
		die(STATUS_FAILED, "%s: %s: name a directory that `tense check` or tools/kernel-build prints",
		    module, strerror(errno));
	free(module);
}

static bool is_um(const char *arch)
{
	return !strcmp(arch, "um");
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

	if (given && is_um(given_arch) != is_um(arch))
		die(STATUS_FAILED, "--kernel %s: this kernel is for %s: use --backend %s",
		    given, given_arch, is_um(given_arch) ? "uml" : "qemu");
	if (given)
		return xstrdup(given);
	name_version(options);
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
