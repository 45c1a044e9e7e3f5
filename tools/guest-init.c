// SPDX-License-Identifier: GPL-2.0
/*
 * The first process of a guest: gets the request from tense, makes the guest
 * look like the host, runs the command in an experiment, carries signals and
 * terminal input and output, and reports the outcome. When tense is gone, so
 * is the guest.
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <net/if.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launch.h"
#include "proto.h"
#include "util.h"

/* Outside of the host's files, for the upper layers of overlays. */
#define SCRATCH	"/dev/.tense"

/* The most that a kernel allows unless told otherwise. */
#define OPEN_FILES_MAX	(1024 * 1024)

static int control = -1;

struct setup {
	struct request r;
	gid_t *groups;
	char *module;
	char *directory;
	char *host_name;
	char **writable;
	char **argv;
	char **env;
	int fds[3];		/* of the command, -1 closed */
	int report;		/* the launcher's end of a pipe to init */
};

/* Bytes on their way from one descriptor to another, both non-blocking. */
struct pump {
	int from;
	int to;
	size_t start;
	size_t end;
	char buf[8192];
};

static void power_off(void)
{
	sync();
	for (;;)
		reboot(RB_POWER_OFF);
}

static int send_message(int fd, uint32_t type, const void *payload,
			uint32_t size, const void *more, uint32_t more_size)
{
	struct message m = { .type = type, .size = size + more_size };

	return write_full(fd, &m, sizeof(m)) ||
	       (size && write_full(fd, payload, size)) ||
	       (more_size && write_full(fd, more, more_size)) ? -1 : 0;
}

/* Tells tense why there will be no command, and ends. */
static void __attribute__((noreturn, format(printf, 1, 2)))
fail(const char *format, ...)
{
	struct outcome out = { .kind = OUTCOME_FAILED };
	int error = errno;
	va_list args;
	size_t len;

	va_start(args, format);
	vsnprintf(out.text, sizeof(out.text), format, args);
	va_end(args);
	len = strlen(out.text);
	snprintf(out.text + len, sizeof(out.text) - len, ": %s",
		 strerror(error));
	if (control >= 0)
		send_message(control, MESSAGE_OUTCOME, &out, sizeof(out),
			     NULL, 0);
	else
		warn("%s", out.text);
	power_off();
	abort();
}

static void open_control(void)
{
	if (mount("dev", "/dev", "devtmpfs", MS_NOSUID, NULL) &&
	    errno != EBUSY)
		fail("cannot mount /dev");
	control = open(HOSTFD_CONTROL, O_RDWR | O_CLOEXEC);
	if (control < 0)
		fail("cannot open " HOSTFD_CONTROL);
	/* The command has no business with it. */
	unlink(HOSTFD_CONTROL);
}

/* Takes n strings from *p, as a list that ends with NULL. */
static char **take_strings(char **p, char *end, uint32_t n)
{
	char **list = xmalloc((n + 1) * sizeof(*list));

	for (uint32_t i = 0; i < n; i++) {
		size_t room = end - *p;
		size_t len = strnlen(*p, room);

		if (len == room) {
			errno = EPROTO;
			fail("the request is cut short");
		}
		list[i] = *p;
		*p += len + 1;
	}
	return list;
}

static void limit_open_files(struct rlimit *limit)
{
	if (limit->rlim_max > OPEN_FILES_MAX)
		limit->rlim_max = OPEN_FILES_MAX;
	if (limit->rlim_cur > limit->rlim_max)
		limit->rlim_cur = limit->rlim_max;
}

