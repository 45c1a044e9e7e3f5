// SPDX-License-Identifier: GPL-2.0
#include "mounts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "channels.h"
#include "ending.h"
#include "run/proto.h"
#include "base/util.h"

/* Outside of the host's files, for the upper layers of overlays. */
#define SCRATCH	"/dev/.tense"

/*
 * Writes go through at once; a cache of the data, so that files can be mapped.
 * QEMU gives a new file to the user who creates it, if it runs as root.
 */
#define OPTIONS_9P	"trans=virtio,version=9p2000.L,msize=512000,cache=mmap,access=user"

static void mount_new(const char *type, const char *where, const char *options)
{
	if (mount(type, where, type, 0, options))
		fail("cannot mount %s on %s", type, where);
}

static void make_directories(const char *path)
{
	char *copy = xstrdup(path);

	for (char *p = copy + 1; *p; p++) {
		if (*p != '/')
			continue;
		*p = '\0';
		mkdir(copy, 0755);
		*p = '/';
	}
	mkdir(copy, 0755);
	free(copy);
}

/*
 * The host's /tmp with a layer to write to, as programs expect to. If that
 * cannot be had - an overlay is particular about what it stands on - it is an
 * empty one.
 */
static void mount_tmp(void)
{
	if (mkdir(SCRATCH, 0700))
		fail("cannot create " SCRATCH);
	mount_new("tmpfs", SCRATCH, "mode=0700");
	if (mkdir(SCRATCH "/upper", 01777) || chmod(SCRATCH "/upper", 01777) ||
	    mkdir(SCRATCH "/work", 0700))
		fail("cannot create directories in " SCRATCH);
	if (mount("overlay", "/tmp", "overlay", 0,
		  "lowerdir=/tmp,upperdir=" SCRATCH "/upper,workdir=" SCRATCH
		  "/work"))
		mount_new("tmpfs", "/tmp", "mode=1777");
	/* The layer stays as long as it is in use. */
	umount2(SCRATCH, MNT_DETACH);
	rmdir(SCRATCH);
}

static int mount_writable(const char *dir, int index)
{
	char tag[32];

	if (!channel_is_port())
		return mount("none", dir, "hostfs", 0, dir);
	snprintf(tag, sizeof(tag), TAG_WRITABLE, index);
	return mount(tag, dir, "9p", 0, OPTIONS_9P);
}

void mount_all(char *const *writable)
{
	static const char *const links[][2] = {
		{ "/proc/self/fd", "/dev/fd" },
		{ "/proc/self/fd/0", "/dev/stdin" },
		{ "/proc/self/fd/1", "/dev/stdout" },
		{ "/proc/self/fd/2", "/dev/stderr" },
	};

	mount_new("proc", "/proc", NULL);
	mount_new("sysfs", "/sys", NULL);
	if (mkdir("/dev/pts", 0755) || mkdir("/dev/shm", 01777))
		fail("cannot create directories in /dev");
	mount_new("devpts", "/dev/pts", "mode=0620,ptmxmode=0666,gid=5");
	mount_new("tmpfs", "/dev/shm", "mode=1777");
	for (size_t i = 0; i < sizeof(links) / sizeof(links[0]); i++)
		if (symlink(links[i][0], links[i][1]) && errno != EEXIST)
			fail("cannot create %s", links[i][1]);
	/* All there is was packed, and can be written to. */
	if (channel_is_one_way())
		return;
	mount_tmp();

	for (int i = 0; writable[i]; i++) {
		/* In a fresh /dev/shm it may not be there. */
		if (access(writable[i], F_OK))
			make_directories(writable[i]);
		if (mount_writable(writable[i], i))
			fail("cannot make %s writable", writable[i]);
	}
}
