// SPDX-License-Identifier: GPL-2.0
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../lib/real-clock.h"
#include "dedup-format.h"
#include "dedup-hash.h"
#include "dedup-queue.h"
#include "dedup-table.h"
#include "dedup.h"

struct pipeline {
	const struct options *options;
	struct stats *stats;
	const char *input_path, *output_path;
	int input, output;
	unsigned int fragments;		/* in the fixed set */
	struct table *table;
	struct queue unused;
	struct queue to[STAGES];	/* the input of each stage but READ */
};

static void read_stage(struct pipeline *p)
{
	/* Twice a fragment: most reads find the rest of the last one here. */
	const size_t size = 2 * FRAGMENT_MAX;
	uint8_t *buffer = allocate(size);
	size_t start = 0, end = 0;
	uint64_t sequence = 0;
	bool eof = false;

	for (;;) {
		struct fragment *fragment;

		if (end - start < FRAGMENT_MAX && !eof) {
			size_t n;

			memmove(buffer, buffer + start, end - start);
			end -= start;
			start = 0;
			n = input_read(p->input, p->input_path, buffer + end,
				       size - end);
			eof = end + n < size;
			end += n;
		}
		if (start == end)
			break;
		fragment = queue_pop(&p->unused);
		fragment->sequence = sequence++;
		fragment->length = fragment_cut(buffer + start, end - start);
		memcpy(fragment->data, buffer + start, fragment->length);
		start += fragment->length;
		p->stats->bytes += fragment->length;
		queue_push(&p->to[REFINE], fragment);
	}
	free(buffer);
}

static void refine_stage(struct pipeline *p)
{
	struct fragment *fragment;

	while ((fragment = queue_pop(&p->to[REFINE]))) {
		fragment_refine(fragment);
		queue_push(&p->to[IDENTIFY], fragment);
	}
}

static void identify_stage(struct pipeline *p)
{
	struct hasher *hasher = hasher_new();
	struct fragment *fragment;

	while ((fragment = queue_pop(&p->to[IDENTIFY]))) {
		for (unsigned int i = 0; i < fragment->chunks; i++) {
			struct chunk *chunk = &fragment->chunk[i];
			uint8_t hash[HASH_BYTES];

			hasher_add(hasher, fragment->data + chunk->offset,
				   chunk->length);
			hasher_end(hasher, hash);
			chunk->known = table_find(p->table, hash,
						  chunk->length, &chunk->first);
		}
		queue_push(&p->to[COMPRESS], fragment);
	}
	hasher_free(hasher);
}

static void compress_stage(struct pipeline *p)
{
	struct packer *packer = packer_new(p->options);
	struct fragment *fragment;

	while ((fragment = queue_pop(&p->to[COMPRESS]))) {
		uint64_t start = real_clock(CLOCK_THREAD_CPUTIME_ID);

		compress_fragment(packer, fragment);
		__atomic_add_fetch(&p->stats->compress_ns,
				   real_clock(CLOCK_THREAD_CPUTIME_ID) - start,
				   __ATOMIC_RELAXED);
		queue_push(&p->to[WRITE], fragment);
	}
	packer_free(packer);
}

struct writer {
	struct pipeline *p;
	struct hasher *hasher;
	size_t used;
	uint8_t buffer[1 << 20];
};

static void put(struct writer *writer, const void *data, size_t size)
{
	struct pipeline *p = writer->p;

	if (writer->used + size > sizeof(writer->buffer)) {
		output_write(p->output, p->output_path, writer->buffer,
			     writer->used);
		writer->used = 0;
	}
	memcpy(writer->buffer + writer->used, data, size);
	writer->used += size;
	p->stats->archive_bytes += size;
}

static void put_chunk(struct writer *writer, struct known *known)
{
	struct stats *stats = writer->p->stats;
	uint8_t record[DATA_BYTES];

	stats->chunks++;
	hasher_add(writer->hasher, known->hash, HASH_BYTES);
	if (known->state == KNOWN_WRITTEN) {
		record[0] = TAG_REF;
		put_number(record + 1, known->index, 8);
		put(writer, record, REF_BYTES);
		return;
	}
	record[0] = TAG_DATA;
	put_number(record + 1, known->length, 4);
	put_number(record + 5, known->packed_length, 4);
	memcpy(record + 9, known->hash, HASH_BYTES);
	put(writer, record, DATA_BYTES);
	put(writer, known->packed, known->packed_length);
	known->packed = NULL;
	known->index = stats->unique++;
	known->state = KNOWN_WRITTEN;
}

/*
 * A chunk that was first seen in a later fragment is packed by that one's
 * thread and lies in it, so the fragment has to wait until that one is here.
 */
static bool fragment_packed(const struct fragment *fragment)
{
	for (unsigned int i = 0; i < fragment->chunks; i++)
		if (fragment->chunk[i].known->state == KNOWN_FOUND)
			return false;
	return true;
}

