// SPDX-License-Identifier: GPL-2.0
/* Part of guest-fuzz: calls of the device, and changes of its mappings. */
#include "fuzz.h"

#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>

#include <linux/io_uring.h>
#include <linux/tense-samples.h>

#define PAGE 4096

#define BUFFER (16 * PAGE)
/* The device is a misc device. */
#define MISC_MAJOR 10

/* Nothing is mapped behind it. */
static char *buffer;
static const char constant[PAGE] __attribute__((aligned(PAGE))) = "100";
static volatile unsigned int sink;

static const int64_t edges[] = {
	0, 1, -1, INT64_MAX, INT64_MIN, INT64_MAX - 1, 1LL << 62,
	(1LL << 62) - 1, (1LL << 62) + 1, -(1LL << 62), UINT32_MAX,
	1LL << 32, INT32_MIN, PAGE, PAGE - 1, 100, 100000, 100001,
};

int64_t any_number(struct task *t)
{
	int64_t number = one_in(t, 3) ? any(t, edges) : any_bits(t, 63);

	return one_in(t, 4) ? -number : number;
}

/*
 * Keeps the numbers of the tasks' own handles taken. Otherwise another thread
 * could get such a number between the task's close and dup, and close the
 * handle later.
 */
static void take_own_numbers(void)
{
	for (int slot = 0; slot < TASKS_MAX; slot++)
		call(SYS_dup3, NULL_FD, OWN_FD + slot, O_CLOEXEC);
}

/* Closes the task's own handle, but keeps its number taken. */
long close_own(struct task *t)
{
	t->own = -1;
	forget_seen(t);
	return call(SYS_dup3, NULL_FD, OWN_FD + t->slot, O_CLOEXEC);
}

