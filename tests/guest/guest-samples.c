// SPDX-License-Identifier: GPL-2.0
/* Samples of the threads of an experiment, see <linux/tense-samples.h>. */
#include "guest.h"

#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <linux/futex.h>
#include <linux/tense-samples.h>

#include "harness.h"
#include "samples.h"

/* Not known to the compiler, which would warn of it. */
static void *volatile bad_address = (void *)16;

static int64_t charged(void)
{
	return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

FIXTURE(samples)
{
	int fd;
};

FIXTURE_SETUP(samples)
{
	self->fd = dev_open();
	ASSERT_GE(self->fd, 0);
}

FIXTURE_TEARDOWN(samples)
{
	close(self->fd);
}

/* --- the calls --- */

TEST_F(samples, are_asked_for_by_a_text_in_its_ranges)
{
	static const char *const bad[] = {
		"samples", "samples ", "s", "samples 1000000 4096 8192",
		"samples 1000000 4096 8192 1 1", "samples 1000000 4096 8192 1 ",
		"samples 1000000 4096 8192 1\n\n", "samples  1000000 4096 8192 1",
		"sample 1000000 4096 8192 1", "samples 99999 4096 8192 1",
		"samples 1000000001 4096 8192 1", "samples 1000000 63 8192 1",
		"samples 1000000 65537 8192 1", "samples 1000000 4096 16385 1",
		"samples 1000000 4096 8192 4294967296",
		"samples -1 4096 8192 1", "samples +1000000 4096 8192 1",
		"samples 0x100000 4096 8192 1",
	};
	static const char null[] = "samples 1000000\0004096 8192 1";

	for (size_t i = 0; i < ARRAY_LENGTH(bad); i++) {
		EXPECT_EQ(tell_device(self->fd, bad[i]), EINVAL)
			TH_LOG("\"%s\"", bad[i]);
	}
	EXPECT_EQ(write(self->fd, null, sizeof(null) - 1), -1);
	EXPECT_EQ(errno, EINVAL);
	EXPECT_EQ(tell_device(self->fd, "samples 100000 64 0 4294967295\n"), 0);
}

TEST_F(samples, begin_once)
{
	ASSERT_EQ(tell_device(self->fd, usual), 0);
	EXPECT_EQ(tell_device(self->fd, usual), EBUSY);
	EXPECT_EQ(tell_device(self->fd, "samples 1 1 1 1"), EINVAL);
}

TEST_F(samples, of_nobody_are_no_data)
{
	struct tense_samples s;

	EXPECT_EQ(pread(self->fd, &s, sizeof(s), TENSE_SAMPLES_OFFSET), -1);
	EXPECT_EQ(errno, ENODATA);
}

TEST_F(samples, are_for_members)
{
	int fd = open(TENSE_DEVICE, O_RDWR | O_NONBLOCK | O_CLOEXEC);
	struct tense_samples s;

	ASSERT_EQ(tell_device(self->fd, usual), 0);
	close(self->fd);
	EXPECT_EQ(pread(fd, &s, sizeof(s), TENSE_SAMPLES_OFFSET), -1);
	EXPECT_EQ(errno, ESRCH);
	EXPECT_EQ(tell_device(fd, usual), ESRCH);
	close(fd);
	self->fd = dev_open();
	/* It is another experiment. */
	EXPECT_EQ(pread(self->fd, &s, sizeof(s), TENSE_SAMPLES_OFFSET), -1);
	EXPECT_EQ(errno, ENODATA);
}

TEST_F(samples, are_for_the_owner)
{
	struct tense_samples s;
	pid_t child;

	ASSERT_EQ(tell_device(self->fd, usual), 0);
	child = fork();
	if (!child) {
		if (setresuid(1000, 1000, 1000))
			_exit(1);
		if (tell_device(self->fd, usual) != EPERM)
			_exit(2);
		if (pread(self->fd, &s, sizeof(s), TENSE_SAMPLES_OFFSET) != -1 ||
		    errno != EPERM)
			_exit(3);
		_exit(0);
	}
	EXPECT_EQ(outcome_of(child), 0);
}

static int ask_as_user(void)
{
	int fd, err;

	if (setresgid(1000, 1000, 1000) || setresuid(1000, 1000, 1000))
		return 255;
	fd = open(TENSE_DEVICE, O_RDWR);
	err = tell_device(fd, usual);
	close(fd);
	return err;
}

TEST_F(samples, are_limited)
{
	static const char parameter[] = "/sys/module/tense/parameters/surveys_max";

	static const struct { const char *most; int err; } limits[] = {
		{ "0", EDQUOT }, { "1", 0 }, { "1", 0 }, { "64", 0 },
	};
	pid_t child;

	ASSERT_EQ(chmod(TENSE_DEVICE, 0666), 0);
	close(self->fd);
	for (size_t i = 0; i < ARRAY_LENGTH(limits); i++) {
		ASSERT_EQ(write_text(parameter, limits[i].most), 0);
		child = fork();
		if (!child)
			_exit(ask_as_user());
		/* An experiment that ended counts no more. */
		EXPECT_EQ(outcome_of(child), limits[i].err);
	}
	chmod(TENSE_DEVICE, 0660);
	self->fd = dev_open();
}

TEST_F(samples, are_read_from_any_byte_on)
{
	char text[256], again[256];
	struct tense_samples s;
	uint64_t end;

	ASSERT_EQ(tell_device(self->fd, usual), 0);
	first(20 * PERIOD);
	ASSERT_EQ(pread(self->fd, &s, sizeof(s), TENSE_SAMPLES_OFFSET), sizeof(s));
	EXPECT_EQ(s.version, TENSE_SAMPLES_VERSION);
	EXPECT_EQ(s.size, sizeof(s));
	EXPECT_GT(s.bytes, 0);
	ASSERT_EQ(pread(self->fd, text, 256, TENSE_SAMPLES_OFFSET + sizeof(s)), 256);
	for (int i = 0; i < 256; i += 7)
		ASSERT_EQ(pread(self->fd, again + i, i + 7 < 256 ? 7 : 256 - i,
				TENSE_SAMPLES_OFFSET + sizeof(s) + i),
			  i + 7 < 256 ? 7 : 256 - i);
	EXPECT_EQ(memcmp(text, again, 256), 0);
	end = TENSE_SAMPLES_OFFSET + sizeof(s) + (4096 << 10);
	EXPECT_EQ(pread(self->fd, text, 256, end), 0);
	EXPECT_EQ(pread(self->fd, text, 256, TENSE_SAMPLES_END - 1), 0);
	EXPECT_EQ(pread(self->fd, text, 0, TENSE_SAMPLES_OFFSET), 0);
	EXPECT_EQ(pread(self->fd, bad_address, 256, TENSE_SAMPLES_OFFSET), -1);
	EXPECT_EQ(errno, EFAULT);
	EXPECT_EQ(pread(self->fd, bad_address, 256,
			TENSE_SAMPLES_OFFSET + sizeof(s)), -1);
	EXPECT_EQ(errno, EFAULT);
}

TEST_F(samples, leave_other_positions_to_the_counters)
{
	static const int64_t positions[] = {
		0, 1, TENSE_SAMPLES_OFFSET - 1, TENSE_SAMPLES_END,
		INT64_MAX - 4096,
	};
	struct tense_stats s;

	ASSERT_EQ(tell_device(self->fd, usual), 0);
	for (size_t i = 0; i < ARRAY_LENGTH(positions); i++) {
		ASSERT_EQ(pread(self->fd, &s, sizeof(s), positions[i]), sizeof(s));
		EXPECT_EQ(s.version, TENSE_STATS_VERSION);
	}
}

/* --- time --- */

TEST_F(samples, stand_for_the_charged_time)
{
	int64_t asked, from, before, after;
	struct records r;

	/*
	 * The survey begins when the call returns. The host may stop the guest before and
	 * after that instant.
	 */
	asked = charged();
	ASSERT_EQ(tell_device(self->fd, usual), 0);
	from = charged();
	first(200 * PERIOD);
	/* The kernel goes on sampling this thread while it reads. */
	before = charged() - from;
	r = read_all(self->fd);
	after = charged() - asked;
	/* A point lies in each period: none, or one more, in the first and the last. */
	EXPECT_GE((int64_t)r.header.ns, before - 3 * PERIOD);
	EXPECT_LE((int64_t)r.header.ns, after + 3 * PERIOD);
	EXPECT_GE(ns_of(&r, 0), (int64_t)r.header.ns);
	EXPECT_LE(ns_of(&r, 0), after + 3 * PERIOD);
	EXPECT_EQ(r.header.lost, 0);
	EXPECT_LE(r.header.bytes, r.size - sizeof(r.header));
	free(r.data);
}

TEST_F(samples, follow_the_percent)
{
	struct records r;

	ASSERT_TRUE(dev_percent(self->fd, "400"));
	ASSERT_EQ(tell_device(self->fd, usual), 0);
	first(100 * PERIOD);
	ASSERT_TRUE(dev_percent(self->fd, "50"));
	second(100 * PERIOD);
	r = read_all(self->fd);
	EXPECT_LE(llabs(NS_IN(&r, first) - spent_first), most_amiss(&r));
	EXPECT_LE(llabs(NS_IN(&r, second) - spent_second), most_amiss(&r));
	free(r.data);
}

TEST_F(samples, count_a_jump_for_its_caller)
{
	const struct tense_sample *s = NULL;
	int64_t asked, spent, most = 0;
	struct records r;

	asked = charged();
	ASSERT_EQ(tell_device(self->fd, usual), 0);
	lseek(self->fd, 1000 * PERIOD, SEEK_CUR);
	/* More than the jump if the host kept the guest from running beside it. */
	spent = charged() - asked;
	first(5 * PERIOD);
	r = read_all(self->fd);
	while ((s = next_sample(&r, s)))
		most = (int64_t)s->ns > most ? (int64_t)s->ns : most;
	EXPECT_GE(most, 1000 * PERIOD - 2 * PERIOD);
	EXPECT_LE(most, spent + 2 * PERIOD);
	free(r.data);
}

/*
 * In turns of a tenth of a period. A sample is a point in a period of its own. So the
 * share varies less than if all points were drawn independently: 5 standard deviations
 * of that are 0.11.
 */
TEST_F(samples, divide_time_between_functions)
{
	const int rounds = 400;
	struct records r;
	double share, spent;

	ASSERT_EQ(tell_device(self->fd, usual), 0);
	for (int i = 0; i < rounds; i++) {
		first(3 * PERIOD / 10);
		second(7 * PERIOD / 10);
	}
	r = read_all(self->fd);
	share = (double)NS_IN(&r, first) / (NS_IN(&r, first) + NS_IN(&r, second));
	spent = (double)spent_first / (spent_first + spent_second);
	EXPECT_GT(share, spent - 0.115) TH_LOG("share %f of %f", share, spent);
	EXPECT_LT(share, spent + 0.115) TH_LOG("share %f of %f", share, spent);
	free(r.data);
}

TEST_F(samples, find_room_by_a_longer_period)
{
	struct tense_samples s;
	struct records r;
	int64_t from;

	/* The host may stop the guest between the call and a later reading. */
	from = charged();
	ASSERT_EQ(tell_device(self->fd, "samples 100000 64 8192 1"), 0);
	do {
		first(100 * PERIOD);
		ASSERT_EQ(pread(self->fd, &s, sizeof(s), TENSE_SAMPLES_OFFSET),
			  sizeof(s));
	} while (s.bytes < 40 << 10);
	EXPECT_GT(s.period, 100000);
	/* The sample of the last call's charge follows the call: s may lack it. */
	r = read_all(self->fd);
	s = r.header;
	EXPECT_LE(s.bytes, 64 << 10);
	EXPECT_GE((int64_t)(s.ns + s.lost_ns), spent_first - 3 * (int64_t)s.period);
	EXPECT_LE((int64_t)(s.ns + s.lost_ns),
		  charged() - from + 3 * (int64_t)s.period);
	free(r.data);
}

/* --- tasks --- */

struct in_thread {
	pid_t pid;
	int fd;
};

static void *in_thread(void *arg)
{
	struct in_thread *t = arg;
	struct records r;
	bool sampled;

	t->pid = gettid();
	do {
		first(30 * PERIOD);
		r = read_all(t->fd);
		sampled = NS_IN(&r, first);
		free(r.data);
	} while (!sampled);
	return NULL;
}

TEST_F(samples, are_of_threads_and_children)
{
	struct in_thread t = { .fd = self->fd };
	struct records r;
	pthread_t thread;
	int64_t sampled;
	pid_t child;

	ASSERT_EQ(tell_device(self->fd, usual), 0);
	child = fork();
	if (!child) {
		/* On a busy host the timer of an emulated CPU comes late. */
		do {
			second(30 * PERIOD);
			r = read_all(self->fd);
			sampled = NS_IN(&r, second);
			free(r.data);
		} while (!sampled);
		_exit(0);
	}
	ASSERT_EQ(outcome_of(child), 0);
	ASSERT_EQ(pthread_create(&thread, NULL, in_thread, &t), 0);
	ASSERT_EQ(pthread_join(thread, NULL), 0);
	r = read_all(self->fd);
	EXPECT_GT(ns_of(&r, child), 0);
	EXPECT_GT(ns_of(&r, t.pid), 0);
	EXPECT_GT(NS_IN(&r, first), 0);
	EXPECT_GT(NS_IN(&r, second), 0);
	free(r.data);
}

TEST_F(samples, end_with_a_killed_task)
{
	pid_t child;

	ASSERT_EQ(tell_device(self->fd, "samples 100000 256 8192 1"), 0);
	for (int i = 0; i < 50; i++) {
		child = fork();
		if (!child)
			for (;;)
				first(PERIOD);
		first(PERIOD / 2 + i * 10000);
		kill(child, SIGKILL);
		waitpid(child, NULL, 0);
	}
	/* A killed task leaves after its parent was told. */
	while (dev_stats(self->fd).tasks > 1)
		sched_yield();
}

TEST_F(samples, end_when_the_handle_is_closed)
{
	for (int i = 0; i < 100; i++) {
		ASSERT_EQ(tell_device(self->fd, "samples 100000 64 8192 1"), 0);
		lseek(self->fd, i * 10000, SEEK_CUR);
		close(self->fd);
		self->fd = dev_open();
	}
}

/* --- places --- */

TEST_F(samples, have_the_callers_on_the_stack)
{
	struct records r;

	ASSERT_EQ(tell_device(self->fd, usual), 0);
	caller(50 * PERIOD);
	r = read_all(self->fd);
	EXPECT_GE(ns_below_caller(&r), 40 * PERIOD);
	EXPECT_GE(NS_IN(&r, first), 40 * PERIOD);
	free(r.data);
}

TEST_F(samples, tell_places_and_no_addresses)
{
	const struct tense_sample *s = NULL;
	char self_path[PATH_MAX] = "";
	struct stat st;
	struct records r;

	ASSERT_GT(readlink("/proc/self/exe", self_path, sizeof(self_path) - 1), 0);
	ASSERT_EQ(stat(self_path, &st), 0);
	ASSERT_EQ(tell_device(self->fd, usual), 0);
	first(50 * PERIOD);
	r = read_all(self->fd);
	ASSERT_TRUE(next_sample(&r, NULL));
	while ((s = next_sample(&r, s))) {
		EXPECT_EQ(s->pid, getpid());
		EXPECT_LE(s->stack, 8192);
		EXPECT_TRUE(s->frame == TENSE_SAMPLE_NOWHERE || s->frame < s->stack);
		EXPECT_EQ(s->head.size, sizeof(*s) + s->words * sizeof(s->word[0]));
		for (uint32_t i = 0; i < s->words; i++) {
			const struct tense_word *word = &s->word[i];

			EXPECT_LT(word->place, s->stack / 8);
			if (word->file == TENSE_FILE_STACK) {
				EXPECT_LT(word->offset, s->stack);
			} else if (word->file == TENSE_FILE_NONE) {
				EXPECT_EQ(word->offset, 0);
			} else if (!strcmp(path_of(&r, word->file), self_path)) {
				EXPECT_LT(word->offset, st.st_size);
			}
		}
		if (s->code.file) {
			EXPECT_TRUE(path_of(&r, s->code.file));
		}
	}
	free(r.data);
}

static bool is_of(const struct records *r, unsigned int file, const char *path)
{
	return file != TENSE_FILE_NONE && file != TENSE_FILE_STACK &&
	       !strcmp(path_of(r, file) ?: "", path);
}

/* All are below main(). */
TEST_F(samples, name_the_program_from_the_first_one_on)
{
	const struct tense_sample *s = NULL;
	char self_path[PATH_MAX] = "";
	struct records r;

	ASSERT_GT(readlink("/proc/self/exe", self_path, sizeof(self_path) - 1), 0);
	ASSERT_EQ(tell_device(self->fd, usual), 0);
	first(50 * PERIOD);
	r = read_all(self->fd);
	ASSERT_TRUE(next_sample(&r, NULL));
	while ((s = next_sample(&r, s))) {
		bool named = is_of(&r, s->code.file, self_path);

		for (uint32_t i = 0; i < s->words && !named; i++)
			named = is_of(&r, s->word[i].file, self_path);
		EXPECT_TRUE(named);
	}
	free(r.data);
}

TEST_F(samples, of_a_bad_stack_have_no_words)
{
	struct records r;
	const struct tense_sample *s = NULL;
	unsigned int without = 0;
	pid_t child;

	ASSERT_EQ(tell_device(self->fd, "samples 100000 1024 16384 1"), 0);
	child = fork();
	if (!child) {
		/* It runs without a stack for some ms, and exits. */
		__asm__ volatile("mov $3, %%rsp\n\t"
				 "mov $16, %%rbp\n\t"
				 "mov $20000000, %%rcx\n"
				 "1:\tdec %%rcx\n\t"
				 "jnz 1b\n\t"
				 "mov $60, %%eax\n\t"
				 "xor %%edi, %%edi\n\t"
				 "syscall" ::: "memory");
		__builtin_unreachable();
	}
	EXPECT_EQ(outcome_of(child), 0);
	r = read_all(self->fd);
	while ((s = next_sample(&r, s)))
		without += s->pid == child && !s->words && !s->stack;
	EXPECT_GT(without, 0);
	free(r.data);
}

/* --- blocks --- */

static const struct tense_sample *next_block(const struct records *r,
					     const struct tense_sample *at)
{
	const struct tense_sample_head *head = at ? &at->head : NULL;

	do {
		head = next(r, head);
	} while (head && head->kind != TENSE_SAMPLE_BLOCK);
	return (const void *)head;
}

static const struct tense_sample *find_wake(const struct records *r, uint32_t wake)
{
	const struct tense_sample_head *head = NULL;

	while ((head = next(r, head))) {
		const struct tense_sample *s = (const void *)head;

		if (head->kind == TENSE_SAMPLE_WAKE && s->wake == wake)
			return s;
	}
	return NULL;
}

/* A place where a thread waits until another one has called hand_over(). */
struct turn {
	_Atomic uint32_t word;
};

static void wait_for(struct turn *turn, uint32_t value)
{
	uint32_t now;

	while ((now = turn->word) != value)
		syscall(SYS_futex, &turn->word, FUTEX_WAIT, now, NULL, NULL, 0);
}

static void hand_over(struct turn *turn, uint32_t value)
{
	turn->word = value;
	syscall(SYS_futex, &turn->word, FUTEX_WAKE, 1, NULL, NULL, 0);
}

enum { TURNS = 40, TURN_NS = 5 * PERIOD };

struct waiter {
	struct turn mine, others;
	_Atomic pid_t pid;
	int64_t waited;
};

static void *wait_often(void *arg)
{
	struct waiter *w = arg;

	w->pid = gettid();
	for (int i = 1; i <= TURNS; i++) {
		int64_t from = clock_ns(CLOCK_MONOTONIC);

		wait_for(&w->mine, i);
		w->waited += clock_ns(CLOCK_MONOTONIC) - from;
		hand_over(&w->others, i);
	}
	return NULL;
}

/* Returns when the thread is blocked. */
static void await_sleep(const struct waiter *w)
{
	char path[64], state = 0;
	FILE *f;

	while (state != 'S') {
		sched_yield();
		if (!w->pid)
			continue;
		snprintf(path, sizeof(path), "/proc/self/task/%d/stat", w->pid);
		f = fopen(path, "r");
		if (!f || fscanf(f, "%*d %*s %c", &state) != 1)
			state = 0;
		if (f)
			fclose(f);
	}
}

TEST_F(samples, of_blocks_name_the_thread_that_ends_them)
{
	const struct tense_sample *s = NULL, *wake;
	struct waiter w = { 0 };
	pthread_t thread;
	struct records r;
	int64_t ns = 0;

	ASSERT_EQ(tell_device(self->fd, usual), 0);
	ASSERT_EQ(pthread_create(&thread, NULL, wait_often, &w), 0);
	for (int i = 1; i <= TURNS; i++) {
		await_sleep(&w);
		first(TURN_NS);
		hand_over(&w.mine, i);
		wait_for(&w.others, i);
	}
	pthread_join(thread, NULL);
	r = read_all(self->fd);
	while ((s = next_block(&r, s))) {
		if (s->pid != w.pid)
			continue;
		ns += s->ns;
		EXPECT_EQ(s->call, SYS_futex);
		EXPECT_EQ(s->waker, getpid());
		EXPECT_FALSE(s->flags & TENSE_SAMPLE_TIMER);
		wake = find_wake(&r, s->wake);
		ASSERT_TRUE(s->wake && wake);
		EXPECT_EQ(wake->pid, getpid());
		EXPECT_EQ(wake->call, SYS_futex);
		EXPECT_EQ(wake->ns, 0);
	}
	/* Points in periods: at most one period more. CPUs differ by some windows. */
	EXPECT_LE(ns, w.waited + PERIOD);
	EXPECT_GE(ns, TURNS * TURN_NS / 2) TH_LOG("%lld ns", (long long)ns);
	EXPECT_GE(r.header.blocked_ns, ns);
	EXPECT_EQ(r.header.missing_ns, 0);
	free(r.data);
}

TEST_F(samples, of_sleeps_name_a_timer)
{
	const struct timespec sleep = { .tv_nsec = 100 * PERIOD };
	const struct tense_sample *s = NULL;
	struct records r;
	int64_t ns = 0, from;

	ASSERT_EQ(tell_device(self->fd, usual), 0);
	from = clock_ns(CLOCK_MONOTONIC);
	for (int i = 0; i < 5; i++)
		syscall(SYS_nanosleep, &sleep, NULL);
	from = clock_ns(CLOCK_MONOTONIC) - from;
	r = read_all(self->fd);
	while ((s = next_block(&r, s))) {
		ns += s->ns;
		EXPECT_EQ(s->call, SYS_nanosleep);
		EXPECT_EQ(s->waker, 0);
		EXPECT_EQ(s->wake, 0);
		EXPECT_TRUE(s->flags & TENSE_SAMPLE_TIMER);
	}
	/* The time from the call to the block is charged. An emulated CPU is slow. */
	EXPECT_GE(ns, 5 * 50 * PERIOD) TH_LOG("%lld ns", (long long)ns);
	EXPECT_LE(ns, from + PERIOD);
	free(r.data);
}

/* R13: a block that passes no point queues no work, which would cost the thread time. */
TEST_F(samples, take_no_work_for_blocks_without_a_point)
{
	const struct timespec little = { .tv_nsec = 10000 }, period = { .tv_sec = 1 };
	struct tense_samples s;

	/* By this seed, the first points come after 989 ms charged, and 655 ms blocked. */
	ASSERT_EQ(tell_device(self->fd, "samples 1000000000 4096 8192 153"), 0);
	for (int i = 0; i < 100; i++)
		syscall(SYS_nanosleep, &little, NULL);
	ASSERT_EQ(pread(self->fd, &s, sizeof(s), TENSE_SAMPLES_OFFSET), sizeof(s));
	EXPECT_EQ(s.blocks, 0);
	EXPECT_EQ(s.overhead, 0);
	syscall(SYS_nanosleep, &period, NULL);
	ASSERT_EQ(pread(self->fd, &s, sizeof(s), TENSE_SAMPLES_OFFSET), sizeof(s));
	EXPECT_EQ(s.blocks, 1);
	EXPECT_GT(s.overhead, 0);
}

TEST_F(samples, of_blocks_stop_where_there_is_no_room)
{
	struct timespec sleep = { .tv_nsec = PERIOD };
	struct tense_samples s;

	ASSERT_EQ(tell_device(self->fd, "samples 100000 64 8192 1"), 0);
	do {
		syscall(SYS_nanosleep, &sleep, NULL);
		ASSERT_EQ(pread(self->fd, &s, sizeof(s), TENSE_SAMPLES_OFFSET),
			  sizeof(s));
		/* The period doubles, so that only longer blocks are sampled. */
		sleep.tv_nsec = s.period < 100 * PERIOD ? s.period : 100 * PERIOD;
	} while (!s.missing_ns);
	EXPECT_GT(s.blocks, 0);
	EXPECT_LE(s.bytes, 64 << 10);
}

int main(int argc, char **argv)
{
	return run_with_module(argc, argv, test_harness_run);
}
