// SPDX-License-Identifier: GPL-2.0
/* Waits for signals, message queues, semaphores and asynchronous I/O. */
#include "timed.h"

#include <aio.h>
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <mqueue.h>
#include <stdio.h>
#include <sys/ipc.h>
#include <sys/sem.h>

static int open_signal(const struct timed_call *call, struct thing *thing)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	thing->word = gettid();
	return -pthread_sigmask(SIG_BLOCK, &set, NULL);
}

static void wake_signal(const struct timed_call *call, struct thing *thing)
{
	syscall(SYS_tgkill, getpid(), thing->word, SIGUSR2);
}

static int wait_signal(const struct timed_call *call, struct thing *thing,
		       struct timespec time, struct timespec *rest)
{
	sigset_t set;
	long result;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	result = call->raw ?
		 syscall(SYS_rt_sigtimedwait, &set, NULL, &time, 8) :
		 sigtimedwait(&set, NULL, &time);
	return result > 0 ? WOKEN : ended(result, EAGAIN);
}

static int open_queue(const struct timed_call *call, struct thing *thing)
{
	struct mq_attr attr = { .mq_maxmsg = 1, .mq_msgsize = 1 };
	char name[64];

	snprintf(name, sizeof(name), "/timed-%d-%d", getpid(), gettid());
	thing->fd = mq_open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600,
			    &attr);
	if (thing->fd < 0)
		return -errno;
	mq_unlink(name);
	/* One message is all that there is room for. */
	return call->variant && mq_send(thing->fd, "", 1, 0) ? -errno : 0;
}

static void wake_queue(const struct timed_call *call, struct thing *thing)
{
	char message;

	if (call->variant)
		mq_receive(thing->fd, &message, 1, NULL);
	else
		mq_send(thing->fd, "", 1, 0);
}

static void close_queue(const struct timed_call *call, struct thing *thing)
{
	mq_close(thing->fd);
}

static int wait_send(const struct timed_call *call, struct thing *thing,
		     struct timespec time, struct timespec *rest)
{
	long result = call->raw ?
		      syscall(SYS_mq_timedsend, thing->fd, "", 1, 0, &time) :
		      mq_timedsend(thing->fd, "", 1, 0, &time);

	return result == 0 ? WOKEN : ended(result, ETIMEDOUT);
}

static int wait_receive(const struct timed_call *call, struct thing *thing,
			struct timespec time, struct timespec *rest)
{
	char message;
	long result = call->raw ?
		      syscall(SYS_mq_timedreceive, thing->fd, &message, 1, NULL,
			      &time) :
		      mq_timedreceive(thing->fd, &message, 1, NULL, &time);

	return result > 0 ? WOKEN : ended(result, ETIMEDOUT);
}

static int open_semaphore(const struct timed_call *call, struct thing *thing)
{
	thing->fd = semget(IPC_PRIVATE, 1, 0600);
	return thing->fd < 0 ? -errno : 0;
}

static void close_semaphore(const struct timed_call *call, struct thing *thing)
{
	semctl(thing->fd, 0, IPC_RMID);
}

static void wake_semaphore(const struct timed_call *call, struct thing *thing)
{
	struct sembuf up = { .sem_op = 1 };

	semop(thing->fd, &up, 1);
}

static int wait_semaphore(const struct timed_call *call, struct thing *thing,
			  struct timespec time, struct timespec *rest)
{
	struct sembuf down = { .sem_op = -1 };
	long result = call->raw ?
		      syscall(SYS_semtimedop, thing->fd, &down, 1, &time) :
		      semtimedop(thing->fd, &down, 1, &time);

	return result == 0 ? WOKEN : ended(result, EAGAIN);
}

static int open_context(const struct timed_call *call, struct thing *thing)
{
	aio_context_t context = 0;

	if (syscall(SYS_io_setup, 1, &context))
		return -errno;
	thing->memory = (void *)context;
	return 0;
}

