// SPDX-License-Identifier: GPL-2.0
/* Events hit a thread, its process or its CPU while it is at the gate. */
#include "runner.h"

#include <pthread.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>

#include "harness.h"

#define GROUP "/sys/fs/cgroup/tense"
#define FREEZER "/tmp/freezer"
#define CORE_PATTERN "/proc/sys/kernel/core_pattern"

FIXTURE(gated)
{
	int fd;
	struct outside *outside;
	struct runner *r;
	pid_t pid;
};

FIXTURE_SETUP(gated)
{
	ASSERT_GE(cpus_online(), 2);
	ASSERT_EQ(pin(0), 0);
	self->outside = outside_start();
	self->fd = dev_open();
	ASSERT_GE(self->fd, 0) TH_LOG("open: %s", strerror(errno));
}

/* The others go on, whatever it was. */
FIXTURE_TEARDOWN(gated)
{
	await_alone(self->fd);
	EXPECT_TRUE(goes_on(self->fd));
	close(self->fd);
}

#define START() (go_far(self->fd), self->pid = runner_start(&self->r, self->fd, 1))
#define IS_HELD() runner_is_held(self->r, self->fd)
#define LET_GO() runner_let_go(self->r, self->fd)
#define OUTSIDE(call, arg) outside_do(self->outside, call, arg)

#define EXPECT_RIGHT(r)							\
	EXPECT_TRUE(runner_was_right(r))				\
		TH_LOG("target %lld, GVT %lld, time %lld",		\
		       (long long)(r)->target, (long long)(r)->gvt,	\
		       (long long)(r)->time)

/* The end of each story in which the runner survives. */
#define EXPECT_BACK() do {						\
	runner_await(self->r);						\
	EXPECT_RIGHT(self->r);						\
	EXPECT_EQ(reap(self->pid), 0);					\
} while (0)

/* It is held, and goes on when it is let go. */
#define EXPECT_LET_GO() do {						\
	EXPECT_TRUE(IS_HELD());						\
	LET_GO();							\
	EXPECT_BACK();							\
} while (0)

/* GVT has not come to where the runner would be let go. */
#define EXPECT_NOT_REACHED() do {					\
	EXPECT_LT((int64_t)dev_stats(self->fd).gvt + WINDOW,		\
		  self->r->target);					\
	EXPECT_EQ(self->r->step, JUMPS);				\
} while (0)

/*
 * A task that stands still does not hold GVT back. Jumps far ahead, waits until
 * GVT is there, and returns the time that it reached.
 */
static int64_t go_far(int fd)
{
	int64_t now = lseek(fd, FAR, SEEK_CUR);

	while ((int64_t)dev_stats(fd).gvt < now)
		;
	return now;
}

static void await_state(pid_t tid, char state)
{
	while (state_of(tid) != state)
		;
}

static int killed_by(pid_t pid)
{
	int status = reap(pid);

	return WIFSIGNALED(status) ? WTERMSIG(status) : -status;
}

/* --- signals --- */

static struct {
	int fd;
	struct {
		volatile int count;
		volatile int64_t time, gvt;
	} *seen;
} handler;

static void on_signal(int sig)
{
	handler.seen->gvt = dev_stats(handler.fd).gvt;
	handler.seen->time = dev_now(handler.fd);
	handler.seen->count++;
}

static void handle(int sig, int fd)
{
	struct sigaction action = { .sa_handler = on_signal };

	handler.fd = fd;
	handler.seen = shared(sizeof(*handler.seen));
	sigaction(sig, &action, NULL);
}

/* Once, and not before GVT has come. */
#define EXPECT_HANDLED_WHEN_BACK() do {					\
	EXPECT_TRUE(IS_HELD());						\
	EXPECT_EQ(handler.seen->count, 0);				\
	LET_GO();							\
	EXPECT_BACK();							\
	EXPECT_EQ(handler.seen->count, 1);				\
	EXPECT_GE(handler.seen->gvt + WINDOW, self->r->target);		\
} while (0)

