// SPDX-License-Identifier: GPL-2.0
#include "run.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <linux/tense.h>

#include "run/launch.h"
#include "base/fatal-signals.h"
#include "base/paths.h"
#include "base/progress.h"
#include "base/reference.h"
#include "base/util.h"
#include "latency.h"
#include "log.h"
#include "metric.h"
#include "probe.h"
#include "rounds.h"

extern char **environ;

/* The guests' kernel ticks 1000 times a second. */
#define TICK_NS	1000000

static const char *const files[] = { "stdout", "stderr", "log", "marks" };

/* The argument of the functions in struct whatif_runner. */
struct whatif_session {
	const char *tmp;
	char *dir;		/* in it, for files of a run */
	char *libtense;
	char *functions;	/* libtense-functions.so */
	uint64_t ignored;	/* as of struct launch */
	sigset_t mask;
	struct progress progress;
	unsigned int round;	/* runs in a round */
	uint64_t start;		/* when the first run began */
	unsigned int told;	/* the runs that the user was last told of */
	bool exact;		/* time here is not the user's */
	bool shows_progress;
	uint64_t limit_ns;	/* of a run; 0: none */
	bool expired;		/* the last run reached it */
	int interrupted;	/* by this signal; 0: by none */
	bool drops_zero;	/* a run without a metric is no failure */
	bool succeeded;		/* an earlier run of the command ended with status 0 */
};

/* The argument of a child's setup. */
struct child {
	const struct whatif *w;
	const struct whatif_session *n;
	size_t condition;
	bool scale;
};

/* Like the loader, tense takes these for separators. */
static char *library(const char *part)
{
	char *path = find_part(part);

	if (access(path, R_OK))
		die(STATUS_FAILED, "%s: %s: run `make user`, or install again",
		    path, strerror(errno));
	if (strpbrk(path, " :"))
		die(STATUS_FAILED,
		    "%s: a path with a space or colon cannot be preloaded",
		    path);
	return path;
}

static void session_begin(struct whatif_session *n)
{
	n->dir = xprintf("%s/tense-XXXXXX", n->tmp);
	if (!mkdtemp(n->dir))
		die(STATUS_FAILED, "%s: %s", n->dir, strerror(errno));
	n->libtense = library(PATH_LIBTENSE);
	n->functions = library(PATH_LIBTENSE_FUNCTIONS);
}

static char *path_of(const struct whatif_session *n, const char *name)
{
	return xprintf("%s/%s", n->dir, name);
}

static void session_end(struct whatif_session *n)
{
	progress_end(&n->progress);
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		char *path = path_of(n, files[i]);

		unlink(path);
		free(path);
	}
	rmdir(n->dir);
	free(n->dir);
	free(n->libtense);
	free(n->functions);
}

/* Tells the plan, after the first round the expected time, and each time the plan grows. */
static void say_progress(struct whatif_session *n, unsigned int done,
			 unsigned int total)
{
	double passed;

	if (done == 0) {
		n->start = now_ns();
		n->told = total;
		warn("whatif: about %u runs in rounds of %u, more if they scatter",
		     total, n->round);
		return;
	}
	passed = (now_ns() - n->start) / 1e9;
	if (done == n->round) {
		warn("whatif: a round took %.1f s, so that at least %.0f s are left",
		     passed, passed * (total - done) / done);
	} else if (total > n->told) {
		warn("whatif: intervals are wider than --precision: about %u more runs follow, about %.0f s",
		     total - done, passed * (total - done) / done);
		n->told = total;
	}
}

/* For a user who has no idea of how far that is. */
static void say_rounds(const struct whatif_session *n, unsigned int done,
		       unsigned int total)
{
	if (done == 0)
		warn("whatif: %u runs, in rounds of %u", total, n->round);
	else if (done % n->round == 0)
		warn("whatif: %u of %u rounds are done", done / n->round,
		     total / n->round);
}

static void show_progress(unsigned int done, unsigned int total, void *arg)
{
	struct whatif_session *n = arg;
	char what[40];

	if (!n->shows_progress)
		return;
	if (n->exact) {
		say_rounds(n, done, total);
		return;
	}
	if (!isatty(STDERR_FILENO)) {
		say_progress(n, done, total);
		return;
	}
	snprintf(what, sizeof(what), "run %u of about %u", done + 1, total);
	progress_show(&n->progress, done, total, what);
}

