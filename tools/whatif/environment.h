/* SPDX-License-Identifier: GPL-2.0 */
/* The machine on which the samples were measured. */
#ifndef TOOLS_WHATIF_ENVIRONMENT_H
#define TOOLS_WHATIF_ENVIRONMENT_H

#include <stdbool.h>

#include "base/machine.h"

/*
 * In runs on a cluster, the facts of the host are NULL or 0, and in deterministic runs also
 * the date.
 */
struct whatif_environment {
	char *tense;
	char *backend;
	char *kernel;
	char *host;		/* the kernel below, or NULL */
	char *cpu;
	unsigned int cpus;
	double load[3];		/* NAN: not known */
	char *date;
};

void whatif_environment(struct whatif_environment *e, const char *backend);
/* Is the load of the machine before the runs known? */
bool whatif_has_load(const struct whatif_environment *e);
/* The machine of the runs was a guest of this one. */
void whatif_environment_below(struct whatif_environment *e,
			      const struct whatif_environment *below);
/* The machines of the runs were guests of several others. */
void whatif_environment_elsewhere(struct whatif_environment *e,
				  const char *backend);
/* The machine of the runs counts instructions: nothing of this one is in it. */
void whatif_environment_exact(struct whatif_environment *e,
			      const char *backend);
/* The machine of the runs. Older results name no kernel. */
struct machine whatif_environment_machine(const struct whatif_environment *e);
void whatif_environment_free(struct whatif_environment *e);

#endif
