// SPDX-License-Identifier: GPL-2.0
#include "guest.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/paths.h"
#include "base/stream.h"
#include "run/packed/backend-exact.h"
#include "run/setup.h"
#include "base/util.h"
#include "batches.h"
#include "exact.h"
#include "json.h"

/*
 * Makes what write() writes the standard input of the tense in a guest. The command
 * gets another standard input.
 */
static void send_request(struct run *run,
			 int (*write)(FILE *f, const void *arg),
			 const void *arg)
{
	int fd = memfd_create("request", MFD_CLOEXEC);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "w");

	if (!f || write(f, arg) || lseek(fd, 0, SEEK_SET) ||
	    dup2(fd, STDIN_FILENO) < 0)
		die(STATUS_FAILED, "cannot send the request to the guest: %s",
		    strerror(errno));
	fclose(f);
	run->closed[STDIN_FILENO] = false;
}

void whatif_guest_receive(struct whatif *w)
{
	char *error;

	*w = (struct whatif){ 0 };
	error = whatif_request_read(stdin, w);
	if (error)
		die(STATUS_FAILED, "cannot read the request: %s", error);
}

/* Runs tense in a guest, which writes its answer to the file. */
static int run_inside(const struct whatif_guest *g, const char *command,
		      const char *answer)
{
	char *argv[] = { find_part("bin/tense"), (char *)command, "--inside",
			 (char *)answer, NULL };
	struct outcome out;
	void *stats;
	int status;

	g->run->argv = argv;
	g->run->real = true;
	g->run->device = true;
	g->backend->run(g->run, &out, &stats);
	free(stats);
	status = setup_status(&out, argv);
	free(argv[0]);
	return status;
}

/* The back end lets go of standard output as the command does. */
static int run_with_output(const struct whatif_guest *g, const char *command,
			   const char *answer)
{
	int output = stream_divert(STDOUT_FILENO, 0);
	int status = run_inside(g, command, answer);

	stream_bring_back(STDOUT_FILENO, output);
	return status;
}

int whatif_guest_exchange(const struct whatif_guest *g,
			  const struct whatif_exchange *exchange)
{
	char *dir = xprintf("%s/tense-XXXXXX", find_temporary()), *answer;
	int status;

	if (!mkdtemp(dir))
		die(STATUS_FAILED, "%s: %s", dir, strerror(errno));
	answer = xprintf("%s/result.json", dir);
	run_options_writable(g->options, g->run, xstrdup(dir));
	run_options_end(g->options, g->run);
	send_request(g->run, exchange->write, exchange->arg);
	status = run_with_output(g, exchange->command, answer);
	if (!status)
		exchange->read(answer, exchange->arg);
	unlink(answer);
	rmdir(dir);
	free(answer);
	free(dir);
	return status;
}

static int write_request(FILE *f, const void *arg)
{
	const struct whatif *w = arg;

	return whatif_request_write(f, &w->question, &w->found, &w->plan);
}

static void read_answer(const char *path, void *arg)
{
	struct whatif *w = arg, measured = { 0 };

	whatif_json_load(&measured, path);
	whatif_free(w);
	*w = measured;
}

int whatif_guest_measure(struct whatif *w, const struct whatif_guest *g)
{
	const struct whatif_exchange exchange = {
		.command = "whatif", .write = write_request,
		.read = read_answer, .arg = w,
	};
	struct whatif_environment here;
	int status;

	whatif_environment(&here, g->backend->name);
	status = whatif_guest_exchange(g, &exchange);
	if (!status)
		whatif_environment_below(&w->samples.environment, &here);
	whatif_environment_free(&here);
	return status;
}

/* Standard output carries the guest's answer; standard error is the user's. */
static void redirect_output(struct run *run, int answer)
{
	if (dup2(answer, STDOUT_FILENO) < 0)
		die(STATUS_FAILED, "cannot redirect standard output: %s",
		    strerror(errno));
	run->closed[STDOUT_FILENO] = false;
}

struct exactly {
	const struct whatif *asked;
	const struct whatif_guest *g;
};

static void tell_ready(const struct outcome *out, void *job)
{
	if (out->kind == OUTCOME_EXITED && !out->value)
		job_ready(job);
}

static int run_batch(const struct whatif_batch *batch, void *arg)
{
	const struct exactly *e = arg;
	struct run *run = e->g->run;
	struct whatif asked = *e->asked;

	asked.question.seed = batch->seed;
	asked.question.runs = asked.question.max_runs = batch->rounds;
	/* Only the first batch shows progress. */
	asked.question.quiet = asked.question.quiet || batch->job->number;
	send_request(run, write_request, &asked);
	run->seed = batch->seed;
	run->discard = batch->job->number;
	run->ready = tell_ready;
	run->ready_arg = (void *)batch->job;
	redirect_output(run, batch->job->answer);
	return run_inside(e->g, "whatif", "-");
}

int whatif_guest_measure_exactly(struct whatif *w,
				 const struct whatif_guest *g)
{
	struct run *run = g->run;
	struct exactly exactly = { .asked = w, .g = g };
	const struct whatif_batches batches = {
		.run = run_batch, .arg = &exactly,
		.each = WHATIF_EXACT_ROUNDS,
		.parallel = setup_guests(run),
		.least = run->cpus > 1 ? WHATIF_EXACT_GUESTS_SMP : 1,
		/* Guests with one CPU seldom need more than one batch. */
		.ahead = run->cpus > 1,
	};
	char **given = run->files;
	struct whatif measured;
	int status;

	run_options_end(g->options, run);
	run->files = whatif_exact_files(&w->question, &w->found, given);
	backend_exact_prepare();
	status = whatif_batches(&w->question, &measured, &batches);
	if (!status) {
		whatif_environment_exact(&measured.samples.environment,
					 g->backend->name);
		whatif_free(w);
		*w = measured;
	}
	whatif_exact_free(run->files);
	run->files = given;
	return status;
}
