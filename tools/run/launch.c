// SPDX-License-Identifier: GPL-2.0
#include "launch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <linux/tense.h>

#include "base/fatal-signals.h"
#include "base/util.h"

/* Calls that show the kernel what a call costs. */
#define LEARN_READINGS 32

/* Time from SIGTERM to SIGKILL for a command that has reached its limit. */
#define LIMIT_GRACE_S	2

struct child_error {
	int error;
	bool exec;
	char what[200];
};

void launch_signals(sigset_t *set)
{
	static const int signals[] = {
		SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGALRM,
		SIGTSTP, SIGCONT,
	};

	sigemptyset(set);
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		sigaddset(set, signals[i]);
}

static void fail(struct outcome *out, const char *what, int error)
{
	out->kind = OUTCOME_FAILED;
	snprintf(out->text, sizeof(out->text), "%s: %s", what,
		 strerror(error));
}

/* Undoes the changes of tense and guest-init; exec() resets the rest. */
static void set_dispositions(uint64_t ignored)
{
	static const int changed[] = { SIGCHLD, SIGHUP, SIGPIPE, SIGTTOU };

	for (size_t i = 0; i < sizeof(changed) / sizeof(changed[0]); i++)
		signal(changed[i], SIG_DFL);
	for (int sig = 1; sig < SIGRTMIN; sig++)
		if (ignored >> (sig - 1) & 1)
			signal(sig, SIG_IGN);
}

__attribute__((format(printf, 2, 3)))
static int tell(int device, const char *fmt, ...)
{
	char text[64];
	va_list args;
	int len;

	va_start(args, fmt);
	len = vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	return write(device, text, len) == len ? 0 : -1;
}

/* Skips the defaults: a new experiment has them. */
static int set_choices(int device, const struct clock_choice *c)
{
	if (c->clocks != CLOCKS_ALL &&
	    tell(device, "clocks %s", clock_names[c->clocks]))
		return -1;
	if (c->order != ORDER_ALL &&
	    tell(device, "clocks %s", order_names[c->order]))
		return -1;
	if (c->idle != IDLE_REAL &&
	    tell(device, "idle %s", idle_names[c->idle]))
		return -1;
	return 0;
}

/* The first thread's counters before it executes the program. */
struct begin {
	uint64_t time;		/* virtual */
	uint64_t elapsed;	/* real */
	uint64_t charged;
	uint64_t ran;
	uint64_t overhead;
};

static struct tense_thread *find_thread(struct tense_stats *s, uint32_t threads,
					pid_t pid)
{
	struct tense_thread *t = (void *)((char *)s + s->size);

	for (uint32_t i = 0; i < threads; i++, t++)
		if (t->pid == pid)
			return t;
	return NULL;
}

/*
 * Reads the counters and the records of *fit threads. Returns NULL after an error.
 * The caller frees the result.
 */
static struct tense_stats *read_counters(int device, uint32_t *fit)
{
	struct tense_stats *s = NULL;
	size_t size = 64 * sizeof(struct tense_thread);
	ssize_t n;

	do {
		size *= 2;
		s = xrealloc(s, size);
		n = read(device, s, size);
		if (n < 0) {
			free(s);
			return NULL;
		}
		*fit = (n - sizeof(*s)) / sizeof(struct tense_thread);
	} while (*fit < s->threads && size < 1 << 30);
	if (*fit > s->threads)
		*fit = s->threads;
	return s;
}

/* For the launcher, in memory that both share. */
static void note_begin(int device, struct begin *begin)
{
	const struct tense_thread *self;
	struct tense_stats *now;
	uint32_t fit;

	now = read_counters(device, &fit);
	if (!now)
		return;
	begin->elapsed = now->elapsed;
	/* Other programs may be in an experiment with a name. */
	self = find_thread(now, fit, getpid());
	if (self) {
		begin->charged = self->charged;
		begin->ran = self->ran;
		begin->overhead = self->overhead;
	}
	free(now);
	begin->time = lseek(device, 0, SEEK_CUR);
}

/* Makes a file the standard input. */
static int read_from(const char *file)
{
	int fd = open(file, O_RDONLY), result;

	if (fd <= 0)
		return fd;
	result = dup2(fd, 0);
	close(fd);
	return result;
}

