// SPDX-License-Identifier: GPL-2.0
/* The waits of POSIX and C11 threads. */
#include "timed.h"

#include <semaphore.h>

/* Functions with a clock of their own, and those that have had it before. */
enum { TIMED, CLOCK };

/* Errors are returned; TIMED_OUT is ETIMEDOUT. */
static int end_of(int error)
{
	return error == ETIMEDOUT ? TIMED_OUT : error ? -error : WOKEN;
}

static int end_of_c11(int result)
{
	return result == thrd_timedout ? TIMED_OUT :
	       result == thrd_success ? WOKEN : -EINVAL;
}

static int open_cond(const struct timed_call *call, struct thing *thing)
{
	pthread_condattr_t attr;

	pthread_condattr_init(&attr);
	if (call->variant == TIMED)
		pthread_condattr_setclock(&attr, call->clock);
	pthread_mutex_init(&thing->mutex, NULL);
	return -pthread_cond_init(&thing->cond, &attr);
}

static void unlock(void *arg)
{
	pthread_mutex_unlock(arg);
}

static int cond_happens(const struct timed_call *call, struct thing *thing,
			const struct timespec *time)
{
	int error = 0;

	while (!thing->happened && !error)
		error = call->variant == CLOCK ?
			pthread_cond_clockwait(&thing->cond, &thing->mutex,
					       call->clock, time) :
			pthread_cond_timedwait(&thing->cond, &thing->mutex,
					       time);
	return end_of(error);
}

static int wait_cond(const struct timed_call *call, struct thing *thing,
		     struct timespec time, struct timespec *rest)
{
	int end;

	pthread_mutex_lock(&thing->mutex);
	pthread_cleanup_push(unlock, &thing->mutex);
	end = cond_happens(call, thing, &time);
	pthread_cleanup_pop(1);
	return end;
}

static void wake_cond(const struct timed_call *call, struct thing *thing)
{
	pthread_mutex_lock(&thing->mutex);
	thing->happened = true;
	pthread_cond_signal(&thing->cond);
	pthread_mutex_unlock(&thing->mutex);
}

static void close_cond(const struct timed_call *call, struct thing *thing)
{
	pthread_cond_destroy(&thing->cond);
	pthread_mutex_destroy(&thing->mutex);
}

static void lock_mutex(struct thing *thing)
{
	pthread_mutex_lock(&thing->mutex);
}

static void unlock_mutex(struct thing *thing)
{
	pthread_mutex_unlock(&thing->mutex);
}

static int open_mutex(const struct timed_call *call, struct thing *thing)
{
	pthread_mutex_init(&thing->mutex, NULL);
	hold(call, thing, lock_mutex, unlock_mutex);
	return 0;
}

static int open_pi_mutex(const struct timed_call *call, struct thing *thing)
{
	pthread_mutexattr_t attr;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setprotocol(&attr, PTHREAD_PRIO_INHERIT);
	pthread_mutex_init(&thing->mutex, &attr);
	hold(call, thing, lock_mutex, unlock_mutex);
	return 0;
}

static void lock_read(struct thing *thing)
{
	pthread_rwlock_rdlock(&thing->rwlock);
}

static void lock_write(struct thing *thing)
{
	pthread_rwlock_wrlock(&thing->rwlock);
}

static void unlock_rwlock(struct thing *thing)
{
	pthread_rwlock_unlock(&thing->rwlock);
}

/* Readers wait for a writer only. */
static int open_for_reader(const struct timed_call *call, struct thing *thing)
{
	pthread_rwlock_init(&thing->rwlock, NULL);
	hold(call, thing, lock_write, unlock_rwlock);
	return 0;
}

static int open_for_writer(const struct timed_call *call, struct thing *thing)
{
	pthread_rwlock_init(&thing->rwlock, NULL);
	hold(call, thing, lock_read, unlock_rwlock);
	return 0;
}

/* Gives back at once what it gets. */
#define WAIT_FOR_LOCK(name, member, clocked, timed, unlock)		\
	static int name(const struct timed_call *call,			\
			struct thing *thing, struct timespec time,	\
			struct timespec *rest)				\
	{								\
		int error = call->variant == CLOCK ?			\
			    clocked(&thing->member, call->clock, &time) : \
			    timed(&thing->member, &time);		\
									\
		if (!error)						\
			unlock(&thing->member);				\
		return end_of(error);					\
	}

