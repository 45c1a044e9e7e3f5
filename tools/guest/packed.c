// SPDX-License-Identifier: GPL-2.0
#include "packed.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/random.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/util.h"
#include "ending.h"
#include "run/proto.h"

#define DEVICES	"/sys/bus/pci/devices"

/* A byte in its memory stops the machine, see pvpanic in QEMU's documentation. */
#define PANIC_VENDOR	0x1b36
#define PANIC_DEVICE	0x0011
#define PANICKED	1

/* Memory of the host, see ivshmem-spec in QEMU's documentation. */
#define MEMORY_VENDOR	0x1af4
#define MEMORY_DEVICE	0x1110

static unsigned int read_id(const char *device, const char *name)
{
	char *path = xprintf(DEVICES "/%s/%s", device, name), text[16] = "";
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || read(fd, text, sizeof(text) - 1) < 0)
		fail("cannot read %s", path);
	close(fd);
	free(path);
	return strtoul(text, NULL, 16);
}

/* Opens the memory of a device. */
static int open_device(unsigned int vendor, unsigned int device, const char *memory)
{
	DIR *dir = opendir(DEVICES);
	struct dirent *entry;
	int fd = -1;

	while (dir && fd < 0 && (entry = readdir(dir))) {
		char *path;

		if (entry->d_name[0] == '.' || read_id(entry->d_name, "vendor") != vendor ||
		    read_id(entry->d_name, "device") != device)
			continue;
		path = xprintf(DEVICES "/%s/%s", entry->d_name, memory);
		fd = open(path, O_RDWR | O_CLOEXEC);
		free(path);
	}
	if (dir)
		closedir(dir);
	if (fd < 0)
		fail("cannot open the device %04x:%04x", vendor, device);
	return fd;
}

static void *map(int fd, off_t offset, size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, offset);

	if (p == MAP_FAILED)
		fail("cannot map the memory of a device");
	return p;
}

/* A file in an archive of the format "newc". */
struct member {
	const char *name;	/* without a slash at the beginning */
	const char *data;
	uint32_t mode, uid, gid, mtime, size, major, minor;
};

/* The fields of a header have 8 digits each. */
enum { MODE = 1, UID, GID, LINKS, MTIME, SIZE, DEV_MAJOR, DEV_MINOR, MAJOR, MINOR, NAME_SIZE };

#define MAGIC		"070701"
#define DIGITS		8
#define HEADER_SIZE	110

static uint32_t field(const char *header, int number)
{
	char digits[DIGITS + 1] = "";

	memcpy(digits, header + strlen(MAGIC) + DIGITS * number, DIGITS);
	return strtoul(digits, NULL, 16);
}

static size_t padded(size_t size)
{
	return (size + 3) & ~3UL;
}

/* Reads the next member, and moves *at behind it. Returns false behind the last one. */
static bool next_member(const char *archive, size_t size, size_t *at, struct member *m)
{
	const char *header = archive + *at;
	size_t name_size;

	if (*at + HEADER_SIZE > size || memcmp(header, MAGIC, strlen(MAGIC)) != 0)
		fail("the archive of the guest's files is cut short");
	*m = (struct member){
		/* The root's name is empty. */
		.name = header[HEADER_SIZE] ? header + HEADER_SIZE : ".",
		.mode = field(header, MODE), .uid = field(header, UID),
		.gid = field(header, GID), .mtime = field(header, MTIME),
		.size = field(header, SIZE), .major = field(header, MAJOR),
		.minor = field(header, MINOR),
	};
	name_size = field(header, NAME_SIZE);
	*at += padded(HEADER_SIZE + name_size);
	m->data = archive + *at;
	*at += padded(m->size);
	if (*at > size || !name_size || header[HEADER_SIZE + name_size - 1])
		fail("the archive of the guest's files is cut short");
	return strcmp(m->name, "TRAILER!!!") != 0;
}