static void run_child(const struct launch *l, int device, int report,
		      struct begin *begin)
{
	struct child_error e = { 0 };
	const char *what = "";

	if (l->group) {
		setpgid(0, 0);
		if (l->tty >= 0)
			tcsetpgrp(l->tty, getpid());
	}
	if (l->setup && l->setup(l->arg, &what)) {
		e.error = errno;
		goto out;
	}
	if (l->input && *l->input && read_from(l->input)) {
		what = l->input;
		e.error = errno;
		goto out;
	}
	set_dispositions(l->ignored);
	sigprocmask(SIG_SETMASK, &l->mask, NULL);
	if (device >= 0)
		note_begin(device, begin);
	execvpe(l->argv[0], l->argv, l->env);
	e.error = errno;
	e.exec = true;
out:
	snprintf(e.what, sizeof(e.what), "%s", what);
	if (write(report, &e, sizeof(e)) != sizeof(e))
		_exit(STATUS_FAILED);
	_exit(0);
}

/* The launcher is a thread of the experiment too, but not of the program. */
static void remove_self(struct tense_stats *s)
{
	struct tense_thread *t = find_thread(s, s->threads, getpid());
	struct tense_thread *end = (struct tense_thread *)((char *)s + s->size) +
				   s->threads;

	if (!t || t->flags & TENSE_THREAD_EXITED)
		return;
	s->charged -= t->charged;
	s->ran -= t->ran;
	s->gated -= t->gated;
	s->overhead -= t->overhead;
	s->tasks--;
	s->tasks_total--;
	s->threads--;
	memmove(t, t + 1, (char *)end - (char *)(t + 1));
}

/* The time before the program is no part of it either. */
static void remove_begin(struct tense_stats *s, const struct begin *begin,
			 pid_t child)
{
	struct tense_thread *t = find_thread(s, s->threads, child);

	s->gvt -= begin->time;
	s->charged -= begin->charged;
	s->ran -= begin->ran;
	s->overhead -= begin->overhead;
	if (!t)
		return;
	t->charged -= begin->charged;
	t->ran -= begin->ran;
	t->overhead -= begin->overhead;
}

static void read_stats(int device, const struct begin *begin, pid_t child,
		       struct outcome *out, void **stats)
{
	struct tense_stats *s;
	uint32_t fit;

	s = read_counters(device, &fit);
	if (!s) {
		fail(out, "cannot read the statistics", errno);
		return;
	}
	if (s->version != TENSE_STATS_VERSION || s->size != sizeof(*s) ||
	    s->thread_size != sizeof(struct tense_thread)) {
		fail(out, "tense.ko is of another version", EPROTO);
		free(s);
		return;
	}
	s->threads = fit;
	/* The launcher's own clock was a virtual one meanwhile. */
	out->real_ns = s->elapsed - begin->elapsed;
	remove_self(s);
	remove_begin(s, begin, child);
	out->stats_size = s->size + s->threads * s->thread_size;
	*stats = s;
}

/* The launcher's work with it is part of the experiment's time, and comes last. */
static void send_record(const struct launch *l, const struct begin *begin,
			pid_t child, struct outcome *out)
{
	const struct trace_begin b = {
		.launcher = getpid(), .program = child, .time = begin->time,
	};
	const char *what = "";

	if (trace_record_send(l->record, &b, &what))
		fail(out, what, errno);
}

static uint64_t timeval_ns(const struct timeval *tv)
{
	return tv->tv_sec * 1000000000ULL + tv->tv_usec * 1000ULL;
}

/*
 * Arms the timer of a limited run. Must come before the launcher joins the
 * experiment: a timer that it arms later is due at a virtual time.
 */
static int arm_limit(const struct launch *l, timer_t *timer)
{
	struct sigevent event = {
		.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM,
	};
	struct itimerspec due = {
		.it_value = {
			.tv_sec = l->limit_ns / 1000000000,
			.tv_nsec = l->limit_ns % 1000000000,
		},
		.it_interval.tv_sec = LIMIT_GRACE_S,
	};

	*l->expired = false;
	if (timer_create(CLOCK_MONOTONIC, &event, timer))
		return -1;
	return timer_settime(*timer, 0, &due, NULL);
}

