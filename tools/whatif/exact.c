// SPDX-License-Identifier: GPL-2.0
#include "exact.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "names/program.h"
#include "base/util.h"

struct list {
	char **files;
	size_t n;
};

static void add(struct list *l, char *path)
{
	l->files = xrealloc(l->files, (l->n + 2) * sizeof(*l->files));
	l->files[l->n++] = path;
	l->files[l->n] = NULL;
}

/* Resolves the name as a shell would, not as a file of the directory. */
static void add_program(struct list *l, const char *name)
{
	char *path = find_command(name);

	if (path)
		add(l, path);
}

char **whatif_exact_files(const struct whatif_question *q,
			  const struct whatif_found *found, char *const *files)
{
	struct list l = { 0 };

	for (; *files; files++)
		add(&l, xstrdup(*files));
	add_program(&l, q->argv[0]);
	if (q->prepare)
		add_program(&l, "sh");
	if (q->input && !access(q->input, R_OK))
		add(&l, xstrdup(q->input));
	else if (q->input && !q->prepare)
		die(STATUS_FAILED, "--input %s: %s", q->input, strerror(errno));
	for (size_t i = 0; i < found->nr_objects; i++)
		add(&l, xstrdup(found->objects[i]));
	return l.files;
}

void whatif_exact_free(char **files)
{
	for (char **file = files; *file; file++)
		free(*file);
	free(files);
}
