// SPDX-License-Identifier: GPL-2.0
/*
 * The standard streams of a command under `tense run`, seen from both ends:
 * this program runs itself in the guest, with a mode as its argument, and
 * plays the other end outside.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tap.h"

#define MANY	1000000

static char big[MANY];

/* Inside: each returns 0, or the line where something was not as expected. */
#define EXPECT(cond) do { if (!(cond)) return __LINE__ % 100 + 100; } while (0)

/* Tells the other end that a point was reached. */
static int tell(char c)
{
	return write(1, &c, 1) == 1;
}

static int hear(char c)
{
	char got;

	return read(0, &got, 1) == 1 && got == c;
}

static int inside_poll(void)
{
	struct pollfd in = { .fd = 0, .events = POLLIN };
	struct pollfd out = { .fd = 1, .events = POLLOUT };
	char c;

	EXPECT(poll(&in, 1, 0) == 0);
	EXPECT(poll(&in, 1, 50) == 0);
	EXPECT(poll(&out, 1, 0) == 1 && out.revents == POLLOUT);
	EXPECT(tell('a'));
	EXPECT(poll(&in, 1, -1) == 1 && in.revents == POLLIN);
	EXPECT(poll(&in, 1, 0) == 1);
	EXPECT(hear('b'));
	EXPECT(poll(&in, 1, 0) == 0);
	EXPECT(tell('c'));
	EXPECT(poll(&in, 1, -1) == 1 && in.revents & POLLHUP);
	EXPECT(read(0, &c, 1) == 0);
	EXPECT(read(0, &c, 1) == 0);
	return 0;
}

/* Polls for no event, after a poll whose event has come. */
static int inside_hangup(void)
{
	struct pollfd in = { .fd = 0, .events = POLLIN };

	EXPECT(poll(&in, 1, 0) == 0);
	EXPECT(tell('a'));
	EXPECT(poll(&in, 1, -1) == 1 && in.revents == POLLIN);
	EXPECT(hear('b'));
	EXPECT(tell('c'));
	in.events = 0;
	/* Not by time-out: that makes the kernel check once more. */
	alarm(60);
	EXPECT(poll(&in, 1, -1) == 1 && in.revents == POLLHUP);
	return 0;
}

static int inside_epoll(void)
{
	struct epoll_event e = { .events = EPOLLIN };
	int fd = epoll_create1(0);

	EXPECT(epoll_ctl(fd, EPOLL_CTL_ADD, 0, &e) == 0);
	EXPECT(epoll_wait(fd, &e, 1, 0) == 0);
	EXPECT(tell('a'));
	EXPECT(epoll_wait(fd, &e, 1, -1) == 1 && e.events == EPOLLIN);
	EXPECT(hear('b'));
	EXPECT(epoll_wait(fd, &e, 1, 0) == 0);
	EXPECT(tell('c'));
	return 0;
}

static int inside_nonblock(void)
{
	ssize_t n, total = 0;
	char c;

	EXPECT(fcntl(0, F_SETFL, O_NONBLOCK) == 0);
	EXPECT(fcntl(1, F_SETFL, O_NONBLOCK) == 0);
	EXPECT(read(0, &c, 1) == -1 && errno == EAGAIN);
	/* Nobody reads, so it takes only what the pipe holds. */
	n = write(1, big, sizeof(big));
	EXPECT(n > 0 && n < MANY);
	total = n;
	while ((n = write(1, big, sizeof(big))) > 0)
		total += n;
	EXPECT(n == -1 && errno == EAGAIN);
	EXPECT(write(2, &total, sizeof(total)) == sizeof(total));
	return 0;
}

static int inside_big_write(void)
{
	EXPECT(write(1, big, sizeof(big)) == MANY);
	return 0;
}

static void on_signal(int sig)
{
	(void)sig;
}

static int inside_signal(void)
{
	struct sigaction action = { .sa_handler = on_signal };
	struct itimerval often = { { 0, 20000 }, { 0, 20000 } }, never = { 0 };
	char c;

	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	EXPECT(read(0, &c, 1) == -1 && errno == EINTR);
	while (write(1, big, 1000) > 0)
		;
	EXPECT(errno == EINTR);
	setitimer(ITIMER_REAL, &never, NULL);
	EXPECT(write(2, "x", 1) == 1);
	action.sa_flags = SA_RESTART;
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	EXPECT(hear('b'));
	return 0;
}

static int inside_epipe(void)
{
	signal(SIGPIPE, SIG_IGN);
	EXPECT(hear('a'));
	EXPECT(write(1, "x", 1) == -1 && errno == EPIPE);
	return 0;
}

static int inside_readers(void)
{
	int status;
	char c;

	for (int i = 0; i < 8; i++) {
		if (fork())
			continue;
		if (read(0, &c, 1) != 1)
			_exit(1);
		_exit(write(1, &c, 1) != 1);
	}
	EXPECT(write(2, "x", 1) == 1);
	for (int i = 0; i < 8; i++)
		EXPECT(wait(&status) > 0 && status == 0);
	return 0;
}

