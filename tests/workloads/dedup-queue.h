/* SPDX-License-Identifier: GPL-2.0 */
#ifndef DEDUP_QUEUE_H
#define DEDUP_QUEUE_H

#include <pthread.h>
#include <stdbool.h>

/* A bounded queue of pointers that several threads fill and empty. */
struct queue {
	pthread_mutex_t lock;
	pthread_cond_t filled;
	pthread_cond_t emptied;
	unsigned int capacity;
	unsigned int length;
	unsigned int head;
	unsigned int producers;
	void **item;
};

void queue_init(struct queue *queue, unsigned int capacity,
		unsigned int producers);
void queue_free(struct queue *queue);
void queue_push(struct queue *queue, void *item);
/* NULL: the queue is empty and its producers are done. */
void *queue_pop(struct queue *queue);
/* One producer will push no more. */
void queue_close(struct queue *queue);

#endif
