// SPDX-License-Identifier: GPL-2.0
#include "interrupts.h"

#include <stdlib.h>
#include <string.h>

#include "libtense/measure/ticks.h"
#include "base/util.h"

/* Makes one space of several. */
static void squeeze(char *text)
{
	char *to = text;

	for (; *text; text++)
		if (*text != ' ' || (text[1] && text[1] != ' '))
			*to++ = *text;
	*to = '\0';
}

/* "LOC:   123   456   Local timer interrupts"; some have no column for a CPU. */
static void add_line(struct interrupts *all, char *line, int column)
{
	char *name = line + strspn(line, " "), *at = strchr(name, ':'), *end;
	uint64_t count = 0;

	if (!at)
		return;
	*at++ = '\0';
	for (int i = 0; i <= column; i++, at = end) {
		count = strtoull(at, &end, 10);
		if (end == at)
			return;
	}
	/* Skip the counts of other CPUs. */
	at += strspn(at, " 0123456789");
	at[strcspn(at, "\n")] = '\0';
	squeeze(at);
	all->list = xrealloc(all->list, (all->count + 1) * sizeof(*all->list));
	all->list[all->count++] = (struct interrupt){
		.name = xstrdup(name), .what = xstrdup(at), .count = count,
	};
}

void interrupts_read(struct interrupts *all, FILE *f, int cpu)
{
	char *line = NULL;
	size_t size = 0;
	int column;

	*all = (struct interrupts){ 0 };
	column = getline(&line, &size, f) > 0 ? ticks_column(line, cpu) : -1;
	while (column >= 0 && getline(&line, &size, f) > 0)
		add_line(all, line, column);
	free(line);
}

void interrupts_now(struct interrupts *all, int cpu)
{
	FILE *f = fopen("/proc/interrupts", "re");

	*all = (struct interrupts){ 0 };
	if (!f)
		return;
	interrupts_read(all, f, cpu);
	fclose(f);
}

static uint64_t count_of(const struct interrupts *all, const char *name)
{
	for (size_t i = 0; i < all->count; i++)
		if (!strcmp(all->list[i].name, name))
			return all->list[i].count;
	return 0;
}

static int most_first(const void *left, const void *right)
{
	const struct interrupt *a = left, *b = right;

	return (a->count < b->count) - (a->count > b->count);
}

void interrupts_since(struct interrupts *now, const struct interrupts *before)
{
	size_t kept = 0;

	for (size_t i = 0; i < now->count; i++) {
		struct interrupt one = now->list[i];

		one.count -= count_of(before, one.name);
		if (one.count) {
			now->list[kept++] = one;
			continue;
		}
		free(one.name);
		free(one.what);
	}
	now->count = kept;
	if (kept)
		qsort(now->list, kept, sizeof(*now->list), most_first);
}

void interrupts_free(struct interrupts *all)
{
	for (size_t i = 0; i < all->count; i++) {
		free(all->list[i].name);
		free(all->list[i].what);
	}
	free(all->list);
}
