// SPDX-License-Identifier: GPL-2.0
#include "flame.h"

#include <stdlib.h>
#include <string.h>

#include "base/json-text.h"
#include "base/util.h"

/* A cell with a smaller part of the time would be thinner than a line. */
#define PART_MIN	0.001

/* A deeper recursion would be a tower. */
#define DEPTH_MAX	100

#define UNKNOWN		(SURVEY_NOWHERE - 1)	/* callers that the unwinder has not reached */

struct node {
	uint32_t function;
	const char *thread;	/* its name, in a node of a thread */
	uint64_t ns;
	struct node *children;
	size_t count;
};

struct tree {
	const struct survey *survey;
	const size_t *candidates;
	json_t *nodes;
};

/* Adds the time to the child of this function, or of this thread, and returns it. */
static struct node *add(struct node *parent, uint32_t function, const char *thread, uint64_t ns)
{
	struct node *child = parent->children;

	for (; child < parent->children + parent->count; child++)
		if (child->function == function && (!thread || !strcmp(child->thread, thread)))
			break;
	if (child == parent->children + parent->count) {
		parent->children = xrealloc(parent->children,
					    (parent->count + 1) * sizeof(*child));
		child = &parent->children[parent->count++];
		*child = (struct node){ .function = function, .thread = thread };
	}
	child->ns += ns;
	return child;
}

static void add_stack(struct node *root, const struct survey_stack *stack)
{
	struct node *node = add(root, SURVEY_NOWHERE, stack->thread, stack->ns);
	uint32_t last = stack->depth > DEPTH_MAX ? stack->depth - DEPTH_MAX : 0;

	root->ns += stack->ns;
	if (!stack->whole)
		node = add(node, UNKNOWN, NULL, stack->ns);
	for (uint32_t d = stack->depth; d-- > last;)
		node = add(node, stack->frames[d], NULL, stack->ns);
}

/* The most time first; else in an order that is not by chance, as that of the samples is. */
static int by_time(const void *a, const void *b)
{
	const struct node *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns < y->ns ? 1 : -1;
	if (x->thread)
		return strcmp(x->thread, y->thread);
	return (x->function > y->function) - (x->function < y->function);
}

static json_t *text(const char *bytes)
{
	return json_text(bytes, strlen(bytes));
}

static json_t *node_json(const struct tree *t, const struct node *node, json_t *parent)
{
	const char *name = node->thread ? node->thread : "[unknown]";
	json_t *object = json_null(), *candidate = json_null();

	if (node->function < t->survey->count) {
		const struct survey_function *f = &t->survey->functions[node->function];
		size_t place = t->candidates[node->function];

		name = f->name;
		object = text(f->object);
		candidate = place == SIZE_MAX ? json_null() : json_integer(place);
	}
	return json_pack("{so so so so sI}", "name", text(name), "object", object,
			 "candidate", candidate, "parent", parent, "ns", (json_int_t)node->ns);
}

/* Appends the descendants of the node, which is at this place in the array, and frees them. */
static void write_children(struct tree *t, struct node *node, size_t place, uint64_t least)
{
	if (node->count)
		qsort(node->children, node->count, sizeof(*node->children), by_time);
	for (size_t i = 0; i < node->count; i++) {
		struct node *child = &node->children[i];
		size_t at = json_array_size(t->nodes);

		if (child->ns >= least)
			json_array_append_new(t->nodes, node_json(t, child, child->thread ?
					      json_null() : json_integer(place)));
		write_children(t, child, at, child->ns < least ? UINT64_MAX : least);
	}
	free(node->children);
}

json_t *flame_tree(const struct survey *survey, const size_t *candidates)
{
	struct tree tree = { survey, candidates, json_array() };
	struct node root = { 0 };

	for (size_t i = 0; i < survey->nr_stacks; i++)
		add_stack(&root, &survey->stacks[i]);
	write_children(&tree, &root, 0, root.ns * PART_MIN + 1);
	return tree.nodes;
}
