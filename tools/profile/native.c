// SPDX-License-Identifier: GPL-2.0
#include "native.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/progress.h"
#include "base/util.h"
#include "json.h"
#include "measure.h"
#include "whatif/run.h"

#define MS_NS	1000000

struct native {
	const struct profile *p;
	struct whatif_session *session;
	uint64_t start;
	struct progress bar;
	struct progress_log log;
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
		progress_end(&n->bar);
	if (status || n->p->asked.for_ns ||
	    !whatif_session_expired(n->session))
		return status;
	progress_end(&n->bar);
	if (s->order == 0)
		profile_warn_endless(n->p);
	return s->order == 0 ? STATUS_FAILED : PROFILE_OUT_OF_TIME;
}

static void show(const struct profile *p, uint64_t passed_ns, const char *what,
		 void *arg)
{
	struct native *n = arg;
	unsigned int done = passed_ns / MS_NS;
	unsigned int total = p->asked.time_ns / MS_NS;
	char *text;

	/* The command's output would mix with the progress. */
	if (p->question.quiet || p->question.show_output)
		return;
	text = xprintf("profile: %s", what);
	if (isatty(STDERR_FILENO))
		progress_show(&n->bar, done, total, text);
	else
		progress_log_show(&n->log, done, total, text);
	free(text);
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
	if (!p->question.quiet && !isatty(STDERR_FILENO))
		warn("profile: %zu function%s, for up to %.0f s",
		     p->nr_candidates, p->nr_candidates == 1 ? "" : "s",
		     p->asked.time_ns / 1e9);
	status = profile_measure(p, &runner);
	progress_end(&n.bar);
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
	struct whatif_environment here;
	int status;

	whatif_environment(&here, g->backend->name);
	status = whatif_guest_exchange(g, &exchange);
	if (!status)
		whatif_environment_below(&p->environment, &here);
	whatif_environment_free(&here);
	return status;
}

void profile_guest_receive(struct profile *p)
{
	char *error = profile_json_read(stdin, p);

	if (error)
		die(STATUS_FAILED, "cannot read the request: %s", error);
}