static int make_file(const struct member *m)
{
	int fd = open(m->name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	int error = fd < 0 || write_full(fd, m->data, m->size) ||
		    fchown(fd, m->uid, m->gid) || fchmod(fd, m->mode & 07777);

	if (fd >= 0)
		close(fd);
	return error;
}

static int make_link(const struct member *m)
{
	char *target = xprintf("%.*s", (int)m->size, m->data);
	int error = symlink(target, m->name) || lchown(m->name, m->uid, m->gid);

	free(target);
	return error;
}

static int make_node(const struct member *m)
{
	return mknod(m->name, m->mode, makedev(m->major, m->minor)) ||
	       chown(m->name, m->uid, m->gid) || chmod(m->name, m->mode & 07777);
}

static int make_directory(const struct member *m)
{
	return (mkdir(m->name, 0700) && errno != EEXIST) ||
	       chown(m->name, m->uid, m->gid) || chmod(m->name, m->mode & 07777);
}

static int set_time(const struct member *m)
{
	struct timespec times[2] = { { .tv_sec = m->mtime }, { .tv_sec = m->mtime } };

	return utimensat(AT_FDCWD, m->name, times, AT_SYMLINK_NOFOLLOW);
}

static int make(const struct member *m)
{
	if (S_ISDIR(m->mode))
		return make_directory(m);
	/* As the kernel, replace what already has this name. */
	if (unlink(m->name) && errno != ENOENT && rmdir(m->name))
		return -1;
	return (S_ISREG(m->mode) ? make_file(m) : S_ISLNK(m->mode) ? make_link(m) :
		make_node(m)) || set_time(m);
}

/* The host cannot be told yet that there is no room: files_begin() finds what is missing. */
static void unpack_one(const struct member *m)
{
	if (!make(m))
		return;
	if (errno != ENOSPC && errno != ENOMEM)
		fail("cannot unpack %s", m->name);
	unlink(m->name);
}

/* As the kernel does: directories get their times when nothing changes in them any more. */
static void unpack(const char *archive, size_t size)
{
	struct member m;

	for (size_t at = 0; next_member(archive, size, &at, &m);)
		unpack_one(&m);
	for (size_t at = 0; next_member(archive, size, &at, &m);)
		if (S_ISDIR(m.mode) && set_time(&m) && errno != ENOENT)
			fail("cannot unpack %s", m.name);
}

void packed_reseed(void)
{
	int fd = open("/dev/urandom", O_RDONLY | O_CLOEXEC);

	if (fd < 0 || ioctl(fd, RNDRESEEDCRNG))
		fail("cannot seed random numbers");
	close(fd);
}

bool packed_await(void)
{
	volatile uint8_t *panic;
	volatile uint64_t *end;
	uint64_t size;
	long page = sysconf(_SC_PAGESIZE);
	struct stat memory;
	char *archive;
	int fd, sys;

	if (access(PACKED_INIT, F_OK) || !access(PACKED_REQUEST, F_OK))
		return false;
	sys = mkdir("/sys", 0755);
	if (mount("sysfs", "/sys", "sysfs", 0, NULL))
		fail("cannot mount sysfs");
	fd = open_device(PANIC_VENDOR, PANIC_DEVICE, "resource0");
	panic = map(fd, 0, page);
	close(fd);
	fd = open_device(MEMORY_VENDOR, MEMORY_DEVICE, "resource2");
	if (fstat(fd, &memory))
		fail("cannot read the size of the archive's device");
	end = map(fd, memory.st_size - page, page);
	/* The archive makes this directory. Mappings and descriptors stay. */
	if (umount2("/sys", MNT_DETACH) || (!sys && rmdir("/sys")))
		fail("cannot unmount sysfs");

	/* The host sets the saved clock to this time: see mend_state(). */
	end[page / sizeof(*end) - 1] = __builtin_ia32_rdtsc();
	*panic = PANICKED;

	size = end[page / sizeof(*end) - 1];
	if (!size || size > (uint64_t)memory.st_size)
		fail("the host has given the guest no archive, or a wrong size");
	archive = map(fd, 0, size);
	unpack(archive, size);
	munmap(archive, size);
	munmap((void *)end, page);
	munmap((void *)panic, page);
	close(fd);
	return true;
}
