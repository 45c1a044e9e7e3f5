// SPDX-License-Identifier: GPL-2.0
/* Timers and sleeps that count CPU time. */
#include "timed.h"

#include <string.h>
#include <sys/time.h>

#define TIMER_SIGNAL SIGUSR2

static atomic_int fired;

static void count(int signal)
{
	fired++;
}

static void catch(int signal)
{
	struct sigaction action = { .sa_handler = count };

	fired = 0;
	sigaction(signal, &action, NULL);
}

/* Runs until the signal has come; returns the CPU time by then. */
static int64_t burn_until_fired(clockid_t clock)
{
	while (!fired)
		for (volatile int i = 0; i < 1000; i++)
			;
	return raw_clock(clock);
}

static void timer(clockid_t clock, const char *name)
{
	struct sigevent event = {
		.sigev_notify = SIGEV_SIGNAL, .sigev_signo = TIMER_SIGNAL,
	};
	struct itimerspec arm = { .it_value.tv_nsec = 10 * MS }, left;
	int64_t begin, took;
	bool good = true;
	timer_t id;

	catch(TIMER_SIGNAL);
	if (!check(timer_create(clock, &event, &id) == 0, "timer, %s", name))
		return;
	begin = raw_clock(clock);
	timer_settime(id, 0, &arm, NULL);
	/* Sleep does not count. */
	nap(20 * MS);
	good &= !fired;
	timer_gettime(id, &left);
	good &= timespec_to_ns(left.it_value) <= 10 * MS &&
		timespec_to_ns(left.it_value) >=
			begin + 10 * MS - raw_clock(clock);
	check(good, "timer, %s: what is left after sleep", name);
	took = burn_until_fired(clock) - begin;
	check(took >= 10 * MS, "timer, %s: never early", name);
	note("late by %lld us", (long long)(took / US - 10000));

	fired = 0;
	arm.it_value = ns_to_timespec(raw_clock(clock) + 5 * MS);
	timer_settime(id, TIMER_ABSTIME, &arm, NULL);
	took = burn_until_fired(clock);
	check(took >= timespec_to_ns(arm.it_value),
	      "timer, %s: never early, until a time", name);
	timer_delete(id);
}

/*
 * The kernel counts user and system time by ticks, and its own lists of timers
 * with them: how early that may be has no bound that holds on every machine.
 */
static void itimer(int which, int signal, const char *name)
{
	struct itimerval arm = { .it_value.tv_usec = 50000 }, left;
	int64_t begin, took;

	catch(signal);
	begin = raw_clock(CLOCK_PROCESS_CPUTIME_ID);
	setitimer(which, &arm, NULL);
	nap(60 * MS);
	check(!fired, "%s: sleep does not count", name);
	getitimer(which, &left);
	check(left.it_value.tv_sec == 0 && left.it_value.tv_usec > 0,
	      "%s: something is left after sleep", name);
	took = burn_until_fired(CLOCK_PROCESS_CPUTIME_ID) - begin;
	check(fired == 1, "%s: expires once", name);
	note("after %lld us of 50000", (long long)(took / US));
}

struct sleep {
	clockid_t clock;
	int64_t took;
	int error;
	atomic_bool ended;
};

static void *sleeps(void *arg)
{
	struct timespec time = { .tv_nsec = 10 * MS };
	struct sleep *s = arg;
	int64_t begin = raw_clock(s->clock);

	s->error = clock_nanosleep(s->clock, 0, &time, NULL);
	s->took = raw_clock(s->clock) - begin;
	s->ended = true;
	return NULL;
}

static void sleep_of(clockid_t clock, const char *name)
{
	struct sleep s = { .clock = clock };
	pthread_t thread;

	pthread_create(&thread, NULL, sleeps, &s);
	while (!s.ended)
		for (volatile int i = 0; i < 1000; i++)
			;
	pthread_join(thread, NULL);
	check(s.error == 0 && s.took >= 10 * MS,
	      "clock_nanosleep, %s: never early", name);
	if (s.error || s.took < 10 * MS)
		note("%s after %lld ns", strerror(s.error), (long long)s.took);
}

void test_cpu_timers(void)
{
	clockid_t own, thread;

	clock_getcpuclockid(getpid(), &own);
	pthread_getcpuclockid(pthread_self(), &thread);
	timer(CLOCK_PROCESS_CPUTIME_ID, "PROCESS_CPUTIME_ID");
	timer(CLOCK_THREAD_CPUTIME_ID, "THREAD_CPUTIME_ID");
	timer(own, "clock_getcpuclockid");
	timer(thread, "pthread_getcpuclockid");
	itimer(ITIMER_VIRTUAL, SIGVTALRM, "ITIMER_VIRTUAL");
	itimer(ITIMER_PROF, SIGPROF, "ITIMER_PROF");
	sleep_of(CLOCK_PROCESS_CPUTIME_ID, "PROCESS_CPUTIME_ID");
	sleep_of(thread, "pthread_getcpuclockid");
}
