// SPDX-License-Identifier: GPL-2.0
#include "guests.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fatal-signals.h"
#include "base/util.h"
#include "json.h"
#include "measure.h"
#include "run/jobs.h"
#include "show.h"
#include "whatif/exact.h"
#include "whatif/nodes.h"
#include "whatif/site.h"

/* How often the progress is shown anew, and slurm_watch() called. */
#define SHOW_MS	500
/*
 * Where instructions are counted, a stage boots one guest for each EXACT_RUNS runs, but at
 * most EXACT_GUESTS guests; then each makes more runs.
 */
#define EXACT_RUNS	4
#define EXACT_GUESTS	200
/* working_now() starts here, so that subtracting the survey's time stays positive. */
#define EXACT_START_NS	(1ULL << 60)

struct guests {
	struct whatif_site site;
	struct whatif_nodes nodes;
	unsigned int count;
	struct profile_show show;
	const struct profile *p;
	uint64_t start;
	uint64_t worked_ns;	/* by the clocks of guests that count instructions */
	uint64_t queued_ns;	/* for which all jobs that were not done waited in the queue */
	char *doing;
	bool has_environment;
};

/* The argument of a job. The job is a child process and has a copy. */
struct part {
	const struct guests *guests;
	const struct profile *p;
	const struct profile_batch *batch;
	uint64_t time_ns;
	unsigned int jobs;
};

/*
 * Time in the queue does not count towards --time. Where instructions are counted, only
 * time of the guests counts, so that the answer does not depend on the host.
 */
static uint64_t working_now(void *arg)
{
	const struct guests *g = arg;

	return g->site.exact ? EXACT_START_NS + g->worked_ns : now_ns() - g->queued_ns;
}

static int write_request(FILE *f, const void *arg)
{
	return profile_json_write(f, arg);
}

/* Returns this job's runs of the batch: every jobs-th, from the job's number on. */
static struct profile_batch batch_of(const struct part *part, unsigned int number)
{
	const struct profile_batch *all = part->batch;
	struct profile_batch batch = {
		.runs = xmalloc((all->count + 1) * sizeof(*batch.runs)),
		.round = all->round,
		.order = all->order + number,
		.succeeded = all->succeeded,
	};

	for (size_t i = number; i < all->count; i += part->jobs)
		batch.runs[batch.count++] = all->runs[i];
	return batch;
}

/* Reads the answer of a job. Returns an error, which the caller frees, or NULL. */
static char *read_answer(int fd, struct profile *answer)
{
	FILE *f = fdopen(fd, "r");
	char *error;

	if (!f)
		die(STATUS_FAILED, "fdopen: %s", strerror(errno));
	rewind(f);
	error = profile_json_read(f, answer);
	fclose(f);
	return error;
}

/* The status of a run that failed, whose guest has left the samples of earlier runs. */
static int failure_of(const struct job *job)
{
	struct profile answer = { 0 };
	char *error = read_answer(fcntl(job->answer, F_DUPFD_CLOEXEC, 0), &answer);
	int status = answer.failure_status;

	/* take() tells an error. */
	free(error);
	profile_free(&answer);
	return status;
}

/* The guest gets the groups, but not the samples of earlier batches. */
static int run_part(const struct job *job, void *arg)
{
	const struct part *part = arg;
	struct profile asked = *part->p;
	int status;
	struct whatif_site_job what = {
		.command = "profile", .write = write_request,
		.seed = asked.question.seed + part->guests->site.first_batch + job->number,
	};

	asked.groups = xmalloc((asked.nr_groups + 1) * sizeof(*asked.groups));
	memcpy(asked.groups, part->p->groups,
	       asked.nr_groups * sizeof(*asked.groups));
	for (size_t i = 0; i < asked.nr_groups; i++)
		asked.groups[i].w.samples = (struct whatif_samples){ 0 };
	asked.answer = (struct profile_answer){ 0 };
	/* Only the report needs these. */
	asked.waits = NULL;
	asked.stacks = NULL;
	asked.batch = batch_of(part, job->number);
	/* The guest's clock starts now, so that this much time is left. */
	asked.spent_ns = part->guests->site.exact ? 1 :
			 asked.asked.time_ns - part->time_ns;
	asked.question.quiet = true;
	what.arg = &asked;
	status = whatif_site_run(&part->guests->site, job, &what);
	return status ? status : failure_of(job);
}

static void append(struct whatif_samples *to, const struct whatif_sample *s,
		   unsigned int order)
{
	to->list = xrealloc(to->list, (to->count + 1) * sizeof(*to->list));
	to->list[to->count] = *s;
	to->list[to->count++].order = order;
}

