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

#define DEBUG	"/sys/kernel/debug"

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
	init_must(!mount("sys", "/sys", "sysfs", 0, NULL), "mount /sys");
	init_must(!mount("debug", DEBUG, "debugfs", 0, NULL), "mount " DEBUG);
}

double init_machine_ns(void)
{
	FILE *file = fopen(DEBUG "/sched/debug", "r");
	char line[256];
	double ms = -1;

	init_must(file != NULL, "open " DEBUG "/sched/debug");
	while (ms < 0 && fgets(line, sizeof(line), file))
		sscanf(line, "sched_clk : %lf", &ms);
	fclose(file);
	errno = ENOENT;
	init_must(ms >= 0, "find sched_clk");
	return ms * 1e6;
}

void init_load(const char *module, const char *options)
{
	int fd = open(module, O_RDONLY | O_CLOEXEC);

	init_must(fd >= 0, module);
	init_must(!syscall(SYS_finit_module, fd, options, 0), "load the module");
	close(fd);
}

void init_unload(void)
{
	init_must(!syscall(SYS_delete_module, "tense", O_NONBLOCK),
		  "remove the module");
}
