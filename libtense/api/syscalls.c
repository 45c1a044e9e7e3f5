// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The system calls of device.c. They bypass libc's functions, which are
 * cancellation points and may be interposed. Functions that read a clock must not
 * be cancellation points.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/tense.h>

#include "syscalls.h"

/*
 * The device ignores the position. If the descriptor's number now belongs to
 * another file of the program, most such files refuse to read or write there.
 */
#define NOWHERE (INT64_MAX - 4096)

/*
 * Descriptors lie above the numbers that the program gets. But they stay low
 * enough for a small table, and below the limit.
 */
#define HIGH_LIMIT	1024
#define HIGH_ROOM	16

_Static_assert(sizeof(long) == 8, "positions are passed in one register");

static long sys(long nr, long a, long b, long c, long d)
{
	int saved = errno;
	long ret = syscall(nr, a, b, c, d);

	if (ret == -1) {
		ret = -errno;
		errno = saved;
	}
	return ret;
}

static int open_device(int flags)
{
	return sys(SYS_openat, AT_FDCWD, (long)TENSE_DEVICE,
		   O_RDWR | O_CLOEXEC | flags, 0);
}

static int sys_open(void)
{
	return open_device(0);
}

static int sys_open_only(void)
{
	return open_device(O_NONBLOCK);
}

static int sys_probe(void)
{
	return sys(SYS_faccessat, AT_FDCWD, (long)TENSE_DEVICE, R_OK | W_OK, 0);
}

static int sys_close(int fd)
{
	return sys(SYS_close, fd, 0, 0, 0);
}

static int close_for_parent(void *arg)
{
	return sys_close(*(int *)arg);
}

/* A process that shares nothing but memory and descriptors closes the handle. */
static int sys_close_unseen(int fd)
{
	_Alignas(16) char stack[4096];
	sigset_t all, old;
	int pid;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &old);
	pid = clone(close_for_parent, stack + sizeof(stack),
		    CLONE_VM | CLONE_FILES | CLONE_VFORK, &fd);
	if (pid > 0)
		sys(SYS_wait4, pid, 0, __WCLONE, 0);
	sigprocmask(SIG_SETMASK, &old, NULL);
	return pid > 0 ? 0 : -EAGAIN;
}

/*
 * The processes of sys_apart(). The device joins a process to its parent's
 * experiment, of which the caller's other threads may be members. So the process
 * that calls fn is a child of one that is in none.
 */
#define APART_STACK	65536

struct apart {
	int (*fn)(void *arg);
	void *arg;
	char *stacks;		/* one for each process */
	int result;
};

static int clone_and_wait(int (*fn)(void *arg), char *stack, struct apart *a)
{
	int pid = clone(fn, stack + APART_STACK, CLONE_VM | CLONE_VFORK, a);

	if (pid < 0)
		return -errno;
	sys(SYS_wait4, pid, 0, __WCLONE, 0);
	return 0;
}

static int apart_inner(void *arg)
{
	struct apart *a = arg;

	a->result = a->fn(a->arg);
	return 0;
}

static int apart_outer(void *arg)
{
	struct apart *a = arg;
	int err = clone_and_wait(apart_inner, a->stacks + APART_STACK, a);

	if (err)
		a->result = err;
	return 0;
}

static int sys_apart(int (*fn)(void *arg), void *arg)
{
	struct apart a = { .fn = fn, .arg = arg, .result = -EIO };
	int saved = errno, err;
	sigset_t all, old;

	a.stacks = mmap(NULL, 2 * APART_STACK, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
	if (a.stacks == MAP_FAILED) {
		errno = saved;
		return -ENOMEM;
	}
	/* A handler of the program must not run in another process. */
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &old);
	err = clone_and_wait(apart_outer, a.stacks, &a);
	sigprocmask(SIG_SETMASK, &old, NULL);
	munmap(a.stacks, 2 * APART_STACK);
	errno = saved;
	return err ? err : a.result;
}

static int sys_high(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return 0;
	if (limit.rlim_cur <= HIGH_LIMIT &&
	    limit.rlim_max >= limit.rlim_cur + HIGH_ROOM)
		return limit.rlim_cur;
	if (limit.rlim_cur > HIGH_LIMIT)
		return HIGH_LIMIT - HIGH_ROOM;
	return limit.rlim_cur > HIGH_ROOM ? limit.rlim_cur - HIGH_ROOM : 0;
}

static int sys_dup_above(int fd, int min)
{
	struct rlimit limit, raised;
	bool above;
	int high;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return -EMFILE;
	raised = limit;
	raised.rlim_cur = min + HIGH_ROOM;
	above = limit.rlim_cur < raised.rlim_cur;
	if (above)
		setrlimit(RLIMIT_NOFILE, &raised);
	high = sys(SYS_fcntl, fd, F_DUPFD_CLOEXEC, min, 0);
	if (above)
		setrlimit(RLIMIT_NOFILE, &limit);
	return high;
}

static int sys_keep(int fd)
{
	return sys(SYS_fcntl, fd, F_SETFD, 0, 0);
}

static int sys_kept(int fd)
{
	long flags = sys(SYS_fcntl, fd, F_GETFD, 0, 0);

	return flags < 0 ? flags : !(flags & FD_CLOEXEC);
}

static uint64_t sys_rdev(int fd)
{
	struct stat st;
	int saved = errno, err = fstat(fd, &st);

	errno = saved;
	return err || !S_ISCHR(st.st_mode) ? 0 : st.st_rdev;
}

static long sys_read(int fd, void *buf, size_t size)
{
	return sys(SYS_pread64, fd, (long)buf, size, NOWHERE);
}

static long sys_write(int fd, const void *buf, size_t size)
{
	return sys(SYS_pwrite64, fd, (long)buf, size, NOWHERE);
}

static int64_t sys_lseek(int fd, int64_t offset, int whence)
{
	return sys(SYS_lseek, fd, offset, whence, 0);
}

static int sys_map(int fd, int64_t offset, size_t size, int protection,
		   void **map)
{
	int saved = errno, err = 0;

	*map = mmap(NULL, size, protection, MAP_SHARED, fd, offset);
	if (*map == MAP_FAILED)
		err = -errno;
	errno = saved;
	return err;
}

static void sys_unmap(void *map, size_t size)
{
	sys(SYS_munmap, (long)map, size, 0, 0);
}

static const struct tense_device_ops sys_ops = {
	.open = sys_open,
	.open_only = sys_open_only,
	.probe = sys_probe,
	.close = sys_close,
	.close_unseen = sys_close_unseen,
	.high = sys_high,
	.dup_above = sys_dup_above,
	.keep = sys_keep,
	.kept = sys_kept,
	.rdev = sys_rdev,
	.read = sys_read,
	.write = sys_write,
	.lseek = sys_lseek,
	.map = sys_map,
	.unmap = sys_unmap,
	.apart = sys_apart,
};

const struct tense_device_ops *tense_device_ops = &sys_ops;
