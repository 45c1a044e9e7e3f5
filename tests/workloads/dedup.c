// SPDX-License-Identifier: GPL-2.0
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../lib/real-clock.h"
#include "dedup.h"

static const char usage[] =
"Usage: dedup -c [OPTION]... INPUT ARCHIVE\n"
"       dedup -d ARCHIVE OUTPUT\n"
"\n"
"A parallel deduplicating compressor. Its compress stage is annotated for Tense.\n"
"\n"
"  -c                    compress INPUT to ARCHIVE\n"
"  -d                    restore OUTPUT from ARCHIVE\n"
"  -t N                  threads in each of the three pools (2)\n"
"  -l LEVEL              of zlib, 1 to 9 (6)\n"
"  --compress-percent P  speed of compress_chunk() in virtual time (100)\n"
"  --extra-work N        compress_chunk() packs N per mille of its bytes again\n"
"  --stats               print sizes, elapsed time and CPU time per stage;\n"
"                        elapsed_ns is virtual under Tense, the others are real\n";

static __attribute__((noreturn)) void misuse(const char *what)
{
	fprintf(stderr, "dedup: %s\nTry 'dedup --help'.\n", what);
	exit(2);
}

static int number(const char *text, const char *name, int min, int max)
{
	char message[128], *end;
	long value = strtol(text, &end, 10);

	if (end == text || *end || value < min || value > max) {
		snprintf(message, sizeof(message),
			 "%s takes a number from %d to %d, not '%.20s'",
			 name, min, max, text);
		misuse(message);
	}
	return value;
}

static void compress_file(char **path, const struct options *options)
{
	static const char *const stage[STAGES] = {
		"read", "refine", "identify", "compress", "write",
	};
	uint64_t elapsed = libc_clock(CLOCK_MONOTONIC);
	uint64_t real = real_clock(CLOCK_MONOTONIC);
	uint64_t cpu = real_clock(CLOCK_PROCESS_CPUTIME_ID);
	struct stats stats = { 0 };

	archive_create(path[0], path[1], options, &stats);
	elapsed = libc_clock(CLOCK_MONOTONIC) - elapsed;
	real = real_clock(CLOCK_MONOTONIC) - real;
	cpu = real_clock(CLOCK_PROCESS_CPUTIME_ID) - cpu;
	if (!options->stats)
		return;
	printf("elapsed_ns %ju\n", (uintmax_t)elapsed);
	printf("real_ns %ju\n", (uintmax_t)real);
	printf("cpu_ns %ju\n", (uintmax_t)cpu);
	for (int i = 0; i < STAGES; i++)
		printf("cpu_%s_ns %ju\n", stage[i],
		       (uintmax_t)stats.stage_cpu[i]);
	printf("compress_chunk_ns %ju\n", (uintmax_t)stats.compress_ns);
	printf("bytes %ju\n", (uintmax_t)stats.bytes);
	printf("archive_bytes %ju\n", (uintmax_t)stats.archive_bytes);
	printf("chunks %ju\n", (uintmax_t)stats.chunks);
	printf("unique %ju\n", (uintmax_t)stats.unique);
}

int main(int argc, char **argv)
{
	enum { PERCENT = 256, EXTRA, STATS, HELP };
	static const struct option longs[] = {
		{ "compress-percent", required_argument, NULL, PERCENT },
		{ "extra-work", required_argument, NULL, EXTRA },
		{ "stats", no_argument, NULL, STATS },
		{ "help", no_argument, NULL, HELP },
		{ NULL, 0, NULL, 0 },
	};
	struct options options = { .threads = 2, .level = 6, .percent = 100 };
	int mode = 0, option;

	while ((option = getopt_long(argc, argv, "cdt:l:h", longs, NULL)) >= 0) {
		switch (option) {
		case 'c':
		case 'd':
			if (mode && mode != option)
				misuse("only one of -c and -d");
			mode = option;
			break;
		case 't':
			options.threads = number(optarg, "-t", 1, 256);
			break;
		case 'l':
			options.level = number(optarg, "-l", 1, 9);
			break;
		case PERCENT:
			options.percent = number(optarg, "--compress-percent",
						 1, 100000);
			break;
		case EXTRA:
			options.extra = number(optarg, "--extra-work", 0, 1000);
			break;
		case STATS:
			options.stats = true;
			break;
		case 'h':
		case HELP:
			fputs(usage, stdout);
			return fflush(stdout) ? 1 : 0;
		default:
			/* getopt_long() has said what is wrong. */
			fputs("Try 'dedup --help'.\n", stderr);
			return 2;
		}
	}
	if (!mode)
		misuse("one of -c and -d is needed");
	if (argc - optind < 2)
		misuse("a file name is missing");
	if (argc - optind > 2)
		misuse("too many file names");
	if (mode == 'c')
		compress_file(argv + optind, &options);
	else
		archive_restore(argv[optind], argv[optind + 1]);
	if (fflush(stdout))
		die("cannot write the standard output");
	return 0;
}
