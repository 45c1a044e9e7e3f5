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
	char **names;
	size_t count;
	struct node_cell *cells;
	size_t nr_cells;
};

struct node_difference {
	double points;		/* its change less that of the others, in percentage points */
	double p;		/* probability that chance alone makes any node differ this much */
};

/*
 * Adds the samples that a node measured. Samples of different groups are never
 * compared: they vary other functions. Round 0 does not count, nor does a metric of 0.
 */
void whatif_nodes_add(struct whatif_nodes *nodes, const char *node, size_t group,
		      const struct whatif_samples *samples);

/*
 * Returns a difference for each node, in the order of the names, which the caller frees. It
 * is NAN if the node has too few runs to tell.
 */
struct node_difference *whatif_nodes_compare(const struct whatif_nodes *nodes);

/* Warns of each node that disagrees by more than a precision in percentage points. */
void whatif_nodes_judge(const struct whatif_nodes *nodes, double precision);
void whatif_nodes_free(struct whatif_nodes *nodes);

#endif
