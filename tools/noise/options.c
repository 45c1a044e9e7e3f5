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
#define REPLICATES_MAX	100000
#define REPLICATES	99

enum { PER_CORE = 1, LENGTH, SAMPLES, BOOTSTRAP, BOUND, COLUMN, COEFFICIENTS,
       MODEL, HAND, LOCATION = HAND + NR_PARAMETERS, QUIET, OUTPUT,
       NR_OPTIONS = OUTPUT + NR_OUTPUTS };

const struct option_row noise_option_rows[] = {
	OPTIONS_HEADING(NULL, "fit, refit and predict:"),
	{ "processes-per-core", "N", "1 2 5 10 20", PER_CORE,
	  "processes that share a core, 1 to 20; default 1; for refit a list; default 1,2,5,10,20" },
	{ "length", "TIME", NULL, LENGTH,
	  "time that the work takes without noise, 1us to 10s; default 1ms; for refit a list; default 100us,1ms,5ms; with FILE, fit subtracts it from each time; default 0" },
	OPTIONS_HEADING("fit refit", "fit and refit:"),
	{ "samples", "N", NULL, SAMPLES,
	  "number of times to take; default 1000; refit takes them for each length and number of processes; default 400" },
	{ "bootstrap", "N", NULL, BOOTSTRAP,
	  "compute p-values from N sets of times drawn from each fit; 0: none; default 99" },
	{ "svg", "FILE", "-f", OUTPUT + OUT_SVG,
	  "draw the quantiles of the times over those of each fit, and for refit over those of the Levy fit, for each class" },
	{ "quiet", NULL, NULL, QUIET, "do not show the progress" },
	OPTIONS_HEADING("fit", "fit:"),
	{ "bound", "TIME", NULL, BOUND,
	  "the work takes at most its length plus TIME; default a little more than the longest noise" },
	{ "column", "NAME", NULL, COLUMN,
	  "the column of FILE with the times; the first line of FILE names the columns. Without it, FILE has a number of seconds on each line. If the name of FILE ends with .json, FILE is from tense measure --json" },
	{ "csv", "FILE", "-f", OUTPUT + OUT_CSV,
	  "write the times to FILE, in a column time_s, and how often the process was switched in each; - is standard output" },
	{ "histogram", "FILE", "-f", OUTPUT + OUT_HISTOGRAM,
	  "draw a histogram of the times with the densities of the fits" },
	OPTIONS_HEADING("refit", "refit:"),
	{ "queue-svg", "FILE", "-f", OUTPUT + OUT_QUEUE,
	  "draw the error of the waits of M/M/1 over the divergence from it, for each class" },
	OPTIONS_HEADING("fit predict", "fit and predict:"),
	{ "json", "FILE", "-f", OUTPUT + OUT_JSON,
	  "write all results to FILE; - is standard output, and then no table is printed" },
	OPTIONS_HEADING("refit predict", "refit and predict:"),
	{ "coefficients", "FILE", "-f", COEFFICIENTS,
	  "refit writes the coefficients to FILE, predict reads them; default a file for this machine in the user's data directory" },
	OPTIONS_HEADING("predict", "predict:"),
	{ "model", "FORM", "log linear", MODEL,
	  "the model, for n processes per core and work of t seconds: log, exp(A + B log n + C log t) seconds, or linear, A + B n + C t; default the better one of the file; log for coefficients from the command line" },
	{ "best", "A,B,C", NULL, HAND + BEST,
	  "coefficients of the best case, which is t and the location" },
	{ "location", "A,B,C", NULL, LOCATION,
	  "coefficients of the location instead, for --model linear" },
	{ "scale", "A,B,C", NULL, HAND + SCALE, "coefficients of the scale" },
	{ "range", "A,B,C", NULL, HAND + RANGE,
	  "coefficients of the range, from the location to the bound" },
	OPTIONS_HEADING(NULL, "All of them:"),
	OPTIONS_END
};

#define BIT(option)	(1U << (option))
#define HANDS	(BIT(HAND + BEST) | BIT(HAND + SCALE) | BIT(HAND + RANGE))

