// SPDX-License-Identifier: GPL-2.0
/* Experiments with names, which processes without a common ancestor join. */
#include "smp.h"

#include <net/if.h>
#include <pthread.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

#include "exchange.h"
#include "harness.h"

#define ALICE 1000
#define BOB 1001
#define MEMBERS 8
/* No task runs so long that its time gets there. */
#define AWAY (500 * S)

#define PARAMETER(name) "/sys/module/tense/parameters/" name

/* A handle that joins nothing. */
static int open_only(void)
{
	return open(TENSE_DEVICE, O_RDWR | O_CLOEXEC | O_NONBLOCK);
}

/* Returns 0, or the error. */
static int tell(int fd, const char *text)
{
	return write(fd, text, strlen(text)) == (ssize_t)strlen(text) ? 0 : errno;
}

static int join_by(int fd, const char *name)
{
	char text[128];

	snprintf(text, sizeof(text), "join %s", name);
	return tell(fd, text);
}

static bool is_member(void)
{
	int fd = open_only();
	bool is = dev_now(fd) >= 0;

	close(fd);
	return is;
}

/* --- processes that join and then do what they are told --- */

enum order { TELL_TIME, TELL_TASKS, JUMP, JOIN_X, LEAVE, RUN };

struct member {
	pid_t pid;
	int order[2], answer[2];
};

struct crowd {
	struct member member[MEMBERS];
	int size;
};

static void become(uid_t uid)
{
	if (setresgid(uid, uid, uid) || setresuid(uid, uid, uid))
		_exit(99);
}

static int64_t obey(int fd, enum order order)
{
	switch (order) {
	case TELL_TIME:
		return dev_now(fd);
	case TELL_TASKS:
		return dev_stats(fd).tasks;
	case JUMP:
		return lseek(fd, AWAY, SEEK_CUR);
	case JOIN_X:
		return join_by(fd, "x");
	case LEAVE:
		return close(fd);
	case RUN:
		break;
	}
	return -1;
}

static void __attribute__((noreturn)) be_member(struct member *m, uid_t uid,
						const char *name)
{
	enum order order;
	int64_t answer;
	int fd;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	become(uid);
	fd = open_only();
	answer = join_by(fd, name);
	while (write(m->answer[1], &answer, sizeof(answer)) == sizeof(answer) &&
	       read(m->order[0], &order, sizeof(order)) == sizeof(order)) {
		if (order == RUN)
			for (;;)
				;
		answer = obey(fd, order);
	}
	_exit(0);
}

static int64_t answer_of(struct member *m)
{
	int64_t answer = -1;

	return read(m->answer[0], &answer, sizeof(answer)) == sizeof(answer) ?
		answer : -1;
}

/* Returns the error of joining, or 0. */
static int start_member(struct crowd *c, uid_t uid, const char *name)
{
	struct member *m = &c->member[c->size++];

	if (pipe(m->order) || pipe(m->answer))
		return -1;
	m->pid = fork();
	if (!m->pid)
		be_member(m, uid, name);
	return answer_of(m);
}

static int64_t ask(struct crowd *c, int i, enum order order)
{
	struct member *m = &c->member[i];

	if (write(m->order[1], &order, sizeof(order)) != sizeof(order))
		return -1;
	return order == RUN ? 0 : answer_of(m);
}

static void end_member(struct member *m)
{
	if (!m->pid)
		return;
	kill(m->pid, SIGKILL);
	waitpid(m->pid, NULL, 0);
	m->pid = 0;
	for (int i = 0; i < 2; i++) {
		close(m->order[i]);
		close(m->answer[i]);
	}
}

static void end_members(struct crowd *c)
{
	while (c->size)
		end_member(&c->member[--c->size]);
}

FIXTURE(names)
{
	struct crowd crowd;
	char experiments[16], tasks[16];
	int fd;
};

FIXTURE_SETUP(names)
{
	ASSERT_EQ(chmod(TENSE_DEVICE, 0666), 0);
	read_text(PARAMETER("experiments_max"), self->experiments, 16);
	read_text(PARAMETER("tasks_max"), self->tasks, 16);
	self->fd = open_only();
	ASSERT_GE(self->fd, 0);
}