TEST_F_TIMEOUT(gated, signal_comes_when_it_is_let_go, PATIENCE)
{
	handle(SIGUSR1, self->fd);
	START();
	ASSERT_EQ(kill(self->pid, SIGUSR1), 0);
	EXPECT_HANDLED_WHEN_BACK();
	EXPECT_GE(handler.seen->time, self->r->target);
}

TEST_F_TIMEOUT(gated, signal_from_outside_waits_as_well, PATIENCE)
{
	handle(SIGUSR1, self->fd);
	START();
	EXPECT_EQ(OUTSIDE(outside_signal, self->pid << 8 | SIGUSR1), 0);
	EXPECT_HANDLED_WHEN_BACK();
}

TEST_F_TIMEOUT(gated, timer_of_its_own_expires, PATIENCE)
{
	struct itimerval in = { .it_value.tv_sec = 100 };

	handle(SIGALRM, self->fd);
	self->r = shared(sizeof(*self->r));
	self->pid = fork_child();
	if (!self->pid) {
		setitimer(ITIMER_REAL, &in, NULL);
		runner_jump(self->r, self->fd, 1);
		_exit(0);
	}
	runner_await_gate(self->r, self->fd);
	/* Its time has come, but not that of who waits for it. */
	lseek(self->fd, 200 * S, SEEK_CUR);
	while (dev_stats(self->fd).deadlines < 1)
		;
	EXPECT_HANDLED_WHEN_BACK();
}

TEST_F_TIMEOUT(gated, signal_without_effect, PATIENCE)
{
	START();
	ASSERT_EQ(kill(self->pid, SIGCHLD), 0);
	ASSERT_EQ(kill(self->pid, SIGCONT), 0);
	EXPECT_LET_GO();
}

TEST_F_TIMEOUT(gated, fatal_signals_kill_at_once, PATIENCE)
{
	static const int fatal[] = { SIGKILL, SIGTERM };

	for (size_t i = 0; i < ARRAY_LENGTH(fatal); i++) {
		START();
		EXPECT_TRUE(IS_HELD());
		ASSERT_EQ(kill(self->pid, fatal[i]), 0);
		EXPECT_EQ(killed_by(self->pid), fatal[i]);
		EXPECT_NOT_REACHED();
	}
}

TEST_F_TIMEOUT(gated, killed_from_outside, PATIENCE)
{
	START();
	EXPECT_EQ(OUTSIDE(outside_signal, self->pid << 8 | SIGKILL), 0);
	EXPECT_EQ(killed_by(self->pid), SIGKILL);
	EXPECT_NOT_REACHED();
}

TEST_F_TIMEOUT(gated, stop_and_continue, PATIENCE)
{
	int64_t told;

	START();
	ASSERT_EQ(kill(self->pid, SIGSTOP), 0);
	EXPECT_TRUE(IS_HELD());
	LET_GO();
	await_state(self->pid, 'T');
	told = go_far(self->fd);
	EXPECT_EQ(self->r->step, JUMPS);
	ASSERT_EQ(kill(self->pid, SIGCONT), 0);
	EXPECT_BACK();
	/* R3 */
	EXPECT_GE(self->r->time, told);
}

TEST_F_TIMEOUT(gated, continue_before_it_could_stop, PATIENCE)
{
	START();
	ASSERT_EQ(kill(self->pid, SIGSTOP), 0);
	EXPECT_TRUE(IS_HELD());
	ASSERT_EQ(kill(self->pid, SIGCONT), 0);
	EXPECT_LET_GO();
}

TEST_F_TIMEOUT(gated, stopped_then_killed, PATIENCE)
{
	START();
	ASSERT_EQ(kill(self->pid, SIGSTOP), 0);
	LET_GO();
	await_state(self->pid, 'T');
	go_far(self->fd);
	ASSERT_EQ(kill(self->pid, SIGKILL), 0);
	EXPECT_EQ(killed_by(self->pid), SIGKILL);
	EXPECT_EQ(self->r->step, JUMPS);
}

