// SPDX-License-Identifier: GPL-2.0
/* The system calls that libtense makes, on files that are not its device. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fake-device.h"
#include "tap.h"

static const struct tense_device_ops *ops;

static bool is_open(int fd)
{
	return fcntl(fd, F_GETFD) >= 0;
}

static void descriptors(void)
{
	int fd = open("/dev/null", O_RDWR | O_CLOEXEC), high;
	struct rlimit limit = { 1024, 4096 }, after;

	is_i64(setrlimit(RLIMIT_NOFILE, &limit), 0, "the usual limits");
	is_i64(ops->rdev(fd), makedev(1, 3), "the number of a device");
	high = ops->dup_above(fd, ops->high());
	is_i64(high, 1024, "a copy with a number that no program is given");
	ok(!getrlimit(RLIMIT_NOFILE, &after) && after.rlim_cur == 1024,
	   "and the limit is what it was");
	is_i64(ops->kept(high), 0, "that exec closes");
	is_i64(ops->keep(high), 0, "until told otherwise");
	is_i64(ops->kept(high), 1, "then it does not");

	errno = 42;
	is_i64(ops->close_unseen(fd), 0, "closed by another process");
	is_i64(errno, 42, "which leaves errno alone");
	ok(!is_open(fd), "it is closed here");
	ok(is_open(high), "the copy is not");
	ok(waitpid(-1, NULL, __WALL) < 0 && errno == ECHILD,
	   "and the process is gone");
	is_i64(ops->close(high), 0, "closed");
	errno = 42;
	is_i64(ops->close(high), -EBADF, "an error is returned");
	is_i64(ops->rdev(high), 0, "nothing there");
	is_i64(ops->kept(high), -EBADF, "nothing there");
	is_i64(errno, 42, "errno is left alone");

	limit.rlim_cur = 2048;
	setrlimit(RLIMIT_NOFILE, &limit);
	is_i64(ops->high(), 1008, "many descriptors allowed: no larger table");
	limit = (struct rlimit) { 64, 64 };
	setrlimit(RLIMIT_NOFILE, &limit);
	is_i64(ops->high(), 48, "no more allowed: the last of them");
	fd = open("/dev/null", O_RDWR);
	is_i64(ops->dup_above(fd, ops->high()), 48, "which can be had");
	close(48);
	limit = (struct rlimit) { 10, 10 };
	setrlimit(RLIMIT_NOFILE, &limit);
	is_i64(ops->high(), 0, "hardly any allowed: any");
	ok(ops->dup_above(fd, ops->high()) < 10, "of those");
	close(fd);
}

/* A file of the program's that has taken the number of our descriptor. */
static void harmless(void)
{
	char buf[8] = "";
	int fd = memfd_create("program", 0), ends[2];

	is_i64(write(fd, "program", 7), 7, "a file of the program's");
	lseek(fd, 3, SEEK_SET);
	is_i64(ops->read(fd, buf, sizeof(buf)), 0, "nothing to read there");
	is_i64(ops->lseek(fd, 0, SEEK_CUR), 3, "it is where it was");
	is_i64(ops->rdev(fd), 0, "and is no device");
	close(fd);

	if (pipe(ends))
		return;
	is_i64(ops->write(ends[1], "125", 3), -ESPIPE, "a pipe: no writing");
	is_i64(write(ends[1], "x", 1), 1, "a byte in it");
	is_i64(ops->read(ends[0], buf, 1), -ESPIPE, "no reading");
	is_i64(read(ends[0], buf, 1), 1, "so the byte is still there");
	is_i64(ops->lseek(ends[0], 0, SEEK_CUR), -ESPIPE, "no position");
}

static struct {
	pid_t process, parent;
	int file;
} told;

static int run_apart(void *arg)
{
	told.process = syscall(SYS_getpid);
	told.parent = syscall(SYS_getppid);
	told.file = dup(*(int *)arg);
	close(*(int *)arg);
	errno = 43;
	return -ENOTTY;
}

static void apart(void)
{
	int fd = open("/dev/null", O_RDWR);
	sigset_t blocked;

	errno = 42;
	is_i64(ops->apart(run_apart, &fd), -ENOTTY, "a process apart answers");
	is_i64(errno, 42, "errno is left alone");
	ok(told.process > 0 && told.process != getpid(), "it is another one");
	ok(told.parent != getpid(), "nor a child");
	ok(told.file >= 0 && fcntl(told.file, F_GETFD) < 0,
	   "what it opens is its own");
	ok(fcntl(fd, F_GETFD) >= 0, "and what it closes");
	ok(waitpid(-1, NULL, __WALL) == -1 && errno == ECHILD,
	   "there is nobody to wait for");
	sigprocmask(SIG_SETMASK, NULL, &blocked);
	ok(sigisemptyset(&blocked), "signals are unblocked again");
	close(fd);
}

static void no_device(void)
{
	if (!access(TENSE_DEVICE, F_OK)) {
		skip("there is a %s here", TENSE_DEVICE);
		return;
	}
	is_i64(ops->open(), -ENOENT, "open without a device");
	is_i64(ops->probe(), -ENOENT, "probe without a device");
}

int main(void)
{
	ops = fake_replaced;
	harmless();
	no_device();
	descriptors();
	apart();
	return done();
}
