// SPDX-License-Identifier: GPL-2.0
/*
 * R5, R6 and R9 on several CPUs: what a thread on one CPU does at a virtual time
 * is seen by one on another CPU no more than a window before.
 */
#include "runner.h"

#include <net/if.h>
#include <netinet/in.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <linux/futex.h>

#include "harness.h"

/* --- ways to hand something over --- */

struct line {
	int fd[2];		/* to read from, to write to */
	volatile unsigned int given;	/* a futex */
	volatile int64_t stamp;	/* virtual: when it was */
	volatile pid_t taker;
};

struct channel {
	bool (*open)(struct line *l);
	bool (*give)(struct line *l);
	bool (*take)(struct line *l, unsigned int n);
};

static bool open_pipe(struct line *l)
{
	return !pipe(l->fd);
}

static bool open_unix(struct line *l)
{
	return !socketpair(AF_UNIX, SOCK_STREAM, 0, l->fd);
}

static bool open_tcp(struct line *l)
{
	struct sockaddr_in a = {
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	socklen_t size = sizeof(a);
	int listener = socket(AF_INET, SOCK_STREAM, 0);
	struct ifreq lo = { .ifr_name = "lo", .ifr_flags = IFF_UP };

	l->fd[1] = socket(AF_INET, SOCK_STREAM, 0);
	if (ioctl(listener, SIOCSIFFLAGS, &lo) ||
	    bind(listener, (struct sockaddr *)&a, size) ||
	    listen(listener, 1) ||
	    getsockname(listener, (struct sockaddr *)&a, &size) ||
	    connect(l->fd[1], (struct sockaddr *)&a, size))
		return false;
	l->fd[0] = accept(listener, NULL, NULL);
	close(listener);
	return l->fd[0] >= 0;
}

static bool open_eventfd(struct line *l)
{
	l->fd[0] = eventfd(0, EFD_SEMAPHORE);
	l->fd[1] = l->fd[0];
	return l->fd[0] >= 0;
}

static bool open_nothing(struct line *l)
{
	l->fd[0] = -1;
	l->fd[1] = -1;
	return true;
}

static bool give_word(struct line *l)
{
	uint64_t word = 1;

	return write(l->fd[1], &word, sizeof(word)) == sizeof(word);
}

static bool take_word(struct line *l, unsigned int n)
{
	uint64_t word;

	return read(l->fd[0], &word, sizeof(word)) == sizeof(word);
}

static bool give_futex(struct line *l)
{
	__atomic_fetch_add(&l->given, 1, __ATOMIC_SEQ_CST);
	return syscall(SYS_futex, &l->given, FUTEX_WAKE, 1) >= 0;
}

static bool take_futex(struct line *l, unsigned int n)
{
	while (l->given < n)
		syscall(SYS_futex, &l->given, FUTEX_WAIT, n - 1, NULL);
	return l->given == n;
}

static bool give_memory(struct line *l)
{
	__atomic_store_n(&l->given, l->given + 1, __ATOMIC_RELEASE);
	return true;
}

static bool take_memory(struct line *l, unsigned int n)
{
	while (__atomic_load_n(&l->given, __ATOMIC_ACQUIRE) < n)
		;
	return true;
}

static bool give_signal(struct line *l)
{
	return !kill(l->taker, SIGUSR1);
}

static bool take_signal(struct line *l, unsigned int n)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	return sigwaitinfo(&set, NULL) == SIGUSR1;
}

/* --- two threads that hand over to each other, beside others --- */

#define HAND_OVERS 80		/* each way, at each percent */

struct side {
	struct line *in, *out;
	int percent, cpu;
	unsigned int failed;
	unsigned int beyond;	/* came more than a window before */
	int64_t worst;		/* by how much they came before, at most */
};

struct match {
	struct line line[2];
	struct side side[2];
	volatile int ready, over;
};

static void take_and_look(const struct channel *c, struct side *s, int fd,
			  unsigned int n)
{
	int64_t early;

	s->failed += !c->take(s->in, n);
	early = s->in->stamp - dev_now(fd);
	s->worst = early > s->worst ? early : s->worst;
	s->beyond += early > WINDOW;
}

