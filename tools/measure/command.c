// SPDX-License-Identifier: GPL-2.0
#include "command.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/fatal-signals.h"
#include "base/util.h"

#define MEANWHILE_MS	250

/* Processes that the command left may be about to end: they get this time. */
#define GRACE_NS	100000000
#define STUBBORN_NS	2000000000

/* The child reports when it executed the command, or why it could not. */
struct start {
	const struct command *command;
	uint64_t ns;
	uint64_t cpu_ns;	/* CPU time that it took until then */
	int error;
};

static sigset_t own_mask;

/*
 * Children that this process had before exec() of tense, and their orphans,
 * which became children of tense.
 */
static struct {
	pid_t *pids;
	size_t count;
} strangers;

/* When the command that is run was started. */
static unsigned long long command_began;

struct ancestry {
	pid_t parent;
	unsigned long long began;	/* in ticks since the machine was booted */
};

/* All 0 if there is no such process. */
static struct ancestry ancestry_of(pid_t pid)
{
	struct ancestry a = { 0 };
	char path[40], line[512], *end;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	f = fopen(path, "re");
	if (!f)
		return a;
	/* A name can have any characters, brackets among them. */
	if (fgets(line, sizeof(line), f)) {
		end = strrchr(line, ')');
		if (end && sscanf(end, ") %*c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu",
				  &a.parent, &a.began) != 2)
			a = (struct ancestry){ 0 };
	}
	fclose(f);
	return a;
}

bool command_is_stranger(pid_t pid)
{
	for (size_t i = 0; i < strangers.count; i++)
		if (strangers.pids[i] == pid)
			return true;
	return false;
}

static void add_stranger(pid_t pid)
{
	strangers.pids = xrealloc(strangers.pids, (strangers.count + 1) *
						  sizeof(pid_t));
	strangers.pids[strangers.count++] = pid;
}

/* Their numbers can become those of others. */
static void forget_ended_strangers(void)
{
	size_t left = 0;

	for (size_t i = 0; i < strangers.count; i++)
		if (ancestry_of(strangers.pids[i]).parent == getpid())
			strangers.pids[left++] = strangers.pids[i];
	strangers.count = left;
}

/* A process that is older than the command is none of its children. */
static bool is_strange(pid_t pid, const struct ancestry *a)
{
	return command_is_stranger(pid) ||
	       (a->began && a->began < command_began);
}

static void kill_child(pid_t pid)
{
	kill(pid, SIGKILL);
}

/* Returns how many there are. */
static size_t for_own_children(void (*act)(pid_t pid))
{
	DIR *dir = opendir("/proc");
	const struct dirent *entry;
	size_t count = 0;

	while (dir && (entry = readdir(dir))) {
		pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);
		struct ancestry a = { 0 };

		if (pid > 0)
			a = ancestry_of(pid);
		if (a.parent != getpid() || is_strange(pid, &a))
			continue;
		count++;
		if (act)
			act(pid);
	}
	if (dir)
		closedir(dir);
	return count;
}

void command_prepare(void)
{
	static bool prepared;
	sigset_t set;

	if (prepared)
		return;
	prepared = true;
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	for_own_children(add_stranger);
	fatal_signals(&set);
	sigprocmask(SIG_BLOCK, &set, &own_mask);
}

bool command_signal_pending(void)
{
	return fatal_signal_pending();
}

static int redirect(const char *path, int flags, int fd)
{
	int opened = open(path, flags | O_CLOEXEC);

	return opened < 0 || dup2(opened, fd) < 0 ? -1 : 0;
}

static uint64_t own_cpu_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

/* In the child, which has our memory. */
static int execute(void *arg)
{
	struct start *start = arg;
	const struct command *c = start->command;

	/*
	 * The command must die with tense. Its children do not get the signal,
	 * nor does a program that gains privileges by exec().
	 */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	setpgid(0, 0);
	if (redirect(c->input, O_RDONLY, STDIN_FILENO) ||
	    (!c->show_output &&
	     (redirect("/dev/null", O_WRONLY, STDOUT_FILENO) ||
	      redirect("/dev/null", O_WRONLY, STDERR_FILENO)))) {
		start->error = errno;
		_exit(STATUS_FAILED);
	}
	sigprocmask(SIG_SETMASK, &own_mask, NULL);
	start->ns = stopwatch_read(c->clock);
	start->cpu_ns = own_cpu_ns();
	execvp(c->argv[0], c->argv);
	start->error = errno;
	_exit(STATUS_NOT_EXECUTABLE);
}

/*
 * As vfork() does: to copy our memory's tables would be charged to the command,
 * and so would each page of it that either writes to.
 */
static pid_t spawn(struct start *start)
{
	static char stack[65536] __attribute__((aligned(64)));

	return clone(execute, stack + sizeof(stack),
		     CLONE_VM | CLONE_VFORK | SIGCHLD, start);
}

static uint64_t timeval_ns(struct timeval t)
{
	return t.tv_sec * 1000000000ULL + t.tv_usec * 1000ULL;
}

static void add_usage(struct command_result *r, const struct rusage *usage)
{
	r->user_ns += timeval_ns(usage->ru_utime);
	r->system_ns += timeval_ns(usage->ru_stime);
}

/*
 * Waits for a child that has ended, or for the command by its number. Strangers
 * are waited for, too, and are nothing of the command's.
 */
