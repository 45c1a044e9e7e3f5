// SPDX-License-Identifier: GPL-2.0
/*
 * Users cannot harm each other or the machine: tests each line of SECURITY.md
 * that the kernel enforces.
 */
#include "smp.h"

#include <pthread.h>
#include <sched.h>
#include <sys/stat.h>

#include "harness.h"

#define ALICE 1000
#define BOB 1001
#define FAR_AHEAD (3600 * S)

#define PARAMETER(name) "/sys/module/tense/parameters/" name
#define PROGRAM "/tmp/guest-users"

static void become(uid_t uid)
{
	if (setresgid(uid, uid, uid) || setresuid(uid, uid, uid))
		_exit(99);
}

/* Calls what(arg) in a process of that user; returns its result, up to 98. */
static int as(uid_t uid, int (*what)(int arg), int arg)
{
	pid_t pid = fork();

	if (!pid) {
		become(uid);
		_exit(what(arg));
	}
	return outcome_of(pid);
}

/* Processes that have joined, or could not, and stay. */
struct crowd {
	pid_t pid[8];
	int size;
};

/* One more; returns its error, or 0. */
static int crowd_join(struct crowd *c, uid_t uid)
{
	int told[2], err = -1;

	if (pipe(told))
		return -1;
	c->pid[c->size] = fork();
	if (!c->pid[c->size]) {
		become(uid);
		err = dev_open() < 0 ? errno : 0;
		if (write(told[1], &err, sizeof(err)) != sizeof(err))
			_exit(1);
		pause();
		_exit(0);
	}
	c->size++;
	if (read(told[0], &err, sizeof(err)) != sizeof(err))
		err = -1;
	close(told[0]);
	close(told[1]);
	return err;
}

static void crowd_end(struct crowd *c)
{
	while (c->size) {
		kill(c->pid[--c->size], SIGKILL);
		waitpid(c->pid[c->size], NULL, 0);
	}
}

FIXTURE(users)
{
	struct crowd crowd;
	char experiments[16], tasks[16], areas[16];
};

FIXTURE_SETUP(users)
{
	ASSERT_EQ(chmod(TENSE_DEVICE, 0666), 0);
	read_text(PARAMETER("experiments_max"), self->experiments, 16);
	read_text(PARAMETER("tasks_max"), self->tasks, 16);
	read_text(PARAMETER("areas_max"), self->areas, 16);
	ASSERT_GT(atoi(self->experiments), 0);
}

FIXTURE_TEARDOWN(users)
{
	crowd_end(&self->crowd);
	write_text(PARAMETER("experiments_max"), self->experiments);
	write_text(PARAMETER("tasks_max"), self->tasks);
	write_text(PARAMETER("areas_max"), self->areas);
	chmod(TENSE_DEVICE, 0660);
}

/* Until the tasks that have exited have given back what they had. */
static int join_soon(struct crowd *c, uid_t uid)
{
	int err;

	for (int i = 0; i < 1000; i++) {
		err = crowd_join(c, uid);
		if (err != EMFILE)
			break;
		kill(c->pid[--c->size], SIGKILL);
		waitpid(c->pid[c->size], NULL, 0);
	}
	return err;
}

TEST_F(users, have_so_many_experiments)
{
	struct crowd *c = &self->crowd;

	ASSERT_EQ(write_text(PARAMETER("experiments_max"), "2"), 0);
	EXPECT_EQ(crowd_join(c, ALICE), 0);
	EXPECT_EQ(crowd_join(c, ALICE), 0);
	EXPECT_EQ(crowd_join(c, ALICE), EMFILE);
	/* Others are not limited by that. */
	EXPECT_EQ(crowd_join(c, BOB), 0);
	/* As of other limits, root has more. */
	EXPECT_EQ(crowd_join(c, 0), 0);
	EXPECT_EQ(crowd_join(c, 0), 0);
	EXPECT_EQ(crowd_join(c, 0), 0);
	/* Tasks that have ended do not count. */
	crowd_end(c);
	EXPECT_EQ(join_soon(c, ALICE), 0);
}

static bool has_namespaces(void)
{
	return !access("/proc/self/ns/user", F_OK);
}

