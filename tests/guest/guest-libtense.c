// SPDX-License-Identifier: GPL-2.0
/*
 * libtense in a guest, preloaded into a program that is in an experiment from
 * the start: every test is a process of its own, and a member by inheritance.
 *
 * Nothing here depends on how long anything takes in real time. A clock is
 * read between two readings of another, so that it must lie between them.
 */
#include "guest.h"

#include <dirent.h>
#include <limits.h>
#include <pthread.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>

#include <tense.h>

#include "harness.h"

/* The harness' alarm, too, is in virtual time, in which these tests jump. */
#undef TEST_TIMEOUT_DEFAULT
#define TEST_TIMEOUT_DEFAULT 1000000

#define US 1000LL
/* Far more than two readings of clocks differ by, far less than a jump. */
#define APART (10 * S)
#define JUMP (1000 * S)

extern char **environ;

static int64_t now(void)
{
	uint64_t ns;

	return tense_time_ns(&ns) ? -1 : (int64_t)ns;
}

static int64_t to_ns(struct timespec t)
{
	return t.tv_sec * S + t.tv_nsec;
}

static struct timespec to_timespec(int64_t ns)
{
	return (struct timespec) { ns / S, ns % S };
}

/* No task's virtual time changes the uptime or the times of files. */
static int64_t uptime_ns(void)
{
	FILE *f = fopen("/proc/uptime", "r");
	double s = -1;

	if (!f || fscanf(f, "%lf", &s) != 1)
		s = -1;
	if (f)
		fclose(f);
	return s * S;
}

static int64_t touch_ns(void)
{
	char name[] = "/tmp/touch.XXXXXX";
	struct stat st = { 0 };
	int fd = mkstemp(name);

	fstat(fd, &st);
	unlink(name);
	close(fd);
	return to_ns(st.st_mtim);
}

static const struct {
	clockid_t id;
	const char *name;
} clocks[] = {
	{ CLOCK_MONOTONIC, "MONOTONIC" },
	{ CLOCK_MONOTONIC_RAW, "MONOTONIC_RAW" },
	{ CLOCK_MONOTONIC_COARSE, "MONOTONIC_COARSE" },
	{ CLOCK_BOOTTIME, "BOOTTIME" },
	{ CLOCK_TAI, "TAI" },
	{ CLOCK_REALTIME, "REALTIME" },
	{ CLOCK_REALTIME_COARSE, "REALTIME_COARSE" },
};

TEST(is_a_member)
{
	ASSERT_EQ(tense_health_check(), 0)
		TH_LOG("run it by: tense run -- %s", program_invocation_name);
	EXPECT_EQ(my_stats().flags & TENSE_STATS_OWNER, 0);
}

TEST(clocks_show_virtual_time)
{
	for (size_t i = 0; i < ARRAY_LENGTH(clocks); i++) {
		int64_t t1 = now(), c1 = clock_ns(clocks[i].id), t2 = now();
		int64_t t3, c2, t4;

		burn(MS);
		ASSERT_EQ(tense_move_ns(JUMP), 0);
		t3 = now();
		c2 = clock_ns(clocks[i].id);
		t4 = now();
		EXPECT_GE(c2 - c1, t3 - t2) TH_LOG("%s", clocks[i].name);
		EXPECT_LE(c2 - c1, t4 - t1) TH_LOG("%s", clocks[i].name);
		EXPECT_GE(c2 - c1, JUMP) TH_LOG("%s", clocks[i].name);
	}
}

TEST(clocks_begin_with_the_real_ones)
{
	/* By libtense's clock it began when, by the real one it is that old. */
	for (size_t i = 0; i < ARRAY_LENGTH(clocks); i++) {
		bool since_boot = clocks[i].id != CLOCK_TAI &&
				  clocks[i].id != CLOCK_REALTIME &&
				  clocks[i].id != CLOCK_REALTIME_COARSE;
		int64_t origin = clock_ns(clocks[i].id) - now();
		int64_t began = (since_boot ? uptime_ns() : touch_ns()) -
				my_stats().elapsed;

		/* Nobody told the kernel of leap seconds: TAI is UTC. */
		EXPECT_LT(llabs(origin - began), APART)
			TH_LOG("%s: %lld", clocks[i].name,
			       (long long)(origin - began));
	}
}

