// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fake-device.h"

#define RDEV 0x0a42
#define AREA_SIZE (TENSE_SHARED_OFFSET + TENSE_SHARED_SIZE)

struct fake_device fake;
const struct tense_device_ops *fake_replaced;

/* One lock for all: this device is for being right. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct fake_fd {
	int file;	/* 0: closed, < 0: not of this device */
	bool cloexec;
} fds[FAKE_FDS];
static int files;
static pthread_key_t leave_key;
static _Atomic unsigned int departed;

static _Thread_local struct {
	bool member;
	int joined_by;
	unsigned int percent;
	int file;		/* backs the area's pages */
	pid_t process;		/* owns the area */
	uint32_t lowest;	/* times TENSE_FINE, as told in a call */
	bool own_work;
	bool ending;		/* the thread has begun to end */
	uint64_t stamp;
	struct fake_area area;
} self;

static bool has_area(void)
{
	return self.area.clock && self.process == getpid();
}

static void take(const struct tense_record *r)
{
	uint8_t slot = r->slot < TENSE_SLOTS ? r->slot : 0;

	fake.broken += r->percent < TENSE_PERCENT_MIN * TENSE_FINE ||
		       r->percent > TENSE_PERCENT_MAX * TENSE_FINE ||
		       r->percent < self.lowest || r->slot != slot ||
		       r->stamp < self.stamp;
	self.percent = r->percent / TENSE_FINE;
	self.stamp = r->stamp;
	if (r->flags & TENSE_RECORD_CALL)
		fake.calls[slot]++;
	if (!(r->flags & TENSE_RECORD_STAY))
		self.area.slot = slot;
	self.area.last = *r;
	self.area.records++;
}

/* Takes the new records, as a charge does. */
static void drain(void)
{
	struct tense_clock *c = self.area.clock;
	struct tense_ring *ring = self.area.ring;
	uint32_t head;

	if (!has_area() || fake.deaf)
		return;
	head = __atomic_load_n(&ring->head, __ATOMIC_ACQUIRE);
	fake.broken += head - c->tail > TENSE_RING_RECORDS;
	/* A page that the test shows stays as it is until records are taken. */
	if (c->tail != head) {
		c->seq++;
		while (c->tail != head)
			take(&ring->record[c->tail++ % TENSE_RING_RECORDS]);
		c->seq++;
	}
	self.lowest = ring->lowest ? ring->lowest :
		       self.percent * TENSE_FINE;
}

static void area_close(void)
{
	if (!has_area())
		return;
	self.area.clock->flags = 0;
	munmap(self.area.clock, AREA_SIZE);
	close(self.file);
	self.area = (struct fake_area){ 0 };
}

static bool area_open(void)
{
	char *pages;

	if (has_area())
		return true;
	self.file = memfd_create("area", MFD_CLOEXEC);
	if (self.file < 0 || ftruncate(self.file, AREA_SIZE))
		return false;
	pages = mmap(NULL, AREA_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED,
		     self.file, 0);
	if (pages == MAP_FAILED)
		return false;
	madvise(pages, AREA_SIZE, MADV_DONTFORK);
	self.process = getpid();
	self.lowest = self.percent * TENSE_FINE;
	self.stamp = 0;
	self.area = (struct fake_area) {
		.clock = (void *)pages,
		.ring = (void *)(pages + TENSE_RING_OFFSET),
		.shared = (void *)(pages + TENSE_SHARED_OFFSET),
	};
	self.area.clock->version = fake.clock_version;
	self.area.clock->flags = TENSE_CLOCK_MEMBER;
	self.area.clock->ahead = UINT64_MAX;
	self.area.clock->limit = fake.ordered ? UINT64_MAX : 0;
	return true;
}

struct fake_area *fake_area(void)
{
	drain();
	return has_area() ? &self.area : NULL;
}

