// SPDX-License-Identifier: GPL-2.0
/*
 * Much of everything at once: tasks are killed, forks are refused, descriptors are
 * opened and closed, experiments begin and end. The module and a CPU come and go
 * meanwhile. Afterwards all have ended, a new experiment works as any other, and the
 * module can be removed.
 *
 *	guest-storms [SCALE]	so many times as many tasks and experiments, by default
 *				1, and more of all else
 */
#include "runner.h"

#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "harness.h"

/* Real time for any of them, s. */
#define LONG 3000

static int scale = 1;

/* Repetitions take long, so their number grows slowly with the scale. */
static int rounds(void)
{
	return 1 + scale / 20;
}

/* --- a control group, whose processes can be killed all at once --- */

#define GROUP "/sys/fs/cgroup/storm"

static int group_make(const char *limit)
{
	int err = write_text("/sys/fs/cgroup/cgroup.subtree_control", "+pids");

	if (err)
		return err;
	if (mkdir(GROUP, 0755))
		return -errno;
	return write_text(GROUP "/pids.max", limit);
}

static int group_enter(void)
{
	return write_text(GROUP "/cgroup.procs", "0");
}

static int group_kill(void)
{
	return write_text(GROUP "/cgroup.kill", "1");
}

static long group_tasks(void)
{
	char text[32];

	return read_text(GROUP "/pids.current", text, sizeof(text)) > 0 ?
		       atol(text) : -1;
}

/* A killed task is gone soon after. */
static int group_end(void)
{
	while (group_tasks() > 0)
		usleep(1000);
	return rmdir(GROUP) ? -errno : 0;
}

/* --- what each storm begins and ends with --- */

struct storm {
	volatile int over;	/* for the CPU that comes and goes */
	volatile unsigned int gone;	/* how often it did */
	/* Each test counts its own of these. */
	volatile unsigned int arrived, busy, born, refused, wrong;
	volatile unsigned int most;	/* tasks at once */
	volatile int go;	/* a futex */
};

FIXTURE(storm)
{
	struct storm *s;
	pid_t hotplug;
	int status;
};

/* All that is on a CPU is moved, which is to take a part of the time only. */
static bool hotplug(long cpu)
{
	int64_t began = kernel_ns(CLOCK_MONOTONIC), took;
	bool done = !outside_hotplug(cpu);

	took = kernel_ns(CLOCK_MONOTONIC) - began;
	usleep(took > S ? 4000000 : 200000);
	return done;
}

static void come_and_go(struct storm *s)
{
	do {
		s->gone += hotplug(-1);
		hotplug(1);
	} while (!s->over);
	_exit(0);
}

FIXTURE_SETUP(storm)
{
	ASSERT_EQ(load_module(), 0);
	self->s = shared(sizeof(*self->s));
	self->hotplug = fork_child();
	if (!self->hotplug)
		come_and_go(self->s);
}

/* In an experiment of its own, as if nothing had been. */
static bool experiment_works(void)
{
	int status = -1, fd;
	pid_t pid = fork_child();

	if (!pid) {
		pin(0);
		fd = dev_open();
		_exit(fd < 0 || dev_stats(fd).tasks != 1 || !goes_on(fd));
	}
	waitpid(pid, &status, 0);
	return !status;
}

/* Many tasks take their time to give back what they hold. */
static int unload_after_storm(void)
{
	int err = unload_module_soon();

	for (int i = 0; err == -EAGAIN && i < 60; i++)
		err = unload_module_soon();
	return err;
}

FIXTURE_TEARDOWN(storm)
{
	self->s->over = 1;
	EXPECT_EQ(waitpid(self->hotplug, &self->status, 0), self->hotplug);
	EXPECT_GT(self->s->gone, 0);
	EXPECT_EQ(cpus_online(), sysconf(_SC_NPROCESSORS_CONF));
	EXPECT_EQ(waitpid(-1, &self->status, 0), -1);
	EXPECT_TRUE(experiment_works());
	EXPECT_EQ(unload_after_storm(), 0);
	TH_LOG("a CPU was gone %u times", self->s->gone);
}

