// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>

#include "dedup.h"
#include "dedup-queue.h"

void queue_init(struct queue *queue, unsigned int capacity,
		unsigned int producers)
{
	*queue = (struct queue) {
		.lock = PTHREAD_MUTEX_INITIALIZER,
		.filled = PTHREAD_COND_INITIALIZER,
		.emptied = PTHREAD_COND_INITIALIZER,
		.capacity = capacity,
		.producers = producers,
		.item = allocate(capacity * sizeof(void *)),
	};
}

void queue_free(struct queue *queue)
{
	pthread_cond_destroy(&queue->filled);
	pthread_cond_destroy(&queue->emptied);
	pthread_mutex_destroy(&queue->lock);
	free(queue->item);
}

void queue_push(struct queue *queue, void *item)
{
	pthread_mutex_lock(&queue->lock);
	while (queue->length == queue->capacity)
		pthread_cond_wait(&queue->emptied, &queue->lock);
	queue->item[(queue->head + queue->length++) % queue->capacity] = item;
	pthread_cond_signal(&queue->filled);
	pthread_mutex_unlock(&queue->lock);
}

void *queue_pop(struct queue *queue)
{
	void *item = NULL;

	pthread_mutex_lock(&queue->lock);
	while (!queue->length && queue->producers)
		pthread_cond_wait(&queue->filled, &queue->lock);
	if (queue->length) {
		item = queue->item[queue->head];
		queue->head = (queue->head + 1) % queue->capacity;
		queue->length--;
		pthread_cond_signal(&queue->emptied);
	}
	pthread_mutex_unlock(&queue->lock);
	return item;
}

void queue_close(struct queue *queue)
{
	pthread_mutex_lock(&queue->lock);
	if (!--queue->producers)
		pthread_cond_broadcast(&queue->filled);
	pthread_mutex_unlock(&queue->lock);
}
