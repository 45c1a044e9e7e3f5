// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "base/options.h"
#include "base/result-file.h"
#include "run/engine/engine.h"
#include "run/run-options.h"
#include "run/packed/backend-exact.h"
#include "run/setup.h"
#include "base/util.h"
#include "whatif/daemons.h"
#include "whatif/guests.h"
#include "whatif/json.h"
#include "whatif/names.h"
#include "whatif/options.h"
#include "whatif/output.h"
#include "whatif/run.h"
#include "whatif/sweep.h"
#include "whatif/sweep-output.h"

enum option_value {
	FUNC = 1, FASTER, SLOWER, EACH, MAX_RUNS, STATS, OUTPUT_JSON,
	OUTPUT_CSV, OUTPUT_REPORT, OUTPUT_SVG, FROM, RUNS, INSIDE,
};

static const struct option_row options[] = {
	{ "func", "NAME[@P]", NULL, FUNC,
	  "a function to vary, as [object:]name, see tense functions; NAME@P has a fixed speed instead, of P percent; may be repeated" },
	{ "faster", "LIST", NULL, FASTER,
	  "by how many percent the functions without @P take less time: 20%, 10,20,50% or 0..90/10%" },
	{ "slower", "LIST", NULL, SLOWER, "the same for more time" },
	{ "each", NULL, NULL, EACH,
	  "vary one function at a time, not all at once" },
	WHATIF_METRIC_ROWS,
	{ "precision", "P", NULL, WHATIF_PRECISION,
	  "add rounds until the intervals are narrower than P percentage points; default 1" },
	{ "max-runs", "N", NULL, MAX_RUNS,
	  "run each condition at most N times, 5 or more; default 50, or 30 with --deterministic" },
	REPEAT_OPTION_ROWS,
	{ "seed", "N", NULL, WHATIF_SEED,
	  "fix the order of the runs (default: random), and with --deterministic also the schedules (default: 1)" },
	{ "stats", NULL, NULL, STATS,
	  "also print which functions were scaled, how, and at which cost" },
	{ "json", "[FILE]", "-f", OUTPUT_JSON,
	  "write all samples and results, to standard output or to FILE" },
	{ "csv", "FILE", "-f", OUTPUT_CSV,
	  "write the table as comma-separated values" },
	{ "report", "FILE", "-f", OUTPUT_REPORT,
	  "write a page for a browser, with the curve" },
	{ "svg", "FILE", "-f", OUTPUT_SVG,
	  "with a list of --cpus: draw the gain over the number of CPUs" },
	{ "from", "FILE", "-f", FROM,
	  "run nothing: compute the results from FILE, which an earlier --json wrote" },
	{ "runs", "N", NULL, RUNS,
	  "with --deterministic: run each condition exactly N times" },
	/* In a guest: read a request, and write the answer to this file. */
	{ "inside", "FILE", NULL, INSIDE, NULL },
	ENGINE_OPTION_ROW("local slurm slurm:dir="),
	ENGINE_SLURM_ROWS,
	RUN_GUEST_ROWS_CPUS("LIST",
			    "; for several, such as 1,2,4 or 1..64 (powers of two), answer the question once for each"),
	RUN_OTHER_ROWS,
	OPTIONS_END
};

enum { JSON, CSV, REPORT, SVG, OUTPUTS };

/* NULL: none, which check_outputs() refuses. */
static int (*const writers[OUTPUTS])(FILE *f, const struct whatif *w) = {
	[JSON] = whatif_json_write, [CSV] = whatif_csv, [REPORT] = whatif_html,
};

static int (*const sweep_writers[OUTPUTS])(FILE *f, const struct sweep *s) = {
	[JSON] = sweep_json_write, [CSV] = sweep_csv, [SVG] = sweep_svg,
};

struct request {
	struct whatif w;
	struct sweep sweep;	/* has no numbers of CPUs unless it is asked for */
	struct run *run;
	struct run_options options;
	struct engine engine;
	const char *outputs[OUTPUTS];
	struct result_file results[OUTPUTS];
	const struct backend *backend;
	const char *from;
	char **argv;		/* of tense, from the name of the command on */
	int of_runs;		/* an option that says something about runs; 0: there is none */
	bool inside;		/* this process runs in a guest */
	bool stats;
};