void calls_begin(void)
{
	take_own_numbers();
	buffer = mmap(NULL, BUFFER + PAGE, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	mprotect(buffer + BUFFER, PAGE, PROT_NONE);
	texts_begin();
}

/* Not always the device's. */
int any_fd(struct task *t)
{
	if (!one_in(t, 3))
		return t->fd;
	return FIRST_FD + below(t, LAST_FD - FIRST_FD);
}

/* Good ones, and some that are not, or not as far as the length goes. */
long any_address(struct task *t)
{
	switch (below(t, 12)) {
	case 0:
		return 0;
	case 1:
		/* Where nothing is. */
		return any_bits(t, 45) | 1L << 45;
	case 2:
		return -(long)any_bits(t, 47);
	case 3:
		return (long)constant;
	case 4:
		return (long)t->ring;
	case 5:
		return (long)t->clock;
	case 6:
		/* Ends soon. */
		return (long)&buffer[BUFFER - below(t, 64)];
	default:
		return (long)&buffer[below(t, PAGE)];
	}
}

bool is_one_of(long result, const short *errors, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (result == -errors[i])
			return true;
	return false;
}

/* --- handles --- */

static long call_open(struct task *t)
{
	/* None that would make a file of that name while the module is away. */
	static const int odd_flags[] = {
		O_RDONLY, O_WRONLY, O_RDWR | O_DIRECT, O_RDWR | O_APPEND,
		O_RDWR | O_NONBLOCK, O_PATH, O_RDWR | O_TRUNC,
	};
	int flags = one_in(t, 4) ? any(t, odd_flags) : O_RDWR;
	long fd = call(SYS_openat, AT_FDCWD, TENSE_DEVICE,
		       flags | (one_in(t, 2) ? O_CLOEXEC : 0));

	if (fd >= LAST_FD)
		call(SYS_close, fd);
	else if (fd >= 0)
		t->fd = fd;
	return fd;
}

/* Another thread may have opened another file at the device's number. */
static bool is_device(int fd)
{
	struct stat status;

	return !call(SYS_fstat, fd, &status) && S_ISCHR(status.st_mode) &&
	       major(status.st_rdev) == MISC_MAJOR;
}

/* One that nobody else closes, if the device is there. */
long call_open_own(struct task *t)
{
	int own = OWN_FD + t->slot;
	long fd, now;

	close_own(t);
	fd = call(SYS_openat, AT_FDCWD, TENSE_DEVICE, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return fd;
	/* A task that shares the table may have closed that one. */
	if (call(SYS_dup3, fd, own, O_CLOEXEC) < 0)
		return -EBADF;
	if (fd >= LAST_FD)
		call(SYS_fcntl, own, F_SETFD, 0);
	else
		t->fd = fd;
	if (!is_device(own)) {
		close_own(t);
		return -EBADF;
	}
	t->own = own;
	now = call(SYS_lseek, own, 0, SEEK_CUR);
	if (now < 0)
		fail(t, "it has joined, but is in no experiment", now, 0);
	return fd;
}

/* Most tasks have all that the device gives. */
void calls_task_begin(struct task *t)
{
	if (one_in(t, 8))
		return;
	call_open_own(t);
	area_begin(t);
}

static long call_close(struct task *t)
{
	if (one_in(t, 8) && t->own >= 0)
		return close_own(t);
	forget_seen(t);
	return call(SYS_close, any_fd(t));
}

static long call_dup(struct task *t)
{
	int from = any_fd(t), to = FIRST_FD + below(t, LAST_FD - FIRST_FD);
	long fd;

	forget_seen(t);
	if (one_in(t, 3))
		return call(SYS_fcntl, from, F_SETFD, below(t, 2));
	fd = call(SYS_dup3, from, to, one_in(t, 2) ? O_CLOEXEC : 0);
	if (fd >= 0)
		t->fd = fd;
	return fd;
}

static void message_begin(struct msghdr *message, struct iovec *byte,
			  void *control, size_t length)
{
	*byte = (struct iovec) { buffer, 1 };
	*message = (struct msghdr) {
		.msg_iov = byte,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = length,
	};
}

long send_fd(int fd)
{
	char control[CMSG_SPACE(sizeof(int))] = "";
	struct msghdr message;
	struct iovec byte;
	struct cmsghdr *c;

	message_begin(&message, &byte, control, sizeof(control));
	c = CMSG_FIRSTHDR(&message);
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(fd));
	memcpy(CMSG_DATA(c), &fd, sizeof(fd));
	return call(SYS_sendmsg, SOCKET_FD, &message, MSG_DONTWAIT);
}

long receive_fd(void)
{
	char control[CMSG_SPACE(sizeof(int))] = "";
	struct msghdr message;
	struct iovec byte;
	struct cmsghdr *c;
	long result;
	int fd;

	message_begin(&message, &byte, control, sizeof(control));
	result = call(SYS_recvmsg, SOCKET_FD + 1, &message, MSG_DONTWAIT);
	c = result < 0 ? NULL : CMSG_FIRSTHDR(&message);
	if (!c || c->cmsg_type != SCM_RIGHTS)
		return result < 0 ? result : -ENOMSG;
	memcpy(&fd, CMSG_DATA(c), sizeof(fd));
	return fd;
}

static long call_send(struct task *t)
{
	return send_fd(any_fd(t));
}

static long call_receive(struct task *t)
{
	long fd = receive_fd();

	if (fd < 0)
		return fd;
	if (fd < LAST_FD)
		t->fd = fd;
	else
		close_fd(t, fd);
	return 0;
}

/* read(2) of any other file may wait for ever. */
bool is_timerfd(int fd)
{
	struct itimerspec left;

	return !call(SYS_timerfd_gettime, fd, &left);
}

/* --- lseek(2) --- */

/*
 * The error that the interface requires, whatever the time, or 0. A jump counts from
 * the charged time, which is @charged or later, not from a reading.
 */
static long seek_error(int64_t d, int whence, int64_t charged)
{
	const int64_t most = TENSE_TIME_MAX;

	switch (whence) {
	case SEEK_CUR:
		return d > most || d < -most ? -EOVERFLOW : 0;
	case SEEK_SET:
		if (d > most)
			return -EOVERFLOW;
		return d < 0 || d < charged ? -EINVAL : 0;
	case SEEK_HOLE:
		if (d < 0)
			return -EINVAL;
		return d > most ? -EOVERFLOW : 0;
	case SEEK_DATA:
		return -EOPNOTSUPP;
	default:
		return -EINVAL;
	}
}

static int64_t later(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/*
 * The least that the clock shows afterwards. On a CPU that is behind what was seen
 * on another, a jump by some is one from there. A sleep counts from the charged
 * time.
 */
static int64_t least_time(const struct task *t, int64_t d, int whence)
{
	if (whence == SEEK_SET)
		return later(d, t->seen);
	return whence == SEEK_HOLE ? later(t->seen, t->lvt_seen + d) : t->seen;
}

static void check_seek(struct task *t, int64_t d, int whence, long result)
{
	long expected = seek_error(d, whence, t->lvt_seen);

	if (result == -ESRCH)
		return;
	if (expected && result != expected)
		fail(t, "lseek that is wrong", result, expected);
	if (expected)
		return;
	if (whence == SEEK_CUR && d <= 0 && result < 0)
		fail(t, "lseek", result, d);
	EXPECT_ERROR(t, "lseek", result, EINVAL, EOVERFLOW, EINTR);
	if (result < 0)
		return;
	if (result < least_time(t, d, whence))
		fail(t, whence == SEEK_CUR ? "its time is too early" :
		     whence == SEEK_SET ? "its time after a jump is too early" :
		     "its time after a sleep is too early", result,
		     least_time(t, d, whence));
	t->seen = result;
}

long seek(struct task *t, int64_t d, int whence)
{
	bool own = t->own >= 0;
	long result = call(SYS_lseek, own ? t->own : any_fd(t), d, whence);

	if (own)
		check_seek(t, d, whence, result);
	return result;
}

static long call_now(struct task *t)
{
	return seek(t, 0, SEEK_CUR);
}

static long call_jump(struct task *t)
{
	int64_t d = any_bits(t, one_in(t, 20) ? 40 : 22);

	return seek(t, one_in(t, 3) ? -d : d, SEEK_CUR);
}

static long call_jump_to(struct task *t)
{
	return seek(t, t->seen + any_bits(t, 24), SEEK_SET);
}

static long call_sleep(struct task *t)
{
	return seek(t, any_bits(t, one_in(t, 50) ? 40 : 20), SEEK_HOLE);
}

static long call_seek_odd(struct task *t)
{
	static const int64_t ends[] = {
		INT64_MAX, INT64_MIN, (1LL << 62) + 1, -(1LL << 62) - 1, -1,
	};
	int whence = below(t, 7) - 1;
	int64_t d = any_number(t);

	/* A jump to the end of time ends what others can do, a sleep does so. */
	if (whence <= SEEK_SET + 1 || whence == SEEK_HOLE)
		d = one_in(t, 500) ? d : any(t, ends);
	return seek(t, d, whence);
}

/* --- read(2) --- */

/* Alone, nobody else adds to the sums between two looks at them. */
static void check_sums(const struct task *t, const struct tense_stats *s)
{
	uint64_t ran = 0, charged = 0;

	for (int i = 0; i < TENSE_SLOTS; i++) {
		ran += s->slot[i].ran;
		charged += s->slot[i].charged;
	}
	if (s->tasks == 1 && charged != s->charged)
		fail(t, "charged in slots", charged, s->charged);
	if (s->tasks == 1 && ran != s->ran)
		fail(t, "ran in slots", ran, s->ran);
}

/* R5: neither GVT nor the sum of all charges ever falls. */
static void check_sums_grow(struct task *t, const struct tense_stats *s)
{
	if ((int64_t)s->gvt < t->gvt_seen)
		fail(t, "GVT has fallen", s->gvt, t->gvt_seen);
	if (s->charged < t->charged_seen)
		fail(t, "the sum of all charges has fallen", s->charged,
		     t->charged_seen);
	t->gvt_seen = s->gvt;
	t->charged_seen = s->charged;
}

static void check_report(struct task *t, const struct tense_stats *s, long size)
{
	const struct tense_thread *thread = (const void *)(s + 1);
	long n = (size - (long)sizeof(*s)) / (long)sizeof(*thread);

	if (s->version != TENSE_STATS_VERSION || s->size != sizeof(*s) ||
	    s->thread_size != sizeof(*thread) || n > s->threads ||
	    size != (long)(sizeof(*s) + n * sizeof(*thread)))
		fail(t, "size of the report", size, s->threads);
	if (!s->tasks || s->tasks > s->tasks_total || s->window != TENSE_WINDOW_NS)
		fail(t, "tasks, window", s->tasks, s->window);
	if (s->percent < TENSE_PERCENT_MIN || s->percent > TENSE_PERCENT_MAX)
		fail(t, "percent", s->percent, 0);
	if ((int64_t)s->lvt < t->lvt_seen)
		fail(t, "the report's time is too early", s->lvt, t->lvt_seen);
	t->lvt_seen = s->lvt;
	t->seen = later(t->seen, s->lvt);
	check_sums_grow(t, s);
	for (long i = 0; i < n; i++)
		if (thread[i].flags & ~TENSE_THREAD_EXITED ||
		    thread[i].percent < TENSE_PERCENT_MIN ||
		    thread[i].percent > TENSE_PERCENT_MAX)
			fail(t, "a thread's flags, percent", thread[i].flags,
			     thread[i].percent);
	check_sums(t, s);
}

#define REPORT_THREADS 20

static long call_read(struct task *t)
{
	struct {
		struct tense_stats s;
		struct tense_thread threads[REPORT_THREADS];
	} report;
	size_t size = sizeof(struct tense_stats) +
		      below(t, REPORT_THREADS + 1) * sizeof(struct tense_thread) -
		      (one_in(t, 3) ? below(t, 100) : 0);
	bool own = t->own >= 0;
	long result = call(SYS_read, own ? t->own : any_fd(t), &report, size);

	if (!own || result == -ESRCH || result == -ENOMEM)
		return result;
	if (size < sizeof(struct tense_stats)) {
		if (result != -EINVAL)
			fail(t, "read of less than the report", result, size);
	} else if (result < (long)sizeof(struct tense_stats) ||
		   result > (long)size) {
		fail(t, "read", result, size);
	} else {
		check_report(t, &report.s, result);
	}
	return result;
}

static long call_read_odd(struct task *t)
{
	struct iovec parts[] = {
		{ buffer, below(t, 64) },
		{ (void *)any_address(t), any_bits(t, 31) },
		{ buffer + PAGE, 2 * PAGE },
	};
	int fd = t->own >= 0 ? t->own : t->fd;
	long result;

	/* Samples, mostly within those that there are. */
	if (one_in(t, 3))
		return call(SYS_pread64, fd, one_in(t, 4) ? any_address(t) :
							    (long)buffer,
			    one_in(t, 4) ? any_bits(t, 31) : below(t, 2 * PAGE),
			    TENSE_SAMPLES_OFFSET +
			    any_bits(t, one_in(t, 4) ? 41 : 16));
	if (one_in(t, 3))
		return call(SYS_preadv2, fd, parts, ARRAY_LENGTH(parts),
			    any_number(t), 0, one_in(t, 2) ? RWF_NOWAIT : 0);
	result = call(SYS_read, fd, any_address(t),
		      one_in(t, 2) ? below(t, PAGE) : any_bits(t, 62));
	if (fd == t->own)
		EXPECT_ERROR(t, "read", result, EINVAL, EFAULT, ENOMEM);
	return result;
}

/* Which the device has not. */
static long call_other(struct task *t)
{
	static const long calls[] = {
		SYS_ioctl, SYS_fsync, SYS_ftruncate, SYS_fallocate,
		SYS_fadvise64, SYS_getdents64, SYS_fstat, SYS_sendfile,
		SYS_readahead,
	};

	return call(any(t, calls), any_fd(t), any_fd(t), any_address(t),
		    any_number(t));
}

/* --- what a task's handler of signals does --- */

__attribute__((noinline, noipa)) void probed(int depth)
{
	sink++;
	if (depth)
		probed(depth - 1);
	sink++;
}

/* Linked statically and not relocated: the file is mapped as it is. */
unsigned long offset_of_probed(void)
{
	extern const char __executable_start[];

	return (const char *)probed - __executable_start;
}

void call_in_handler(void)
{
	int fd = OWN_FD + (int)(tsc() % TASKS_MAX);

	call(SYS_lseek, fd, tsc() % 4096, SEEK_CUR);
	call(SYS_write, fd, "200", 3);
	probed(1);
}

/* Often two tasks of an experiment do this at once: all but one fail. */
static long call_survey(struct task *t)
{
	char text[64];
	size_t length = snprintf(text, sizeof(text), "samples %u %d %u %u",
				 TENSE_SAMPLES_PERIOD_MIN + below(t, 1000000),
				 TENSE_SAMPLES_KIB_MIN,
				 below(t, TENSE_SAMPLES_STACK_MAX + 1), below(t, 1000));
	long result;

	if (t->own < 0)
		return call(SYS_write, any_fd(t), text, length);
	result = call(SYS_write, t->own, text, length);
	EXPECT_ERROR(t, "survey", result, EBUSY, EDQUOT, ENOMEM, EPERM);
	return result;
}

/* Reads any number of bytes from any position, sometimes to a bad address. */
static long call_read_samples(struct task *t)
{
	long at = TENSE_SAMPLES_OFFSET + any_bits(t, 17);
	bool odd = one_in(t, 4);
	long address = odd ? any_address(t) : (long)buffer;
	size_t size = below(t, odd ? 100000 : BUFFER + 1);
	long result;

	if (t->own < 0)
		return -ENOENT;
	result = call(SYS_pread64, t->own, address, size, at);
	EXPECT_ERROR(t, "read of samples", result, ENODATA, EPERM, EFAULT);
	if (result > (long)size)
		fail(t, "read of samples", result, size);
	if (!odd && result == -EFAULT)
		fail(t, "read of samples into good memory", result, at);
	return result;
}

/* The process forbids samples, or allows them again. */
static long call_dumpable(struct task *t)
{
	return call(SYS_prctl, PR_SET_DUMPABLE, below(t, 3));
}

/* Timers of io_uring: requests that end, that are waited for, and that a close cancels. */
static long call_uring(struct task *t)
{
	struct io_uring_params p = { 0 };
	struct __kernel_timespec limit = { 0, any_bits(t, 22) };
	struct io_uring_sqe *requests;
	long fd = call(SYS_io_uring_setup, 4, &p), result;
	uint32_t *array;
	char *ring;

	if (fd < 0)
		return fd;
	ring = (char *)call(SYS_mmap, 0, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
			    IORING_OFF_SQ_RING);
	requests = (void *)call(SYS_mmap, 0, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
				IORING_OFF_SQES);
	/* Another thread may have closed it. */
	if ((unsigned long)ring > -PAGE || (unsigned long)requests > -PAGE) {
		call(SYS_munmap, ring, PAGE);
		call(SYS_munmap, requests, PAGE);
		close_fd(t, fd);
		return -EBADF;
	}
	array = (uint32_t *)(ring + p.sq_off.array);
	for (uint32_t i = 0; i < p.sq_entries; i++) {
		requests[i] = (struct io_uring_sqe){
			.opcode = IORING_OP_TIMEOUT, .fd = -1,
			.addr = (uintptr_t)&limit, .len = 1,
		};
		array[i] = i;
	}
	__atomic_store_n((uint32_t *)(ring + p.sq_off.tail), p.sq_entries, __ATOMIC_RELEASE);
	result = call(SYS_io_uring_enter, fd, p.sq_entries, below(t, p.sq_entries + 1),
		      IORING_ENTER_GETEVENTS);
	call(SYS_munmap, ring, PAGE);
	call(SYS_munmap, requests, PAGE);
	close_fd(t, fd);
	return result;
}

const struct operation call_operations[] = {
	{ "io_uring", call_uring, 20, 0 },
	{ "survey", call_survey, 20, 0 },
	{ "read samples", call_read_samples, 30, 0 },
	{ "dumpable", call_dumpable, 10, 0 },
	{ "open", call_open, 30, 0 },
	{ "open of its own", call_open_own, 40, 0 },
	{ "close", call_close, 12, 0 },
	{ "dup", call_dup, 60, 0 },
	{ "send", call_send, 15, 0 },
	{ "receive", call_receive, 15, 0 },
	{ "clock", call_now, 300, 0 },
	{ "jump", call_jump, 250, 0 },
	{ "jump to", call_jump_to, 100, 0 },
	{ "sleep", call_sleep, 60, 0 },
	{ "odd seek", call_seek_odd, 300, ODD },
	{ "read", call_read, 300, 0 },
	{ "odd read", call_read_odd, 150, ODD },
	{ "other call", call_other, 100, ODD },
};
const size_t call_operations_length = ARRAY_LENGTH(call_operations);
