// SPDX-License-Identifier: GPL-2.0
/*
 * A machine is put back as it was found, wherever tense is killed: on directories
 * that look like one, with a systemctl that is a script.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/timex.h>
#include <sys/wait.h>
#include <unistd.h>

#include "measure/settings.h"
#include "measure/tune.h"
#include "tap.h"

#define CPU	"/sys/devices/system/cpu"

static char directory[] = "/tmp/tense-test-XXXXXX";
static char root[100], state[100], systemctl[100];
static struct daemon_unit units[] = {
	{ (char *)"cron", (char *)"cron.service", 2 },
	{ (char *)"cron", (char *)"crond.service", 2 },
	{ (char *)"atd", (char *)"atd.service", 3 },
	{ (char *)"logrotate", (char *)"logrotate.timer", 4 },
	{ (char *)"gone", (char *)"gone.service", 5 },
};
static struct daemon_list daemons = { units, 5, (char *)"list", false };
static struct machine machine = { root, systemctl, state };

/* How many more steps a child does before it is killed; -1 for all. */
static int steps = -1;
/* A line of the journal is not on disk yet: nothing may be changed. */
static bool noted;
/* The last write leaves half of its line. */
static bool torn;
/* A part of the names of files that cannot be written to. */
static const char *refused;

static void step(bool change)
{
	if (change && noted)
		abort();
	if (!steps)
		kill(getpid(), SIGKILL);
	if (steps > 0)
		steps--;
}

int __real_open(const char *path, int flags, mode_t mode);
ssize_t __real_write(int fd, const void *buffer, size_t size);
int __real_unlink(const char *path);
int __real_ftruncate(int fd, off_t size);
int __real_posix_spawnp(pid_t *pid, const char *file,
			const posix_spawn_file_actions_t *actions,
			const posix_spawnattr_t *attributes,
			char *const *argv, char *const *environment);
int __wrap_open(const char *path, int flags, ...);
ssize_t __wrap_write(int fd, const void *buffer, size_t size);
int __wrap_fsync(int fd);
int __wrap_unlink(const char *path);
int __wrap_ftruncate(int fd, off_t size);
int __wrap_posix_spawnp(pid_t *pid, const char *file,
			const posix_spawn_file_actions_t *actions,
			const posix_spawnattr_t *attributes,
			char *const *argv, char *const *environment);
int __wrap_adjtimex(struct timex *t);

int __wrap_open(const char *path, int flags, ...)
{
	mode_t mode = 0;
	va_list args;

	if (flags & O_CREAT) {
		va_start(args, flags);
		mode = va_arg(args, mode_t);
		va_end(args);
		step(false);
	}
	if (refused && flags & O_WRONLY && strstr(path, refused)) {
		errno = EROFS;
		return -1;
	}
	return __real_open(path, flags, mode);
}

ssize_t __wrap_write(int fd, const void *buffer, size_t size)
{
	bool note = *(const char *)buffer == '{';

	if (!steps && torn && note && __real_write(fd, buffer, size / 2) < 0)
		return -1;
	step(!note);
	noted |= note;
	return __real_write(fd, buffer, size);
}

/* Only a power cut would tell whether it is done. */
int __wrap_fsync(int fd)
{
	(void)fd;
	step(false);
	noted = false;
	return 0;
}

int __wrap_unlink(const char *path)
{
	step(true);
	return __real_unlink(path);
}

int __wrap_ftruncate(int fd, off_t size)
{
	step(true);
	return __real_ftruncate(fd, size);
}

int __wrap_posix_spawnp(pid_t *pid, const char *file,
			const posix_spawn_file_actions_t *actions,
			const posix_spawnattr_t *attributes,
			char *const *argv, char *const *environment)
{
	step(true);
	return __real_posix_spawnp(pid, file, actions, attributes, argv,
				   environment);
}

int __wrap_adjtimex(struct timex *t)
{
	t->status = STA_UNSYNC;
	return TIME_ERROR;
}

