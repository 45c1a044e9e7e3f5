// SPDX-License-Identifier: GPL-2.0
/* io_uring by system calls: the time-out as a request, and that of the wait. */
#include "timed.h"

#include <linux/io_uring.h>
#include <sys/mman.h>

struct ring {
	int fd;
	struct io_uring_params params;
	char *queues;
	size_t size;
	struct io_uring_sqe *requests;
};

/* Requests and completions share a mapping since Linux 5.4. */
static int open_ring(const struct timed_call *call, struct thing *thing)
{
	static _Thread_local struct ring ring;

	ring = (struct ring){ 0 };
	ring.fd = syscall(SYS_io_uring_setup, 4, &ring.params);
	if (ring.fd < 0)
		return -errno;
	ring.size = ring.params.cq_off.cqes +
		    ring.params.cq_entries * sizeof(struct io_uring_cqe);
	ring.queues = mmap(NULL, ring.size, PROT_READ | PROT_WRITE, MAP_SHARED,
			   ring.fd, IORING_OFF_SQ_RING);
	ring.requests = mmap(NULL,
			     ring.params.sq_entries * sizeof(*ring.requests),
			     PROT_READ | PROT_WRITE, MAP_SHARED, ring.fd,
			     IORING_OFF_SQES);
	if (ring.queues == MAP_FAILED || ring.requests == MAP_FAILED)
		return -errno;
	thing->memory = &ring;
	return 0;
}

static void close_ring(const struct timed_call *call, struct thing *thing)
{
	struct ring *ring = thing->memory;

	munmap(ring->queues, ring->size);
	munmap(ring->requests,
	       ring->params.sq_entries * sizeof(*ring->requests));
	close(ring->fd);
}

static atomic_uint *word(struct ring *ring, uint32_t offset)
{
	return (atomic_uint *)(ring->queues + offset);
}

static void put(struct ring *ring, const struct io_uring_sqe *request)
{
	uint32_t mask = *word(ring, ring->params.sq_off.ring_mask);
	uint32_t tail = *word(ring, ring->params.sq_off.tail);

	ring->requests[tail & mask] = *request;
	*word(ring, ring->params.sq_off.array +
		    (tail & mask) * sizeof(uint32_t)) = tail & mask;
	*word(ring, ring->params.sq_off.tail) = tail + 1;
}

static bool take(struct ring *ring, struct io_uring_cqe *result)
{
	uint32_t mask = *word(ring, ring->params.cq_off.ring_mask);
	uint32_t head = *word(ring, ring->params.cq_off.head);
	struct io_uring_cqe *results = (struct io_uring_cqe *)
		(ring->queues + ring->params.cq_off.cqes);

	if (head == *word(ring, ring->params.cq_off.tail))
		return false;
	*result = results[head & mask];
	*word(ring, ring->params.cq_off.head) = head + 1;
	return true;
}

static int wait_request(const struct timed_call *call, struct thing *thing,
			struct timespec time, struct timespec *rest)
{
	struct ring *ring = thing->memory;
	struct __kernel_timespec limit = { time.tv_sec, time.tv_nsec };
	struct io_uring_sqe request = {
		.opcode = IORING_OP_TIMEOUT, .fd = -1,
		.addr = (uintptr_t)&limit, .len = 1,
	};
	struct io_uring_cqe result;

	if (call->flags & ABSOLUTE)
		request.timeout_flags |= IORING_TIMEOUT_ABS;
	if (call->clock == CLOCK_REALTIME)
		request.timeout_flags |= IORING_TIMEOUT_REALTIME;
	else if (call->clock == CLOCK_BOOTTIME)
		request.timeout_flags |= IORING_TIMEOUT_BOOTTIME;
	put(ring, &request);
	for (int submit = 1;; submit = 0) {
		if (syscall(SYS_io_uring_enter, ring->fd, submit, 1,
			    IORING_ENTER_GETEVENTS, NULL, 0) < 0)
			return -errno;
		/*
		 * The kernel does not tell the submitter of a signal. And it
		 * counts a time-out, which ends the wait, before its completion
		 * is there: a call on another CPU can return in between.
		 */
		if (take(ring, &result))
			break;
	}
	return result.res == -ETIME ? TIMED_OUT : result.res;
}

static int wait_enter(const struct timed_call *call, struct thing *thing,
		      struct timespec time, struct timespec *rest)
{
	struct ring *ring = thing->memory;
	struct __kernel_timespec limit = { time.tv_sec, time.tv_nsec };
	struct io_uring_getevents_arg arg = { .ts = (uintptr_t)&limit };
	long result = syscall(SYS_io_uring_enter, ring->fd, 0, 1,
			      IORING_ENTER_GETEVENTS | IORING_ENTER_EXT_ARG,
			      &arg, sizeof(arg));

	return result >= 0 ? WOKEN : ended(result, ETIME);
}

#define RING .raw = true, .open = open_ring, .close = close_ring
#define REQUEST(id) \
	{ "io_uring(TIMEOUT)", .clock = (id), .wait = wait_request, RING, \
	  .flags = CARRIES | STOP_INTERRUPTS }, \
	{ "io_uring(TIMEOUT)", .clock = (id), .wait = wait_request, RING, \
	  .flags = ABSOLUTE | CARRIES | STOP_INTERRUPTS }

static const struct timed_call calls[] = {
	REQUEST(CLOCK_MONOTONIC),
	REQUEST(CLOCK_REALTIME),
	REQUEST(CLOCK_BOOTTIME),
	/* Its time is never told to be malformed. */
	{ "io_uring_enter", .clock = CLOCK_MONOTONIC, .wait = wait_enter,
	  .flags = NO_FRACTION | NEGATIVE_PAST | STOP_INTERRUPTS, RING },
};

const struct timed_calls uring_calls = { calls, ARRAY_LENGTH(calls) };
