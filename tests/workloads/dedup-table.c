// SPDX-License-Identifier: GPL-2.0
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "dedup-table.h"

#define STRIPES		64
#define BUCKETS_FIRST	64

/* The first byte of a hash picks the stripe, the next four the bucket. */
struct stripe {
	pthread_mutex_t lock;
	size_t buckets;
	size_t entries;
	struct known **bucket;
};

struct table {
	struct stripe stripe[STRIPES];
};

static struct known **bucket_of(struct stripe *stripe, const uint8_t *hash)
{
	uint32_t key;

	memcpy(&key, hash + 1, sizeof(key));
	return &stripe->bucket[key % stripe->buckets];
}

static void stripe_size(struct stripe *stripe, size_t buckets)
{
	struct known **old = stripe->bucket;
	size_t old_buckets = stripe->buckets;

	stripe->buckets = buckets;
	stripe->bucket = allocate(buckets * sizeof(void *));
	for (size_t i = 0; i < old_buckets; i++) {
		struct known *known, *next;

		for (known = old[i]; known; known = next) {
			struct known **place = bucket_of(stripe, known->hash);

			next = known->next;
			known->next = *place;
			*place = known;
		}
	}
	free(old);
}

struct table *table_new(void)
{
	struct table *table = allocate(sizeof(*table));

	for (int i = 0; i < STRIPES; i++) {
		pthread_mutex_init(&table->stripe[i].lock, NULL);
		stripe_size(&table->stripe[i], BUCKETS_FIRST);
	}
	return table;
}

void table_free(struct table *table)
{
	for (int i = 0; i < STRIPES; i++) {
		struct stripe *stripe = &table->stripe[i];

		for (size_t j = 0; j < stripe->buckets; j++) {
			struct known *known, *next;

			for (known = stripe->bucket[j]; known; known = next) {
				next = known->next;
				free(known);
			}
		}
		free(stripe->bucket);
		pthread_mutex_destroy(&stripe->lock);
	}
	free(table);
}

struct known *table_find(struct table *table, const uint8_t *hash,
			 uint32_t length, bool *first)
{
	struct stripe *stripe = &table->stripe[hash[0] % STRIPES];
	struct known **place, *known;

	pthread_mutex_lock(&stripe->lock);
	place = bucket_of(stripe, hash);
	for (known = *place; known; known = known->next)
		if (!memcmp(known->hash, hash, HASH_BYTES))
			break;
	*first = !known;
	if (!known) {
		if (stripe->entries++ == stripe->buckets) {
			stripe_size(stripe, stripe->buckets * 2);
			place = bucket_of(stripe, hash);
		}
		known = allocate(sizeof(*known));
		memcpy(known->hash, hash, HASH_BYTES);
		known->length = length;
		known->next = *place;
		*place = known;
	}
	pthread_mutex_unlock(&stripe->lock);
	return known;
}
