// SPDX-License-Identifier: GPL-2.0
#include "jobs.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fatal-signals.h"
#include "base/util.h"
#include "launch.h"

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

void jobs_open(struct jobs *jobs, unsigned int most)
{
	sigset_t set;

	jobs->begun = 0;
	jobs->ended_by = 0;
	jobs->list = xmalloc((most + 1) * sizeof(*jobs->list));
	launch_signals(&set);
	sigaddset(&set, SIGTSTP);
	sigprocmask(SIG_BLOCK, &set, &jobs->mask);
	jobs->signals = signalfd(-1, &set, SFD_CLOEXEC);
	if (jobs->signals < 0)
		die(STATUS_FAILED, "signalfd: %s", strerror(errno));
}

static void __attribute__((noreturn))
run_job(const struct jobs *jobs, const struct job *j, pid_t parent)
{
	int status;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(STATUS_FAILED);
	if (j->log >= 0) {
		dup2(j->log, STDERR_FILENO);
		/* ^C reaches the parent, which forwards it once. */
		setpgid(0, 0);
	}
	status = jobs->run(j, jobs->arg);
	fflush(NULL);
	_exit(status);
}

static bool is_taken(const struct jobs *jobs, unsigned int place)
{
	for (unsigned int i = 0; i < jobs->begun; i++)
		if (!jobs->list[i].done && jobs->list[i].place == place)
			return true;
	return false;
}

static unsigned int free_place(const struct jobs *jobs)
{
	unsigned int place = 0;

	while (is_taken(jobs, place))
		place++;
	return place;
}

void jobs_begin(struct jobs *jobs)
{
	struct job *j = &jobs->list[jobs->begun];
	pid_t parent = getpid();
	int ready[2], proceed[2];

	new_pipe(ready);
	new_pipe(proceed);
	*j = (struct job){
		.number = jobs->begun, .place = free_place(jobs),
		.answer = new_file("answer"),
		.ready = ready[1], .proceed = proceed[0],
		.log = jobs->begun || !jobs->first_shows ?
		       new_file("messages") : -1,
	};
	fflush(NULL);
	j->pid = fork();
	if (j->pid < 0)
		die(STATUS_FAILED, "cannot start a process: %s",
		    strerror(errno));
	if (j->pid == 0) {
		close(ready[0]);
		close(proceed[1]);
		run_job(jobs, j, parent);
	}
	close(ready[1]);
	close(proceed[0]);
	/* From here on the parent's ends of the pipes. */
	j->ready = ready[0];
	j->proceed = proceed[1];
	jobs->begun++;
}

void job_ready(const struct job *job)
{
	char byte = 0;

	if (write(job->ready, &byte, 1) == 1)
		while (read(job->proceed, &byte, 1) < 0 && errno == EINTR)
			;
}

unsigned int jobs_running(const struct jobs *jobs)
{
	unsigned int running = 0;

	for (unsigned int i = 0; i < jobs->begun; i++)
		running += !jobs->list[i].done;
	return running;
}

static void send_signal(const struct jobs *jobs, int sig)
{
	for (unsigned int i = 0; i < jobs->begun; i++)
		if (jobs->list[i].pid)
			kill(jobs->list[i].pid, sig);
}

static void forward_signal(struct jobs *jobs)
{
	struct signalfd_siginfo info;
	int sig;

	if (read(jobs->signals, &info, sizeof(info)) != sizeof(info))
		return;
	sig = info.ssi_signo;
	if (is_fatal_signal(sig))
		jobs->ended_by = sig;
	send_signal(jobs, sig);
	if (sig != SIGTSTP)
		return;
	raise(SIGSTOP);
	send_signal(jobs, SIGCONT);
}

static void reap(struct job *j)
{
	int status = 0;

	if (!j->pid)
		return;
	close(j->proceed);
	close(j->ready);
	while (waitpid(j->pid, &status, 0) < 0 && errno == EINTR)
		;
	j->pid = 0;
	j->killed_by = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
	j->status = j->killed_by ? STATUS_FAILED : WEXITSTATUS(status);
}

/* A job that is ready sends a byte and waits; all others end. */
static void note_done(struct job *j)
{
	char byte;

	j->done = true;
	if (read(j->ready, &byte, 1) != 1)
		reap(j);
}

void jobs_wait(struct jobs *jobs, int timeout_ms)
{
	unsigned int n = jobs->begun;
	struct pollfd *polls = xmalloc((n + 1) * sizeof(*polls));

	polls[n] = (struct pollfd){ .fd = jobs->signals, .events = POLLIN };
	for (unsigned int i = 0; i < n; i++)
		polls[i] = (struct pollfd){
			.fd = jobs->list[i].done ? -1 : jobs->list[i].ready,
			.events = POLLIN,
		};
	if (poll(polls, n + 1, timeout_ms) < 0 && errno != EINTR)
		die(STATUS_FAILED, "poll: %s", strerror(errno));
	if (polls[n].revents)
		forward_signal(jobs);
	for (unsigned int i = 0; i < n; i++)
		if (polls[i].fd >= 0 && polls[i].revents)
			note_done(&jobs->list[i]);
	free(polls);
}

static void show_log(struct job *job)
{
	char text[4096];
	ssize_t n;

	if (job->log < 0)
		return;
	lseek(job->log, 0, SEEK_SET);
	while ((n = read(job->log, text, sizeof(text))) > 0)
		write_full(STDERR_FILENO, text, n);
	close(job->log);
	job->log = -1;
}

void job_show_messages(struct job *job)
{
	show_log(job);
	if (job->killed_by)
		warn("the process of a guest was ended by signal %d (%s), so that its runs are lost: run the command again; if memory was short, use fewer guests, see --engine",
		     job->killed_by, strsignal(job->killed_by));
}

int job_take_answer(struct job *job)
{
	int fd = job->answer;

	lseek(fd, 0, SEEK_SET);
	job->answer = -1;
	return fd;
}

int jobs_close(struct jobs *jobs, bool keep_first)
{
	int status = 0;

	for (unsigned int i = jobs->begun; i-- > 0;) {
		struct job *j = &jobs->list[i];

		if (j->pid && (i || !keep_first))
			kill(j->pid, SIGKILL);
		reap(j);
		if (j->log >= 0)
			close(j->log);
		if (j->answer >= 0)
			close(j->answer);
		status = j->status;
	}
	close(jobs->signals);
	sigprocmask(SIG_SETMASK, &jobs->mask, NULL);
	free(jobs->list);
	return status;
}