#define misuse(...) options_misuse("whatif", __VA_ARGS__)

static void check_text(char *error)
{
	if (error)
		misuse("%s", error);
}

static unsigned int whole(const char *option, const char *text, double max)
{
	uint64_t value;

	check_text(whatif_parse_whole(option, text, max, &value));
	return value;
}

/* Takes an option that says what the runs do. False if it is another option. */
static bool set_run(struct whatif_question *w, int c, const char *arg)
{
	bool taken;

	check_text(whatif_take_option(w, c, arg, &taken));
	if (taken)
		return true;
	switch (c) {
	case FUNC:
		check_text(whatif_parse_func(w, arg));
		return true;
	case FASTER:
	case SLOWER:
		check_text(whatif_parse_cuts(w, arg, c == SLOWER));
		return true;
	case EACH:
		w->each = true;
		return true;
	case MAX_RUNS:
		w->max_runs = whole("max-runs", arg, 10000);
		if (w->max_runs < WHATIF_ROUNDS_MIN)
			misuse("--max-runs is at least %d", WHATIF_ROUNDS_MIN);
		return true;
	case RUNS:
		w->runs = whole("runs", arg, 10000);
		if (w->runs < WHATIF_EXACT_ROUNDS_MIN)
			misuse("--runs is at least %d", WHATIF_EXACT_ROUNDS_MIN);
		return true;
	default:
		return false;
	}
}

/* A list of one number is no sweep. */
static void set_cpus(struct request *q, const char *text)
{
	struct sweep_cpus *cpus = &q->sweep.cpus;
	char *error;

	cpus->count = 0;
	if (!setup_is_cpus_list(text)) {
		setup_cpus(q->run, text);
		return;
	}
	error = sweep_cpus_parse(cpus, text, backend_qemu.cpus_max);
	if (error)
		misuse("--cpus %s: %s", text, error);
	q->run->cpus = cpus->list[cpus->count - 1];
	if (cpus->count == 1)
		cpus->count = 0;
}

/* Whether an option means something to an answer that there is already. */
static bool is_for_answer(int c)
{
	return c == STATS || c == OUTPUT_JSON || c == OUTPUT_CSV || c == OUTPUT_REPORT ||
	       c == OUTPUT_SVG || c == FROM || c == REPEAT_QUIET;
}

/* Takes an option that says where the answer goes or where the runs are. */
static void set_rest(struct request *q, int c, char *arg)
{
	switch (c) {
	case ENGINE_OPTION:
		check_text(engine_parse(&q->engine, arg));
		break;
	case ENGINE_BATCH:
		check_text(engine_parse_batch(&q->engine, arg));
		break;
	case STATS:
		q->stats = true;
		break;
	case OUTPUT_JSON:
		q->outputs[JSON] = arg ? arg : "-";
		break;
	case OUTPUT_CSV:
		q->outputs[CSV] = arg;
		break;
	case OUTPUT_REPORT:
		q->outputs[REPORT] = arg;
		break;
	case OUTPUT_SVG:
		q->outputs[SVG] = arg;
		break;
	case FROM:
		q->from = arg;
		break;
	case INSIDE:
		q->inside = true;
		q->outputs[JSON] = arg;
		break;
	}
}

static void take_experiment(struct request *q)
{
	q->w.question.deterministic = q->run->deterministic;
	q->w.question.percent = q->run->percent;
	q->w.question.choice = q->run->choice;
	q->w.question.window_ns = q->run->window_ns;
}

static void check_outputs(const struct request *q)
{
	if (options_on_stdout(q->outputs, OUTPUTS) > 1)
		misuse("only one of --json, --csv, --report and --svg can be written to -, standard output");
	if (q->sweep.cpus.count && q->outputs[REPORT])
		misuse("--report is for one number of CPUs: use --svg for a picture of the list, or --report with --from and one answer of its --json");
	if (!q->sweep.cpus.count && q->outputs[SVG] && q->from)
		misuse("--svg: %s has an answer for one number of CPUs: use --report, or what --json wrote for a list of --cpus",
		       q->from);
	if (!q->sweep.cpus.count && q->outputs[SVG])
		misuse("--svg draws several numbers of CPUs: use it with a list such as --cpus 1,2,4, or use --report");
}