static void sh(const char *format, ...)
{
	char command[1000];
	va_list args;

	va_start(args, format);
	vsnprintf(command, sizeof(command), format, args);
	va_end(args);
	if (system(command))
		exit(1);
}

static void put(const char *name, const char *text)
{
	char path[500];
	FILE *f;

	snprintf(path, sizeof(path), "%s%s", root, name);
	for (char *p = path + 1; (p = strchr(p, '/')); p++) {
		*p = '\0';
		mkdir(path, 0755);
		*p = '/';
	}
	f = fopen(path, "w");
	if (!f || fputs(text, f) == EOF || fclose(f))
		exit(1);
}

static bool is_now(const char *name, const char *text)
{
	char *path, *content;
	bool same;

	if (asprintf(&path, "%s%s", root, name) < 0)
		exit(1);
	content = setting_read(path);
	same = content && !strcmp(content, text);
	if (!same)
		printf("# %s: %s\n", name, content ? content : "none");
	free(content);
	free(path);
	return same;
}

/* A state of systemd is a file for each unit. */
static void put_systemctl(void)
{
	FILE *f = fopen(systemctl, "w");

	if (!f)
		exit(1);
	fprintf(f, "#!/bin/sh\ncd %s/units || exit\n"
		"[ $1 != --no-ask-password ] || shift\n"
		"verb=$1\nwhile [ $1 != -- ]; do shift; done\nshift\n"
		"case $verb in\n"
		"start) echo active >$1;;\n"
		"stop) echo inactive >$1;;\n"
		"show) for unit; do\n"
		"	load=not-found active=inactive\n"
		"	[ -e $unit ] && { load=loaded; read -r active <$unit; }\n"
		"	echo Id=$unit; echo LoadState=$load\n"
		"	echo ActiveState=$active; echo\n"
		"done;;\nesac\n", root);
	fclose(f);
	if (chmod(systemctl, 0755))
		exit(1);
}

static void create(void)
{
	sh("rm -rf %s %s", root, state);
	put("/proc/sys/kernel/random/boot_id", "one\n");
	put("/units/cron.service", "active\n");
	put("/units/atd.service", "inactive\n");
	put("/units/logrotate.timer", "active\n");
	put("/units/sshd.service", "active\n");
	put("/units/chrony.service", "inactive\n");
	put(CPU "/intel_pstate/no_turbo", "0\n");
	for (int i = 0; i < 3; i++) {
		char name[100];

		snprintf(name, sizeof(name), CPU "/cpu%d/cpufreq/scaling_governor",
			 i);
		put(name, i == 1 ? "performance\\n" : "schedutil-and-longer\n");
		snprintf(name, sizeof(name),
			 CPU "/cpu%d/cpufreq/energy_performance_preference", i);
		put(name, "balance_power\n");
	}
	sh("rm -rf %s/copy && cp -a %s %s/copy", directory, root, directory);
}

static bool is_whole(void)
{
	char command[500];

	snprintf(command, sizeof(command), "diff -r %s %s/copy >/dev/null",
		 root, directory);
	return !system(command);
}

static bool has_journal(void)
{
	char name[200];

	snprintf(name, sizeof(name), "%s/tune.journal", state);
	return !access(name, F_OK);
}

static int tune_only(void)
{
	return tune_begin(&machine, &daemons);
}

static int tune_both(void)
{
	return tune_begin(&machine, &daemons) || tune_end() ? 1 : 0;
}

static int restore(void)
{
	return tune_restore(&machine);
}

/* The status of a child, as of waitpid(). It says nothing. */
static int child(int (*act)(void), int limit)
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		int null = open("/dev/null", O_WRONLY);

		dup2(null, STDOUT_FILENO);
		dup2(null, STDERR_FILENO);
		steps = limit;
		/*
		 * No handler of exit() runs, as if a signal killed the child
		 * here.
		 */
		_exit(act() ? 1 : 0);
	}
	if (pid < 0 || waitpid(pid, &status, 0) < 0)
		exit(1);
	return status;
}

static bool was_killed(int status)
{
	return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
}

