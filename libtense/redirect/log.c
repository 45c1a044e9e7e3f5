// SPDX-License-Identifier: LGPL-2.1-or-later
#include "internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "symbols/marks.h"

static void put_field(FILE *to, const char *text)
{
	putc('\t', to);
	for (; *text; text++) {
		switch (*text) {
		case '\t':
			fputs("\\t", to);
			break;
		case '\n':
			fputs("\\n", to);
			break;
		case '\\':
			fputs("\\\\", to);
			break;
		default:
			putc(*text, to);
		}
	}
}

/* A single write, because other processes append as well. */
static void append(const char *line, size_t size)
{
	const char *path = secure_getenv("TENSE_FUNCTIONS_LOG");
	int fd;

	if (!path || !*path)
		return;
	fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY,
		  0666);
	if (fd < 0)
		return;
	if (write(fd, line, size) < 0) {
		/* There is no one to tell. */
	}
	close(fd);
}

static void put_slot(FILE *to, const struct tense_spec *spec)
{
	if (spec->marks)
		fputs(spec->marks == TENSE_MARK_FROM ? "from" : "to", to);
	else
		fprintf(to, "%u", spec->slot);
}

void redirect_log(const struct redirect_name *name, const char *reason)
{
	char *line = NULL;
	size_t size;
	FILE *to = open_memstream(&line, &size);

	if (!to)
		return;
	fprintf(to, "%s\t%d\t", reason ? "refused" : "patched", getpid());
	put_slot(to, name->spec);
	put_field(to, name->object);
	put_field(to, name->symbol);
	fprintf(to, "\t%#lx", (unsigned long)name->offset);
	put_field(to, reason ? reason : "in-process");
	putc('\n', to);
	if (!fclose(to))
		append(line, size);
	free(line);
}

void redirect_log_cost(double ns, unsigned int ticks)
{
	char line[128];
	int size = snprintf(line, sizeof(line), "cost\t%d\t%.2f\t%u\n",
			    getpid(), ns, ticks);

	append(line, size);
}

void redirect_log_start(uint64_t ns)
{
	char line[64];
	int size = snprintf(line, sizeof(line), "start\t%d\t%lu\n", getpid(),
			    (unsigned long)ns);

	append(line, size);
}
