// SPDX-License-Identifier: GPL-2.0
/* Tests timers beyond one expiry: intervals, counts, the time that is left. */
#include "timed.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/wait.h>

#define TIMER_SIGNAL SIGUSR2

/* The clock before and after something was done. */
struct span {
	int64_t before;
	int64_t after;
};

#define SPAN(clock, action) ({ \
	struct span span_; \
	span_.before = raw_clock(clock); \
	action; \
	span_.after = raw_clock(clock); \
	span_; })

/* By the time that has passed since the first one. */
static int64_t expirations(int64_t since, int64_t interval)
{
	return since < 0 ? 0 : since / interval + 1;
}

/* Expirations, from when the timer was armed to when they were counted. */
static bool count_fits(const char *what, int64_t count, struct span armed,
		       struct span counted, int64_t first, int64_t interval)
{
	int64_t least = expirations(counted.before - armed.after - first,
				    interval);
	int64_t most = expirations(counted.after - armed.before - first,
				   interval);

	if (count < least || count > most)
		note("%s: %lld expirations, not %lld to %lld", what,
		     (long long)count, (long long)least, (long long)most);
	return count >= least && count <= most;
}

static bool signal_pends(int signal)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, signal);
	return sigtimedwait(&set, NULL, &(struct timespec){ 0 }) == signal;
}

static struct itimerspec every(int64_t first, int64_t interval)
{
	return (struct itimerspec){
		.it_value = ns_to_timespec(first),
		.it_interval = ns_to_timespec(interval),
	};
}

static void timerfd_counts(clockid_t clock)
{
	int fd = timerfd_create(clock, TFD_CLOEXEC);
	struct itimerspec arm = every(3 * MS, MS), left;
	struct span armed, counted;
	int64_t sum = 0, past;
	bool good = true;
	uint64_t count;

	armed = SPAN(clock, timerfd_settime(fd, 0, &arm, NULL));
	for (int i = 0; i < 4; i++) {
		nap(i * 3300 * US);
		counted = SPAN(clock, count = 0;
			       if (read(fd, &count, sizeof(count)) < 0)
				       good = false);
		sum += count;
		good &= count_fits("timerfd", sum, armed, counted, 3 * MS, MS);
	}
	check(good, "timerfd, %s: counts expirations", clock_name(clock));
	timerfd_gettime(fd, &left);
	check(timespec_to_ns(left.it_interval) == MS &&
	      timespec_to_ns(left.it_value) <= MS,
	      "timerfd, %s: what is left of an interval", clock_name(clock));

	/* One that began in the past has missed what it would have had. */
	past = raw_clock(clock) - 100 * MS;
	arm = every(past, MS);
	timerfd_settime(fd, TFD_TIMER_ABSTIME, &arm, NULL);
	counted = SPAN(clock, count = 0;
		       if (read(fd, &count, sizeof(count)) < 0)
			       good = false);
	check(count_fits("timerfd", count, (struct span){ past, past }, counted,
			 0, MS),
	      "timerfd, %s: counts those missed", clock_name(clock));
	close(fd);
}

static timer_t timer_with_signal(clockid_t clock)
{
	struct sigevent event = {
		.sigev_notify = SIGEV_SIGNAL, .sigev_signo = TIMER_SIGNAL,
		.sigev_value.sival_int = 77,
	};
	timer_t timer;

	if (timer_create(clock, &event, &timer))
		abort();
	return timer;
}

/* A signal that pends outlives its timer. */
static void timer_end(timer_t timer)
{
	timer_delete(timer);
	while (signal_pends(TIMER_SIGNAL))
		;
}

