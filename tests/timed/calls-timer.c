// SPDX-License-Identifier: GPL-2.0
/* Timers: a wait is to arm one and to wait for it without a limit. */
#include "timed.h"

#include <sys/time.h>
#include <sys/timerfd.h>

#define TIMER_SIGNAL SIGUSR2

static int open_timerfd(const struct timed_call *call, struct thing *thing)
{
	thing->fd = call->raw ?
		    (int)syscall(SYS_timerfd_create, call->clock, TFD_CLOEXEC) :
		    timerfd_create(call->clock, TFD_CLOEXEC);
	return thing->fd < 0 ? -errno : 0;
}

static void close_timerfd(const struct timed_call *call, struct thing *thing)
{
	close(thing->fd);
}

static int wait_timerfd(const struct timed_call *call, struct thing *thing,
			struct timespec time, struct timespec *rest)
{
	int flags = call->flags & ABSOLUTE ? TFD_TIMER_ABSTIME : 0;
	struct itimerspec arm = { .it_value = time }, left;
	uint64_t count;
	int error;

	if (call->raw ?
	    syscall(SYS_timerfd_settime, thing->fd, flags, &arm, NULL) :
	    timerfd_settime(thing->fd, flags, &arm, NULL))
		return -errno;
	if (read(thing->fd, &count, sizeof(count)) == sizeof(count))
		return count == 1 ? TIMED_OUT : WOKEN;
	error = errno;
	if (call->raw)
		syscall(SYS_timerfd_gettime, thing->fd, &left);
	else
		timerfd_gettime(thing->fd, &left);
	*rest = left.it_value;
	return -error;
}

static void block(int signal, sigset_t *set)
{
	sigemptyset(set);
	sigaddset(set, signal);
	pthread_sigmask(SIG_BLOCK, set, NULL);
}

/* One that pends has outlived its timer. */
static void block_anew(int signal)
{
	sigset_t set;

	block(signal, &set);
	while (sigtimedwait(&set, NULL, &(struct timespec){ 0 }) == signal)
		;
}

/* libc's timer_t is not always the kernel's number. */
static int open_timer(const struct timed_call *call, struct thing *thing)
{
	struct sigevent event = {
		.sigev_notify = call->variant, .sigev_signo = TIMER_SIGNAL,
	};
	int number;

	event._sigev_un._tid = gettid();
	block_anew(TIMER_SIGNAL);
	if (!call->raw)
		return timer_create(call->clock, &event, &thing->timer) ?
			       -errno : 0;
	if (syscall(SYS_timer_create, call->clock, &event, &number))
		return -errno;
	thing->fd = number;
	return 0;
}

static void close_timer(const struct timed_call *call, struct thing *thing)
{
	if (call->raw)
		syscall(SYS_timer_delete, thing->fd);
	else
		timer_delete(thing->timer);
}

static int timer_set(const struct timed_call *call, struct thing *thing,
		     struct timespec time)
{
	int flags = call->flags & ABSOLUTE ? TIMER_ABSTIME : 0;
	struct itimerspec arm = { .it_value = time };

	return (call->raw ?
		syscall(SYS_timer_settime, thing->fd, flags, &arm, NULL) :
		timer_settime(thing->timer, flags, &arm, NULL)) ? -errno : 0;
}

static void timer_left(const struct timed_call *call, struct thing *thing,
		       struct timespec *rest)
{
	struct itimerspec left = { 0 };

	if (call->raw)
		syscall(SYS_timer_gettime, thing->fd, &left);
	else
		timer_gettime(thing->timer, &left);
	*rest = left.it_value;
}

static int wait_timer(const struct timed_call *call, struct thing *thing,
		      struct timespec time, struct timespec *rest)
{
	int err = timer_set(call, thing, time), error;
	sigset_t set;

	if (err)
		return err;
	block(TIMER_SIGNAL, &set);
	if (sigwaitinfo(&set, NULL) == TIMER_SIGNAL)
		return TIMED_OUT;
	error = errno;
	timer_left(call, thing, rest);
	return -error;
}

/* No signal: the timer says itself when its time is over. */
static int wait_silent_timer(const struct timed_call *call,
			     struct thing *thing, struct timespec time,
			     struct timespec *rest)
{
	int err = timer_set(call, thing, time);

	if (err)
		return err;
	do
		timer_left(call, thing, rest);
	while (rest->tv_sec || rest->tv_nsec);
	return TIMED_OUT;
}

static int open_itimer(const struct timed_call *call, struct thing *thing)
{
	block_anew(SIGALRM);
	return 0;
}

