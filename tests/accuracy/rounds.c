// SPDX-License-Identifier: GPL-2.0
/*
 * rounds [-k] [-n ROUNDS] 'NAME=[VARIABLE=VALUE ...] COMMAND ...'...
 *
 * Runs commands in turns, in another random order in each round, each run in
 * an experiment of its own at percent 100, and prints what tests/bench/log.h
 * describes. A round before the first warms up and is not printed. A space that
 * no backslash precedes ends a word. The commands' output is discarded. With
 * -k, rounds prints it among the pairs of the run, for commands that print such
 * pairs themselves.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <linux/tense.h>

#include "run/launch.h"
#include "base/util.h"
#include "../lib/real-clock.h"
#include "work.h"

#define WORDS_MAX	64
#define VARIANTS_MAX	32
#define REFERENCE	(5 * UNITS_MS)

struct variant {
	char *name;
	char **env;
	char *argv[WORDS_MAX];
};

/* Our environment with one variable set anew, in place of the old list. */
static char **with_variable(char **env, char *assignment)
{
	size_t name = strchr(assignment, '=') - assignment + 1, count = 0;
	char **new;

	while (env[count])
		count++;
	new = xmalloc((count + 2) * sizeof(*new));
	count = 0;
	for (char **old = env; *old; old++)
		if (strncmp(*old, assignment, name) != 0)
			new[count++] = *old;
	new[count++] = assignment;
	new[count] = NULL;
	return new;
}

/* The next one of *rest, in its place, or NULL. */
static char *next_word(char **rest)
{
	char *from = *rest + strspn(*rest, " "), *word = from, *to = from;

	if (!*from)
		return NULL;
	for (; *from && *from != ' '; from++) {
		if (from[0] == '\\' && from[1] == ' ')
			from++;
		*to++ = *from;
	}
	*rest = *from ? from + 1 : from;
	*to = '\0';
	return word;
}

static void parse(char *text, struct variant *variant)
{
	int args = 0;
	char *word, *rest = strchr(text, '=');

	if (!rest)
		die(2, "rounds: not NAME=COMMAND: %s", text);
	*rest++ = '\0';
	variant->env = environ;
	variant->name = text;
	while ((word = next_word(&rest))) {
		if (args == WORDS_MAX - 1)
			die(2, "rounds: %s: too long", variant->name);
		if (!args && strchr(word, '='))
			variant->env = with_variable(variant->env, word);
		else
			variant->argv[args++] = word;
	}
	if (!args)
		die(2, "rounds: not NAME=COMMAND: %s", variant->name);
}

/* In the child. */
static int set_up(void *arg, const char **what)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	const int *output = arg;

	*what = "/dev/null";
	if (null < 0 || dup2(null, 0) < 0)
		return -1;
	*what = "standard output";
	return dup2(*output < 0 ? null : *output, 1) < 0 ? -1 : 0;
}

static void print_output(int output)
{
	char buf[4096];
	ssize_t len = pread(output, buf, sizeof(buf), 0);

	if (len < 0 || len == sizeof(buf))
		die(1, "rounds: cannot read what the command printed");
	fwrite(buf, 1, len, stdout);
	close(output);
}

static struct tense_stats *run(struct variant *variant, int output,
			       struct outcome *out)
{
	struct launch launch_run = {
		.argv = variant->argv,
		.env = variant->env,
		.percent = TENSE_PERCENT_REAL,
		.stats = true,
		.tty = -1,
		.setup = set_up,
		.arg = &output,
	};
	void *stats;

	sigemptyset(&launch_run.mask);
	launch(&launch_run, out, &stats);
	if (out->kind == OUTCOME_FAILED)
		die(1, "rounds: %s: %s", variant->name, out->text);
	if (out->kind == OUTCOME_NOT_RUN)
		die(1, "rounds: %s: %s", variant->argv[0],
		    strerror(out->value));
	if (out->kind != OUTCOME_EXITED || out->value)
		die(1, "rounds: %s ended with %s %d", variant->name,
		    out->kind == OUTCOME_EXITED ? "status" : "signal",
		    (int)out->value);
	return stats;
}

/* How fast the machine is just now: the CPU time of a few ms of work. */
static uint64_t reference(void)
{
	uint64_t start = real_clock(CLOCK_PROCESS_CPUTIME_ID);

	work_steps(0, REFERENCE);
	return real_clock(CLOCK_PROCESS_CPUTIME_ID) - start;
}

static void measure(struct variant *variant, int round, bool keep)
{
	int output = keep ? memfd_create("output", MFD_CLOEXEC) : -1;
	uint64_t around = reference();
	struct outcome out;
	struct tense_stats *stats = run(variant, output, &out);

	around += reference();
	if (round < 0) {
		free(stats);
		close(output);
		return;
	}
	printf("run %s %d\n", variant->name, round);
	printf("elapsed_ns %" PRIu64 "\n", (uint64_t)stats->gvt);
	printf("charged_ns %" PRIu64 "\n", (uint64_t)stats->charged);
	printf("ran_ns %" PRIu64 "\n", (uint64_t)stats->ran);
	printf("real_ns %" PRIu64 "\n", out.real_ns);
	printf("reference_ns %" PRIu64 "\n", around);
	if (stats->slot[1].calls) {
		printf("function_calls %" PRIu64 "\n", (uint64_t)stats->slot[1].calls);
		printf("function_ns %" PRIu64 "\n", (uint64_t)stats->slot[1].charged);
		printf("outside_ns %" PRIu64 "\n", (uint64_t)stats->slot[0].charged);
	}
	if (keep)
		print_output(output);
	fflush(stdout);
	free(stats);
}

static void shuffle(int *order, int count)
{
	for (int i = count - 1; i > 0; i--) {
		int j = random() % (i + 1), swap = order[i];

		order[i] = order[j];
		order[j] = swap;
	}
}

int main(int argc, char **argv)
{
	static struct variant variants[VARIANTS_MAX];
	int order[VARIANTS_MAX], count, c, rounds = 10;
	bool keep = false;

	while ((c = getopt(argc, argv, "+kn:")) != -1) {
		if (c == 'k')
			keep = true;
		else if (c == 'n')
			rounds = atoi(optarg);
		else
			return 2;
	}
	count = argc - optind;
	if (rounds < 1 || count < 1 || count > VARIANTS_MAX)
		die(2, "Usage: rounds [-k] [-n ROUNDS] NAME=COMMAND...");
	for (int i = 0; i < count; i++) {
		parse(argv[optind + i], &variants[i]);
		order[i] = i;
	}
	for (int round = -1; round < rounds; round++) {
		shuffle(order, count);
		for (int i = 0; i < count; i++)
			measure(&variants[order[i]], round, keep);
	}
	return fflush(stdout) ? 1 : 0;
}