void fake_start(void)
{
	memset(fds, 0, sizeof(fds));
	memset(&fake, 0, sizeof(fake));
	memset(&self, 0, sizeof(self));
	fake.version = TENSE_STATS_VERSION;
	fake.clock_version = TENSE_CLOCK_VERSION;
	fake.map_error = -EOPNOTSUPP;
}

bool fake_member(void)
{
	return self.member;
}

unsigned int fake_percent(void)
{
	drain();
	return self.percent;
}

static void leave(void)
{
	drain();
	area_close();
	self.member = false;
	self.joined_by = 0;
	departed++;
	/* The next to join finds a new experiment. */
	if (!--fake.members) {
		departed = 0;
		fake.now = 0;
		fake.real = 0;
	}
}

static int lowest(int min)
{
	for (int fd = min; fd < FAKE_FDS; fd++)
		if (!fds[fd].file)
			return fd;
	return -EMFILE;
}

/* Caller holds the lock. */
static void join_by(int file)
{
	self.member = true;
	self.joined_by = file;
	self.percent = TENSE_PERCENT_REAL;
	fake.members++;
}

static int open_file(bool join)
{
	int fd;

	if (fake.open_error)
		return fake.open_error;
	pthread_mutex_lock(&lock);
	fd = lowest(3);
	if (fd >= 0) {
		fake.opens++;
		fds[fd] = (struct fake_fd) { .file = ++files, .cloexec = true };
		if (join && !self.member)
			join_by(files);
	}
	pthread_mutex_unlock(&lock);
	return fd;
}

static int fake_open(void)
{
	return open_file(true);
}

static int fake_open_only(void)
{
	return open_file(false);
}

static int fake_probe(void)
{
	return fake.open_error;
}

static int close_as(int fd, bool seen)
{
	int file;

	if (fd < 0 || fd >= FAKE_FDS)
		return -EBADF;
	pthread_mutex_lock(&lock);
	file = fds[fd].file;
	fds[fd].file = 0;
	if (file < 0)
		fake.foreign++;
	if (seen && file > 0 && self.member && self.joined_by == file)
		leave();
	pthread_mutex_unlock(&lock);
	return file ? 0 : -EBADF;
}

static int fake_close(int fd)
{
	return close_as(fd, true);
}

static int fake_close_unseen(int fd)
{
	return close_as(fd, false);
}

static int fake_high(void)
{
	return FAKE_HIGH;
}

static int fake_dup_above(int fd, int min)
{
	int high;

	pthread_mutex_lock(&lock);
	high = lowest(min);
	if (high >= 0)
		fds[high] = (struct fake_fd) {
			.file = fds[fd].file, .cloexec = true };
	pthread_mutex_unlock(&lock);
	return high;
}

static int fake_keep(int fd)
{
	pthread_mutex_lock(&lock);
	fds[fd].cloexec = false;
	pthread_mutex_unlock(&lock);
	return 0;
}

static int file_of(int fd)
{
	int file;

	if (fd < 0 || fd >= FAKE_FDS)
		return 0;
	pthread_mutex_lock(&lock);
	file = fds[fd].file;
	pthread_mutex_unlock(&lock);
	return file;
}

static int fake_kept(int fd)
{
	int kept;

	if (!file_of(fd))
		return -EBADF;
	pthread_mutex_lock(&lock);
	kept = !fds[fd].cloexec;
	pthread_mutex_unlock(&lock);
	return kept;
}

static uint64_t fake_rdev(int fd)
{
	return file_of(fd) > 0 ? RDEV : 0;
}

/* A foreign file answers as a regular file does to reads far behind its end. */
static int usable(int fd)
{
	int file = file_of(fd);

	if (!file)
		return -EBADF;
	if (file < 0)
		return -EFBIG;
	if (!self.member)
		return -ESRCH;
	drain();
	return 0;
}

