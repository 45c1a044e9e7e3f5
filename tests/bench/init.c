// SPDX-License-Identifier: GPL-2.0
#include "init.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

int init_argc(int argc, char **argv)
{
	if (argc > 1 && !strncmp(argv[argc - 1], "console=", 8))
		argc--;
	return argc;
}

void init_end(void)
{
	fflush(stdout);
	sync();
	reboot(RB_POWER_OFF);
	_exit(1);
}

void init_must(int done, const char *what)
{
	if (done)
		return;
	printf("failed: %s: %s\n", what, strerror(errno));
	init_end();
}

void init_mount(void)
{
	init_must(getpid() == 1, "this is not the first program");
	init_must(!mount("dev", "/dev", "devtmpfs", 0, NULL) || errno == EBUSY,
		  "mount /dev");
	init_must(!mount("proc", "/proc", "proc", 0, NULL), "mount /proc");
	init_must(!mkdir("/dev/shm", 0755), "mkdir /dev/shm");
	init_must(!mount("shm", "/dev/shm", "tmpfs", 0, NULL),
		  "mount /dev/shm");
}

void init_load(const char *module)
{
	int fd = open(module, O_RDONLY | O_CLOEXEC);

	init_must(fd >= 0, module);
	init_must(!syscall(SYS_finit_module, fd, "", 0), "load the module");
	close(fd);
}

void init_unload(void)
{
	init_must(!syscall(SYS_delete_module, "tense", O_NONBLOCK),
		  "remove the module");
}
