// SPDX-License-Identifier: GPL-2.0
/*
 * Runs the command on the patched kernel in a virtual machine with several
 * CPUs, by QEMU. Its files are the host's through 9p; standard streams, signals
 * and the outcome pass through the ports of a virtual console.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
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

struct qemu {
	struct guest guest;
	struct qemu_streams streams;
	int control;		/* the machine's end */
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

static void boot(struct qemu *q, struct qemu_machine *m)
{
	struct guest *g = &q->guest;
	pid_t self = getpid();
	int pair[2];
	char **argv;

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

	argv = qemu_machine_command(m);
	g->pid = fork();
	guest_check(g->pid >= 0, "cannot start a process");
	if (g->pid == 0)
		exec_emulator(q, argv, self);
	for (int i = 0; i < m->nr_ports; i++)
		close(m->ports[i]);
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
		.end = qemu_streams_end, .events = qemu_streams_events,
		.run = qemu_streams_run, .busy = qemu_streams_busy,
	};
	char *emulator = find_emulator();
	char *directory = checked_kernel(run);
	char *module = xprintf("%s/tense.ko", directory), *init, *options;
	struct guest_kernel k = { .module = module };
	struct qemu_machine m = {
		.emulator = emulator,
		.cpus = run->cpus ? run->cpus : 1,
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