static pid_t reap(struct command_result *r, pid_t pid, int *status, int flags)
{
	struct rusage usage;
	struct ancestry a;
	siginfo_t ended;
	bool strange;

	do {
		ended.si_pid = 0;
		if (waitid(pid < 0 ? P_ALL : P_PID, (id_t)pid, &ended,
			   WEXITED | WNOWAIT | flags)) {
			if (errno != EINTR)
				return -1;
			strange = true;
			continue;
		}
		if (!ended.si_pid)
			return 0;
		a = ancestry_of(ended.si_pid);
		strange = is_strange(ended.si_pid, &a);
		wait4(ended.si_pid, status, 0, &usage);
	} while (strange);
	add_usage(r, &usage);
	return ended.si_pid;
}

/*
 * Kills and reaps the processes that the command did not wait for and that are
 * now our children. Does not wait for strangers, nor for processes that run as
 * another user, which tense cannot kill.
 */
static void end_orphans(struct command_result *r, bool patient)
{
	const struct timespec moment = { .tv_nsec = 1000000 };
	uint64_t deadline = now_ns() + (patient ? GRACE_NS : 0);
	pid_t pid;
	int status;

	while ((pid = reap(r, -1, &status, WNOHANG)) >= 0) {
		uint64_t now = now_ns();

		if (pid > 0) {
			r->left += now >= deadline;
			continue;
		}
		if (now >= deadline + STUBBORN_NS ||
		    !for_own_children(NULL))
			return;
		if (now >= deadline)
			for_own_children(kill_child);
		nanosleep(&moment, NULL);
	}
}

/*
 * Kills the process, too, because it can be in another group. Tense gives up
 * after STUBBORN_NS, because it cannot kill a process of another user.
 */
static void end_command(struct command_result *r)
{
	const struct timespec moment = { .tv_nsec = 1000000 };
	uint64_t deadline = now_ns() + STUBBORN_NS;
	int status;

	kill(-r->pid, SIGKILL);
	kill(r->pid, SIGKILL);
	while (!reap(r, r->pid, &status, WNOHANG)) {
		if (now_ns() >= deadline) {
			r->goes_on = true;
			return;
		}
		nanosleep(&moment, NULL);
	}
}

static void finish(struct command_result *r, int status,
		   const struct start *start)
{
	if (start->error) {
		r->end = COMMAND_NOT_RUN;
		r->value = start->error;
	} else if (WIFSIGNALED(status)) {
		r->end = COMMAND_SIGNALED;
		r->value = WTERMSIG(status);
	} else {
		r->end = COMMAND_EXITED;
		r->value = WEXITSTATUS(status);
	}
}

/* Returns how many ms poll() may wait: until the timeout, but at most MEANWHILE_MS. */
static int poll_time(const struct command *c, uint64_t began)
{
	/* A timeout may be too long to count in nanoseconds. */
	double left = 1e3 * c->timeout - (double)(now_ns() - began) / 1e6;

	if (!(c->timeout > 0) || left >= MEANWHILE_MS)
		return MEANWHILE_MS;
	return left > 0 ? (int)ceil(left) : 0;
}

/* Until the command has ended or must. True if it is to be ended. */
static bool watch(const struct command *c, struct command_result *r,
		  int pidfd, int signals)
{
	struct pollfd fds[] = { { .fd = pidfd, .events = POLLIN },
				{ .fd = signals, .events = POLLIN } };
	struct signalfd_siginfo info;
	uint64_t began = now_ns();

	for (;;) {
		int wait = poll_time(c, began);
		int ready = poll(fds, 2, wait);

		if (ready > 0 && fds[0].revents)
			return false;
		if (ready > 0 && read(signals, &info, sizeof(info)) > 0) {
			r->end = COMMAND_INTERRUPTED;
			r->value = (int)info.ssi_signo;
			return true;
		}
		if (ready == 0 && !wait) {
			r->end = COMMAND_TIMED_OUT;
			return true;
		}
		if (c->meanwhile)
			c->meanwhile(c->arg);
	}
}

/* It is the kernel's, for the most part: processes are made there. */
static void take_ours_out(struct command_result *r, const struct start *start)
{
	uint64_t of_system = start->cpu_ns < r->system_ns ? start->cpu_ns :
							    r->system_ns;
	uint64_t of_user = start->cpu_ns - of_system;

	r->ours_ns = start->cpu_ns;
	r->system_ns -= of_system;
	r->user_ns -= of_user < r->user_ns ? of_user : r->user_ns;
}

static void wait_for(const struct command *c, struct command_result *r,
		     const struct start *start)
{
	int pidfd = (int)syscall(SYS_pidfd_open, r->pid, 0), signals, status;
	struct rusage usage;
	bool end;
	sigset_t set;

	fatal_signals(&set);
	signals = signalfd(-1, &set, SFD_CLOEXEC);
	if (pidfd < 0 || signals < 0) {
		r->end = COMMAND_FAILED;
		r->value = errno;
		end = true;
	} else {
		end = watch(c, r, pidfd, signals);
	}
	if (end) {
		end_command(r);
	} else {
		/* It runs on after it is said to have ended. */
		wait4(r->pid, &status, 0, &usage);
		if (start->ns)
			r->elapsed_ns = stopwatch_read(c->clock) - start->ns;
		add_usage(r, &usage);
		finish(r, status, start);
	}
	take_ours_out(r, start);
	end_orphans(r, !end);
	close(pidfd);
	close(signals);
}

void command_run(const struct command *c, struct command_result *r)
{
	struct start start = { .command = c };

	*r = (struct command_result){ .end = COMMAND_FAILED };
	forget_ended_strangers();
	command_began = 0;
	for_own_children(add_stranger);
	r->pid = spawn(&start);
	if (r->pid < 0) {
		r->value = errno;
		return;
	}
	command_began = ancestry_of(r->pid).began;
	wait_for(c, r, &start);
}