static void close_context(const struct timed_call *call, struct thing *thing)
{
	syscall(SYS_io_destroy, thing->memory);
}

static int wait_context(const struct timed_call *call, struct thing *thing,
			struct timespec time, struct timespec *rest)
{
	struct io_event event;
	long result = call->variant ?
		      syscall(SYS_io_pgetevents, thing->memory, 1, 1, &event,
			      &time, NULL) :
		      syscall(SYS_io_getevents, thing->memory, 1, 1, &event,
			      &time);

	return result > 0 ? WOKEN : ended(result, 0);
}

/* A read of a pipe, by a thread of libc's. */
static int open_aio(const struct timed_call *call, struct thing *thing)
{
	static _Thread_local struct aiocb request;
	static _Thread_local char byte;
	int pipes[2];

	if (pipe(pipes))
		return -errno;
	thing->fd = pipes[0];
	thing->peer = pipes[1];
	request = (struct aiocb){
		.aio_fildes = pipes[0], .aio_buf = &byte, .aio_nbytes = 1,
		.aio_sigevent.sigev_notify = SIGEV_NONE,
	};
	thing->memory = &request;
	return aio_read(&request) ? -errno : 0;
}

static void wake_aio(const struct timed_call *call, struct thing *thing)
{
	if (write(thing->peer, "", 1) != 1)
		return;
}

static void close_aio(const struct timed_call *call, struct thing *thing)
{
	struct aiocb *request = thing->memory;
	const struct aiocb *list[] = { request };

	wake_aio(call, thing);
	while (aio_error(request) == EINPROGRESS)
		aio_suspend(list, 1, NULL);
	aio_return(request);
	close(thing->fd);
	close(thing->peer);
}

static int wait_aio(const struct timed_call *call, struct thing *thing,
		    struct timespec time, struct timespec *rest)
{
	const struct aiocb *list[] = { thing->memory };
	int result = aio_suspend(list, 1, &time);

	return result == 0 ? WOKEN : ended(result, EAGAIN);
}

#define QUEUE .clock = CLOCK_REALTIME, .open = open_queue, .wake = wake_queue, \
	.close = close_queue, .after = RESTARTED, .flags = ABSOLUTE | CANCELS
#define ANY_TIME (NO_FRACTION | NO_NEGATIVE)
#define CONTEXT .raw = true, .clock = CLOCK_MONOTONIC, .open = open_context, \
	.wait = wait_context, .close = close_context

static const struct timed_call calls[] = {
	LIBC_AND_RAW("sigtimedwait", .clock = CLOCK_MONOTONIC,
		     .open = open_signal, .wait = wait_signal,
		     .wake = wake_signal, .flags = CANCELS | STOP_INTERRUPTS),
	LIBC_AND_RAW("mq_timedsend", QUEUE, .wait = wait_send, .variant = 1),
	LIBC_AND_RAW("mq_timedreceive", QUEUE, .wait = wait_receive),
	LIBC_AND_RAW("semtimedop", .clock = CLOCK_MONOTONIC,
		     .open = open_semaphore, .wait = wait_semaphore,
		     .wake = wake_semaphore, .close = close_semaphore,
		     .flags = STOP_INTERRUPTS),
	/* Nothing is refused: most negative times last for ever. */
	{ "io_getevents", CONTEXT, .flags = ANY_TIME | STOP_INTERRUPTS },
	{ "io_pgetevents", CONTEXT, .flags = ANY_TIME | STOP_INTERRUPTS,
	  .variant = 1 },
	{ "aio_suspend", .clock = CLOCK_MONOTONIC, .open = open_aio,
	  .wait = wait_aio, .wake = wake_aio, .close = close_aio,
	  /* libc ends the program for a time that is none, and adds to it. */
	  .longest = INT64_MAX / 2,
	  .flags = CANCELS | NO_FRACTION | NO_NEGATIVE },
};

const struct timed_calls ipc_calls = { calls, ARRAY_LENGTH(calls) };