/* Names of the environment that are ours. */
static bool is_ours(const char *variable)
{
	static const char *const names[] = {
		"LD_PRELOAD=", "TENSE=", "TENSE_FUNCTIONS=",
		"TENSE_FUNCTIONS_LOG=", "TENSE_FUNCTIONS_MARKS=",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strncmp(variable, names[i], strlen(names[i])))
			return true;
	return false;
}

/* A line of TENSE_FUNCTIONS, which begin so, for each that the name stands for. */
static void add_specs(FILE *f, const struct whatif_question *q,
		      const struct whatif_found *found, unsigned int name,
		      const char *how)
{
	const char *lines = found->specs[name] ? found->specs[name] :
						 whatif_name(q, name);

	while (*lines) {
		size_t len = strcspn(lines, "\n");

		fprintf(f, "%s%s %.*s", ftell(f) ? "\n" : "", how, (int)len,
			lines);
		lines += len + !!lines[len];
	}
}

/* The instructions for the stubs, or NULL if there are none. */
static char *specs(const struct whatif *w, size_t condition)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	if (!f)
		die(STATUS_FAILED, "out of memory");
	for (unsigned int slot = 1; slot < WHATIF_SLOTS; slot++) {
		unsigned int percent =
			w->plan.conditions[condition].percent[slot];
		char how[32];

		snprintf(how, sizeof(how), "%u %u.%03u", slot,
			 percent / TENSE_FINE, percent % TENSE_FINE);
		if (percent)
			add_specs(f, &w->question, &w->found, slot, how);
	}
	add_specs(f, &w->question, &w->found, WHATIF_FROM, "from");
	add_specs(f, &w->question, &w->found, WHATIF_TO, "to");
	fclose(f);
	if (size)
		return text;
	free(text);
	return NULL;
}

/* The list is the caller's, and so are its first *own strings. */
static char **environment(const struct whatif *w, size_t condition,
			  const struct whatif_session *n, size_t *own)
{
	const char *old = getenv("LD_PRELOAD");
	char *spec = specs(w, condition), **env;
	size_t count = 0;

	while (environ[count])
		count++;
	env = xmalloc((count + 5) * sizeof(*env));
	count = 0;
	env[count++] = xprintf("LD_PRELOAD=%s%s%s%s%s",
			       spec ? n->functions : "", spec ? ":" : "",
			       n->libtense, old && *old ? ":" : "",
			       old ? old : "");
	if (spec) {
		env[count++] = xprintf("TENSE_FUNCTIONS=%s", spec);
		env[count++] = xprintf("TENSE_FUNCTIONS_LOG=%s/log", n->dir);
		env[count++] = xprintf("TENSE_FUNCTIONS_MARKS=%s/marks",
				       n->dir);
	}
	*own = count;
	for (char **e = environ; *e; e++)
		if (!is_ours(*e))
			env[count++] = *e;
	env[count] = NULL;
	free(spec);
	return env;
}

static int open_as(int fd, const char *path, int flags)
{
	int opened = open(path, flags | O_CLOEXEC, 0600);
	int result;

	if (opened < 0)
		return -1;
	result = dup2(opened, fd);
	close(opened);
	return result;
}

/* In the child. */
static int set_up_child(void *arg, const char **what)
{
	const struct child *child = arg;
	/* --input is for the command, and --prepare may create it. */
	const char *input = child->scale ? child->w->question.input : NULL;

	if (child->scale &&
	    whatif_probe(&child->w->plan, &child->w->found, child->condition,
			 what))
		return -1;
	*what = input ? input : "/dev/null";
	if (open_as(0, *what, O_RDONLY) < 0)
		return -1;
	/*
	 * In a guest that counts instructions, standard output carries the
	 * answer.
	 */
	if (child->w->question.show_output)
		return child->w->question.deterministic && dup2(2, 1) < 0 ? -1 : 0;
	*what = child->n->dir;
	for (int fd = 1; fd < 3; fd++)
		if (open_as(fd, path_of(child->n, files[fd - 1]),
			    O_WRONLY | O_CREAT | O_TRUNC | O_APPEND) < 0)
			return -1;
	return 0;
}