/* Prints how far a long test is, by the machine's own clock. */
static void say_progress(const char *what, unsigned int count)
{
	printf("# %s: %u, %lld s after boot\n", what, count,
	       (long long)(kernel_ns(CLOCK_BOOTTIME) / S));
	fflush(stdout);
}

static void add(volatile unsigned int *count)
{
	__atomic_fetch_add(count, 1, __ATOMIC_SEQ_CST);
}

static void await_go(struct storm *s)
{
	while (!s->go)
		syscall(SYS_futex, &s->go, FUTEX_WAIT, 0, NULL);
}

static void give_go(struct storm *s)
{
	s->go = 1;
	syscall(SYS_futex, &s->go, FUTEX_WAKE, INT_MAX);
}

/* --- many tasks of one experiment, killed while they do what they do --- */

#define TASKS		100
#define THREADS		50	/* per process */
/* The kernel's own limit. */
#define MOST_TASKS	"32768"
/*
 * A task may lose the CPU while RCU waits for it, experiment or not: of 10000 it
 * has its next turn minutes later. The longest that is allowed, in s.
 */
#define STALL_TIMEOUT	"/sys/module/rcupdate/parameters/rcu_cpu_stall_timeout"
#define LONGEST_STALL	"300"

static int storm_fd;

static void *live(void *arg)
{
	static volatile unsigned int last_nth;
	struct storm *s = arg;
	unsigned int nth = __atomic_fetch_add(&last_nth, 1, __ATOMIC_SEQ_CST);
	struct timespec ms = { .tv_nsec = MS };

	add(&s->arrived);
	await_go(s);
	add(&s->busy);
	for (;;) {
		dev_percent(storm_fd, nth % 2 ? "50" : "200");
		if (nth % 4 == 0)
			lseek(storm_fd, (nth % 7 + 1) * MS, SEEK_HOLE);
		else if (nth % 4 == 1)
			lseek(storm_fd, 2 * WINDOW, SEEK_CUR);
		else if (nth % 4 == 2)
			nanosleep(&ms, NULL);
		else
			for (volatile int i = 0; i < 1000; i++)
				;
	}
	return NULL;
}

/* A process of that many; it makes fewer if there is no memory for more. */
static void fill(struct storm *s, int threads)
{
	pthread_attr_t attr;
	pthread_t thread;

	group_enter();
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, PTHREAD_STACK_MIN);
	for (int i = 1; i < threads; i++)
		if (pthread_create(&thread, &attr, live, s))
			add(&s->refused);
	live(s);
}

static void await_arrived(const struct storm *s, unsigned int tasks)
{
	while (s->arrived + s->refused < tasks)
		usleep(1000);
}

/* The first of the experiment, which survives. */
static void lead(struct storm *s, unsigned int tasks)
{
	int status, failed = 0;

	storm_fd = dev_open();
	for (unsigned int i = 0; i < tasks; i += THREADS) {
		pid_t pid = fork_child();

		if (!pid)
			fill(s, THREADS);
		if (pid < 0)
			_exit(1);
	}
	await_arrived(s, tasks);
	s->most = dev_stats(storm_fd).tasks;
	say_progress("tasks are there", s->most);
	while (wait(&status) > 0)
		failed += !WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL;
	await_alone(storm_fd);
	_exit(failed != 0);
}

/* Before all others: one of thousands would have to wait for its turn. */
static int kill_busy(struct storm *s)
{
	struct sched_param first = { .sched_priority = 1 }, as_all = { 0 };
	int err;

	sched_setscheduler(0, SCHED_FIFO, &first);
	err = group_kill();
	say_progress("tasks were killed when busy", s->busy);
	sched_setscheduler(0, SCHED_OTHER, &as_all);
	return err;
}