TEST(clocks_are_the_kernels)
{
	for (size_t i = 0; i < ARRAY_LENGTH(clocks); i++) {
		for (int round = 0; round < 100; round++) {
			int64_t before = kernel_ns(clocks[i].id), got, after;

			got = clock_ns(clocks[i].id);
			after = kernel_ns(clocks[i].id);
			ASSERT_GE(got, before) TH_LOG("%s", clocks[i].name);
			ASSERT_LE(got, after) TH_LOG("%s", clocks[i].name);
		}
	}
}

TEST(clocks_agree)
{
	struct timeval tv;
	struct timespec ts;
	int64_t before = clock_ns(CLOCK_REALTIME), after;
	time_t seconds;

	ASSERT_EQ(gettimeofday(&tv, NULL), 0);
	ASSERT_EQ(timespec_get(&ts, TIME_UTC), TIME_UTC);
	seconds = time(NULL);
	after = clock_ns(CLOCK_REALTIME);
	EXPECT_GE(tv.tv_sec * S + tv.tv_usec * US, before / US * US);
	EXPECT_LE(tv.tv_sec * S + tv.tv_usec * US, after);
	EXPECT_GE(to_ns(ts), before);
	EXPECT_LE(to_ns(ts), after);
	EXPECT_GE(seconds, before / S);
	EXPECT_LE(seconds, after / S);
}

TEST(clocks_never_go_back)
{
	int64_t last[ARRAY_LENGTH(clocks)] = { 0 };

	for (int round = 0; round < 2000; round++) {
		for (size_t i = 0; i < ARRAY_LENGTH(clocks); i++) {
			int64_t t = clock_ns(clocks[i].id);

			ASSERT_GE(t, last[i]) TH_LOG("%s", clocks[i].name);
			last[i] = t;
		}
		if (round % 100 == 50)
			tense_scale_percent(round % 200 == 50 ? 1000 : 10);
		if (round % 100 == 99)
			tense_scale_pop();
		if (round % 100 == 75)
			tense_move_ns(-MS);
	}
}

/* How long the same work takes by the clock. */
static int64_t work_ns(int percent)
{
	int64_t from;

	tense_scale_clear();
	tense_scale_percent(percent);
	from = clock_ns(CLOCK_MONOTONIC);
	for (volatile int i = 0; i < 50000000; i++)
		;
	return clock_ns(CLOCK_MONOTONIC) - from;
}

TEST(clock_runs_at_the_percent)
{
	int64_t real = work_ns(100);

	EXPECT_LT(work_ns(1000), real / 2);
	EXPECT_GT(work_ns(10), real * 2);
}

static const int64_t naps[] = { 0, 1, US, 77 * US, MS, 20 * MS, 200 * MS };

TEST(sleeps_are_never_early)
{
	for (size_t i = 0; i < ARRAY_LENGTH(naps); i++) {
		struct timespec ts = to_timespec(naps[i]);
		int64_t from = now();

		ASSERT_EQ(nanosleep(&ts, NULL), 0);
		EXPECT_GE(now() - from, naps[i]) TH_LOG("nanosleep");
		from = now();
		ASSERT_EQ(clock_nanosleep(CLOCK_BOOTTIME, 0, &ts, NULL), 0);
		EXPECT_GE(now() - from, naps[i]) TH_LOG("clock_nanosleep");
		from = now();
		ASSERT_EQ(usleep(naps[i] / US), 0);
		EXPECT_GE(now() - from, naps[i] / US * US) TH_LOG("usleep");
		from = now();
		ASSERT_EQ(tense_sleep_ns(naps[i]), 0);
		EXPECT_GE(now() - from, naps[i]) TH_LOG("tense_sleep");
	}
}

TEST(sleep_sleeps_seconds)
{
	int64_t from = now();

	ASSERT_EQ(sleep(1), 0);
	EXPECT_GE(now() - from, S);
}