static void stamp_and_give(const struct channel *c, struct side *s, int fd)
{
	s->out->stamp = dev_now(fd);
	s->failed += !c->give(s->out);
}

static void set_percent(int fd, int percent)
{
	char text[16];

	snprintf(text, sizeof(text), "%d", percent);
	dev_percent(fd, text);
}

static void play(const struct channel *c, struct match *m, int which, int fd)
{
	struct side *s = &m->side[which];

	set_percent(fd, s->percent);
	pin(s->cpu);
	s->in->taker = gettid();
	__atomic_fetch_add(&m->ready, 1, __ATOMIC_SEQ_CST);
	while (m->ready < 2)
		;
	for (unsigned int n = 1; n <= HAND_OVERS; n++) {
		if (which)
			take_and_look(c, s, fd, n);
		for (volatile int k = 0; k < 1000; k++)
			;
		stamp_and_give(c, s, fd);
		if (!which)
			take_and_look(c, s, fd, n);
	}
	_exit(s->failed != 0);
}

/* A CPU that is active all the while has a time of its own; waits for nobody. */
static void accompany(const struct match *m, const struct side *s, int fd)
{
	struct sched_param param = { 0 };

	set_percent(fd, s->percent);
	pin(s->cpu);
	sched_setscheduler(0, SCHED_IDLE, &param);
	while (!m->over)
		;
	_exit(0);
}

/* Returns how many processes failed. */
static int play_match(const struct channel *c, struct match *m, int fd)
{
	int status, failed = 0;
	pid_t player[2];

	for (int i = 0; i < 2; i++) {
		m->side[i].in = &m->line[i];
		m->side[i].out = &m->line[!i];
		if (!c->open(&m->line[i]))
			return -errno;
	}
	for (int i = 0; i < 2; i++)
		if (!fork_child())
			accompany(m, &m->side[i], fd);
	for (int i = 0; i < 2; i++) {
		player[i] = fork_child();
		if (!player[i])
			play(c, m, i, fd);
	}
	for (int i = 0; i < 2; i++)
		failed += waitpid(player[i], &status, 0) < 0 || status;
	m->over = 1;
	while (wait(&status) > 0)
		failed += status != 0;
	for (int i = 0; i < 2; i++) {
		close(m->line[i].fd[0]);
		close(m->line[i].fd[1]);
	}
	return failed;
}

static int join(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	if (cpus_online() < 2 || pin(0) || sigprocmask(SIG_BLOCK, &set, NULL))
		return -1;
	return dev_open();
}

FIXTURE(order)
{
	int fd;
};

FIXTURE_SETUP(order)
{
	self->fd = join();
	ASSERT_GE(self->fd, 0) TH_LOG("%s", strerror(errno));
}

FIXTURE_TEARDOWN(order)
{
	await_alone(self->fd);
	EXPECT_TRUE(goes_on(self->fd));
	close(self->fd);
}

FIXTURE_VARIANT(order)
{
	struct channel channel;
};

#define CHANNEL(name, ...)						\
FIXTURE_VARIANT_ADD(order, name) { .channel = { __VA_ARGS__ } }

CHANNEL(pipe, open_pipe, give_word, take_word);
CHANNEL(unix_socket, open_unix, give_word, take_word);
CHANNEL(tcp, open_tcp, give_word, take_word);
CHANNEL(eventfd, open_eventfd, give_word, take_word);
CHANNEL(futex, open_nothing, give_futex, take_futex);
CHANNEL(signal, open_nothing, give_signal, take_signal);
CHANNEL(memory, open_nothing, give_memory, take_memory);

static int64_t most_over(int fd)
{
	struct tense_stats s = dev_stats(fd);

	return s.over_user > s.over_kernel ? s.over_user : s.over_kernel;
}

/* A new match; which CPU the first side is on. */
static void set_up(struct match *m, int percent, int cpu)
{
	memset(m, 0, sizeof(*m));
	m->side[0].percent = percent;
	m->side[0].cpu = cpu;
	m->side[1].percent = 100;
	m->side[1].cpu = !cpu;
}

