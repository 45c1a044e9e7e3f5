// SPDX-License-Identifier: GPL-2.0
#include "batches.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "run/launch.h"
#include "base/util.h"
#include "json.h"

struct job {
	struct whatif_batch batch;
	pid_t pid;		/* 0: the process has been reaped */
	int log;		/* standard error of the process, or -1 */
	bool done;		/* complete: has an answer or has failed */
	int status;
};

struct state {
	const struct whatif_question *asked;
	struct whatif *w;	/* the measured samples */
	const struct whatif_batches *b;
	struct job *jobs;
	unsigned int total;	/* most batches */
	unsigned int begun, taken;
	int signals;
	sigset_t mask;		/* before launch_signals() were blocked */
};

/* A fixed number of rounds is judged only after the last one. */
static bool is_fixed(const struct whatif_question *q)
{
	return q->runs;
}

/* Each batch has at least two rounds: a single round shows no variation. */
static unsigned int rounds_of(const struct state *s, unsigned int number)
{
	unsigned int each = s->asked->max_runs / s->total;

	return each + (number < s->asked->max_runs % s->total);
}

static int new_file(const char *name)
{
	int fd = memfd_create(name, MFD_CLOEXEC);

	if (fd < 0)
		die(STATUS_FAILED, "memfd_create: %s", strerror(errno));
	return fd;
}

static void new_pipe(int fds[2])
{
	if (pipe2(fds, O_CLOEXEC))
		die(STATUS_FAILED, "pipe: %s", strerror(errno));
}

static void __attribute__((noreturn))
run_job(const struct state *s, const struct job *j, pid_t parent)
{
	int status;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(STATUS_FAILED);
	if (j->log >= 0)
		dup2(j->log, STDERR_FILENO);
	status = s->b->run(&j->batch, s->b->arg);
	fflush(NULL);
	_exit(status);
}

static void begin_job(struct state *s)
{
	struct job *j = &s->jobs[s->begun];
	pid_t parent = getpid();
	int ready[2], proceed[2];

	new_pipe(ready);
	new_pipe(proceed);
	*j = (struct job){
		.batch = {
			.number = s->begun,
			.rounds = rounds_of(s, s->begun),
			.seed = s->asked->seed + s->begun,
			.answer = new_file("answer"),
			.ready = ready[1], .proceed = proceed[0],
		},
		.log = s->begun ? new_file("messages") : -1,
	};
	fflush(NULL);
	j->pid = fork();
	if (j->pid < 0)
		die(STATUS_FAILED, "cannot start a process: %s",
		    strerror(errno));
	if (j->pid == 0) {
		close(ready[0]);
		close(proceed[1]);
		run_job(s, j, parent);
	}
	close(ready[1]);
	close(proceed[0]);
	/* From here on the parent's ends of the pipes. */
	j->batch.ready = ready[0];
	j->batch.proceed = proceed[1];
	s->begun++;
}

void whatif_batch_ready(const struct whatif_batch *batch)
{
	char byte = 0;

	if (write(batch->ready, &byte, 1) == 1)
		while (read(batch->proceed, &byte, 1) < 0 && errno == EINTR)
			;
}

/*
 * Begins further batches before the first batches show whether more are needed.
 * Not for guests with one CPU, which seldom need more.
 */
static bool may_begin(const struct state *s)
{
	unsigned int running = 0;

	for (unsigned int i = s->taken; i < s->begun; i++)
		running += !s->jobs[i].done;
	return s->begun < s->total && running < s->b->parallel &&
	       (is_fixed(s->asked) || s->taken || s->b->least > 1 || !s->begun);
}

static void forward_signal(struct state *s)
{
	struct signalfd_siginfo info;
	int sig;

	if (read(s->signals, &info, sizeof(info)) != sizeof(info))
		return;
	sig = info.ssi_signo;
	for (unsigned int i = 0; i < s->begun; i++)
		if (s->jobs[i].pid)
			kill(s->jobs[i].pid, sig);
	if (sig != SIGTSTP)
		return;
	raise(SIGSTOP);
	for (unsigned int i = 0; i < s->begun; i++)
		if (s->jobs[i].pid)
			kill(s->jobs[i].pid, SIGCONT);
}

static void reap(struct job *j)
{
	int status = 0;

	if (!j->pid)
		return;
	close(j->batch.proceed);
	close(j->batch.ready);
	while (waitpid(j->pid, &status, 0) < 0 && errno == EINTR)
		;
	j->pid = 0;
	j->status = WIFSIGNALED(status) ? STATUS_SIGNAL + WTERMSIG(status) :
					  WEXITSTATUS(status);
}

/* The first batch sends a byte and waits; all others end. */
static void note_done(struct job *j)
{
	char byte;

	j->done = true;
	if (read(j->batch.ready, &byte, 1) != 1)
		reap(j);
}

static void wait_for_jobs(struct state *s)
{
	struct pollfd *polls = xmalloc((s->begun + 1) * sizeof(*polls));

	polls[s->begun] = (struct pollfd){ .fd = s->signals, .events = POLLIN };
	for (unsigned int i = 0; i < s->begun; i++)
		polls[i] = (struct pollfd){
			.fd = s->jobs[i].done ? -1 : s->jobs[i].batch.ready,
			.events = POLLIN,
		};
	if (poll(polls, s->begun + 1, -1) < 0 && errno != EINTR)
		die(STATUS_FAILED, "poll: %s", strerror(errno));
	if (polls[s->begun].revents)
		forward_signal(s);
	for (unsigned int i = 0; i < s->begun; i++)
		if (polls[i].fd >= 0 && polls[i].revents)
			note_done(&s->jobs[i]);
	free(polls);
}