/* A file of the run's with a null byte at its end; empty if there is none. */
static char *read_file(const struct whatif_session *n, const char *name,
		       size_t *len)
{
	char *path = path_of(n, name), *text;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st = { 0 };

	free(path);
	if (fd >= 0 && fstat(fd, &st))
		st.st_size = 0;
	text = xmalloc(st.st_size + 1);
	*len = st.st_size;
	if (fd >= 0 && st.st_size && read_full(fd, text, st.st_size))
		*len = 0;
	if (fd >= 0)
		close(fd);
	text[*len] = '\0';
	return text;
}

/*
 * The last lines that the command wrote to standard error. With --show-output
 * there is no such file, because the user has seen them.
 */
static void show_errors(const struct whatif_session *n)
{
	size_t len;
	char *text = read_file(n, "stderr", &len), *from = text;
	int lines = 0;

	while (len && text[len - 1] == '\n')
		text[--len] = '\0';
	for (size_t i = len; i > 0 && lines < 10; i--) {
		if (text[i - 1] == '\n' && ++lines == 10)
			from = text + i;
	}
	for (char *line = strtok(from, "\n"); line; line = strtok(NULL, "\n"))
		warn("  %.200s", line);
	free(text);
}

static void explain(void *arg)
{
	struct whatif_session *n = arg;

	progress_end(&n->progress);
	show_errors(n);
}

static int failed(const struct whatif_plan *plan, const struct whatif_sample *s,
		  struct whatif_session *n, const char *how)
{
	progress_end(&n->progress);
	warn("run %u (%s, round %u): %s", s->order + 1,
	     plan->conditions[s->condition].name, s->round, how);
	explain(n);
	return 1;
}

static int dropped(const struct whatif_plan *plan, const struct whatif_sample *s,
		   struct whatif_session *n, const char *why)
{
	progress_end(&n->progress);
	warn("run %u (%s): %s, so it does not count", s->order + 1,
	     plan->conditions[s->condition].name, why);
	return WHATIF_NO_METRIC;
}

/* Whether a key or a signal came in a run, or between two. */
static int interrupted(const struct whatif_session *n)
{
	int sig = n->interrupted ? n->interrupted : fatal_signal_take();

	return sig ? STATUS_SIGNAL + sig : 0;
}

static void advise(const struct whatif_session *n)
{
	if (n->succeeded)
		warn("an earlier run succeeded: does the command remove or change its input, or stop at its own earlier output? Use --prepare CMD, which runs CMD before each run, to restore the files, or an option of the command that keeps its input");
	else
		warn("correct the command, or use --ignore-failure to accept any exit status");
}

/* 0, or the status to end with. */
static int check_outcome(const struct whatif_question *q,
			 const struct whatif_plan *plan,
			 const struct outcome *out,
			 struct whatif_sample *s, struct whatif_session *n)
{
	char *how;
	int status;

	if (out->kind == OUTCOME_FAILED) {
		warn("%s", out->text);
		return STATUS_FAILED;
	}
	if (out->kind == OUTCOME_NOT_RUN) {
		warn("%s: %s", q->argv[0], command_error(q->argv[0], out->value));
		return out->value == ENOENT ? STATUS_NOT_FOUND :
					      STATUS_NOT_EXECUTABLE;
	}
	s->status = out->kind == OUTCOME_SIGNALED ?
		    STATUS_SIGNAL + (int)out->value : (int)out->value;
	/* A server may end with any status after SIGTERM, and a command after ^C. */
	if (n->expired)
		return 0;
	status = interrupted(n);
	if (status)
		return status;
	if (out->kind == OUTCOME_SIGNALED && is_fatal_signal(out->value))
		return s->status;
	if (!s->status)
		n->succeeded = true;
	if (!s->status || q->ignore_failure)
		return 0;
	how = out->kind == OUTCOME_SIGNALED ?
	      xprintf("the command was ended by signal %u (%s)", out->value,
		      strsignal(out->value)) :
	      xprintf("the command's exit status was %d", s->status);
	status = failed(plan, s, n, how);
	advise(n);
	free(how);
	return status;
}

static int prepare(const struct whatif *w, struct whatif_sample *s,
		   struct whatif_session *n)
{
	char *argv[] = { "sh", "-c", w->question.prepare, NULL };
	struct child child = { .w = w, .n = n };
	struct launch l = {
		.argv = argv, .env = environ, .tty = -1,
		.ignored = n->ignored, .mask = n->mask,
		.setup = set_up_child, .arg = &child,
		.interrupted = &n->interrupted,
	};
	struct outcome out;
	void *stats;
	int status;

