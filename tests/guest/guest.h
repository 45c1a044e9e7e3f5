/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The guest tests share this file. They run as root in a guest without
 * tense.ko, `tense run --real`, and load and remove it themselves. TENSE_KO
 * names it, TENSE_KO_OPTIONS are its parameters.
 */
#ifndef TENSE_GUEST_H
#define TENSE_GUEST_H

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/klog.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <linux/tense.h>

#define MS 1000000LL
#define S 1000000000LL
#define ARRAY_LENGTH(a) (sizeof(a) / sizeof(*(a)))

static inline int load_module(void)
{
	const char *path = getenv("TENSE_KO");
	const char *options = getenv("TENSE_KO_OPTIONS");
	int fd = open(path ? path : "tense.ko", O_RDONLY | O_CLOEXEC);
	int err;

	if (fd < 0)
		return -errno;
	err = syscall(SYS_finit_module, fd, options ? options : "", 0) ? -errno : 0;
	close(fd);
	return err;
}

static inline int unload_module(void)
{
	return syscall(SYS_delete_module, "tense", O_NONBLOCK) ? -errno : 0;
}

/* Tasks that exit give their reference back after their parent was told. */
static inline int unload_module_soon(void)
{
	int err = 0;

	for (int i = 0; i < 1000; i++) {
		err = unload_module();
		if (!err)
			break;
		usleep(1000);
	}
	return err;
}

/* Clears the log: its earlier messages are not the test's. */
static inline void forget_kernel_log(void)
{
	klogctl(5, NULL, 0);
}

/* A complaint in the kernel's log since then, or NULL. */
static inline const char *kernel_complaint(void)
{
	static const char *const bad[] = {
		"WARNING:", "BUG:", "INFO:", "Oops", "Call Trace",
		"memory leak",
	};
	static const char race[] = "BUG: KCSAN:";
	static char log[1 << 18];
	int n = klogctl(3, log, sizeof(log) - 1);

	if (n < 0)
		return "cannot read the kernel's log";
	log[n] = '\0';
	for (size_t i = 0; i < ARRAY_LENGTH(bad); i++) {
		char *found = strstr(log, bad[i]);

		/* Data races: race-watch knows which are ours. */
		while (found && !strncmp(found, race, sizeof(race) - 1))
			found = strstr(found + 1, bad[i]);
		if (found)
			return found;
	}
	return NULL;
}

/*
 * A main() for tests that load the module: the harness ends its process, so
 * that it gets one of its own, and what it leaves behind can be looked at.
 */
static inline int run_with_module(int argc, char **argv,
				  int (*run)(int argc, char **argv))
{
	const char *complaint;
	int err, status = -1;
	pid_t child;

	forget_kernel_log();
	err = load_module();
	if (err) {
		printf("Bail out! cannot load tense.ko: %s\n", strerror(-err));
		return 1;
	}
	fflush(stdout);
	child = fork();
	if (!child)
		exit(run(argc, argv));
	waitpid(child, &status, 0);
	err = unload_module_soon();
	if (err)
		printf("# FAIL: rmmod afterwards: %s\n", strerror(-err));
	complaint = kernel_complaint();
	if (complaint)
		printf("# FAIL: kernel log: %.200s\n", complaint);
	return status || err || complaint;
}

/* Waits for a process. Returns -1 if it did not end by itself. */
static inline int outcome_of(pid_t pid)
{
	int status = -1;

	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static inline int dev_open(void)
{
	return open(TENSE_DEVICE, O_RDWR | O_CLOEXEC);
}

static inline int64_t dev_now(int fd)
{
	return lseek(fd, 0, SEEK_CUR);
}

static inline struct tense_stats dev_stats(int fd)
{
	struct tense_stats s;

	if (read(fd, &s, sizeof(s)) != sizeof(s))
		memset(&s, 0, sizeof(s));
	return s;
}

/* The counters of the calling thread, through a handle of their own. */
static inline struct tense_stats my_stats(void)
{
	int fd = dev_open();
	struct tense_stats s = dev_stats(fd);

	close(fd);
	return s;
}

/* Whether a write of this text succeeds. */
static inline bool dev_percent(int fd, const char *text)
{
	return write(fd, text, strlen(text)) == (ssize_t)strlen(text);
}

/* 0, or a negative errno. */
static inline int write_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC), err = 0;

	if (fd < 0)
		return -errno;
	if (write(fd, text, strlen(text)) < 0)
		err = -errno;
	close(fd);
	return err;
}

/* Where in the program's file an address comes from. */
static inline unsigned long long offset_of(const void *address)
{
	unsigned long at = (unsigned long)address, start, end;
	FILE *f = fopen("/proc/self/maps", "r");
	unsigned long long offset, found = 0;
	char line[512];

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "%lx-%lx %*s %llx", &start, &end, &offset) == 3 &&
		    at >= start && at < end)
			found = at - start + offset;
	if (f)
		fclose(f);
	return found;
}

/* Memory that forked processes share. */
static inline void *shared(size_t size)
{
	return mmap(NULL, size, PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
}

static inline int64_t clock_ns(clockid_t id)
{
	struct timespec t = { .tv_sec = -1 };

	clock_gettime(id, &t);
	return t.tv_sec * S + t.tv_nsec;
}

/* The kernel's answer, behind libtense's back; less than 0 without one. */
static inline int64_t kernel_ns(clockid_t id)
{
	struct timespec t = { .tv_sec = -1 };

	syscall(SYS_clock_gettime, id, &t);
	return t.tv_sec * S + t.tv_nsec;
}

/* Nothing virtual about it: the time-stamp counter. */
static inline uint64_t tsc(void)
{
	return __builtin_ia32_rdtsc();
}

struct instant {
	uint64_t ticks;
	int64_t ns;
};

/* Both clocks at once, as nearly as several tries get it. */
static inline struct instant instant_now(void)
{
	struct instant best = { 0 };
	uint64_t least = UINT64_MAX;

	for (int i = 0; i < 20; i++) {
		uint64_t from = tsc();
		int64_t ns = clock_ns(CLOCK_MONOTONIC);
		uint64_t took = tsc() - from;

		if (took < least) {
			least = took;
			best = (struct instant) { from + took / 2, ns };
		}
	}
	return best;
}

/* Ticks of a real ns, to be called before the process is in an experiment. */
static inline double tsc_per_ns(void)
{
	double rate, least = 0;

	/* Least where nobody else ran while the clock of a guest stood still. */
	for (int i = 0; i < 5; i++) {
		struct instant from = instant_now(), to;

		do {
			to = instant_now();
		} while (to.ns < from.ns + 20 * MS);
		rate = (to.ticks - from.ticks) / (double)(to.ns - from.ns);
		if (!least || rate < least)
			least = rate;
	}
	return least;
}

/*
 * Runs until the thread's CPU time, which is virtual in an experiment, has
 * grown by this.
 */
static inline void burn(int64_t ns)
{
	int64_t end = clock_ns(CLOCK_THREAD_CPUTIME_ID) + ns;

	while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < end)
		for (volatile int i = 0; i < 20000; i++)
			;
}

/* Runs on without a system call until *stop. */
static inline void spin_until(const volatile int *stop)
{
	while (!*stop)
		;
}

#endif
