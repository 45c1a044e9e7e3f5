// SPDX-License-Identifier: GPL-2.0
/*
 * Usage: timed [--only TEXT] [--without TEXT] [--limit SECONDS] [--jobs N]
 *	  timed --list
 *
 * --only, --without: tests whose name contains this, or does not.
 * --limit: how long each test may take, 60 unless told.
 * --jobs: how many run at once, 1 unless told.
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
	char *program;
} options = { .limit = 60, .jobs = 1 };

static bool wanted(const char *name)
{
	return (!options.only || strstr(name, options.only)) &&
	       (!options.without || !strstr(name, options.without));
}

/* Calls NULL counts them only. */
static size_t all_calls(const struct timed_call **calls)
{
	size_t n = 0;

	for (const struct timed_calls *const *table = tables; *table; table++)
		for (size_t i = 0; i < (*table)->n; i++) {
			if (!wanted(label(&(*table)->calls[i])))
				continue;
			if (calls)
				calls[n] = &(*table)->calls[i];
			n++;
		}
	return n;
}

static void list(const struct timed_call **calls, size_t n)
{
	for (size_t i = 0; i < n; i++)
		printf("%s\t%s\t%s\n", calls[i]->call,
		       calls[i]->flags & ABSOLUTE ? "until" : "for",
		       clock_name(calls[i]->clock));
}

/* The kernel need not have everything that is in the table. */
static bool exists(const struct timed_call *call)
{
	struct thing thing = { 0 };
	int err = call->open ? call->open(call, &thing) : 0;

	if (err == -ENOSYS)
		leave_out("%s: this kernel has no such call", label(call));
	else if (!err && call->close)
		call->close(call, &thing);
	return err != -ENOSYS;
}

/* A test runs in a process of its own, which nobody waits for in vain. */
struct job {
	char name[128];
	const struct timed_call *call;		/* either this */
	void (*test)(void);			/* or that */
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

static const struct {
	const char *name;
	void (*test)(void);
} others[] = {
	{ "clocks", test_clocks },
	{ "timers", timers },
	{ "timers of CPU time", test_cpu_timers },
	{ "together", together },
};

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
		struct job *job = &jobs.job[jobs.n++];

		job->call = jobs.calls[i];
		snprintf(job->name, sizeof(job->name), "%s", label(job->call));
	}
	for (size_t i = 0; i < ARRAY_LENGTH(others); i++) {
		struct job *job = &jobs.job[jobs.n];

		job->test = others[i].test;
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
	if (!join_experiment())
		check(false, "%s: cannot join an experiment: %s", job->name,
		      strerror(errno));
	else if (job->test)
		job->test();
	else if (exists(job->call))
		test_call(job->call);
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

/* Whether it has ended. What it left running ends with it. */
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
		for (; next < jobs.n && running < options.jobs; running++)
			start(&jobs.job[next++]);
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
	if (!parse(argc, argv)) {
		fprintf(stderr, "usage: %s [--only TEXT] [--without TEXT] "
			"[--limit SECONDS] [--jobs N]\n"
			"       %s --list\n", argv[0], argv[0]);
		return 2;
	}
	collect_jobs();
	if (options.list) {
		list(jobs.calls, jobs.n_calls);
		return 0;
	}
	report_begin();
	run_jobs();
	return report_end();
}