static void test_set(void)
{
	create();
	ok(!child(tune_only, -1) && has_journal(), "a machine is tuned");
	ok(is_now("/units/cron.service", "inactive\n") &&
	   is_now("/units/logrotate.timer", "inactive\n"), "daemons are stopped");
	ok(is_now("/units/sshd.service", "active\n"), "not all");
	ok(is_now("/units/chrony.service", "active\n"),
	   "time synchronisation is started");
	ok(is_now(CPU "/intel_pstate/no_turbo", "1\n"), "turbo is off");
	ok(is_now(CPU "/cpu0/cpufreq/scaling_governor", "performance\n") &&
	   is_now(CPU "/cpu2/cpufreq/scaling_governor", "performance\n"),
	   "the governor is performance");
	ok(is_now(CPU "/cpu1/cpufreq/energy_performance_preference",
		  "performance\n"), "so is the preference");
	ok(!child(restore, -1) && is_whole() && !has_journal(),
	   "and is put back");
	ok(!child(restore, -1) && is_whole(), "once");
	ok(!child(tune_both, -1) && is_whole() && !has_journal(),
	   "as by whoever tuned it");
}

static void test_strict(void)
{
	create();
	daemons.strict = true;
	ok(child(tune_only, -1) && is_whole() && !has_journal(),
	   "a strict list with a daemon that does not exist changes nothing");
	daemons.count--;
	ok(!child(tune_both, -1) && is_whole() && !has_journal(),
	   "one of several names is enough");
	ok(!child(tune_only, -1) && is_now("/units/cron.service", "inactive\n"),
	   "and the daemon is stopped");
	daemons.count++;
	daemons.strict = false;
}

static void put_policies(const char *first, const char *second)
{
	sh("rm -rf %s" CPU "/intel_pstate", root);
	put(CPU "/cpufreq/boost", "1\n");
	if (first) {
		put(CPU "/cpufreq/policy0/boost", first);
		put(CPU "/cpufreq/policy1/boost", second);
	}
	sh("rm -rf %s/copy && cp -a %s %s/copy", directory, root, directory);
}

static void test_boost(void)
{
	create();
	put_policies(NULL, NULL);
	ok(!child(tune_only, -1) && is_now(CPU "/cpufreq/boost", "0\n"),
	   "boost is off");
	ok(!child(restore, -1) && is_whole(), "and is put back");
	put_policies("1\\n", "0\n");
	ok(!child(tune_only, -1) && is_now(CPU "/cpufreq/policy0/boost", "0\n") &&
	   is_now(CPU "/cpufreq/boost", "1\n"),
	   "with one for each policy, that for all stays");
	ok(!child(restore, -1) && is_whole(), "these are put back");
}

/* Each of the steps of tuning and putting back, by whoever does it. */
static void test_killed(bool half)
{
	int limit = 0, bad = 0, torn_lines = 0, status;

	torn = half;
	do {
		create();
		status = child(tune_both, limit++);
		torn_lines += was_killed(status);
		if (child(restore, -1) || !is_whole() || has_journal()) {
			printf("# killed at step %d\n", limit);
			bad++;
		}
	} while (was_killed(status));
	torn = false;
	ok(!status && !bad && torn_lines > 30, "killed at any of %d steps%s",
	   limit - 1, half ? ", in the middle of a line" : "");
}

static void test_killed_again(void)
{
	int limit = 0, bad = 0, status;

	do {
		create();
		child(tune_only, -1);
		status = child(restore, limit++);
		if (child(restore, -1) || !is_whole() || has_journal()) {
			printf("# killed at step %d\n", limit);
			bad++;
		}
	} while (was_killed(status));
	ok(!status && !bad && limit > 10, "at any of %d steps of restoring",
	   limit - 1);
}

static void test_tuned_again(void)
{
	create();
	child(tune_only, -1);
	ok(!child(tune_only, -1) && has_journal(), "what was left is tuned anew");
	ok(!child(restore, -1) && is_whole(), "and put back as it was at first");
}