static void put_end(struct writer *writer)
{
	struct pipeline *p = writer->p;
	uint8_t record[END_BYTES];

	record[0] = TAG_END;
	put_number(record + 1, p->stats->chunks, 8);
	put_number(record + 9, p->stats->bytes, 8);
	hasher_end(writer->hasher, record + 17);
	put(writer, record, END_BYTES);
	output_write(p->output, p->output_path, writer->buffer, writer->used);
}

static void write_stage(struct pipeline *p)
{
	struct fragment **arrived = allocate(p->fragments * sizeof(void *));
	struct writer *writer = allocate(sizeof(*writer));
	struct fragment *fragment;
	uint8_t header[HEADER_BYTES];
	uint64_t next = 0;

	writer->p = p;
	writer->hasher = hasher_new();
	header_fill(header);
	put(writer, header, HEADER_BYTES);
	hasher_add(writer->hasher, header, HEADER_BYTES);
	while ((fragment = queue_pop(&p->to[WRITE]))) {
		for (unsigned int i = 0; i < fragment->chunks; i++)
			if (fragment->chunk[i].first)
				fragment->chunk[i].known->state = KNOWN_PACKED;
		arrived[fragment->sequence % p->fragments] = fragment;
		while ((fragment = arrived[next % p->fragments]) &&
		       fragment_packed(fragment)) {
			for (unsigned int i = 0; i < fragment->chunks; i++)
				put_chunk(writer, fragment->chunk[i].known);
			arrived[next++ % p->fragments] = NULL;
			queue_push(&p->unused, fragment);
		}
	}
	put_end(writer);
	hasher_free(writer->hasher);
	free(writer);
	free(arrived);
}

static const struct {
	const char *name;
	void (*run)(struct pipeline *p);
} stage_table[STAGES] = {
	[READ] = { "read", read_stage },
	[REFINE] = { "refine", refine_stage },
	[IDENTIFY] = { "identify", identify_stage },
	[COMPRESS] = { "compress", compress_stage },
	[WRITE] = { "write", write_stage },
};

struct worker {
	struct pipeline *p;
	enum stage stage;
	pthread_t thread;
};

static void *work(void *data)
{
	struct worker *worker = data;
	struct pipeline *p = worker->p;

	pthread_setname_np(pthread_self(), stage_table[worker->stage].name);
	stage_table[worker->stage].run(p);
	if (worker->stage != WRITE)
		queue_close(&p->to[worker->stage + 1]);
	__atomic_add_fetch(&p->stats->stage_cpu[worker->stage],
			   real_clock(CLOCK_THREAD_CPUTIME_ID),
			   __ATOMIC_RELAXED);
	return NULL;
}

static bool serial(enum stage stage)
{
	return stage == READ || stage == WRITE;
}

static void run_all(struct pipeline *p)
{
	int workers = 0, threads = p->options->threads;
	struct worker *worker = allocate((2 + 3 * threads) * sizeof(*worker));

	for (enum stage stage = READ; stage < STAGES; stage++) {
		for (int i = 0; i < (serial(stage) ? 1 : threads); i++) {
			worker[workers].p = p;
			worker[workers++].stage = stage;
		}
	}
	for (int i = 0; i < workers; i++) {
		int error = pthread_create(&worker[i].thread, NULL, work,
					   &worker[i]);

		if (error)
			die("cannot start a thread: %s", strerror(error));
	}
	for (int i = 0; i < workers; i++)
		pthread_join(worker[i].thread, NULL);
	free(worker);
}

void archive_create(const char *input, const char *output,
		    const struct options *options, struct stats *stats)
{
	unsigned int threads = options->threads;
	struct pipeline p = {
		.options = options,
		.stats = stats,
		.input_path = input,
		.output_path = output,
		.fragments = 4 + 4 * threads,
		.table = table_new(),
	};
	struct fragment *fragments = allocate(p.fragments * sizeof(*fragments));

	p.input = input_open(input);
	p.output = output_open(output, p.input);
	queue_init(&p.unused, p.fragments, 1);
	for (unsigned int i = 0; i < p.fragments; i++)
		queue_push(&p.unused, &fragments[i]);
	for (enum stage stage = REFINE; stage < WRITE; stage++)
		queue_init(&p.to[stage], threads + 1,
			   serial(stage - 1) ? 1 : threads);
	/* Never full: the fragment that the writer waits for gets through. */
	queue_init(&p.to[WRITE], p.fragments, threads);
	run_all(&p);
	for (enum stage stage = REFINE; stage < STAGES; stage++)
		queue_free(&p.to[stage]);
	queue_free(&p.unused);
	free(fragments);
	table_free(p.table);
	close(p.input);
	output_close(p.output, output);
}