	launch(&l, &out, &stats);
	status = interrupted(n);
	if (status || (out.kind == OUTCOME_EXITED && out.value == 0))
		return status;
	if (out.kind == OUTCOME_SIGNALED && is_fatal_signal(out.value))
		return STATUS_SIGNAL + (int)out.value;
	return failed(&w->plan, s, n, "the command of --prepare failed");
}

static void take_stats(const struct tense_stats *stats,
		       const struct outcome *out, struct whatif_sample *s)
{
	s->elapsed = stats->gvt;
	s->real = out->real_ns;
	s->charged = stats->charged;
	s->ran = stats->ran;
	s->gated = stats->gated;
	s->overhead = stats->overhead;
	s->threads = stats->tasks_total;
	for (unsigned int i = 1; i < WHATIF_SLOTS; i++)
		s->slot[i] = (struct whatif_slot){
			.calls = stats->slot[i].calls,
			.ran = stats->slot[i].ran,
			.charged = stats->slot[i].charged,
		};
}

/* Slot 0 gets the time of the run that no other slot has. */
static void fill_slot_0(struct whatif_sample *s)
{
	s->slot[0].ran = s->ran;
	s->slot[0].charged = s->charged;
	for (unsigned int i = 1; i < WHATIF_SLOTS; i++) {
		s->slot[0].ran -= s->slot[i].ran;
		s->slot[0].charged -= s->slot[i].charged;
	}
}

/*
 * A function has one slot. If the progress point is also one of the functions of the
 * question, that function's slot counts its calls.
 */
static void count_progress(const struct whatif *w, struct whatif_sample *s)
{
	unsigned int progress = whatif_progress_slot(&w->question);

	for (unsigned int slot = 1; progress && slot < progress; slot++)
		if (whatif_probe_shares(&w->samples, progress, slot))
			s->slot[progress].calls += s->slot[slot].calls;
}

/* NULL, or why there is no such number. */
static char *take_metric(const struct whatif_question *q,
			 struct whatif_sample *s, const struct whatif_session *n)
{
	unsigned int slot = whatif_progress_slot(q);
	char *path, *text, *error;
	size_t len;

	switch (q->metric.kind) {
	case METRIC_ELAPSED:
		s->metric = s->elapsed;
		break;
	case METRIC_CPU:
		s->metric = s->charged;
		break;
	case METRIC_PROGRESS:
		s->metric = 1e9 * s->slot[slot].calls / s->elapsed;
		break;
	case METRIC_LATENCY:
		path = path_of(n, "marks");
		error = whatif_latency_read(path, s);
		free(path);
		if (error)
			return error;
		break;
	default:
		text = read_file(n, whatif_metric_name(q->metric.kind), &len);
		error = whatif_metric_find(q->metric.pattern, text, len,
					   &s->metric);
		free(text);
		return error;
	}
	return s->metric > 0 ? NULL : xprintf("the metric is 0");
}

/* Whether the command called them at all is the plan's to find out. */
static bool may_lack_metric(const struct whatif_question *q,
			    const struct whatif_sample *s)
{
	if (s->round != 0)
		return false;
	return q->metric.kind == METRIC_PROGRESS ||
	       (q->metric.kind == METRIC_LATENCY &&
		(!s->latency.from || !s->latency.to));
}

static int take_sample(struct whatif *w, struct whatif_sample *s,
		       struct whatif_session *n, const struct outcome *out,
		       const void *stats)
{
	char *log, *error;
	size_t len;
	int status;

	status = check_outcome(&w->question, &w->plan, out, s, n);
	if (status)
		return status;
	log = read_file(n, "log", &len);
	if (whatif_log_read(&w->samples, log, s) && s->round == 0)
		warn("libtense-functions.so told what is not understood: is it of another version?");
	free(log);
	if (s->condition)
		whatif_probe_told(&w->found, &w->samples);
	take_stats(stats, out, s);
	fill_slot_0(s);
	count_progress(w, s);
	error = take_metric(&w->question, s, n);
	if (!error || may_lack_metric(&w->question, s)) {
		free(error);
		return 0;
	}
	status = n->drops_zero && s->metric == 0 ? dropped(&w->plan, s, n, error) :
						   failed(&w->plan, s, n, error);
	free(error);
	return status;
}

static void create_marks(const struct whatif_question *q,
			 const struct whatif_session *n)
{
	char *path;

	if (q->metric.kind != METRIC_LATENCY)
		return;
	path = path_of(n, "marks");
	if (whatif_latency_create(path))
		die(STATUS_FAILED, "%s: %s", path, strerror(errno));
	free(path);
}