static void swap_patches(struct whatif_samples *a, struct whatif_samples *b)
{
	struct whatif_samples old = *a;

	a->patches = b->patches;
	a->nr_patches = b->nr_patches;
	b->patches = old.patches;
	b->nr_patches = old.nr_patches;
}

/* A hostile guest may answer another question, whose conditions have no row in the race. */
static bool fits(const struct profile *p, const struct profile *from)
{
	if (from->nr_groups != p->nr_groups)
		return false;
	for (size_t i = 0; i < p->nr_groups; i++)
		if (from->groups[i].w.plan.nr_conditions !=
		    p->groups[i].w.plan.nr_conditions)
			return false;
	return true;
}

/* Takes the samples of the batch's round: another round only warms up a guest. */
static void take_samples(struct guests *g, struct profile *p, struct profile *from,
			 const struct profile_batch *batch,
			 struct profile_made *made)
{
	for (size_t i = 0; i < p->nr_groups; i++) {
		struct whatif_samples *samples = &from->groups[i].w.samples;
		struct whatif_samples *to = &p->groups[i].w.samples;

		for (size_t k = 0; k < samples->count; k++) {
			if (samples->list[k].round == batch->round)
				append(to, &samples->list[k],
				       batch->order + made->runs++);
		}
		if (!to->nr_patches)
			swap_patches(to, samples);
	}
	made->runs += from->dropped;
	made->dropped += from->dropped;
	made->took_ns += from->took_ns;
	g->worked_ns += from->took_ns;
}

static void take_environment(struct guests *g, struct profile *p,
			     struct profile *from)
{
	if (g->has_environment)
		return;
	whatif_environment_free(&p->environment);
	p->environment = from->environment;
	from->environment = (struct whatif_environment){ 0 };
	g->has_environment = true;
}

static void note_node(struct guests *g, unsigned int job, const struct profile *from)
{
	char *node = whatif_site_node(&g->site, job);

	for (size_t i = 0; i < from->nr_groups && node; i++)
		whatif_nodes_add(&g->nodes, node, i, &from->groups[i].w.samples);
	free(node);
}

void profile_guests_tell_killed(int status)
{
	int sig = status - STATUS_SIGNAL;

	if (sig > 0 && !is_fatal_signal(sig))
		warn("profile: tense in a guest was ended by signal %d (%s): if its memory was short, --memory gives more",
		     sig, strsignal(sig));
}

/* A guest whose run failed may have an answer, too. */
static bool has_answer(const struct job *job)
{
	return !job->status || lseek(job->answer, 0, SEEK_END) > 0;
}

/* Returns 0, or the status to end with after a message. */
static int take(struct guests *g, struct profile *p, struct job *job,
		const struct profile_batch *batch, struct profile_made *made)
{
	int status = job->status;
	struct profile answer = { 0 };
	char *error;

	job_show_messages(job);
	profile_guests_tell_killed(status);
	if (!has_answer(job))
		return status;
	error = read_answer(job_take_answer(job), &answer);
	if (!error && !fits(p, &answer))
		error = xstrdup("it has other functions");
	if (error) {
		warn("cannot read what a guest measured: %s", error);
	} else {
		note_node(g, job->number, &answer);
		take_samples(g, p, &answer, batch, made);
		take_environment(g, p, &answer);
	}
	profile_free(&answer);
	status = error && !status ? STATUS_FAILED : status;
	free(error);
	return status;
}

static void show_again(struct guests *g, bool queued)
{
	if (queued)
		profile_show(&g->show, g->p, working_now(g) - g->start, "waiting in the queue");
	else if (g->doing)
		profile_show(&g->show, g->p, working_now(g) - g->start, g->doing);
}

/* Do all jobs that are not done wait in the cluster's queue? */
static bool is_queued(const struct guests *g, const struct jobs *jobs)
{
	for (unsigned int i = 0; i < jobs->begun; i++)
		if (!jobs->list[i].done && whatif_site_has_begun(&g->site, i))
			return false;
	return true;
}

static bool has_failed(const struct jobs *jobs)
{
	for (unsigned int i = 0; i < jobs->begun; i++)
		if (jobs->list[i].done && jobs->list[i].status)
			return true;
	return false;
}

/* Runs jobs until all are done, or one has failed. Returns 0, or the status to end with. */
static int run_jobs(struct guests *g, struct jobs *jobs, unsigned int count)
{
	uint64_t last = now_ns();
	int status = 0;

	for (;;) {
		bool queued;
		uint64_t now;

		while (jobs->begun < count && jobs_running(jobs) < g->count &&
		       !jobs->ended_by && !has_failed(jobs))
			jobs_begin(jobs);
		if (!jobs_running(jobs) || status)
			return status;
		queued = is_queued(g, jobs);
		now = now_ns();

		if (queued)
			g->queued_ns += now - last;
		last = now;
		show_again(g, queued);
		if (!jobs->ended_by)
			status = whatif_site_watch(&g->site, jobs->begun);
		jobs_wait(jobs, SHOW_MS);
	}
}