/* With all capabilities, but only there. */
static int join_in_namespace(int unused)
{
	if (unshare(CLONE_NEWUSER))
		return 90;
	return dev_open() < 0 ? errno : 0;
}

TEST_F(users, have_no_more_in_a_namespace)
{
	if (!has_namespaces())
		SKIP(return, "this kernel has no namespaces of users");
	ASSERT_EQ(write_text(PARAMETER("experiments_max"), "1"), 0);
	EXPECT_EQ(join_soon(&self->crowd, ALICE), 0);
	crowd_end(&self->crowd);
	/* As soon as that has left. */
	while (as(ALICE, join_in_namespace, 0))
		;
	EXPECT_EQ(join_soon(&self->crowd, ALICE), 0);
	EXPECT_EQ(as(ALICE, join_in_namespace, 0), EMFILE);
}

/* Calls @what in a namespace of ALICE's, whose ids 0 and 1 are 1000 and 5000 outside. */
static int as_two(int (*what)(void))
{
	int ready[2], go[2];
	char path[64], c;
	pid_t pid;

	if (pipe(ready) || pipe(go))
		return 90;
	pid = fork();
	if (!pid) {
		become(ALICE);
		if (unshare(CLONE_NEWUSER) || write(ready[1], "", 1) != 1 ||
		    read(go[0], &c, 1) != 1)
			_exit(91);
		_exit(what());
	}
	snprintf(path, sizeof(path), "/proc/%d/uid_map", pid);
	if (read(ready[0], &c, 1) != 1 ||
	    write_text(path, "0 1000 1\n1 5000 1\n") || write(go[1], "", 1) != 1)
		kill(pid, SIGKILL);
	return outcome_of(pid);
}

static int join_by_second(void)
{
	if (setresuid(1, 1, 1))
		return 92;
	return dev_open() < 0 ? errno : 0;
}

static int join_as_second(void)
{
	return as_two(join_by_second);
}

TEST_F(users, have_no_more_by_other_ids_in_a_namespace)
{
	if (!has_namespaces())
		SKIP(return, "this kernel has no namespaces of users");
	EXPECT_EQ(join_as_second(), 0);
	ASSERT_EQ(write_text(PARAMETER("experiments_max"), "1"), 0);
	EXPECT_EQ(join_soon(&self->crowd, ALICE), 0);
	EXPECT_EQ(join_as_second(), EMFILE);
}

/* Returns the tasks in the experiment that it joins, or an error from 90 on. */
static int join_name(int in_namespace)
{
	int fd;

	if (in_namespace && unshare(CLONE_NEWUSER))
		return 90;
	fd = open(TENSE_DEVICE, O_RDWR | O_CLOEXEC | O_NONBLOCK);
	if (write(fd, "join x", 6) != 6)
		return 91;
	return dev_stats(fd).tasks;
}

/* The same while a process of ALICE's is in the experiment of that name. */
static int join_beside(uid_t uid, int in_namespace)
{
	int ready[2], result;
	pid_t pid;
	char c;

	if (pipe(ready))
		return 92;
	pid = fork();
	if (!pid) {
		become(ALICE);
		if (join_name(0) != 1 || write(ready[1], "", 1) != 1)
			_exit(93);
		pause();
	}
	close(ready[1]);
	result = read(ready[0], &c, 1) == 1 ? as(uid, join_name, in_namespace) : 94;
	close(ready[0]);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	return result;
}

TEST_F(users, have_names_of_their_own)
{
	EXPECT_EQ(join_beside(ALICE, 0), 2);
	EXPECT_EQ(join_beside(BOB, 0), 1);
	EXPECT_EQ(join_beside(0, 0), 1);
	/* A namespace gives other users the same id. */
	if (has_namespaces())
		EXPECT_EQ(join_beside(ALICE, 1), 1);
}

static void *nothing(void *arg)
{
	return arg;
}

