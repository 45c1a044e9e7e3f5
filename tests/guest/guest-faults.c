// SPDX-License-Identifier: GPL-2.0
/*
 * Whatever the kernel cannot do - get memory, copy from or to the program -
 * each call gives an error or succeeds, leaves nobody in an experiment, and
 * the next one works. For the debug kernel, which can be told what is to fail,
 * and tells what was lost or done wrong meanwhile.
 */
#include "guest.h"

#include <poll.h>
#include <sys/timerfd.h>

#include "harness.h"

#define PROBE_SLOT 3
/* More than anything needs: no walk is endless. */
#define STEPS_MAX 5000

#define FUNCTION __attribute__((noinline, noipa))

/* Settings of the debug kernel that let any allocation fail, whoever asks. */
static const struct {
	const char *path, *text;
} settings[] = {
	{ "failslab/ignore-gfp-wait", "N" },
	{ "failslab/verbose", "0" },
	{ "fail_page_alloc/ignore-gfp-wait", "N" },
	{ "fail_page_alloc/ignore-gfp-highmem", "N" },
	{ "fail_page_alloc/min-order", "0" },
	{ "fail_page_alloc/verbose", "0" },
	{ "fail_usercopy/verbose", "0" },
};

/* A kernel that cannot be told so makes no test: NULL, or what is missing. */
static const char *settings_write(void)
{
	char path[128];

	for (size_t i = 0; i < ARRAY_LENGTH(settings); i++) {
		snprintf(path, sizeof(path), "/sys/kernel/debug/%s",
			 settings[i].path);
		if (write_text(path, settings[i].text))
			return settings[i].path;
	}
	return NULL;
}

/* --- the calling thread's next failure --- */

static int nth_fd = -1;

static void nth_open(void)
{
	if (nth_fd >= 0)
		close(nth_fd);
	nth_fd = open("/proc/thread-self/fail-nth", O_RDWR);
}

/* The kernel's nth allocation or copy from now on fails; 0: none does. */
static void nth_set(int nth)
{
	char text[16];
	int n = snprintf(text, sizeof(text), "%d", nth);

	/* The injected failure may hit this call, too. */
	while (pwrite(nth_fd, text, n, 0) != n)
		;
}

/* Whether that has happened, before this call. */
static bool nth_has_failed(void)
{
	char text[16] = "";

	return pread(nth_fd, text, sizeof(text) - 1, 0) > 0 && !atoi(text);
}

/* --- what is done while something fails --- */

static int fd = -1, self_fd = -1;
static void *area;
static volatile unsigned int sink;

FUNCTION static void function(void)
{
	sink++;
}

/* A text written to the device: 0 or -errno. */
static int tell(const char *text)
{
	return write(fd, text, strlen(text)) < 0 ? -errno : 0;
}

static char probe_text[64];

static int call_open(void)
{
	fd = dev_open();
	return fd < 0 ? -errno : 0;
}

static int call_close(void)
{
	int err = close(fd) ? -errno : 0;

	fd = -1;
	return err;
}

static int call_percent(void)
{
	return tell("125");
}

static int call_idle(void)
{
	return tell("idle skip");
}

static int call_probe(void)
{
	return tell(probe_text);
}

static int call_read(void)
{
	static char report[sizeof(struct tense_stats) +
			   4 * sizeof(struct tense_thread)];

	return read(fd, report, sizeof(report)) < 0 ? -errno : 0;
}

static int call_map(void)
{
	void *p = mmap(NULL, TENSE_RING_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED,
		       fd, TENSE_RING_OFFSET);

	if (p == MAP_FAILED)
		return -errno;
	area = p;
	return 0;
}

static int call_jump(void)
{
	return lseek(fd, MS, SEEK_CUR) < 0 || lseek(fd, MS, SEEK_HOLE) < 0 ?
	       -errno : 0;
}

static int call_function(void)
{
	function();
	return 0;
}

static pid_t child;

static int call_fork(void)
{
	child = fork();
	if (!child)
		_exit(0);
	return child < 0 ? -errno : 0;
}

static void reap_child(int result)
{
	if (!result)
		waitpid(child, NULL, 0);
}

static int call_timerfd(void)
{
	struct itimerspec soon = { .it_value = { .tv_nsec = MS } };
	int timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC), err = 0;
	struct pollfd p = { .fd = timer, .events = POLLIN };
	uint64_t times;

	if (timer < 0)
		return -errno;
	if (timerfd_settime(timer, 0, &soon, NULL) || poll(&p, 1, 100) < 0 ||
	    read(timer, &times, sizeof(times)) < 0)
		err = -errno;
	close(timer);
	return err;
}

static int call_timer(void)
{
	struct itimerspec later = { .it_value = { .tv_sec = 1000 } };
	struct sigevent none = { .sigev_notify = SIGEV_NONE };
	int timer, err = 0;

	if (syscall(SYS_timer_create, CLOCK_MONOTONIC, &none, &timer))
		return -errno;
	if (syscall(SYS_timer_settime, timer, 0, &later, NULL))
		err = -errno;
	syscall(SYS_timer_delete, timer);
	return err;
}

