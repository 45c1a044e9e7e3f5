// SPDX-License-Identifier: GPL-2.0
#include "guests.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/progress.h"
#include "base/util.h"
#include "batches.h"
#include "exact.h"
#include "json.h"
#include "nodes.h"
#include "run/engine/slurm.h"
#include "site.h"

/* Each guest also runs a round that is discarded. */
#define BATCH_MIN	2
_Static_assert(WHATIF_ROUNDS_MIN <= 3 * BATCH_MIN, "3 small batches have enough rounds");
_Static_assert((WHATIF_ROUNDS_MIN + 1) / 2 > BATCH_MIN, "2 batches have enough for 2 guests");

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

static int measure_in_one(struct whatif *w, const struct whatif_guest *g)
{
	const struct whatif_exchange exchange = {
		.command = "whatif", .write = write_request,
		.read = read_answer, .arg = w,
	};

	return whatif_guest_exchange(g, &exchange);
}

/* The question for one batch: it has a fixed number of rounds. */
static struct whatif ask_batch(const struct whatif *w,
			       const struct whatif_batch *batch)
{
	struct whatif asked = *w;

	asked.question.seed = batch->seed;
	asked.question.runs = asked.question.max_runs = batch->rounds;
	return asked;
}

struct several_shown {
	struct progress bar;
	struct progress_log log;
};

struct several {
	const struct whatif *asked;
	struct whatif_site site;
	struct whatif_nodes nodes;
	unsigned int guests;
	struct several_shown shown;
};

static void tell_ready(const struct outcome *out, void *job)
{
	if (out->kind == OUTCOME_EXITED && !out->value)
		job_ready(job);
}

static int run_batch(const struct whatif_batch *batch, void *arg)
{
	const struct several *s = arg;
	struct whatif asked = ask_batch(s->asked, batch);
	const struct whatif_site_job what = {
		.command = "whatif", .write = write_request, .arg = &asked,
		.seed = batch->seed, .keeps_files = !batch->job->number,
	};

	/* Instructions that show progress would count: the answer would depend on --quiet. */
	asked.question.quiet = true;
	s->site.guest->run->ready = tell_ready;
	s->site.guest->run->ready_arg = (void *)batch->job;
	return whatif_site_run(&s->site, batch->job, &what);
}

/* Frees where. */
static void show_batch(struct several_shown *shown, const struct whatif_question *asked,
		       unsigned int done, unsigned int total, char *where)
{
	char *what;

	if (!asked->quiet && !asked->show_output) {
		what = xprintf("whatif: batch %u of at most %u, %s", done + 1, total,
			       where);
		if (isatty(STDERR_FILENO))
			progress_show(&shown->bar, done, total, what);
		else
			progress_log_show(&shown->log, done, total, what);
		free(what);
	}
	free(where);
}

static void show_batches(unsigned int done, unsigned int total, void *arg)
{
	struct several *s = arg;
	const struct slurm *slurm = s->site.slurm;

	show_batch(&s->shown, &s->asked->question, done, total,
		   slurm ? xprintf("%u running on the cluster", slurm_running(slurm)) :
			   xprintf("at most %u at the same time", s->guests));
}

static int watch_site(unsigned int begun, void *arg)
{
	struct several *s = arg;

	return whatif_site_watch(&s->site, begun);
}

static void note_node(unsigned int number, const struct whatif *batch, void *arg)
{
	struct several *s = arg;
	char *node = whatif_site_node(&s->site, number);

	if (node)
		whatif_nodes_add(&s->nodes, node, 0, &batch->samples);
	free(node);
}

/* The fewest rounds come from as many guests as there are. */
static struct whatif_batches native_batches(unsigned int guests)
{
	unsigned int each = (WHATIF_ROUNDS_MIN + guests - 1) / guests;

	return (struct whatif_batches){
		.each = each < BATCH_MIN ? BATCH_MIN : each, .parallel = guests,
		.least = guests > 2 ? 3 : 2, .ahead = true,
	};
}

static struct whatif_batches exact_batches(unsigned int guests, unsigned int cpus)
{
	return (struct whatif_batches){
		.first_shows = true, .each = WHATIF_EXACT_ROUNDS, .parallel = guests,
		.least = cpus > 1 ? WHATIF_EXACT_GUESTS_SMP : 1,
		/* Guests with one CPU seldom need more than one batch. */
		.ahead = cpus > 1,
	};
}

static int measure_in_several(struct whatif *w, const struct whatif_guest *g,
			      unsigned int guests)
{
	struct several s = { .asked = w, .guests = guests };
	struct whatif_batches batches = g->run->deterministic ?
					exact_batches(guests, g->run->cpus) :
					native_batches(guests);
	struct whatif measured;
	int status;

	batches.run = run_batch;
	batches.progress = show_batches;
	batches.watch = g->engine->slurm ? watch_site : NULL;
	batches.taken = note_node;
	batches.arg = &s;
	whatif_site_begin(&s.site, g);
	status = whatif_batches(&w->question, &measured, &batches);
	progress_end(&s.shown.bar);
	whatif_site_end(&s.site);
	if (!status) {
		whatif_nodes_judge(&s.nodes, w->question.precision);
		whatif_free(w);
		*w = measured;
	}
	whatif_nodes_free(&s.nodes);
	return status;
}

int whatif_guests_measure(struct whatif *w, const struct whatif_guest *g)
{
	unsigned int guests = engine_guests(g->engine, g->backend, g->run);
	struct whatif_environment here;
	int status;

	whatif_environment(&here, g->backend->name);
	status = guests > 1 || g->engine->slurm ? measure_in_several(w, g, guests) :
						  measure_in_one(w, g);
	if (!status)
		whatif_guest_environment(g, &w->samples.environment, &here);
	whatif_environment_free(&here);
	return status;
}

int whatif_guests_measure_exactly(struct whatif *w,
				 const struct whatif_guest *g)
{
	unsigned int guests = engine_guests(g->engine, g->backend, g->run);
	char **given = g->run->files;
	int status;

	g->run->files = whatif_exact_files(&w->question, &w->found, given);
	status = measure_in_several(w, g, guests);
	if (!status)
		whatif_environment_exact(&w->samples.environment, g->backend->name);
	whatif_exact_free(g->run->files);
	g->run->files = given;
	return status;
}

void whatif_guests_receive(struct whatif *w)
{
	char *error;

	*w = (struct whatif){ 0 };
	error = whatif_request_read(stdin, w);
	if (error)
		die(STATUS_FAILED, "cannot read the request: %s", error);
}
