// SPDX-License-Identifier: GPL-2.0
#include "user-data.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/utsname.h>

#include "util.h"

char *user_data_path(const char *name)
{
	const char *data = getenv("XDG_DATA_HOME"), *home = getenv("HOME");

	if (data && *data == '/')
		return xprintf("%s/tense/%s", data, name);
	return xprintf("%s/.local/share/tense/%s", home ? home : "", name);
}

char *machine_data_path(const char *what)
{
	struct utsname name;
	char *file, *path;

	uname(&name);
	/* Nothing keeps a host's name from having one. */
	for (char *p = name.nodename; *p; p++)
		if (*p == '/')
			*p = '_';
	file = xprintf("%s-%s.json", what, name.nodename);
	path = user_data_path(file);
	free(file);
	return path;
}

int make_parents(const char *path)
{
	char *copy = xstrdup(path);
	int err = 0;

	for (char *p = copy + 1; *p && !err; p++) {
		if (*p != '/')
			continue;
		*p = '\0';
		err = mkdir(copy, 0777) && errno != EEXIST;
		*p = '/';
	}
	free(copy);
	return err ? -1 : 0;
}