static void close_itimer(const struct timed_call *call, struct thing *thing)
{
	struct itimerval none = { 0 };

	setitimer(ITIMER_REAL, &none, NULL);
}

static int wait_alarm_signal(void)
{
	sigset_t set;

	block(SIGALRM, &set);
	return sigwaitinfo(&set, NULL) == SIGALRM ? TIMED_OUT : -errno;
}

static int wait_itimer(const struct timed_call *call, struct thing *thing,
		       struct timespec time, struct timespec *rest)
{
	struct itimerval arm = {
		.it_value = { time.tv_sec, time.tv_nsec / US },
	};
	int result;

	if (call->raw ? syscall(SYS_setitimer, ITIMER_REAL, &arm, NULL) :
			setitimer(ITIMER_REAL, &arm, NULL))
		return -errno;
	result = wait_alarm_signal();
	if (result != TIMED_OUT) {
		if (call->raw)
			syscall(SYS_getitimer, ITIMER_REAL, &arm);
		else
			getitimer(ITIMER_REAL, &arm);
		*rest = (struct timespec){ arm.it_value.tv_sec,
					   arm.it_value.tv_usec * US };
	}
	return result;
}

static int wait_alarm(const struct timed_call *call, struct thing *thing,
		      struct timespec time, struct timespec *rest)
{
	if (call->raw)
		syscall(SYS_alarm, time.tv_sec);
	else
		alarm(time.tv_sec);
	return wait_alarm_signal();
}

#define TIMERFD(id) \
	LIBC_AND_RAW("timerfd_settime", .clock = (id), .open = open_timerfd, \
		     .wait = wait_timerfd, .close = close_timerfd, \
		     .flags = REST | ZERO_NEVER | CANCELS, \
		     .after = RESTARTED), \
	LIBC_AND_RAW("timerfd_settime", .clock = (id), .open = open_timerfd, \
		     .wait = wait_timerfd, .close = close_timerfd, \
		     .flags = ABSOLUTE | REST | ZERO_NEVER | CANCELS, \
		     .after = RESTARTED)
#define TIMER(id) \
	LIBC_AND_RAW("timer_settime", .clock = (id), .open = open_timer, \
		     .wait = wait_timer, .close = close_timer, \
		     .variant = SIGEV_SIGNAL, \
		     .flags = REST | ZERO_NEVER | STOP_INTERRUPTS), \
	LIBC_AND_RAW("timer_settime", .clock = (id), .open = open_timer, \
		     .wait = wait_timer, .close = close_timer, \
		     .variant = SIGEV_SIGNAL, \
		     .flags = ABSOLUTE | REST | ZERO_NEVER | STOP_INTERRUPTS)
#define SILENT .open = open_timer, .wait = wait_silent_timer, \
	.close = close_timer, .variant = SIGEV_NONE

static const struct timed_call calls[] = {
	TIMERFD(CLOCK_MONOTONIC),
	TIMERFD(CLOCK_REALTIME),
	TIMERFD(CLOCK_BOOTTIME),
	TIMER(CLOCK_MONOTONIC),
	TIMER(CLOCK_REALTIME),
	TIMER(CLOCK_BOOTTIME),
	TIMER(CLOCK_TAI),
	{ "timer_settime, by thread", .clock = CLOCK_MONOTONIC,
	  .open = open_timer, .wait = wait_timer, .close = close_timer,
	  .variant = SIGEV_THREAD_ID,
	  .flags = REST | ZERO_NEVER | STOP_INTERRUPTS },
	LIBC_AND_RAW("timer_settime, silent", .clock = CLOCK_MONOTONIC, SILENT,
		     .flags = ZERO_NEVER | NEVER_BLOCKS),
	LIBC_AND_RAW("timer_settime, silent", .clock = CLOCK_REALTIME, SILENT,
		     .flags = ABSOLUTE | ZERO_NEVER | NEVER_BLOCKS),
	LIBC_AND_RAW("setitimer", .clock = CLOCK_MONOTONIC, .unit = US,
		     .open = open_itimer, .wait = wait_itimer,
		     .close = close_itimer,
		     .flags = REST | ZERO_NEVER | STOP_INTERRUPTS),
	LIBC_AND_RAW("alarm", .clock = CLOCK_MONOTONIC, .unit = S,
		     .longest = UINT32_MAX, .open = open_itimer,
		     .wait = wait_alarm, .close = close_itimer,
		     .flags = NO_FRACTION | NO_NEGATIVE | ZERO_NEVER |
			      STOP_INTERRUPTS),
};

const struct timed_calls timer_calls = { calls, ARRAY_LENGTH(calls) };
