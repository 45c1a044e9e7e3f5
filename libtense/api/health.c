// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Finds out whether a thread could join an experiment and use an area there. The
 * device tells that to members only, so a process apart joins one of its own. It
 * shares the memory of the caller, and uses nothing that belongs to the caller's
 * thread.
 */
#include <errno.h>
#include <stddef.h>
#include <sys/mman.h>
#include <unistd.h>

#include <linux/tense.h>

#include "device.h"
#include "health.h"
#include "self.h"
#include "syscalls.h"

static const struct tense_device_ops *ops(void)
{
	return tense_device_ops;
}

/* Any call makes the kernel take what is in the ring. */
static int call_device(int fd)
{
	int64_t now = ops()->lseek(fd, 0, SEEK_CUR);

	return now < 0 ? now : 0;
}

/* Changes the percent to what it is. */
static uint32_t push_record(struct tense_ring *ring)
{
	uint32_t head = tense_load(&ring->head);
	struct tense_record *r = &ring->record[head % TENSE_RING_RECORDS];

	*r = (struct tense_record) {
		.stamp = tense_area_counter(),
		.percent = TENSE_PERCENT_REAL * TENSE_FINE,
	};
	__atomic_store_n(&ring->head, head + 1, __ATOMIC_RELEASE);
	return head + 1;
}

static int check_ring(int fd, const struct tense_clock *clock)
{
	void *map;
	struct tense_ring *ring;
	uint32_t head;
	int err = ops()->map(fd, TENSE_RING_OFFSET, TENSE_RING_SIZE,
			     PROT_READ | PROT_WRITE, &map);

	if (err)
		return err;
	ring = map;
	tense_store(&ring->lowest, TENSE_PERCENT_REAL * TENSE_FINE);
	err = call_device(fd);
	if (!err) {
		head = push_record(ring);
		err = call_device(fd);
		if (!err && tense_load(&clock->tail) != head)
			err = -EIO;
	}
	ops()->unmap(ring, TENSE_RING_SIZE);
	return err;
}

static int check_area(int fd)
{
	const struct tense_clock *clock;
	void *map;
	int err = ops()->map(fd, 0, TENSE_RING_OFFSET, PROT_READ, &map);

	/* Without a counter the library works by system calls alone. */
	if (err == -EOPNOTSUPP || err == -ENODEV)
		return 0;
	if (err)
		return err;
	clock = map;
	if (clock->version != TENSE_CLOCK_VERSION)
		err = -EPROTO;
	else if (!(tense_load(&clock->flags) & TENSE_CLOCK_MEMBER))
		err = -EIO;
	else
		err = check_ring(fd, clock);
	ops()->unmap(map, TENSE_RING_OFFSET);
	return err;
}

static int try_to_join(void *unused)
{
	struct tense_stats stats;
	int fd = ops()->open(), err;

	(void)unused;
	if (fd < 0)
		return fd;
	err = ops()->rdev(fd) ? tense_device_read(fd, &stats) : -EBADF;
	if (!err)
		err = check_area(fd);
	ops()->close(fd);
	return err;
}

int tense_health_outside(void)
{
	/* A device that cannot be opened needs no process to find out. */
	int err = tense_device_probe();

	return err ? err : ops()->apart(try_to_join, NULL);
}
