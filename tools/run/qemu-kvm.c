// SPDX-License-Identifier: GPL-2.0
/*
 * A /dev/kvm that can be opened says little: on a virtual machine's nested KVM
 * a guest may never execute an instruction, or get as far as the boot loader.
 * So the kernel is booted, to where it misses its root file system.
 */
#include "qemu-kvm.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "qemu-machine.h"
#include "base/util.h"

#define LIMIT_MS	5000
#define MEMORY_MIB	256

/* The last words of a kernel that got so far. */
#define LAST_WORDS	"Kernel panic - not syncing: No working init found"

/*
 * The host's, whose counter says of itself that it never stops. Within another
 * virtual machine some of its registers may not be there.
 */
static const char *const models[] = {
	"host,migratable=off,+invtsc",
	"host,migratable=off,+invtsc,-arch-capabilities",
};

#define NR_MODELS	(sizeof(models) / sizeof(models[0]))

static void exec_probe(const struct qemu_machine *machine, int output,
		       pid_t parent)
{
	int null = open("/dev/null", O_RDONLY);

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(STATUS_FAILED);
	dup2(null, 0);
	dup2(output, 1);
	dup2(output, 2);
	execv(machine->emulator, qemu_machine_command(machine));
	_exit(STATUS_FAILED);
}

/* NULL if the kernel got far enough, or the first line of what was said. */
static char *read_output(int output)
{
	char text[20000];
	ssize_t n = pread(output, text, sizeof(text) - 1, 0);
	char *start = text;

	text[n > 0 ? n : 0] = '\0';
	if (strstr(text, LAST_WORDS))
		return NULL;
	text[strcspn(text, "\r\n")] = '\0';
	/* It begins with the name of the program. */
	if (strstr(text, ": "))
		start = strstr(text, ": ") + 2;
	return *start ? xprintf("%.200s", start) :
			xstrdup("a guest ends at once");
}

/*
 * Whether it ends in time. One that hangs in the kernel may not even die: it
 * is not waited for, then.
 */
static bool ends(pid_t pid, int *status)
{
	int fd = syscall(SYS_pidfd_open, pid, 0);
	struct pollfd poll_fd = { .fd = fd, .events = POLLIN };
	bool ended;

	if (fd < 0)
		die(STATUS_FAILED, "pidfd_open: %s", strerror(errno));
	ended = poll(&poll_fd, 1, LIMIT_MS) == 1;
	if (!ended) {
		kill(pid, SIGKILL);
		poll(&poll_fd, 1, LIMIT_MS);
	}
	close(fd);
	waitpid(pid, status, ended ? 0 : WNOHANG);
	return ended;
}

/* NULL, or why a guest does not run; *hangs if it starts and gets nowhere. */
static char *probe(const struct qemu_machine *machine, bool *hangs)
{
	int output = memfd_create("output", MFD_CLOEXEC), status;
	pid_t self = getpid(), pid = fork();
	char *why;

	if (pid < 0 || output < 0)
		die(STATUS_FAILED, "fork: %s", strerror(errno));
	if (pid == 0)
		exec_probe(machine, output, self);
	*hangs = !ends(pid, &status);
	why = *hangs ? xprintf("a guest does not get anywhere in %d s with KVM",
			       LIMIT_MS / 1000) : read_output(output);
	close(output);
	return why;
}

/* The number of the model that works, as a text, or why none does. */
static char *probe_models(const char *emulator, const char *kernel)
{
	struct qemu_machine machine = {
		.emulator = emulator, .kernel = kernel,
		.cpus = 1, .memory_mib = MEMORY_MIB,
	};
	bool hangs = false;
	char *why = NULL;

	for (size_t i = 0; i < NR_MODELS && !hangs; i++) {
		free(why);
		machine.kvm_cpu = models[i];
		why = probe(&machine, &hangs);
		if (!why)
			return xprintf("%zu", i);
	}
	return why;
}

/* A verdict holds for this boot of the machine, and this emulator. */
static char *subject(const char *emulator, int error)
{
	char boot[64] = "";
	FILE *f = fopen("/proc/sys/kernel/random/boot_id", "re");
	struct stat program, device = { 0 };

	if (f) {
		if (!fgets(boot, sizeof(boot), f))
			boot[0] = '\0';
		fclose(f);
	}
	boot[strcspn(boot, "\n")] = '\0';
	if (!boot[0] || stat(emulator, &program))
		return NULL;
	if (!error && stat("/dev/kvm", &device))
		return NULL;
	return xprintf("%s %lld %lld %d", boot, (long long)program.st_mtime,
		       (long long)device.st_ctime, error);
}

/* The verdict of before, as of probe_models(), or NULL. */
static char *recall(const char *path, const char *about)
{
	char line[200], verdict[300] = "";
	FILE *f = fopen(path, "re");
	bool known = f && fgets(line, sizeof(line), f) &&
		     fgets(verdict, sizeof(verdict), f);

	if (f)
		fclose(f);
	line[strcspn(line, "\n")] = '\0';
	verdict[strcspn(verdict, "\n")] = '\0';
	return known && !strcmp(line, about) ? xstrdup(verdict) : NULL;
}

/* Where it cannot be kept, the next run tries again. */
static void remember(const char *path, const char *about, const char *verdict)
{
	char *new = xprintf("%s.%d", path, getpid());
	FILE *f = fopen(new, "we");

	if (f) {
		fprintf(f, "%s\n%s\n", about, verdict);
		if (fclose(f) || rename(new, path))
			unlink(new);
	}
	free(new);
}

/* As of probe_models(), for a device that can be used or not. */
static char *judge(const char *emulator, const char *kernel, int error)
{
	if (error == EACCES)
		return xstrdup("no permission for /dev/kvm: add yourself to the group kvm");
	if (error)
		return xprintf("/dev/kvm: %s", strerror(error));
	return probe_models(emulator, kernel);
}

static const char *model_of(const char *verdict)
{
	char *end;
	unsigned long i = strtoul(verdict, &end, 10);

	return end == verdict || *end || i >= NR_MODELS ? NULL : models[i];
}

const char *qemu_kvm_cpu(const char *emulator, const char *kernel,
			 const char *cache)
{
	int error = access("/dev/kvm", R_OK | W_OK) ? errno : 0;
	/* Users who share the cache must not replace each other's verdict. */
	char *path = xprintf("%s/kvm-%u", cache, getuid()), *verdict;
	char *about = subject(emulator, error);
	const char *model;

	verdict = about ? recall(path, about) : NULL;
	if (!verdict) {
		verdict = judge(emulator, kernel, error);
		if (about)
			remember(path, about, verdict);
		if (!model_of(verdict))
			warn("the guest is emulated, which makes it some 20 times slower: %s",
			     verdict);
	}
	model = model_of(verdict);
	free(verdict);
	free(about);
	free(path);
	return model;
}
