// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <linux/tense-samples.h>

#include "commands.h"
#include "base/duration.h"
#include "base/fatal-signals.h"
#include "base/options.h"
#include "base/result-file.h"
#include "profile/candidates.h"
#include "profile/json.h"
#include "profile/native.h"
#include "profile/output.h"
#include "profile/survey-run.h"
#include "profile/words.h"
#include "run/packed/backend-exact.h"
#include "run/engine/engine.h"
#include "run/run-options.h"
#include "run/setup.h"
#include "base/util.h"
#include "whatif/names.h"
#include "whatif/options.h"

#define TIME_S		60
/* By the clocks of emulated guests, which take some 30 times as long. */
#define EXACT_TIME_S	10
#define TIME_MIN_S	1
#define TIME_MAX_S	(7 * 24 * 3600.0)
#define TOP		3
#define TOP_MAX		100
#define TABLE_ROWS	40

enum option_value {
	TIME = 1, FOR, TOP_OPTION, ONLY, EXCLUDE, OBJECT, OUTPUT_JSON,
	OUTPUT_CSV, OUTPUT_REPORT, OUTPUT_FOLDED, OUTPUT_SPEEDSCOPE, FROM, INSIDE,
	SURVEY_ONLY, PERIOD,
};

static const struct option_row options[] = {
	{ "time", "TIME", NULL, TIME,
	  "answer within about this time, such as 60s or 5m; default 60s; with --deterministic this is the time of all guests together, default 10s" },
	{ "only", "LIST", NULL, ONLY,
	  "the functions to compare, [object:]name separated by commas; a glob or /regex/ stands for all that match; default: those that a survey finds" },
	{ "exclude", "LIST", NULL, EXCLUDE, "functions to leave out" },
	{ "object", "LIB", "-f", OBJECT,
	  "compare only functions of this executable or library" },
	{ "top", "N", NULL, TOP_OPTION,
	  "go on until the intervals of the best N functions are apart; default 3" },
	{ "for", "TIME", NULL, FOR,
	  "end each run after this time: for a command that does not end by itself; needs another metric than elapsed" },
	{ "survey-only", NULL, NULL, SURVEY_ONLY,
	  "only show in which functions the program spends its time; predict nothing" },
	{ "survey-period", "TIME", NULL, PERIOD,
	  "take one sample of a thread in each such period of its charged time, 100us to 1s; default 1ms" },
	WHATIF_METRIC_ROWS,
	{ "precision", "P", NULL, WHATIF_PRECISION,
	  "stop running a function when its interval is narrower than P percentage points; default 1" },
	REPEAT_OPTION_ROWS,
	{ "seed", "N", NULL, WHATIF_SEED,
	  "fix the order of the runs (default: random), and with --deterministic also the schedules (default: 1)" },
	{ "json", "[FILE]", "-f", OUTPUT_JSON,
	  "write all samples and results, to standard output or to FILE" },
	{ "csv", "FILE", "-f", OUTPUT_CSV,
	  "write the table as comma-separated values" },
	{ "report", "FILE", "-f", OUTPUT_REPORT,
	  "write a page for a browser: bars, curves, flame graph" },
	{ "folded", "FILE", "-f", OUTPUT_FOLDED,
	  "write the stacks of the survey's samples, for programs that draw flame graphs" },
	{ "speedscope", "FILE", "-f", OUTPUT_SPEEDSCOPE,
	  "write the stacks for https://www.speedscope.app" },
	{ "from", "FILE", "-f", FROM,
	  "run nothing: compute the results from FILE, which an earlier --json wrote" },
	/* In a guest: read a request, and write the answer to this file. */
	{ "inside", "FILE", NULL, INSIDE, NULL },
	ENGINE_OPTION_ROW("local slurm slurm:dir="),
	ENGINE_SLURM_ROWS,
	RUN_OPTION_ROWS,
	OPTIONS_END
};

