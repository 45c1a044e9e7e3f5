// SPDX-License-Identifier: LGPL-2.1-or-later
#include "threads.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#define STACK	65536
#define THREADS	4096
#define STEPS	100

enum step { STARTED, ALLOWED, STOPPED, FAILED, DONE };

/* State of the tracer, which shares the caller's memory, and even its errno. */
struct state {
	_Atomic int step;
	int process, caller;
	const struct redirect_patch *patches;
	size_t patch_count;
	size_t count;
	struct {
		int tid, signal;	/* signal: still to be delivered */
	} thread[THREADS];
	_Alignas(16) char stack[STACK];
};

static void wait_while(struct state *s, int step)
{
	while (s->step == step)
		syscall(SYS_futex, &s->step, FUTEX_WAIT, step, NULL, NULL, 0);
}

static void set(struct state *s, int step)
{
	s->step = step;
	syscall(SYS_futex, &s->step, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

static bool is_known(const struct state *s, int tid)
{
	size_t i;

	for (i = 0; i < s->count; i++)
		if (s->thread[i].tid == tid)
			return true;
	return false;
}

static long trace(int request, int tid, void *data)
{
	return syscall(SYS_ptrace, request, tid, NULL, data);
}

/* Returns false if the thread is gone. */
static bool wait_stopped(int tid, int *status)
{
	long got;

	do
		got = syscall(SYS_wait4, tid, status, __WALL, NULL);
	while (got < 0 && errno == EINTR);
	return got == tid && WIFSTOPPED(*status);
}

/* Returns the signal of a stop, 0 if we or a stop of the whole process caused it. */
static int pending_signal(int status)
{
	return status >> 16 ? 0 : WSTOPSIG(status);
}

/* A first thread that ended by pthread_exit() stays as a zombie, which nobody can trace. */
static bool has_ended(const struct state *s, int tid)
{
	char text[512], *state;
	long size;
	int fd;

	snprintf(text, sizeof(text), "/proc/%d/task/%d/stat", s->process, tid);
	fd = open(text, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT || errno == ESRCH;
	size = syscall(SYS_read, fd, text, sizeof(text) - 1);
	close(fd);
	if (size < 0)
		return errno == ESRCH;
	text[size] = '\0';
	/* The state follows the name, which is in parentheses. */
	state = strrchr(text, ')');
	return state && !strncmp(state, ") ", 2) &&
	       (state[2] == 'Z' || state[2] == 'X');
}

static void note(struct state *s, int tid, int signal)
{
	s->thread[s->count].tid = tid;
	s->thread[s->count].signal = signal;
	s->count++;
}

static bool stop(struct state *s, int tid)
{
	int status;

	if (trace(PTRACE_SEIZE, tid, NULL)) {
		if (errno == ESRCH)
			return true;
		if (!has_ended(s, tid))
			return false;
		/* It stays in the list of threads. */
		note(s, tid, 0);
		return true;
	}
	if (trace(PTRACE_INTERRUPT, tid, NULL) || !wait_stopped(tid, &status))
		return true;
	note(s, tid, pending_signal(status));
	return true;
}

static bool is_overwritten(const struct state *s, uintptr_t at)
{
	size_t i;

	for (i = 0; i < s->patch_count; i++)
		if (at - s->patches[i].at - 1 < s->patches[i].length - 1)
			return true;
	return false;
}

/* Steps the thread out of the bytes to be overwritten; false if it stays there. */
static bool step_out(struct state *s, size_t i)
{
	struct user_regs_struct regs;
	int tid = s->thread[i].tid, step, status;

	for (step = 0; step < STEPS; step++) {
		if (trace(PTRACE_GETREGS, tid, &regs) ||
		    !is_overwritten(s, regs.rip))
			return true;
		if (trace(PTRACE_SINGLESTEP, tid, NULL) ||
		    !wait_stopped(tid, &status))
			return true;
		/* Our own stop may follow that of a signal, which must not get lost. */
		if (pending_signal(status) && pending_signal(status) != SIGTRAP)
			s->thread[i].signal = pending_signal(status);
	}
	return false;
}

/*
 * Repeats until a pass finds no new thread: each may have created others before it was
 * stopped, or ended.
 */
static bool stop_all(struct state *s)
{
	char path[32], names[2048];
	long size, at;
	bool found;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/task", s->process);
	do {
		found = false;
		fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (fd < 0)
			return false;
		while ((size = syscall(SYS_getdents64, fd, names,
				       sizeof(names))) > 0) {
			struct dirent64 *d;

			for (at = 0; at < size; at += d->d_reclen) {
				int tid;

				d = (struct dirent64 *)(names + at);
				tid = atoi(d->d_name);
				if (!tid || tid == s->caller ||
				    is_known(s, tid))
					continue;
				if (s->count == THREADS || !stop(s, tid)) {
					close(fd);
					return false;
				}
				found = true;
			}
		}
		close(fd);
	} while (found);
	return true;
}

static int tracer(void *arg)
{
	struct state *s = arg;
	bool good;
	size_t i;

	wait_while(s, STARTED);
	good = stop_all(s);
	for (i = 0; good && i < s->count; i++)
		good = step_out(s, i);
	set(s, good ? STOPPED : FAILED);
	if (good)
		wait_while(s, STOPPED);
	for (i = 0; i < s->count; i++)
		trace(PTRACE_DETACH, s->thread[i].tid,
		      (void *)(long)s->thread[i].signal);
	return 0;
}

/* Returns 0 if the number is not known. */
static int count_threads(void)
{
	DIR *dir = opendir("/proc/self/task");
	struct dirent *d;
	int count = 0;

	if (!dir)
		return 0;
	while ((d = readdir(dir)))
		count += d->d_name[0] != '.';
	closedir(dir);
	return count;
}

static void finish(struct redirect_threads *t)
{
	while (syscall(SYS_wait4, t->tracer, NULL, __WALL, NULL) < 0 &&
	       errno == EINTR)
		;
	munmap(t->state, sizeof(struct state));
	prctl(PR_SET_PTRACER, 0, 0, 0, 0);
}

const char *redirect_threads_stop(struct redirect_threads *t,
			      const struct redirect_patch *patches, size_t count)
{
	sigset_t all;
	struct state *s;

	t->tracer = 0;
	if (count_threads() == 1)
		return NULL;
	s = mmap(NULL, sizeof(*s), PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (s == MAP_FAILED)
		return "there is no memory";
	s->process = getpid();
	s->caller = gettid();
	s->patches = patches;
	s->patch_count = count;
	t->state = s;
	/*
	 * The tracer must not take signals of the process. Nor may a handler of this
	 * thread wait for one of the others while they are stopped.
	 */
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &t->mask);
	t->tracer = clone(tracer, s->stack + STACK,
			  CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_UNTRACED,
			  s);
	if (t->tracer > 0) {
		prctl(PR_SET_PTRACER, t->tracer, 0, 0, 0);
		set(s, ALLOWED);
		wait_while(s, ALLOWED);
	}
	if (t->tracer > 0 && s->step == STOPPED)
		return NULL;
	sigprocmask(SIG_SETMASK, &t->mask, NULL);
	if (t->tracer > 0)
		finish(t);
	else
		munmap(s, sizeof(*s));
	t->tracer = 0;
	return "other threads run already and cannot be stopped";
}

void redirect_threads_continue(struct redirect_threads *t)
{
	if (!t->tracer)
		return;
	set(t->state, DONE);
	finish(t);
	sigprocmask(SIG_SETMASK, &t->mask, NULL);
}