/* Waits for the condition, unless the process ends first. */
#define AWAIT_OR_ENDED(pid, condition) do {				\
	while (!(condition) && state_of(pid) != 'Z')			\
		usleep(1000);						\
} while (0)

TEST_F_TIMEOUT(storm, of_tasks_killed_at_once, LONG)
{
	unsigned int tasks = TASKS * scale;
	pid_t pid;

	ASSERT_EQ(write_text("/proc/sys/kernel/threads-max", MOST_TASKS), 0);
	ASSERT_EQ(write_text("/proc/sys/kernel/pid_max", MOST_TASKS), 0);
	ASSERT_EQ(write_text(STALL_TIMEOUT, LONGEST_STALL), 0);
	ASSERT_EQ(group_make("max"), 0);
	pid = fork_child();
	if (!pid)
		lead(self->s, tasks);
	/*
	 * The waker is not a member. Members do little but calls, so that
	 * hardly any time passes for them: they would run before a waker among
	 * them.
	 */
	AWAIT_OR_ENDED(pid, self->s->most);
	give_go(self->s);
	AWAIT_OR_ENDED(pid, self->s->busy >=
			    (tasks - self->s->refused) / 4);
	EXPECT_EQ(kill_busy(self->s), 0);
	EXPECT_EQ(waitpid(pid, &self->status, 0), pid);
	EXPECT_EQ(self->status, 0);
	TH_LOG("%u tasks, %u refused", self->s->most, self->s->refused);
	EXPECT_GE(self->s->most, tasks / 2);
	EXPECT_EQ(group_end(), 0);
}

/* --- forks without end, as far as they are allowed --- */

#define BIRTHS		50
#define PROCESSES	40
#define USER		12345	/* anybody but root, whom limits do not hold */

static void explode(struct storm *s, int fd, bool original)
{
	unsigned int seed = gettid();

	for (;;) {
		pid_t pid = fork();

		if (!pid) {
			add(&s->born);
			original = false;
			seed = gettid();
		} else if (pid < 0) {
			add(&s->refused);
			lseek(fd, WINDOW / 2, SEEK_CUR);
			/* So that there is room for more. */
			if (!original && rand_r(&seed) % 2)
				_exit(0);
		}
	}
}

static void start_bomb(struct storm *s, bool limit_user)
{
	struct rlimit limit = { PROCESSES, PROCESSES };
	int fd = dev_open();

	/* Nobody waits for them. */
	signal(SIGCHLD, SIG_IGN);
	if (fd < 0 || group_enter() ||
	    (limit_user &&
	     (setrlimit(RLIMIT_NPROC, &limit) || setuid(USER))))
		_exit(1);
	explode(s, fd, true);
}

static void await_births(const struct storm *s)
{
	unsigned int births = BIRTHS * rounds();

	while (s->born < births || s->refused < births)
		usleep(1000);
}

/* In a group of so many, or by a user who may have no more. */
#define EXPECT_BOMB_ENDS(limit, limit_user) do {			\
	pid_t pid;							\
									\
	ASSERT_EQ(group_make(limit), 0);				\
	pid = fork_child();						\
	if (!pid)							\
		start_bomb(self->s, limit_user);			\
	await_births(self->s);						\
	EXPECT_EQ(group_kill(), 0);					\
	EXPECT_EQ(waitpid(pid, &self->status, 0), pid);			\
	EXPECT_EQ(self->status, SIGKILL);				\
	TH_LOG("%u born, %u refused", self->s->born, self->s->refused);	\
	EXPECT_EQ(group_end(), 0);					\
} while (0)

TEST_F_TIMEOUT(storm, of_forks_in_a_small_group, LONG)
{
	char limit[16];

	snprintf(limit, sizeof(limit), "%d", PROCESSES);
	EXPECT_BOMB_ENDS(limit, false);
}