/* Files of the answer come before ANSWERS, files of the survey from there on. */
enum { JSON, CSV, REPORT, ANSWERS, FOLDED = ANSWERS, SPEEDSCOPE, OUTPUTS };

static int (*const writers[])(FILE *f, const struct profile *p) = {
	[JSON] = profile_json_write, [CSV] = profile_csv,
	[REPORT] = profile_html,
};

struct request {
	struct profile p;
	struct run *run;
	struct run_options options;
	struct engine engine;
	const char *outputs[OUTPUTS];
	struct result_file results[OUTPUTS];
	const struct backend *backend;
	const char *only, *exclude, *object;
	const char *from;
	char **argv;		/* of tense, from the name of the command on */
	uint64_t period_ns;	/* of the survey */
	int of_runs;		/* an option that says something about runs; 0: there is none */
	bool survey_only;
	bool inside;		/* this process runs in a guest */
};

#define misuse(...) options_misuse("profile", __VA_ARGS__)

static void check_text(char *error)
{
	if (error)
		misuse("%s", error);
}

static uint64_t duration(const char *option, const char *text, double least)
{
	double seconds;

	if (parse_duration(text, &seconds))
		misuse("--%s '%s' is not a time like 60s or 5m", option, text);
	if (seconds < least || seconds > TIME_MAX_S)
		misuse("--%s is from %g s to 7 days", option, least);
	return seconds * 1e9;
}

static uint64_t period(const char *text)
{
	double ns;

	if (parse_duration(text, &ns))
		misuse("--survey-period '%s' is not a time like 1ms", text);
	ns = round(ns * 1e9);
	if (ns < TENSE_SAMPLES_PERIOD_MIN || ns > TENSE_SAMPLES_PERIOD_MAX)
		misuse("--survey-period is from 100us to 1s");
	return ns;
}

