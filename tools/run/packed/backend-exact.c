// SPDX-License-Identifier: GPL-2.0
/*
 * Runs the command in a virtual machine whose clock counts instructions, so that
 * each run is like the other to the last bit. The machine gets all its input
 * before it starts: input at a time of the host's would arrive after another
 * instruction in each run. Its output goes to files, which are always ready for
 * more.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backend-exact.h"
#include "booted.h"
#include "booted-save.h"
#include "bring-back.h"
#include "run/emulator.h"
#include "run/engine/batch.h"
#include "exact-input.h"
#include "exact-output.h"
#include "exact-remote.h"
#include "run/guest.h"
#include "run/kernel.h"
#include "base/paths.h"
#include "names/program.h"
#include "run/qemu-machine.h"
#include "run/memory.h"
#include "run/trace-file.h"
#include "base/util.h"

/* When each run begins: 2024-01-01 00:00:00 UTC. */
#define TIME_OF_DAY_NS	(1704067200 * 1000000000ULL)

/* The emulated counter is that of instructions. */
#define MODULE_OPTIONS	"trust_counter=1"

/* /dev/null */
#define NULL_MAJOR	1
#define NULL_MINOR	3

/* How often output is looked for, which goes to files. */
#define INTERVAL_MS	20
/* The same for a shared directory, which many processes watch. */
#define INTERVAL_REMOTE_MS	250

struct exact {
	struct guest guest;
	int logs[CHANNELS_MAX];	/* the guest's output, by channel */
	size_t read;		/* bytes read of the control channel */
	struct exact_input input;
	int commands;		/* for the emulator, in a file */
	struct output outputs[2];
	int nr_outputs;
	struct outcome *out;
	void **stats;
	bool told;		/* the guest told the outcome */
	bool ended;		/* the emulator has */
	bool over;		/* there is another outcome */
};

/* The saved boot from which guests with one CPU resume. */
static struct booted booted;
/* Its memory; 0 until there is one. */
static unsigned long long booted_mib;
/* Its directory on other machines, or NULL. */
static char *shared_booted;

static int new_channel(struct exact *x)
{
	struct guest *g = &x->guest;

	x->logs[g->nr_channels] = guest_new_file("channel");
	return g->nr_channels++;
}

/*
 * Two descriptors of one file are one stream, in whose order it is written. Nobody sees the order
 * on the null device: a run whose output is dropped is like one whose two streams are apart.
 */