/* --- a tracer, outside --- */

static long trace(int request, pid_t pid)
{
	return ptrace(request, pid, NULL, NULL) ? -errno : 0;
}

static long seize(long pid)
{
	return trace(PTRACE_SEIZE, pid);
}

static long interrupt(long pid)
{
	return trace(PTRACE_INTERRUPT, pid);
}

static long attach(long pid)
{
	return trace(PTRACE_ATTACH, pid);
}

static long go_on(long pid)
{
	return trace(PTRACE_CONT, pid);
}

static long detach(long pid)
{
	return trace(PTRACE_DETACH, pid);
}

static long wait_for(long pid)
{
	int status = -1;

	return waitpid(pid, &status, __WALL) == pid ? status : -errno;
}

TEST_F_TIMEOUT(gated, seized_interrupted_detached, PATIENCE)
{
	int64_t told;
	long status;

	START();
	EXPECT_EQ(OUTSIDE(seize, self->pid), 0);
	EXPECT_TRUE(IS_HELD());
	EXPECT_EQ(OUTSIDE(interrupt, self->pid), 0);
	EXPECT_TRUE(IS_HELD());
	LET_GO();
	status = OUTSIDE(wait_for, self->pid);
	EXPECT_TRUE(WIFSTOPPED(status)) TH_LOG("status %#lx", status);
	EXPECT_EQ(status >> 16, PTRACE_EVENT_STOP);
	told = go_far(self->fd);
	EXPECT_EQ(self->r->step, JUMPS);
	EXPECT_EQ(OUTSIDE(detach, self->pid), 0);
	EXPECT_BACK();
	/* R3: not before GVT. */
	EXPECT_GE(self->r->time, told);
}

TEST_F_TIMEOUT(gated, attached_continued_until_it_exits, PATIENCE)
{
	long status;

	START();
	EXPECT_EQ(OUTSIDE(attach, self->pid), 0);
	EXPECT_TRUE(IS_HELD());
	LET_GO();
	status = OUTSIDE(wait_for, self->pid);
	EXPECT_TRUE(WIFSTOPPED(status)) TH_LOG("status %#lx", status);
	EXPECT_EQ(WSTOPSIG(status), SIGSTOP);
	go_far(self->fd);
	EXPECT_EQ(OUTSIDE(go_on, self->pid), 0);
	EXPECT_EQ(OUTSIDE(wait_for, self->pid), 0);
	EXPECT_BACK();
}

TEST_F_TIMEOUT(gated, detached_before_it_is_let_go, PATIENCE)
{
	START();
	EXPECT_EQ(OUTSIDE(seize, self->pid), 0);
	EXPECT_EQ(OUTSIDE(interrupt, self->pid), 0);
	ASSERT_EQ(kill(self->outside->pid, SIGKILL), 0);
	reap(self->outside->pid);
	EXPECT_LET_GO();
}

TEST_F_TIMEOUT(gated, tracer_is_killed, PATIENCE)
{
	START();
	EXPECT_EQ(OUTSIDE(seize, self->pid), 0);
	EXPECT_EQ(OUTSIDE(interrupt, self->pid), 0);
	LET_GO();
	OUTSIDE(wait_for, self->pid);
	EXPECT_EQ(self->r->step, JUMPS);
	ASSERT_EQ(kill(self->outside->pid, SIGKILL), 0);
	reap(self->outside->pid);
	EXPECT_BACK();
}

/* --- what a sibling does, to whom the process belongs as well --- */

enum act { EXECUTES, EXITS, ABORTS };

static struct {
	/* CPU 1's, followed by those of the other CPUs */
	struct runner *r;
	int fd;
	enum act act;
} story;