static void read_request(struct setup *s)
{
	struct message m;
	char *buf, *p, *end, **strings;

	if (read_full(control, &m, sizeof(m)))
		fail("no request from tense");
	if (m.type != MESSAGE_REQUEST || m.size < sizeof(s->r)) {
		errno = EPROTO;
		fail("not a request");
	}
	/* Never freed: it holds the command's arguments. */
	buf = xmalloc(m.size);
	if (read_full(control, buf, m.size))
		fail("no request from tense");
	memcpy(&s->r, buf, sizeof(s->r));
	limit_open_files(&s->r.limits[RLIMIT_NOFILE]);
	if (s->r.version != PROTO_VERSION) {
		errno = EPROTO;
		fail("guest-init is of another version than tense");
	}
	p = buf + sizeof(s->r);
	end = buf + m.size;
	if (s->r.groups > (size_t)(end - p) / sizeof(gid_t)) {
		errno = EPROTO;
		fail("the request is cut short");
	}
	s->groups = xmalloc((s->r.groups + 1) * sizeof(gid_t));
	memcpy(s->groups, p, s->r.groups * sizeof(gid_t));
	p += s->r.groups * sizeof(gid_t);
	strings = take_strings(&p, end, 3);
	s->module = strings[0];
	s->directory = strings[1];
	s->host_name = strings[2];
	s->writable = take_strings(&p, end, s->r.writable);
	s->argv = take_strings(&p, end, s->r.argc);
	s->env = take_strings(&p, end, s->r.envc);
}

static void mount_new(const char *type, const char *where, const char *options)
{
	if (mount(type, where, type, 0, options))
		fail("cannot mount %s on %s", type, where);
}

static void make_directories(const char *path)
{
	char *copy = xstrdup(path);

	for (char *p = copy + 1; *p; p++) {
		if (*p != '/')
			continue;
		*p = '\0';
		mkdir(copy, 0755);
		*p = '/';
	}
	mkdir(copy, 0755);
	free(copy);
}

/*
 * The host's /tmp with a layer to write to, as programs expect to. If that
 * cannot be had - an overlay is particular about what it stands on - it is an
 * empty one.
 */
static void mount_tmp(void)
{
	if (mkdir(SCRATCH, 0700))
		fail("cannot create " SCRATCH);
	mount_new("tmpfs", SCRATCH, "mode=0700");
	if (mkdir(SCRATCH "/upper", 01777) || chmod(SCRATCH "/upper", 01777) ||
	    mkdir(SCRATCH "/work", 0700))
		fail("cannot create directories in " SCRATCH);
	if (mount("overlay", "/tmp", "overlay", 0,
		  "lowerdir=/tmp,upperdir=" SCRATCH "/upper,workdir=" SCRATCH
		  "/work"))
		mount_new("tmpfs", "/tmp", "mode=1777");
	/* The layer stays as long as it is in use. */
	umount2(SCRATCH, MNT_DETACH);
	rmdir(SCRATCH);
}

static void mount_all(const struct setup *s)
{
	static const char *const links[][2] = {
		{ "/proc/self/fd", "/dev/fd" },
		{ "/proc/self/fd/0", "/dev/stdin" },
		{ "/proc/self/fd/1", "/dev/stdout" },
		{ "/proc/self/fd/2", "/dev/stderr" },
	};

	mount_new("proc", "/proc", NULL);
	mount_new("sysfs", "/sys", NULL);
	if (mkdir("/dev/pts", 0755) || mkdir("/dev/shm", 01777))
		fail("cannot create directories in /dev");
	mount_new("devpts", "/dev/pts", "mode=0620,ptmxmode=0666,gid=5");
	mount_new("tmpfs", "/dev/shm", "mode=1777");
	for (size_t i = 0; i < sizeof(links) / sizeof(links[0]); i++)
		if (symlink(links[i][0], links[i][1]) && errno != EEXIST)
			fail("cannot create %s", links[i][1]);
	mount_tmp();

	for (char **dir = s->writable; *dir; dir++) {
		/* In a fresh /dev/shm it may not be there. */
		if (access(*dir, F_OK))
			make_directories(*dir);
		if (mount("none", *dir, "hostfs", 0, *dir))
			fail("cannot make %s writable", *dir);
	}
}

