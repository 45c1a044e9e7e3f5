// SPDX-License-Identifier: GPL-2.0
/*
 * Usage: timed [--only TEXT] [--without TEXT] [--limit SECONDS] [--jobs N]
 *		[--own-clock]
 *	  timed --list
 *
 * --only, --without: tests whose name contains this, or does not.
 * --limit: how long each test may take, 60 unless told.
 * --jobs: how many run at once, 1 unless told.
 * --own-clock: the machine's clock can be set, nobody else needs it.
 *
 * With TENSE_KO the module of that name is loaded, and each test runs in an
 * experiment of its own. With TENSE_TIMED set all of them are in one already.
 */
#include "timed.h"

#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>

static const struct timed_calls *const tables[] = {
	&sleep_calls, &futex_calls, &poll_calls, &ipc_calls, &socket_calls,
	&uring_calls, &timer_calls, &thread_calls, NULL,
};

static struct {
	const char *only;
	const char *without;
	int limit;
	int jobs;
	bool list;
	bool own_clock;
	char *program;
} options = { .limit = 60, .jobs = 1 };

static bool left_out(const char *name)
{
	return options.without && strstr(name, options.without);
}

static bool wanted(const char *name)
{
	return (!options.only || strstr(name, options.only)) && !left_out(name);
}

/* Calls NULL counts them only. */
static size_t all_calls(const struct timed_call **calls)
{
	size_t n = 0;

	for (const struct timed_calls *const *table = tables; *table; table++)
		for (size_t i = 0; i < (*table)->n; i++) {
			if (left_out(label(&(*table)->calls[i])))
				continue;
			if (calls)
				calls[n] = &(*table)->calls[i];
			n++;
		}
	return n;
}

/* Up to what tells apart calls of the same name. */
static size_t name_length(const struct timed_call *call)
{
	return strcspn(call->call, ",");
}

static bool same_name(const struct timed_call *a, const struct timed_call *b)
{
	return name_length(a) == name_length(b) &&
	       !strncmp(a->call, b->call, name_length(a));
}

/* The same but for what is told of it. */
static bool same_line(const struct timed_call *a, const struct timed_call *b)
{
	return same_name(a, b) && a->clock == b->clock;
}

static void list_call(const struct timed_call **calls, size_t n)
{
	static const char *const forms[] = { "", "for", "until", "for, until" };
	unsigned int form = 0;

	for (size_t i = 0; i < n; i++)
		if (same_line(calls[0], calls[i]))
			form |= calls[i]->flags & ABSOLUTE ? 2 : 1;
	printf("%.*s\t%s\t%s\tkernel\n", (int)name_length(calls[0]),
	       calls[0]->call, clock_name(calls[0]->clock), forms[form]);
}

static void list(const struct timed_call **calls, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		size_t j = 0;

		while (!same_line(calls[j], calls[i]))
			j++;
		if (j == i)
			list_call(calls + i, n - i);
	}
	list_readings();
}

/* A test runs in a process of its own, which nobody waits for in vain. */
struct job {
	char name[128];
	const struct timed_call *call;		/* either this */
	void (*test)(void);			/* or that */
	bool outside;				/* not in an experiment */
	bool alone;				/* beside no other test */
	pid_t process;
	int output;
	int64_t begin;
};

static struct {
	struct job *job;
	size_t n;
	const struct timed_call **calls;
	size_t n_calls;
} jobs;

static void together(void)
{
	test_together(jobs.calls, jobs.n_calls);
}

static void timers(void)
{
	test_timers(options.program);
}

static void experiment(void)
{
	test_experiment(jobs.calls, jobs.n_calls);
}

static void ends(void)
{
	test_ends(jobs.calls, jobs.n_calls);
}

enum { ANYWHERE, WITH_EXPERIMENTS, WITH_MODULE, WITH_OWN_CLOCK };

static const struct {
	const char *name;
	void (*test)(void);
	bool outside;
	bool alone;
	int where;
} others[] = {
	{ "clocks", test_clocks, false, false, ANYWHERE },
	{ "timers", timers, false, false, ANYWHERE },
	{ "timers of CPU time", test_cpu_timers, false, false, ANYWHERE },
	{ "together", together, false, false, ANYWHERE },
	{ "experiment", experiment, false, true, WITH_EXPERIMENTS },
	{ "ends", ends, true, true, WITH_MODULE },
	{ "set clock", test_set_clock, true, true, WITH_OWN_CLOCK },
};

static bool has(int where)
{
	switch (where) {
	case WITH_EXPERIMENTS:
		return has_experiments();
	case WITH_MODULE:
		return has_module();
	case WITH_OWN_CLOCK:
		return has_module() && options.own_clock;
	default:
		return true;
	}
}