/* --- walks --- */

struct walk {
	const char *name;
	void (*before)(void);
	int (*call)(void);
	void (*after)(int result);
	bool ends_alone;	/* nobody is in an experiment afterwards */
	int least;		/* things that it needs, at least */
};

/* How many tasks and handles there are, -1 without the module. */
static int module_refs(void)
{
	FILE *f = fopen("/sys/module/tense/refcnt", "r");
	int refs = -1;

	if (f && fscanf(f, "%d", &refs) != 1)
		refs = -1;
	if (f)
		fclose(f);
	return refs;
}

/* A task that exits leaves soon after. */
static bool await_refs(int refs)
{
	for (int i = 0; i < 5000 && module_refs() != refs; i++)
		usleep(1000);
	return module_refs() == refs;
}

/* Errors that say what has happened. */
static bool is_error(int result)
{
	return result == -ENOMEM || result == -EFAULT || result == -EAGAIN;
}

/* The call while the nth thing fails; false if it needs less. */
static bool step(const struct walk *w, int nth, int *result)
{
	bool failed;

	if (w->before)
		w->before();
	nth_set(nth);
	*result = w->call();
	failed = nth_has_failed();
	nth_set(0);
	if (w->after)
		w->after(*result);
	return failed;
}

/* Returns what is wrong, or NULL. */
static const char *walk(const struct walk *w)
{
	static char wrong[128];
	int nth = 1, result, errors = 0;

	nth_open();
	while (step(w, nth, &result)) {
		errors += result < 0;
		if (result < 0 && !is_error(result)) {
			snprintf(wrong, sizeof(wrong), "%s: %s after fault %d",
				 w->name, strerror(-result), nth);
			return wrong;
		}
		if (w->ends_alone && !await_refs(0)) {
			snprintf(wrong, sizeof(wrong),
				 "%s: %d references after fault %d", w->name,
				 module_refs(), nth);
			return wrong;
		}
		if (++nth == STEPS_MAX)
			return "does not end";
	}
	printf("# %s: %d faults, %d errors\n", w->name, nth - 1, errors);
	fflush(stdout);
	if (result < 0 || nth - 1 < w->least) {
		snprintf(wrong, sizeof(wrong), "%s: %d faults, and then %s",
			 w->name, nth - 1, strerror(result < 0 ? -result : 0));
		return wrong;
	}
	return NULL;
}

static void open_handle(void)
{
	fd = dev_open();
}

static void close_handle(int result)
{
	(void)result;
	if (area)
		munmap(area, TENSE_RING_SIZE);
	area = NULL;
	if (fd >= 0)
		close(fd);
	fd = -1;
}

/* All that a member can have. */
static void open_all(void)
{
	open_handle();
	call_map();
	call_probe();
	function();
}

static void open_probed(void)
{
	open_handle();
	call_probe();
}

/* In an experiment, and works. */
static bool is_well(void)
{
	struct tense_stats s;
	int64_t before, after;
	uint64_t calls;
	bool good;

	open_all();
	calls = dev_stats(fd).slot[PROBE_SLOT].calls;
	function();
	before = dev_now(fd);
	good = !call_percent() && !call_jump() && !call_fork();
	reap_child(0);
	after = dev_now(fd);
	s = dev_stats(fd);
	good = good && area && s.percent == 125 && after - before >= 2 * MS &&
	       s.tasks_total == 2 && s.slot[PROBE_SLOT].calls == calls + 1;
	close_handle(0);
	return good && await_refs(0);
}

FIXTURE(faults)
{
};

FIXTURE_SETUP(faults)
{
	self_fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	snprintf(probe_text, sizeof(probe_text), "probe %d %d %d %llu",
		 PROBE_SLOT, 200 * TENSE_FINE, self_fd, offset_of(function));
}

FIXTURE_TEARDOWN(faults)
{
	EXPECT_EQ(module_refs(), 0);
	EXPECT_TRUE(is_well());
}


TEST_F_TIMEOUT(faults, of_life, 600)
{
	static const struct walk walks[] = {
		{ "open", NULL, call_open, close_handle, true, 10 },
		{ "map", open_handle, call_map, close_handle, true, 10 },
		{ "probe", open_handle, call_probe, close_handle, true, 5 },
		{ "function", open_probed, call_function, close_handle, true, 1 },
		{ "close", open_all, call_close, close_handle, true, 0 },
	};

	for (size_t i = 0; i < ARRAY_LENGTH(walks); i++) {
		const char *wrong = walk(&walks[i]);

		EXPECT_EQ(wrong, NULL) TH_LOG("%s", wrong);
	}
}

/* Also what a child takes over of functions that its parent is in. */
FUNCTION static void in_function(const struct walk *w, const char **wrong)
{
	*wrong = walk(w);
	sink++;
}

