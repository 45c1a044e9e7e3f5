// SPDX-License-Identifier: GPL-2.0
/*
 * Goes to the end of virtual time and does there one thing that may hang or
 * kill the kernel. The test runs it in a guest of its own and ends that guest
 * from the host, because a CPU that loops with interrupts off ends nothing.
 *
 * Usage: brink timer CLOCK | brink itimer | brink cputime
 *
 * Runs as guest tests do: as root, without tense.ko, which it loads itself.
 */
#include "guest.h"

#include <sys/resource.h>
#include <sys/time.h>
#include <sys/times.h>

#define END ((int64_t)TENSE_TIME_MAX)
/* So far before the end, a jump to the end cannot come too late. */
#define NEAR (S / 10)

static int joined(void)
{
	int fd = dev_open();

	if (fd < 0)
		exit(2);
	return fd;
}

/* Jumps to the last possible time, from which the thread runs past the end. */
static int join_at_end(void)
{
	int fd = joined();

	if (lseek(fd, END - NEAR, SEEK_SET) < 0)
		exit(3);
	/* Each call takes time, so the last jump may come too late. */
	lseek(fd, END - 1, SEEK_SET);
	return fd;
}

/* Runs, without system calls, for some ticks of the kernel. */
static void work(void)
{
	for (volatile unsigned int i = 0; i < 100000000; i++)
		;
}

/* --- a timer whose signal nobody takes re-arms itself in its callback --- */

static clockid_t clock_named(const char *name)
{
	static const struct {
		const char *name;
		clockid_t id;
	} clocks[] = {
		{ "realtime", CLOCK_REALTIME },
		{ "monotonic", CLOCK_MONOTONIC },
		{ "boottime", CLOCK_BOOTTIME },
		{ "tai", CLOCK_TAI },
	};

	for (size_t i = 0; i < ARRAY_LENGTH(clocks); i++)
		if (!strcmp(clocks[i].name, name))
			return clocks[i].id;
	exit(4);
}

static int ignored_timer(clockid_t clock)
{
	struct sigevent event = {
		.sigev_notify = SIGEV_SIGNAL,
		.sigev_signo = SIGUSR1,
	};
	struct itimerspec each_ms = { { 0, MS }, { 0, MS } };
	timer_t timer;

	join_at_end();
	signal(SIGUSR1, SIG_IGN);
	if (timer_create(clock, &event, &timer) ||
	    timer_settime(timer, 0, &each_ms, NULL))
		return 5;
	work();
	return 0;
}

static int ignored_itimer(void)
{
	struct itimerval each_ms = { { 0, 1000 }, { 0, 1000 } };

	join_at_end();
	signal(SIGALRM, SIG_IGN);
	if (setitimer(ITIMER_REAL, &each_ms, NULL))
		return 5;
	work();
	return 0;
}

/* --- CPU time that jumps raise beyond 64 bits --- */

#define TRIALS 40

static uint64_t random_state = 88172645463325252ULL;

static unsigned int below(unsigned int n)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state % n;
}

/* Spends most of its time in the kernel. */
static void work_in_kernel(int fd)
{
	for (int i = 0; i < 2000; i++)
		dev_now(fd);
}

static void spin(unsigned int turns)
{
	for (volatile unsigned int i = 0; i < turns; i++)
		;
}

static int64_t cpu_time(void)
{
	return kernel_ns(CLOCK_THREAD_CPUTIME_ID);
}

/*
 * Jumps by ns, or if ns is 0 as far as possible, in an experiment of its own, which
 * begins at 0.
 */
static void jump_far(int64_t ns, bool in_kernel)
{
	int fd = joined();

	/* Retry: the thread may run past the end between the two calls. */
	for (int i = 0; lseek(fd, ns ? ns : END - dev_now(fd) - MS, SEEK_CUR) < 0; i++)
		if (i == 100)
			exit(6);
	/* A tick books the jump, to user time or to system time. */
	if (in_kernel)
		work_in_kernel(fd);
	else
		spin(10000000);
	close(fd);
}

static int read_times(void)
{
	char text[512];
	struct rusage usage;
	struct tms tms;
	int fd = open("/proc/self/stat", O_RDONLY);

	if (fd < 0 || read(fd, text, sizeof(text)) <= 0)
		return 7;
	close(fd);
	if (getrusage(RUSAGE_SELF, &usage) || times(&tms) < 0)
		return 7;
	return 0;
}

/*
 * Four jumps to the end make the sum of all CPU time wrap to just past 0. The next
 * tick wraps the sums of user and system time, too. The program reads them some
 * time after that tick.
 */
static int overflow_once(void)
{
	int64_t last;

	for (int i = 0; i < 3; i++)
		jump_far(0, i != 1);
	/* A kernel that limits CPU time did not add all of it. */
	last = 10000 - (uint64_t)cpu_time();
	jump_far(last > 0 && last < END - MS ? last : 0, below(2));
	spin(below(2000000));
	return read_times();
}

static int overflow_cputime(void)
{
	for (int i = 0; i < TRIALS; i++) {
		int status = -1;
		pid_t pid = fork();

		random_state += i;
		if (!pid)
			_exit(overflow_once());
		waitpid(pid, &status, 0);
		if (status)
			return 8;
	}
	return 0;
}

static int run(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "timer"))
		return ignored_timer(clock_named(argv[2]));
	if (argc == 2 && !strcmp(argv[1], "itimer"))
		return ignored_itimer();
	if (argc == 2 && !strcmp(argv[1], "cputime"))
		return overflow_cputime();
	return 9;
}

int main(int argc, char **argv)
{
	int status = run_with_module(argc, argv, run);

	if (!status)
		printf("alive\n");
	return status ? 1 : 0;
}