static void tell(const struct match *m, int64_t allowed)
{
	for (int i = 0; i < 2; i++) {
		const struct side *s = &m->side[i];

		printf("# %d percent to %d: %u of %d beyond the window, at most %lld ns before, %lld allowed\n",
		       m->side[!i].percent, s->percent, s->beyond, HAND_OVERS,
		       (long long)s->worst, (long long)allowed);
	}
}

static int64_t worst(const struct match *m)
{
	return m->side[0].worst > m->side[1].worst ? m->side[0].worst :
						     m->side[1].worst;
}

static unsigned int most_beyond(const struct match *m)
{
	return m->side[0].beyond > m->side[1].beyond ? m->side[0].beyond :
						       m->side[1].beyond;
}

#define MATCHES 10		/* at most, at each percent */

/*
 * None comes earlier than the window and what the device tells that it was
 * exceeded by, which is the machine's affair: how late an interrupt comes. So
 * that this is no excuse for a gate that does not shut, there is a match in which
 * most come within the window itself. There may be others: a CPU that the
 * machine had stopped for long is ahead for some time.
 */
TEST_F_TIMEOUT(order, is_kept_but_for_the_window, PATIENCE)
{
	static const int percent[] = { 50, 100, 300 };
	struct match *m = shared(sizeof(*m));

	for (size_t i = 0; i < ARRAY_LENGTH(percent); i++) {
		unsigned int beyond = HAND_OVERS;

		for (int k = 0; k < MATCHES && beyond > HAND_OVERS / 2; k++) {
			int64_t allowed;

			/* From the first CPU and to it. */
			set_up(m, percent[i], i % 2);
			ASSERT_EQ(play_match(&variant->channel, m, self->fd), 0);
			allowed = WINDOW + most_over(self->fd);
			tell(m, allowed);
			EXPECT_LE(worst(m), allowed);
			beyond = most_beyond(m);
		}
		/* A gate that never shuts looks the same. */
		EXPECT_GT(dev_stats(self->fd).gated, 0);
		if (beyond > HAND_OVERS / 2)
			SKIP(return, "the machine's interrupts come late: in no match did most come within the window");
	}
}

/* --- a lock whose holder stops at the gate --- */

#define TURNS 50

struct turns {
	volatile int lock, inside, clashes;
	volatile unsigned int taken, started;
};

/*
 * The gate releases the holder because the waiter, which spins, advances GVT.
 */
static void take_turns(struct turns *t, int cpu, int fd)
{
	pin(cpu);
	/* A task that is alone is never ahead. */
	__atomic_fetch_add(&t->started, 1, __ATOMIC_SEQ_CST);
	while (t->started < 2)
		;
	for (int i = 0; i < TURNS; i++) {
		while (__atomic_exchange_n(&t->lock, 1, __ATOMIC_ACQUIRE))
			;
		t->clashes += t->inside++;
		lseek(fd, 2 * WINDOW, SEEK_CUR);
		t->taken++;
		t->inside--;
		__atomic_store_n(&t->lock, 0, __ATOMIC_RELEASE);
	}
	_exit(0);
}

FIXTURE(lock)
{
	int fd, status;
};

FIXTURE_SETUP(lock)
{
	self->fd = join();
	ASSERT_GE(self->fd, 0) TH_LOG("%s", strerror(errno));
}

FIXTURE_TEARDOWN(lock)
{
	close(self->fd);
}

TEST_F_TIMEOUT(lock, goes_on_while_its_holder_is_gated, PATIENCE)
{
	struct turns *t = shared(sizeof(*t));
	pid_t pid[2];

	for (int i = 0; i < 2; i++) {
		pid[i] = fork_child();
		if (!pid[i])
			take_turns(t, i, self->fd);
	}
	for (int i = 0; i < 2; i++)
		EXPECT_EQ(waitpid(pid[i], &self->status, 0), pid[i]);
	EXPECT_EQ(t->taken, 2 * TURNS);
	EXPECT_EQ(t->clashes, 0);
	/* Else this was no test. */
	EXPECT_GT(dev_stats(self->fd).gated, 0);
}

int main(int argc, char **argv)
{
	return run_with_module(argc, argv, test_harness_run);
}
