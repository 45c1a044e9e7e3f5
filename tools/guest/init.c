// SPDX-License-Identifier: GPL-2.0
/*
 * The first process of a guest. It gets the request from tense, makes the guest
 * look like the host, runs the command in an experiment, carries signals and
 * terminal input and output, and reports the outcome. When tense is gone, so
 * is the guest.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <net/if.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "channels.h"
#include "ending.h"
#include "files.h"
#include "mounts.h"
#include "packed.h"
#include "setup.h"
#include "streams.h"
#include "run/launch.h"
#include "base/util.h"

/* The most that a kernel allows unless told otherwise. */
#define OPEN_FILES_MAX	(1024 * 1024)

static int control = -1;

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

/* From where the request comes. */
static int open_request(void)
{
	int fd = control;

	if (channel_is_one_way())
		fd = open(PACKED_REQUEST, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		fail("cannot open " PACKED_REQUEST);
	return fd;
}

static void read_request(struct setup *s)
{
	int from = open_request();
	struct message m;
	char *buf, *p, *end, **strings;

	if (read_full(from, &m, sizeof(m)))
		fail("no request from tense");
	if (m.type != MESSAGE_REQUEST || m.size < sizeof(s->r)) {
		errno = EPROTO;
		fail("not a request");
	}
	/* Never freed: it holds the command's arguments. */
	buf = xmalloc(m.size);
	if (read_full(from, buf, m.size))
		fail("no request from tense");
	if (from != control)
		close(from);
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
	strings = take_strings(&p, end, 7);
	s->module = strings[0];
	s->module_options = strings[1];
	s->directory = strings[2];
	s->host_name = strings[3];
	s->experiment = strings[4];
	s->prepare = strings[5];
	s->input = strings[6];
	s->writable = take_strings(&p, end, s->r.writable);
	s->argv = take_strings(&p, end, s->r.argc);
	s->env = take_strings(&p, end, s->r.envc);
}

/* The time of day, where the guest has no clock that tells it. */
static void set_clock(uint64_t ns)
{
	struct timespec now = {
		.tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000,
	};

	if (ns && clock_settime(CLOCK_REALTIME, &now))
		fail("cannot set the clock");
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

static void load_module(const char *path, const char *options)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		fail("cannot open %s", path);
	if (syscall(SYS_finit_module, fd, options, 0))
		fail("cannot load %s", path);
	close(fd);
	/* Everyone here is the user who started the guest. */
	if (chmod("/dev/tense", 0666))
		fail("/dev/tense");
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

static void tell_started(void *arg)
{
	struct setup *s = arg;

	streams_handed_over(s);
	send_message(s->report, MESSAGE_STARTED, NULL, 0, NULL, 0);
}

static void tell_stopped(void *arg, int sig)
{
	struct setup *s = arg;
	int32_t value = sig;

	send_message(s->report, MESSAGE_STOPPED, &value, sizeof(value),
		     NULL, 0);
}

static int take_part(void *arg, const struct trace_part *part, const void *data)
{
	const struct setup *s = arg;

	return send_message(s->report, MESSAGE_TRACE, part, sizeof(*part), data,
			    part->size);
}

/*
 * So that the command, or its preparation, begins at the same time between two ticks, even
 * where the boot took a little longer because there are other files.
 */
static void wait_for_second(void)
{
	struct timespec until;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec++;
	until.tv_nsec = 0;
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) ==
	       EINTR)
		;
}

