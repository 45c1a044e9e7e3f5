// SPDX-License-Identifier: GPL-2.0
/*
 * The first program of in-qemu's kernel: prepares, runs the program with the
 * arguments that it was given, ends it all.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int __attribute__((unused)) argc, char **argv)
{
	int status = -1;
	pid_t pid;

	mount("devtmpfs", "/dev", "devtmpfs", 0, NULL);
	mount("proc", "/proc", "proc", 0, NULL);
	mount("sysfs", "/sys", "sysfs", 0, NULL);
	mount("cgroup2", "/sys/fs/cgroup", "cgroup2", 0, NULL);
	setenv("TENSE_KO", "/tense.ko", 1);
	/* The emulator's counter is good, and it says that of none. */
	setenv("TENSE_KO_OPTIONS", "trust_counter=1", 1);
	/* in-qemu starts a guest again that gets stuck before this line. */
	puts("# the guest has booted");
	fflush(stdout);
	pid = fork();
	if (!pid) {
		execv(argv[1], argv + 1);
		_exit(127);
	}
	/* Orphans of the test's come here too. */
	while (wait(&status) != pid)
		;
	if (status)
		printf("Bail out! the test ended with status %#x\n", status);
	fflush(stdout);
	reboot(RB_POWER_OFF);
	return 0;
}