/* Each record is one write, shorter than PIPE_BUF. */
#define RECORD	512
#define RECORDS	200

static int inside_writers(void)
{
	char record[RECORD];
	int status;

	for (int i = 0; i < 4; i++) {
		if (fork())
			continue;
		memset(record, 'a' + i, sizeof(record));
		for (int j = 0; j < RECORDS; j++)
			if (write(1, record, RECORD) != RECORD)
				_exit(1);
		_exit(0);
	}
	for (int i = 0; i < 4; i++)
		EXPECT(wait(&status) > 0 && status == 0);
	return 0;
}

static int inside_echo(void)
{
	char buf[100];
	ssize_t n;

	while ((n = read(0, buf, sizeof(buf))) > 0)
		EXPECT(write(1, buf, n) == n);
	return n < 0;
}

/* Tells on standard error that it runs. */
static int inside_loop(void)
{
	EXPECT(write(2, "x", 1) == 1);
	return inside_echo();
}

static int inside_map(void)
{
	int fd = open("map.out", O_RDWR);
	char *map = mmap(NULL, MANY, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	EXPECT(map != MAP_FAILED);
	memset(map, 'm', MANY);
	return 0;
}

static const struct mode {
	const char *name;
	int (*run)(void);
} modes[] = {
	{ "poll", inside_poll },
	{ "hangup", inside_hangup },
	{ "epoll", inside_epoll },
	{ "nonblock", inside_nonblock },
	{ "big-write", inside_big_write },
	{ "signal", inside_signal },
	{ "epipe", inside_epipe },
	{ "readers", inside_readers },
	{ "writers", inside_writers },
	{ "echo", inside_echo },
	{ "loop", inside_loop },
	{ "map", inside_map },
};

static int inside(const char *name)
{
	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++)
		if (!strcmp(modes[i].name, name))
			return modes[i].run();
	return 99;
}

/* Outside. */
struct command {
	pid_t pid;
	int in;
	int out;
	int err;
};

static const char *self;

static void start_on(struct command *c, const char *mode, const int *in,
		     const int *out, const int *err)
{
	c->pid = fork();
	if (c->pid)
		return;
	dup2(in[0], 0);
	dup2(out[1], 1);
	if (err)
		dup2(err[1], 2);
	/* The other ends must not stay open here. */
	for (int fd = 3; fd < 64; fd++)
		close(fd);
	execl(TENSE, "tense", "run", "--backend", BACKEND, "--cpus", "1",
	      "--real", self, mode, NULL);
	_exit(98);
}

static void start(struct command *c, const char *mode)
{
	int in[2], out[2], err[2];

	if (pipe(in) || pipe(out) || pipe(err))
		exit(1);
	start_on(c, mode, in, out, err);
	close(in[0]);
	close(out[1]);
	close(err[1]);
	c->in = in[1];
	c->out = out[0];
	c->err = err[0];
}

