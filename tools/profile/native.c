// SPDX-License-Identifier: GPL-2.0
#include "native.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/util.h"
#include "guests.h"
#include "json.h"
#include "measure.h"
#include "show.h"
#include "whatif/run.h"

struct native {
	const struct profile *p;
	struct whatif_session *session;
	uint64_t start;
	struct profile_show show;
};

static uint64_t real_now(void *arg)
{
	(void)arg;
	return now_ns();
}

/* A run that does not end by itself must not take all of the time. */
static uint64_t limit_of(const struct native *n)
{
	uint64_t passed = now_ns() - n->start;

	if (n->p->asked.for_ns)
		return n->p->asked.for_ns;
	return passed < n->p->asked.time_ns ? n->p->asked.time_ns - passed + 1 :
					      1;
}

static int run(struct whatif *w, size_t condition, struct whatif_sample *s,
	       void *arg)
{
	struct native *n = arg;
	int status;

	whatif_session_limit(n->session, limit_of(n));
	status = whatif_session_run(n->session, w, condition, s);
	if (status == WHATIF_NO_METRIC)
		progress_end(&n->show.bar);
	if (status || n->p->asked.for_ns ||
	    !whatif_session_expired(n->session))
		return status;
	progress_end(&n->show.bar);
	if (s->order == 0)
		profile_warn_endless(n->p);
	return s->order == 0 ? STATUS_FAILED : PROFILE_OUT_OF_TIME;
}

static void show(const struct profile *p, uint64_t passed_ns, const char *what,
		 void *arg)
{
	struct native *n = arg;

	profile_show(&n->show, p, passed_ns, what);
}

/* Makes one run of a batch. Returns 0, or the status to end the batch with. */
static int run_one(struct profile *p, const struct profile_run *one,
		   unsigned int round, unsigned int order, struct native *n)
{
	struct whatif *w = &p->groups[one->group].w;
	struct whatif_samples *samples = &w->samples;
	struct whatif_sample *sample;
	int status;

	samples->list = xrealloc(samples->list, (samples->count + 1) *
						sizeof(*samples->list));
	/* Where instructions are counted, runs begin at different phases of a tick. */
	w->question.seed = p->question.seed + order;
	sample = &samples->list[samples->count];
	*sample = (struct whatif_sample){
		.round = round, .order = order, .condition = one->condition,
	};
	status = run(w, one->condition, sample, n);
	if (!status)
		samples->count++;
	return status;
}

/* The first run of a group in this guest does not count, because caches were cold. */
static int warm_up(struct profile *p, size_t group, struct native *n)
{
	const struct profile_run null = { .group = group, .condition = 1 };
	int status = 0;

	if (p->batch.round && !p->groups[group].w.samples.count)
		status = run_one(p, &null, 0, p->batch.order + 1, n);
	return status == PROFILE_NO_METRIC ? 0 : status;
}

static bool has_time(const struct profile *p, size_t made, const struct native *n)
{
	uint64_t mean = made ? p->took_ns / made : 0;

	return now_ns() - n->start + mean < p->asked.time_ns;
}

static int run_batch(struct profile *p, struct native *n)
{
	const struct profile_batch *b = &p->batch;
	int status = 0;

	for (size_t i = 0; i < b->count && has_time(p, i, n) && !status; i++) {
		uint64_t began;

		status = warm_up(p, b->runs[i].group, n);
		if (status)
			break;
		began = now_ns();
		status = run_one(p, &b->runs[i], b->round, b->order + i, n);
		if (status == PROFILE_NO_METRIC) {
			p->dropped++;
			status = 0;
		}
		p->took_ns += now_ns() - began;
	}
	return status;
}

int profile_batch_measure(struct profile *p, const struct run *run_options)
{
	struct native n = {
		.p = p, .session = whatif_session_begin(run_options, true),
		.start = now_ns() - p->spent_ns,
	};
	int status;

	whatif_session_drop_zero(n.session);
	if (p->batch.succeeded)
		whatif_session_succeeded(n.session);
	whatif_environment(&p->environment, backend_native.name);
	p->took_ns = 0;
	p->dropped = 0;
	status = run_batch(p, &n);
	whatif_session_end(n.session);
	/* The samples up to a signal or a failure count. */
	profile_note_end(p, status);
	return 0;
}

int profile_native_measure(struct profile *p, const struct run *run_options,
			   bool inside)
{
	struct native n = {
		.p = p, .session = whatif_session_begin(run_options, inside),
		.start = now_ns() - p->spent_ns,
	};
	const struct profile_runner runner = {
		.run = run, .now = real_now, .progress = show, .arg = &n,
	};
	int status;

	whatif_session_drop_zero(n.session);
	if (p->spent_ns)
		whatif_session_succeeded(n.session);
	whatif_environment(&p->environment, backend_native.name);
	profile_show_start(p);
	status = profile_measure(p, &runner);
	progress_end(&n.show.bar);
	whatif_session_end(n.session);
	return status;
}

static int write_request(FILE *f, const void *arg)
{
	return profile_json_write(f, arg);
}

static void read_answer(const char *path, void *arg)
{
	struct profile *p = arg, measured = { 0 };

	profile_json_load(&measured, path);
	profile_free(p);
	*p = measured;
}

int profile_guest_measure(struct profile *p, const struct whatif_guest *g)
{
	const struct whatif_exchange exchange = {
		.command = "profile", .write = write_request,
		.read = read_answer, .arg = p,
	};
	unsigned int guests = engine_guests(g->engine, g->backend, g->run);
	struct whatif_environment here;
	int status;

	whatif_environment(&here, g->backend->name);
	if (guests > 1 || g->engine->slurm || g->run->deterministic) {
		status = profile_guests_measure(p, g, guests);
	} else {
		status = whatif_guest_exchange(g, &exchange);
		profile_guests_tell_killed(status);
	}
	if (!status)
		whatif_guest_environment(g, &p->environment, &here);
	whatif_environment_free(&here);
	return status;
}

void profile_guest_receive(struct profile *p)
{
	char *error = profile_json_read(stdin, p);

	if (error)
		die(STATUS_FAILED, "cannot read the request: %s", error);
}