TEST(absolute_sleeps_are_never_early)
{
	static const clockid_t able[] = { CLOCK_MONOTONIC, CLOCK_REALTIME,
					  CLOCK_BOOTTIME, CLOCK_TAI };

	for (size_t c = 0; c < ARRAY_LENGTH(able); c++) {
		for (size_t i = 0; i < ARRAY_LENGTH(naps); i++) {
			int64_t until = clock_ns(able[c]) + naps[i];
			struct timespec ts = to_timespec(until);

			ASSERT_EQ(clock_nanosleep(able[c], TIMER_ABSTIME, &ts,
						  NULL), 0);
			EXPECT_GE(clock_ns(able[c]), until);
		}
	}
}

TEST(absolute_sleep_in_the_past)
{
	struct timespec ts = to_timespec(clock_ns(CLOCK_REALTIME) - JUMP);
	int64_t from = now();

	ASSERT_EQ(clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &ts, NULL), 0);
	EXPECT_LT(now() - from, APART);
}

struct spinner {
	pthread_barrier_t start;
	_Atomic bool stop;
};

static void *spin(void *arg)
{
	struct spinner *s = arg;

	pthread_barrier_wait(&s->start);
	tense_scale_percent(1);
	while (!s->stop)
		;
	return NULL;
}

/*
 * While another thread, imagined 100 times slower, runs, 20 s of virtual time
 * are 0.2 s of its CPU time.
 */
TEST(sleeps_are_as_long_as_others_make_them)
{
	struct spinner s = { 0 };
	pthread_t thread;
	struct tense_stats from, to;

	ASSERT_EQ(pthread_barrier_init(&s.start, NULL, 2), 0);
	ASSERT_EQ(pthread_create(&thread, NULL, spin, &s), 0);
	pthread_barrier_wait(&s.start);
	from = my_stats();
	ASSERT_EQ(sleep(20), 0);
	to = my_stats();
	EXPECT_LT(to.ran - from.ran, 10 * S);
	s.stop = true;
	pthread_join(thread, NULL);
}

static volatile sig_atomic_t signals;
static int64_t in_handler;

static void handler(int sig)
{
	struct timespec ts = { 0, 1000 };

	(void)sig;
	in_handler = clock_ns(CLOCK_MONOTONIC);
	nanosleep(&ts, NULL);
	signals++;
}

/* A process that sends signals to this one until it is killed. */
static pid_t pester(int sig)
{
	pid_t pid = fork();

	while (!pid) {
		usleep(20000);
		if (kill(getppid(), sig))
			_exit(1);
	}
	return pid;
}

static void catch(int sig, int flags)
{
	struct sigaction act = { .sa_handler = handler, .sa_flags = flags };

	sigaction(sig, &act, NULL);
}

static const int64_t LONG = 100000 * S;

TEST(interrupted_sleeps_tell_the_rest)
{
	static const int flags[] = { 0, SA_RESTART };
	pid_t pid;

	for (size_t i = 0; i < ARRAY_LENGTH(flags); i++) {
		struct timespec ts = to_timespec(LONG), left = { -1, -1 };
		int64_t from, took;

		catch(SIGUSR1, flags[i]);
		pid = pester(SIGUSR1);
		from = now();
		EXPECT_EQ(nanosleep(&ts, &left), -1);
		EXPECT_EQ(errno, EINTR);
		took = now() - from;
		EXPECT_LE(to_ns(left), LONG);
		EXPECT_GE(to_ns(left), LONG - took);

		ts = to_timespec(clock_ns(CLOCK_MONOTONIC) + LONG);
		left = (struct timespec) { -1, -1 };
		EXPECT_EQ(clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts,
					  &left), EINTR);
		EXPECT_EQ(left.tv_sec, -1);

		from = now();
		EXPECT_GE(sleep(LONG / S), (LONG - (now() - from)) / S);
		EXPECT_EQ(usleep(UINT_MAX), -1);
		EXPECT_EQ(errno, EINTR);
		EXPECT_EQ(tense_sleep_ns(LONG), -EINTR);
		EXPECT_GE(signals, 5);
		EXPECT_LE(in_handler, clock_ns(CLOCK_MONOTONIC));
		signals = 0;
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		/* One may have come meanwhile. */
		signal(SIGUSR1, SIG_IGN);
	}
}