static void timer_counts(clockid_t clock)
{
	struct itimerspec arm = every(3 * MS, MS), left;
	timer_t timer = timer_with_signal(clock);
	struct span armed, counted;
	int64_t sum = 0;
	siginfo_t info;
	bool good = true;
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, TIMER_SIGNAL);
	armed = SPAN(clock, timer_settime(timer, 0, &arm, NULL));
	for (int i = 0; i < 4; i++) {
		nap(i * 3300 * US);
		counted = SPAN(clock, good &= sigwaitinfo(&set, &info) ==
				      TIMER_SIGNAL);
		sum += 1 + info.si_overrun;
		good &= info.si_code == SI_TIMER && info.si_int == 77 &&
			timer_getoverrun(timer) == info.si_overrun;
		good &= count_fits("timer", sum, armed, counted, 3 * MS, MS);
	}
	check(good, "timer, %s: one signal, and how many it stands for",
	      clock_name(clock));
	timer_gettime(timer, &left);
	check(timespec_to_ns(left.it_interval) == MS &&
	      timespec_to_ns(left.it_value) <= MS,
	      "timer, %s: what is left of an interval", clock_name(clock));
	timer_end(timer);
}

static void timer_counts_missed(clockid_t clock)
{
	timer_t timer = timer_with_signal(clock);
	int64_t past = raw_clock(clock) - 100 * MS;
	struct itimerspec arm = every(past, MS);
	struct span counted;
	siginfo_t info;
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, TIMER_SIGNAL);
	timer_settime(timer, TIMER_ABSTIME, &arm, NULL);
	counted = SPAN(clock, sigwaitinfo(&set, &info));
	check(count_fits("timer", 1 + info.si_overrun,
			 (struct span){ past, past }, counted, 0, MS),
	      "timer, %s: counts those missed", clock_name(clock));
	timer_end(timer);
}

/* Set and got by functions of the same kind, for three kinds of timers. */
struct kind {
	const char *name;
	int (*set)(int64_t first, int64_t interval, struct itimerspec *old);
	int (*get)(struct itimerspec *left);
	bool (*expired)(void);
	int64_t unit;
};

static int the_timerfd = -1;
static timer_t the_timer;

static int set_timerfd(int64_t first, int64_t interval, struct itimerspec *old)
{
	struct itimerspec arm = every(first, interval);

	return timerfd_settime(the_timerfd, 0, &arm, old);
}

static int get_timerfd(struct itimerspec *left)
{
	return timerfd_gettime(the_timerfd, left);
}

static bool timerfd_expired(void)
{
	uint64_t count;

	return read(the_timerfd, &count, sizeof(count)) == sizeof(count);
}

static int set_timer(int64_t first, int64_t interval, struct itimerspec *old)
{
	struct itimerspec arm = every(first, interval);

	return timer_settime(the_timer, 0, &arm, old);
}

static int get_timer(struct itimerspec *left)
{
	return timer_gettime(the_timer, left);
}

static bool timer_expired(void)
{
	return signal_pends(TIMER_SIGNAL);
}

static struct timeval to_timeval(int64_t ns)
{
	return (struct timeval){ ns / S, ns % S / US };
}

static struct timespec from_timeval(struct timeval time)
{
	return (struct timespec){ time.tv_sec, time.tv_usec * US };
}

static int set_itimer(int64_t first, int64_t interval, struct itimerspec *old)
{
	struct itimerval arm = { to_timeval(interval), to_timeval(first) }, was;
	int result = setitimer(ITIMER_REAL, &arm, &was);

	if (old)
		*old = (struct itimerspec){ from_timeval(was.it_interval),
					    from_timeval(was.it_value) };
	return result;
}

static int get_itimer(struct itimerspec *left)
{
	struct itimerval now;
	int result = getitimer(ITIMER_REAL, &now);

	*left = (struct itimerspec){ from_timeval(now.it_interval),
				     from_timeval(now.it_value) };
	return result;
}

static bool itimer_expired(void)
{
	return signal_pends(SIGALRM);
}

static const struct kind kinds[] = {
	{ "timerfd", set_timerfd, get_timerfd, timerfd_expired, 1 },
	{ "timer", set_timer, get_timer, timer_expired, 1 },
	{ "setitimer", set_itimer, get_itimer, itimer_expired, US },
};

static bool rest_fits(const char *what, struct itimerspec left, int64_t length,
		      struct span armed, struct span read, int64_t unit)
{
	int64_t rest = timespec_to_ns(left.it_value);
	int64_t least = length - (read.after - armed.before) - unit;
	int64_t most = length - (read.before - armed.after) + unit;

