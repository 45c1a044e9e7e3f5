// SPDX-License-Identifier: GPL-2.0
#include "guest.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/paths.h"
#include "run/packed/backend-exact.h"
#include "run/setup.h"
#include "base/util.h"
#include "batches.h"
#include "exact.h"
#include "json.h"

/*
 * Makes the request the standard input of the tense in a guest. The command
 * gets another standard input. batch is NULL without --deterministic.
 */
static void send_request(const struct whatif *w, struct run *run,
			 const struct whatif_batch *batch)
{
	struct whatif_question asked = w->question;
	int fd = memfd_create("request", MFD_CLOEXEC);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "w");

	if (batch) {
		asked.seed = batch->seed;
		asked.runs = asked.max_runs = batch->rounds;
		/* Only the first batch shows progress. */
		asked.quiet = asked.quiet || batch->number;
	}
	if (!f || whatif_request_write(f, &asked, &w->found, &w->plan) ||
	    lseek(fd, 0, SEEK_SET) || dup2(fd, STDIN_FILENO) < 0)
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
static int run_inside(const struct whatif_guest *g, char *answer)
{
	char *argv[] = { find_part("bin/tense"), "whatif", "--inside", answer,
			 NULL };
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
static int run_with_output(const struct whatif_guest *g, char *answer)
{
	int output = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	int status = run_inside(g, answer);

	if (output >= 0)
		dup2(output, STDOUT_FILENO);
	close(output);
	return status;
}

int whatif_guest_measure(struct whatif *w, const struct whatif_guest *g)
{
	char *dir = xprintf("%s/tense-XXXXXX", find_temporary()), *json;
	struct whatif_environment here;
	struct whatif measured = { 0 };
	int status;

	if (!mkdtemp(dir))
		die(STATUS_FAILED, "%s: %s", dir, strerror(errno));
	json = xprintf("%s/result.json", dir);
	g->options->dirs[g->options->nr_dirs++] = xstrdup(dir);
	run_options_end(g->options, g->run);
	whatif_environment(&here, g->backend->name);
	send_request(w, g->run, NULL);
	status = run_with_output(g, json);
	if (!status) {
		whatif_json_load(&measured, json);
		whatif_environment_below(&measured.samples.environment, &here);
		whatif_free(w);
		*w = measured;
	}
	unlink(json);
	rmdir(dir);
	whatif_environment_free(&here);
	free(json);
	free(dir);
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

static void tell_ready(const struct outcome *out, void *batch)
{
	if (out->kind == OUTCOME_EXITED && !out->value)
		whatif_batch_ready(batch);
}

static int run_batch(const struct whatif_batch *batch, void *arg)
{
	const struct exactly *e = arg;
	struct run *run = e->g->run;

	send_request(e->asked, run, batch);
	run->seed = batch->seed;
	run->discard = batch->number;
	run->ready = tell_ready;
	run->ready_arg = (void *)batch;
	redirect_output(run, batch->answer);
	return run_inside(e->g, "-");
}

int whatif_guest_measure_exactly(struct whatif *w,
				 const struct whatif_guest *g)
{
	struct run *run = g->run;
	struct exactly exactly = { .asked = w, .g = g };
	const struct whatif_batches batches = {
		.run = run_batch, .arg = &exactly,
		.parallel = setup_guests(run),
		.least = run->cpus > 1 ? WHATIF_EXACT_GUESTS_SMP : 1,
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