/* The runs of a guest that counts instructions must not depend on how many guests there are. */
static unsigned int count_jobs(const struct guests *g, size_t runs)
{
	size_t guests = (runs + EXACT_RUNS - 1) / EXACT_RUNS;

	if (g->site.exact)
		return guests < EXACT_GUESTS ? guests : EXACT_GUESTS;
	return runs < g->count ? runs : g->count;
}

/*
 * Takes the samples of all jobs that are done. Returns the status, or that of the first
 * job that failed. Where instructions are counted, that one is the last: how many jobs
 * began after it depends on the host.
 */
static int take_all(struct guests *g, struct profile *p, const struct jobs *jobs,
		    const struct profile_batch *batch, struct profile_made *made, int status)
{
	for (unsigned int i = 0; i < jobs->begun && !(g->site.exact && status); i++) {
		struct job *job = &jobs->list[i];
		int taken;

		/* After a signal, jobs fail because of it. Only the first failure is shown. */
		if (!job->done || (job->status && (status || jobs->ended_by)))
			continue;
		taken = take(g, p, job, batch, made);
		status = status ? status : taken;
	}
	return status;
}

static int run_many(struct profile *p, const struct profile_batch *batch,
		    uint64_t time_ns, struct profile_made *made, void *arg)
{
	struct guests *g = arg;
	struct part part = {
		.guests = g, .p = p, .batch = batch, .time_ns = time_ns,
		.jobs = count_jobs(g, batch->count),
	};
	struct jobs jobs = { .run = run_part, .arg = &part };
	int status, ended_by;

	jobs_open(&jobs, part.jobs);
	status = run_jobs(g, &jobs, part.jobs);
	status = take_all(g, p, &jobs, batch, made, status);
	ended_by = jobs.ended_by;
	jobs_close(&jobs, !status);
	whatif_site_restart_jobs(&g->site, jobs.begun);
	return ended_by ? STATUS_SIGNAL + ended_by : status;
}

static void show(const struct profile *p, uint64_t passed_ns, const char *what,
		 void *arg)
{
	struct guests *g = arg;

	free(g->doing);
	g->doing = xstrdup(what);
	profile_show(&g->show, p, passed_ns, what);
}

static int measure(struct profile *p, const struct whatif_guest *guest,
		   unsigned int guests)
{
	struct guests g = {
		.count = guests, .p = p,
	};
	const struct profile_runner runner = {
		.many = run_many, .now = working_now, .progress = show, .arg = &g,
		/* Time of guests is not shorter where they run at the same time. */
		.guests = guest->run->deterministic ? 1 : guests,
		.exact = guest->run->deterministic,
	};
	int status;

	profile_show_start(p);
	whatif_site_begin(&g.site, guest);
	g.start = working_now(&g) - p->spent_ns;
	status = profile_measure(p, &runner);
	progress_end(&g.show.bar);
	whatif_site_end(&g.site);
	if (!status)
		whatif_nodes_judge(&g.nodes, p->question.precision);
	whatif_nodes_free(&g.nodes);
	free(g.doing);
	return status;
}

/* The files of all candidates are packed for guests that count instructions. */
static char **exact_files(const struct profile *p, char *const *given)
{
	struct whatif_found all = {
		.objects = xmalloc((p->found.nr_objects + 1) * sizeof(char *)),
	};
	char **files;

	for (size_t i = 0; i < p->found.nr_objects; i++)
		all.objects[all.nr_objects++] = p->found.objects[i];
	for (size_t i = 0; i < p->nr_candidates; i++) {
		const struct whatif_found *found = &p->candidates[i].found;

		all.objects = xrealloc(all.objects, (all.nr_objects + found->nr_objects + 1) *
						    sizeof(char *));
		for (size_t k = 0; k < found->nr_objects; k++)
			all.objects[all.nr_objects++] = found->objects[k];
	}
	files = whatif_exact_files(&p->question, &all, given);
	free(all.objects);
	return files;
}

int profile_guests_measure(struct profile *p, const struct whatif_guest *guest,
			   unsigned int guests)
{
	char **given = guest->run->files;
	int status;

	if (!guest->run->deterministic)
		return measure(p, guest, guests);
	guest->run->files = exact_files(p, given);
	status = measure(p, guest, guests);
	whatif_exact_free(guest->run->files);
	guest->run->files = given;
	return status;
}