static void set_own(struct request *q, int c, char *arg)
{
	uint64_t top;

	switch (c) {
	case ENGINE_OPTION:
		check_text(engine_parse(&q->engine, arg));
		break;
	case ENGINE_BATCH:
		check_text(engine_parse_batch(&q->engine, arg));
		break;
	case TIME:
		q->p.asked.time_ns = duration("time", arg, TIME_MIN_S);
		break;
	case FOR:
		q->p.asked.for_ns = duration("for", arg, 0.01);
		break;
	case TOP_OPTION:
		check_text(whatif_parse_whole("top", arg, TOP_MAX, &top));
		q->p.asked.top = top;
		break;
	case ONLY:
		q->only = arg;
		break;
	case EXCLUDE:
		q->exclude = arg;
		break;
	case OBJECT:
		q->object = arg;
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
	case OUTPUT_FOLDED:
		q->outputs[FOLDED] = arg;
		break;
	case OUTPUT_SPEEDSCOPE:
		q->outputs[SPEEDSCOPE] = arg;
		break;
	case SURVEY_ONLY:
		q->survey_only = true;
		break;
	case PERIOD:
		q->period_ns = period(arg);
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
	q->p.question.deterministic = q->run->deterministic;
	q->p.question.percent = q->run->percent;
	q->p.question.choice = q->run->choice;
	q->p.question.window_ns = q->run->window_ns;
}

/* Whether an option means something to an answer that there is already. */
static bool is_for_answer(int c)
{
	return c == OUTPUT_JSON || c == OUTPUT_CSV || c == OUTPUT_REPORT || c == FROM ||
	       c == REPEAT_QUIET;
}

/* Whether a survey has to find the functions. */
static bool needs_survey(const struct request *q)
{
	return q->survey_only || q->outputs[FOLDED] || q->outputs[SPEEDSCOPE] ||
	       (!q->only && !q->from && !q->inside);
}

static void check_options(const struct request *q, bool command)
{
	const struct whatif_metric *metric = &q->p.question.metric;

	if (whatif_check_metric(&q->p.question))
		misuse("%s", whatif_check_metric(&q->p.question));
	whatif_check_input(&q->p.question);
	if (options_on_stdout(q->outputs, OUTPUTS) > 1)
		misuse("only one of --json, --csv, --report, --folded and --speedscope can be written to -, standard output");
	if (q->from && command)
		misuse("--from takes no command");
	if (!q->from && !q->inside && !command)
		misuse("no command: name it last, as in tense profile -- ls");
	if (q->from && needs_survey(q))
		misuse("--from makes no survey: --survey-only, --folded and --speedscope need a command");
	if (q->from && q->of_runs)
		misuse("--%s cannot be used with --from, which runs nothing: drop one of them",
		       options_name(&cmd_profile, q->of_runs));
	if (q->engine.asked && q->survey_only)
		misuse("--engine cannot be used with --survey-only, which compares no functions: drop it");
	if (q->survey_only && (q->outputs[CSV] || q->outputs[REPORT]))
		misuse("--survey-only has no --csv and no --report: use --json, --folded or --speedscope");
	if (q->run->deterministic && q->p.asked.for_ns && needs_survey(q))
		misuse("--deterministic: a survey cannot be ended by the guest's clock, as --for asks: name functions with --only");
	if (q->p.asked.for_ns && !q->survey_only &&
	    (metric->kind == METRIC_ELAPSED || metric->kind == METRIC_CPU))
		misuse("with --for each run takes the same time: say what to measure with --progress, --latency or --metric");
}

/* Returns the index of the command in argv. */
static int parse_options(int argc, char **argv, struct request *q)
{
	bool taken;
	int c;

	while ((c = options_take(&cmd_profile, argc, argv)) != -1) {
		if (!q->of_runs && !is_for_answer(c))
			q->of_runs = c;
		if (run_options_take(&q->options, q->run, c, optarg))
			continue;
		check_text(whatif_take_option(&q->p.question, c,
					      optarg ? optarg : "", &taken));
		if (!taken)
			set_own(q, c, optarg);
	}
	take_experiment(q);
	if (!q->p.asked.time_ns)
		q->p.asked.time_ns = (q->p.question.deterministic ? EXACT_TIME_S : TIME_S) *
				     1000000000ULL;
	check_options(q, optind < argc);
	run_options_check(&q->options, q->run);
	return optind;
}

static int write_as(FILE *f, size_t form, const void *arg)
{
	return writers[form](f, arg);
}

static int answer(struct request *q)
{
	bool data = options_on_stdout(q->outputs, OUTPUTS);
	FILE *f = data ? stderr : stdout;
	int err;

	/* How the runs were shown is no part of the answer. */
	q->p.question.quiet = q->p.question.quiet && q->inside;
	q->p.question.show_output = q->p.question.show_output && q->inside;
	err = result_files_write(q->results, ANSWERS, write_as, &q->p);
	if (!q->inside)
		profile_table(f, &q->p, options_colour(f));
	return err ? STATUS_FAILED : 0;
}

static int write_survey_as(FILE *f, size_t form, const void *arg)
{
	const struct profile_survey *s = arg;

	if (form == SPEEDSCOPE - ANSWERS)
		return survey_write_speedscope(f, &s->survey, s->argv[0]);
	survey_write_folded(f, &s->survey);
	return 0;
}

static int write_survey_json(FILE *f, size_t form, const void *arg)
{
	(void)form;
	return profile_survey_json(f, arg);
}

/* With --survey-only, the command keeps its streams, unless data go to stdout. */
static void take_survey(struct request *q, struct profile_survey *s)
{
	const struct profile_survey_ask ask = {
		.period_ns = q->period_ns,
		.output = !q->survey_only && !q->p.question.show_output ? "/dev/null" :
			  options_on_stdout(q->outputs, OUTPUTS) ? "/dev/stderr" : NULL,
		.own_input = q->survey_only,
		.limited = !q->survey_only || q->p.asked.for_ns,
	};

	run_options_end(&q->options, q->run);
	/* The answer of a profile comes from runs whose files are dropped, too. */
	q->run->discard = !q->survey_only;
	profile_survey_run(s, &ask, &q->p, q->backend, q->run);
	if (result_files_write(q->results + ANSWERS, OUTPUTS - ANSWERS,
			       write_survey_as, s))
		s->status = STATUS_FAILED;
}

/* Returns the command's exit status. */
static int answer_survey(struct request *q)
{
	struct profile_survey s;
	int status;

	take_survey(q, &s);
	status = s.status;
	if (s.taken) {
		if (result_files_write(q->results, 1, write_survey_json, &s))
			status = STATUS_FAILED;
		if (!q->outputs[JSON])
			survey_table(stderr, &s.survey, &s.machine, TABLE_ROWS);
	}
	profile_survey_free(&s);
	return status;
}

/* A command that fails in the survey would fail in each run. */
static void check_survey(const struct request *q, const struct profile_survey *s)
{
	const char *name = q->p.question.argv[0];
	int sig = s->status - STATUS_SIGNAL;

	if (is_fatal_signal(sig))
		die(s->status, "profile: interrupted by signal %d (%s) before any function had run",
		    sig, strsignal(sig));
	if (!s->status || q->p.question.ignore_failure)
		return;
	if (sig > 0)
		warn("profile: %s was ended by signal %d (%s) in the first run, so no further run was made: correct the command, or use --ignore-failure to accept any ending",
		     name, sig, strsignal(sig));
	else
		warn("profile: the exit status of %s was %d in the first run, so no further run was made: correct the command, or use --ignore-failure to accept any status",
		     name, s->status);
	exit(1);
}

static void survey_candidates(struct request *q, const struct profile_filter *filter,
			      bool is_static)
{
	struct profile_survey s;
	uint64_t began = now_ns();

	take_survey(q, &s);
	if (!s.taken && !is_fatal_signal(s.status - STATUS_SIGNAL))
		exit(s.status ? s.status : STATUS_FAILED);
	check_survey(q, &s);
	/* Counted instructions of the survey depend on --quiet, but the answer must not. */
	if (!q->run->deterministic)
		q->p.survey_elapsed_ns = s.survey.elapsed_ns;
	if (s.survey.samples)
		profile_warn_short(&q->p, s.survey.elapsed_ns);
	else if (!q->only)
		exit(STATUS_FAILED);
	if (!q->only)
		profile_candidates_survey(&q->p, &s.survey, filter, is_static);
	/* Not 0: there was a survey. By the guests' clocks, only runs count. */
	q->p.spent_ns = q->run->deterministic ? 1 : now_ns() - began;
	profile_survey_free(&s);
}

static void refuse_survey(const struct profile *p, const char *object)
{
	char *unscalable = profile_unscalable(p);

	if (object)
		die(STATUS_FAILED, "profile: the survey found no function of '%s' that can be scaled: see by --survey-only in which objects the command spends its time",
		    object);
	die(STATUS_FAILED, "profile: the survey found no function that can be scaled: install debug symbols, or name functions with --only%s%s",
	    unscalable ? ". " : "", unscalable ? unscalable : "");
}

static void find_candidates(struct request *q)
{
	bool probes = q->backend->probes, is_static, all = true;
	struct whatif_question *w = &q->p.question;
	struct profile_filter *filter;

	check_text(profile_filter_create(q->exclude, q->object, &filter));
	is_static = whatif_names_static(w, probes);
	/* The functions of the metric. */
	whatif_names(w, &q->p.found, probes);
	if (q->only)
		all = profile_candidates_only(&q->p, q->only, filter, is_static);
	if (all && needs_survey(q))
		survey_candidates(q, filter, is_static);
	profile_filter_free(filter);
	if (!all)
		exit(STATUS_FAILED);
	if (!q->p.nr_candidates && q->only)
		misuse("--exclude and --object leave no function");
	if (!q->p.nr_candidates)
		refuse_survey(&q->p, q->object);
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

static int measure(struct request *q)
{
	const struct whatif_guest guest = guest_of(q);

	if (q->inside)
		return q->p.batch.count ? profile_batch_measure(&q->p, q->run) :
					  profile_native_measure(&q->p, q->run, true);
	if (q->backend != &backend_native)
		return profile_guest_measure(&q->p, &guest);
	if (!backend_native.usable())
		die(STATUS_FAILED, "/dev/tense: %s: use --backend uml",
		    strerror(errno));
	return profile_native_measure(&q->p, q->run, false);
}

/* A printed number may be a time as well as a speed, and nothing in it tells which. */
static void say_direction(const struct whatif_question *w)
{
	if (whatif_is_printed(w) && !w->better && !w->quiet)
		warn("profile: more of the number that the command prints counts as better: use --better less if it is a time");
}

/* An earlier answer in an output file must not change this one. */
static void omit_outputs(struct request *q)
{
	for (int i = 0; i < OUTPUTS; i++)
		if (q->outputs[i] && !result_file_is_stdout(q->outputs[i]))
			run_options_omit(&q->options, q->run, q->outputs[i]);
}

static int run_request(struct request *q)
{
	int status;

	if (q->engine.batch)
		return run_batch(q);
	if (q->inside)
		profile_guest_receive(&q->p);
	if (result_files_check(q->results, q->outputs, OUTPUTS))
		return STATUS_FAILED;
	if (q->from) {
		profile_json_load(&q->p, q->from);
		return answer(q);
	}
	omit_outputs(q);
	q->run->guests = engine_sharers(&q->engine);
	q->backend = q->inside ? &backend_native :
		     backend_choose(q->options.backend, &backend_exact, q->run);
	/* Ends the program early if it is not allowed. */
	engine_guests(&q->engine, q->backend, q->run);
	if (q->survey_only)
		return answer_survey(q);
	if (!q->inside) {
		say_direction(&q->p.question);
		find_candidates(q);
	}
	status = measure(q);
	if (is_fatal_signal(status - STATUS_SIGNAL) && !q->inside)
		warn("profile: interrupted by signal %d (%s) before any function had run",
		     status - STATUS_SIGNAL, strsignal(status - STATUS_SIGNAL));
	if (!status)
		status = answer(q);
	/* The host would drop the answer of a guest that ends with another status than 0. */
	return status || q->inside ? status : q->p.failure_status;
}

static int main_profile(int argc, char **argv)
{
	struct request q = {
		.p.question.precision = 1,
		.p.asked.top = TOP,
	};
	struct run run;
	int status;

	q.run = &run;
	q.argv = argv;
	run_options_begin(&q.options, &run, "profile", argc);
	q.p.question.argv = argv + parse_options(argc, argv, &q);
	whatif_choose_seed(&q.p.question);
	status = run_request(&q);
	profile_free(&q.p);
	run_options_free(&q.options, q.run);
	result_files_free(q.results, OUTPUTS);
	return status;
}

const struct subcommand cmd_profile = {
	.name = "profile",
	.summary = "find the functions that are worth making faster",
	.run = main_profile,
	.usage =
		"Usage: tense profile [OPTION...] -- COMMAND [ARG...]\n"
		"       tense profile --survey-only [OPTION...] -- COMMAND [ARG...]\n"
		"       tense profile --from FILE [OPTION...]\n"
		"\n"
		"Finds by samples in which functions the program spends its time. Then predicts\n"
		"for each of them how much the program gains if it is faster.\n",
	.options = options,
	.operands = "-c",
	.examples =
		"  tense profile -- ./app\n"
		"  tense profile --report app.html -- pigz -c big.tar\n"
		"  tense profile --only parse,hash --for 10s --progress reply -- ./server\n",
	.notes =
		"Exit status: 0 with an answer, also after ^C; 1 if the command failed or called\n"
		"none of the functions; 125 if tense failed or was misused; 126, 127 and 128 + n\n"
		"as of tense run. If a run fails when some function has run, the answer of the\n"
		"earlier runs is printed, and the status is that of the failure.\n",
};
