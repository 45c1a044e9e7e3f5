/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The archive, numbers little-endian:
 *
 *	header	magic[8] version:32 chunk_max:32
 *	'D'	length:32 packed_length:32 hash[32] packed[packed_length]
 *	'R'	index:64		the content of the index-th 'D' again
 *	'E'	chunks:64 bytes:64 digest[32]
 *
 * hash is the SHA-256 of a chunk's content, packed is a zlib stream, digest is
 * the SHA-256 of the header and all hashes in the order of the content.
 * Nothing may follow 'E'.
 */
#ifndef DEDUP_FORMAT_H
#define DEDUP_FORMAT_H

#include <stdint.h>
#include <string.h>

#include "dedup.h"

#define VERSION		1

#define HEADER_BYTES	16
#define DATA_BYTES	(1 + 4 + 4 + HASH_BYTES)
#define REF_BYTES	(1 + 8)
#define END_BYTES	(1 + 8 + 8 + HASH_BYTES)

static const uint8_t magic[8] = {
	0x89, 'D', 'E', 'D', 'U', 'P', '\r', '\n',
};

enum { TAG_DATA = 'D', TAG_REF = 'R', TAG_END = 'E' };

static inline void put_number(uint8_t *to, uint64_t value, int bytes)
{
	for (int i = 0; i < bytes; i++)
		to[i] = value >> (8 * i);
}

static inline uint64_t get_number(const uint8_t *from, int bytes)
{
	uint64_t value = 0;

	for (int i = 0; i < bytes; i++)
		value |= (uint64_t)from[i] << (8 * i);
	return value;
}

static inline void header_fill(uint8_t *header)
{
	memcpy(header, magic, sizeof(magic));
	put_number(header + 8, VERSION, 4);
	put_number(header + 12, CHUNK_MAX, 4);
}

#endif