static void test_others(void)
{
	create();
	child(tune_only, -1);
	put(CPU "/cpu0/cpufreq/scaling_governor", "userspace\n");
	put("/units/cron.service", "active\n");
	ok(!child(restore, -1) && !has_journal(), "others change something, too");
	ok(is_now(CPU "/cpu0/cpufreq/scaling_governor", "userspace\n"),
	   "which stays");
	ok(is_now(CPU "/cpu2/cpufreq/scaling_governor", "schedutil-and-longer\n"),
	   "the rest is put back");

	create();
	child(tune_only, -1);
	sh("rm -rf %s" CPU "/cpu0", root);
	ok(!child(restore, -1) && !has_journal(), "a CPU is gone, and that is all");
}

static void test_boots(void)
{
	create();
	child(tune_only, -1);
	put("/proc/sys/kernel/random/boot_id", "two\n");
	ok(!child(restore, -1) && !has_journal(), "after another boot");
	ok(is_now(CPU "/intel_pstate/no_turbo", "1\n") &&
	   is_now("/units/cron.service", "inactive\n"),
	   "what is set is that boot's");
}

static void test_refused(void)
{
	create();
	refused = "/cpu0/cpufreq";
	ok(!child(tune_only, -1), "settings that cannot be changed");
	ok(is_now(CPU "/cpu0/cpufreq/scaling_governor", "schedutil-and-longer\n") &&
	   is_now(CPU "/cpu2/cpufreq/scaling_governor", "performance\n"),
	   "are left, others are changed");
	refused = "/cpu2/cpufreq";
	ok(child(restore, -1) && has_journal(), "one cannot be put back");
	ok(is_now("/units/cron.service", "active\n"), "others are");
	ok(child(tune_only, -1) && has_journal(), "till then nothing is tuned");
	refused = NULL;
	ok(!child(restore, -1) && is_whole() && !has_journal(),
	   "it can be tried again");

	create();
	refused = "tune.journal";
	ok(!child(tune_only, -1) && is_whole(),
	   "without a journal nothing is changed");
	refused = NULL;
}

static void test_pending(void)
{
	sigset_t set;

	create();
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, NULL);
	raise(SIGTERM);
	ok(!tune_begin(&machine, &daemons) && is_whole(),
	   "nothing is changed after a signal");
	ok(!tune_end() && !has_journal(), "nor is there anything to put back");
	ok(!child(tune_only, -1) && !is_whole() && !child(restore, -1),
	   "which is not so of a child, that has none");
	sigtimedwait(&set, NULL, &(struct timespec){ 0 });
	sigprocmask(SIG_UNBLOCK, &set, NULL);
}

static void test_two(void)
{
	create();
	ok(!tune_begin(&machine, &daemons), "one tunes");
	ok(child(tune_only, -1), "another one may not");
	ok(child(restore, -1), "nor put back");
	ok(!tune_end() && is_whole(), "the first one does");
	ok(!child(tune_both, -1) && is_whole(), "then the other one may");
}

static void test_journal(void)
{
	create();
	sh("mkdir -p %s && echo '{\"version\":2,\"boot\":\"one\"}' >%s/tune.journal",
	   state, state);
	ok(child(restore, -1) && has_journal(), "a journal of another version");
	sh("printf '{\"version\":1,\"boot\":\"one\"}\\n{}\\n' >%s/tune.journal", state);
	ok(child(restore, -1) && has_journal(), "and one that is none");
	ok(child(tune_only, -1) && is_whole(), "then nothing is tuned");
	sh("rm -rf %s", state);
	ok(!child(restore, -1) && access(state, F_OK), "none is none");
}

int main(void)
{
	if (!mkdtemp(directory))
		return 1;
	snprintf(root, sizeof(root), "%s/root", directory);
	snprintf(state, sizeof(state), "%s/state", directory);
	snprintf(systemctl, sizeof(systemctl), "%s/systemctl", directory);
	put_systemctl();
	test_set();
	test_strict();
	test_boost();
	test_killed(false);
	test_killed(true);
	test_killed_again();
	test_tuned_again();
	test_others();
	test_boots();
	test_refused();
	test_journal();
	test_pending();
	test_two();
	sh("rm -rf %s", directory);
	return done();
}