WAIT_FOR_LOCK(wait_mutex, mutex, pthread_mutex_clocklock,
	      pthread_mutex_timedlock, pthread_mutex_unlock)
WAIT_FOR_LOCK(wait_read, rwlock, pthread_rwlock_clockrdlock,
	      pthread_rwlock_timedrdlock, pthread_rwlock_unlock)
WAIT_FOR_LOCK(wait_write, rwlock, pthread_rwlock_clockwrlock,
	      pthread_rwlock_timedwrlock, pthread_rwlock_unlock)

static int open_sem(const struct timed_call *call, struct thing *thing)
{
	return sem_init(&thing->sem, 0, 0) ? -errno : 0;
}

static void close_sem(const struct timed_call *call, struct thing *thing)
{
	sem_destroy(&thing->sem);
}

static void wake_sem(const struct timed_call *call, struct thing *thing)
{
	sem_post(&thing->sem);
}

static int wait_sem(const struct timed_call *call, struct thing *thing,
		    struct timespec time, struct timespec *rest)
{
	int result = call->variant == CLOCK ?
		     sem_clockwait(&thing->sem, call->clock, &time) :
		     sem_timedwait(&thing->sem, &time);

	return result == 0 ? WOKEN : ended(result, ETIMEDOUT);
}

static int open_thread(const struct timed_call *call, struct thing *thing)
{
	hold(call, thing, NULL, NULL);
	return 0;
}

static int wait_thread(const struct timed_call *call, struct thing *thing,
		       struct timespec time, struct timespec *rest)
{
	int error = call->variant == CLOCK ?
		    pthread_clockjoin_np(thing->holder, NULL, call->clock,
					 &time) :
		    pthread_timedjoin_np(thing->holder, NULL, &time);

	thing->happened = !error;
	return end_of(error);
}

static void close_thread(const struct timed_call *call, struct thing *thing)
{
	if (!thing->happened)
		holder_end(call, thing);
}

static void lock_mtx(struct thing *thing)
{
	mtx_lock(&thing->mtx);
}

static void unlock_mtx(struct thing *thing)
{
	mtx_unlock(&thing->mtx);
}

static int open_mtx(const struct timed_call *call, struct thing *thing)
{
	mtx_init(&thing->mtx, mtx_timed);
	hold(call, thing, lock_mtx, unlock_mtx);
	return 0;
}

static int wait_mtx(const struct timed_call *call, struct thing *thing,
		    struct timespec time, struct timespec *rest)
{
	int result = mtx_timedlock(&thing->mtx, &time);

	if (result == thrd_success)
		mtx_unlock(&thing->mtx);
	return end_of_c11(result);
}

static int open_cnd(const struct timed_call *call, struct thing *thing)
{
	mtx_init(&thing->mtx, mtx_plain);
	return cnd_init(&thing->cnd) == thrd_success ? 0 : -ENOMEM;
}

static void unlock_c11(void *arg)
{
	mtx_unlock(arg);
}

static int cnd_happens(struct thing *thing, const struct timespec *time)
{
	int result = thrd_success;

	while (!thing->happened && result == thrd_success)
		result = cnd_timedwait(&thing->cnd, &thing->mtx, time);
	return end_of_c11(result);
}

static int wait_cnd(const struct timed_call *call, struct thing *thing,
		    struct timespec time, struct timespec *rest)
{
	int end;

	mtx_lock(&thing->mtx);
	pthread_cleanup_push(unlock_c11, &thing->mtx);
	end = cnd_happens(thing, &time);
	pthread_cleanup_pop(1);
	return end;
}

static void wake_cnd(const struct timed_call *call, struct thing *thing)
{
	mtx_lock(&thing->mtx);
	thing->happened = true;
	cnd_signal(&thing->cnd);
	mtx_unlock(&thing->mtx);
}

static void close_cnd(const struct timed_call *call, struct thing *thing)
{
	cnd_destroy(&thing->cnd);
	mtx_destroy(&thing->mtx);
}

