/* SPDX-License-Identifier: GPL-2.0 */
/* Settings of a machine: files of its kernel, and which units of systemd run. */
#ifndef MEASURE_SETTINGS_H
#define MEASURE_SETTINGS_H

#include "journal.h"

/* A file's content to the byte, or NULL with errno. The caller frees it. */
char *setting_read(const char *path);

/* Is a content this value? The end of the line does not matter. */
bool setting_is(const char *content, const char *value);

/* 0, or -1 with errno. It is not made if it is not there. */
int setting_write(const char *path, const char *content);

enum put_back {
	PUT_BACK,
	PUT_BACK_NEEDLESS,	/* it is as it was found */
	PUT_BACK_OTHER,		/* it is neither as found nor as set */
	PUT_BACK_GONE,
	PUT_BACK_FAILED,
};

/*
 * Undoes a change if the setting still has our value. Otherwise *why is the
 * current value, or why it cannot be undone; the caller frees it.
 */
enum put_back setting_put_back(const struct change *change,
			       const char *systemctl, char **why);

#endif
