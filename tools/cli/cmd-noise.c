// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <gsl/gsl_errno.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "base/progress.h"
#include "base/result-file.h"
#include "base/util.h"
#include "noise/options.h"
#include "noise/predict.h"
#include "noise/refit.h"
#include "noise/report.h"
#include "noise/times.h"

static int (*const writers[])(FILE *f, const struct report *r) = {
	[OUT_JSON] = report_json, [OUT_CSV] = report_csv, [OUT_SVG] = report_svg,
	[OUT_HISTOGRAM] = report_histogram,
};

struct bar {
	struct progress progress;
	size_t samples;		/* or replicates, of all families */
	size_t done;
};

static void show(size_t taken, void *arg)
{
	struct bar *bar = arg;

	progress_show(&bar->progress, (unsigned int)taken,
		      (unsigned int)bar->samples, "measuring");
}

static int collect_times(const struct noise_options *o, struct report *r)
{
	struct bar bar = { .samples = o->samples };
	struct collection c;
	int err;

	r->workload = (struct workload){
		.length = o->lengths[0], .per_core = o->per_core[0],
		.samples = o->samples,
	};
	if (nops_calibrate(&r->nops))
		return -1;
	err = collect(&r->workload, &r->nops, o->quiet ? NULL : show, &bar, &c);
	progress_end(&bar.progress);
	r->values = c.noise;
	for (int i = 0; i < NR_SWITCHES; i++)
		r->switches[i] = c.switches[i];
	r->count = c.count;
	r->nominal = c.nominal;
	r->cores = c.cores;
	return err;
}

static int read_times(const struct noise_options *o, struct report *r)
{
	struct times times;

	r->file = o->input;
	r->nominal = o->lengths[0];
	if (times_read(o->input, o->column, &times))
		return -1;
	r->values = times.seconds;
	r->count = times.count;
	for (int i = 0; i < NR_SWITCHES; i++)
		r->switches[i] = times.switches[i];
	for (size_t i = 0; i < r->count; i++)
		r->values[i] -= r->nominal;
	return 0;
}

static void show_replicate(void *arg)
{
	struct bar *bar = arg;

	progress_show(&bar->progress, (unsigned int)++bar->done,
		      (unsigned int)bar->samples, "computing p-values");
}

static int assess(const struct noise_options *o, struct report *r)
{
	struct bar bar = { .samples = o->replicates * NR_FAMILIES };
	int err;

	r->replicates = o->replicates;
	r->progress = o->quiet ? NULL : show_replicate;
	r->progress_arg = &bar;
	err = report_assess(r, o->bound);
	progress_end(&bar.progress);
	return err;
}

static int write_as(FILE *f, size_t form, const void *arg)
{
	return writers[form](f, arg);
}

static int write_results(const struct noise_options *o,
			 struct result_file *files, const struct report *r)
{
	if (result_files_write(files, NR_OUTPUTS, write_as, r))
		return -1;
	if (!options_on_stdout(o->outputs, NR_OUTPUTS))
		report_text(stdout, r);
	return 0;
}

static int fit(const struct noise_options *o)
{
	struct result_file files[NR_OUTPUTS] = { 0 };
	struct report r = { 0 };
	int err = result_files_check(files, o->outputs, NR_OUTPUTS);

	if (!err)
		err = o->input ? read_times(o, &r) : collect_times(o, &r);
	if (!err)
		err = assess(o, &r);
	if (!err)
		err = write_results(o, files, &r);
	result_files_free(files, NR_OUTPUTS);
	report_free(&r);
	return err;
}

static int main_noise(int argc, char **argv)
{
	static int (*const run[])(const struct noise_options *o) = {
		[FIT] = fit, [PREDICT] = noise_predict, [REFIT] = noise_refit,
	};
	struct noise_options o;

	if (noise_parse(&cmd_noise, argc, argv, &o))
		return STATUS_FAILED;
	/* By default GSL ends the program. This handler lets it return NAN. */
	gsl_set_error_handler_off();
	return run[o.action](&o) ? STATUS_FAILED : 0;
}

const struct subcommand cmd_noise = {
	.name = "noise",
	.summary = "measure timing noise and fit distributions to it",
	.run = main_noise,
	.usage =
		"Usage: tense noise fit [OPTION...] [FILE]\n"
		"       tense noise refit [OPTION...]\n"
		"       tense noise predict [OPTION...]\n"
		"\n"
		"Measures timing noise: by how much the same work takes longer from time to\n"
		"time. fit times instructions that do nothing, or reads times from FILE, and\n"
		"fits four distributions: truncated Levy, Gaussian, Gumbel and Cauchy. refit\n"
		"does this for several lengths and numbers of processes, and stores how the\n"
		"parameters of the Levy distribution depend on them. predict computes these\n"
		"parameters from the stored coefficients.\n",
	.options = noise_option_rows,
	.actions = "fit refit predict",
	.operands = "-f",
	.examples =
		"  tense noise fit --processes-per-core 4 --svg noise.svg\n"
		"  tense measure --runs 100 --json m.json -- ./app && tense noise fit m.json\n",
	.notes =
		"Exit status: 0, or 125 if tense failed or was misused.\n",
};