static long fake_read(int fd, void *buf, size_t size)
{
	struct tense_stats stats = {
		.version = fake.version,
		.size = sizeof(stats),
		.thread_size = sizeof(struct tense_thread),
		.window = TENSE_WINDOW_NS,
		.gvt = fake.now,
		.lvt = fake.now,
		.elapsed = fake.real,
		.tasks = fake.members,
		.tasks_total = fake.members + departed,
		.percent = self.percent,
		.flags = self.joined_by ? TENSE_STATS_OWNER : 0,
	};
	int err = usable(fd);

	if (err == -EFBIG)
		return 0;
	if (err)
		return err;
	if (size < sizeof(stats))
		return -EINVAL;
	fake.reads++;
	memcpy(buf, &stats, sizeof(stats));
	return sizeof(stats);
}

/* "join NAME" */
static long join_named(int fd, const char *text, size_t size)
{
	size_t length = size - 5;

	if (fake.join_error)
		return fake.join_error;
	if (length < 1 || length > 32)
		return -EINVAL;
	pthread_mutex_lock(&lock);
	memcpy(fake.name, text + 5, length);
	fake.name[length] = '\0';
	if (!self.member) {
		join_by(fds[fd].file);
		fake.named++;
	}
	pthread_mutex_unlock(&lock);
	return size;
}

static long fake_write(int fd, const void *buf, size_t size)
{
	char text[16] = "";
	int err = usable(fd), end = 0;
	unsigned int percent;

	if ((!err || err == -ESRCH) && size >= 5 && !memcmp(buf, "join ", 5))
		return join_named(fd, buf, size);
	/* A file that is open for appending would grow. */
	fake.foreign += err == -EFBIG;
	if (err)
		return err;
	if (size == 3 && !memcmp(buf, "own", 3)) {
		self.own_work = true;
		return size;
	}
	if (fake.write_error)
		return fake.write_error;
	fake.writes++;
	if (!size || size > 15)
		return -EINVAL;
	memcpy(text, buf, size);
	if (sscanf(text, "%u%n", &percent, &end) != 1 || (size_t)end != size ||
	    percent < TENSE_PERCENT_MIN || percent > TENSE_PERCENT_MAX)
		return -EINVAL;
	self.percent = percent;
	return size;
}

static int64_t fake_lseek(int fd, int64_t offset, int whence)
{
	int err = usable(fd);
	int64_t now = fake.now;

	if (err == -EFBIG) {
		if (offset || whence != SEEK_CUR)
			fake.foreign++;
		return 0;
	}
	if (err)
		return err;
	fake.seeks++;
	self.own_work = false;
	if (offset)
		fake.seek = offset;
	if (whence == SEEK_HOLE && offset < 0)
		return -EINVAL;
	if (whence != SEEK_CUR && whence != SEEK_HOLE)
		return -EINVAL;
	if (offset > 0 && (uint64_t)now + offset > TENSE_TIME_MAX)
		return -EOVERFLOW;
	if (whence == SEEK_HOLE) {
		fake.slept = offset;
		if (fake.interrupt_after) {
			fake.now += fake.interrupt_after;
			fake.interrupt_after = 0;
			return -EINTR;
		}
	}
	if (offset > 0)
		now = atomic_fetch_add(&fake.now, offset) + offset;
	return now;
}

static int fake_map(int fd, int64_t offset, size_t size, int protection,
		    void **map)
{
	int err = usable(fd);

	fake.maps++;
	if (err)
		return err;
	if (fake.map_error)
		return fake.map_error;
	if (!area_open())
		return -ENOMEM;
	*map = mmap(NULL, size, protection, MAP_SHARED, self.file, offset);
	if (*map == MAP_FAILED)
		return -ENOMEM;
	madvise(*map, size, MADV_DONTFORK);
	fake.mapped++;
	fake.charged_maps += !self.own_work;
	return 0;
}

static void fake_unmap(void *map, size_t size)
{
	munmap(map, size);
	fake.mapped--;
	fake.charged_maps += !self.own_work;
}

