// SPDX-License-Identifier: GPL-2.0
/*
 * libtense where nobody has started an experiment: programs into which it is
 * preloaded join by opening the device, and annotated ones by tense_init().
 * Run as root in a guest, see guest.h. Each program is this one, run anew; see
 * roles[].
 */
#include "guest.h"

#include <dirent.h>
#include <grp.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <sys/stat.h>

#include <tense.h>

#include "harness.h"

#define JUMP (1000 * S)
#define APART (10 * S)

static char library[PATH_MAX];

/* Becomes this program in a role, with the library preloaded or linked only. */
static void become(bool preloaded, const char *role, const char *arg)
{
	if (preloaded)
		setenv("LD_PRELOAD", library, 1);
	else
		unsetenv("LD_PRELOAD");
	execl("/proc/self/exe", program_invocation_name, "--role", role, arg,
	      NULL);
	_exit(126);
}

/* Its exit status: 0 is right; a role says on standard error what is not. */
static int run_as(bool preloaded, const char *role, const char *arg)
{
	int status;
	pid_t pid = fork();

	if (!pid)
		become(preloaded, role, arg);
	if (waitpid(pid, &status, 0) != pid)
		return -1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

/* In a role: ends it with the line of what is wrong. */
#define MUST(cond)							\
	do {								\
		if (!(cond)) {						\
			fprintf(stderr, "# %s:%d: %s\n", __FILE__,	\
				__LINE__, #cond);			\
			_exit(1);					\
		}							\
	} while (0)

/* Open descriptors of the device; low: those with numbers that open() gives. */
static int handles(int *low)
{
	struct dirent *entry;
	struct stat device, st;
	DIR *dir = opendir("/proc/self/fd");
	int n = 0;

	*low = 0;
	stat(TENSE_DEVICE, &device);
	MUST(dir);
	while ((entry = readdir(dir))) {
		int fd = atoi(entry->d_name);

		if (fstat(fd, &st) || !S_ISCHR(st.st_mode) ||
		    st.st_rdev != device.st_rdev)
			continue;
		n++;
		*low += fd < 900;
	}
	closedir(dir);
	return n;
}

static int64_t now(void)
{
	uint64_t ns;
	int err = tense_time_ns(&ns);

	return err ? err : (int64_t)ns;
}

static void role_owner(const char *arg)
{
	int low, n;

	MUST(now() >= 0);
	MUST(my_stats().flags & TENSE_STATS_OWNER);
	MUST(my_stats().tasks == 1);
	n = handles(&low);
	MUST(n >= 1 && n <= 2);
	MUST(low == 0);
}

/* Execs itself n times and is still there, with no more descriptors. */
static void role_exec(const char *arg)
{
	int n = atoi(arg), low;
	char next[16];

	MUST(my_stats().flags & TENSE_STATS_OWNER);
	MUST(handles(&low) <= 2);
	MUST(low == 0);
	MUST(now() >= (5 - n) * JUMP);
	MUST(clock_ns(CLOCK_MONOTONIC) >= (5 - n) * JUMP);
	if (!n)
		return;
	tense_move_ns(JUMP);
	snprintf(next, sizeof(next), "%d", n - 1);
	become(true, "exec", next);
}

/* A daemon that closes all that it has inherited. */
static void role_closes(const char *arg)
{
	int64_t before, after;

	tense_scale_percent(250);
	tense_move_ns(JUMP);
	before = clock_ns(CLOCK_MONOTONIC);
	closefrom(3);
	after = clock_ns(CLOCK_MONOTONIC);
	MUST(after >= before && after < before + APART);
	MUST(now() >= JUMP && now() < JUMP + APART);
	MUST(my_stats().percent == 250);
	MUST(my_stats().flags & TENSE_STATS_OWNER);
	MUST(tense_scale_pop() == 0);
	MUST(my_stats().percent == 100);
	MUST(usleep(1000) == 0);
	/* The new handle is as good as the old one. */
	become(true, "after", NULL);
}

static void role_after(const char *arg)
{
	MUST(my_stats().flags & TENSE_STATS_OWNER);
	MUST(now() > 0);
}

static void role_child(const char *arg)
{
	MUST(my_stats().tasks >= 2);
	MUST(now() >= JUMP);
}

/* Starts children as a shell does: they are in its experiment. */
static void role_shell(const char *arg)
{
	tense_move_ns(JUMP);
	MUST(run_as(true, "child", NULL) == 0);
	MUST(run_as(true, "child", NULL) == 0);
	MUST(my_stats().tasks == 1);
}

static void role_fork(const char *arg)
{
	int status;
	pid_t pid;

	tense_scale_percent(200);
	pid = fork();
	if (!pid) {
		closefrom(3);
		/* A member by inheritance loses nothing. */
		MUST(my_stats().percent == 200);
		MUST(!(my_stats().flags & TENSE_STATS_OWNER));
		MUST(tense_scale_pop() == 0);
		_exit(0);
	}
	MUST(waitpid(pid, &status, 0) == pid && status == 0);
	MUST(my_stats().percent == 200);
}

/* From here on: not preloaded. */
static void role_linked(const char *arg)
{
	int low;

	MUST(now() == -ESRCH);
	MUST(tense_scale_percent(200) == -ESRCH);
	MUST(tense_destroy() == -ESRCH);
	/* It asks a process apart, which leaves nothing behind. */
	MUST(tense_health_check() == 0);
	MUST(now() == -ESRCH);
	MUST(waitpid(-1, NULL, __WALL) == -1 && errno == ECHILD);
	MUST(handles(&low) == 0);
	MUST(tense_init() == 0);
	MUST(tense_init() == 0);
	MUST(my_stats().flags & TENSE_STATS_OWNER);
	MUST(handles(&low) == 2 && low == 0);
	MUST(tense_move_ns(JUMP) == 0);
	MUST(now() >= JUMP);
	/* The kernel's clocks are those of the experiment. */
	MUST(kernel_ns(CLOCK_MONOTONIC) >= JUMP);
	MUST(tense_scale_percent(200) == 0);
	MUST(tense_health_check() == 0);
	MUST(tense_destroy() == 0);
	MUST(now() == -ESRCH);
	MUST(kernel_ns(CLOCK_MONOTONIC) < JUMP);
	MUST(tense_scale_pop() == -ESRCH);
	MUST(tense_destroy() == -ESRCH);
	MUST(tense_init() == 0);
	/* The experiment of before is gone. */
	MUST(now() >= 0 && now() < JUMP);
	MUST(my_stats().percent == 100);
	/* Exec closes the handle and so leaves. */
	become(false, "stranger", NULL);
}

static void role_stranger(const char *arg)
{
	int fd = dev_open();

	MUST(dev_stats(fd).tasks_total == 1);
}

static void *joins(void *arg)
{
	bool *right = arg;

	*right = now() == -ESRCH && !tense_init() && now() >= JUMP &&
		 (my_stats().flags & TENSE_STATS_OWNER) &&
		 !tense_scale_percent(300) && !tense_destroy() &&
		 now() == -ESRCH && !tense_init();
	return NULL;
}

static sem_t go;

/* Waits without running: a jump puts the one that jumps last in the queue. */
static void *joins_when_told(void *arg)
{
	sem_wait(&go);
	return joins(arg);
}

static void *checks_when_told(void *arg)
{
	bool *right = arg;

	sem_wait(&go);
	*right = !tense_health_check() && now() == -ESRCH;
	return NULL;
}

static void *inherits(void *arg)
{
	bool *right = arg;

	*right = my_stats().percent == 200 && !tense_scale_percent(50) &&
		 my_stats().percent == 100 && !tense_init() &&
		 !tense_destroy() && !tense_health_check();
	return NULL;
}

static void role_threads(const char *arg)
{
	pthread_t early, late;
	bool right = false, late_right = false;
	int low;

	MUST(!sem_init(&go, 0, 0));
	MUST(!pthread_create(&early, NULL, joins_when_told, &right));
	MUST(!tense_init());
	MUST(!tense_move_ns(JUMP));
	MUST(!sem_post(&go));
	MUST(!pthread_join(early, NULL));
	MUST(right);
	/* It ended without tense_destroy(). */
	MUST(handles(&low) == 2);
	/* A thread of a member is one and can use the API. */
	MUST(!tense_scale_percent(200));
	MUST(!pthread_create(&late, NULL, inherits, &late_right));
	MUST(!pthread_join(late, NULL));
	MUST(late_right);
	MUST(my_stats().percent == 200);
}

/* A check beside a member: neither it nor a process apart was ever one. */
static void role_check(const char *arg)
{
	pthread_t thread;
	bool right = false;
	uint32_t total;

	MUST(!sem_init(&go, 0, 0));
	MUST(!pthread_create(&thread, NULL, checks_when_told, &right));
	MUST(!tense_init());
	total = my_stats().tasks_total;
	MUST(!sem_post(&go));
	MUST(!pthread_join(thread, NULL));
	MUST(right);
	MUST(my_stats().tasks_total == total);
}

static void role_real_time(const char *arg)
{
	struct sched_param param = { .sched_priority = 1 };

	MUST(!sched_setscheduler(0, SCHED_FIFO, &param));
	MUST(tense_health_check() == -ENODEV);
	MUST(tense_init() == -ENODEV);
	param.sched_priority = 0;
	MUST(!sched_setscheduler(0, SCHED_OTHER, &param));
	MUST(tense_init() == 0);
}

static void role_not_permitted(const char *arg)
{
	MUST(!setgroups(0, NULL) && !setgid(65534) && !setuid(65534));
	MUST(tense_health_check() == -EACCES);
	MUST(tense_init() == -EACCES);
	MUST(tense_scale_percent(200) == -EACCES);
	MUST(now() == -EACCES);
}

static const struct {
	const char *name;
	void (*run)(const char *arg);
} roles[] = {
	{ "owner", role_owner },
	{ "exec", role_exec },
	{ "closes", role_closes },
	{ "after", role_after },
	{ "child", role_child },
	{ "shell", role_shell },
	{ "fork", role_fork },
	{ "linked", role_linked },
	{ "stranger", role_stranger },
	{ "threads", role_threads },
	{ "check", role_check },
	{ "real-time", role_real_time },
	{ "not-permitted", role_not_permitted },
};

/* A test that runs one role, with the library preloaded or linked. */
#define TEST_OF_ROLE(name, preloaded, role, arg)			\
	TEST(name)							\
	{								\
		EXPECT_EQ(run_as(preloaded, role, arg), 0);		\
	}

TEST_OF_ROLE(preloaded_owns_its_membership, true, "owner", NULL)
TEST_OF_ROLE(membership_survives_exec, true, "exec", "5")
TEST_OF_ROLE(closing_all_descriptors, true, "closes", NULL)
TEST_OF_ROLE(children_are_in_the_same_experiment, true, "shell", NULL)
TEST_OF_ROLE(forked_children_need_no_handle, true, "fork", NULL)
TEST_OF_ROLE(linked_programs_decide_themselves, false, "linked", NULL)
TEST_OF_ROLE(threads_join_one_by_one, false, "threads", NULL)
TEST_OF_ROLE(a_check_joins_nothing, false, "check", NULL)
TEST_OF_ROLE(real_time_threads_cannot_be_scaled, false, "real-time", NULL)
TEST_OF_ROLE(others_may_not, false, "not-permitted", NULL)

TEST(nothing_stays_behind)
{
	EXPECT_EQ(run_as(true, "shell", NULL), 0);
	EXPECT_EQ(run_as(false, "threads", NULL), 0);
	ASSERT_EQ(unload_module_soon(), 0);
	ASSERT_EQ(load_module(), 0);
	EXPECT_EQ(kernel_complaint(), NULL);
}

int main(int argc, char **argv)
{
	const char *ko = getenv("TENSE_KO");
	int err;

	/* TENSE_KO is .../module/tense.ko. */
	snprintf(library, sizeof(library), "%.*s../lib/libtense.so.1",
		 (int)(ko ? strlen(ko) - strlen(basename(ko)) : 0), ko);
	if (argc >= 3 && !strcmp(argv[1], "--role")) {
		for (size_t i = 0; i < ARRAY_LENGTH(roles); i++)
			if (!strcmp(argv[2], roles[i].name)) {
				roles[i].run(argc > 3 ? argv[3] : NULL);
				return 0;
			}
		return 125;
	}
	err = load_module();
	if (err) {
		printf("Bail out! cannot load the module: %s\n", strerror(-err));
		return 1;
	}
	return test_harness_run(argc, argv);
}
