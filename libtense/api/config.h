/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The settings of libtense in the environment, read once before main(). */
#ifndef LIBTENSE_CONFIG_H
#define LIBTENSE_CONFIG_H

#include <stdbool.h>

/* A name that is cut off here is still longer than a valid one: the device refuses it. */
#define TENSE_CONFIG_NAME	48

struct tense_config {
	bool off;	/* TENSE=0 */
	bool strict;	/* TENSE_STRICT=1 */
	bool warned;	/* TENSE_WARNED=1: a process before this one has warned */
	bool preloaded;	/* LD_PRELOAD names libtense.so */
	char experiment[TENSE_CONFIG_NAME];	/* TENSE_EXPERIMENT, or empty */
};

extern struct tense_config tense_config;

struct tense_config tense_config_parse(const char *tense, const char *strict,
				       const char *warned, const char *preload,
				       const char *experiment);

#endif
