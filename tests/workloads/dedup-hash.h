/* SPDX-License-Identifier: GPL-2.0 */
#ifndef DEDUP_HASH_H
#define DEDUP_HASH_H

#include <stddef.h>
#include <stdint.h>

/* SHA-256, one per thread. */
struct hasher *hasher_new(void);
void hasher_free(struct hasher *hasher);
void hasher_add(struct hasher *hasher, const void *data, size_t length);
/* The hash of what was added; starts anew. */
void hasher_end(struct hasher *hasher, uint8_t *hash);

#endif
