// SPDX-License-Identifier: GPL-2.0
/*
 * Replaces libFuzzer where there is none: calls a fuzz target with damaged
 * copies of files, the same ones each time, under the sanitizers. An input that
 * fails ends the program, which leaves it in PROGRAM.input; the target takes
 * that as its FILE.
 *
 * Usage: PROGRAM RUNS FILE...; RUNS 0: the files as they are
 */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <sanitizer/common_interface_defs.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fuzz.h"

#define SIZE_MAX_INPUT 65536
#define SEED 1

const char *__asan_default_options(void);

struct input {
	uint8_t *data;
	size_t size;
};

static struct input current;
static const char *program;
static uint64_t state = SEED;
static int reports;	/* descriptor */

/* abort() is a failure like any other. */
const char *__asan_default_options(void)
{
	return "handle_abort=1";
}

/* Discards the tested code's messages about bad inputs, but no reports. */
static void be_quiet(void)
{
	int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);

	reports = dup(STDERR_FILENO);
	__sanitizer_set_report_fd((void *)(intptr_t)reports);
	if (reports < 0 || dup2(nowhere, STDERR_FILENO) < 0)
		exit(1);
	close(nowhere);
}

static void save_input(void)
{
	char path[4096];
	FILE *f;

	snprintf(path, sizeof(path), "%s.input", program);
	f = fopen(path, "w");
	if (!f)
		return;
	fwrite(current.data, 1, current.size, f);
	fclose(f);
	dprintf(reports, "# the input is in %s\n", path);
}

static uint64_t next(void)
{
	uint64_t x = state += 0x9e3779b97f4a7c15;

	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
	x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
	return x ^ (x >> 31);
}

static size_t below(size_t n)
{
	return n ? next() % n : 0;
}

static struct input read_file(const char *path)
{
	struct input i = { malloc(SIZE_MAX_INPUT), 0 };
	FILE *f = fopen(path, "r");

	if (!f || !i.data) {
		printf("Bail out! %s: %s\n", path, strerror(errno));
		exit(1);
	}
	i.size = fread(i.data, 1, SIZE_MAX_INPUT, f);
	fclose(f);
	return i;
}

/* --- damage --- */

static void change_byte(struct input *i)
{
	i->data[below(i->size)] = (uint8_t)next();
}

static void change_bit(struct input *i)
{
	i->data[below(i->size)] ^= (uint8_t)(1 << below(8));
}

/* Lengths and offsets that are too large, or as large as can be. */
static void change_number(struct input *i)
{
	static const uint64_t numbers[] = {
		0, 1, 0x7f, 0xff, 0x7fff, 0xffff, INT32_MAX, UINT32_MAX,
		INT64_MAX, UINT64_MAX, 1ULL << 63, 4096,
	};
	uint64_t number = numbers[below(sizeof(numbers) / sizeof(*numbers))];
	size_t size = (size_t)1 << below(4), at;

	if (i->size < size)
		return;
	/* As numbers in files lie. */
	at = below(i->size - size + 1) & ~(size - 1);
	memcpy(i->data + at, &number, size);
}

static void cut(struct input *i)
{
	i->size = below(i->size) + 1;
}

static void repeat(struct input *i)
{
	size_t from = below(i->size), n = below(i->size - from) + 1;

	if (n > 64)
		n = 64;
	if (i->size + n > SIZE_MAX_INPUT)
		return;
	memmove(i->data + from + n, i->data + from, i->size - from);
	i->size += n;
}

static void remove_some(struct input *i)
{
	size_t from = below(i->size), n = below(i->size - from);

	memmove(i->data + from, i->data + from + n, i->size - from - n);
	i->size -= n;
}

static void damage(struct input *i)
{
	static void (*const ways[])(struct input *) = {
		change_byte, change_bit, change_number, change_number, repeat,
		remove_some, cut,
	};

	for (size_t n = 1 + below(5); n && i->size; n--) {
		size_t way = below(sizeof(ways) / sizeof(*ways));

		/* Cut rarely: parsers reject a short input early. */
		if (ways[way] != cut || !below(4))
			ways[way](i);
	}
}

/* --- runs --- */

/* In memory of its size, so that a byte too far is seen. */
static void run(const struct input *i)
{
	current.data = malloc(i->size ? i->size : 1);
	if (!current.data)
		exit(1);
	current.size = i->size;
	memcpy(current.data, i->data, i->size);
	LLVMFuzzerTestOneInput(current.data, current.size);
	free(current.data);
}

int main(int argc, char **argv)
{
	struct input *seeds = calloc(argc, sizeof(*seeds));
	struct input work = { malloc(SIZE_MAX_INPUT), 0 };
	long runs = argc > 2 ? atol(argv[1]) : -1;
	int count = argc - 2;

	if (runs < 0 || count < 1 || !seeds || !work.data) {
		free(seeds);
		free(work.data);
		fprintf(stderr, "Usage: %s RUNS FILE...\n", argv[0]);
		return 2;
	}
	program = argv[0];
	__sanitizer_set_death_callback(save_input);
	be_quiet();
	for (int i = 0; i < count; i++) {
		seeds[i] = read_file(argv[i + 2]);
		run(&seeds[i]);
	}
	for (long n = 0; n < runs; n++) {
		const struct input *seed = &seeds[below((size_t)count)];

		/* The loop above has filled all elements. */
		assert(seed->data);
		work.size = seed->size;
		memcpy(work.data, seed->data, seed->size);
		damage(&work);
		run(&work);
	}
	for (int i = 0; i < count; i++)
		free(seeds[i].data);
	free(seeds);
	free(work.data);
	printf("1..1\nok 1 %ld damaged inputs\n", runs);
	return 0;
}