/* Returns the index of the command in argv. */
static int parse_options(int argc, char **argv, struct request *q)
{
	const char *wrong;
	int c;

	while ((c = options_take(&cmd_whatif, argc, argv)) != -1) {
		if (!q->of_runs && !is_for_answer(c))
			q->of_runs = c;
		if (c == RUN_CPUS)
			set_cpus(q, optarg);
		else if (!run_options_take(&q->options, q->run, c, optarg) &&
			 !set_run(&q->w.question, c, optarg ? optarg : ""))
			set_rest(q, c, optarg);
	}
	take_experiment(q);
	if (q->from && optind < argc)
		misuse("--from takes no command");
	if (q->from && q->of_runs)
		misuse("--%s cannot be used with --from, which runs nothing: drop one of them",
		       options_name(&cmd_whatif, q->of_runs));
	if (!q->from)
		check_outputs(q);
	if (!q->from && !q->inside && optind == argc)
		misuse("no command: name it last, as in tense whatif --func malloc --faster 20%% -- ls");
	run_options_check(&q->options, q->run);
	wrong = whatif_limit_runs(&q->w.question);
	if (!wrong)
		wrong = whatif_check_metric(&q->w.question);
	whatif_check_input(&q->w.question);
	if (wrong)
		misuse("%s", wrong);
	return optind;
}

static int write_as(FILE *f, size_t form, const void *arg)
{
	return writers[form](f, arg);
}

static int write_sweep_as(FILE *f, size_t form, const void *arg)
{
	return sweep_writers[form](f, arg);
}

static int answer(struct request *q)
{
	bool data = options_on_stdout(q->outputs, OUTPUTS);
	FILE *f = data ? stderr : stdout;
	int err;

	whatif_conclude(&q->w);
	err = result_files_write(q->results, OUTPUTS, write_as, &q->w);
	if (!q->inside)
		whatif_table(f, &q->w, options_colour(f), q->stats);
	return err ? STATUS_FAILED : 0;
}

/* If a measurement failed, shows the answers before it, and writes no file. */
static int answer_sweep(struct request *q, int status)
{
	bool data = options_on_stdout(q->outputs, OUTPUTS);
	FILE *f = data ? stderr : stdout;
	int err = 0;

	if (!status)
		err = result_files_write(q->results, OUTPUTS, write_sweep_as,
					 &q->sweep);
	if (q->sweep.count)
		sweep_table(f, &q->sweep, options_colour(f), q->stats);
	return err ? STATUS_FAILED : status;
}

/* An earlier answer in an output file must not change this one. */
static void omit_outputs(struct request *q)
{
	for (int i = 0; i < OUTPUTS; i++)
		if (q->outputs[i] && !result_file_is_stdout(q->outputs[i]))
			run_options_omit(&q->options, q->run, q->outputs[i]);
}

static struct whatif_guest guest_of(struct request *q)
{
	return (struct whatif_guest){
		.backend = q->backend, .options = &q->options, .run = q->run,
		.engine = &q->engine, .argv = q->argv,
	};
}

/* On a node of a cluster. */
static int run_batch(struct request *q)
{
	struct whatif_guest guest = guest_of(q);

	return whatif_guest_batch(&guest);
}

static int measure(struct request *q, struct run *run)
{
	const struct whatif_guest guest = guest_of(q);
	struct whatif_watch *watch = NULL;
	int status;

	/* The clocks of other guests are not this machine's. */
	if (!run->deterministic && !q->inside && q->backend != &backend_qemu &&
	    !q->engine.slurm)
		watch = whatif_watch_begin(q->stats);
	if (run->deterministic) {
		omit_outputs(q);
		status = whatif_guests_measure_exactly(&q->w, &guest);
	} else if (q->backend != &backend_native) {
		status = whatif_guests_measure(&q->w, &guest);
	} else if (backend_native.usable()) {
		status = whatif_native_measure(&q->w, run, q->inside);
	} else {
		die(STATUS_FAILED, "/dev/tense: %s: use --backend uml",
		    strerror(errno));
	}
	if (whatif_watch_end(watch, status ? NULL : &q->w.samples))
		whatif_answer_free(&q->w.answer);
	if (status > STATUS_SIGNAL && !q->inside)
		warn("whatif: interrupted by signal %d (%s): rounds that did not come to their end have no answer",
		     status - STATUS_SIGNAL, strsignal(status - STATUS_SIGNAL));
	return status;
}