TEST_F_TIMEOUT(storm, of_forks_of_a_user_who_may_not, LONG)
{
	EXPECT_BOMB_ENDS("max", true);
}

/* --- descriptors that threads open, use and close under each other --- */

#define USES		100
#define USERS		4	/* threads of a process */
#define SLOTS		4

static volatile int slot[SLOTS];

/* The call found a descriptor of the device, or none, or was in no experiment. */
static bool is_right(long result)
{
	return result >= 0 || errno == EBADF || errno == ESRCH;
}

static bool open_one(int nth)
{
	int fd = dev_open(), old;

	old = __atomic_exchange_n(&slot[nth], fd, __ATOMIC_SEQ_CST);
	if (old >= 0)
		close(old);
	return fd >= 0;
}

static bool close_one(int nth)
{
	int fd = __atomic_exchange_n(&slot[nth], -1, __ATOMIC_SEQ_CST);

	return fd < 0 || !close(fd);
}

/* The area is the calling thread's, once it has one. */
static bool map_one(int fd)
{
	const volatile struct tense_clock *c = page_map(fd);

	if (!c)
		return is_right(-1) || errno == EBUSY;
	if (c->percent > TENSE_PERCENT_MAX * TENSE_FINE)
		return false;
	return !munmap((void *)c, TENSE_RING_OFFSET);
}

static bool use_one(int fd, unsigned int what)
{
	struct tense_stats s;

	switch (what) {
	case 0:
		return is_right(lseek(fd, 0, SEEK_CUR));
	case 1:
		return is_right(write(fd, "50", 2));
	case 2:
		return is_right(read(fd, &s, sizeof(s)));
	case 3:
		return is_right(lseek(fd, MS / 10, SEEK_HOLE));
	default:
		return map_one(fd);
	}
}

static void *use(void *arg)
{
	struct storm *s = arg;
	unsigned int seed = gettid();

	for (int i = 0; i < USES * rounds(); i++) {
		int nth = rand_r(&seed) % SLOTS, what = rand_r(&seed) % 8;
		bool right;

		if (what == 6)
			right = open_one(nth);
		else if (what == 7)
			right = close_one(nth);
		else
			right = use_one(slot[nth], what);
		if (!right) {
			printf("# %d of %d: %s\n", what, nth, strerror(errno));
			add(&s->wrong);
		}
	}
	return NULL;
}

static void use_together(struct storm *s)
{
	pthread_t thread[USERS];

	for (int i = 0; i < SLOTS; i++)
		slot[i] = -1;
	for (int i = 0; i < USERS; i++)
		if (pthread_create(&thread[i], NULL, use, s))
			_exit(1);
	for (int i = 0; i < USERS; i++)
		pthread_join(thread[i], NULL);
	fflush(stdout);
	_exit(0);
}

TEST_F_TIMEOUT(storm, of_descriptors, LONG)
{
	pid_t pid[2];

	for (int i = 0; i < 2; i++) {
		pid[i] = fork_child();
		if (!pid[i])
			use_together(self->s);
	}
	for (int i = 0; i < 2; i++) {
		EXPECT_EQ(waitpid(pid[i], &self->status, 0), pid[i]);
		EXPECT_EQ(self->status, 0);
	}
	EXPECT_EQ(self->s->wrong, 0);
}

/* --- many experiments at once --- */

#define EXPERIMENTS	10

/* Alone in its experiment, whatever the others do. */
static void be_alone(struct storm *s, int nth)
{
	int fd = dev_open();
	int64_t begin, end;

	if (fd < 0 || group_enter())
		_exit(1);
	begin = dev_now(fd);
	add(&s->arrived);
	await_go(s);
	if (dev_stats(fd).tasks != 1)
		_exit(2);
	dev_percent(fd, nth % 2 ? "50" : "300");
	for (int i = 0; i < 5; i++)
		if (lseek(fd, WINDOW, SEEK_HOLE) < 0 ||
		    lseek(fd, WINDOW, SEEK_CUR) < 0)
			_exit(3);
	end = dev_now(fd);
	add(&s->busy);
	if (end < begin + 10 * WINDOW)
		_exit(4);
	if (nth % 2)
		_exit(0);
	/* To be killed. */
	for (;;)
		lseek(fd, S, SEEK_HOLE);
}