static void *jump(void *arg)
{
	struct runner *r = arg;

	runner_jump(r, story.fd, r - story.r + 1);
	return NULL;
}

static void *act(void *arg)
{
	char now[24];

	pin(0);
	while (!story.r->go)
		;
	switch (story.act) {
	case EXECUTES:
		snprintf(now, sizeof(now), "%lld",
			 (long long)dev_now(story.fd));
		execl("/proc/self/exe", "guest", "executed", now, NULL);
		break;
	case EXITS:
		exit(7);
	case ABORTS:
		abort();
	}
	_exit(2);
}

/* The program that is executed: its time, and that it is still a member. */
static int executed(int64_t told)
{
	int fd = dev_open();

	return dev_now(fd) < told || dev_stats(fd).flags;
}

/* A process with a thread at the gate on each CPU but the first. */
static pid_t start_process(struct runner **r, int fd, enum act what,
			   bool leader_acts)
{
	int n = cpus_online() - 1;
	pthread_t thread;
	pid_t pid;

	*r = shared(n * sizeof(**r));
	pid = fork_child();
	if (!pid) {
		story.r = *r;
		story.fd = fd;
		story.act = what;
		for (int i = 1; i < n; i++)
			pthread_create(&thread, NULL, jump, &(*r)[i]);
		pthread_create(&thread, NULL, leader_acts ? jump : act, *r);
		if (leader_acts)
			act(NULL);
		jump(*r);
		for (;;)
			pause();
	}
	for (int i = 0; i < n; i++)
		runner_await_gate(&(*r)[i], fd);
	return pid;
}

#define START_PROCESS(what, leader_acts) do {				\
	/* Beyond where its predecessor died. */			\
	go_far(self->fd);						\
	self->pid = start_process(&self->r, self->fd, what,		\
				  leader_acts);				\
	EXPECT_TRUE(IS_HELD());						\
	self->r->go = 1;						\
} while (0)

TEST_F_TIMEOUT(gated, sibling_executes, PATIENCE)
{
	for (int leader_acts = 0; leader_acts < 2; leader_acts++) {
		START_PROCESS(EXECUTES, leader_acts);
		EXPECT_EQ(reap(self->pid), 0);
		EXPECT_NOT_REACHED();
	}
}

TEST_F_TIMEOUT(gated, sibling_exits, PATIENCE)
{
	for (int leader_acts = 0; leader_acts < 2; leader_acts++) {
		START_PROCESS(EXITS, leader_acts);
		EXPECT_EQ(reap(self->pid), 7 << 8);
		EXPECT_NOT_REACHED();
	}
}

TEST_F_TIMEOUT(gated, sibling_aborts, PATIENCE)
{
	for (int leader_acts = 0; leader_acts < 2; leader_acts++) {
		START_PROCESS(ABORTS, leader_acts);
		EXPECT_EQ(killed_by(self->pid), SIGABRT);
		EXPECT_NOT_REACHED();
	}
}

TEST_F_TIMEOUT(gated, sibling_dumps_core, PATIENCE)
{
	static const struct rlimit all = { RLIM_INFINITY, RLIM_INFINITY };
	int status;

	if (write_text(CORE_PATTERN, "/tmp/core"))
		SKIP(return, "this kernel has no core dumps");
	ASSERT_EQ(setrlimit(RLIMIT_CORE, &all), 0);
	for (int leader_acts = 0; leader_acts < 2; leader_acts++) {
		struct stat core;

		unlink("/tmp/core");
		START_PROCESS(ABORTS, leader_acts);
		status = reap(self->pid);
		EXPECT_TRUE(WIFSIGNALED(status) && WCOREDUMP(status))
			TH_LOG("status %#x", status);
		EXPECT_NOT_REACHED();
		EXPECT_EQ(stat("/tmp/core", &core), 0);
		EXPECT_GT(core.st_size, 0);
	}
	unlink("/tmp/core");
}