TEST_F_TIMEOUT(faults, of_members, 600)
{
	static const struct walk walks[] = {
		{ "percent", NULL, call_percent, NULL, false, 1 },
		{ "idle", NULL, call_idle, NULL, false, 1 },
		{ "read", NULL, call_read, NULL, false, 2 },
		{ "jump", NULL, call_jump, NULL, false, 0 },
		{ "timerfd", NULL, call_timerfd, NULL, false, 3 },
		{ "timer", NULL, call_timer, NULL, false, 3 },
		{ "fork", NULL, call_fork, reap_child, false, 30 },
	};

	open_handle();
	snprintf(probe_text, sizeof(probe_text), "probe %d %d %d %llu",
		 PROBE_SLOT, 200 * TENSE_FINE, self_fd, offset_of(in_function));
	ASSERT_EQ(call_probe(), 0);
	for (size_t i = 0; i < ARRAY_LENGTH(walks); i++) {
		const char *wrong;

		in_function(&walks[i], &wrong);
		EXPECT_EQ(wrong, NULL) TH_LOG("%s", wrong);
	}
	/* A task that exits leaves soon after. */
	for (int i = 0; i < 5000 && dev_stats(fd).tasks > 1; i++)
		usleep(1000);
	EXPECT_EQ(dev_stats(fd).tasks, 1);
	close_handle(0);
	EXPECT_TRUE(await_refs(0));
	snprintf(probe_text, sizeof(probe_text), "probe %d %d %d %llu",
		 PROBE_SLOT, 200 * TENSE_FINE, self_fd, offset_of(function));
}

/* A child joins the experiment of its parent. */
TEST_F_TIMEOUT(faults, of_joining, 600)
{
	static const struct walk w = {
		"join", NULL, call_open, close_handle, false, 5
	};
	volatile int *joined = shared(sizeof(*joined));
	pid_t pid = fork();

	if (!pid) {
		const char *wrong;

		while (!*joined)
			usleep(1000);
		wrong = walk(&w);
		if (wrong)
			printf("# %s\n", wrong);
		_exit(wrong ? 1 : 0);
	}
	open_handle();
	*joined = 1;
	/* Asleep, so that the child's time goes on. */
	EXPECT_EQ(outcome_of(pid), 0);
	EXPECT_GE(dev_stats(fd).tasks_total, 2);
	EXPECT_EQ(dev_stats(fd).tasks, 1);
	close_handle(0);
	EXPECT_TRUE(await_refs(0));
}

/* --- exec and exit, after which the caller is not there any more --- */

enum {
	GOOD = 0,		/* nothing has failed */
	LATER = 10,		/* something has, but the new program runs */
	REFUSED = 11,
};

/* The new program: whether something has failed. */
static int after_exec(const char *fd_text)
{
	nth_fd = atoi(fd_text);
	return nth_has_failed() ? LATER : GOOD;
}

static void exec_with(int nth)
{
	char text[16];

	open_all();
	/* Stays in the experiment. */
	fcntl(fd, F_SETFD, 0);
	nth_open();
	snprintf(text, sizeof(text), "%d", nth_fd);
	nth_set(nth);
	execl("/proc/self/exe", "faults", "exec", text, NULL);
	_exit(REFUSED);
}

TEST_F_TIMEOUT(faults, of_exec, 900)
{
	int nth, status = -1, refused = 0, killed = 0;

	for (nth = 1; nth < STEPS_MAX && status != GOOD; nth++) {
		pid_t pid = fork();

		if (!pid)
			exec_with(nth);
		ASSERT_EQ(waitpid(pid, &status, 0), pid);
		if (WIFSIGNALED(status)) {
			killed++;
			continue;
		}
		refused += WEXITSTATUS(status) == REFUSED;
		ASSERT_TRUE(await_refs(0)) TH_LOG("exec, fault %d", nth);
	}
	EXPECT_EQ(status, GOOD);
	EXPECT_GT(refused, 10);
	printf("# exec: %d faults, %d errors, killed %d times\n", nth - 2,
	       refused, killed);
}

/* When it needs nothing more cannot be told: this is more than that. */
TEST_F_TIMEOUT(faults, of_exit, 600)
{
	for (int nth = 1; nth < 40; nth++) {
		int status = -1;
		pid_t pid = fork();

		if (!pid) {
			open_all();
			nth_open();
			nth_set(nth);
			_exit(0);
		}
		ASSERT_EQ(waitpid(pid, &status, 0), pid);
		ASSERT_TRUE(await_refs(0)) TH_LOG("exit, fault %d", nth);
	}
}

static int run(int argc, char **argv)
{
	const char *missing = settings_write();

	if (missing) {
		printf("Bail out! not the debug kernel: no %s\n", missing);
		return 1;
	}
	return test_harness_run(argc, argv);
}

/* A failed read of the rseq area at a preemption would end the program. */
#define NO_RSEQ "glibc.pthread.rseq=0"

int main(int argc, char **argv)
{
	if (!getenv("GLIBC_TUNABLES")) {
		setenv("GLIBC_TUNABLES", NO_RSEQ, 1);
		execv("/proc/self/exe", argv);
		return 1;
	}
	if (argc == 3 && !strcmp(argv[1], "exec"))
		return after_exec(argv[2]);
	return run_with_module(argc, argv, run);
}
