// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "base/options.h"
#include "base/result-file.h"
#include "run/memory.h"
#include "run/run-options.h"
#include "run/packed/backend-exact.h"
#include "run/setup.h"
#include "run/trace-file.h"
#include "trace/model.h"
#include "trace/output.h"
#include "base/util.h"

enum { AXIS = 1, BUFFER, JSON, QUIET };

static const struct option_row options[] = {
	{ "-o", "FILE", "-f", 'o',
	  "write a picture if FILE ends with .svg, or a trace for Perfetto or chrome://tracing if it ends with .json; may be repeated; default trace.svg and trace.json" },
	{ "axis", "WHICH", "real virtual", AXIS,
	  "time axis of .json files: real (default) or virtual" },
	{ "buffer", "SIZE", NULL, BUFFER,
	  "memory for the events of each CPU, in MiB, or with M or G behind the number" },
	{ "json", "FILE", "-f", JSON, "write the table of threads to FILE as JSON" },
	{ "quiet", NULL, NULL, QUIET, "print neither the table of threads nor the names of the files" },
	RUN_OPTION_ROWS,
	OPTIONS_END
};

enum output_kind { OUTPUT_SVG, OUTPUT_CHROME, OUTPUT_TABLE };

struct output {
	enum output_kind kind;
	const char *name;
	struct result_file file;
};

struct options {
	struct run_options run;
	struct output *outputs;
	size_t nr_outputs;
	uint64_t buffer_kib;
	bool virtual_axis;
	bool quiet;
};

static void add_output(struct options *o, enum output_kind kind,
		       const char *name)
{
	o->outputs[o->nr_outputs++] = (struct output){
		.kind = kind, .name = name,
	};
}

static bool ends_with(const char *text, const char *end)
{
	size_t len = strlen(text), most = strlen(end);

	return len > most && !strcmp(text + len - most, end);
}

static void add_drawing(struct options *o, const char *name)
{
	if (ends_with(name, ".svg"))
		add_output(o, OUTPUT_SVG, name);
	else if (ends_with(name, ".json"))
		add_output(o, OUTPUT_CHROME, name);
	else
		run_options_misuse(&o->run, "-o %s: a name that ends with .svg or .json is needed",
				   name);
}

static void set_axis(struct options *o, const char *name)
{
	o->virtual_axis = !strcmp(name, "virtual");
	if (!o->virtual_axis && strcmp(name, "real") != 0)
		run_options_misuse(&o->run, "--axis '%s' is neither real nor virtual", name);
}

/* Returns the index of the command in argv. */
static int parse_options(int argc, char **argv, struct options *o,
			 struct run *run)
{
	int c;

	while ((c = options_take(&cmd_trace, argc, argv)) != -1) {
		if (run_options_take(&o->run, run, c, optarg))
			continue;
		switch (c) {
		case 'o':
			add_drawing(o, optarg);
			break;
		case AXIS:
			set_axis(o, optarg);
			break;
		case BUFFER:
			o->buffer_kib = memory_parse_size("--buffer",
							  optarg, 1, 65536)
					<< 10;
			break;
		case JSON:
			add_output(o, OUTPUT_TABLE, optarg);
			break;
		case QUIET:
			o->quiet = true;
			break;
		}
	}
	if (optind == argc)
		run_options_misuse(&o->run, "no command: name it last, as in tense trace -- ls");
	return optind;
}

/* A path that cannot be written is better found before the run. */
static void open_outputs(struct options *o, struct run *run)
{
	bool drawn = false;

	for (size_t i = 0; i < o->nr_outputs; i++)
		drawn = drawn || o->outputs[i].kind != OUTPUT_TABLE;
	if (!drawn) {
		add_output(o, OUTPUT_SVG, "trace.svg");
		add_output(o, OUTPUT_CHROME, "trace.json");
	}
	for (size_t i = 0; i < o->nr_outputs; i++) {
		if (result_file_check(&o->outputs[i].file,
				      o->outputs[i].name))
			exit(STATUS_FAILED);
		run_options_omit(&o->run, run, o->outputs[i].name);
	}
}

/* 0, or -1 after a message. */
static int write_output(struct output *output, const struct model *m,
			const struct trace_about *about)
{
	FILE *f = result_file_begin(&output->file);
	int err = 0;

	if (!f)
		return -1;
	switch (output->kind) {
	case OUTPUT_SVG:
		trace_svg(f, m, about);
		break;
	case OUTPUT_CHROME:
		trace_chrome(f, m, about);
		break;
	default:
		err = trace_table_json(f, m, about);
		break;
	}
	return result_file_end(&output->file, err);
}