static int prepare_and_measure(struct request *q, struct run *run)
{
	run->deterministic = q->w.question.deterministic && !q->inside;
	run->guests = engine_sharers(&q->engine);
	q->backend = q->inside ? &backend_native :
		     backend_choose(q->options.backend, &backend_exact, run);
	/* Ends the program early if it is not allowed. */
	engine_guests(&q->engine, q->backend, run);
	if (!q->inside)
		whatif_names(&q->w.question, &q->w.found, q->backend->probes);
	return measure(q, run);
}

static int measure_on(unsigned int cpus, void *arg)
{
	struct request *q = arg;

	q->run->cpus = cpus;
	return prepare_and_measure(q, q->run);
}

/*
 * Ends the program if the back end cannot have the last number of CPUs. Otherwise the user
 * would know only after the runs on fewer CPUs.
 */
static void check_last_cpus(const struct request *q)
{
	backend_choose(q->options.backend, &backend_exact, q->run);
}

static int run_sweep(struct request *q)
{
	const struct sweep_runner runner = {
		.measure = measure_on, .w = &q->w, .arg = q,
		.quiet = q->w.question.quiet,
	};

	check_last_cpus(q);
	return answer_sweep(q, sweep_measure(&q->sweep, &runner));
}

/* The file has one answer, or those of a sweep. */
static int answer_from(struct request *q)
{
	sweep_json_load(&q->sweep, q->from);
	check_outputs(q);
	if (q->sweep.cpus.count)
		return answer_sweep(q, 0);
	whatif_free(&q->w);
	q->w = q->sweep.answers[0];
	q->sweep.count = 0;
	return answer(q);
}

static int run_request(struct request *q, struct run *run)
{
	int status;

	if (q->engine.batch)
		return run_batch(q);
	if (q->inside)
		whatif_guests_receive(&q->w);
	else if (!q->from)
		whatif_plan(&q->w.question, &q->w.plan);
	if (result_files_check(q->results, q->outputs, OUTPUTS))
		return STATUS_FAILED;
	if (q->from)
		return answer_from(q);
	if (q->sweep.cpus.count)
		return run_sweep(q);
	status = prepare_and_measure(q, run);
	return status ? status : answer(q);
}

static void request_free(struct request *q)
{
	whatif_free(&q->w);
	sweep_free(&q->sweep);
	run_options_free(&q->options, q->run);
	result_files_free(q->results, OUTPUTS);
}

static int main_whatif(int argc, char **argv)
{
	struct request q = { .w.question.precision = 1 };
	struct run run;
	int status;

	q.run = &run;
	q.argv = argv;
	run_options_begin(&q.options, &run, "whatif", argc);
	q.w.question.argv = argv + parse_options(argc, argv, &q);
	whatif_choose_seed(&q.w.question);
	status = run_request(&q, &run);
	request_free(&q);
	return status;
}

const struct subcommand cmd_whatif = {
	.name = "whatif",
	.summary = "predict how a program changes if a function is faster",
	.run = main_whatif,
	.usage =
		"Usage: tense whatif --func NAME... --faster LIST [OPTION...] -- COMMAND [ARG...]\n"
		"       tense whatif --from FILE [OPTION...]\n"
		"\n"
		"Predicts how a program changes if one of its functions takes less or more time.\n",
	.options = options,
	.operands = "-c",
	.examples =
		"  tense whatif --func libz:deflate --faster 20% -- pigz -c big.tar\n"
		"  tense whatif --func parse --faster 10..40/10% --report a.html -- ./app\n"
		"  tense whatif --func parse --faster 30% --latency recv,send -- ./server\n",
	.notes =
		"Exit status: 0 with an answer, whatever its verdicts; 1 if the command failed or\n"
		"never called the function; 125 if tense failed or was misused; 126, 127 and\n"
		"128 + n as of tense run.\n",
};
