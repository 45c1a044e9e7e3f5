// SPDX-License-Identifier: GPL-2.0
#include "guest.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/tense.h>

#include "base/paths.h"
#include "memory.h"
#include "trace-file.h"
#include "base/util.h"

extern char **environ;

void guest_check(bool good, const char *what)
{
	if (!good)
		die(STATUS_FAILED, "%s: %s", what, strerror(errno));
}

int guest_new_file(const char *name)
{
	int fd = memfd_create(name, MFD_CLOEXEC);

	guest_check(fd >= 0, "memfd_create");
	return fd;
}

char *guest_init_path(void)
{
	char *init = find_part(PATH_GUEST_INIT);

	if (access(init, X_OK))
		die(STATUS_FAILED, "%s: %s: run `make user`, or install again",
		    init, strerror(errno));
	if (strchr(init, '"'))
		die(STATUS_FAILED, "%s: a path with a quote cannot be passed",
		    init);
	return init;
}

/* A page's struct costs time and memory, so the host's size is not it. */
unsigned long long guest_memory_mib(const struct run *run,
				    unsigned long long most)
{
	unsigned long long mib = memory_machine_mib() / 2;

	guest_check(mib, "sysinfo");
	return memory_choose_mib(run, mib > most ? most : mib < 256 ? 256 : mib);
}

char *guest_module_options(const struct run *run, const char *base)
{
	/* Everyone there is the user who started the guest. */
	if (!run->window_ns)
		return xprintf("%s user_probes=1", base);
	return xprintf("%s user_probes=1 window=%" PRIu64, base,
		       run->window_ns);
}

void guest_prepare(struct guest *g, const struct run *run)
{
	*g = (struct guest){
		.run = run, .nr_channels = 1, .files = STREAM_CLOSED,
		.tty_in = STREAM_CLOSED, .tty_out = STREAM_CLOSED,
	};
}

void guest_begin(struct guest *g)
{
	sigset_t set;

	launch_signals(&set);
	sigaddset(&set, SIGCHLD);
	sigaddset(&set, SIGWINCH);
	signal(SIGCHLD, SIG_DFL);
	signal(SIGPIPE, SIG_IGN);
	sigprocmask(SIG_BLOCK, &set, NULL);
	g->signals = signalfd(-1, &set, SFD_CLOEXEC);
	guest_check(g->signals >= 0, "signalfd");
	g->log = guest_new_file("kernel-log");
}

/*
 * A descriptor that may be used without getting in the way of others that
 * share it. Where a new file description can be had, it is one, without
 * blocking; a regular file's carries the position that is to be shared.
 */
static int own_description(int fd, int mode)
{
	char path[32];
	struct stat st;
	int new = -1;

	guest_check(!fstat(fd, &st), "fstat");
	if (!S_ISREG(st.st_mode) && !S_ISSOCK(st.st_mode)) {
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		new = open(path, mode | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	}
	if (new < 0)
		new = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	guest_check(new >= 0, "cannot duplicate a descriptor");
	return new;
}

void guest_streams(struct guest *g,
		   void (*add)(void *arg, int channel, int fd, bool input),
		   void *arg)
{
	int tty = -1;

	for (int i = 0; i < 3; i++) {
		struct stream *s = &g->streams[i];

		s->channel = STREAM_CLOSED;
		if (g->run->closed[i])
			continue;
		s->mode = fcntl(i, F_GETFL) & O_ACCMODE;
		if (isatty(i)) {
			s->channel = STREAM_TTY;
			/* Output first, input if there is no other. */
			if (tty <= 0)
				tty = i;
			continue;
		}
		s->channel = g->nr_channels++;
		add(arg, s->channel, own_description(i, s->mode), i == 0);
	}
	if (tty < 0)
		return;
	g->tty_out = g->nr_channels++;
	add(arg, g->tty_out, own_description(tty, O_WRONLY), false);
	g->tty_in = g->nr_channels++;
	add(arg, g->tty_in, terminal_open(&g->terminal, tty,
				g->streams[0].channel == STREAM_TTY), true);
}

/* Standard error stays, for messages. */
void guest_streams_handed_over(struct guest *g)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	guest_check(null >= 0, "/dev/null");
	for (int i = 0; i < 2; i++)
		if (g->streams[i].channel >= 0)
			dup2(null, i);
	close(null);
}