/* Sleeps on by what is left until all is slept. */
TEST(sleeps_resumed_are_never_early)
{
	struct timespec ts = to_timespec(300 * MS);
	int64_t from;
	pid_t pid;

	catch(SIGUSR1, 0);
	pid = pester(SIGUSR1);
	from = now();
	while (nanosleep(&ts, &ts))
		ASSERT_EQ(errno, EINTR);
	EXPECT_GE(now() - from, 300 * MS);
	EXPECT_GE(signals, 1);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* As nanosleep(2) says: what has no handler does not interrupt. */
TEST(stopping_does_not_end_a_sleep)
{
	int64_t from;
	int status;
	pid_t pid;

	from = now();
	pid = fork();
	if (!pid) {
		struct timespec ts = to_timespec(500 * MS);

		_exit(nanosleep(&ts, NULL) ? errno : 0);
	}
	for (int i = 0; i < 3; i++) {
		usleep(50000);
		ASSERT_EQ(kill(pid, SIGSTOP), 0);
		ASSERT_EQ(waitpid(pid, &status, WUNTRACED), pid);
		ASSERT_TRUE(WIFSTOPPED(status));
		ASSERT_EQ(kill(pid, SIGCONT), 0);
	}
	EXPECT_EQ(outcome_of(pid), 0);
	EXPECT_GE(now() - from, 500 * MS);
}

static void *sleep_long(void *arg)
{
	(void)arg;
	sleep(UINT_MAX);
	return NULL;
}

TEST(sleeps_can_be_cancelled)
{
	pthread_t thread;
	void *ret;

	ASSERT_EQ(pthread_create(&thread, NULL, sleep_long, NULL), 0);
	usleep(50000);
	ASSERT_EQ(pthread_cancel(thread), 0);
	ASSERT_EQ(pthread_join(thread, &ret), 0);
	EXPECT_EQ(ret, PTHREAD_CANCELED);
}

TEST(wrong_sleeps)
{
	struct timespec bad = { 0, 1000000000 }, ts = { 0, 1 };

	EXPECT_EQ(nanosleep(&bad, NULL), -1);
	EXPECT_EQ(errno, EINVAL);
	bad = (struct timespec) { -1, 0 };
	EXPECT_EQ(clock_nanosleep(CLOCK_MONOTONIC, 0, &bad, NULL), EINVAL);
	EXPECT_EQ(clock_nanosleep(CLOCK_MONOTONIC, 0, (void *)16, NULL), EFAULT);
	EXPECT_EQ(clock_nanosleep(CLOCK_MONOTONIC_RAW, 0, &ts, NULL), ENOTSUP);
	EXPECT_EQ(clock_nanosleep(12345, 0, &ts, NULL), EINVAL);
	EXPECT_EQ(clock_gettime(12345, &ts), -1);
	EXPECT_EQ(errno, EINVAL);
	EXPECT_EQ(tense_sleep_ns(-1), -EINVAL);
	EXPECT_EQ(tense_sleep_ns(INT64_MAX), -EOVERFLOW);
	EXPECT_EQ(tense_move_ns(INT64_MAX), -EOVERFLOW);
}

TEST(percents_nest)
{
	uint32_t base = my_stats().percent;

	ASSERT_EQ(base, 100);
	ASSERT_EQ(tense_scale_percent(200), 0);
	EXPECT_EQ(my_stats().percent, 200);
	ASSERT_EQ(tense_scale_percent(50), 0);
	EXPECT_EQ(my_stats().percent, 100);
	ASSERT_EQ(tense_scale_percent(33), 0);
	EXPECT_EQ(my_stats().percent, 33);
	ASSERT_EQ(tense_scale_percent(50), 0);
	EXPECT_EQ(my_stats().percent, 17);
	ASSERT_EQ(tense_scale_percent(200), 0);
	EXPECT_EQ(my_stats().percent, 33);
	ASSERT_EQ(tense_scale_pop(), 0);
	EXPECT_EQ(my_stats().percent, 17);
	EXPECT_EQ(tense_scale_percent(100001), -EINVAL);
	EXPECT_EQ(tense_scale_percent(5), -ERANGE);
	EXPECT_EQ(my_stats().percent, 17);
	ASSERT_EQ(tense_scale_clear(), 0);
	EXPECT_EQ(my_stats().percent, 100);
	EXPECT_EQ(tense_scale_pop(), 0);
	EXPECT_EQ(my_stats().percent, 100);
	EXPECT_EQ(tense_health_check(), 0);
}

TEST(fork_copies_the_stack)
{
	pid_t pid;

	ASSERT_EQ(tense_scale_percent(200), 0);
	ASSERT_EQ(tense_scale_percent(300), 0);
	pid = fork();
	if (!pid) {
		bool right = my_stats().percent == 600 && !tense_scale_pop() &&
			     my_stats().percent == 200 && !tense_scale_pop() &&
			     my_stats().percent == 100 &&
			     !tense_scale_pop() && my_stats().percent == 100 &&
			     !tense_health_check();

		_exit(right ? 42 : 1);
	}
	EXPECT_EQ(outcome_of(pid), 42);
	EXPECT_EQ(my_stats().percent, 600);
	EXPECT_EQ(tense_health_check(), 0);
}

static void *in_thread(void *arg)
{
	bool *right = arg;

	*right = my_stats().percent == 200 && !tense_scale_pop() &&
		 my_stats().percent == 200 && !tense_scale_percent(50) && my_stats().percent == 100 &&
		 !tense_scale_clear() && my_stats().percent == 200 &&
		 !tense_init() && !tense_destroy() && !tense_health_check();
	return NULL;
}

TEST(threads_have_stacks_of_their_own)
{
	bool right = false;
	pthread_t thread;

	ASSERT_EQ(tense_scale_percent(200), 0);
	ASSERT_EQ(pthread_create(&thread, NULL, in_thread, &right), 0);
	pthread_join(thread, NULL);
	EXPECT_TRUE(right);
	EXPECT_EQ(my_stats().percent, 200);
}

/* Runs this program anew to print one thing; see main(). */
static int64_t other_program(const char *what, char *const env[])
{
	char *args[] = { program_invocation_name, "--print", (char *)what, NULL };
	char text[32] = "";
	int ends[2];
	posix_spawn_file_actions_t actions;
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC))
		return -1;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
	if (posix_spawn(&pid, "/proc/self/exe", &actions, NULL, args, env))
		pid = -1;
	posix_spawn_file_actions_destroy(&actions);
	close(ends[1]);
	if (pid < 0 || read(ends[0], text, sizeof(text) - 1) <= 0)
		text[0] = '\0';
	close(ends[0]);
	return !outcome_of(pid) ? strtoll(text, NULL, 10) : -1;
}