/* A signal of this timer must not end a later run. */
static void disarm_limit(timer_t timer)
{
	static const struct timespec now;
	sigset_t set;

	timer_delete(timer);
	sigemptyset(&set);
	sigaddset(&set, SIGALRM);
	sigtimedwait(&set, NULL, &now);
}

/* Returns the signal for a command that has reached its limit. */
static int limit_signal(const struct launch *l)
{
	int sig = *l->expired ? SIGKILL : SIGTERM;

	*l->expired = true;
	return sig;
}

/* Returns the status of the child once it has ended. */
static int wait_child(const struct launch *l, const sigset_t *set, pid_t pid)
{
	siginfo_t info;
	int status, sig;

	for (;;) {
		/* A child that ended before is found here. */
		pid_t got = waitpid(pid, &status, WNOHANG | WUNTRACED);

		if (got == pid && WIFSTOPPED(status)) {
			if (l->stopped)
				l->stopped(l->arg, WSTOPSIG(status));
			continue;
		}
		if (got == pid)
			return status;

		sig = sigwaitinfo(set, &info);
		if (sig < 0 || sig == SIGCHLD)
			continue;
		if (info.si_code == SI_TIMER && l->limit_ns) {
			kill(l->group ? -pid : pid, limit_signal(l));
			continue;
		}
		if (l->interrupted && is_fatal_signal(sig))
			*l->interrupted = sig;
		if (info.si_code == SI_QUEUE && info.si_value.sival_int == 1)
			kill(-pid, sig);
		/* The terminal sent its signal to the whole group already. */
		else if (info.si_code != SI_KERNEL)
			kill(pid, sig);
	}
}

/* Shows the module what a call costs: the program may make none in a row. */
static void learn_cost(int device)
{
	for (int i = 0; i < LEARN_READINGS; i++)
		lseek(device, 0, SEEK_CUR);
}

/* Returns the device, by which the launcher has joined an experiment, or -1. */
static int join_experiment(const struct launch *l, struct outcome *out)
{
	bool named = l->experiment && *l->experiment;
	int device = open(TENSE_DEVICE, O_RDWR | O_CLOEXEC |
					(named ? O_NONBLOCK : 0));
	const char *what = "cannot join an experiment: " TENSE_DEVICE;

	if (device < 0) {
		fail(out, what, errno);
		return -1;
	}
	if (named && tell(device, "join %s", l->experiment))
		goto out;
	/* The command inherits it: all it does is at that percent. */
	what = "cannot set the percent in " TENSE_DEVICE;
	if (tell(device, "%u", l->percent))
		goto out;
	learn_cost(device);
	what = "cannot choose the clocks in " TENSE_DEVICE;
	if (set_choices(device, &l->choice))
		goto out;
	what = "cannot sample the program: " TENSE_DEVICE;
	if (l->samples && samples_start(l->samples, device))
		goto out;
	return device;
out:
	fail(out, what, errno);
	close(device);
	return -1;
}

/* Says why the command must not run, in place of how the preparation ended. */
static void refuse(struct outcome *out)
{
	const char *failed = "the command of --prepare failed";

	if (out->kind == OUTCOME_NOT_RUN)
		snprintf(out->text, sizeof(out->text), "--prepare: sh: %s",
			 strerror((int)out->value));
	else if (out->kind == OUTCOME_SIGNALED)
		snprintf(out->text, sizeof(out->text), "%s: signal %u (%s) ended it", failed,
			 out->value, strsignal((int)out->value));
	else
		snprintf(out->text, sizeof(out->text), "%s: its exit status was %u", failed,
			 out->value);
	out->kind = OUTCOME_UNPREPARED;
}

/*
 * Prepares in real time, and before the launcher joins an experiment: it is no part of the
 * program. Returns false, with the reason in @out, if the command must not run.
 */
