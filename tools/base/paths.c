// SPDX-License-Identifier: GPL-2.0
#include "paths.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util.h"

extern char **environ;

char *find_part(const char *path)
{
	char exe[PATH_MAX];
	ssize_t len = readlink("/proc/self/exe", exe, sizeof(exe) - 1);

	if (len < 0)
		die(STATUS_FAILED, "cannot find the executable: %s",
		    strerror(errno));
	exe[len] = '\0';
	/* PREFIX/bin/tense */
	for (int i = 0; i < 2; i++)
		*strrchr(exe, '/') = '\0';
	return xprintf("%s/%s", exe, path);
}

char **preload_environment(void)
{
	const char *old = getenv("LD_PRELOAD");
	const char *off = getenv("TENSE");
	char *library, *value;

	if (off && !strcmp(off, "0"))
		return environ;
	library = find_part(PATH_LIBTENSE);
	if (access(library, R_OK))
		die(STATUS_FAILED, "%s: %s: run `make user`, or install again",
		    library, strerror(errno));
	/* The loader takes these for separators. */
	if (strpbrk(library, " :"))
		die(STATUS_FAILED,
		    "%s: a path with a space or colon cannot be preloaded",
		    library);
	value = old && *old ? xprintf("LD_PRELOAD=%s:%s", library, old) :
			      xprintf("LD_PRELOAD=%s", library);
	free(library);
	return environment_with(environ, value);
}

void preload_environment_free(char **env)
{
	size_t count = 0;

	if (env == environ)
		return;
	while (env[count])
		count++;
	free(env[count - 1]);
	free(env);
}

const char *find_temporary(void)
{
	const char *path = getenv("TMPDIR");

	return path && *path ? path : "/tmp";
}

const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}