	if (rest < least || rest > most)
		note("%s: %lld ns are left, not %lld to %lld", what,
		     (long long)rest, (long long)least, (long long)most);
	return rest >= least && rest <= most;
}

static void set_and_get(const struct kind *k)
{
	struct itimerspec left = every(1, 1), old = every(1, 1);
	struct span armed, read;
	bool good = true;

	k->set(0, 0, NULL);
	k->expired();
	k->get(&left);
	check(timespec_to_ns(left.it_value) == 0, "%s: at rest nothing is left",
	      k->name);
	armed = SPAN(CLOCK_MONOTONIC, good &= k->set(HOUR, 10 * S, &old) == 0);
	good &= timespec_to_ns(old.it_value) == 0;
	for (int i = 0; i < 3; i++) {
		read = SPAN(CLOCK_MONOTONIC, k->get(&left));
		good &= rest_fits(k->name, left, HOUR, armed, read, k->unit);
		good &= timespec_to_ns(left.it_interval) == 10 * S;
		nap(2 * MS);
	}
	check(good, "%s: what is left", k->name);
	read = SPAN(CLOCK_MONOTONIC, good = k->set(5 * MS, 0, &old) == 0);
	check(good && rest_fits(k->name, old, HOUR, armed, read, k->unit) &&
	      timespec_to_ns(old.it_interval) == 10 * S,
	      "%s: what was left of the timer before", k->name);
	/* Zero takes the time away, whatever the interval is. */
	good = k->set(0, 1 * MS, NULL) == 0;
	k->expired();
	nap(8 * MS);
	check(good && !k->expired(), "%s: zero stops it", k->name);
	good = k->set(INT64_MAX, INT64_MAX, NULL) == 0;
	k->get(&left);
	check(good && timespec_to_ns(left.it_value) >= INT64_MAX / 4 &&
	      !k->expired(), "%s: what is left of a huge time", k->name);
	k->set(MS, 0, NULL);
	while (!k->expired())
		nap(MS);
	k->get(&left);
	check(timespec_to_ns(left.it_value) == 0,
	      "%s: nothing is left of one that has expired", k->name);
}

static void alarm_tells(void)
{
	int64_t rest;

	alarm(0);
	check(alarm(100) == 0, "alarm: none before");
	rest = alarm(0);
	check(rest == 100 || rest == 99, "alarm: seconds that were left");
	check(alarm(0) == 0, "alarm: zero stops it");
}

/* The parent's timers go on, and the child has none, but for descriptors. */
static void fork_keeps(void)
{
	struct itimerspec left;
	struct span armed, read;
	bool good = true;
	int status;
	pid_t child;

	armed = SPAN(CLOCK_MONOTONIC, for (size_t i = 0; i < 3; i++)
		     kinds[i].set(HOUR, 0, NULL));
	child = fork();
	if (!child) {
		read = SPAN(CLOCK_MONOTONIC, get_timerfd(&left));
		good &= rest_fits("child", left, HOUR, armed, read, 1);
		errno = 0;
		good &= get_timer(&left) == -1 && errno == EINVAL;
		get_itimer(&left);
		good &= timespec_to_ns(left.it_value) == 0;
		_exit(!good);
	}
	waitpid(child, &status, 0);
	check(status == 0, "fork: a child has no timers, and a common timerfd");
	for (size_t i = 0; i < 3; i++) {
		read = SPAN(CLOCK_MONOTONIC, kinds[i].get(&left));
		good &= rest_fits(kinds[i].name, left, HOUR, armed, read, US);
	}
	check(good, "fork: those of the parent go on");
}

/* A timer that a child arms wakes the parent. */
static void timerfd_is_shared(void)
{
	int64_t begin = raw_clock(CLOCK_MONOTONIC);
	struct itimerspec arm = every(5 * MS, 0);
	int fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
	uint64_t count = 0;
	pid_t child = fork();

	if (!child)
		_exit(timerfd_settime(fd, 0, &arm, NULL) != 0);
	check(read(fd, &count, sizeof(count)) == sizeof(count) && count == 1 &&
	      raw_clock(CLOCK_MONOTONIC) >= begin + 5 * MS,
	      "fork: a timer that a child has armed expires for its parent");
	waitpid(child, NULL, 0);
	close(fd);
}