static void show_messages(struct job *j)
{
	char text[4096];
	ssize_t n;

	if (j->log < 0)
		return;
	lseek(j->log, 0, SEEK_SET);
	while ((n = read(j->log, text, sizeof(text))) > 0)
		write_full(STDERR_FILENO, text, n);
	close(j->log);
	j->log = -1;
}

/* Appends the rounds of a batch, without the discarded one. */
static void append(struct whatif_samples *samples,
		   const struct whatif_samples *batch)
{
	size_t n = batch->count - batch->per_round;
	unsigned int rounds = whatif_rounds(samples), runs = samples->count;
	struct whatif_sample *to;

	samples->list = xrealloc(samples->list, (samples->count + n) *
						sizeof(*samples->list));
	to = samples->list + samples->count;
	memcpy(to, batch->list + batch->per_round, n * sizeof(*to));
	for (size_t i = 0; i < n; i++) {
		to[i].round += rounds;
		to[i].order += runs - batch->per_round;
	}
	samples->count += n;
}

/* The first batch also supplies the functions and the environment. */
static void take_first(struct state *s, struct whatif *batch)
{
	*s->w = *batch;
	s->w->question.max_runs = s->asked->max_runs;
	*batch = (struct whatif){ 0 };
}

/* Returns 0, or the status to end with. */
static int take(struct state *s, struct job *j)
{
	struct whatif batch = { 0 };
	FILE *answer;
	char *error;

	show_messages(j);
	if (j->status)
		return j->status;
	lseek(j->batch.answer, 0, SEEK_SET);
	answer = fdopen(j->batch.answer, "r");
	if (!answer)
		die(STATUS_FAILED, "fdopen: %s", strerror(errno));
	error = whatif_json_read(answer, &batch);
	fclose(answer);
	if (!error && s->taken &&
	    batch.plan.nr_conditions != s->w->plan.nr_conditions)
		error = xstrdup("it has other variants");
	if (error) {
		warn("cannot read what the guest measured: %s", error);
		free(error);
		whatif_free(&batch);
		return STATUS_FAILED;
	}
	if (s->taken)
		append(&s->w->samples, &batch.samples);
	else
		take_first(s, &batch);
	whatif_free(&batch);
	return 0;
}

static void say_more(const struct whatif_samples *samples,
		     const struct whatif_answer *answer)
{
	double widest = 0;

	for (size_t i = 0; i < answer->nr_results; i++)
		widest = fmax(widest,
			      whatif_width(&answer->results[i].change));
	warn("whatif: after %zu rounds an interval is %.2f points wide: running more rounds, with another seed",
	     whatif_rounds(samples), widest);
}

/* Called after batch s->taken - 1 was taken. */
static bool is_enough(const struct state *s)
{
	struct whatif *w = s->w;

	if (s->taken < s->total && (is_fixed(s->asked) ||
				    s->taken < s->b->least))
		return false;
	whatif_assess(&w->question, &w->plan, &w->samples, &w->answer);
	if (s->taken == s->total ||
	    whatif_converged(&w->answer, w->question.precision))
		return true;
	if (!s->asked->quiet)
		say_more(&w->samples, &w->answer);
	return false;
}

static int run_jobs(struct state *s)
{
	int status = 0;

	for (;;) {
		while (may_begin(s))
			begin_job(s);
		wait_for_jobs(s);
		while (s->taken < s->begun && s->jobs[s->taken].done) {
			status = take(s, &s->jobs[s->taken]);
			if (status)
				return status;
			s->taken++;
			if (is_enough(s))
				return 0;
		}
	}
}

/* Lets the first batch go on after success, and kills the others as unneeded. */
static int end_jobs(struct state *s, int status)
{
	for (unsigned int i = s->begun; i-- > 0;) {
		struct job *j = &s->jobs[i];

		if (j->pid && (i || status))
			kill(j->pid, SIGKILL);
		reap(j);
		if (j->log >= 0)
			close(j->log);
		if (i >= s->taken)
			close(j->batch.answer);
	}
	return status ? status : s->jobs[0].status;
}

int whatif_batches(const struct whatif_question *asked, struct whatif *w,
		   const struct whatif_batches *b)
{
	struct state s = { .asked = asked, .w = w, .b = b };
	sigset_t set;
	int status;

	*w = (struct whatif){ 0 };
	s.total = (asked->max_runs + WHATIF_EXACT_ROUNDS - 1) / WHATIF_EXACT_ROUNDS;
	s.jobs = xmalloc(s.total * sizeof(*s.jobs));
	launch_signals(&set);
	sigaddset(&set, SIGTSTP);
	sigprocmask(SIG_BLOCK, &set, &s.mask);
	s.signals = signalfd(-1, &set, SFD_CLOEXEC);
	if (s.signals < 0)
		die(STATUS_FAILED, "signalfd: %s", strerror(errno));
	status = end_jobs(&s, run_jobs(&s));
	close(s.signals);
	sigprocmask(SIG_SETMASK, &s.mask, NULL);
	free(s.jobs);
	if (status) {
		whatif_free(w);
		*w = (struct whatif){ 0 };
	}
	return status;
}