#define REAL .clock = CLOCK_REALTIME, .variant = TIMED
#define CLOCKED(id) .clock = (id), .variant = CLOCK
#define COND .open = open_cond, .wait = wait_cond, .wake = wake_cond, \
	.close = close_cond, .after = CONTINUED, \
	.flags = ABSOLUTE | CANCELS | NEGATIVE_PAST
#define HELD .wake = let_go, .close = holder_end, .after = CONTINUED
#define MUTEX HELD, .flags = ABSOLUTE | NEGATIVE_PAST, .open = open_mutex, \
	.wait = wait_mutex
/* The kernel implements this one and knows no negative times. */
#define PI_MUTEX HELD, .flags = ABSOLUTE, .open = open_pi_mutex, \
	.wait = wait_mutex
#define READ HELD, .flags = ABSOLUTE | NEGATIVE_PAST, \
	.open = open_for_reader, .wait = wait_read
#define WRITE HELD, .flags = ABSOLUTE | NEGATIVE_PAST, \
	.open = open_for_writer, .wait = wait_write
#define SEM .open = open_sem, .wait = wait_sem, .wake = wake_sem, \
	.close = close_sem, .flags = ABSOLUTE | CANCELS | NEGATIVE_PAST
/* libc 2.36 asks for ever what the kernel refuses. */
#define THREAD .open = open_thread, .wait = wait_thread, .wake = let_go, \
	.close = close_thread, .after = CONTINUED, \
	.flags = ABSOLUTE | CANCELS | NEGATIVE_PAST | NO_FRACTION

static const struct timed_call calls[] = {
	{ "pthread_cond_timedwait", REAL, COND },
	{ "pthread_cond_timedwait", .clock = CLOCK_MONOTONIC, .variant = TIMED,
	  COND },
	{ "pthread_cond_clockwait", CLOCKED(CLOCK_REALTIME), COND },
	{ "pthread_cond_clockwait", CLOCKED(CLOCK_MONOTONIC), COND },
	{ "pthread_mutex_timedlock", REAL, MUTEX },
	{ "pthread_mutex_clocklock", CLOCKED(CLOCK_REALTIME), MUTEX },
	{ "pthread_mutex_clocklock", CLOCKED(CLOCK_MONOTONIC), MUTEX },
	{ "pthread_mutex_timedlock, PI", REAL, PI_MUTEX },
	{ "pthread_mutex_clocklock, PI", CLOCKED(CLOCK_MONOTONIC), PI_MUTEX },
	{ "pthread_rwlock_timedrdlock", REAL, READ },
	{ "pthread_rwlock_clockrdlock", CLOCKED(CLOCK_REALTIME), READ },
	{ "pthread_rwlock_clockrdlock", CLOCKED(CLOCK_MONOTONIC), READ },
	{ "pthread_rwlock_timedwrlock", REAL, WRITE },
	{ "pthread_rwlock_clockwrlock", CLOCKED(CLOCK_REALTIME), WRITE },
	{ "pthread_rwlock_clockwrlock", CLOCKED(CLOCK_MONOTONIC), WRITE },
	{ "sem_timedwait", REAL, SEM },
	{ "sem_clockwait", CLOCKED(CLOCK_REALTIME), SEM },
	{ "sem_clockwait", CLOCKED(CLOCK_MONOTONIC), SEM },
	{ "pthread_timedjoin_np", REAL, THREAD },
	{ "pthread_clockjoin_np", CLOCKED(CLOCK_REALTIME), THREAD },
	{ "pthread_clockjoin_np", CLOCKED(CLOCK_MONOTONIC), THREAD },
	{ "mtx_timedlock", REAL, HELD, .flags = ABSOLUTE | NEGATIVE_PAST,
	  .open = open_mtx, .wait = wait_mtx },
	{ "cnd_timedwait", REAL, .open = open_cnd, .wait = wait_cnd,
	  .wake = wake_cnd, .close = close_cnd, .after = CONTINUED,
	  .flags = ABSOLUTE | CANCELS | NEGATIVE_PAST },
};

const struct timed_calls thread_calls = { calls, ARRAY_LENGTH(calls) };
