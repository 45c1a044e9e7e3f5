/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Compares the nodes of a cluster. They may differ in speed, because varied runs are
 * compared with null runs of the same node. If the predicted change depends on the node,
 * no node's prediction can be trusted.
 */
#ifndef TOOLS_WHATIF_NODES_H
#define TOOLS_WHATIF_NODES_H

#include <stddef.h>

#include "samples.h"

struct whatif_nodes {
	struct node_run *list;
	size_t count;
};

struct node_difference {
	char *node;		/* as long as the struct whatif_nodes lives */
	double points;		/* its change less that of the others, in percentage points */
	double p;		/* probability that chance alone makes any node differ this much */
};

/*
 * Adds the samples that a node measured. Samples of different groups are
 * never compared: they vary other functions. Round 0 does not count, nor does a metric of 0.
 */
void whatif_nodes_add(struct whatif_nodes *nodes, const char *node, size_t group,
		      const struct whatif_samples *samples);

/*
 * Returns how many nodes there are. *differences, which the caller frees, has one for each
 * node; p is NAN if there are too few runs to tell.
 */
size_t whatif_nodes_compare(const struct whatif_nodes *nodes,
			    struct node_difference **differences);

/* Warns of each node that disagrees by more than a precision in percentage points. */
void whatif_nodes_judge(const struct whatif_nodes *nodes, double precision);
void whatif_nodes_free(struct whatif_nodes *nodes);

#endif
