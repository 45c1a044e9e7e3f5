// SPDX-License-Identifier: GPL-2.0
/*
 * Runs the command on the patched kernel as User-Mode Linux: a process of the
 * user's. Its files are the host's through hostfs; standard streams, signals
 * and the outcome pass through hostfd devices, see kernel/um/hostfd_kern.c.
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backend.h"
#include "kernel.h"
#include "paths.h"
#include "proto.h"
#include "terminal.h"
#include "util.h"

extern char **environ;

/* Control, three streams, terminal in and out. */
#define FDS_MAX	6

/* Of the host's CPUs, in ticks of its clock. */
struct cpu_time {
	unsigned long long kernel;	/* the guest's, switches included */
	unsigned long long user;	/* the guest's programs */
};

struct guest {
	pid_t pid;
	struct cpu_time start;	/* when the command started */
	int control;
	int log;		/* what the kernel printed */
	int signals;
	struct terminal terminal;
	int fds[FDS_MAX];	/* what becomes /dev/hostfdN */
	int nr_fds;
	struct stream streams[3];
	int tty_in;
	int tty_out;
};

static void check(bool good, const char *what)
{
	if (!good)
		die(STATUS_FAILED, "%s: %s", what, strerror(errno));
}

static int add_fd(struct guest *g, int fd)
{
	g->fds[g->nr_fds] = fd;
	return g->nr_fds++;
}

/*
 * A descriptor that the kernel may use without getting in the way of others
 * that share it. Where a new file description can be had, it is one, without
 * blocking; a regular file's carries the position that is to be shared.
 */