static void set_network(const char *name)
{
	struct ifreq lo = { .ifr_name = "lo", .ifr_flags = IFF_UP };
	int fd;

	if (sethostname(name, strlen(name)))
		fail("cannot set the host name");
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || ioctl(fd, SIOCSIFFLAGS, &lo))
		fail("cannot bring up the loopback interface");
	close(fd);
}

static void load_module(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		fail("cannot open %s", path);
	if (syscall(SYS_finit_module, fd, "", 0))
		fail("cannot load %s", path);
	close(fd);
	/* Everyone here is the user who started the guest. */
	if (chmod("/dev/tense", 0666))
		fail("/dev/tense");
}

static int open_hostfd(int index, int mode)
{
	char path[32];
	int fd;

	if (index < 0)
		return -1;
	snprintf(path, sizeof(path), "/dev/hostfd%d", index);
	fd = open(path, mode | O_CLOEXEC | O_NOCTTY);
	if (fd < 0)
		fail("cannot open %s", path);
	return fd;
}

static int open_pty(const struct setup *s, int *slave)
{
	int master = open("/dev/ptmx", O_RDWR | O_CLOEXEC | O_NOCTTY |
			  O_NONBLOCK);
	int unlock = 0;

	if (master < 0 || ioctl(master, TIOCSPTLCK, &unlock))
		fail("cannot open a pseudo-terminal");
	*slave = ioctl(master, TIOCGPTPEER, O_RDWR | O_CLOEXEC | O_NOCTTY);
	if (*slave < 0)
		fail("cannot open a pseudo-terminal");
	if (tcsetattr(*slave, TCSANOW, &s->r.termios) ||
	    ioctl(*slave, TIOCSWINSZ, &s->r.winsize) ||
	    fchown(*slave, s->r.uid, -1))
		fail("cannot set up the pseudo-terminal");
	return master;
}

/* In the child, before the command. */
static int set_up_child(void *arg, const char **what)
{
	struct setup *s = arg;
	int above[3];

	/* Out of each other's way first. */
	*what = "cannot set up the standard streams";
	for (int i = 0; i < 3; i++) {
		above[i] = -1;
		if (s->fds[i] < 0)
			continue;
		above[i] = fcntl(s->fds[i], F_DUPFD_CLOEXEC, 10);
		if (above[i] < 0)
			return -1;
	}
	for (int i = 0; i < 3; i++) {
		close(i);
		if (above[i] >= 0 && dup2(above[i], i) < 0)
			return -1;
	}

	*what = "cannot set the resource limits";
	for (int i = 0; i < RLIM_NLIMITS; i++)
		if (setrlimit(i, &s->r.limits[i]))
			return -1;

	*what = "cannot become the user";
	if (setgroups(s->r.groups, s->groups) ||
	    setresgid(s->r.gid, s->r.gid, s->r.gid) ||
	    setresuid(s->r.uid, s->r.uid, s->r.uid))
		return -1;
	umask(s->r.umask);

	*what = s->directory;
	return chdir(s->directory);
}

/* The command's streams end when the command ends them. */
static void close_streams(struct setup *s)
{
	for (int i = 0; i < 3; i++)
		if (s->r.streams[i].hostfd >= 0)
			close(s->fds[i]);
}

static void tell_started(void *arg)
{
	struct setup *s = arg;

	close_streams(s);
	send_message(s->report, MESSAGE_STARTED, NULL, 0, NULL, 0);
}

static void tell_stopped(void *arg, int sig)
{
	struct setup *s = arg;
	int32_t value = sig;

	send_message(s->report, MESSAGE_STOPPED, &value, sizeof(value),
		     NULL, 0);
}