/* splitmix64: neighbouring rounds and seeds get unrelated phases. */
static uint64_t mix(uint64_t x)
{
	x += 0x9e3779b97f4a7c15;
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
	x = (x ^ x >> 27) * 0x94d049bb133111eb;
	return x ^ x >> 31;
}

/*
 * Counted instructions have no noise, but a schedule depends on when ticks come.
 * All runs of a round begin at the same phase of a tick, and each round at a
 * different phase, so that rounds show how much the phase matters.
 */
static void wait_for_phase(const struct whatif_question *q,
			   const struct whatif_sample *s)
{
	uint64_t phase = mix(mix(q->seed) + s->round) % TICK_NS, at;
	struct timespec time;

	at = (now_ns() / TICK_NS + 2) * TICK_NS + phase;
	time = (struct timespec){
		.tv_sec = at / 1000000000, .tv_nsec = at % 1000000000,
	};
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time,
			       NULL) == EINTR)
		;
}

static int run_command(struct whatif *w, size_t condition,
		       struct whatif_sample *s, void *arg)
{
	struct whatif_session *n = arg;
	struct child child = {
		.w = w, .n = n, .condition = condition, .scale = true,
	};
	size_t own;
	char **env = environment(w, condition, n, &own);
	struct launch l = {
		.argv = w->question.argv, .env = env,
		.percent = w->question.percent, .choice = w->question.choice,
		.stats = true, .tty = -1,
		.ignored = n->ignored, .mask = n->mask,
		.setup = set_up_child, .arg = &child,
		.limit_ns = n->limit_ns, .expired = &n->expired,
		.interrupted = &n->interrupted,
	};
	char *log = path_of(n, "log");
	struct outcome out;
	void *stats = NULL;
	int status;

	unlink(log);
	create_marks(&w->question, n);
	status = w->question.prepare ? prepare(w, s, n) : interrupted(n);
	if (!status) {
		if (!w->question.deterministic) {
			s->began = wall_ns();
			s->reference = reference_loop();
		} else {
			wait_for_phase(&w->question, s);
		}
		launch(&l, &out, &stats);
		if (!w->question.deterministic) {
			s->reference = (s->reference + reference_loop()) / 2;
			s->ended = wall_ns();
		}
		status = take_sample(w, s, n, &out, stats);
	}
	if (!status)
		status = interrupted(n);
	for (size_t i = 0; i < own; i++)
		free(env[i]);
	free(env);
	free(log);
	free(stats);
	return status;
}

struct whatif_session *whatif_session_begin(const struct run *run, bool inside)
{
	struct whatif_session *n = xmalloc(sizeof(*n));

	*n = (struct whatif_session){
		/* In a guest, the directory of the host may be read-only. */
		.tmp = inside ? "/dev/shm" : find_temporary(),
		.ignored = run->ignored, .mask = run->mask,
	};
	if (run->window_ns && !inside)
		backend_native_check_window(run);
	session_begin(n);
	return n;
}

int whatif_session_run(struct whatif_session *session, struct whatif *w,
		       size_t condition, struct whatif_sample *sample)
{
	return run_command(w, condition, sample, session);
}

void whatif_session_limit(struct whatif_session *session, uint64_t limit_ns)
{
	session->limit_ns = limit_ns;
}

void whatif_session_drop_zero(struct whatif_session *session)
{
	session->drops_zero = true;
}

void whatif_session_succeeded(struct whatif_session *session)
{
	session->succeeded = true;
}

bool whatif_session_expired(const struct whatif_session *session)
{
	return session->expired;
}

void whatif_session_end(struct whatif_session *session)
{
	session_end(session);
	free(session);
}

int whatif_native_measure(struct whatif *w, const struct run *run, bool inside)
{
	struct whatif_session *n = whatif_session_begin(run, inside);
	const struct whatif_runner runner = {
		.run = run_command, .progress = show_progress,
		.explain = explain, .arg = n,
	};
	int status;

	n->exact = w->question.deterministic;
	/* The command's output would be between the lines. */
	n->shows_progress = !w->question.quiet && !w->question.show_output;
	n->round = w->plan.nr_conditions;
	whatif_environment(&w->samples.environment, backend_native.name);
	status = whatif_measure(w, &runner);
	whatif_session_end(n);
	return status;
}
