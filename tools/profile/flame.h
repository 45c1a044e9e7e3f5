/* SPDX-License-Identifier: GPL-2.0 */
/* The stacks of a survey as a tree, for a flame graph. */
#ifndef TOOLS_FLAME_H
#define TOOLS_FLAME_H

#include <jansson.h>

#include "survey.h"

/*
 * Returns the tree as an array of nodes, in which each follows its parent. A node has the
 * name and object of a function, its ns with those of its callees, the place of its parent,
 * and its candidate: candidates has one, or SIZE_MAX, for each function of the survey. A node
 * without a parent and an object stands for all threads of a name. Leaves out
 * nodes that are too narrow to be seen, and cuts deep recursion.
 */
json_t *flame_tree(const struct survey *survey, const size_t *candidates);

#endif