TEST(programs_see_the_same_clocks)
{
	ASSERT_EQ(tense_move_ns(JUMP), 0);
	for (size_t i = 0; i < ARRAY_LENGTH(clocks); i++) {
		int64_t before = clock_ns(clocks[i].id), theirs, after;

		theirs = other_program(clocks[i].name, environ);
		after = clock_ns(clocks[i].id);
		EXPECT_GT(theirs, before - APART) TH_LOG("%s", clocks[i].name);
		EXPECT_LT(theirs, after + APART) TH_LOG("%s", clocks[i].name);
	}
}

TEST(a_percent_survives_exec)
{
	ASSERT_EQ(tense_scale_percent(250), 0);
	EXPECT_EQ(other_program("percent", environ), 250);
}

/* The kernel keeps virtual time for it all the same. */
TEST(switched_off_the_kernels_clocks_are_seen)
{
	char *env[] = { NULL, "TENSE=0", NULL };
	static char preload[PATH_MAX];
	int64_t theirs, before;

	snprintf(preload, sizeof(preload), "LD_PRELOAD=%s",
		 getenv("LD_PRELOAD"));
	env[0] = preload;
	ASSERT_EQ(tense_move_ns(JUMP), 0);
	before = kernel_ns(CLOCK_MONOTONIC);
	theirs = other_program("MONOTONIC", env);
	EXPECT_GE(theirs, before);
	EXPECT_LE(theirs, kernel_ns(CLOCK_MONOTONIC));
	EXPECT_EQ(other_program("time", env), -ENODEV);
}

TEST(no_descriptor_is_taken_from_the_program)
{
	int fd;

	closefrom(3);
	fd = open("/dev/null", O_RDONLY);
	EXPECT_EQ(fd, 3);
	close(fd);
	now();
	fd = open("/dev/null", O_RDONLY);
	EXPECT_EQ(fd, 3);
}

