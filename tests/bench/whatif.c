// SPDX-License-Identifier: GPL-2.0
/*
 * whatif INPUT PASSES: dedup in its three variants, in rounds, for
 * whatif-table. Each round takes one part of the input: the shorter a round,
 * the less the machine's speed changes between the runs that are compared.
 * Every other pass goes backwards, so that a steady drift favours none.
 *
 * All runs share one process, whose memory stays mapped. Each run would else
 * begin with page faults, which take as long as all of its work in a guest
 * where each costs 100 us.
 */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../lib/real-clock.h"
#include "../workloads/dedup.h"

#define PARTS		8
/* The guest's memory: the host's disk is not the subject. */
#define DIRECTORY	"/dev/shm"
#define WARM_UPS	2

enum variant { BASELINE, PREDICTED, TRUTH, VARIANTS };

static char directory[] = DIRECTORY "/whatif.XXXXXX";

static void path_of(char *path, size_t size, const char *name, int part)
{
	snprintf(path, size, "%s/%s%d", directory, name, part);
}

/* Also at the end by an error. */
static void clean_up(void)
{
	char path[64];

	for (int i = 0; i < PARTS; i++) {
		path_of(path, sizeof(path), "part", i);
		unlink(path);
	}
	path_of(path, sizeof(path), "archive", 0);
	unlink(path);
	rmdir(directory);
}

static void split(const char *input)
{
	int in = input_open(input);
	struct stat status;
	size_t size;
	char *data;

	if (fstat(in, &status) || status.st_size < PARTS * CHUNK_MAX)
		die("%s is too short for %d parts", input, PARTS);
	size = status.st_size / PARTS;
	data = allocate(size);
	for (int i = 0; i < PARTS; i++) {
		char path[64];
		int out;

		path_of(path, sizeof(path), "part", i);
		out = output_open(path, in);
		output_write(out, path, data,
			     input_read(in, input, data, size));
		output_close(out, path);
	}
	free(data);
	close(in);
}

static void run(enum variant variant, int part, int extra, struct stats *stats)
{
	struct options options = {
		.threads = 2,
		.level = 6,
		.percent = variant == PREDICTED ? 125 : 100,
		.extra = variant == TRUTH ? 0 : extra,
	};
	char input[64], output[64];

	path_of(input, sizeof(input), "part", part);
	path_of(output, sizeof(output), "archive", 0);
	*stats = (struct stats) { 0 };
	archive_create(input, output, &options, stats);
}

static void measure(enum variant variant, int part, int extra, int round)
{
	static const char *const name[VARIANTS] = {
		"baseline", "predicted", "truth",
	};
	uint64_t elapsed = libc_clock(CLOCK_MONOTONIC);
	uint64_t real = real_clock(CLOCK_MONOTONIC);
	uint64_t cpu = real_clock(CLOCK_PROCESS_CPUTIME_ID);
	struct stats stats;

	run(variant, part, extra, &stats);
	cpu = real_clock(CLOCK_PROCESS_CPUTIME_ID) - cpu;
	real = real_clock(CLOCK_MONOTONIC) - real;
	elapsed = libc_clock(CLOCK_MONOTONIC) - elapsed;
	printf("run %s %d\n", name[variant], round);
	printf("elapsed_ns %ju\n", (uintmax_t)elapsed);
	printf("real_ns %ju\n", (uintmax_t)real);
	printf("cpu_ns %ju\n", (uintmax_t)cpu);
	printf("compress_chunk_ns %ju\n", (uintmax_t)stats.compress_ns);
	fflush(stdout);
}

static void progress(int pass, int passes)
{
	if (!isatty(STDERR_FILENO))
		return;
	if (pass < passes)
		fprintf(stderr, "\rpass %d of %d", pass + 1, passes);
	else
		fputs("\r\033[K", stderr);
}

int main(int argc, char **argv)
{
	int passes = argc == 3 ? atoi(argv[2]) : 0;
	struct calibration calibration;
	struct stats unused;

	if (passes < 1) {
		fputs("Usage: whatif INPUT PASSES\n", stderr);
		return 2;
	}
	mallopt(M_MMAP_THRESHOLD, 32 << 20);
	mallopt(M_TRIM_THRESHOLD, 256 << 20);
	if (!mkdtemp(directory))
		die("cannot create a directory in " DIRECTORY);
	atexit(clean_up);
	calibrate(argv[1], 6, &calibration);
	printf("run calibration 0\nextra_work %d\ncalibrated_cut %.3f\n",
	       calibration.extra, calibration.cut);
	split(argv[1]);
	for (int i = 0; i < WARM_UPS; i++)
		run(BASELINE, i, calibration.extra, &unused);
	for (int pass = 0; pass < passes; pass++) {
		progress(pass, passes);
		for (int i = 0; i < PARTS * VARIANTS; i++) {
			int step = pass % 2 ? PARTS * VARIANTS - 1 - i : i;

			measure(step % VARIANTS, step / VARIANTS,
				calibration.extra,
				pass * PARTS + step / VARIANTS);
		}
	}
	progress(passes, passes);
	return fflush(stdout) ? 1 : 0;
}
