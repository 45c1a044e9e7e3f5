// SPDX-License-Identifier: GPL-2.0
#include "booted-save.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <jansson.h>

#include "base/util.h"
#include "exact-input.h"
#include "run/guest.h"

/* A boot takes 2 s, unless the host is busy. */
#define PATIENCE_S	300
#define STEP_NS		(10 * 1000000)

struct qemu_machine booted_machine(const struct qemu_machine *like)
{
	struct qemu_machine m = *like;

	m.start = QEMU_SAVE;
	for (int i = 0; i < QEMU_BOOTED_FILES; i++)
		m.booted[i] = -1;
	m.seed = 1;
	m.nr_ports = 0;
	m.initramfs = -1;
	m.archive = -1;
	m.monitor = -1;
	return m;
}

/* The emulator's end of a conversation in JSON. */
struct monitor {
	int fd;
	time_t end;	/* of patience, by the monotonic clock */
};

static time_t now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec;
}

/* Reads one byte, as the next answer is for another reader. For json_load_callback(). */
static size_t read_byte(void *buf, size_t size, void *arg)
{
	const struct monitor *m = arg;
	struct pollfd p = { .fd = m->fd, .events = POLLIN };
	ssize_t n = -1;

	/* A process that was stopped sees EINTR. */
	while (now_s() < m->end) {
		int ready = poll(&p, 1, 1000);

		if (ready > 0)
			n = read(m->fd, buf, 1);
		if (n >= 0 || (ready < 0 && errno != EINTR) || (ready > 0 && errno != EINTR))
			break;
	}
	return size && n > 0 ? n : 0;
}

/* Sends a command to the emulator and returns its answer, or NULL. */
static json_t *ask(struct monitor *monitor, const char *command)
{
	char *line = xprintf("%s\n", command);
	ssize_t length = strlen(line), sent = send(monitor->fd, line, length, MSG_NOSIGNAL);
	json_t *answer;

	free(line);
	if (sent != length)
		return NULL;
	/* It tells events, too. */
	while ((answer = json_load_callback(read_byte, monitor, JSON_DISABLE_EOF_CHECK, NULL)) &&
	       !json_object_get(answer, "return")) {
		bool refused = json_object_get(answer, "error");

		json_decref(answer);
		if (refused)
			return NULL;
	}
	return answer;
}

static bool tell(struct monitor *monitor, const char *command)
{
	json_t *answer = ask(monitor, command);

	json_decref(answer);
	return answer;
}

/* Waits until the answer to the command has one of two values as its status. */
static bool wait_for(struct monitor *monitor, const char *command, const char *good,
		     const char *bad)
{
	const struct timespec step = { .tv_nsec = STEP_NS };

	while (now_s() < monitor->end) {
		json_t *answer = ask(monitor, command);
		json_t *status = json_object_get(json_object_get(answer, "return"), "status");
		const char *text = status ? json_string_value(status) : "";
		bool is_good = !strcmp(text, good), is_bad = !answer || !strcmp(text, bad);

		json_decref(answer);
		if (is_good || is_bad)
			return is_good;
		nanosleep(&step, NULL);
	}
	return false;
}

#define IGNORE_SHARED \
	"{\"execute\":\"migrate-set-capabilities\",\"arguments\":{\"capabilities\":" \
	"[{\"capability\":\"x-ignore-shared\",\"state\":true}]}}"

/* The command by which the emulator writes or reads the state of the devices. */
static char *migration(const char *command, int state)
{
	return xprintf("{\"execute\":\"%s\",\"arguments\":{\"uri\":\"file:/dev/fd/%d\"}}", command,
		       state);
}

/*
 * Parts of a saved state, see cpu-timers.c and cpu-system.c in QEMU: the clock that tells the
 * host's time, which comes before CLOCK; behind it, the one that counts instructions; and
 * behind CPU, whether it halts, and its interrupts.
 */
#define CLOCK		"\x05\x0ctimer/icount\0\0\0\1"
#define CLOCK_SIZE	(sizeof(CLOCK) - 1)
#define HOST_SIZE	(3 * sizeof(uint64_t))
#define CPU		"\ncpu_common\0\0\0\0\0\0\0\1"
#define CPU_SIZE	(sizeof(CPU) - 1)

/* Numbers are big-endian. */
struct icount {
	uint64_t bias, count;	/* the sum is the time */
};

struct cpu {
	uint32_t halted, interrupts;
};

/* Boots to try: a timer may spoil one, see mend_state(). */
#define TRIES		20

static bool set_clock(char *text, off_t size, uint64_t ns)
{
	char *clock = memmem(text, size, CLOCK, CLOCK_SIZE);
	struct icount icount;

	if (!clock || clock - HOST_SIZE < text ||
	    clock + CLOCK_SIZE + sizeof(icount) > text + size)
		return false;
	memset(clock - HOST_SIZE, 0, HOST_SIZE);
	memcpy(&icount, clock + CLOCK_SIZE, sizeof(icount));
	icount.bias = htobe64(ns - be64toh(icount.count));
	memcpy(clock + CLOCK_SIZE, &icount, sizeof(icount));
	return true;
}

/* A process that stops the machine runs with interrupts enabled, so that none is left. */
static bool has_interrupt(const char *text, off_t size)
{
	const char *found = memmem(text, size, CPU, CPU_SIZE);
	struct cpu cpu;

	if (!found || found + CPU_SIZE + sizeof(cpu) > text + size)
		return true;
	memcpy(&cpu, found + CPU_SIZE, sizeof(cpu));
	return cpu.interrupts;
}