/* With so many tasks allowed: forks until that fails, and returns why. */
static int fork_beyond(int tasks)
{
	int fd = setpgid(0, 0) ? -1 : dev_open(), err = 0, made = 0;
	pthread_t thread;
	pid_t pid;

	if (fd < 0)
		return 90;
	while (!err && made < tasks) {
		pid = fork();
		if (!pid) {
			pause();
			_exit(0);
		}
		if (pid < 0)
			err = errno;
		else
			made++;
	}
	if (made != tasks - 1)
		return 91;
	/* A thread is a task like others. */
	if (pthread_create(&thread, NULL, nothing, NULL) != err)
		return 92;
	/* Nothing else has changed: who is there stays there. */
	if ((int)dev_stats(fd).tasks != tasks || dev_now(fd) < 0)
		return 93;
	signal(SIGTERM, SIG_IGN);
	kill(0, SIGTERM);
	while (wait(NULL) > 0)
		;
	/* Then there is room again. */
	while (dev_stats(fd).tasks > 1)
		;
	pid = fork();
	if (!pid)
		_exit(0);
	return pid < 0 ? 94 : err;
}

TEST_F(users, have_so_many_tasks)
{
	ASSERT_EQ(write_text(PARAMETER("tasks_max"), "5"), 0);
	EXPECT_EQ(as(ALICE, fork_beyond, 5), EDQUOT);
	/* A limit of 0 refuses even a user's first task. */
	ASSERT_EQ(write_text(PARAMETER("tasks_max"), "0"), 0);
	EXPECT_EQ(crowd_join(&self->crowd, ALICE), EDQUOT);
}

static int map_area(int unused)
{
	int fd = dev_open();

	if (fd < 0)
		return 90;
	if (mmap(NULL, getpagesize(), PROT_READ, MAP_SHARED, fd, 0) == MAP_FAILED)
		return errno;
	/* The same one again is no further one. */
	return mmap(NULL, getpagesize(), PROT_READ, MAP_SHARED, fd, 0) ==
		MAP_FAILED ? errno : 0;
}

TEST_F(users, have_so_many_areas)
{
	ASSERT_EQ(write_text(PARAMETER("areas_max"), "1"), 0);
	EXPECT_EQ(as(ALICE, map_area, 0), 0);
	ASSERT_EQ(write_text(PARAMETER("areas_max"), "0"), 0);
	EXPECT_EQ(as(ALICE, map_area, 0), EDQUOT);
}

static int open_device(int unused)
{
	return dev_open() < 0 ? errno : 0;
}

TEST(the_device_is_not_for_all)
{
	EXPECT_EQ(as(ALICE, open_device, 0), EACCES);
}

static int set_probe(int unused)
{
	int fd = dev_open();

	return write(fd, "probe 1 100000 0 0", 18) < 0 ? errno : 0;
}

TEST_F(users, set_no_breakpoints)
{
	EXPECT_EQ(as(ALICE, set_probe, 0), EPERM);
}

/* A member that has given up what the others have. */
static int write_as_member(const char *text)
{
	int fd = dev_open();
	pid_t pid = fork();

	if (!pid) {
		become(ALICE);
		_exit(write(fd, text, strlen(text)) < 0 ? errno : 0);
	}
	close(fd);
	return outcome_of(pid);
}

TEST_F(users, change_only_their_own)
{
	EXPECT_EQ(write_as_member("idle skip"), EPERM);
	EXPECT_EQ(write_as_member("clocks none"), EPERM);
	/* This is the task's alone. */
	EXPECT_EQ(write_as_member("50"), 0);
}

/* A member that has become the second user of the namespace. */
static int write_by_second(void)
{
	int fd = dev_open();
	pid_t pid = fork();

	if (!pid) {
		if (setresuid(1, 1, 1))
			_exit(93);
		_exit(write(fd, "idle skip", 9) < 0 ? errno : 0);
	}
	return outcome_of(pid);
}

/*
 * Returns how many tasks are in the experiment that a child joins whose user is the second
 * one. Its parent's user is the first.
 */
static int tasks_of_second(void)
{
	pid_t pid;
	int go[2];
	char c;

	if (pipe(go))
		return 94;
	pid = fork();
	if (!pid) {
		if (setresuid(1, 1, 1) || read(go[0], &c, 1) != 1)
			_exit(93);
		_exit(dev_stats(dev_open()).tasks);
	}
	if (dev_open() < 0 || write(go[1], "", 1) != 1)
		return 95;
	return outcome_of(pid);
}

TEST_F(users, are_different_in_a_namespace)
{
	if (!has_namespaces())
		SKIP(return, "this kernel has no namespaces of users");
	EXPECT_EQ(as_two(write_by_second), EPERM);
	EXPECT_EQ(as_two(tasks_of_second), 1);
}