FIXTURE_TEARDOWN(names)
{
	end_members(&self->crowd);
	close(self->fd);
	write_text(PARAMETER("experiments_max"), self->experiments);
	write_text(PARAMETER("tasks_max"), self->tasks);
	chmod(TENSE_DEVICE, 0660);
}

/* --- the handle and the text --- */

TEST_F(names, are_chosen_after_a_nonblocking_open)
{
	EXPECT_EQ(dev_now(self->fd), -1);
	EXPECT_EQ(errno, ESRCH);
	EXPECT_EQ(tell(self->fd, "50"), ESRCH);
	EXPECT_EQ(join_by(self->fd, "x"), 0);
	EXPECT_GE(dev_now(self->fd), 0);
	EXPECT_EQ(dev_stats(self->fd).flags, TENSE_STATS_OWNER);
	EXPECT_EQ(dev_stats(self->fd).percent, 100);
	EXPECT_EQ(dev_stats(self->fd).tasks, 1);
	/* The handle by which it joined takes it out again. */
	close(self->fd);
	EXPECT_FALSE(is_member());
	self->fd = open_only();
}

TEST_F(names, are_of_letters_digits_and_three_signs)
{
	static const char *const good[] = {
		"a", "A-z_0.9", "...", "-", "shell-4711", "x\n",
		"12345678901234567890123456789012",
		"12345678901234567890123456789012\n",
	};

	for (size_t i = 0; i < ARRAY_LENGTH(good); i++) {
		EXPECT_EQ(join_by(self->fd, good[i]), 0)
			TH_LOG("\"%s\": %s", good[i], strerror(errno));
		EXPECT_TRUE(is_member());
		close(self->fd);
		self->fd = open_only();
	}
}

TEST_F(names, are_refused)
{
	static const char *const bad[] = {
		"join", "join ", "join \n", "join x\n\n", "join x ", "join  x",
		"join x y", "join a/b", "join a\tb", "join \xe9", "joinx",
		"join\nx", "j", "join %s", "join a:b", "join *",
		"join 123456789012345678901234567890123",
		"join 123456789012345678901234567890123\n",
		"join 1234567890123456789012345678901234567890123456789012345678",
		"join 12345678901234567890123456789012345678901234567890123456789",
	};

	for (size_t i = 0; i < ARRAY_LENGTH(bad); i++) {
		EXPECT_EQ(tell(self->fd, bad[i]), EINVAL)
			TH_LOG("\"%s\" was accepted", bad[i]);
	}
	EXPECT_EQ(write(self->fd, "join a\0b", 8), -1);
	EXPECT_EQ(errno, EINVAL);
	EXPECT_EQ(write(self->fd, "join a\0", 7), -1);
	EXPECT_EQ(errno, EINVAL);
	EXPECT_EQ(write(self->fd, "", 0), -1);
	EXPECT_EQ(errno, EINVAL);
	EXPECT_FALSE(is_member());
}

/* No null ends the text, and no memory follows it. */
TEST_F(names, end_where_the_text_ends)
{
	static const char text[] = "join at-the-end";
	size_t page = getpagesize(), length = strlen(text);
	char *memory = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	ASSERT_NE(memory, MAP_FAILED);
	ASSERT_EQ(mprotect(memory + page, page, PROT_NONE), 0);
	memcpy(memory + page - length, text, length);
	EXPECT_EQ(write(self->fd, memory + page - length, length + 1), -1);
	EXPECT_EQ(errno, EFAULT);
	EXPECT_FALSE(is_member());
	EXPECT_EQ(write(self->fd, memory + page - length, length), length);
	EXPECT_EQ(start_member(&self->crowd, 0, "at-the-end"), 0);
	EXPECT_EQ(dev_stats(self->fd).tasks, 2);
}

/* --- one experiment, or several --- */