static bool is_same(int a, int b)
{
	struct stat x, y;

	if (fstat(a, &x) || fstat(b, &y))
		return false;
	if (S_ISCHR(x.st_mode) && x.st_rdev == makedev(NULL_MAJOR, NULL_MINOR))
		return false;
	return x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

static void set_streams(struct exact *x)
{
	struct guest *g = &x->guest;
	const bool *closed = g->run->closed;

	x->logs[0] = guest_new_file("control");
	g->nr_channels = 1;
	g->streams[0].channel = closed[0] ? STREAM_CLOSED : STREAM_FILE;
	for (int i = 1; i < 3; i++) {
		struct stream *s = &g->streams[i];

		s->mode = O_WRONLY;
		if (closed[i]) {
			s->channel = STREAM_CLOSED;
		} else if (i == 2 && !closed[1] && is_same(1, 2)) {
			s->channel = g->streams[1].channel;
		} else {
			s->channel = new_channel(x);
			output_init(&x->outputs[x->nr_outputs++],
				    x->logs[s->channel], i);
		}
	}
	g->files = new_channel(x);
}

/* Does not return. A session of its own: keys are for tense. */
static void exec_emulator(struct exact *x, const struct qemu_machine *m,
			  pid_t parent)
{
	char *env[] = { "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/", NULL };
	char **argv = qemu_machine_command(m);

	fcntl(x->guest.log, F_SETFL, O_APPEND);
	fcntl(m->initramfs, F_SETFD, 0);
	if (m->start == QEMU_LOAD) {
		fcntl(x->commands, F_SETFD, 0);
		booted_pass(m->booted);
	} else {
		fcntl(m->memory, F_SETFD, 0);
	}
	for (int i = 0; i < x->guest.nr_channels; i++)
		fcntl(x->logs[i], F_SETFD, 0);
	guest_child(&x->guest, parent);
	setsid();
	execve(argv[0], argv, env);
	dprintf(2, "%s: %s\n", argv[0], strerror(errno));
	_exit(STATUS_FAILED);
}

static void set_ports(struct exact *x, struct qemu_machine *m)
{
	m->nr_ports = x->guest.nr_channels;
	memcpy(m->ports, x->logs, sizeof(x->logs));
}

static void start_emulator(struct exact *x, struct qemu_machine *m)
{
	pid_t self = getpid();

	set_ports(x, m);
	x->guest.pid = fork();
	guest_check(x->guest.pid >= 0, "cannot start a process");
	if (x->guest.pid == 0)
		exec_emulator(x, m, self);
	close(m->initramfs);
	close(m->start == QEMU_LOAD ? x->commands : m->memory);
}

/* Names, headers, and the directory entries of small files. */
#define FILES_SLACK	(256 << 20)

/* The end, whatever the guest does. */
static void fail(struct exact *x, const char *text)
{
	x->out->kind = OUTCOME_FAILED;
	snprintf(x->out->text, sizeof(x->out->text), "%s", text);
	x->over = true;
}

static void end_by_signal(struct exact *x, int sig)
{
	x->out->kind = OUTCOME_SIGNALED;
	x->out->value = sig;
	x->over = true;
}

static void take_message(struct exact *x, const struct message *m,
			 const char *payload)
{
	struct end_message end;

	if (m->type == MESSAGE_OUTCOME && m->size >= sizeof(*x->out)) {
		guest_take_outcome(m, payload, x->out, x->stats);
		x->told = true;
	} else if (m->type == MESSAGE_STOPPED) {
		fail(x, "the command stopped itself, and nobody can continue it in a deterministic run");
	} else if (m->type == MESSAGE_TRACE && x->guest.run->trace) {
		trace_file_add(x->guest.run->trace, payload, m->size);
	} else if (m->type == MESSAGE_END && m->size == sizeof(end)) {
		memcpy(&end, payload, sizeof(end));
		if (end.channel == STREAM_FILE)
			exact_input_end(&x->input, end.bytes);
	}
}

/* Takes the whole messages that came by the control channel. */
static void read_control(struct exact *x)
{
	struct message m;
	struct stat st;

	while (!x->told && !x->over && !fstat(x->logs[0], &st) &&
	       pread(x->logs[0], &m, sizeof(m), x->read) == sizeof(m)) {
		char *payload;

		/* The rest has not arrived, or root in the guest sent a false size. */
		if ((size_t)st.st_size < x->read + sizeof(m) + m.size)
			return;
		payload = xmalloc(m.size);
		if (pread(x->logs[0], payload, m.size, x->read + sizeof(m)) != (ssize_t)m.size) {
			free(payload);
			return;
		}
		take_message(x, &m, payload);
		x->read += sizeof(m) + m.size;
		free(payload);
	}
}

static bool is_ignored(const struct exact *x, int sig)
{
	const struct run *run = x->guest.run;

	return run->ignored >> (sig - 1) & 1 ||
	       sigismember(&run->mask, sig) == 1;
}

/* There is no way for it to the command, so it ends all. */
static void handle_signal(struct exact *x)
{
	struct signalfd_siginfo info;
	int sig;

	if (read(x->guest.signals, &info, sizeof(info)) != sizeof(info))
		return;
	sig = info.ssi_signo;
	if (sig == SIGCHLD || sig == SIGWINCH || sig == SIGCONT ||
	    is_ignored(x, sig))
		return;
	if (sig != SIGTSTP) {
		end_by_signal(x, sig);
		return;
	}
	if (!x->guest.pid) {
		raise(SIGSTOP);
		return;
	}
	/* A clock of instructions does not see it. */
	kill(x->guest.pid, SIGSTOP);
	raise(SIGSTOP);
	kill(x->guest.pid, SIGCONT);
}

static void forward(struct exact *x)
{
	for (int i = 0; i < x->nr_outputs && !x->over; i++) {
		struct output *o = &x->outputs[i];
		char text[200];

		output_forward(o);
		if (o->error == EPIPE) {
			if (!is_ignored(x, SIGPIPE))
				end_by_signal(x, SIGPIPE);
		} else if (o->error) {
			snprintf(text, sizeof(text),
				 "cannot write what the command wrote: %s",
				 strerror(o->error));
			fail(x, text);
		}
	}
}

/* A guest that is far ahead of its reader waits, and does not see that either. */
static void hold_back(struct exact *x, bool *held)
{
	bool full = false;

	for (int i = 0; i < x->nr_outputs; i++)
		full = full || output_is_full(&x->outputs[i]);
	/* Each time: handle_signal() may have let it go on. */
	if (full || *held)
		kill(x->guest.pid, full ? SIGSTOP : SIGCONT);
	*held = full;
}

/*
 * The guest's files are in its memory, but a sparse one may be any size, and root there may
 * send what it likes.
 */
static void limit_files(struct exact *x)
{
	const int channels[] = { 0, x->guest.files };
	off_t most = (off_t)memory_choose_mib(x->guest.run, EXACT_MEMORY_MIB) << 20;
	struct stat st;

	for (int i = 0; i < 2 && !x->over; i++)
		if (channels[i] >= 0 && !fstat(x->logs[channels[i]], &st) &&
		    st.st_size > most + FILES_SLACK)
			fail(x, "the files that the command wrote are larger than the guest's memory: a sparse file cannot be brought back, so let the command remove it, or use --memory");
}

static bool is_drained(const struct exact *x)
{
	for (int i = 0; i < x->nr_outputs; i++)
		if (output_waits(&x->outputs[i]))
			return false;
	return true;
}

static void wait_for_something(struct exact *x, int guest, int interval_ms)
{
	struct pollfd polls[4] = {
		{ .fd = x->guest.signals, .events = POLLIN },
		{ .fd = guest, .events = POLLIN },
	};

	for (int i = 0; i < 2; i++) {
		const struct output *o = &x->outputs[i];

		polls[2 + i] = (struct pollfd){
			.fd = i < x->nr_outputs && output_waits(o) ? o->to : -1,
			.events = POLLOUT,
		};
	}
	if (poll(polls, 4, interval_ms) < 0 && errno != EINTR)
		die(STATUS_FAILED, "poll: %s", strerror(errno));
	if (polls[0].revents)
		handle_signal(x);
	x->ended = x->ended || polls[1].revents;
}

/* Waits until another machine has run the guest. */
static void serve_remote(struct exact *x, struct qemu_machine *m)
{
	struct exact_remote remote = {
		.directory = x->guest.run->remote, .booted = shared_booted, .log = x->guest.log,
	};

	set_ports(x, m);
	memcpy(remote.files, x->logs, sizeof(x->logs));
	/* A network file system shows all of a file, and a full disk, at the end. */
	guest_check(!fsync(m->initramfs) && !close(m->initramfs), remote.directory);
	if (m->start == QEMU_LOAD)
		guest_check(!fsync(x->commands) && !close(x->commands), m->commands);
	else
		close(m->memory);
	exact_remote_send(&remote, m);
	while (!x->over && !batch_is_done(remote.directory))
		wait_for_something(x, -1, INTERVAL_REMOTE_MS);
	if (x->over)
		return;
	exact_remote_receive(&remote, m->nr_ports);
	read_control(x);
	forward(x);
	while (!x->over && !is_drained(x)) {
		wait_for_something(x, -1, INTERVAL_MS);
		forward(x);
	}
}

static void serve(struct exact *x)
{
	int guest = syscall(SYS_pidfd_open, x->guest.pid, 0);
	bool held = false;

	guest_check(guest >= 0, "pidfd_open");
	while (!x->over && !(x->ended && is_drained(x))) {
		/* It may have written more before it ended. */
		wait_for_something(x, x->ended ? -1 : guest, INTERVAL_MS);
		read_control(x);
		forward(x);
		limit_files(x);
		if (!x->ended)
			hold_back(x, &held);
	}
	close(guest);
}

/* Brings the files back unless the guest failed. */
static void take_files(struct exact *x)
{
	const struct run *run = x->guest.run;
	char *error;

	if (x->out->kind == OUTCOME_FAILED || run->discard)
		return;
	if (run->ready)
		run->ready(x->out, run->ready_arg);
	error = bring_back(x->logs[x->guest.files], run->writable);
	if (error)
		fail(x, error);
	free(error);
}

static void finish(struct exact *x)
{
	if (x->over)
		return;
	if (!x->told && x->guest.pid) {
		guest_died(&x->guest, x->out);
		return;
	}
	if (!x->told) {
		fail(x, "--engine slurm: a guest ended without a result: run the command again, or use --engine local");
		return;
	}
	take_files(x);
	guest_tell_out_of_memory(&x->guest);
	if ((x->out->kind == OUTCOME_EXITED || x->out->kind == OUTCOME_UNPREPARED) &&
	    x->out->value == STATUS_NOT_FOUND)
		warn("exit status 127: the guest has only what was packed: --file adds a program or a directory");
}

static char *built_kernel, *fetched_emulator;
/* Copies for other machines, or NULL. */
static char *shared_kernel, *shared_emulator, *shared_turns;

static char *kernel_path(void)
{
	return xprintf("%s/build/vmlinux", built_kernel);
}

static struct qemu_machine machine_of(const struct run *run)
{
	return (struct qemu_machine){
		.emulator = fetched_emulator, .kernel = kernel_path(), .counted = true,
		.cpus = run->cpus, .seed = run->seed ? run->seed : 1,
		.memory_mib = memory_choose_mib(run, EXACT_MEMORY_MIB),
	};
}

/* With several CPUs, the plugin that takes turns shares the memory, and QEMU cannot save the plugin. */
static bool can_resume(const struct qemu_machine *m)
{
	return m->cpus == 1;
}

void backend_exact_prepare(const struct run *run)
{
	struct qemu_machine m;
	char *cache;

	if (!built_kernel)
		built_kernel = kernel_build("x86_64");
	if (!fetched_emulator)
		fetched_emulator = emulator_fetch();
	m = machine_of(run);
	if (can_resume(&m) && !booted_mib) {
		/* The parent of the kernel's directory. With --kernel, that may be any directory. */
		cache = kernel_is_given() ? NULL : backend_exact_cache();
		booted_find(&booted, &m, cache);
		booted_mib = m.memory_mib;
		free(cache);
	}
	free((char *)m.kernel);
}

void backend_exact_share(const char *directory, const char *measurement)
{
	char *turns = find_part(PATH_QEMU_TURNS);

	shared_turns = batch_share(turns, measurement, "turns");
	free(turns);
	shared_kernel = kernel_path();
	shared_emulator = fetched_emulator;
	if (directory) {
		/* The name of the kernel's directory has the key of its version. */
		char *name = xprintf("vmlinux-%s", base_name(built_kernel));

		shared_kernel = batch_share(shared_kernel, directory, name);
		shared_emulator = exact_remote_share_emulator(fetched_emulator,
							      directory);
		free(name);
	}
	/* If directory is NULL, the other machines read the saved boot from the cache. */
	if (booted_mib)
		shared_booted = booted.directory && !directory ?
				xstrdup(booted.directory) : booted_share(&booted, measurement);
}

char *backend_exact_cache(void)
{
	return xprintf("%.*s", (int)(base_name(built_kernel) - built_kernel - 1),
		       built_kernel);
}

static void set_parts(struct qemu_machine *m, const struct run *run)
{
	if (run->remote) {
		free((char *)m->kernel);
		m->emulator = shared_emulator;
		m->kernel = xstrdup(shared_kernel);
		m->turns = xstrdup(shared_turns);
		m->initramfs = exact_remote_initramfs(run->remote);
		return;
	}
	m->turns = find_part(PATH_QEMU_TURNS);
	m->initramfs = guest_new_file("initramfs");
}

/* A file of commands for the emulator, which finds it by this name. */
static int new_commands(struct qemu_machine *m, const char *remote)
{
	int fd;

	if (!remote) {
		fd = guest_new_file("commands");
		m->commands = xprintf("/dev/fd/%d", fd);
		return fd;
	}
	m->commands = xprintf("%s/commands", remote);
	fd = open(m->commands, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	guest_check(fd >= 0, m->commands);
	return fd;
}

/* Lets the machine resume from the saved boot. */
static void resume(struct exact *x, struct qemu_machine *m)
{
	const char *remote = x->guest.run->remote;

	if (x->guest.nr_channels > QEMU_PORTS || m->memory_mib != booted_mib)
		die(STATUS_FAILED, "internal error: the saved boot has %d ports and %llu MiB, but the run asks for %d and %llu",
		    QEMU_PORTS, booted_mib, x->guest.nr_channels, m->memory_mib);
	memcpy(m->booted, booted.files, sizeof(m->booted));
	if (remote)
		exact_remote_number(m->booted);
	x->commands = new_commands(m, remote);
	booted_use(m, x->commands);
}

static void exact_run(const struct run *run, struct outcome *out, void **stats)
{
	struct exact x = { .out = out, .stats = stats };
	struct guest_kernel k = {
		.module = PACKED_DIRECTORY "/tense.ko",
		.clock_ns = TIME_OF_DAY_NS,
	};
	char *program = find_command(run->argv[0]), *options;
	struct qemu_machine m;

	memset(out, 0, sizeof(*out));
	*stats = NULL;
	if (!program) {
		out->kind = OUTCOME_NOT_RUN;
		out->value = errno;
		return;
	}
	free(program);
	backend_exact_prepare(run);
	m = machine_of(run);
	set_parts(&m, run);
	options = guest_module_options(run, MODULE_OPTIONS);
	k.module_options = options;
	k.module_file = xprintf("%s/tense.ko", built_kernel);
	guest_prepare(&x.guest, run);
	set_streams(&x);
	out->value = exact_input_pack(&x.input, &x.guest, m.memory_mib, &k, m.initramfs);
	if (out->value) {
		out->kind = OUTCOME_NOT_RUN;
	} else {
		if (can_resume(&m))
			resume(&x, &m);
		else
			m.memory = guest_new_file("memory");
		guest_begin(&x.guest);
		if (run->started)
			run->started(run->started_arg);
		if (run->remote) {
			serve_remote(&x, &m);
		} else {
			start_emulator(&x, &m);
			serve(&x);
		}
		finish(&x);
		guest_end(&x.guest);
	}
	free((char *)m.kernel);
	free((char *)m.turns);
	free((char *)m.commands);
	free((char *)k.module_file);
	free(options);
}

static bool exact_usable(void)
{
	return true;
}

const struct backend backend_exact = {
	.name = "qemu",
	.cpus_max = QEMU_CPUS_MAX,
	.probes = true,
	.usable = exact_usable,
	.run = exact_run,
};
