// SPDX-License-Identifier: GPL-2.0
/*
 * Runs the command on the patched kernel as User-Mode Linux: a process of the
 * user's. Its files are the host's through hostfs; standard streams, signals
 * and the outcome pass through hostfd devices, see kernel/um/hostfd_kern.c.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "backend.h"
#include "guest.h"
#include "kernel.h"
#include "base/util.h"

/* The default memory is at most this. */
#define MEMORY_MIB	8192

/*
 * Two CPUs of the guest drift apart more than those of a machine, because the host runs
 * them in turns. A CPU that stops at the window costs the program tens of us. With the
 * module's 500 us, programs took up to 15 % longer than in real time.
 */
#define WINDOW_OF_SEVERAL	"window=2000000"

/* Time of the host's CPUs, in ticks of its clock. */
struct cpu_time {
	unsigned long long kernel;	/* the guest's, switches included */
	unsigned long long user;	/* the guest's programs */
};

struct uml {
	struct guest guest;
	struct cpu_time start;		/* when the command started */
	int fds[CHANNELS_MAX];		/* become /dev/hostfdN in the guest */
};

static void add_fd(void *arg, int channel, int fd, bool input)
{
	struct uml *u = arg;

	(void)input;
	u->fds[channel] = fd;
}

/*
 * Keeps a guest of one CPU on one CPU. It is two processes that hand over to each
 * other at each system call. Across CPUs that takes twice as long and varies,
 * so that refunds for Tense's own calls would be wrong. Guests with a place get
 * different CPUs, and other guests mostly do.
 */
static void stay_on_one_cpu(unsigned int place)
{
	cpu_set_t set;
	int cpu, nth;

	/* Not vital: one that has too many CPUs for the set stays anywhere. */
	if (sched_getaffinity(0, sizeof(set), &set))
		return;
	nth = (place ? place - 1 : (unsigned int)getpid()) % CPU_COUNT(&set);
	for (cpu = 0; !CPU_ISSET(cpu, &set) || nth--; cpu++)
		;
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

/* Does not return. The parent is to be ours until the end. */
static void exec_kernel(struct uml *u, const char *kernel, const char *init,
			unsigned long long mib, pid_t parent)
{
	char fds[16 * CHANNELS_MAX] = "hostfd.fds=";
	unsigned int cpus = u->guest.run->cpus;
	struct rlimit files;
	char *argv[] = {
		(char *)kernel,
		xprintf("mem=%lluM", mib),
		"root=/dev/root", "rootfstype=hostfs", "rootflags=/", "ro",
		xprintf("init=\"%s\"", init),
		/* Tables for a server of files, by default. */
		"dhash_entries=65536", "ihash_entries=65536",
		fds, "uml_dir=", "con=none", "con0=fd:0,fd:1", "quiet",
		/*
		 * With several CPUs, no process can trace all others. With one, a system
		 * call by a filter takes half as long as one by tracing.
		 */
		!kernel_uses_filters() ? NULL :
			cpus > 1 ? "seccomp=on" : "seccomp=auto",
		cpus > 1 ? xprintf("ncpus=%u", cpus) : NULL,
		NULL
	};
	char *env[] = { "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/", NULL };

	guest_child(&u->guest, parent);
	if (cpus <= 1)
		stay_on_one_cpu(u->guest.run->place);
	for (int i = 0; i < u->guest.nr_channels; i++) {
		size_t len = strlen(fds);

		fcntl(u->fds[i], F_SETFD, 0);
		snprintf(fds + len, sizeof(fds) - len, "%s%d", i ? "," : "",
			 u->fds[i]);
	}
	/* Every file that is open inside is open here too. */
	if (!getrlimit(RLIMIT_NOFILE, &files)) {
		files.rlim_cur = files.rlim_max;
		setrlimit(RLIMIT_NOFILE, &files);
	}
	execve(kernel, argv, env);
	dprintf(2, "%s: %s\n", kernel, strerror(errno));
	_exit(STATUS_FAILED);
}

static void boot(struct uml *u, const char *kernel, const char *init)
{
	unsigned long long mib = guest_memory_mib(u->guest.run, MEMORY_MIB);
	struct guest *g = &u->guest;
	pid_t self = getpid();
	int pair[2];

	guest_check(!socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair),
		    "socketpair");
	control_init(&g->control, pair[0]);
	u->fds[0] = pair[1];
	guest_streams(g, add_fd, u);

	g->pid = fork();
	guest_check(g->pid >= 0, "cannot start a process");
	if (g->pid == 0)
		exec_kernel(u, kernel, init, mib, self);
	for (int i = 0; i < g->nr_channels; i++)
		close(u->fds[i]);
	/* The command's streams end when the command ends them. */
	guest_streams_handed_over(g);
}

/*
 * The guest's own accounting cannot see what the switches between its kernel
 * and its programs cost; the host's does. A program's time is known once it
 * has ended. Only sums of user and system time are exact: how they are split
 * is for ticks to say, which may always find the host at the guest's timer.
 */
static struct cpu_time cpu_time(const struct uml *u)
{
	char *path = xprintf("/proc/%d/stat", (int)u->guest.pid);
	unsigned long long user, system, children_user, children_system;
	struct cpu_time t = { 0 };
	FILE *f = fopen(path, "re");

	if (f && fscanf(f, "%*d (linux) %*c %*d %*d %*d %*d %*d %*u %*u %*u"
			" %*u %*u %llu %llu %llu %llu", &user, &system,
			&children_user, &children_system) == 4) {
		t.kernel = user + system;
		t.user = children_user + children_system;
	}
	if (f)
		fclose(f);
	free(path);
	return t;
}

static void started(void *arg)
{
	struct uml *u = arg;

	u->start = cpu_time(u);
}

static void account(void *arg, struct outcome *out)
{
	const struct uml *u = arg;
	struct cpu_time now = cpu_time(u);
	uint64_t tick = 1000000000 / sysconf(_SC_CLK_TCK);

	out->user_ns = (now.user - u->start.user) * tick;
	out->system_ns = (now.kernel - u->start.kernel) * tick;
}

static void uml_run(const struct run *run, struct outcome *out, void **stats)
{
	static const struct guest_ops ops = {
		.started = started, .ended = account,
	};
	struct uml u;
	char *directory = kernel_build("um");
	char *kernel = xprintf("%s/linux", directory);
	char *module = xprintf("%s/tense.ko", directory);
	char *init = guest_init_path();
	char *options = guest_module_options(run, run->cpus > 1 ?
						  WINDOW_OF_SEVERAL : "");
	struct guest_kernel k = { .module = module, .module_options = options };

	guest_prepare(&u.guest, run);
	guest_begin(&u.guest);
	boot(&u, kernel, init);
	guest_serve(&u.guest, &k, &ops, &u, out, stats);
	guest_end(&u.guest);
	free(directory);
	free(kernel);
	free(module);
	free(options);
	free(init);
}

static bool uml_usable(void)
{
	return true;
}

const struct backend backend_uml = {
	.name = "uml",
	.cpus_max = 1,		/* see kernel_uml_cpus() */
	.usable = uml_usable,
	.run = uml_run,
};
