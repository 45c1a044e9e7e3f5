// SPDX-License-Identifier: GPL-2.0
/* Programs that samples must not show, and the cost of samples. */
#include "guest.h"

#include <sys/prctl.h>
#include <sys/stat.h>

#include "harness.h"
#include "samples.h"

#define ALICE 1000
#define COPY "/tmp/tense-unseen"
/* The program executes itself with this in its environment. */
#define CHILD "TENSE_UNSEEN_CHILD"

/* The module's PAUSE_MIN: real ns without a timer after each sample. */
#define PAUSE 50000

/* --- the program, executed anew --- */

/* Returns 1 if the survey samples it, and 0 if the survey counts it as hidden. */
static int look_at_self(int fd)
{
	struct records r;

	do {
		first(20 * PERIOD);
		r = read_all(fd);
		if (r.size < sizeof(r.header))
			return 2;
	} while (ns_of(&r, getpid()) + r.header.hidden_ns < 30 * PERIOD);
	if (!ns_of(&r, getpid()))
		return r.header.hidden_ns >= 10 * PERIOD ? 0 : 3;
	for (unsigned int n = 1; n <= TENSE_FILES_MAX; n++)
		if (path_of(&r, n) && !strcmp(path_of(&r, n), COPY))
			return 1;
	return 4;
}

/* A process of the same user asks for samples of its set-user-ID parent. */
static int spy(int fd)
{
	struct records r;

	if (setresgid(ALICE, ALICE, ALICE) || setresuid(ALICE, ALICE, ALICE) ||
	    prctl(PR_SET_DUMPABLE, 1))
		return 10;
	if (tell_device(fd, usual))
		return 11;
	/* The parent uses CPU time until this process exits. */
	do {
		second(10 * PERIOD);
		r = read_all(fd);
		if (r.size < sizeof(r.header))
			return 12;
		if (ns_of(&r, getppid()))
			return 13;
	} while (r.header.hidden_ns < 10 * PERIOD);
	return 0;
}

/* A set-user-ID program joins an experiment by itself. */
static int be_privileged(void)
{
	int fd = dev_open(), status;
	pid_t child;

	if (fd < 0 || geteuid() == getuid())
		return 20;
	/* Its parent's experiment has two tasks. */
	if (dev_stats(fd).tasks != 1)
		return 21;
	if (tell_device(fd, usual) != EPERM)
		return 22;
	/* Whatever it says of itself, it has more rights than its user. */
	if (prctl(PR_SET_DUMPABLE, 1))
		return 23;
	child = fork();
	if (!child)
		_exit(spy(fd));
	while (!waitpid(child, &status, WNOHANG))
		first(PERIOD);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 24;
}

static __attribute__((constructor)) void be_child(void)
{
	const char *text = getenv(CHILD);

	if (text)
		_exit(strcmp(text, "privileged") ? look_at_self(atoi(text)) :
						   be_privileged());
}

static bool copy_self(mode_t mode)
{
	int in = open("/proc/self/exe", O_RDONLY);
	int out = open(COPY, O_WRONLY | O_CREAT | O_TRUNC, 0700);
	char buf[65536];
	ssize_t n;

	while ((n = read(in, buf, sizeof(buf))) > 0)
		if (write(out, buf, n) != n)
			return false;
	close(in);
	close(out);
	return n == 0 && !chmod(COPY, mode);
}

static int execute(const char *child)
{
	setenv(CHILD, child, 1);
	execl(COPY, COPY, NULL);
	return 30;
}

/* Alice begins a survey and executes the program. */
static int execute_sampled(void)
{
	char number[16];
	int fd;

	if (setresgid(ALICE, ALICE, ALICE) || setresuid(ALICE, ALICE, ALICE))
		return 31;
	fd = open(TENSE_DEVICE, O_RDWR);
	if (tell_device(fd, usual))
		return 32;
	snprintf(number, sizeof(number), "%d", fd);
	return execute(number);
}

/* Alice begins a survey, and another process of hers executes the program. */
static int execute_privileged(void)
{
	pid_t child;
	int fd;

	if (setresgid(ALICE, ALICE, ALICE) || setresuid(ALICE, ALICE, ALICE))
		return 33;
	fd = dev_open();
	if (tell_device(fd, usual))
		return 34;
	child = fork();
	if (!child)
		_exit(execute("privileged"));
	return outcome_of(child);
}

static int outcome_in_child(int (*function)(void))
{
	pid_t child = fork();

	if (!child)
		_exit(function());
	return outcome_of(child);
}