/* The size per CPU: it holds minutes of a program that computes. */
static uint64_t default_buffer(const struct backend *backend,
			       const struct run *run)
{
	unsigned int cpus = backend->cpus_max ? run->cpus : sysconf(_SC_NPROCESSORS_CONF);
	uint64_t mib = 128 / cpus;

	return (mib > 32 ? 32 : mib < 2 ? 2 : mib) << 10;
}

static void tell_lost(const struct model *m)
{
	if (m->lost)
		warn("%" PRIu64 " events were lost, and the end of the trace is missing: use a larger --buffer",
		     m->lost);
}

/* Names the files, two of which the user may not have named, and their readers. */
static void tell_output(const struct output *output)
{
	static const char *const readers[] = {
		[OUTPUT_SVG] = "the picture; any browser shows it",
		[OUTPUT_CHROME] = "the trace; open it in https://ui.perfetto.dev",
		[OUTPUT_TABLE] = "the table",
	};

	if (!result_file_is_stdout(output->name))
		fprintf(stderr, "  %s: %s\n", output->name,
			readers[output->kind]);
}

/* False if something could not be written. */
static bool write_outputs(struct options *o, const struct model *m,
			  const struct trace_about *about)
{
	bool good = true;

	if (!o->quiet)
		trace_table(stderr, m, about);
	for (size_t i = 0; i < o->nr_outputs; i++) {
		if (write_output(&o->outputs[i], m, about))
			good = false;
		else if (!o->quiet)
			tell_output(&o->outputs[i]);
	}
	if (!o->quiet)
		fputc('\n', stderr);
	tell_lost(m);
	return good;
}

/* Returns false, having said why, if the recording is of no use. */
static bool show(struct options *o, const struct trace_file *file,
		 const void *stats, const struct trace_about *about)
{
	const void *data;
	struct trace trace;
	struct model model;
	size_t size;
	char *error;
	bool good;

	errno = file->error;
	data = file->error ? NULL : trace_file_map(file, &size);
	if (!data) {
		warn("the recording: %s", strerror(errno));
		return false;
	}
	error = trace_read(&trace, data, size);
	if (error) {
		warn("%s", error);
		free(error);
		return false;
	}
	model_build(&model, &trace, stats);
	trace_free(&trace);
	good = write_outputs(o, &model, about);
	model_free(&model);
	return good;
}

static int run_command(struct run *run, struct options *o)
{
	const struct backend *backend = backend_choose(o->run.backend, &backend_exact, run);
	struct trace_about about = {
		.argv = run->argv, .backend = backend->name,
		.machine = setup_machine(run, backend),
		.virtual_axis = o->virtual_axis,
	};
	struct trace_file file;
	struct outcome out;
	void *stats;

	open_outputs(o, run);
	trace_file_open(&file, o->buffer_kib ? o->buffer_kib :
					       default_buffer(backend, run));
	run->trace = &file;
	run->stats = true;
	backend->run(run, &out, &stats);
	about.status = setup_status(&out, run->argv);
	about.real_ns = out.real_ns;
	/* A guest that a signal ended has recorded nothing. */
	if (out.kind <= OUTCOME_SIGNALED && stats && !show(o, &file, stats, &about))
		about.status = STATUS_FAILED;
	trace_file_close(&file);
	free(stats);
	return about.status;
}

static void close_outputs(struct options *o)
{
	for (size_t i = 0; i < o->nr_outputs; i++)
		result_file_free(&o->outputs[i].file);
	free(o->outputs);
}

static int main_trace(int argc, char **argv)
{
	struct options o = { 0 };
	struct run run;
	int status;

	run_options_begin(&o.run, &run, "trace", argc);
	/* At most as many as there are arguments, and the two by default. */
	o.outputs = xmalloc((argc + 2) * sizeof(*o.outputs));
	run.argv = argv + parse_options(argc, argv, &o, &run);
	run_options_end(&o.run, &run);
	status = run_command(&run, &o);
	close_outputs(&o);
	run_options_free(&o.run, &run);
	return status;
}

const struct subcommand cmd_trace = {
	.name = "trace",
	.summary = "run a program in virtual time and draw its threads",
	.run = main_trace,
	.usage =
		"Usage: tense trace [OPTION...] [--] COMMAND [ARGUMENT...]\n"
		"\n"
		"Runs a command in virtual time, as tense run does, and draws its threads: as a\n"
		"picture, and as a trace for Perfetto (https://ui.perfetto.dev).\n",
	.options = options,
	.operands = "-c",
	.examples =
		"  tense trace -o app.svg -- ./app\n"
		"  tense trace --axis virtual -o app.json -- ./app\n",
	.notes =
		"Exit status: as of tense run.\n",
};
