// SPDX-License-Identifier: GPL-2.0
/*
 * Runs the command on the patched kernel in a virtual machine with several
 * CPUs, by QEMU. Its files are the host's through 9p; standard streams, signals
 * and the outcome pass through the ports of a virtual console.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "backend.h"
#include "guest.h"
#include "kernel.h"
#include "names/program.h"
#include "qemu-kvm.h"
#include "qemu-machine.h"
#include "qemu-streams.h"
#include "base/util.h"

/* The most that is given without being asked for. */
#define MEMORY_MIB	2048

/* An emulated counter is that of the host, and says of itself that it is not. */
#define EMULATED_OPTIONS	"trust_counter=1"

/*
 * An emulator may lose the end of an interrupt. If that was the tick of a CPU while the
 * kernel boots, the kernel never gets to the command. It says so after 21 s.
 */
#define STALL		"detected stalls on CPUs"
#define RESTARTS_MAX	3

struct qemu {
	struct guest guest;
	struct qemu_streams streams;
	int control;		/* the machine's end */
	struct qemu_machine *machine;
	bool has_ports;		/* the machine's ends are still open here */
	int unread;		/* bytes of the request that waited at first; 0: unknown */
	int restarts;
	off_t log;		/* size of the log at the last restart */
};

static char *find_emulator(void)
{
	char *path = find_command(QEMU_PROGRAM);

	if (!path)
		die(STATUS_FAILED, QEMU_PROGRAM " is not installed: apt-get install qemu-system-x86");
	return path;
}

static char *checked_kernel(const struct run *run)
{
	size_t n = 0;

	while (run->writable[n])
		n++;
	if (n > QEMU_WRITABLE_MAX)
		die(STATUS_FAILED, "--rw: the back end qemu has at most %d directories that can be written to, the current one included",
		    QEMU_WRITABLE_MAX);
	return kernel_build("x86_64");
}

/* Does not return. A session of its own: signals to a group are for tense. */
static void exec_emulator(struct qemu *q, char **argv, pid_t parent)
{
	fcntl(q->control, F_SETFD, 0);
	for (int i = 0; i < q->streams.nr; i++)
		fcntl(q->streams.stream[i].machine, F_SETFD, 0);
	guest_child(&q->guest, parent);
	setsid();
	execv(argv[0], argv);
	dprintf(2, "%s: %s\n", argv[0], strerror(errno));
	_exit(STATUS_FAILED);
}

static void start(struct qemu *q)
{
	struct guest *g = &q->guest;
	char **argv = qemu_machine_command(q->machine);
	pid_t self = getpid();

	g->pid = fork();
	guest_check(g->pid >= 0, "cannot start a process");
	if (g->pid == 0)
		exec_emulator(q, argv, self);
}

/* A read then finds the end when the emulator ends. */
static void close_ports(struct qemu *q)
{
	if (!q->has_ports)
		return;
	for (int i = 0; i < q->machine->nr_ports; i++)
		close(q->machine->ports[i]);
	q->has_ports = false;
}

static bool has_ended(const struct qemu *q)
{
	siginfo_t info = { 0 };

	return waitid(P_PID, q->guest.pid, &info, WEXITED | WNOHANG | WNOWAIT) ||
	       info.si_pid;
}

/* Nothing in the guest has opened a channel: the emulator has read nothing from them. */
static bool is_untouched(struct qemu *q)
{
	int unread = 0;

	if (ioctl(q->control, FIONREAD, &unread) || !unread)
		return false;
	if (!q->unread)
		q->unread = unread;
	return unread >= q->unread;
}

/* The functions of guest_ops get the streams. */
static struct qemu *qemu_of(void *streams)
{
	return (struct qemu *)((char *)streams - offsetof(struct qemu, streams));
}

static void has_started(void *arg)
{
	close_ports(qemu_of(arg));
}

/* Starts another emulator on the same channels if this one's kernel is stuck. */
static void watch_boot(void *arg)
{
	struct qemu *q = qemu_of(arg);
	struct guest *g = &q->guest;

	if (!q->has_ports)
		return;
	if (has_ended(q)) {
		close_ports(q);
		return;
	}
	if (!is_untouched(q) || q->restarts == RESTARTS_MAX ||
	    !guest_logged(g, q->log, STALL))
		return;
	warn("the guest got stuck while it booted: tense starts it again");
	kill(g->pid, SIGKILL);
	waitpid(g->pid, NULL, 0);
	q->log = guest_log_size(g);
	q->restarts++;
	start(q);
}

static void boot(struct qemu *q, struct qemu_machine *m)
{
	struct guest *g = &q->guest;
	int pair[2];

	guest_check(!socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair),
		    "socketpair");
	control_init(&g->control, pair[0]);
	q->streams.guest = g;
	q->control = pair[1];
	guest_streams(g, qemu_streams_add, &q->streams);
	m->ports[0] = pair[1];
	for (int i = 0; i < q->streams.nr; i++)
		m->ports[q->streams.stream[i].channel] =
			q->streams.stream[i].machine;
	m->nr_ports = g->nr_channels;
	q->machine = m;
	q->has_ports = true;
	start(q);
	guest_streams_handed_over(g);
}

static uint64_t time_of_day(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return now.tv_sec * 1000000000ULL + now.tv_nsec;
}

static void qemu_run(const struct run *run, struct outcome *out, void **stats)
{
	static const struct guest_ops ops = {
		.boots = watch_boot, .started = has_started,
		.end = qemu_streams_end, .events = qemu_streams_events,
		.run = qemu_streams_run, .busy = qemu_streams_busy,
	};
	char *emulator = find_emulator();
	char *directory = checked_kernel(run);
	char *module = xprintf("%s/tense.ko", directory), *init, *options;
	struct guest_kernel k = { .module = module };
	struct qemu_machine m = {
		.emulator = emulator,
		.cpus = run->cpus,
		.memory_mib = guest_memory_mib(run, MEMORY_MIB),
		.writable = run->writable,
	};
	struct qemu q = { 0 };
	char *cache = xprintf("%s/..", directory);

	init = guest_init_path();
	m.kernel = xprintf("%s/build/vmlinux", directory);
	m.init = init;
	m.kvm_cpu = qemu_kvm_cpu(emulator, m.kernel, cache);
	options = guest_module_options(run, m.kvm_cpu ? "" : EMULATED_OPTIONS);
	k.module_options = options;
	guest_prepare(&q.guest, run);
	guest_begin(&q.guest);
	boot(&q, &m);
	k.clock_ns = time_of_day();
	guest_serve(&q.guest, &k, &ops, &q.streams, out, stats);
	close_ports(&q);
	guest_end(&q.guest);
	if (q.streams.error) {
		out->kind = OUTCOME_FAILED;
		snprintf(out->text, sizeof(out->text), "%s", q.streams.error);
	}
	free(cache);
	free(emulator);
	free(directory);
	free(module);
	free(options);
	free(init);
}

static bool qemu_usable(void)
{
	char *path = find_command(QEMU_PROGRAM);
	bool usable = path;

	free(path);
	return usable;
}

const struct backend backend_qemu = {
	.name = "qemu",
	.cpus_max = QEMU_CPUS_MAX,
	.probes = true,
	.usable = qemu_usable,
	.run = qemu_run,
};
