// SPDX-License-Identifier: GPL-2.0
#include "log.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"

#define FIELDS	7

/* Decodes the escape after a backslash, in place. */
static void unescape(char *text)
{
	char *to = text;

	for (char *from = text; *from; from++) {
		if (*from == '\\' && from[1]) {
			from++;
			*to++ = *from == 't' ? '\t' : *from == 'n' ? '\n' :
				*from;
		} else {
			*to++ = *from;
		}
	}
	*to = '\0';
}

/* The fields of a line between tabs; how many there are, at most FIELDS + 1. */
static size_t split(char *line, char **field)
{
	size_t n = 0;

	for (char *next = line; next; n++) {
		line = next;
		if (n == FIELDS)
			return n + 1;
		next = strchr(line, '\t');
		if (next)
			*next++ = '\0';
		unescape(line);
		field[n] = line;
	}
	return n;
}

static bool to_u64(const char *text, int base, uint64_t *value)
{
	char *end;

	errno = 0;
	*value = strtoull(text, &end, base);
	return end != text && !*end && !errno && *text != '-';
}

static struct whatif_patch *find(struct whatif_samples *samples,
				 unsigned int slot,
				 bool patched, char **field, uint64_t offset)
{
	for (size_t i = 0; i < samples->nr_patches; i++) {
		struct whatif_patch *p = &samples->patches[i];

		if (p->slot == slot && p->patched == patched &&
		    p->offset == offset && !strcmp(p->object, field[3]) &&
		    !strcmp(p->symbol, field[4]))
			return p;
	}
	return NULL;
}

/* A slot, or one of --latency's functions. */
static bool read_name(const char *text, uint64_t *name)
{
	if (!strcmp(text, "from"))
		*name = WHATIF_FROM;
	else if (!strcmp(text, "to"))
		*name = WHATIF_TO;
	else
		return to_u64(text, 10, name) && *name && *name < WHATIF_SLOTS;
	return true;
}

static bool read_patch(struct whatif_samples *samples, char **field,
		       bool patched)
{
	struct whatif_patch *p;
	uint64_t slot, offset;

	if (!read_name(field[2], &slot) || !to_u64(field[5], 16, &offset))
		return false;
	p = find(samples, slot, patched, field, offset);
	if (!p) {
		samples->patches = xrealloc(samples->patches,
					    (samples->nr_patches + 1) *
					    sizeof(*samples->patches));
		p = &samples->patches[samples->nr_patches++];
		*p = (struct whatif_patch){
			.slot = slot, .patched = patched,
			.object = xstrdup(field[3]),
			.symbol = xstrdup(field[4]),
			.offset = offset, .how = xstrdup(field[6]),
		};
	}
	if (++p->seen > p->processes)
		p->processes = p->seen;
	return true;
}

static bool read_line(struct whatif_samples *samples, char *line,
		      struct whatif_sample *sample)
{
	char *field[FIELDS], *end;
	size_t n = split(line, field);

	if (n == 7 && !strcmp(field[0], "patched"))
		return read_patch(samples, field, true);
	if (n == 7 && !strcmp(field[0], "refused"))
		return read_patch(samples, field, false);
	if (n == 3 && !strcmp(field[0], "start")) {
		uint64_t ns;

		if (!to_u64(field[2], 10, &ns) || ns > UINT64_MAX / 1024)
			return false;
		sample->start += ns;
		return true;
	}
	if (n == 4 && !strcmp(field[0], "cost")) {
		double ns = strtod(field[2], &end);

		if (end == field[2] || *end || !(ns >= 0 && ns < 1e9))
			return false;
		/* Several processes may tell it: take the worst. */
		if (ns > sample->pair_ns)
			sample->pair_ns = ns;
		return true;
	}
	return false;
}

unsigned int whatif_log_read(struct whatif_samples *samples, char *text,
			     struct whatif_sample *sample)
{
	unsigned int bad = 0;
	char *next;

	for (size_t i = 0; i < samples->nr_patches; i++)
		samples->patches[i].seen = 0;
	for (char *line = text; line && *line; line = next) {
		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		bad += !read_line(samples, line, sample);
	}
	return bad;
}