static const char *const actions[] = {
	[FIT] = "fit", [PREDICT] = "predict", [REFIT] = "refit",
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

static int parse_replicates(const char *text, size_t *replicates)
{
	if (!parse_whole(text, 0, REPLICATES_MAX, replicates))
		return 0;
	warn("noise: --bootstrap '%s' is not a number from 0 to %d", text,
	     REPLICATES_MAX);
	return -1;
}

static int parse_form(const char *text, int *form)
{
	for (*form = 0; *form < NR_FORMS; ++*form)
		if (!strcmp(text, form_name(*form)))
			return 0;
	if (!strcmp(text, "paper"))
		warn("noise: the coefficients of the paper are not part of this program: with --model linear, give them by --location, --scale and --range");
	else
		warn("noise: --model '%s' is not log or linear", text);
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

static int parse_law(const char *name, enum parameter parameter, char *text,
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
	     name, text);
	return -1;
}

/* The best case is the work, and the location beyond it. */
static int parse_location(char *text, struct noise_options *o)
{
	int err = parse_law("location", BEST, text, o);

	o->hand.laws[BEST].of[2] += 1;
	return err;
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
	case BOOTSTRAP:
		return parse_replicates(optarg, &o->replicates);
	case MODEL:
		return parse_form(optarg, &o->form);
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
		return parse_law(parameter_name(option - HAND), option - HAND,
				 optarg, o);
	case LOCATION:
		o->by_hand = true;
		return parse_location(optarg, o);
	default:
		o->outputs[option - OUTPUT] = optarg;
		return 0;
	}
}

/* Warns of an option that was used although the action does not take it. */
static int check_used(const struct subcommand *command, unsigned int used,
		      const char *action)
{
	for (const struct option_row *row = command->options; row->id; row++) {
		if (row->id < 0 || row->id >= NR_OPTIONS ||
		    !(used & BIT(row->id)) ||
		    option_is_taken(command, row, action))
			continue;
		warn("noise %s: takes no --%s: see tense noise --help",
		     action, row->name);
		return -1;
	}
	return 0;
}

static int check_action(const struct subcommand *command, int argc,
			char **argv, unsigned int used, struct noise_options *o)
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
	return check_used(command, used, actions[action]);
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

/* All coefficients are needed, of either the best case or the location. */
static int check_hands(unsigned int used, const struct noise_options *o)
{
	const unsigned int others = HANDS & ~BIT(HAND + BEST);
	bool located = used & BIT(LOCATION);

	if (!o->by_hand)
		return 0;
	if (located && used & BIT(HAND + BEST))
		warn("noise predict: --best and --location exclude each other");
	else if (located && o->form != FORM_LINEAR)
		warn("noise predict: --location is for --model linear: a location may be negative and has no logarithm");
	else if ((used & others) != others ||
		 (!located && !(used & BIT(HAND + BEST))))
		warn("noise predict: --%s, --scale and --range are needed together",
		     located ? "location" : "best");
	else
		return 0;
	return -1;
}

static int check_together(unsigned int used, const struct noise_options *o)
{
	if (check_hands(used, o))
		return -1;
	if (o->action != REFIT && (o->nr_per_core > 1 || o->nr_lengths > 1))
		warn("noise %s: --processes-per-core and --length are one each: lists are for refit",
		     actions[o->action]);
	else if (o->by_hand && o->coefficients)
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

	if (o->by_hand)
		o->hand.form = o->form == FORM_LINEAR ? FORM_LINEAR : FORM_LOG;
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

	*o = (struct noise_options){ .bound = NAN, .form = -1,
				     .replicates = REPLICATES };
	while ((c = options_take(command, argc, argv)) != -1) {
		if (take_option(c, o))
			return -1;
		used |= BIT(c);
	}
	if (options_on_stdout(o->outputs, NR_OUTPUTS) > 1) {
		warn("noise: only one file can be written to -, standard output");
		return -1;
	}
	if (check_action(command, argc, argv, used, o) ||
	    check_arguments(argc, argv, o) || check_together(used, o))
		return -1;
	fill_in(o);
	return 0;
}