/*
 * Sets the clock to the time that the guest read last. Until the emulator's main thread knows
 * that the machine has stopped, it may take the CPU for one that is idle, and move the clock
 * to the next timer. Guests that resume from there would be different. Returns false if
 * that timer's interrupt has come, or the format of the state is not known.
 */
static bool mend_state(int state, uint64_t ns)
{
	off_t size = lseek(state, 0, SEEK_END);
	char *text = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, state, 0);
	bool mended;

	/* A guest that stopped without a time died of something else. */
	if (text == MAP_FAILED || !ns)
		return false;
	mended = set_clock(text, size, ns) && !has_interrupt(text, size);
	munmap(text, size);
	return mended;
}

/* Returns the time that the guest read when it stopped, or 0. */
static uint64_t last_time(const struct qemu_machine *m)
{
	uint64_t ns = 0;
	off_t end = (off_t)(qemu_archive_mib(m) << 20) - (off_t)sizeof(ns);

	return pread(m->archive, &ns, sizeof(ns), end) == sizeof(ns) ? ns : 0;
}

/* The memory is a file already. Returns what failed, or NULL. */
static const char *save_state(struct monitor *monitor, int state)
{
	char *command = migration("migrate", state);
	bool saved;

	if (!tell(monitor, "{\"execute\":\"qmp_capabilities\"}") ||
	    !wait_for(monitor, "{\"execute\":\"query-status\"}", "guest-panicked", "shutdown")) {
		free(command);
		return now_s() < monitor->end ? "the emulator ended too early" : "the boot took more than 300 s";
	}
	saved = tell(monitor, IGNORE_SHARED) && tell(monitor, command) &&
		wait_for(monitor, "{\"execute\":\"query-migrate\"}", "completed", "failed");
	free(command);
	return saved ? NULL : "the emulator cannot write the state";
}

void booted_pass(const int files[QEMU_BOOTED_FILES])
{
	for (int i = 0; i < QEMU_BOOTED_FILES; i++)
		fcntl(files[i], F_SETFD, 0);
}

static void __attribute__((noreturn)) exec_emulator(struct qemu_machine *m, int log, pid_t parent)
{
	char *env[] = { "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/", NULL };
	char **argv = qemu_machine_command(m);
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(STATUS_FAILED);
	dup2(open("/dev/null", O_RDONLY), 0);
	dup2(log, 1);
	dup2(log, 2);
	fcntl(m->initramfs, F_SETFD, 0);
	fcntl(m->archive, F_SETFD, 0);
	fcntl(m->monitor, F_SETFD, 0);
	booted_pass(m->booted);
	setsid();
	execve(argv[0], argv, env);
	dprintf(2, "%s: %s\n", argv[0], strerror(errno));
	_exit(STATUS_FAILED);
}

/* Boots the machine until it stops itself, and saves its state in its files. */
static const char *boot(struct qemu_machine *m, int log)
{
	struct monitor monitor = { .end = now_s() + PATIENCE_S };
	pid_t self = getpid(), pid;
	const char *error;
	int pair[2];

	guest_check(!socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), "socketpair");
	m->monitor = pair[1];
	pid = fork();
	guest_check(pid >= 0, "cannot start a process");
	if (!pid)
		exec_emulator(m, log, self);
	close(pair[1]);
	monitor.fd = pair[0];
	error = save_state(&monitor, m->booted[QEMU_STATE]);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	close(pair[0]);
	return error;
}

static void empty(const struct qemu_machine *m)
{
	guest_check(!ftruncate(m->booted[QEMU_STATE], 0) && !ftruncate(m->booted[QEMU_MEMORY], 0) &&
		    !ftruncate(m->booted[QEMU_MEMORY], m->memory_mib << 20) &&
		    !ftruncate(m->archive, 0) && !ftruncate(m->archive, qemu_archive_mib(m) << 20),
		    "cannot make a guest's memory");
}

const char *booted_save(const struct qemu_machine *like, const int files[QEMU_BOOTED_FILES], int log)
{
	struct qemu_machine m = booted_machine(like);
	const char *error = NULL;
	bool mended = false;

	memcpy(m.booted, files, sizeof(m.booted));
	m.initramfs = guest_new_file("initramfs");
	exact_input_pack_init(m.initramfs);
	m.archive = guest_new_file("archive");
	for (int i = 0; i < TRIES && !error && !mended; i++) {
		empty(&m);
		error = boot(&m, log);
		mended = !error && mend_state(files[QEMU_STATE], last_time(&m));
	}
	close(m.initramfs);
	close(m.archive);
	return error || mended ? error : "the emulator's state has an unknown format, or a timer spoilt each of 20 boots";
}

void booted_use(struct qemu_machine *m, int commands)
{
	off_t size = qemu_archive_mib(m) << 20;
	uint64_t used = lseek(m->initramfs, 0, SEEK_END);
	char *text, *command;

	/* The guest finds the size in the last word. */
	errno = EFBIG;
	guest_check(used <= size - sizeof(used) && !ftruncate(m->initramfs, size) &&
		    pwrite(m->initramfs, &used, sizeof(used), size - sizeof(used)) == sizeof(used),
		    "cannot write the archive of the guest's files");
	command = migration("migrate-incoming", m->booted[QEMU_STATE]);
	text = xprintf("{\"execute\":\"qmp_capabilities\"}\n" IGNORE_SHARED "\n%s\n", command);
	guest_check(!write_full(commands, text, strlen(text)), "cannot write the emulator's commands");
	free(text);
	free(command);
	m->start = QEMU_LOAD;
}