TEST(closing_all_descriptors_changes_nothing)
{
	int64_t before = clock_ns(CLOCK_MONOTONIC);

	ASSERT_EQ(tense_scale_percent(200), 0);
	ASSERT_EQ(tense_move_ns(JUMP), 0);
	closefrom(3);
	EXPECT_GE(clock_ns(CLOCK_MONOTONIC), before + JUMP);
	EXPECT_LT(clock_ns(CLOCK_MONOTONIC), before + JUMP + APART);
	closefrom(3);
	EXPECT_EQ(tense_scale_percent(200), 0);
	EXPECT_EQ(my_stats().percent, 400);
	closefrom(3);
	EXPECT_EQ(usleep(1000), 0);
	closefrom(3);
	EXPECT_EQ(tense_health_check(), 0);
}

/* Puts a file in the place of each descriptor of the device. */
static int replace_handles(int file)
{
	struct dirent *entry;
	struct stat device, st;
	DIR *dir = opendir("/proc/self/fd");
	int n = 0;

	stat(TENSE_DEVICE, &device);
	if (!dir)
		return 0;
	while ((entry = readdir(dir))) {
		int fd = atoi(entry->d_name);

		if (!fstat(fd, &st) && st.st_rdev == device.st_rdev &&
		    S_ISCHR(st.st_mode)) {
			/* dup2() refuses numbers above the limit. */
			struct rlimit limit;

			getrlimit(RLIMIT_NOFILE, &limit);
			if ((rlim_t)fd >= limit.rlim_cur) {
				limit.rlim_cur = fd + 1;
				setrlimit(RLIMIT_NOFILE, &limit);
			}
			n += dup2(file, fd) == fd;
		}
	}
	closedir(dir);
	return n;
}

TEST(files_in_place_of_descriptors_are_left_alone)
{
	int file = memfd_create("file", MFD_CLOEXEC);
	char text[16] = "";
	uint64_t ns, before;

	ASSERT_EQ(write(file, "program", 7), 7);
	ASSERT_EQ(lseek(file, 2, SEEK_SET), 2);
	ASSERT_EQ(tense_time_ns(&before), 0);
	for (int i = 0; i < 5; i++) {
		ASSERT_GE(replace_handles(file), 1);
		switch (i) {
		case 0:
			EXPECT_EQ(tense_time_ns(&ns), 0);
			EXPECT_GE(ns, before);
			break;
		case 1:
			EXPECT_EQ(tense_move_ns(5), 0);
			break;
		case 2:
			EXPECT_EQ(tense_sleep_ns(1000), 0);
			break;
		case 3:
			EXPECT_EQ(tense_health_check(), 0);
			/* Only other calls open the device again. */
			EXPECT_EQ(tense_move_ns(5), 0);
			break;
		case 4:
			EXPECT_EQ(usleep(1), 0);
			break;
		}
	}
	EXPECT_EQ(lseek(file, 0, SEEK_CUR), 2);
	EXPECT_EQ(pread(file, text, sizeof(text), 0), 7);
	EXPECT_STREQ(text, "program");
}

TEST(preloaded_api_only_checks)
{
	uint32_t tasks = my_stats().tasks;

	EXPECT_EQ(tense_init(), 0);
	EXPECT_EQ(tense_destroy(), 0);
	EXPECT_EQ(tense_health_check(), 0);
	EXPECT_EQ(tense_init(), 0);
	EXPECT_EQ(my_stats().tasks, tasks);
}

TEST(system_works)
{
	int status = system("exit 3");

	EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 3);
}

/* For other_program(). */
static int print(const char *what)
{
	int64_t value = -1;
	uint64_t ns;

	if (!strcmp(what, "percent"))
		value = my_stats().percent;
	else if (!strcmp(what, "time"))
		value = tense_time_ns(&ns);
	for (size_t i = 0; i < ARRAY_LENGTH(clocks); i++)
		if (!strcmp(what, clocks[i].name))
			value = clock_ns(clocks[i].id);
	printf("%lld", (long long)value);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "--print"))
		return print(argv[2]);
	return test_harness_run(argc, argv);
}
