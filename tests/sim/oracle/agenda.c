// SPDX-License-Identifier: GPL-2.0
#include "agenda.h"
#include "memory.h"

void agenda_init(struct agenda *a, unsigned int things)
{
	a->size = 1;
	a->order = 0;
	while (a->size < things)
		a->size *= 2;
	a->entry = zalloc(2 * a->size, sizeof(*a->entry));
	for (unsigned int i = 0; i < 2 * a->size; i++)
		a->entry[i].at = AGENDA_NEVER;
}

void agenda_free(struct agenda *a)
{
	free(a->entry);
}

static bool before(const struct agenda_entry *a, const struct agenda_entry *b)
{
	return a->at != b->at ? a->at < b->at : a->order < b->order;
}

void agenda_set(struct agenda *a, unsigned int thing, fixed_t at)
{
	unsigned int i = a->size + thing;

	a->entry[i] = (struct agenda_entry) { at, a->order++ };
	for (i /= 2; i; i /= 2)
		a->entry[i] = before(&a->entry[2 * i], &a->entry[2 * i + 1]) ?
			a->entry[2 * i] : a->entry[2 * i + 1];
}

bool agenda_first(const struct agenda *a, unsigned int *thing, fixed_t *at)
{
	unsigned int i = 1;

	*at = a->entry[1].at;
	if (*at == AGENDA_NEVER)
		return false;
	while (i < a->size) {
		i *= 2;
		if (a->entry[i].at != *at ||
		    a->entry[i].order != a->entry[i / 2].order)
			i++;
	}
	*thing = i - a->size;
	return true;
}