/* "--after-exec TIMERFD TIMER BEFORE AFTER": what was armed for an hour. */
int after_exec(char **argv)
{
	struct itimerspec left;
	struct span armed, read;
	bool good;

	if (!argv[0] || !argv[1] || !argv[2])
		return 2;
	the_timerfd = (int)strtol(argv[0], NULL, 10);
	armed.before = strtoll(argv[1], NULL, 10);
	armed.after = strtoll(argv[2], NULL, 10);
	read = SPAN(CLOCK_MONOTONIC, get_timerfd(&left));
	good = rest_fits("timerfd", left, HOUR, armed, read, 1);
	read = SPAN(CLOCK_MONOTONIC, get_itimer(&left));
	good &= rest_fits("setitimer", left, HOUR, armed, read, US);
	return !good;
}

static void exec_keeps(const char *program)
{
	char fd[16], before[24], after[24];
	struct span armed;
	int status;
	pid_t child = fork();

	if (!child) {
		the_timerfd = timerfd_create(CLOCK_MONOTONIC, 0);
		armed = SPAN(CLOCK_MONOTONIC, {
			set_timerfd(HOUR, 0, NULL);
			set_itimer(HOUR, 0, NULL);
		});
		snprintf(fd, sizeof(fd), "%d", the_timerfd);
		snprintf(before, sizeof(before), "%lld",
			 (long long)armed.before);
		snprintf(after, sizeof(after), "%lld", (long long)armed.after);
		execl("/proc/self/exe", program, "--after-exec", fd, before,
		      after, NULL);
		_exit(2);
	}
	waitpid(child, &status, 0);
	if (!check(status == 0, "exec: setitimer and timerfd go on"))
		note("status 0x%x", status);
}

static void interval_of_itimer(void)
{
	struct span armed, counted;
	sigset_t set;
	bool good = true;

	sigemptyset(&set);
	sigaddset(&set, SIGALRM);
	armed = SPAN(CLOCK_MONOTONIC, set_itimer(2 * MS, MS, NULL));
	for (int i = 1; i <= 10; i++) {
		counted = SPAN(CLOCK_MONOTONIC, sigwaitinfo(&set, NULL));
		/* Several that expired are one signal: never more of them. */
		good &= counted.after >= armed.before + (i + 1) * MS;
	}
	set_itimer(0, 0, NULL);
	check(good, "setitimer: no signal of an interval is early");
}

void test_timers(const char *program)
{
	static const clockid_t clocks[] = {
		CLOCK_MONOTONIC, CLOCK_REALTIME, CLOCK_BOOTTIME,
	};
	struct sigevent event = {
		.sigev_notify = SIGEV_SIGNAL, .sigev_signo = TIMER_SIGNAL,
	};
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGALRM);
	sigaddset(&set, TIMER_SIGNAL);
	sigprocmask(SIG_BLOCK, &set, NULL);
	for (size_t i = 0; i < ARRAY_LENGTH(clocks); i++) {
		timerfd_counts(clocks[i]);
		timer_counts(clocks[i]);
		timer_counts_missed(clocks[i]);
	}
	timer_counts(CLOCK_TAI);
	timer_counts_missed(CLOCK_TAI);
	the_timerfd = timerfd_create(CLOCK_MONOTONIC,
				     TFD_CLOEXEC | TFD_NONBLOCK);
	timer_create(CLOCK_MONOTONIC, &event, &the_timer);
	for (size_t i = 0; i < ARRAY_LENGTH(kinds); i++)
		set_and_get(&kinds[i]);
	interval_of_itimer();
	alarm_tells();
	fork_keeps();
	timerfd_is_shared();
	exec_keeps(program);
	close(the_timerfd);
	timer_delete(the_timer);
}