/*
 * A child that was there before its parent joined opens the device as this user:
 * how many tasks are in what it joins.
 */
static int tasks_of_child(uid_t uid)
{
	int pipes[2], status, fd;
	pid_t child;
	char c;

	if (pipe(pipes))
		return -1;
	child = fork();
	if (!child) {
		become(uid);
		if (read(pipes[0], &c, 1) != 1)
			_exit(90);
		fd = dev_open();
		_exit(fd < 0 ? 91 : (int)dev_stats(fd).tasks);
	}
	fd = dev_open();
	if (fd < 0 || write(pipes[1], "", 1) != 1)
		return -1;
	status = outcome_of(child);
	close(fd);
	return status;
}

TEST_F(users, do_not_join_those_of_others)
{
	EXPECT_EQ(tasks_of_child(0), 2);
	EXPECT_EQ(tasks_of_child(ALICE), 1);
}

/* A copy of this program, of that mode. */
static int install(mode_t mode)
{
	static char block[1 << 16];
	int from = open("/proc/self/exe", O_RDONLY), to;
	ssize_t n;

	unlink(PROGRAM);
	to = open(PROGRAM, O_WRONLY | O_CREAT | O_EXCL, 0700);
	while ((n = read(from, block, sizeof(block))) > 0)
		if (write(to, block, n) != n)
			return -1;
	close(from);
	return fchmod(to, mode) || close(to) ? -1 : 0;
}

/* By the program: 1 if the time is a virtual one, 0 if not. */
static int tell_time(const char *started)
{
	return clock_ns(CLOCK_MONOTONIC) - atoll(started) > FAR_AHEAD / 2;
}

/* Executes the program in an experiment, far ahead. */
static int execute(int unused)
{
	char started[32];
	int fd;

	snprintf(started, sizeof(started), "%lld",
		 (long long)clock_ns(CLOCK_MONOTONIC));
	fd = dev_open();
	if (fd < 0)
		return 90;
	/* So that it is not left because it is closed. */
	fcntl(fd, F_SETFD, 0);
	lseek(fd, FAR_AHEAD, SEEK_CUR);
	execl(PROGRAM, PROGRAM, "time", started, NULL);
	return 91;
}

TEST_F(users, run_other_programs_in_virtual_time)
{
	ASSERT_EQ(install(0755), 0);
	EXPECT_EQ(as(ALICE, execute, 0), 1);
	/* No privileges are gained. */
	EXPECT_EQ(as(0, execute, 0), 1);
}

TEST_F(users, run_privileged_ones_in_real_time)
{
	ASSERT_EQ(install(04755), 0);
	EXPECT_EQ(as(ALICE, execute, 0), 0);
}

/* The others of the experiment stay, also if the program is one of theirs. */
static int execute_in_child(int unused)
{
	int fd = dev_open();
	pid_t pid;

	if (fd < 0)
		return 90;
	pid = fork();
	if (!pid)
		_exit(execute(0));
	if (outcome_of(pid))
		return 92;
	/* It has left long ago, the parent has not. */
	return dev_stats(fd).tasks == 1 && dev_now(fd) >= 0 ? 0 : 93;
}

TEST_F(users, leave_alone_by_a_privileged_one)
{
	ASSERT_EQ(install(04755), 0);
	EXPECT_EQ(as(ALICE, execute_in_child, 0), 0);
}

/* A report names threads as its reader does. */
static int pid_in_namespace(int unused)
{
	struct report r;
	pid_t pid;
	int fd;

	if (unshare(CLONE_NEWUSER | CLONE_NEWPID))
		return 90;
	pid = fork();
	if (!pid) {
		fd = dev_open();
		if (fd < 0)
			_exit(91);
		r = report_read(fd);
		_exit(report_of(&r, 1)->pid == 1 ? 0 : 92);
	}
	return outcome_of(pid);
}

TEST_F(users, see_their_own_pids)
{
	if (!has_namespaces())
		SKIP(return, "this kernel has no namespaces of users");
	EXPECT_EQ(as(ALICE, pid_in_namespace, 0), 0);
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "time"))
		return tell_time(argv[2]);
	return run_with_module(argc, argv, test_harness_run);
}
