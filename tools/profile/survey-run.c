// SPDX-License-Identifier: GPL-2.0
#include "survey-run.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <jansson.h>

#include "base/json-text.h"
#include "base/util.h"
#include "run/backend.h"
#include "run/setup.h"
#include "whatif/exact.h"

#define JSON_VERSION	1
/* A command that does not react to a signal gets another one after so many seconds. */
#define AGAIN_S		2

/* The limit of a run, by a signal that tense passes on to the command. */
struct limit {
	timer_t timer;
	uint64_t ns;
	uint64_t began;		/* 0: the command has not started */
	bool expired;
};

/* So much longer than by the guest's clock an emulated run may take. */
#define EMULATED_MAX	100

static uint64_t limit_ns(const struct profile *p)
{
	if (p->asked.for_ns)
		return p->asked.for_ns;
	return p->asked.time_ns * (p->question.deterministic ? EMULATED_MAX : 1);
}

/* The time to boot does not count: before the command starts, the signal would end tense. */
static void arm(void *arg)
{
	struct limit *limit = arg;
	struct sigevent event = {
		.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGTERM,
	};
	const struct itimerspec time = {
		.it_value = { limit->ns / 1000000000, limit->ns % 1000000000 },
		.it_interval.tv_sec = AGAIN_S,
	};

	if (timer_create(CLOCK_MONOTONIC, &event, &limit->timer))
		return;
	limit->began = now_ns();
	timer_settime(limit->timer, 0, &time, NULL);
}

/*
 * Discards a pending SIGTERM of the timer, which would end the next run. Raises it again if
 * another process sent it.
 */
static void disarm(void *arg)
{
	static const struct timespec now;
	struct limit *limit = arg;
	siginfo_t info;
	sigset_t set;

	if (!limit->began)
		return;
	timer_delete(limit->timer);
	limit->expired = now_ns() - limit->began >= limit->ns;
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	if (sigtimedwait(&set, &info, &now) == SIGTERM && info.si_code != SI_TIMER)
		raise(SIGTERM);
}

/* Returns a descriptor, or 0 without a name. */
static int open_stream(const char *name, int flags)
{
	int fd = name ? open(name, flags | O_CLOEXEC) : 0;

	if (fd < 0)
		die(STATUS_FAILED, "%s: %s", name, strerror(errno));
	return fd;
}

static void close_stream(int fd)
{
	if (fd > 0)
		close(fd);
}

/* Says why a run has no samples to show. */
static void explain(struct profile_survey *s, char *error, bool expired,
		    const struct profile *p)
{
	if (expired && !p->asked.for_ns) {
		profile_warn_endless(p);
		s->taken = false;
		s->status = STATUS_FAILED;
	} else if (error) {
		warn("profile: %s", error);
		s->taken = false;
		s->status = STATUS_FAILED;
	} else if (s->taken && !s->survey.samples) {
		warn("profile: the command took too little time for a sample: give it more work, at least some 100 ms");
	}
	/* A server may end with any status after SIGTERM. */
	if (s->taken && expired)
		s->status = 0;
	free(error);
}

void profile_survey_run(struct profile_survey *s, const struct profile_survey_ask *ask,
			const struct profile *p, const struct backend *backend,
			const struct run *run)
{
	const struct whatif_question *q = &p->question;
	/* With --prepare, the command opens its input: it may not exist before. */
	const char *late = q->prepare ? q->input : NULL;
	const char *input = q->input && !late ? q->input :
			    ask->own_input && !late ? NULL : "/dev/null";
	struct limit limit = { .ns = limit_ns(p) };
	const struct survey_ask how = {
		.period_ns = ask->period_ns, .seed = q->seed,
		.input = open_stream(input, O_RDONLY),
		.output = open_stream(ask->output, O_WRONLY),
		.ended = disarm, .ended_arg = &limit,
	};
	struct run once = *run;
	struct outcome out;
	char *error;

	*s = (struct profile_survey){
		.argv = q->argv, .backend = backend->name,
		.machine = setup_machine(run, backend),
	};
	once.argv = q->argv;
	once.prepare = q->prepare;
	once.input = late;
	if (run->deterministic)
		once.files = whatif_exact_files(q, &p->found, run->files);
	if (ask->limited) {
		once.started = arm;
		once.started_arg = &limit;
	}
	error = survey_take(&s->survey, &how, backend, &once, &out);
	s->status = setup_status(&out, q->argv);
	/* A signal may have come before the command began. */
	s->taken = out.kind <= OUTCOME_SIGNALED && s->survey.elapsed_ns;
	explain(s, error, limit.expired, p);
	if (run->deterministic)
		whatif_exact_free(once.files);
	close_stream(how.input);
	close_stream(how.output);
}

void profile_survey_free(struct profile_survey *s)
{
	survey_free(&s->survey);
}

static json_t *command_json(char *const *argv)
{
	json_t *command = json_array();

	for (; *argv; argv++)
		json_array_append_new(command, json_text(*argv, strlen(*argv)));
	return command;
}

int profile_survey_json(FILE *f, const struct profile_survey *s)
{
	return json_write(f, json_pack("{si so ss so si so}",
				       "version", JSON_VERSION,
				       "command", command_json(s->argv),
				       "backend", s->backend,
				       "machine", machine_json(&s->machine),
				       "status", s->status,
				       "survey", survey_json(&s->survey)));
}