FIXTURE(unseen)
{
	int fd;
};

FIXTURE_SETUP(unseen)
{
	ASSERT_EQ(chmod(TENSE_DEVICE, 0666), 0);
	self->fd = -1;
}

FIXTURE_TEARDOWN(unseen)
{
	if (self->fd >= 0)
		close(self->fd);
	unlink(COPY);
	chmod(TENSE_DEVICE, 0660);
}

TEST_F(unseen, is_a_program_that_its_user_may_not_read)
{
	ASSERT_TRUE(copy_self(0755));
	EXPECT_EQ(outcome_in_child(execute_sampled), 1);
	ASSERT_TRUE(copy_self(0711));
	EXPECT_EQ(outcome_in_child(execute_sampled), 0);
}

TEST_F(unseen, is_a_privileged_program_that_joins_by_itself)
{
	ASSERT_TRUE(copy_self(04755));
	EXPECT_EQ(outcome_in_child(execute_privileged), 0);
}

TEST_F(unseen, is_a_process_while_it_forbids_dumps)
{
	struct records r;
	int64_t hidden;

	self->fd = dev_open();
	ASSERT_EQ(tell_device(self->fd, usual), 0);
	first(50 * PERIOD);
	/* The host may stop the guest between these calls and those of second(). */
	hidden = -clock_ns(CLOCK_THREAD_CPUTIME_ID);
	ASSERT_EQ(prctl(PR_SET_DUMPABLE, 0), 0);
	second(50 * PERIOD);
	ASSERT_EQ(prctl(PR_SET_DUMPABLE, 1), 0);
	hidden += clock_ns(CLOCK_THREAD_CPUTIME_ID);
	first(50 * PERIOD);
	r = read_all(self->fd);
	EXPECT_EQ(NS_IN(&r, second), 0);
	EXPECT_LE(llabs(NS_IN(&r, first) - spent_first), most_amiss(&r));
	/* A point lies in each period: none, or one more, in the first and the last. */
	EXPECT_GE((int64_t)r.header.hidden_ns, spent_second - 3 * PERIOD);
	EXPECT_LE((int64_t)r.header.hidden_ns, hidden + 3 * PERIOD);
	EXPECT_GT(r.header.hidden, 0);
	EXPECT_EQ(r.header.lost, 0);
	free(r.data);
}

/* A period of 100 us is 1 us of real time. */
TEST_F(unseen, samples_leave_a_slow_program_some_time)
{
	struct tense_samples s;

	self->fd = dev_open();
	ASSERT_TRUE(dev_percent(self->fd, "1"));
	ASSERT_EQ(tell_device(self->fd, "samples 100000 4096 8192 1"), 0);
	first(20 * S);
	ASSERT_EQ(pread(self->fd, &s, sizeof(s), TENSE_SAMPLES_OFFSET), sizeof(s));
	EXPECT_GT(s.samples, 0);
	EXPECT_LE((s.samples - 1) * PAUSE, dev_stats(self->fd).elapsed);
	EXPECT_GE(s.ns, 19 * S);
}

TEST_F(unseen, samples_without_room_cost_little)
{
	struct tense_samples s, later;
	struct records r;
	int64_t from;

	self->fd = dev_open();
	ASSERT_EQ(tell_device(self->fd, "samples 100000 64 8192 1"), 0);
	do {
		first(50 * PERIOD);
		ASSERT_EQ(pread(self->fd, &s, sizeof(s), TENSE_SAMPLES_OFFSET),
			  sizeof(s));
	} while (!s.lost);
	from = spent_first;
	first(1000 * PERIOD);
	ASSERT_EQ(pread(self->fd, &later, sizeof(later), TENSE_SAMPLES_OFFSET),
		  sizeof(later));
	EXPECT_EQ(later.bytes, s.bytes);
	EXPECT_EQ(later.samples, s.samples);
	/* No timer comes for each period. A tick does, and takes longer. */
	EXPECT_LT((later.lost - s.lost) * later.period, later.lost_ns - s.lost_ns);
	EXPECT_GE((int64_t)(later.lost_ns - s.lost_ns),
		  spent_first - from - 30 * PERIOD);
	r = read_all(self->fd);
	EXPECT_EQ(r.header.bytes, r.size - sizeof(r.header));
	free(r.data);
}

int main(int argc, char **argv)
{
	return run_with_module(argc, argv, test_harness_run);
}