bool fake_in_own_work(void)
{
	return self.own_work;
}

struct errand {
	int (*fn)(void *arg);
	void *arg;
	int result;
};

static void *run_errand(void *arg)
{
	struct errand *e = arg;

	e->result = e->fn(e->arg);
	/* A process that ends leaves. */
	if (self.member)
		fake.broken++;
	return NULL;
}

static int fake_apart(int (*fn)(void *arg), void *arg)
{
	struct errand e = { .fn = fn, .arg = arg };
	pthread_t thread;

	if (fake_thread(&thread, true, run_errand, &e))
		return -EAGAIN;
	pthread_join(thread, NULL);
	return e.result;
}

static const struct tense_device_ops fake_ops = {
	.open = fake_open,
	.open_only = fake_open_only,
	.probe = fake_probe,
	.close = fake_close,
	.close_unseen = fake_close_unseen,
	.high = fake_high,
	.dup_above = fake_dup_above,
	.keep = fake_keep,
	.kept = fake_kept,
	.rdev = fake_rdev,
	.read = fake_read,
	.write = fake_write,
	.lseek = fake_lseek,
	.map = fake_map,
	.unmap = fake_unmap,
	.apart = fake_apart,
};

/* Leaves in the second round of destructors, because libtense's are in the first. */
static void leave_last(void *unused)
{
	(void)unused;
	if (!self.ending) {
		self.ending = true;
		pthread_setspecific(leave_key, &self);
		return;
	}
	if (!self.member)
		return;
	pthread_mutex_lock(&lock);
	leave();
	pthread_mutex_unlock(&lock);
}

__attribute__((constructor)) static void install(void)
{
	fake_replaced = tense_device_ops;
	tense_device_ops = &fake_ops;
	pthread_key_create(&leave_key, leave_last);
	fake_start();
}

void fake_close_all(void)
{
	for (int fd = 0; fd < FAKE_FDS; fd++)
		fake_close(fd);
}

void fake_put_foreign(void)
{
	for (int fd = 0; fd < FAKE_FDS; fd++) {
		if (fds[fd].file > 0) {
			fake_close(fd);
			fds[fd].file = -1;
		}
	}
}

void fake_exec(void)
{
	for (int fd = 0; fd < FAKE_FDS; fd++)
		if (fds[fd].file && fds[fd].cloexec)
			fake_close(fd);
}

static unsigned int count(int from, int to, bool kept)
{
	unsigned int n = 0;

	for (int fd = from; fd < to; fd++)
		n += fds[fd].file > 0 && (!kept || !fds[fd].cloexec);
	return n;
}

unsigned int fake_open_fds(void)
{
	return count(0, FAKE_FDS, false);
}

unsigned int fake_low_fds(void)
{
	return count(0, FAKE_HIGH, false);
}

unsigned int fake_kept_fds(void)
{
	return count(0, FAKE_FDS, true);
}

struct birth {
	bool member;
	unsigned int percent;
	void *(*fn)(void *arg);
	void *arg;
};

static void *run(void *arg)
{
	struct birth birth = *(struct birth *)arg;

	free(arg);
	self.member = birth.member;
	self.percent = birth.percent;
	pthread_setspecific(leave_key, &self);
	return birth.fn(birth.arg);
}

int fake_thread(pthread_t *thread, bool stranger, void *(*fn)(void *arg),
		void *arg)
{
	struct birth *birth = malloc(sizeof(*birth));

	if (!birth)
		return ENOMEM;
	*birth = (struct birth) {
		.member = self.member && !stranger,
		.percent = stranger ? 0 : self.percent,
		.fn = fn,
		.arg = arg,
	};
	if (birth->member) {
		pthread_mutex_lock(&lock);
		fake.members++;
		pthread_mutex_unlock(&lock);
	}
	return pthread_create(thread, NULL, run, birth);
}