/* The exit status; what is still open is closed. */
static int end(struct command *c)
{
	int status;

	if (c->in >= 0)
		close(c->in);
	if (c->out >= 0)
		close(c->out);
	if (c->err >= 0)
		close(c->err);
	waitpid(c->pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static size_t read_all(int fd, char *buf, size_t size)
{
	size_t len = 0;
	ssize_t n;

	while (len < size && (n = read(fd, buf + len, size - len)) > 0)
		len += n;
	return len;
}

static void pause_ms(int ms)
{
	poll(NULL, 0, ms);
}

static void test_poll(void)
{
	struct command c;
	char got;

	start(&c, "poll");
	ok(read(c.out, &got, 1) == 1 && got == 'a', "nothing there, poll says");
	pause_ms(100);
	ok(write(c.in, "b", 1) == 1, "written while poll waits");
	ok(read(c.out, &got, 1) == 1 && got == 'c', "and read");
	pause_ms(100);
	close(c.in);
	c.in = -1;
	is_i64(end(&c), 0, "poll: the hangup is seen");

	start(&c, "hangup");
	ok(read(c.out, &got, 1) == 1 && got == 'a', "poll finds nothing");
	pause_ms(500);
	ok(write(c.in, "b", 1) == 1, "written while poll waits");
	ok(read(c.out, &got, 1) == 1 && got == 'c', "the poll sees the byte");
	pause_ms(500);
	close(c.in);
	c.in = -1;
	is_i64(end(&c), 0, "a poll that asks for nothing sees the hangup");

	start(&c, "epoll");
	ok(read(c.out, &got, 1) == 1 && got == 'a', "epoll: nothing there");
	pause_ms(100);
	ok(write(c.in, "b", 1) == 1, "written while epoll waits");
	ok(read(c.out, &got, 1) == 1 && got == 'c', "and read");
	is_i64(end(&c), 0, "epoll: seen once");
}

static void test_nonblock(void)
{
	struct command c;
	ssize_t told, n, got = 0;

	start(&c, "nonblock");
	n = read(c.err, &told, sizeof(told));
	ok(n == sizeof(told), "without blocking, a write stops when the pipe is full");
	/* More than big holds, if tense reads while the command writes. */
	while ((n = read(c.out, big, sizeof(big))) > 0)
		got += n;
	is_i64(got, told, "and what was accepted arrives");
	is_i64(end(&c), 0, "O_NONBLOCK in the guest");

	start(&c, "big-write");
	pause_ms(1000);
	is_i64(read_all(c.out, big, sizeof(big)), MANY, "a large write arrives");
	is_i64(end(&c), 0, "in one call");
}

static void test_signals(void)
{
	struct command c;
	char got;

	start(&c, "signal");
	ok(read(c.err, &got, 1) == 1, "signals interrupt reads and writes");
	pause_ms(200);
	ok(write(c.in, "b", 1) == 1, "written after some more signals");
	is_i64(end(&c), 0, "or restart them");

	start(&c, "epipe");
	close(c.out);
	c.out = -1;
	ok(write(c.in, "a", 1) == 1, "the reader is gone");
	is_i64(end(&c), 0, "EPIPE");
}

static void test_several(void)
{
	static char all[4 * RECORDS * RECORD];
	struct command c;
	int seen[8] = { 0 }, good = 0;
	char got[9];
	size_t n;

	start(&c, "readers");
	ok(read(c.err, got, 1) == 1, "eight readers");
	pause_ms(200);
	ok(write(c.in, "01234567", 8) == 8, "eight bytes");
	n = read_all(c.out, got, 8);
	for (size_t i = 0; i < n; i++)
		if (got[i] >= '0' && got[i] < '8')
			good += !seen[got[i] - '0']++;
	is_i64(good, 8, "each byte is read by one");
	is_i64(end(&c), 0, "and each reader gets one");

	start(&c, "writers");
	n = read_all(c.out, all, sizeof(all));
	is_i64(n, sizeof(all), "four writers");
	good = 0;
	for (size_t i = 0; i + RECORD <= n; i += RECORD)
		good += !memcmp(all + i, all + i + 1, RECORD - 1);
	is_i64(good, 4 * RECORDS, "whose short writes do not mix");
	is_i64(end(&c), 0, "all written");
}

static void test_sockets(void)
{
	struct command c;
	int pair[2], pipe_fds[2], err[2], flags[2], other;
	char got[6] = "";

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair))
		exit(1);
	other = pair[1];
	flags[0] = fcntl(pair[0], F_GETFL);
	start_on(&c, "echo", pair, (int[]){ -1, pair[0] }, NULL);
	ok(write(other, "hello", 5) == 5, "a socket as input");
	is_i64(read_all(other, got, 5), 5, "and output");
	ok(!strcmp(got, "hello"), "passes bytes");
	is_i64(fcntl(pair[0], F_GETFL), flags[0],
	       "and keeps its flags, which others share");
	shutdown(other, SHUT_WR);
	c.in = c.out = c.err = -1;
	is_i64(end(&c), 0, "a socket's end");

	if (pipe(pipe_fds) || pipe(err))
		exit(1);
	flags[0] = fcntl(pipe_fds[0], F_GETFL);
	flags[1] = fcntl(pipe_fds[1], F_GETFL);
	start_on(&c, "loop", pipe_fds, (int[]){ -1, pipe_fds[1] }, err);
	close(err[1]);
	c.err = err[0];
	ok(read(c.err, got, 1) == 1, "a pipe that is its own input");
	ok(fcntl(pipe_fds[0], F_GETFL) == flags[0] &&
	   fcntl(pipe_fds[1], F_GETFL) == flags[1],
	   "keeps its flags, too");
	kill(c.pid, SIGTERM);
	is_i64(end(&c), 143, "until it is killed");
}

/* Not a stream, but what was written has to be there at the end as well. */
static void test_map(void)
{
	char dir[] = "/var/tmp/tense-XXXXXX";
	size_t good = 0, n;
	struct command c;
	int fd;

	if (!mkdtemp(dir) || chdir(dir))
		exit(1);
	fd = open("map.out", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0 || ftruncate(fd, MANY))
		exit(1);
	start(&c, "map");
	is_i64(end(&c), 0, "a file that is mapped");
	n = read_all(fd, big, sizeof(big));
	while (good < n && big[good] == 'm')
		good++;
	is_i64(good, MANY, "has what was written to memory");
	close(fd);
	unlink("map.out");
	rmdir(dir);
}

int main(int argc, char **argv)
{
	if (argc > 1)
		return inside(argv[1]);
	self = realpath(argv[0], NULL);
	signal(SIGPIPE, SIG_IGN);
	test_poll();
	test_nonblock();
	test_signals();
	test_several();
	test_sockets();
	test_map();
	return done();
}