static void __attribute__((noreturn)) run_launcher(struct setup *s, int tty)
{
	struct trace_record record = {
		.buffer_kib = s->r.trace_kib, .take = take_part, .arg = s,
	};
	struct samples_record samples = {
		.ask = s->r.samples, .take = take_part, .arg = s,
	};
	struct launch l = {
		.argv = s->argv,
		.env = s->env,
		.percent = s->r.percent,
		.experiment = s->experiment,
		.prepare = s->prepare,
		.input = s->input,
		.choice = { s->r.clocks, s->r.order, s->r.idle },
		.stats = s->r.stats,
		.record = s->r.trace_kib ? &record : NULL,
		.samples = s->r.samples.period_ns ? &samples : NULL,
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

	if (channel_is_one_way()) {
		wait_for_second();
		set_clock(s->r.clock_ns);
	}
	launch(&l, &out, &stats);
	send_message(s->report, MESSAGE_OUTCOME, &out, sizeof(out), stats,
		     out.stats_size);
	_exit(0);
}

/* Returns false when tense is gone. */
static bool handle_control(pid_t launcher, int master)
{
	union {
		struct signal_message signal;
		struct winsize size;
		struct end_message end;
	} u;
	struct message m;

	if (read_full(control, &m, sizeof(m)) || m.size > sizeof(u) ||
	    read_full(control, &u, m.size))
		return false;

	switch (m.type) {
	case MESSAGE_SIGNAL:
		if (launcher > 0 && u.signal.sig)
			sigqueue(launcher, u.signal.sig,
			 (union sigval){ .sival_int = u.signal.group });
		return !send_message(control, MESSAGE_TAKEN, NULL, 0, NULL, 0);
	case MESSAGE_WINSIZE:
		if (master >= 0)
			ioctl(master, TIOCSWINSZ, &u.size);
		break;
	case MESSAGE_END:
		streams_end(&u.end);
		break;
	}
	return true;
}

/* The report's bytes so far; it ends with the outcome. */
struct report {
	char *buf;
	size_t len;
};

/*
 * False at the end of the report. Forwards a message at once unless it is the
 * outcome.
 */
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

/* Everything that was written before the command ended. */
static void drain(int master)
{
	struct pollfd polls[1 + STREAM_POLLS];

	while (!streams_drained()) {
		polls[0] = (struct pollfd){ .fd = control, .events = POLLIN };
		streams_events(polls + 1);
		if (poll(polls, 1 + STREAM_POLLS, -1) < 0 && errno != EINTR)
			return;
		if (polls[0].revents && !handle_control(-1, master))
			power_off();
		streams_run(polls + 1);
	}
}

/* Acknowledges signals meanwhile, because writing much to the host takes long. */
static void sync_files(int signals, int master)
{
	pid_t pid = channel_is_one_way() ? -1 : fork();

	if (pid == 0) {
		sync();
		_exit(0);
	}
	if (pid < 0)
		sync();
	while (pid > 0 && waitpid(pid, NULL, WNOHANG) == 0) {
		struct pollfd polls[2] = {
			{ .fd = control, .events = POLLIN },
			{ .fd = signals, .events = POLLIN },
		};
		struct signalfd_siginfo info;

		if (poll(polls, 2, -1) < 0 && errno != EINTR)
			return;
		if (polls[0].revents && !handle_control(-1, master))
			power_off();
		if (polls[1].revents && read(signals, &info, sizeof(info)) < 0)
			return;
	}
}

static void serve(pid_t launcher, int report_fd, int master, int files)
{
	struct report report = { 0 };
	struct pollfd polls[3 + STREAM_POLLS];
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
		streams_events(polls + 3);
		if (poll(polls, 3 + STREAM_POLLS, -1) < 0 && errno != EINTR)
			fail("poll");

		if (polls[0].revents && !handle_control(launcher, master))
			power_off();
		streams_run(polls + 3);
		if (polls[2].revents)
			reap(signals);
		if (polls[1].revents && !read_report(report_fd, &report))
			break;
	}

	/* The end of the command is the end of the guest. */
	kill(-1, SIGKILL);
	while (waitpid(-1, NULL, 0) > 0 || errno == EINTR)
		;
	drain(master);
	streams_finish();
	if (files >= 0)
		files_send(files);
	sync_files(signals, master);
	if (!report.len) {
		errno = ECHILD;
		fail("the launcher died");
	}
	write_full(control, report.buf, report.len);
}

/* Removes init's own files: they take memory, and the command needs none. */
static void remove_packed(void)
{
	DIR *dir = opendir(PACKED_DIRECTORY);
	struct dirent *entry;

	while (dir && (entry = readdir(dir)))
		unlinkat(dirfd(dir), entry->d_name, 0);
	if (dir)
		closedir(dir);
	if (rmdir(PACKED_DIRECTORY))
		fail("cannot remove " PACKED_DIRECTORY);
}

int main(void)
{
	static struct setup s;
	int master = -1, slave = -1, report[2];
	bool awaited;
	sigset_t set;
	pid_t pid;

	if (getpid() != 1)
		die(STATUS_FAILED, "guest-init is started by `tense run`");

	umask(0);
	awaited = packed_await();
	if (mount("dev", "/dev", "devtmpfs", MS_NOSUID, NULL) &&
	    errno != EBUSY)
		fail("cannot mount /dev");
	if (awaited)
		packed_reseed();
	control = channel_open_control();
	ending_begin(control, channel_is_port() && !channel_is_one_way());
	read_request(&s);
	if (!channel_is_one_way())
		set_clock(s.r.clock_ns);
	mount_all(s.writable);
	if (s.r.files >= 0)
		files_begin(s.writable);
	set_network(s.host_name);
	if (s.r.device)
		load_module(s.module, s.module_options);

	if (s.r.tty_out >= 0)
		master = open_pty(&s, &slave);
	streams_open(&s, control, master, slave);
	if (channel_is_one_way())
		remove_packed();

	/* Signals for the command must not end the launcher. */
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
		streams_leave();
		s.report = report[1];
		run_launcher(&s, slave);
	}

	close(report[1]);
	streams_handed_over(&s);
	if (slave >= 0)
		close(slave);
	serve(pid, report[0], master, s.r.files);
	power_off();
}