static void __attribute__((noreturn)) run_launcher(struct setup *s, int tty)
{
	struct launch l = {
		.argv = s->argv,
		.env = s->env,
		.percent = s->r.percent,
		.stats = s->r.stats,
		.group = true,
		.tty = tty,
		.ignored = s->r.ignored,
		.setup = set_up_child,
		.started = tell_started,
		.stopped = tell_stopped,
		.arg = s,
	};
	struct outcome out;
	char *path = NULL;
	void *stats;

	/*
	 * A session, whose leader this is, and not the command: otherwise the
	 * command's group would be an orphan that ^Z cannot stop.
	 */
	setsid();
	if (tty >= 0)
		ioctl(tty, TIOCSCTTY, 0);
	signal(SIGTTOU, SIG_IGN);
	signal(SIGHUP, SIG_IGN);

	/* execvpe() searches the PATH of this process. */
	for (char **e = s->env; *e; e++)
		if (!strncmp(*e, "PATH=", 5))
			path = *e + 5;
	if (path)
		setenv("PATH", path, 1);
	else
		unsetenv("PATH");

	memset(&l.mask, 0, sizeof(l.mask));
	for (int sig = 1; sig < 64; sig++)
		if (s->r.blocked >> (sig - 1) & 1)
			sigaddset(&l.mask, sig);

	launch(&l, &out, &stats);
	send_message(s->report, MESSAGE_OUTCOME, &out, sizeof(out), stats,
		     out.stats_size);
	_exit(0);
}

static int pump_events(const struct pump *p, struct pollfd *polls)
{
	/* A negative descriptor is left out of poll(). */
	polls[0].fd = p->start == p->end ? p->from : -1;
	polls[0].events = POLLIN;
	polls[1].fd = p->start < p->end ? p->to : -1;
	polls[1].events = POLLOUT;
	return 2;
}

/* Moves what can be moved now. False when there is no more to come. */
static bool pump_run(struct pump *p)
{
	ssize_t n;

	if (p->start == p->end) {
		n = read(p->from, p->buf, sizeof(p->buf));
		if (n < 0)
			return errno == EAGAIN || errno == EINTR;
		if (n == 0)
			return false;
		p->start = 0;
		p->end = n;
	}
	n = write(p->to, p->buf + p->start, p->end - p->start);
	if (n < 0)
		return errno == EAGAIN || errno == EINTR;
	p->start += n;
	return true;
}

static void pump_close(struct pump *p)
{
	if (p->from >= 0)
		close(p->from);
	p->from = -1;
	p->start = p->end = 0;
}

/* Everything that was written before the command ended. */
static void pump_drain(struct pump *p)
{
	struct pollfd polls[2];

	while (p->from >= 0) {
		pump_events(p, polls);
		if (poll(polls, 2, -1) < 0 && errno != EINTR)
			return;
		if (!pump_run(p))
			return;
	}
}

/* Returns false when tense is gone. */
static bool handle_control(pid_t launcher, int master)
{
	union {
		struct signal_message signal;
		struct winsize size;
	} u;
	struct message m;

	if (read_full(control, &m, sizeof(m)) || m.size > sizeof(u) ||
	    read_full(control, &u, m.size))
		return false;

	switch (m.type) {
	case MESSAGE_SIGNAL:
		sigqueue(launcher, u.signal.sig,
			 (union sigval){ .sival_int = u.signal.group });
		break;
	case MESSAGE_WINSIZE:
		if (master >= 0)
			ioctl(master, TIOCSWINSZ, &u.size);
		break;
	}
	return true;
}

/* The report's bytes so far; it ends with the outcome. */
struct report {
	char *buf;
	size_t len;
};

