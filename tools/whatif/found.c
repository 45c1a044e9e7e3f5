// SPDX-License-Identifier: GPL-2.0
#include "found.h"

#include <stdlib.h>

void whatif_found_free(struct whatif_found *found)
{
	for (unsigned int i = 0; i < WHATIF_NAMES; i++)
		free(found->specs[i]);
	for (size_t i = 0; i < found->nr_probes; i++) {
		free(found->probes[i].object);
		free(found->probes[i].symbol);
	}
	free(found->probes);
	for (size_t i = 0; i < found->nr_objects; i++)
		free(found->objects[i]);
	free(found->objects);
}