static int own_description(int fd, int mode)
{
	char path[32];
	struct stat st;
	int new = -1;

	check(!fstat(fd, &st), "fstat");
	if (!S_ISREG(st.st_mode) && !S_ISSOCK(st.st_mode)) {
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		new = open(path, mode | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	}
	if (new < 0)
		new = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	check(new >= 0, "cannot duplicate a descriptor");
	return new;
}

static void set_up_streams(struct guest *g, const bool *closed)
{
	int tty = -1;

	for (int i = 0; i < 3; i++) {
		struct stream *s = &g->streams[i];

		s->hostfd = STREAM_CLOSED;
		if (closed[i])
			continue;
		s->mode = fcntl(i, F_GETFL) & O_ACCMODE;
		if (isatty(i)) {
			s->hostfd = STREAM_TTY;
			/* Output first, input if there is no other. */
			if (tty <= 0)
				tty = i;
			continue;
		}
		s->hostfd = add_fd(g, own_description(i, s->mode));
	}
	g->tty_in = STREAM_CLOSED;
	g->tty_out = STREAM_CLOSED;
	if (tty < 0)
		return;
	g->tty_out = add_fd(g, own_description(tty, O_WRONLY));
	g->tty_in = add_fd(g, terminal_open(&g->terminal, tty,
				g->streams[0].hostfd == STREAM_TTY));
}

/* A page's struct costs time and memory, so the host's size is not it. */
static unsigned long long memory_mib(void)
{
	const char *text = getenv("TENSE_MEMORY");
	struct sysinfo info;
	unsigned long long mib;
	char *end;

	if (text) {
		mib = strtoull(text, &end, 10);
		if (*end == 'G')
			mib *= 1024;
		if (*end == 'G' || *end == 'M')
			end++;
		if (end == text || *end || mib < 64 || mib > 1024 * 1024)
			die(STATUS_FAILED,
			    "TENSE_MEMORY is %s: should be 64M to 1024G",
			    text);
		return mib;
	}
	check(!sysinfo(&info), "sysinfo");
	mib = info.totalram * (unsigned long long)info.mem_unit / 2 >> 20;
	return mib > 8192 ? 8192 : mib < 256 ? 256 : mib;
}

/*
 * A guest is two processes that hand over to each other at each system call.
 * Across CPUs that takes twice as long, and never equally long, so that what
 * Tense gives back for its own calls would be wrong. Guests that run at the
 * same time mostly come to lie on different CPUs.
 */
static void stay_on_one_cpu(void)
{
	cpu_set_t set;
	int cpu, nth;

	/* Not vital: one that has too many CPUs for the set stays anywhere. */
	if (sched_getaffinity(0, sizeof(set), &set))
		return;
	nth = getpid() % CPU_COUNT(&set);
	for (cpu = 0; !CPU_ISSET(cpu, &set) || nth--; cpu++)
		;
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

/* Does not return. The parent is to be ours until the end. */
static void exec_kernel(struct guest *g, const char *kernel, const char *init,
			unsigned long long mib, pid_t parent)
{
	char fds[16 * FDS_MAX] = "hostfd.fds=";
	struct rlimit files;
	sigset_t none;
	int null;
	char *argv[] = {
		(char *)kernel,
		xprintf("mem=%lluM", mib),
		"root=/dev/root", "rootfstype=hostfs", "rootflags=/", "ro",
		xprintf("init=\"%s\"", init),
		/* Tables for a server of files, by default. */
		"dhash_entries=65536", "ihash_entries=65536",
		fds, "uml_dir=", "con=none", "con0=fd:0,fd:1", "quiet",
		NULL
	};
	char *env[] = { "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/", NULL };

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(STATUS_FAILED);
	stay_on_one_cpu();

	for (int i = 0; i < g->nr_fds; i++) {
		size_t len = strlen(fds);

		fcntl(g->fds[i], F_SETFD, 0);
		snprintf(fds + len, sizeof(fds) - len, "%s%d", i ? "," : "",
			 g->fds[i]);
	}
	null = open("/dev/null", O_RDONLY);
	dup2(null, 0);
	dup2(g->log, 1);
	dup2(g->log, 2);

	/* Every file that is open inside is open here too. */
	if (!getrlimit(RLIMIT_NOFILE, &files)) {
		files.rlim_cur = files.rlim_max;
		setrlimit(RLIMIT_NOFILE, &files);
	}
	for (int sig = 1; sig < SIGRTMIN; sig++)
		signal(sig, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	execve(kernel, argv, env);
	dprintf(2, "%s: %s\n", kernel, strerror(errno));
	_exit(STATUS_FAILED);
}

static void boot(struct guest *g, const struct run *run, const char *kernel,
		 const char *init)
{
	unsigned long long mib = memory_mib();
	pid_t self = getpid();
	int pair[2], null;

	check(!socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair),
	      "socketpair");
	g->control = pair[0];
	g->nr_fds = 0;
	add_fd(g, pair[1]);
	set_up_streams(g, run->closed);
	g->log = memfd_create("kernel-log", MFD_CLOEXEC);
	check(g->log >= 0, "memfd_create");

	g->pid = fork();
	check(g->pid >= 0, "cannot start a process");
	if (g->pid == 0)
		exec_kernel(g, kernel, init, mib, self);
	for (int i = 0; i < g->nr_fds; i++)
		close(g->fds[i]);
	/*
	 * The command's streams end when the command ends them. Standard error
	 * stays, for messages.
	 */
	null = open("/dev/null", O_RDWR | O_CLOEXEC);
	check(null >= 0, "/dev/null");
	for (int i = 0; i < 2; i++)
		if (g->streams[i].hostfd >= 0)
			dup2(null, i);
	close(null);
}

/* A payload that grows. */
struct payload {
	char *buf;
	size_t len;
};

static void add(struct payload *p, const void *data, size_t len)
{
	p->buf = xrealloc(p->buf, p->len + len);
	memcpy(p->buf + p->len, data, len);
	p->len += len;
}

static uint32_t add_strings(struct payload *p, char *const *list)
{
	uint32_t n = 0;

	for (; list[n]; n++)
		add(p, list[n], strlen(list[n]) + 1);
	return n;
}

static int send_message(struct guest *g, uint32_t type, const void *payload,
			size_t size)
{
	struct message m = { .type = type, .size = size };

	return write_full(g->control, &m, sizeof(m)) ||
	       write_full(g->control, payload, size) ? -1 : 0;
}

static int send_request(struct guest *g, const struct run *run,
			const char *module)
{
	struct request r = {
		.version = PROTO_VERSION,
		.percent = run->real ? 0 : run->percent,
		.device = run->device || !run->real,
		.stats = run->stats,
		.uid = getuid(),
		.gid = getgid(),
		.ignored = run->ignored,
		.tty_in = g->tty_in,
		.tty_out = g->tty_out,
	};
	char **env = run->real ? environ : preload_environment();
	struct payload p = { 0 };
	struct utsname name;
	gid_t *groups;
	int n, result;

	r.umask = umask(0);
	umask(r.umask);
	for (int sig = 1; sig < SIGRTMIN; sig++)
		if (sigismember(&run->mask, sig) == 1)
			r.blocked |= 1ULL << (sig - 1);
	memcpy(r.streams, g->streams, sizeof(r.streams));
	terminal_get(&g->terminal, &r.termios, &r.winsize);
	for (int i = 0; i < RLIM_NLIMITS; i++)
		check(!getrlimit(i, &r.limits[i]), "getrlimit");
	n = getgroups(0, NULL);
	check(n >= 0, "getgroups");
	groups = xmalloc((n + 1) * sizeof(gid_t));
	r.groups = getgroups(n, groups);
	check((int)r.groups == n, "getgroups");
	uname(&name);

	add(&p, &r, sizeof(r));
	add(&p, groups, r.groups * sizeof(gid_t));
	add_strings(&p, (char *[]){ (char *)module, (char *)run->directory,
				    name.nodename, NULL });
	r.writable = add_strings(&p, run->writable);
	r.argc = add_strings(&p, run->argv);
	r.envc = add_strings(&p, env);
	memcpy(p.buf, &r, sizeof(r));

	result = send_message(g, MESSAGE_REQUEST, p.buf, p.len);
	free(groups);
	free(p.buf);
	return result;
}

static void send_signal(struct guest *g, int sig, bool group)
{
	struct signal_message m = { .sig = sig, .group = group };

	send_message(g, MESSAGE_SIGNAL, &m, sizeof(m));
}

static void handle_signal(struct guest *g)
{
	struct signalfd_siginfo info;
	struct winsize size;

	if (read(g->signals, &info, sizeof(info)) != sizeof(info))
		return;
	switch (info.ssi_signo) {
	case SIGCHLD:
		return;
	case SIGWINCH:
		if (terminal_size(&g->terminal, &size))
			send_message(g, MESSAGE_WINSIZE, &size, sizeof(size));
		return;
	case SIGCONT:
		terminal_resume(&g->terminal);
		send_signal(g, SIGCONT, true);
		return;
	default:
		/* The kernel's come from a terminal, to a whole group. */
		send_signal(g, info.ssi_signo, info.ssi_code == SI_KERNEL);
	}
}

/*
 * The guest's own accounting cannot see what the switches between its kernel
 * and its programs cost; the host's does. A program's time is known once it
 * has ended.
 */
static struct cpu_time cpu_time(const struct guest *g)
{
	char *path = xprintf("/proc/%d/stat", (int)g->pid);
	unsigned long long user, system, children_user, children_system;
	struct cpu_time t = { 0 };
	FILE *f = fopen(path, "re");

	if (f && fscanf(f, "%*d (linux) %*c %*d %*d %*d %*d %*d %*u %*u %*u"
			" %*u %*u %llu %llu %llu %llu", &user, &system,
			&children_user, &children_system) == 4) {
		t.kernel = user + system + children_system;
		t.user = children_user;
	}
	if (f)
		fclose(f);
	free(path);
	return t;
}

static void account(const struct guest *g, struct outcome *out)
{
	struct cpu_time now = cpu_time(g);
	uint64_t tick = 1000000000 / sysconf(_SC_CLK_TCK);

	out->user_ns = (now.user - g->start.user) * tick;
	out->system_ns = (now.kernel - g->start.kernel) * tick;
}

/* As the command did, so that the shell sees it. SIGCONT ends it. */
static void stop_too(struct guest *g)
{
	terminal_restore(&g->terminal);
	raise(SIGSTOP);
}

/* What the kernel said before it died. */
static void show_log(struct guest *g)
{
	char text[2000];
	off_t size = lseek(g->log, 0, SEEK_END);
	off_t from = size < (off_t)sizeof(text) ? 0 : size - sizeof(text) + 1;
	ssize_t n = pread(g->log, text, sizeof(text) - 1, from);
	char *start = text, *line;

	if (n <= 0)
		return;
	text[n] = '\0';
	if (from && strchr(text, '\n'))
		start = strchr(text, '\n') + 1;
	for (line = strtok(start, "\r\n"); line; line = strtok(NULL, "\r\n")) {
		/* The level, "<6>". */
		if (line[0] == '<' && strlen(line) > 3 && line[2] == '>')
			line += 3;
		warn("kernel: %s", line);
	}
}

static void kernel_died(struct guest *g, struct outcome *out)
{
	int status;

	terminal_restore(&g->terminal);
	if (waitpid(g->pid, &status, 0) < 0)
		status = 0;
	g->pid = 0;
	show_log(g);
	out->kind = OUTCOME_FAILED;
	if (WIFSIGNALED(status))
		snprintf(out->text, sizeof(out->text),
			 "the kernel was killed: %s",
			 strsignal(WTERMSIG(status)));
	else
		snprintf(out->text, sizeof(out->text),
			 "the kernel ended without a result");
}

/* True when the outcome is there. */
static bool handle_control(struct guest *g, struct outcome *out, void **stats)
{
	struct message m;
	char *payload;

	if (read_full(g->control, &m, sizeof(m)))
		goto died;
	payload = xmalloc(m.size);
	if (read_full(g->control, payload, m.size)) {
		free(payload);
		goto died;
	}
	if (m.type == MESSAGE_STARTED)
		g->start = cpu_time(g);
	if (m.type == MESSAGE_STOPPED)
		stop_too(g);
	if (m.type != MESSAGE_OUTCOME || m.size < sizeof(*out)) {
		free(payload);
		return false;
	}
	memcpy(out, payload, sizeof(*out));
	account(g, out);
	if (out->stats_size && m.size == sizeof(*out) + out->stats_size) {
		*stats = xmalloc(out->stats_size);
		memcpy(*stats, payload + sizeof(*out), out->stats_size);
	}
	free(payload);
	return true;
died:
	kernel_died(g, out);
	return true;
}

static void serve(struct guest *g, struct outcome *out, void **stats)
{
	struct pollfd polls[4];

	for (;;) {
		polls[0] = (struct pollfd){ .fd = g->signals, .events = POLLIN };
		polls[1] = (struct pollfd){ .fd = g->control, .events = POLLIN };
		terminal_events(&g->terminal, polls + 2);
		if (poll(polls, 4, -1) < 0 && errno != EINTR)
			die(STATUS_FAILED, "poll: %s", strerror(errno));
		if (polls[0].revents)
			handle_signal(g);
		terminal_run(&g->terminal, polls + 2);
		if (polls[1].revents && handle_control(g, out, stats))
			return;
	}
}

static void catch_signals(struct guest *g)
{
	sigset_t set;

	launch_signals(&set);
	sigaddset(&set, SIGCHLD);
	sigaddset(&set, SIGWINCH);
	signal(SIGCHLD, SIG_DFL);
	signal(SIGPIPE, SIG_IGN);
	sigprocmask(SIG_BLOCK, &set, NULL);
	g->signals = signalfd(-1, &set, SFD_CLOEXEC);
	check(g->signals >= 0, "signalfd");
}

static void uml_run(const struct run *run, struct outcome *out, void **stats)
{
	struct guest g = { 0 };
	char *directory = kernel_build("um");
	char *kernel = xprintf("%s/linux", directory);
	char *module = xprintf("%s/tense.ko", directory);
	char *init = find_part(PATH_GUEST_INIT);

	if (access(init, X_OK))
		die(STATUS_FAILED, "%s: %s: run `make user`, or install again",
		    init, strerror(errno));
	if (strchr(init, '"'))
		die(STATUS_FAILED, "%s: a path with a quote cannot be passed",
		    init);
	memset(out, 0, sizeof(*out));
	*stats = NULL;

	catch_signals(&g);
	boot(&g, run, kernel, init);
	terminal_start(&g.terminal);
	if (send_request(&g, run, module))
		kernel_died(&g, out);
	else
		serve(&g, out, stats);
	terminal_restore(&g.terminal);

	/* All is written and reported, so this is quicker than a shutdown. */
	if (g.pid) {
		kill(g.pid, SIGKILL);
		waitpid(g.pid, NULL, 0);
	}
	free(directory);
	free(kernel);
	free(module);
	free(init);
}

static bool uml_usable(void)
{
	return true;
}

const struct backend backend_uml = {
	.name = "uml",
	.usable = uml_usable,
	.run = uml_run,
};