void guest_child(struct guest *g, pid_t parent)
{
	sigset_t none;
	int null;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(STATUS_FAILED);
	null = open("/dev/null", O_RDONLY);
	dup2(null, 0);
	dup2(g->log, 1);
	dup2(g->log, 2);
	for (int sig = 1; sig < SIGRTMIN; sig++)
		signal(sig, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
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

void guest_send_end(struct guest *g, int channel, uint64_t bytes)
{
	struct end_message m = { .channel = channel, .bytes = bytes };

	control_send(&g->control, MESSAGE_END, &m, sizeof(m));
}

char *guest_request(struct guest *g, const struct guest_kernel *kernel,
		    size_t *size)
{
	const struct run *run = g->run;
	struct request r = {
		.version = PROTO_VERSION,
		.percent = run->real ? 0 : run->percent,
		.clocks = run->choice.clocks,
		.order = run->choice.order,
		.idle = run->choice.idle,
		.device = run->device || !run->real,
		.stats = run->stats,
		.trace_kib = run->trace ? run->trace->buffer_kib : 0,
		.samples = run->samples,
		.uid = getuid(),
		.gid = getgid(),
		.clock_ns = kernel->clock_ns,
		.ignored = run->ignored,
		.tty_in = g->tty_in,
		.tty_out = g->tty_out,
		.files = g->files,
	};
	char **env = run->real ? environ : preload_environment();
	struct payload p = { 0 };
	struct utsname name;
	gid_t *groups;
	int n;

	r.umask = umask(0);
	umask(r.umask);
	for (int sig = 1; sig < SIGRTMIN; sig++)
		if (sigismember(&run->mask, sig) == 1)
			r.blocked |= 1ULL << (sig - 1);
	memcpy(r.streams, g->streams, sizeof(r.streams));
	terminal_get(&g->terminal, &r.termios, &r.winsize);
	for (int i = 0; i < RLIM_NLIMITS; i++)
		guest_check(!getrlimit(i, &r.limits[i]), "getrlimit");
	n = getgroups(0, NULL);
	guest_check(n >= 0, "getgroups");
	groups = xmalloc((n + 1) * sizeof(gid_t));
	r.groups = getgroups(n, groups);
	guest_check((int)r.groups == n, "getgroups");
	uname(&name);

	add(&p, &r, sizeof(r));
	add(&p, groups, r.groups * sizeof(gid_t));
	add_strings(&p, (char *[]){ (char *)kernel->module,
				    (char *)kernel->module_options,
				    (char *)run->directory, name.nodename,
				    (char *)(run->experiment ?: ""),
				    (char *)(run->prepare ?: ""),
				    (char *)(run->input ?: ""), NULL });
	r.writable = add_strings(&p, run->writable);
	r.argc = add_strings(&p, run->argv);
	r.envc = add_strings(&p, env);
	preload_environment_free(env);
	memcpy(p.buf, &r, sizeof(r));
	free(groups);
	*size = p.len;
	return p.buf;
}

static void send_request(struct guest *g, const struct guest_kernel *kernel)
{
	size_t size;
	char *request = guest_request(g, kernel, &size);

	control_send(&g->control, MESSAGE_REQUEST, request, size);
	free(request);
}

static void send_signal(struct guest *g, int sig, bool group)
{
	struct signal_message m = { .sig = sig, .group = group };

	control_send(&g->control, MESSAGE_SIGNAL, &m, sizeof(m));
}

/*
 * Would the signal end a command without a handler? The command inherits the
 * caller's ignored and blocked signals.
 */
static bool would_end(const struct guest *g, int sig)
{
	return sig != SIGCONT && sig != SIGTSTP &&
	       !(g->run->ignored >> (sig - 1) & 1) &&
	       sigismember(&g->run->mask, sig) != 1;
}

static void set_signaled(struct outcome *out, int sig)
{
	out->kind = OUTCOME_SIGNALED;
	out->value = sig;
}

off_t guest_log_size(const struct guest *g)
{
	struct stat st;

	return fstat(g->log, &st) ? 0 : st.st_size;
}

/* Reads the end of the kernel's log, but nothing before an offset, into text. */
static void read_log(const struct guest *g, off_t first, char *text,
		     size_t room)
{
	off_t size = guest_log_size(g), from = first;
	ssize_t n;

	if (size - from >= (off_t)room)
		from = size - room + 1;
	n = pread(g->log, text, room - 1, from);
	text[n > 0 ? n : 0] = '\0';
	if (from > first && strchr(text, '\n'))
		memmove(text, strchr(text, '\n') + 1,
			strlen(strchr(text, '\n') + 1) + 1);
}

/* Shows the kernel's log from an offset on. */
static void show_log(const struct guest *g, off_t first)
{
	char text[2000], *line;

	read_log(g, first, text, sizeof(text));
	for (line = strtok(text, "\r\n"); line; line = strtok(NULL, "\r\n")) {
		/* The level, "<6>". */
		if (line[0] == '<' && strlen(line) > 3 && line[2] == '>')
			line += 3;
		warn("kernel: %s", line);
	}
}

/* The kill comes first: a terminal may make tense wait. */
static void kill_deaf(struct guest *g, struct outcome *out)
{
	int sig = g->reaction.sig, seconds = REACTION_NS / 1000000000;

	kill(g->pid, SIGKILL);
	terminal_restore(&g->terminal);
	show_log(g, g->log_start);
	if (reaction_has_failed(&g->reaction))
		warn("the guest (process %d) did not react to SIG%s for %d s, so tense killed it: check the files that the command wrote, and run the command again",
		     (int)g->pid, sigabbrev_np(sig), seconds);
	else
		warn("the guest (process %d) had not reacted to SIG%s when another signal came, so tense killed it: check the files that the command wrote, and run the command again",
		     (int)g->pid, sigabbrev_np(sig));
	set_signaled(out, sig);
}

/*
 * A key that would interrupt the command is a byte for the guest's terminal. A
 * signal 0 goes with it, to find out whether the guest reacts. False when the
 * guest had to be killed.
 */
static bool check_reaction(struct guest *g, struct outcome *out)
{
	int sig = terminal_take_key(&g->terminal);

	/* No command runs yet that would take the byte. A preparation ends with the guest. */
	if (sig && !g->started && would_end(g, sig)) {
		set_signaled(out, sig);
		return false;
	}
	if (reaction_has_failed(&g->reaction) ||
	    (sig && !reaction_sends(&g->reaction, sig, true))) {
		kill_deaf(g, out);
		return false;
	}
	if (sig)
		send_signal(g, 0, false);
	return true;
}

/* Returns false if the signal ends the run. */
static bool forward_signal(struct guest *g, int sig, bool group,
			   struct outcome *out, bool ended)
{
	bool ends = would_end(g, sig);

	/* No command is running that could handle the signal. */
	if (ends && (!g->started || ended)) {
		set_signaled(out, sig);
		return false;
	}
	if (!reaction_sends(&g->reaction, sig, ends)) {
		kill_deaf(g, out);
		return false;
	}
	send_signal(g, sig, group);
	return true;
}

/* False when the signal is the end. */
static bool handle_signal(struct guest *g, struct outcome *out, bool ended)
{
	struct signalfd_siginfo info;
	struct winsize size;

	if (read(g->signals, &info, sizeof(info)) != sizeof(info))
		return true;
	switch (info.ssi_signo) {
	case SIGCHLD:
		return true;
	case SIGWINCH:
		if (terminal_size(&g->terminal, &size))
			control_send(&g->control, MESSAGE_WINSIZE, &size,
				     sizeof(size));
		return true;
	case SIGCONT:
		terminal_resume(&g->terminal);
		return forward_signal(g, SIGCONT, true, out, ended);
	default:
		/* The kernel's come from a terminal, to a whole group. */
		return forward_signal(g, info.ssi_signo,
				      info.ssi_code == SI_KERNEL, out, ended);
	}
}

/*
 * Stops tense as the command stopped, so that the shell sees it. The key came as a byte. So
 * the terminal did not stop the rest of a pipeline, and tense does. SIGCONT ends the stop.
 */
static void stop_too(struct guest *g, int sig)
{
	bool by_key = sig == SIGTSTP && g->terminal.raw;

	terminal_restore(&g->terminal);
	if (by_key)
		kill(0, SIGTSTP);
	raise(SIGSTOP);
}

bool guest_logged(const struct guest *g, off_t first, const char *words)
{
	char text[20000];

	read_log(g, first, text, sizeof(text));
	return strstr(text, words);
}

/* A command that the kernel killed does not know why. */
void guest_tell_out_of_memory(const struct guest *g)
{
	if (guest_logged(g, 0, "Out of memory"))
		warn("the guest ran out of memory, and its kernel killed what used most of it: --memory gives it more");
}

/* Why there is no result, of a kernel or an emulator that ended by itself. */
static const char *find_reason(const struct guest *g)
{
	if (guest_logged(g, 0, "cannot set up guest memory"))
		return "there is not enough memory here for the guest: --memory gives it less";
	if (guest_logged(g, 0, "Out of memory") || guest_logged(g, 0, "deadlocked on memory"))
		return "the guest ran out of memory: --memory gives it more";
	return "the kernel ended without a result";
}

/* Returns false if the guest did not end by itself soon and had to be killed. */
static bool wait_for_end(const struct guest *g, int *status)
{
	uint64_t start = now_ns();
	pid_t pid;

	do {
		pid = waitpid(g->pid, status, WNOHANG);
		if (pid < 0)
			*status = 0;
		if (pid)
			return true;
		poll(NULL, 0, 10);
	} while (now_ns() - start < REACTION_NS);
	kill(g->pid, SIGKILL);
	waitpid(g->pid, status, 0);
	return false;
}

void guest_died(struct guest *g, struct outcome *out)
{
	int pid = g->pid, status;
	bool ended;

	terminal_restore(&g->terminal);
	ended = wait_for_end(g, &status);
	g->pid = 0;
	show_log(g, 0);
	out->kind = OUTCOME_FAILED;
	if (!ended)
		snprintf(out->text, sizeof(out->text),
			 "the guest (process %d) closed its channel to tense, but did not end within %d s, so tense killed it: run the command again",
			 pid, (int)(REACTION_NS / 1000000000));
	else if (WIFSIGNALED(status))
		snprintf(out->text, sizeof(out->text),
			 "the kernel was killed: %s",
			 strsignal(WTERMSIG(status)));
	else
		snprintf(out->text, sizeof(out->text), "%s", find_reason(g));
}

/* Root in the guest may send what it likes. */
static bool are_stats(const void *data, size_t size)
{
	const struct tense_stats *s = data;

	return size >= sizeof(*s) && s->version == TENSE_STATS_VERSION && s->size == sizeof(*s) &&
	       s->thread_size == sizeof(struct tense_thread) &&
	       size == s->size + (uint64_t)s->threads * s->thread_size;
}

void guest_take_outcome(const struct message *m, const char *payload,
			struct outcome *out, void **stats)
{
	size_t size = m->size - sizeof(*out);
	void *copy;

	memcpy(out, payload, sizeof(*out));
	out->text[sizeof(out->text) - 1] = '\0';
	if (!out->stats_size)
		return;
	/* The copy is aligned. */
	copy = xmalloc(size);
	memcpy(copy, payload + sizeof(*out), size);
	if (are_stats(copy, size)) {
		*stats = copy;
		return;
	}
	free(copy);
	out->kind = OUTCOME_FAILED;
	snprintf(out->text, sizeof(out->text), "the guest sent statistics that are damaged");
}

enum answer { ANSWER_NONE, ANSWER_OUTCOME, ANSWER_DIED };

static enum answer take_message(struct guest *g, const struct guest_ops *ops,
				void *arg, const struct message *m,
				const char *payload, struct outcome *out,
				void **stats)
{
	struct end_message end;
	int32_t sig;

	if (m->type == MESSAGE_STARTED) {
		/* Root in the guest may send it again. */
		if (g->started)
			return ANSWER_NONE;
		g->started = true;
		g->log_start = guest_log_size(g);
		if (ops->started)
			ops->started(arg);
		if (g->run->started)
			g->run->started(g->run->started_arg);
	} else if (m->type == MESSAGE_TAKEN) {
		reaction_takes(&g->reaction);
	} else if (m->type == MESSAGE_STOPPED && m->size == sizeof(sig)) {
		memcpy(&sig, payload, sizeof(sig));
		stop_too(g, sig);
	} else if (m->type == MESSAGE_END && ops->end &&
		   m->size == sizeof(end)) {
		memcpy(&end, payload, sizeof(end));
		ops->end(arg, &end);
	} else if (m->type == MESSAGE_TRACE && g->run->trace) {
		trace_file_add(g->run->trace, payload, m->size);
	} else if (m->type == MESSAGE_OUTCOME && m->size >= sizeof(*out)) {
		guest_take_outcome(m, payload, out, stats);
		return ANSWER_OUTCOME;
	}
	return ANSWER_NONE;
}

static enum answer handle_control(struct guest *g, const struct guest_ops *ops,
				  void *arg, struct outcome *out, void **stats)
{
	enum answer answer = ANSWER_NONE;
	const char *payload;
	struct message m;

	while (answer == ANSWER_NONE &&
	       control_next(&g->control, &m, &payload))
		answer = take_message(g, ops, arg, &m, payload, out, stats);
	if (answer == ANSWER_NONE && g->control.closed)
		return ANSWER_DIED;
	return answer;
}

static void wait_for_something(struct guest *g, struct pollfd *polls, bool boots)
{
	int timeout = boots ? 1000 : reaction_timeout_ms(&g->reaction);

	if (poll(polls, 4 + GUEST_POLLS, timeout) < 0 && errno != EINTR)
		die(STATUS_FAILED, "poll: %s", strerror(errno));
	reaction_check(&g->reaction, now_ns());
}

/* Returns early, with *out set, if a signal ends the run. */
static void serve(struct guest *g, const struct guest_ops *ops, void *arg,
		  struct outcome *out, void **stats)
{
	struct pollfd polls[4 + GUEST_POLLS];
	enum answer answer = ANSWER_NONE;
	bool boots;

	for (size_t i = 0; i < sizeof(polls) / sizeof(polls[0]); i++)
		polls[i] = (struct pollfd){ .fd = -1 };
	while (answer == ANSWER_NONE || (out->kind != OUTCOME_FAILED &&
					 ops->busy && ops->busy(arg))) {
		polls[0] = (struct pollfd){ .fd = g->signals, .events = POLLIN };
		polls[1] = (struct pollfd){ .fd = -1 };
		if (answer == ANSWER_NONE)
			control_events(&g->control, polls + 1);
		terminal_events(&g->terminal, polls + 2);
		if (ops->events)
			ops->events(arg, polls + 4);
		boots = ops->boots && !g->started && answer == ANSWER_NONE;
		wait_for_something(g, polls, boots);

		/* The guest's answer comes before the next question. */
		if (polls[1].revents) {
			control_run(&g->control, polls + 1);
			answer = handle_control(g, ops, arg, out, stats);
			if (answer == ANSWER_OUTCOME)
				continue;
		}
		if (answer == ANSWER_DIED) {
			guest_died(g, out);
			return;
		}
		if (polls[0].revents &&
		    !handle_signal(g, out, answer == ANSWER_OUTCOME))
			return;
		terminal_run(&g->terminal, polls + 2);
		if (answer == ANSWER_NONE && !check_reaction(g, out))
			return;
		if (boots && !g->started)
			ops->boots(arg);
		if (ops->run)
			ops->run(arg, polls + 4);
	}
	if (ops->ended)
		ops->ended(arg, out);
	guest_tell_out_of_memory(g);
}

void guest_serve(struct guest *g, const struct guest_kernel *kernel,
		 const struct guest_ops *ops, void *arg, struct outcome *out,
		 void **stats)
{
	memset(out, 0, sizeof(*out));
	*stats = NULL;
	terminal_start(&g->terminal);
	send_request(g, kernel);
	serve(g, ops, arg, out, stats);
	control_free(&g->control);
}

/* All is written and reported, so this is quicker than a shutdown. */
void guest_end(struct guest *g)
{
	terminal_restore(&g->terminal);
	if (!g->pid)
		return;
	kill(g->pid, SIGKILL);
	waitpid(g->pid, NULL, 0);
	g->pid = 0;
}