/* False at its end. What the launcher tells underway goes on at once. */
static bool read_report(int fd, struct report *r)
{
	struct message m;
	ssize_t n;

	r->buf = xrealloc(r->buf, r->len + 65536);
	n = read(fd, r->buf + r->len, 65536);
	if (n < 0)
		return errno == EINTR;
	if (n == 0)
		return false;
	r->len += n;

	while (r->len >= sizeof(m)) {
		size_t size;

		memcpy(&m, r->buf, sizeof(m));
		size = sizeof(m) + m.size;
		if (m.type == MESSAGE_OUTCOME || r->len < size)
			break;
		if (write_full(control, r->buf, size))
			power_off();
		r->len -= size;
		memmove(r->buf, r->buf + size, r->len);
	}
	return true;
}

static void reap(int signals)
{
	struct signalfd_siginfo info;

	while (read(signals, &info, sizeof(info)) > 0)
		;
	while (waitpid(-1, NULL, WNOHANG) > 0)
		;
}

static void serve(pid_t launcher, int report_fd, struct pump *in,
		  struct pump *out)
{
	struct report report = { 0 };
	struct pollfd polls[7];
	sigset_t chld;
	int signals;

	sigemptyset(&chld);
	sigaddset(&chld, SIGCHLD);
	signals = signalfd(-1, &chld, SFD_NONBLOCK | SFD_CLOEXEC);
	if (signals < 0)
		fail("signalfd");

	for (;;) {
		polls[0] = (struct pollfd){ .fd = control, .events = POLLIN };
		polls[1] = (struct pollfd){ .fd = report_fd, .events = POLLIN };
		polls[2] = (struct pollfd){ .fd = signals, .events = POLLIN };
		pump_events(in, polls + 3);
		pump_events(out, polls + 5);
		if (poll(polls, 7, -1) < 0 && errno != EINTR)
			fail("poll");

		if (polls[0].revents && !handle_control(launcher, out->from))
			power_off();
		if ((polls[3].revents || polls[4].revents) && !pump_run(in))
			pump_close(in);
		if ((polls[5].revents || polls[6].revents) && !pump_run(out))
			pump_close(out);
		if (polls[2].revents)
			reap(signals);
		if (polls[1].revents && !read_report(report_fd, &report))
			break;
	}

	/* The end of the command is the end of the guest. */
	kill(-1, SIGKILL);
	while (waitpid(-1, NULL, 0) > 0 || errno == EINTR)
		;
	pump_drain(out);
	sync();
	if (!report.len) {
		errno = ECHILD;
		fail("the launcher died");
	}
	write_full(control, report.buf, report.len);
}

int main(void)
{
	static struct pump in = { .from = -1, .to = -1 };
	static struct pump out = { .from = -1, .to = -1 };
	static struct setup s;
	int slave = -1, report[2];
	sigset_t set;
	pid_t pid;

	if (getpid() != 1)
		die(STATUS_FAILED, "guest-init is started by `tense run`");

	umask(0);
	open_control();
	read_request(&s);
	mount_all(&s);
	set_network(s.host_name);
	if (s.r.device)
		load_module(s.module);

	if (s.r.tty_out >= 0) {
		in.to = out.from = open_pty(&s, &slave);
		out.to = open_hostfd(s.r.tty_out, O_WRONLY | O_NONBLOCK);
		in.from = open_hostfd(s.r.tty_in, O_RDONLY | O_NONBLOCK);
	}
	for (int i = 0; i < 3; i++) {
		if (s.r.streams[i].hostfd == STREAM_TTY)
			s.fds[i] = slave;
		else
			s.fds[i] = open_hostfd(s.r.streams[i].hostfd,
					       s.r.streams[i].mode);
	}

	/* The launcher must not be caught by what is for the command. */
	launch_signals(&set);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_BLOCK, &set, NULL);
	if (pipe2(report, O_CLOEXEC))
		fail("pipe");
	pid = fork();
	if (pid < 0)
		fail("fork");
	if (pid == 0) {
		close(report[0]);
		s.report = report[1];
		run_launcher(&s, slave);
	}

	close(report[1]);
	close_streams(&s);
	if (slave >= 0)
		close(slave);
	serve(pid, report[0], &in, &out);
	power_off();
}