/* --- control groups --- */

static bool has_group(void)
{
	return !mkdir(GROUP, 0755) || errno == EEXIST;
}

static long enter_group(long pid)
{
	char text[16];

	snprintf(text, sizeof(text), "%ld", pid);
	return write_text(GROUP "/cgroup.procs", text);
}

static long freeze(long frozen)
{
	return write_text(GROUP "/cgroup.freeze", frozen ? "1" : "0");
}

/* Waits until the group is frozen, or no longer. */
static long await_frozen(long frozen)
{
	char text[256];

	for (;;) {
		if (read_text(GROUP "/cgroup.events", text, sizeof(text)) < 0)
			return -errno;
		if (strstr(text, frozen ? "frozen 1" : "frozen 0"))
			return 0;
		usleep(1000);
	}
}

static long leave_group(long pid)
{
	while (rmdir(GROUP))
		if (errno != EBUSY)
			return -errno;
	return 0;
}

TEST_F_TIMEOUT(gated, frozen_and_thawed, PATIENCE)
{
	int64_t told;

	if (!has_group())
		SKIP(goto out, "this kernel has no control groups");
	START();
	EXPECT_EQ(OUTSIDE(enter_group, self->pid), 0);
	EXPECT_TRUE(IS_HELD());
	EXPECT_EQ(OUTSIDE(freeze, 1), 0);
	EXPECT_TRUE(IS_HELD());
	LET_GO();
	EXPECT_EQ(OUTSIDE(await_frozen, 1), 0);
	told = go_far(self->fd);
	EXPECT_EQ(self->r->step, JUMPS);
	EXPECT_EQ(OUTSIDE(freeze, 0), 0);
	EXPECT_BACK();
	EXPECT_GE(self->r->time, told);
	EXPECT_EQ(OUTSIDE(leave_group, 0), 0);
out:;
}

TEST_F_TIMEOUT(gated, frozen_and_killed, PATIENCE)
{
	if (!has_group())
		SKIP(goto out, "this kernel has no control groups");
	START();
	ASSERT_TRUE(IS_HELD());
	EXPECT_EQ(OUTSIDE(enter_group, self->pid), 0);
	EXPECT_EQ(OUTSIDE(freeze, 1), 0);
	ASSERT_TRUE(IS_HELD());
	ASSERT_EQ(kill(self->pid, SIGKILL), 0);
	EXPECT_EQ(killed_by(self->pid), SIGKILL);
	EXPECT_NOT_REACHED();
	EXPECT_EQ(OUTSIDE(leave_group, 0), 0);
out:;
}

/* The freezer of cgroup v1 wakes a thawed task even if the task waits. */
static long mount_freezer(long unused)
{
	if (mkdir(FREEZER, 0755) ||
	    mount("none", FREEZER, "cgroup", 0, "freezer") ||
	    mkdir(FREEZER "/tense", 0755))
		return -errno;
	return 0;
}

static bool has_freezer(void)
{
	char text[1024] = "";

	return read_text("/proc/cgroups", text, sizeof(text)) > 0 &&
	       strstr(text, "\nfreezer");
}

static long enter_freezer(long pid)
{
	char text[16];

	snprintf(text, sizeof(text), "%ld", pid);
	return write_text(FREEZER "/tense/cgroup.procs", text);
}

static long set_frozen(long frozen)
{
	const char *state = frozen ? "FROZEN" : "THAWED";
	char text[16] = "";
	long err = write_text(FREEZER "/tense/freezer.state", state);

	while (!err && strncmp(text, state, strlen(state)))
		if (read_text(FREEZER "/tense/freezer.state", text,
			      sizeof(text)) < 0)
			err = -errno;
	return err;
}

static long unmount_freezer(long unused)
{
	while (rmdir(FREEZER "/tense"))
		if (errno != EBUSY)
			return -errno;
	return umount(FREEZER) || rmdir(FREEZER) ? -errno : 0;
}

