// SPDX-License-Identifier: GPL-2.0
#include "options.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/duration.h"
#include "base/options.h"
#include "base/util.h"
#include "fit.h"

#define LENGTH_MIN	1e-6
#define LENGTH_MAX	10.0
#define SAMPLES_MAX	1000000

enum { PER_CORE = 1, LENGTH, SAMPLES, BOUND, COLUMN, COEFFICIENTS, HAND,
       QUIET = HAND + NR_PARAMETERS, OUTPUT };

const struct option_row noise_option_rows[] = {
	{ "processes-per-core", "N", "1 2 5 10 20", PER_CORE,
	  "1 to 20; default 1; of refit a list; default 1,2,5,10,20" },
	{ "length", "TIME", NULL, LENGTH,
	  "of the work, 1us to 10s; default 1ms; of refit a list; default 100us,1ms,5ms; taken off the times of FILE, from which by default nothing is" },
	{ "samples", "N", NULL, SAMPLES,
	  "times to take; default 1000, of refit 400 each" },
	{ "bound", "TIME", NULL, BOUND,
	  "fit: nothing takes longer than the work and this; default a little more than the longest" },
	{ "column", "NAME", NULL, COLUMN,
	  "fit: the column of FILE, whose first line names them; without it FILE has one number a line, in seconds, or is of tense measure if its name ends with .json" },
	{ "coefficients", "FILE", "-f", COEFFICIENTS,
	  "refit, predict: the file of the coefficients; default one of this machine in the user's data" },
	{ "best", "A,B,C", NULL, HAND + BEST,
	  "predict: coefficients by hand: the best case, which is the work and the location, takes exp(A + B log n + C log t) seconds, with n processes per core, work of t" },
	{ "scale", "A,B,C", NULL, HAND + SCALE, "of the scale" },
	{ "range", "A,B,C", NULL, HAND + RANGE,
	  "of the range, from the location to the bound" },
	{ "quiet", NULL, NULL, QUIET, "say nothing of the progress" },
	{ "json", "FILE", "-f", OUTPUT + OUT_JSON,
	  "fit, predict: everything; - is standard output, and then there is no table" },
	{ "csv", "FILE", "-f", OUTPUT + OUT_CSV,
	  "fit: the times, in a column time_s, likewise" },
	{ "svg", "FILE", "-f", OUTPUT + OUT_SVG,
	  "fit: quantiles of the times over those of each fit" },
	OPTIONS_END
};

#define BIT(option)	(1U << (option))
#define HANDS	(BIT(HAND + BEST) | BIT(HAND + SCALE) | BIT(HAND + RANGE))

static const char *const actions[] = {
	[FIT] = "fit", [PREDICT] = "predict", [REFIT] = "refit",
};

/* The options of each. */
static const unsigned int allowed[] = {
	[FIT] = BIT(PER_CORE) | BIT(LENGTH) | BIT(SAMPLES) | BIT(BOUND) |
		BIT(COLUMN) | BIT(QUIET) | BIT(OUTPUT + OUT_JSON) |
		BIT(OUTPUT + OUT_CSV) | BIT(OUTPUT + OUT_SVG),
	[PREDICT] = BIT(PER_CORE) | BIT(LENGTH) | BIT(COEFFICIENTS) | HANDS |
		    BIT(OUTPUT + OUT_JSON),
	[REFIT] = BIT(PER_CORE) | BIT(LENGTH) | BIT(SAMPLES) |
		  BIT(COEFFICIENTS) | BIT(QUIET),
};

/* The parts of a list, one by one; those of text change. */
static int for_each_part(char *text, int (*take)(const char *, void *),
			 void *arg)
{
	char *part;

	while ((part = strsep(&text, ",")))
		if (take(part, arg))
			return -1;
	return 0;
}

static int parse_whole(const char *text, size_t min, size_t max, size_t *number)
{
	char *end;

	errno = 0;
	*number = strtoul(text, &end, 10);
	return *text >= '0' && *text <= '9' && !*end && !errno &&
	       *number >= min && *number <= max ? 0 : -1;
}

static int take_per_core(const char *text, void *arg)
{
	struct noise_options *o = arg;
	size_t number;

	if (parse_whole(text, 1, PER_CORE_MAX, &number)) {
		warn("noise: --processes-per-core '%s' is not a number from 1 to %d",
		     text, PER_CORE_MAX);
		return -1;
	}
	if (o->nr_per_core == PER_CORE_MAX) {
		warn("noise: --processes-per-core: more than %d numbers",
		     PER_CORE_MAX);
		return -1;
	}
	o->per_core[o->nr_per_core++] = (unsigned int)number;
	return 0;
}

static int take_length(const char *text, void *arg)
{
	struct noise_options *o = arg;
	double length;

	if (parse_duration(text, &length) || length < LENGTH_MIN ||
	    length > LENGTH_MAX) {
		warn("noise: --length '%s' is not a time from 1us to 10s", text);
		return -1;
	}
	if (o->nr_lengths == LENGTHS_MAX) {
		warn("noise: --length: more than %d times", LENGTHS_MAX);
		return -1;
	}
	o->lengths[o->nr_lengths++] = length;
	return 0;
}

static int parse_samples(const char *text, size_t *samples)
{
	if (!parse_whole(text, FIT_TIMES_MIN, SAMPLES_MAX, samples))
		return 0;
	warn("noise: --samples '%s' is not a number from %d to %d", text,
	     FIT_TIMES_MIN, SAMPLES_MAX);
	return -1;
}

