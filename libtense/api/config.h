/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The settings of libtense in the environment, read once before main(). */
#ifndef LIBTENSE_CONFIG_H
#define LIBTENSE_CONFIG_H

#include <stdbool.h>

struct tense_config {
	bool off;	/* TENSE=0 */
	bool strict;	/* TENSE_STRICT=1 */
	bool warned;	/* TENSE_WARNED=1: a process before this one has warned */
	bool preloaded;	/* LD_PRELOAD names libtense.so */
};

extern struct tense_config tense_config;

struct tense_config tense_config_parse(const char *tense, const char *strict,
				       const char *warned,
				       const char *preload);

#endif
