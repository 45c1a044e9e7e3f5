// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/json-text.h"
#include "base/options.h"
#include "base/result-file.h"
#include "base/util.h"
#include "cutoffs-output.h"
#include "daemons.h"
#include "learnt-file.h"
#include "learnt-text.h"
#include "scatter.h"

struct request {
	const char *cutoffs;
	const char *svg;
	bool plot;
	bool json;
};

/* The contents of a file. Some files have cutoffs only. */
struct stored {
	struct cutoff_store store;
	json_t *root;
	struct learnt learnt;
	struct circumstances circumstances;
	bool has_samples;
};

/* 0, or -1 after a message. */
static int parse_options(const struct subcommand *command, int argc,
			 char **argv, struct request *r)
{
	int c;

	while ((c = options_take(command, argc, argv)) != -1) {
		switch (c) {
		case CUTOFFS:
			r->cutoffs = optarg;
			break;
		case SVG:
			r->svg = optarg;
			break;
		case PLOT:
			r->plot = true;
			break;
		case JSON:
			r->json = true;
			break;
		}
	}
	return options_refuse_operands(command, argc, argv);
}

/* -1 to go on, or the exit status after a message. */
static int load(struct stored *stored, const struct request *r)
{
	struct cutoff_store *store = &stored->store;
	int parsed;

	if (r->cutoffs ? cutoffs_load(store, r->cutoffs) :
			 cutoffs_load_default(store))
		return STATUS_FAILED;
	if (!store->path) {
		warn("no cutoffs are stored for this machine: tense daemons learn finds them");
		return 1;
	}
	/* It has been read already: if it is not JSON, then CSV. */
	stored->root = json_load_file(store->path, 0, NULL);
	if (!stored->root)
		stored->root = json_pack("{si so}", "version",
					 CUTOFFS_JSON_VERSION, "cutoffs",
					 cutoffs_json(&store->cutoffs));
	parsed = learnt_parse(&stored->learnt, &stored->circumstances,
			      stored->root, store->path);
	stored->has_samples = !parsed;
	if (parsed >= 0 && (stored->has_samples || (!r->svg && !r->plot)))
		return -1;
	if (parsed > 0)
		warn("%s: has no samples to draw, only cutoffs", store->path);
	return STATUS_FAILED;
}

static int write_picture(const struct stored *stored, const char *path)
{
	struct result_file file;
	int err = result_file_check(&file, path);
	FILE *f = err ? NULL : result_file_begin(&file);

	if (f)
		scatter_svg(f, &stored->learnt);
	err = f ? result_file_end(&file, 0) : -1;
	result_file_free(&file);
	return err ? STATUS_FAILED : 0;
}

static int print_json(const struct stored *stored,
		      const struct circumstances *here)
{
	json_object_set_new(stored->root, "path",
			    json_string(stored->store.path));
	if (stored->has_samples)
		json_object_set_new(stored->root, "age_s",
				    json_integer(here->when -
						 stored->circumstances.when));
	return json_print(json_incref(stored->root)) ? STATUS_FAILED : 0;
}

static void print(const struct stored *stored, const struct request *r,
		  const struct circumstances *here)
{
	const struct cutoffs *cutoffs = &stored->store.cutoffs;

	if (!stored->has_samples) {
		printf("Cutoffs of %s\n\n", stored->store.path);
		cutoffs_text(stdout, cutoffs, &stored->learnt);
		return;
	}
	learnt_text(stdout, &stored->learnt, cutoffs, &stored->circumstances,
		    here);
	learnt_plot(stdout, &stored->learnt, r->plot);
}

static int show(const struct stored *stored, const struct request *r)
{
	struct circumstances here;
	int status = r->svg ? write_picture(stored, r->svg) : 0;

	if (status)
		return status;
	circumstances_read(&here);
	if (r->json)
		status = print_json(stored, &here);
	else
		print(stored, r, &here);
	circumstances_free(&here);
	return status;
}

int daemons_show(const struct subcommand *command, int argc, char **argv)
{
	struct request r = { 0 };
	struct stored stored = { 0 };
	int status = STATUS_FAILED;

	if (!parse_options(command, argc, argv, &r)) {
		status = load(&stored, &r);
		if (status < 0)
			status = show(&stored, &r);
	}
	json_decref(stored.root);
	learn_free(&stored.learnt);
	circumstances_free(&stored.circumstances);
	cutoffs_unload(&stored.store);
	return status;
}