/*
 * Its new CPU is behind, and nobody is left there but itself: who waits for GVT to
 * come to where it was waits for ever.
 */
TEST_F_TIMEOUT(gated, wakes_on_a_cpu_that_is_behind, PATIENCE)
{
	int status = -1;

	if (!has_freezer())
		SKIP(goto out, "this kernel has no freezer");
	ASSERT_EQ(OUTSIDE(mount_freezer, 0), 0);
	START();
	EXPECT_EQ(OUTSIDE(enter_freezer, self->pid), 0);
	EXPECT_EQ(OUTSIDE(set_frozen, 1), 0);
	ASSERT_EQ(pin_task(self->pid, 0), 0);
	EXPECT_EQ(OUTSIDE(set_frozen, 0), 0);
	EXPECT_EQ(waitpid(self->pid, &status, 0), self->pid);
	EXPECT_EQ(status, 0);
	/* R9 */
	EXPECT_GE(self->r->time, self->r->target);
	EXPECT_EQ(OUTSIDE(unmount_freezer, 0), 0);
out:;
}

/* The scheduler takes it out of one queue and puts it into another. */
TEST_F_TIMEOUT(gated, moved_to_another_group, PATIENCE)
{
	if (write_text("/sys/fs/cgroup/cgroup.subtree_control", "+cpu") ||
	    !has_group())
		SKIP(goto out, "this kernel has no control groups for CPUs");
	START();
	EXPECT_EQ(OUTSIDE(enter_group, self->pid), 0);
	EXPECT_LET_GO();
	EXPECT_EQ(OUTSIDE(leave_group, 0), 0);
	EXPECT_EQ(write_text("/sys/fs/cgroup/cgroup.subtree_control", "-cpu"),
		  0);
out:;
}

/* --- its CPU --- */

TEST_F_TIMEOUT(gated, its_cpu_goes_offline, PATIENCE)
{
	if (!has_hotplug())
		SKIP(goto out, "this kernel takes no CPU offline");
	START();
	EXPECT_EQ(OUTSIDE(outside_hotplug, -1), 0);
	EXPECT_LET_GO();
	EXPECT_NE(self->r->cpu, 1);
	EXPECT_EQ(OUTSIDE(outside_hotplug, 1), 0);
out:;
}

TEST_F_TIMEOUT(gated, its_cpu_goes_and_comes_back, PATIENCE)
{
	if (!has_hotplug())
		SKIP(goto out, "this kernel takes no CPU offline");
	START();
	EXPECT_EQ(OUTSIDE(outside_hotplug, -1), 0);
	EXPECT_EQ(OUTSIDE(outside_hotplug, 1), 0);
	EXPECT_LET_GO();
out:;
}

TEST_F_TIMEOUT(gated, killed_with_its_cpu_offline, PATIENCE)
{
	if (!has_hotplug())
		SKIP(goto out, "this kernel takes no CPU offline");
	START();
	EXPECT_EQ(OUTSIDE(outside_hotplug, -1), 0);
	ASSERT_EQ(kill(self->pid, SIGKILL), 0);
	EXPECT_EQ(killed_by(self->pid), SIGKILL);
	EXPECT_NOT_REACHED();
	EXPECT_EQ(OUTSIDE(outside_hotplug, 1), 0);
out:;
}

TEST_F_TIMEOUT(gated, affinity_changes, PATIENCE)
{
	for (int cpu = 0; cpu < cpus_online(); cpu++) {
		START();
		ASSERT_EQ(pin_task(self->pid, cpu), 0);
		/* It may run for a moment, to wait on its new CPU. */
		runner_await_gate(self->r, self->fd);
		EXPECT_LET_GO();
		EXPECT_EQ(self->r->cpu, cpu);
		await_alone(self->fd);
	}
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "executed"))
		return executed(atoll(argv[2]));
	return run_with_module(argc, argv, test_harness_run);
}
