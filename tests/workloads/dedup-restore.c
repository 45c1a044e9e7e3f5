// SPDX-License-Identifier: GPL-2.0
/* Trusts nothing that it reads: each length, index and hash is checked. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "dedup-format.h"
#include "dedup-hash.h"
#include "dedup.h"

struct place {
	off_t offset;			/* where the packed bytes begin */
	uint32_t length;
	uint32_t packed_length;
	uint8_t hash[HASH_BYTES];
};

struct restorer {
	const char *input_path, *output_path;
	FILE *input;
	int output;
	off_t offset;			/* in the archive */
	struct hasher *hasher;		/* for each chunk */
	struct hasher *digest;		/* for the whole archive */
	uint64_t chunks, bytes;
	size_t places, room;
	struct place *place;
	uint8_t data[CHUNK_MAX];
	uint8_t packed[2 * CHUNK_MAX];
};

static __attribute__((noreturn)) void damaged(struct restorer *r,
					      const char *what)
{
	die("%s is damaged: %s", r->input_path, what);
}

static void get(struct restorer *r, void *to, size_t size)
{
	if (fread(to, 1, size, r->input) != size) {
		if (ferror(r->input))
			die("cannot read %s: %s", r->input_path,
			    strerror(errno));
		damaged(r, "it ends too early");
	}
	r->offset += size;
}

/* Unpacks r->packed, checks it and writes it out. */
static void put_chunk(struct restorer *r, const struct place *place)
{
	uLongf length = sizeof(r->data);
	uLong packed_length = place->packed_length;
	uint8_t hash[HASH_BYTES];

	if (uncompress2(r->data, &length, r->packed, &packed_length) != Z_OK ||
	    length != place->length || packed_length != place->packed_length)
		damaged(r, "a chunk does not unpack");
	hasher_add(r->hasher, r->data, length);
	hasher_end(r->hasher, hash);
	if (memcmp(hash, place->hash, HASH_BYTES) != 0)
		damaged(r, "a chunk has the wrong hash");
	hasher_add(r->digest, hash, HASH_BYTES);
	output_write(r->output, r->output_path, r->data, length);
	r->bytes += length;
	r->chunks++;
}

static void get_data(struct restorer *r)
{
	uint8_t record[DATA_BYTES - 1];
	struct place *place;

	get(r, record, sizeof(record));
	if (r->places == r->room) {
		r->room = r->room ? 2 * r->room : 1024;
		r->place = reallocarray(r->place, r->room, sizeof(*r->place));
		if (!r->place)
			die("no memory for %zu chunks", r->room);
	}
	place = &r->place[r->places++];
	place->offset = r->offset;
	place->length = get_number(record, 4);
	place->packed_length = get_number(record + 4, 4);
	memcpy(place->hash, record + 8, HASH_BYTES);
	if (!place->length || place->length > CHUNK_MAX ||
	    place->packed_length > sizeof(r->packed))
		damaged(r, "a chunk has an impossible length");
	get(r, r->packed, place->packed_length);
	put_chunk(r, place);
}

static void get_ref(struct restorer *r)
{
	uint8_t record[REF_BYTES - 1];
	const struct place *place;
	uint64_t index;
	ssize_t n;

	get(r, record, sizeof(record));
	index = get_number(record, 8);
	if (index >= r->places)
		damaged(r, "a chunk refers to one that is not there");
	place = &r->place[index];
	n = pread(fileno(r->input), r->packed, place->packed_length,
		  place->offset);
	if (n < 0)
		die("cannot read %s: %s", r->input_path, strerror(errno));
	if (n != place->packed_length)
		damaged(r, "it shrinks while it is read");
	put_chunk(r, place);
}

static void get_end(struct restorer *r)
{
	uint8_t record[END_BYTES - 1], digest[HASH_BYTES];

	get(r, record, sizeof(record));
	hasher_end(r->digest, digest);
	if (get_number(record, 8) != r->chunks ||
	    get_number(record + 8, 8) != r->bytes ||
	    memcmp(record + 16, digest, HASH_BYTES) != 0)
		damaged(r, "chunks are missing or in the wrong order");
	if (fgetc(r->input) != EOF)
		damaged(r, "something follows its end");
}

static void get_header(struct restorer *r)
{
	uint8_t header[HEADER_BYTES];
	size_t n = fread(header, 1, HEADER_BYTES, r->input);

	if (ferror(r->input))
		die("cannot read %s: %s", r->input_path, strerror(errno));
	if (n < sizeof(magic) || memcmp(header, magic, sizeof(magic)) != 0)
		die("%s is not an archive of dedup", r->input_path);
	if (n < HEADER_BYTES)
		damaged(r, "it ends too early");
	if (get_number(header + 8, 4) != VERSION)
		die("%s has version %u of the format, this dedup knows %u",
		    r->input_path, (unsigned int)get_number(header + 8, 4),
		    VERSION);
	if (get_number(header + 12, 4) > CHUNK_MAX)
		damaged(r, "its chunks have an impossible length");
	r->offset = HEADER_BYTES;
	hasher_add(r->digest, header, HEADER_BYTES);
}

static bool get_record(struct restorer *r)
{
	uint8_t tag;

	get(r, &tag, 1);
	switch (tag) {
	case TAG_DATA:
		get_data(r);
		return true;
	case TAG_REF:
		get_ref(r);
		return true;
	case TAG_END:
		get_end(r);
		return false;
	}
	damaged(r, "no chunk where one should begin");
}

void archive_restore(const char *input, const char *output)
{
	struct restorer *r = allocate(sizeof(*r));
	struct stat status;

	r->input_path = input;
	r->output_path = output;
	r->input = fdopen(input_open(input), "rb");
	if (!r->input)
		die("no memory for a file");
	if (fstat(fileno(r->input), &status) || !S_ISREG(status.st_mode))
		die("%s is not a regular file: chunks are read again",
		    input);
	r->hasher = hasher_new();
	r->digest = hasher_new();
	get_header(r);
	r->output = output_open(output, fileno(r->input));
	while (get_record(r))
		;
	output_close(r->output, output);
	hasher_free(r->hasher);
	hasher_free(r->digest);
	fclose(r->input);
	free(r->place);
	free(r);
}