TEST_F_TIMEOUT(storm, of_experiments, LONG)
{
	int n = EXPERIMENTS * scale, ended = 0, killed = 0;
	pid_t *pid = calloc(n, sizeof(*pid));

	ASSERT_EQ(group_make("max"), 0);
	for (int i = 0; i < n; i++) {
		pid[i] = fork_child();
		ASSERT_GE(pid[i], 0);
		if (!pid[i])
			be_alone(self->s, i);
	}
	await_arrived(self->s, n);
	TH_LOG("%u experiments", self->s->arrived);
	give_go(self->s);
	while (self->s->busy < (unsigned int)n)
		usleep(1000);
	for (int i = 1; i < n; i += 2) {
		waitpid(pid[i], &self->status, 0);
		ended += !self->status;
	}
	EXPECT_EQ(group_kill(), 0);
	for (int i = 0; i < n; i += 2) {
		waitpid(pid[i], &self->status, 0);
		killed += self->status == SIGKILL;
	}
	EXPECT_EQ(ended, n / 2);
	EXPECT_EQ(killed, n - n / 2);
	EXPECT_EQ(group_end(), 0);
	free(pid);
}

/* --- the module comes and goes while programs do --- */

#define LOADS		2
#define PROGRAMS	3

/* Whoever has joined keeps the module. */
static bool program(void)
{
	int fd = dev_open(), status = 0;
	pid_t pid;

	if (fd < 0)
		return errno == ENOENT || errno == ENODEV || errno == ENXIO;
	dev_percent(fd, "200");
	pid = fork();
	if (!pid)
		_exit(lseek(fd, WINDOW, SEEK_HOLE) < 0);
	if (pid > 0)
		waitpid(pid, &status, 0);
	return !status && !access("/sys/module/tense", F_OK) &&
	       dev_stats(fd).tasks >= 1;
}

static void run_programs(struct storm *s)
{
	unsigned int seed = gettid();

	while (!s->go) {
		pid_t pid = fork();
		int status = -1;

		if (!pid)
			_exit(!program());
		waitpid(pid, &status, 0);
		if (status)
			add(&s->wrong);
		add(&s->born);
		usleep(rand_r(&seed) % 30000);
	}
	_exit(0);
}

/* Until it was away and back so often. */
static void load_and_unload(struct storm *s, unsigned int times)
{
	for (unsigned int n = 0; n < times;) {
		int err = unload_module();

		if (err == -EAGAIN) {
			add(&s->refused);
			usleep(1000);
			continue;
		}
		if (err || load_module())
			add(&s->wrong);
		n++;
	}
}

TEST_F_TIMEOUT(storm, of_loads_of_the_module, LONG)
{
	pid_t pid[PROGRAMS];

	for (int i = 0; i < PROGRAMS; i++) {
		pid[i] = fork_child();
		if (!pid[i])
			run_programs(self->s);
	}
	load_and_unload(self->s, LOADS * rounds());
	self->s->go = 1;
	for (int i = 0; i < PROGRAMS; i++) {
		EXPECT_EQ(waitpid(pid[i], &self->status, 0), pid[i]);
		EXPECT_EQ(self->status, 0);
	}
	TH_LOG("removed %d times, %u times not, beside %u programs",
	       LOADS * rounds(), self->s->refused, self->s->born);
	EXPECT_EQ(self->s->wrong, 0);
	EXPECT_GT(self->s->born, 0);
}

int main(int argc, char **argv)
{
	if (argc > 1)
		scale = atoi(argv[1]);
	/* The harness knows no arguments. */
	return test_harness_run(1, argv);
}