TEST_F(names, bring_strangers_together)
{
	struct crowd *c = &self->crowd;

	ASSERT_EQ(start_member(c, 0, "x"), 0);
	EXPECT_GE(ask(c, 0, JUMP), AWAY);
	ASSERT_EQ(start_member(c, 0, "x"), 0);
	EXPECT_GE(ask(c, 1, TELL_TIME), AWAY);
	EXPECT_EQ(ask(c, 0, TELL_TASKS), 2);
	EXPECT_EQ(ask(c, 1, TELL_TASKS), 2);
	ASSERT_EQ(start_member(c, 0, "y"), 0);
	EXPECT_LT(ask(c, 2, TELL_TIME), AWAY);
	EXPECT_EQ(ask(c, 2, TELL_TASKS), 1);
	/* A name is compared as a whole. */
	ASSERT_EQ(start_member(c, 0, "x2"), 0);
	EXPECT_EQ(ask(c, 3, TELL_TASKS), 1);
	ASSERT_EQ(start_member(c, 0, "X"), 0);
	EXPECT_EQ(ask(c, 4, TELL_TASKS), 1);
	EXPECT_EQ(ask(c, 0, TELL_TASKS), 2);
}

TEST_F(names, belong_to_a_user)
{
	struct crowd *c = &self->crowd;

	ASSERT_EQ(start_member(c, ALICE, "x"), 0);
	EXPECT_GE(ask(c, 0, JUMP), AWAY);
	ASSERT_EQ(start_member(c, BOB, "x"), 0);
	EXPECT_LT(ask(c, 1, TELL_TIME), AWAY);
	EXPECT_EQ(ask(c, 1, TELL_TASKS), 1);
	ASSERT_EQ(start_member(c, 0, "x"), 0);
	EXPECT_LT(ask(c, 2, TELL_TIME), AWAY);
	EXPECT_EQ(ask(c, 2, TELL_TASKS), 1);
	ASSERT_EQ(start_member(c, ALICE, "x"), 0);
	EXPECT_GE(ask(c, 3, TELL_TIME), AWAY);
	EXPECT_EQ(ask(c, 0, TELL_TASKS), 2);
}

TEST_F(names, are_not_for_programs_with_other_rights)
{
	struct crowd *c = &self->crowd;

	ASSERT_EQ(start_member(c, ALICE, "x"), 0);
	/* As a program of another user that ALICE's set-user-ID bit starts. */
	ASSERT_EQ(setresuid(ALICE, 0, 0), 0);
	EXPECT_EQ(join_by(self->fd, "x"), EPERM);
	ASSERT_EQ(setresuid(0, ALICE, 0), 0);
	EXPECT_EQ(join_by(self->fd, "x"), EPERM);
	ASSERT_EQ(setresuid(0, 0, 0), 0);
	ASSERT_EQ(setresgid(0, BOB, 0), 0);
	EXPECT_EQ(join_by(self->fd, "x"), EPERM);
	ASSERT_EQ(setresgid(0, 0, 0), 0);
	EXPECT_FALSE(is_member());
	EXPECT_EQ(ask(c, 0, TELL_TASKS), 1);
}

/* A user who may not open the device cannot join by a handle that another user passes on. */
TEST_F(names, need_a_handle_of_ones_own)
{
	pid_t pid = fork();

	if (!pid) {
		become(ALICE);
		_exit(join_by(self->fd, "x"));
	}
	EXPECT_EQ(outcome_of(pid), EPERM);
}

/* --- members that join again --- */

TEST_F(names, do_not_move_a_member)
{
	EXPECT_EQ(join_by(self->fd, "x"), 0);
	lseek(self->fd, AWAY, SEEK_CUR);
	EXPECT_EQ(join_by(self->fd, "x"), 0);
	EXPECT_EQ(join_by(self->fd, "x\n"), 0);
	EXPECT_EQ(join_by(self->fd, "y"), EBUSY);
	EXPECT_EQ(join_by(self->fd, "y z"), EINVAL);
	EXPECT_EQ(dev_stats(self->fd).tasks_total, 1);
	EXPECT_GE(dev_now(self->fd), AWAY);
}

TEST_F(names, are_not_for_an_experiment_without_one)
{
	int fd = dev_open();

	ASSERT_GE(fd, 0);
	EXPECT_EQ(join_by(fd, "x"), EBUSY);
	EXPECT_EQ(join_by(self->fd, "x"), EBUSY);
	EXPECT_EQ(start_member(&self->crowd, 0, "x"), EBUSY);
	close(fd);
	EXPECT_EQ(join_by(self->fd, "x"), 0);
}

