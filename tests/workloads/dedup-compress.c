// SPDX-License-Identifier: GPL-2.0
/*
 * The stage under study. The extra work is deflate again, on the first bytes
 * of the same chunk: the same code on the same data, so that its share of
 * compress_chunk() depends little on the machine.
 */
#include <stdlib.h>
#include <string.h>
#include <tense.h>
#include <zlib.h>

#include "dedup.h"

struct packer {
	z_stream stream;
	int percent;
	int extra;
	uLong room;
	uint8_t *packed;
};

struct packer *packer_new(const struct options *options)
{
	struct packer *packer = allocate(sizeof(*packer));

	packer->percent = options->percent;
	packer->extra = options->extra;
	if (deflateInit(&packer->stream, options->level) != Z_OK)
		die("no memory for zlib");
	packer->room = deflateBound(&packer->stream, CHUNK_MAX);
	packer->packed = allocate(packer->room);
	return packer;
}

void packer_free(struct packer *packer)
{
	deflateEnd(&packer->stream);
	free(packer->packed);
	free(packer);
}

static size_t pack(struct packer *packer, const uint8_t *data, size_t length)
{
	z_stream *stream = &packer->stream;

	stream->next_in = (uint8_t *)data;
	stream->avail_in = length;
	stream->next_out = packer->packed;
	stream->avail_out = packer->room;
	if (deflateReset(stream) != Z_OK ||
	    deflate(stream, Z_FINISH) != Z_STREAM_END)
		die("zlib failed: %s", stream->msg ? stream->msg : "no reason");
	return stream->total_out;
}

void compress_chunk(struct packer *packer, const uint8_t *data, size_t length,
		    struct known *known)
{
	/* -ENODEV: not in virtual time, and libtense has said so. */
	int scaled = tense_scale_percent(packer->percent);

	known->packed_length = pack(packer, data, length);
	known->packed = allocate(known->packed_length);
	memcpy(known->packed, packer->packed, known->packed_length);
	if (packer->extra)
		pack(packer, data, length * packer->extra / 1000);
	if (!scaled)
		tense_scale_pop();
}