static void collect_jobs(void)
{
	jobs.n_calls = all_calls(NULL);
	jobs.calls = calloc(jobs.n_calls + 1, sizeof(void *));
	if (!jobs.calls)
		abort();
	all_calls(jobs.calls);
	jobs.job = calloc(jobs.n_calls + ARRAY_LENGTH(others),
			  sizeof(*jobs.job));
	if (!jobs.job)
		abort();
	for (size_t i = 0; i < jobs.n_calls; i++) {
		struct job *job = &jobs.job[jobs.n];

		job->call = jobs.calls[i];
		snprintf(job->name, sizeof(job->name), "%s", label(job->call));
		jobs.n += wanted(job->name);
	}
	for (size_t i = 0; i < ARRAY_LENGTH(others); i++) {
		struct job *job = &jobs.job[jobs.n];

		if (!has(others[i].where))
			continue;
		job->test = others[i].test;
		job->outside = others[i].outside;
		job->alone = others[i].alone;
		snprintf(job->name, sizeof(job->name), "%s", others[i].name);
		jobs.n += wanted(job->name);
	}
}

static void start(struct job *job)
{
	job->output = memfd_create("output", MFD_CLOEXEC);
	job->begin = raw_clock(CLOCK_MONOTONIC);
	job->process = fork();
	if (job->process)
		return;
	setpgid(0, 0);
	dup2(job->output, STDOUT_FILENO);
	sigprocmask(SIG_SETMASK, &(sigset_t){ 0 }, NULL);
	if (!job->outside && !join_experiment())
		check(false, "%s: cannot join an experiment: %s", job->name,
		      strerror(errno));
	else if (job->test)
		job->test();
	else if (call_exists(job->call))
		test_call(job->call);
	else
		leave_out("%s: this kernel has no such call", job->name);
	_exit(0);
}

static void print_output(struct job *job)
{
	char buffer[4096];
	ssize_t n;

	lseek(job->output, 0, SEEK_SET);
	while ((n = read(job->output, buffer, sizeof(buffer))) > 0)
		if (write(STDOUT_FILENO, buffer, n) != n)
			break;
	close(job->output);
}

/*
 * Returns whether the job has ended, and kills processes that it left running.
 */
static bool finish(struct job *job)
{
	int64_t age = raw_clock(CLOCK_MONOTONIC) - job->begin;
	bool late = age > options.limit * S;
	int status;

	if (late)
		kill(job->process, SIGKILL);
	if (waitpid(job->process, &status, late ? 0 : WNOHANG) == 0)
		return false;
	kill(-job->process, SIGKILL);
	print_output(job);
	if (late)
		check(false, "%s: did not end within %d s", job->name,
		      options.limit);
	else if (status)
		check(false, "%s: ended with status 0x%x", job->name, status);
	job->process = 0;
	return true;
}

static void run_jobs(void)
{
	size_t next = 0, ended = 0;
	int running = 0;
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_BLOCK, &set, NULL);
	while (ended < jobs.n) {
		for (; next < jobs.n && running < options.jobs; running++) {
			if (running && (jobs.job[next].alone ||
					jobs.job[next - 1].alone))
				break;
			start(&jobs.job[next++]);
		}
		sigtimedwait(&set, NULL, &(struct timespec){ .tv_sec = 1 });
		for (size_t i = 0; i < next; i++)
			if (jobs.job[i].process && finish(&jobs.job[i])) {
				running--;
				ended++;
			}
	}
}

static int number(const char *text)
{
	char *end;
	long value = strtol(text, &end, 10);

	return *end || value < 1 || value > 10000 ? 0 : (int)value;
}

static bool parse(int argc, char **argv)
{
	static const struct option known[] = {
		{ "only", required_argument, NULL, 'o' },
		{ "without", required_argument, NULL, 'w' },
		{ "limit", required_argument, NULL, 'l' },
		{ "jobs", required_argument, NULL, 'j' },
		{ "list", no_argument, NULL, 'L' },
		{ "own-clock", no_argument, NULL, 'c' },
		{ 0 },
	};
	int option;

	while ((option = getopt_long(argc, argv, "", known, NULL)) != -1)
		switch (option) {
		case 'o':
			options.only = optarg;
			break;
		case 'w':
			options.without = optarg;
			break;
		case 'l':
			options.limit = number(optarg);
			break;
		case 'j':
			options.jobs = number(optarg);
			break;
		case 'c':
			options.own_clock = true;
			break;
		case 'L':
			options.list = true;
			break;
		default:
			return false;
		}
	options.program = argv[0];
	return optind == argc && options.limit && options.jobs;
}

int main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "--after-exec"))
		return after_exec(argv + 2);
	if (argc > 1 && !strcmp(argv[1], "--after-leaving"))
		return after_leaving(argv + 2);
	if (!parse(argc, argv)) {
		fprintf(stderr, "usage: %s [--only TEXT] [--without TEXT] "
			"[--limit SECONDS] [--jobs N] [--own-clock]\n"
			"       %s --list\n", argv[0], argv[0]);
		return 2;
	}
	collect_jobs();
	if (options.list) {
		list(jobs.calls, jobs.n_calls);
		return 0;
	}
	report_begin();
	load_experiments();
	run_jobs();
	unload_experiments("in the end");
	return report_end();
}