TEST_F(names, are_known_to_children)
{
	pid_t pid;

	ASSERT_EQ(join_by(self->fd, "x"), 0);
	pid = fork();
	if (!pid)
		_exit(join_by(self->fd, "x"));
	EXPECT_EQ(outcome_of(pid), 0);
	pid = fork();
	if (!pid)
		_exit(join_by(self->fd, "y"));
	EXPECT_EQ(outcome_of(pid), EBUSY);
	/* A member that has become another user has other names. */
	pid = fork();
	if (!pid) {
		become(ALICE);
		_exit(join_by(self->fd, "x"));
	}
	EXPECT_EQ(outcome_of(pid), EBUSY);
}

struct thread {
	int go[2];
	int x, y, open;		/* errors */
};

static void *join_as_thread(void *arg)
{
	struct thread *t = arg;
	int fd = open_only();
	char c;

	if (read(t->go[0], &c, 1) != 1)
		return NULL;
	t->y = join_by(fd, "y");
	t->x = join_by(fd, "x");
	t->open = dev_stats(fd).tasks;
	close(fd);
	return NULL;
}

TEST_F(names, do_not_divide_the_threads_of_a_process)
{
	struct thread t = { .x = -1 };
	pthread_t thread;

	ASSERT_EQ(pipe(t.go), 0);
	ASSERT_EQ(pthread_create(&thread, NULL, join_as_thread, &t), 0);
	ASSERT_EQ(join_by(self->fd, "x"), 0);
	ASSERT_EQ(write(t.go[1], "", 1), 1);
	ASSERT_EQ(pthread_join(thread, NULL), 0);
	EXPECT_EQ(t.y, EBUSY);
	EXPECT_EQ(t.x, 0);
	EXPECT_EQ(t.open, 2);
	close(t.go[0]);
	close(t.go[1]);
}

/* A name comes before the parent's experiment, into which open(2) leads. */
TEST_F(names, come_before_the_parent)
{
	struct crowd *c = &self->crowd;
	int pipes[2], fd;
	pid_t pid;
	char go;

	ASSERT_EQ(start_member(c, 0, "x"), 0);
	ASSERT_EQ(pipe(pipes), 0);
	pid = fork();
	if (!pid) {
		if (read(pipes[0], &go, 1) != 1)
			_exit(99);
		_exit(join_by(self->fd, "x"));
	}
	fd = dev_open();
	ASSERT_GE(fd, 0);
	ASSERT_EQ(write(pipes[1], "", 1), 1);
	EXPECT_EQ(outcome_of(pid), 0);
	EXPECT_EQ(dev_stats(fd).tasks_total, 1);
	close(fd);
}

TEST_F(names, are_joined_after_another_experiment_with_a_ring)
{
	struct tense_clock *clock;
	int fd = dev_open();
	void *old = mmap(NULL, getpagesize(), PROT_READ, MAP_SHARED, fd, 0);

	ASSERT_NE(old, MAP_FAILED);
	ASSERT_EQ(start_member(&self->crowd, 0, "x"), EBUSY);
	close(fd);
	EXPECT_EQ(join_by(self->fd, "x"), 0);
	clock = old;
	EXPECT_FALSE(clock->flags & TENSE_CLOCK_MEMBER);
	clock = mmap(NULL, getpagesize(), PROT_READ, MAP_SHARED, self->fd, 0);
	ASSERT_NE(clock, MAP_FAILED);
	EXPECT_TRUE(clock->flags & TENSE_CLOCK_MEMBER);
	/* Where it has a counter, its page tells the time of the new experiment. */
	EXPECT_LT(clock->ns, AWAY);
}

/* --- the end of a name --- */

