/* SPDX-License-Identifier: GPL-2.0 */
/* The request of a guest, and the descriptors that init made for its command. */
#ifndef TOOLS_GUEST_SETUP_H
#define TOOLS_GUEST_SETUP_H

#include <sys/types.h>

#include "run/proto.h"

struct setup {
	struct request r;
	gid_t *groups;
	char *module;
	char *module_options;
	char *directory;
	char *host_name;
	char *experiment;
	char *prepare;
	char *input;
	char **writable;
	char **argv;
	char **env;
	int fds[3];		/* the command's; -1: closed */
	int report;		/* the launcher's end of a pipe to init */
};

#endif
