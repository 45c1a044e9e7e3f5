// SPDX-License-Identifier: GPL-2.0
/*
 * The stage under study. The extra work is deflate again, on the first bytes
 * of the same chunk: the same code on the same data, so that its share of
 * compress_chunk() depends little on the machine.
 */
#include <stdlib.h>
#include <tense.h>
#include <zlib.h>

#include "dedup.h"

struct packer {
	z_stream stream;
	int percent;
	int extra;
	uint8_t unused[CHUNK_MAX + PACKED_EXCESS];	/* for extra work */
};

struct packer *packer_new(const struct options *options)
{
	struct packer *packer = allocate(sizeof(*packer));

	packer->percent = options->percent;
	packer->extra = options->extra;
	if (deflateInit(&packer->stream, options->level) != Z_OK)
		die("no memory for zlib");
	if (deflateBound(&packer->stream, CHUNK_MAX) >
	    CHUNK_MAX + PACKED_EXCESS)
		die("this zlib needs more room than was thought");
	return packer;
}

void packer_free(struct packer *packer)
{
	deflateEnd(&packer->stream);
	free(packer);
}

static size_t pack(z_stream *stream, const uint8_t *data, size_t length,
		   uint8_t *packed)
{
	stream->next_in = (uint8_t *)data;
	stream->avail_in = length;
	stream->next_out = packed;
	stream->avail_out = length + PACKED_EXCESS;
	if (deflateReset(stream) != Z_OK ||
	    deflate(stream, Z_FINISH) != Z_STREAM_END)
		die("zlib failed: %s", stream->msg ? stream->msg : "no reason");
	return stream->total_out;
}

size_t compress_chunk(struct packer *packer, const uint8_t *data,
		      size_t length, uint8_t *packed)
{
	/* -ENODEV: not in virtual time, and libtense has said so. */
	int scaled = tense_scale_percent(packer->percent);
	size_t packed_length = pack(&packer->stream, data, length, packed);

	if (packer->extra)
		pack(&packer->stream, data, length * packer->extra / 1000,
		     packer->unused);
	if (!scaled)
		tense_scale_pop();
	return packed_length;
}

void compress_fragment(struct packer *packer, struct fragment *fragment)
{
	uint8_t *packed = fragment->packed;

	for (unsigned int i = 0; i < fragment->chunks; i++) {
		struct chunk *chunk = &fragment->chunk[i];

		if (!chunk->first)
			continue;
		chunk->known->packed = packed;
		chunk->known->packed_length =
			compress_chunk(packer, fragment->data + chunk->offset,
				       chunk->length, packed);
		packed += chunk->known->packed_length;
	}
}