static int parse_bound(const char *text, double *bound)
{
	if (!parse_duration(text, bound) && *bound > 0)
		return 0;
	warn("noise: --bound '%s' is not a time: write it as in 500us or 20ms",
	     text);
	return -1;
}

struct hand {
	struct law *law;
	int count;
};

static int take_coefficient(const char *text, void *arg)
{
	struct hand *hand = arg;
	char *end;
	double value = strtod(text, &end);

	if (!*text || *end || !isfinite(value) || hand->count == TERMS)
		return -1;
	hand->law->of[hand->count++] = value;
	return 0;
}

static int parse_law(enum parameter parameter, char *text,
		     struct noise_options *o)
{
	struct hand hand = { .law = &o->hand.laws[parameter] };
	char *copy = xstrdup(text);
	int err = for_each_part(copy, take_coefficient, &hand);

	free(copy);
	hand.law->r2 = hand.law->error = NAN;
	if (!err && hand.count == TERMS)
		return 0;
	warn("noise: --%s '%s' is not three numbers: write it as in -7,0.5,1",
	     parameter_name(parameter), text);
	return -1;
}

static int take_option(int option, struct noise_options *o)
{
	switch (option) {
	case PER_CORE:
		o->nr_per_core = 0;
		return for_each_part(optarg, take_per_core, o);
	case LENGTH:
		o->nr_lengths = 0;
		return for_each_part(optarg, take_length, o);
	case SAMPLES:
		return parse_samples(optarg, &o->samples);
	case BOUND:
		return parse_bound(optarg, &o->bound);
	case COLUMN:
		o->column = optarg;
		return 0;
	case COEFFICIENTS:
		o->coefficients = optarg;
		return 0;
	case QUIET:
		o->quiet = true;
		return 0;
	case HAND + BEST:
	case HAND + SCALE:
	case HAND + RANGE:
		o->by_hand = true;
		return parse_law(option - HAND, optarg, o);
	default:
		o->outputs[option - OUTPUT] = optarg;
		return 0;
	}
}

static int check_action(int argc, char **argv, unsigned int used,
			struct noise_options *o)
{
	int action = 0;

	if (optind == argc) {
		warn("noise: say what to do: fit, refit or predict");
		return -1;
	}
	while (action < NR_ACTIONS && strcmp(argv[optind], actions[action]) != 0)
		action++;
	if (action == NR_ACTIONS) {
		warn("noise: '%s' is not what it can do: see tense noise --help",
		     argv[optind]);
		return -1;
	}
	o->action = action;
	used &= ~allowed[action];
	for (const struct option_row *row = noise_option_rows; used; row++) {
		if (!(used & BIT(row->id)))
			continue;
		warn("noise %s: takes no --%s: see tense noise --help",
		     actions[action], row->name);
		return -1;
	}
	return 0;
}

static int check_arguments(int argc, char **argv, struct noise_options *o)
{
	int argument = optind + 1;

	if (o->action == FIT && argument < argc)
		o->input = argv[argument++];
	if (argument == argc)
		return 0;
	warn("noise %s: takes no argument '%s': see tense noise --help",
	     actions[o->action], argv[argument]);
	return -1;
}

static int check_together(unsigned int used, const struct noise_options *o)
{
	unsigned int hands = used & HANDS;

	if (o->action != REFIT && (o->nr_per_core > 1 || o->nr_lengths > 1))
		warn("noise %s: --processes-per-core and --length are one each: lists are for refit",
		     actions[o->action]);
	else if (hands && hands != HANDS)
		warn("noise predict: --best, --scale and --range are needed together");
	else if (hands && o->coefficients)
		warn("noise predict: --coefficients and coefficients by hand exclude each other");
	else if (o->input && (used & (BIT(PER_CORE) | BIT(SAMPLES))))
		warn("noise fit: --processes-per-core and --samples are for times that it takes, not for those of a file");
	else if (!o->input && o->column)
		warn("noise fit: --column is of a file: name the file, too");
	else
		return 0;
	return -1;
}

static void fill_in(struct noise_options *o)
{
	static const unsigned int grid[] = { 1, 2, 5, 10, 20 };
	static const double lengths[] = { 100e-6, 1e-3, 5e-3 };
	bool refit = o->action == REFIT;

	if (!o->samples)
		o->samples = refit ? 400 : 1000;
	if (!o->nr_per_core) {
		o->nr_per_core = refit ? sizeof(grid) / sizeof(grid[0]) : 1;
		memcpy(o->per_core, grid, o->nr_per_core * sizeof(grid[0]));
	}
	if (!o->nr_lengths && refit) {
		o->nr_lengths = sizeof(lengths) / sizeof(lengths[0]);
		memcpy(o->lengths, lengths, sizeof(lengths));
	} else if (!o->nr_lengths) {
		/* A file does not tell the length of its work. */
		o->lengths[0] = o->input ? 0 : 1e-3;
		o->nr_lengths = 1;
	}
}

int noise_parse(const struct subcommand *command, int argc, char **argv,
		struct noise_options *o)
{
	unsigned int used = 0;
	int c;

	*o = (struct noise_options){ .bound = NAN };
	while ((c = options_take(command, argc, argv)) != -1) {
		if (take_option(c, o))
			return -1;
		used |= BIT(c);
	}
	if (options_on_stdout(o->outputs, NR_OUTPUTS) > 1) {
		warn("noise: only one of --json, --csv and --svg can be written to -, standard output");
		return -1;
	}
	if (check_action(argc, argv, used, o) || check_arguments(argc, argv, o) ||
	    check_together(used, o))
		return -1;
	fill_in(o);
	return 0;
}