TEST_F(names, die_with_the_last_member)
{
	struct crowd *c = &self->crowd;

	for (int i = 0; i < 50; i++) {
		ASSERT_EQ(start_member(c, 0, "x"), 0);
		ASSERT_LT(ask(c, 0, TELL_TIME), AWAY);
		ASSERT_EQ(ask(c, 0, TELL_TASKS), 1);
		ASSERT_GE(ask(c, 0, JUMP), AWAY);
		/* By SIGKILL, when it waits. */
		end_members(c);
	}
	ASSERT_EQ(start_member(c, 0, "x"), 0);
	ASSERT_GE(ask(c, 0, JUMP), AWAY);
	EXPECT_EQ(ask(c, 0, RUN), 0);
	/* By SIGKILL, when it runs. */
	end_members(c);
	ASSERT_EQ(start_member(c, 0, "x"), 0);
	EXPECT_LT(ask(c, 0, TELL_TIME), AWAY);
	ASSERT_GE(ask(c, 0, JUMP), AWAY);
	EXPECT_EQ(ask(c, 0, LEAVE), 0);
	/* It lives on outside. */
	ASSERT_EQ(start_member(c, 0, "x"), 0);
	EXPECT_LT(ask(c, 1, TELL_TIME), AWAY);
}

TEST_F(names, live_as_long_as_any_member)
{
	struct crowd *c = &self->crowd;

	ASSERT_EQ(start_member(c, 0, "x"), 0);
	ASSERT_EQ(start_member(c, 0, "x"), 0);
	EXPECT_GE(ask(c, 0, JUMP), AWAY);
	end_member(&c->member[0]);
	ASSERT_EQ(start_member(c, 0, "x"), 0);
	EXPECT_GE(ask(c, 2, TELL_TIME), AWAY);
	end_member(&c->member[1]);
	ASSERT_EQ(start_member(c, 0, "x"), 0);
	EXPECT_GE(ask(c, 3, TELL_TIME), AWAY);
}

TEST_F(names, do_not_lift_limits)
{
	struct crowd *c = &self->crowd;
	int err;

	ASSERT_EQ(write_text(PARAMETER("experiments_max"), "1"), 0);
	/* Earlier members may still be leaving. */
	for (int i = 0; i < 1000; i++) {
		err = start_member(c, ALICE, "x");
		if (!err)
			break;
		end_members(c);
	}
	ASSERT_EQ(err, 0);
	EXPECT_EQ(start_member(c, ALICE, "y"), EMFILE);
	EXPECT_EQ(start_member(c, BOB, "y"), 0);
	/* The experiment is full, but it exists. */
	EXPECT_EQ(start_member(c, ALICE, "x"), 0);
	ASSERT_EQ(write_text(PARAMETER("tasks_max"), "2"), 0);
	EXPECT_EQ(start_member(c, ALICE, "x"), EDQUOT);
	EXPECT_EQ(ask(c, 0, TELL_TASKS), 2);
}

/* --- time --- */

/* A running member, ahead of all that wait, has no time that others lack. */
TEST_F(names, start_at_the_time_of_the_experiment)
{
	struct crowd *c = &self->crowd;
	int64_t before, after;

	ASSERT_EQ(start_member(c, 0, "x"), 0);
	EXPECT_GE(ask(c, 0, JUMP), AWAY);
	for (int i = 1; i < 4; i++) {
		before = ask(c, i - 1, TELL_TIME);
		ASSERT_EQ(start_member(c, 0, "x"), 0);
		after = ask(c, i, TELL_TIME);
		EXPECT_GE(after, before);
		EXPECT_LT(after, before + AWAY);
		EXPECT_GE(ask(c, i - 1, TELL_TIME), after);
	}
	ASSERT_EQ(start_member(c, 0, "x"), 0);
	ASSERT_EQ(start_member(c, 0, "x"), 0);
	EXPECT_EQ(ask(c, 4, RUN), 0);
	before = ask(c, 5, TELL_TIME);
	EXPECT_EQ(join_by(self->fd, "x"), 0);
	EXPECT_GE(dev_now(self->fd), before);
}

static int64_t read_clock(void)
{
	return kernel_ns(CLOCK_MONOTONIC);
}

/* A guest without tense's init has none. */
static int raise_loopback(void)
{
	struct ifreq lo = { .ifr_name = "lo", .ifr_flags = IFF_UP };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int err = ioctl(fd, SIOCSIFFLAGS, &lo);

	close(fd);
	return err;
}

