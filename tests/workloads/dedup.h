/* SPDX-License-Identifier: GPL-2.0 */
/*
 * dedup: a parallel deduplicating compressor in the shape of PARSEC's.
 *
 *	read -> refine -> identify -> compress -> write
 *	  1       N          N           N          1	threads
 *
 * The queues carry fragments. A fragment is some 300 KB of the input with all
 * of its chunks, so that queue operations are few. Fragments are a fixed set
 * and go back from the writer to the reader: this bounds the memory and lets
 * the writer wait for a fragment out of order without a deadlock.
 */
#ifndef DEDUP_H
#define DEDUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HASH_BYTES	32

/*
 * Bounds of fragments and chunks. Chunks have 80 KB in the mean, so that zlib
 * with its window of 32 KB loses little by them.
 */
#define FRAGMENT_MIN	(256u << 10)
#define FRAGMENT_MAX	(512u << 10)
#define CHUNK_MIN	(16u << 10)
#define CHUNK_MAX	(256u << 10)
/* A fragment's last chunk may be shorter than CHUNK_MIN. */
#define FRAGMENT_CHUNKS	(FRAGMENT_MAX / CHUNK_MIN + 1)
/* By what zlib may lengthen a chunk. */
#define PACKED_EXCESS	1024

/* A chunk's content, the first time that it is seen. */
struct known {
	struct known *next;		/* in its bucket */
	uint8_t hash[HASH_BYTES];
	uint32_t length;		/* the content's */
	uint32_t packed_length;
	const uint8_t *packed;		/* in the fragment, until written */
	uint64_t index;			/* writer: order in the archive */
	enum { KNOWN_FOUND, KNOWN_PACKED, KNOWN_WRITTEN } state; /* writer */
};

struct chunk {
	uint32_t offset;
	uint32_t length;
	struct known *known;
	bool first;			/* this chunk's fragment packs it */
};

/*
 * The room for its packed chunks is part of it. Memory that is taken and given back
 * for each chunk would cause page faults. Where system calls are slow, these cost
 * more than the packing.
 */
struct fragment {
	uint64_t sequence;
	size_t length;
	unsigned int chunks;
	struct chunk chunk[FRAGMENT_CHUNKS];
	uint8_t data[FRAGMENT_MAX];
	uint8_t packed[FRAGMENT_MAX + FRAGMENT_CHUNKS * PACKED_EXCESS];
};

struct options {
	int threads;			/* per pool */
	int level;			/* zlib's */
	int percent;			/* compress_chunk()'s, virtual */
	int extra;			/* extra work, per mille of the bytes */
	bool stats;
};

enum stage { READ, REFINE, IDENTIFY, COMPRESS, WRITE, STAGES };

struct stats {
	uint64_t bytes;
	uint64_t archive_bytes;
	uint64_t chunks;
	uint64_t unique;
	uint64_t stage_cpu[STAGES];	/* real ns */
	uint64_t compress_ns;		/* the part in compress_chunk() */
};

/* dedup-chunk.c */
size_t fragment_cut(const uint8_t *data, size_t length);
void fragment_refine(struct fragment *fragment);

/* dedup-compress.c */
struct packer *packer_new(const struct options *options);
void packer_free(struct packer *packer);
/* Packs a chunk to where there is room for PACKED_EXCESS more than it has. */
size_t compress_chunk(struct packer *packer, const uint8_t *data,
		      size_t length, uint8_t *packed);
/* All new chunks of a fragment. */
void compress_fragment(struct packer *packer, struct fragment *fragment);

/* dedup-pipeline.c */
void archive_create(const char *input, const char *output,
		    const struct options *options, struct stats *stats);

/* dedup-restore.c */
void archive_restore(const char *input, const char *output);

/* dedup-calibrate.c */
struct calibration {
	int extra;			/* for options */
	double cut;			/* % less that it takes without */
};

void calibrate(const char *input, int level, struct calibration *calibration);

/* dedup-file.c */
void *allocate(size_t size);
int input_open(const char *path);
size_t input_read(int fd, const char *path, void *buffer, size_t size);
int output_open(const char *path, int input);
void output_write(int fd, const char *path, const void *data, size_t size);
void output_close(int fd, const char *path);
void die(const char *format, ...) __attribute__((noreturn,
						 format(printf, 1, 2)));

#endif