static bool prepare(const struct launch *l, struct outcome *out)
{
	char *argv[] = {
		(char *)"sh", (char *)"-c",
		(char *)"eval \"$0\" </dev/null >/dev/null",
		(char *)l->prepare, NULL,
	};
	/* libtense is preloaded into the command. A preparation must not begin an experiment. */
	char **env = environment_with(l->env, (char *)"TENSE=0");
	int interrupted = 0;
	const struct launch preparation = {
		.argv = argv, .env = env, .group = l->group, .tty = l->tty,
		.ignored = l->ignored, .mask = l->mask, .setup = l->setup,
		.stopped = l->stopped, .arg = l->arg, .interrupted = &interrupted,
	};
	void *stats;

	launch(&preparation, out, &stats);
	free(env);
	if (out->kind == OUTCOME_FAILED)
		return false;
	if (out->kind == OUTCOME_SIGNALED && is_fatal_signal((int)out->value))
		return false;
	/* It may have handled the signal. */
	if (!interrupted)
		interrupted = fatal_signal_take();
	if (interrupted) {
		out->kind = OUTCOME_SIGNALED;
		out->value = interrupted;
		return false;
	}
	if (out->kind == OUTCOME_EXITED && !out->value)
		return true;
	refuse(out);
	return false;
}

void launch(const struct launch *l, struct outcome *out, void **stats)
{
	struct child_error e;
	struct rusage usage;
	int device = -1, report[2], status;
	const char *what = "";
	struct begin *begin;
	bool armed = false;
	uint64_t start;
	timer_t timer;
	sigset_t set;
	pid_t pid;

	memset(out, 0, sizeof(*out));
	*stats = NULL;
	if (l->prepare && *l->prepare && !prepare(l, out))
		return;
	begin = mmap(NULL, sizeof(*begin), PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (begin == MAP_FAILED) {
		fail(out, "no memory", errno);
		return;
	}

	if (l->record && trace_record_start(l->record, &what)) {
		fail(out, what, errno);
		goto out_device;
	}
	launch_signals(&set);
	sigaddset(&set, SIGCHLD);
	signal(SIGCHLD, SIG_DFL);
	sigprocmask(SIG_BLOCK, &set, NULL);
	if (l->limit_ns) {
		armed = !arm_limit(l, &timer);
		if (!armed) {
			fail(out, "cannot set a timer", errno);
			goto out_device;
		}
	}
	if (l->percent) {
		device = join_experiment(l, out);
		if (device < 0)
			goto out_device;
	}
	if (pipe2(report, O_CLOEXEC)) {
		fail(out, "cannot create a pipe", errno);
		goto out_device;
	}

	start = now_ns();
	pid = fork();
	if (pid < 0) {
		fail(out, "cannot create a process", errno);
		close(report[0]);
		close(report[1]);
		goto out_device;
	}
	if (pid == 0)
		run_child(l, device, report[1], begin);
	close(report[1]);
	if (l->group)
		setpgid(pid, pid);

	if (!read_full(report[0], &e, sizeof(e))) {
		waitpid(pid, &status, 0);
		if (e.exec) {
			out->kind = OUTCOME_NOT_RUN;
			out->value = e.error;
		} else {
			fail(out, e.what, e.error);
		}
		close(report[0]);
		goto out_device;
	}
	close(report[0]);
	if (l->started)
		l->started(l->arg);

	status = wait_child(l, &set, pid);
	out->real_ns = now_ns() - start;
	if (l->record && trace_record_stop(l->record, &what))
		fail(out, what, errno);
	if (l->percent && l->stats)
		read_stats(device, begin, pid, out, stats);
	if (l->record && out->kind != OUTCOME_FAILED)
		send_record(l, begin, pid, out);
	if (l->samples && out->kind != OUTCOME_FAILED &&
	    samples_send(l->samples, device, pid))
		fail(out, "cannot get the samples", errno);
	getrusage(RUSAGE_CHILDREN, &usage);
	out->user_ns = timeval_ns(&usage.ru_utime);
	out->system_ns = timeval_ns(&usage.ru_stime);
	if (out->kind == OUTCOME_FAILED)
		goto out_device;
	out->kind = WIFSIGNALED(status) ? OUTCOME_SIGNALED : OUTCOME_EXITED;
	out->value = WIFSIGNALED(status) ? WTERMSIG(status) :
					   WEXITSTATUS(status);
out_device:
	if (l->record)
		trace_record_end(l->record);
	if (armed)
		disarm_limit(timer);
	if (device >= 0)
		close(device);
	munmap(begin, sizeof(*begin));
}