/* An emulated guest needs minutes for as many as one of User-Mode Linux. */
#define MESSAGES (cpus_online() > 1 ? 10000 : 100000)

/* A server and a client that the test starts outside of every experiment. */
TEST_F(names, give_messages_one_timeline)
{
	long *early = shared(2 * sizeof(*early));
	uint16_t port = 0;
	int listening;
	pid_t pid[2];

	ASSERT_EQ(raise_loopback(), 0);
	listening = exchange_listen(&port);
	ASSERT_GE(listening, 0);
	for (int i = 0; i < 2; i++) {
		pid[i] = fork_child();
		if (!pid[i]) {
			int fd;

			if (join_by(self->fd, "chat"))
				_exit(1);
			fd = i ? exchange_connect(port) :
				 accept(listening, NULL, NULL);
			early[i] = exchange(fd, MESSAGES / 2, i, read_clock);
			_exit(0);
		}
	}
	for (int i = 0; i < 2; i++) {
		EXPECT_EQ(outcome_of(pid[i]), 0);
		EXPECT_EQ(early[i], 0);
	}
	close(listening);
}

/* --- joining while others leave --- */

#define ROUNDS 1000
#define RACERS 3

/* TENSE_TEST_ROUNDS: another number, for a kernel on which each round takes long. */
static int rounds(void)
{
	const char *number = getenv("TENSE_TEST_ROUNDS");

	return number && atoi(number) > 0 ? atoi(number) : ROUNDS;
}

struct race {
	pthread_barrier_t together;
	unsigned int failed, apart;
};

/* Each round, all join by one name, meet, and leave in any order. */
static void race(struct race *r)
{
	for (int i = 0; i < rounds(); i++) {
		int fd = open_only();

		if (join_by(fd, "race"))
			__atomic_fetch_add(&r->failed, 1, __ATOMIC_RELAXED);
		pthread_barrier_wait(&r->together);
		if (dev_stats(fd).tasks != RACERS)
			__atomic_fetch_add(&r->apart, 1, __ATOMIC_RELAXED);
		pthread_barrier_wait(&r->together);
		close(fd);
	}
}

static struct race *race_new(void)
{
	struct race *r = shared(sizeof(*r));
	pthread_barrierattr_t attr;

	pthread_barrierattr_init(&attr);
	pthread_barrierattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	pthread_barrier_init(&r->together, &attr, RACERS);
	return r;
}

TEST_F(names, are_one_for_all_who_join_at_once)
{
	struct race *r = race_new();
	pid_t pid[RACERS];

	for (int i = 0; i < RACERS; i++) {
		pid[i] = fork_child();
		if (!pid[i]) {
			race(r);
			_exit(0);
		}
	}
	for (int i = 0; i < RACERS; i++)
		EXPECT_EQ(outcome_of(pid[i]), 0);
	EXPECT_EQ(r->failed, 0);
	EXPECT_EQ(r->apart, 0);
}

/* Nobody waits for anybody: an experiment often ends while another process joins. */
TEST_F(names, are_joined_while_the_last_one_leaves)
{
	unsigned int *failed = shared(sizeof(*failed));
	pid_t pid[RACERS];

	for (int i = 0; i < RACERS; i++) {
		pid[i] = fork_child();
		if (pid[i])
			continue;
		for (int n = 0; n < rounds() * 3; n++) {
			int fd = open_only();

			if (join_by(fd, "race") || dev_now(fd) < 0 ||
			    !dev_stats(fd).tasks)
				__atomic_fetch_add(failed, 1, __ATOMIC_RELAXED);
			/* The exit of a task leaves as well. */
			if (n % 8 == 0 && !fork())
				_exit(0);
			close(fd);
			if (n % 8 == 0)
				wait(NULL);
		}
		_exit(0);
	}
	for (int i = 0; i < RACERS; i++)
		EXPECT_EQ(outcome_of(pid[i]), 0);
	EXPECT_EQ(*failed, 0);
}

int main(int argc, char **argv)
{
	return run_with_module(argc, argv, test_harness_run);
}
