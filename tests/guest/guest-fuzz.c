// SPDX-License-Identifier: GPL-2.0
/*
 * Whatever programs do with /dev/tense and beside it, at random and at once:
 * each call has a result that the interface names, no thread's time runs
 * backwards, somebody gets on, and nothing is left when all are gone. For the
 * debug kernel, which says what was done wrong meanwhile.
 *
 * Usage: guest-fuzz [--seed N] [--operations N]
 *
 * In rounds: round n of --seed N is the first one of --seed N+n.
 */
#include "fuzz.h"

#include <sched.h>
#include <sys/prctl.h>
#include <sys/reboot.h>
#include <sys/resource.h>
#include <sys/socket.h>

/* The default. `make nightly` does more, from random seeds. */
#define OPERATIONS 60000
#define ROUND 10000
/* Experiments that begin at a time; processes end, and others begin. */
#define ROOTS 3
/* So many operations see each kind succeed. */
#define ENOUGH 50000

/* Where others use the machine: the emulator is ended not long after that. */
#define LONGEST (1000 * S)

#define POLL_NS (25 * MS)
/* Takes the slots of those that begin a round; never looks dead. */
#define NOBODYS ((who_t)-1)
/* Polls: a task that has not got on is sent a signal, and nobody at all fails. */
#define NUDGE 8
#define STUCK 4800
/* Polls until a CPU counts as dead: a host may stop an emulated CPU for long. */
#define DEAD 2400

struct fuzz *fuzz;
static unsigned int weights, outside_weights;

static const struct {
	const struct operation *list;
	const size_t *length;
} kinds[] = {
	{ call_operations, &call_operations_length },
	{ text_operations, &text_operations_length },
	{ area_operations, &area_operations_length },
	{ task_operations, &task_operations_length },
	{ brink_operations, &brink_operations_length },
	{ inside_operations, &inside_operations_length },
	/* Last: the operations of tasks that never join. */
	{ outside_operations, &outside_operations_length },
};

const struct operation *operation_of(size_t i)
{
	size_t kind = 0;

	while (i >= *kinds[kind].length)
		i -= *kinds[kind++].length;
	return &kinds[kind].list[i];
}

static size_t operations_length(void)
{
	size_t sum = 0;

	for (size_t i = 0; i < ARRAY_LENGTH(kinds); i++)
		sum += *kinds[i].length;
	return sum;
}

static size_t inside_length(void)
{
	return operations_length() - outside_operations_length;
}

/* --- tasks --- */

/**
 * fail() - something is wrong, which ends the test
 * @t: the calling task
 * @what: text
 * @is: a value that is part of it
 * @other: another one
 */
void fail(const struct task *t, const char *what, int64_t is, int64_t other)
{
	if (atomic_exchange(&fuzz->failed, 1))
		return;
	snprintf(fuzz->failure, sizeof(fuzz->failure), "%s: %ld, %ld (slot %d)",
		 what, is, other, t->slot);
	fuzz->stop = 1;
}

/**
 * slot_take() - room for one more task
 * @taker: whose end frees the slot until the task has it, or NOBODYS
 *
 * Return: its slot, or -1.
 */
int slot_take(who_t taker)
{
	for (int i = 0; i < TASKS_MAX; i++) {
		who_t nobody = 0;

		if (atomic_compare_exchange_strong(&fuzz->slot[i].who, &nobody,
						   taker))
			return i;
	}
	return -1;
}

/**
 * task_begin() - what a task starts from
 * @t: set
 * @seed: all that it does follows from it
 * @slot: of slot_take()
 * @taker: who took it
 */
void task_begin(struct task *t, uint64_t seed, int slot, who_t taker)
{
	*t = (struct task) {
		.random = seed,
		.slot = slot,
		.taker = taker,
		.fd = FIRST_FD,
		.own = -1,
		.timer_fd = -1,
	};
	t->left = 1 + any_bits(t, 13);
}

/**
 * forget_seen() - forget the times that the task saw
 * @t: calling task, which may have left its experiment or joined another one
 */
void forget_seen(struct task *t)
{
	t->seen = 0;
	t->lvt_seen = 0;
	t->gvt_seen = 0;
	t->charged_seen = 0;
}

/**
 * close_fd() - close what a task has opened a moment ago
 * @t: calling task
 * @fd: its number
 *
 * A thread that shares the table may have put the handle there by which this one
 * has joined: then it leaves.
 */
long close_fd(struct task *t, long fd)
{
	forget_seen(t);
	return call(SYS_close, fd);
}

static size_t any_operation(struct task *t)
{
	unsigned int n = below(t, t->outside ? outside_weights : weights);
	size_t i;

	for (i = t->outside ? inside_length() : 0; n >= operation_of(i)->weight; i++)
		n -= operation_of(i)->weight;
	return i;
}

static void step(struct task *t)
{
	struct slot *s = &fuzz->slot[t->slot];
	size_t i = any_operation(t);
	struct counts *c = &fuzz->counts[i];
	const struct operation *o = operation_of(i);

	s->operation = i;
	c->tried++;
	fuzz->operations++;
	if (o->flags & MAY_END)
		c->done++;
	if (o->run(t) >= 0 && !(o->flags & MAY_END))
		c->done++;
	s->count++;
}

/**
 * task_run() - a task's life, if the slot is still its own
 * @t: calling task, of task_begin()
 */
void task_run(struct task *t)
{
	struct slot *s = &fuzz->slot[t->slot];

	if (!atomic_compare_exchange_strong(&s->who, &t->taker, who_am_i()))
		return;
	if (!t->outside)
		calls_task_begin(t);
	while (!fuzz->stop && t->left-- > 0)
		step(t);
	s->who = 0;
}

static void on_signal(int sig)
{
	(void)sig;
	call_in_handler();
}

/* The kernel's signal action: threads here have no errno for libc's call. */
static struct {
	void *handler;
	unsigned long flags;
	void *restorer;
	unsigned long mask;
} alarm_action, ignore_action = { .handler = SIG_IGN };

void ignore_alarm(bool ignored)
{
	call(SYS_rt_sigaction, SIGALRM,
	     ignored ? &ignore_action : &alarm_action, NULL,
	     sizeof(alarm_action.mask));
}

/* A process that has just begun, or been executed. */
static int process_main(uint64_t seed, int slot, who_t taker)
{
	static const int signals[] = { SIGUSR1, SIGALRM, SIGVTALRM, SIGPROF };
	struct sigaction action = { .sa_handler = on_signal };
	bool root = taker == NOBODYS;
	struct rlimit none = { 0, 0 };
	struct task t;

	for (size_t i = 0; i < ARRAY_LENGTH(signals); i++) {
		action.sa_flags = i ? SA_RESTART : 0;
		sigaction(signals[i], &action, NULL);
	}
	call(SYS_rt_sigaction, SIGALRM, NULL, &alarm_action,
	     sizeof(alarm_action.mask));
	signal(SIGCHLD, SIG_IGN);
	setrlimit(RLIMIT_CORE, &none);
	calls_begin();
	task_begin(&t, seed, slot, taker);
	brink_begin(root && one_in(&t, 4));
	t.outside = root && one_in(&t, 4);
	task_run(&t);
	return 0;
}

/* --- who watches them --- */

/* All tasks of a round are in the process group of a child that only waits. */
static pid_t group;
static uint64_t last_operations;
static int idle_polls;
static struct {
	uint64_t count;
	int polls;
} watched[TASKS_MAX];

void pause_ns(int64_t ns)
{
	struct timespec time = { ns / S, ns % S };

	nanosleep(&time, NULL);
}

static void send_signal(const struct slot *s, int sig)
{
	who_t who = s->who;

	if (tid_of(who) > 0)
		syscall(SYS_tgkill, tgid_of(who), tid_of(who), sig);
}

/* Whoever was killed has not given its slot back. */
static void free_slot_of_dead(struct slot *s)
{
	who_t who = s->who;

	if (tid_of(who) > 0 &&
	    syscall(SYS_tgkill, tgid_of(who), tid_of(who), 0))
		atomic_compare_exchange_strong(&s->who, &who, 0);
}

/* A task may wait for an event that never comes: wake it. */
static void nudge(int i)
{
	struct slot *s = &fuzz->slot[i];

	if (watched[i].count != s->count) {
		watched[i].count = s->count;
		watched[i].polls = 0;
	}
	if (++watched[i].polls % NUDGE)
		return;
	send_signal(s, SIGCONT);
	send_signal(s, SIGUSR1);
}

/* --- watchers of the CPUs, outside of every experiment --- */

static int cpus(void)
{
	int n = sysconf(_SC_NPROCESSORS_CONF);

	return n < CPUS_MAX ? n : CPUS_MAX;
}

/* Reboots at once: the dead CPU may be the one that runs the main watcher. */
static void report_dead_cpu(int cpu)
{
	printf("Bail out! CPU %d runs no task any more: make fuzz SEED=%lu OPS=%d\n",
	       cpu, fuzz->seed, ROUND);
	fflush(stdout);
	reboot(RB_AUTOBOOT);
}

/* Beats as long as the CPU runs tasks, and looks at the next CPU's beats. */
static void beat(int cpu)
{
	int next = (cpu + 1) % cpus(), same = 0;
	struct sched_param p = { .sched_priority = 98 };
	uint64_t last = 0;
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
	sched_setscheduler(0, SCHED_FIFO, &p);
	while (!fuzz->over) {
		fuzz->beats[cpu]++;
		same = last == fuzz->beats[next] ? same + 1 : 0;
		last = fuzz->beats[next];
		if (next != cpu && same == DEAD)
			report_dead_cpu(next);
		pause_ns(POLL_NS);
	}
	_exit(0);
}

/* Forks twice, so that no process here has to wait for them. */
static void beats_begin(void)
{
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid) {
		waitpid(pid, NULL, 0);
		return;
	}
	for (int i = 0; i < cpus(); i++)
		if (!fork())
			beat(i);
	_exit(0);
}

/* Works with one CPU, too. */
static void check_beats(void)
{
	static const struct task nobody = { .slot = -1 };
	static uint64_t last[CPUS_MAX];
	static int same[CPUS_MAX];

	for (int i = 0; i < cpus(); i++) {
		same[i] = last[i] == fuzz->beats[i] ? same[i] + 1 : 0;
		last[i] = fuzz->beats[i];
		if (same[i] == DEAD)
			fail(&nobody, "a CPU runs no task any more", i, 0);
	}
}

static void check_progress(void)
{
	static const struct task nobody = { .slot = -1 };

	check_beats();
	if (last_operations != fuzz->operations) {
		last_operations = fuzz->operations;
		idle_polls = 0;
	} else if (++idle_polls == STUCK) {
		print_stuck(group);
		fail(&nobody, "nothing gets on", last_operations, 0);
	}
}

static void root_begin(uint64_t seed)
{
	int slot = slot_take(NOBODYS);

	if (slot < 0)
		return;
	fflush(stdout);
	if (!fork()) {
		struct sched_param p = { 0 };

		sched_setscheduler(0, SCHED_OTHER, &p);
		setpgid(0, group);
		_exit(process_main(seed, slot, NOBODYS));
	}
}

static void group_begin(void)
{
	fflush(stdout);
	group = fork();
	if (!group) {
		for (;;)
			pause();
	}
	setpgid(group, group);
}

static int tasks_alive(void)
{
	int alive = 0;

	for (int i = 0; i < TASKS_MAX; i++)
		alive += fuzz->slot[i].who != 0;
	return alive;
}

/* A failure of the module, or of what the test expects of it. */
static bool wrong(const char *what, int64_t is)
{
	static const struct task nobody = { .slot = -1 };

	fail(&nobody, what, is, 0);
	return false;
}

/* At a time when somebody may or may not be using it. */
static bool unload_and_load(void)
{
	int err = unload_module();

	if (!err)
		err = load_module();
	if (!err || err == -EAGAIN || err == -EBUSY)
		return true;
	return wrong("the module cannot be removed, or loaded", err);
}

/* Reaps orphans, for which no parent waited: true if all are gone. */
static bool reap(void)
{
	pid_t pid;

	do {
		pid = waitpid(-1, NULL, WNOHANG);
	} while (pid > 0);
	return pid < 0 && errno == ECHILD;
}

/* Until so many operations are done. */
static void watch_round(struct task *t, uint64_t target)
{
	for (int polls = 0; !fuzz->stop && fuzz->operations < target; polls++) {
		reap();
		for (int i = 0; i < TASKS_MAX; i++) {
			free_slot_of_dead(&fuzz->slot[i]);
			nudge(i);
		}
		if (tasks_alive() < ROOTS)
			root_begin(next(t));
		if (one_in(t, 20) && !unload_and_load())
			break;
		check_progress();
		pause_ns(POLL_NS);
	}
	fuzz->stop = 1;
}

/* Descriptors that nobody has received. */
static void drain_socket(void)
{
	char byte;

	while (recv(SOCKET_FD + 1, &byte, 1, MSG_DONTWAIT) >= 0)
		;
}

/* Kills tasks that do not end by themselves; with @at_once, all tasks. */
static bool end_round(bool at_once)
{
	for (int polls = 0; polls < STUCK; polls++) {
		if (reap())
			return true;
		/* Stopped ones, and those that have no slot, too. */
		if (at_once || polls > NUDGE)
			kill(-group, SIGKILL);
		pause_ns(POLL_NS);
	}
	print_stuck(group);
	return wrong("tasks do not end", tasks_alive());
}

static bool round_run(uint64_t seed, uint64_t operations)
{
	struct task t = { .random = seed };
	uint64_t target = fuzz->operations + operations;
	int err;

	for (int i = 0; i < TASKS_MAX; i++)
		fuzz->slot[i].who = fuzz->slot[i].changes = 0;
	for (int i = 0; i < TIDS_MAX; i++)
		fuzz->deadline[i] = false;
	fuzz->stop = 0;
	fuzz->seed = seed;
	/* Print the seed first: a kernel that hangs prints nothing any more. */
	printf("# a round of SEED=%lu\n", seed);
	group_begin();
	for (int i = 0; i < ROOTS; i++)
		root_begin(next(&t));
	watch_round(&t, target);
	if (!end_round(one_in(&t, 2)) || fuzz->failed)
		return false;
	drain_socket();
	err = unload_module_soon();
	if (!err)
		err = load_module();
	return !err || wrong("rmmod after a round", err);
}

/* The seed of the round that failed, or 0. */
static uint64_t rounds_run(uint64_t seed, uint64_t operations)
{
	int64_t begin = clock_ns(CLOCK_MONOTONIC);
	uint64_t round, told = 0;

	for (round = 0; fuzz->operations < operations; round++) {
		uint64_t rest = operations - fuzz->operations;

		if (clock_ns(CLOCK_MONOTONIC) - begin > LONGEST) {
			printf("# %lu are left: the machine is busy\n", rest);
			break;
		}
		if (!round_run(seed + round, rest < ROUND ? rest : ROUND))
			return seed + round;
		if (fuzz->operations - told < 5000)
			continue;
		told = fuzz->operations;
		printf("# %lu operations, %lu rounds, %ld ms\n", told, round + 1,
		       (long)((clock_ns(CLOCK_MONOTONIC) - begin) / MS));
		fflush(stdout);
	}
	return 0;
}

/* User-Mode Linux refuses every probe, and is built without io_uring. */
static bool is_uml(void)
{
	char text[256] = "";
	FILE *f = fopen("/proc/cpuinfo", "r");
	bool found = f && fread(text, 1, sizeof(text) - 1, f) && strstr(text, "User Mode Linux");

	if (f)
		fclose(f);
	return found;
}

/* Prints what was done; returns what could be and never was, or NULL. */
static const char *never_done(void)
{
	bool uml = is_uml();
	const char *never = NULL;

	for (size_t i = 0; i < operations_length(); i++) {
		const struct operation *o = operation_of(i);
		struct counts *c = &fuzz->counts[i];

		printf("# %s: %lu of %lu\n", o->name, c->done, c->tried);
		if (uml && (!strcmp(o->name, "probe") || !strcmp(o->name, "io_uring")))
			continue;
		if (!c->done && !(o->flags & ODD))
			never = o->name;
	}
	return never;
}

static void move_fd(int from, int to)
{
	dup2(from, to);
	close(from);
}

/* Memory and socket at their numbers, for programs that are executed, too. */
static bool shared_begin(void)
{
	int pair[2], memory;

	/* Fill unused numbers, so that no other file takes them. */
	for (int i = 0; i < FIRST_FD; i++)
		if (fcntl(i, F_GETFD) < 0)
			open("/dev/null", O_RDWR);
	memory = memfd_create("fuzz", 0);
	if (memory < 0 || ftruncate(memory, sizeof(*fuzz)) ||
	    socketpair(AF_UNIX, SOCK_DGRAM, 0, pair))
		return false;
	move_fd(memory, SHARED_FD);
	move_fd(pair[0], SOCKET_FD);
	move_fd(pair[1], SOCKET_FD + 1);
	return true;
}

static bool shared_map(void)
{
	for (size_t i = 0; i < inside_length(); i++)
		weights += operation_of(i)->weight;
	for (size_t i = inside_length(); i < operations_length(); i++)
		outside_weights += operation_of(i)->weight;
	fuzz = mmap(NULL, sizeof(*fuzz), PROT_READ | PROT_WRITE, MAP_SHARED,
		    SHARED_FD, 0);
	return fuzz != MAP_FAILED;
}

static void write_setting(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	if (!f)
		return;
	fputs(text, f);
	fclose(f);
}

/* Before everything that it watches, also where that is to come first. */
static void watcher_begin(void)
{
	struct sched_param p = { .sched_priority = 99 };
	struct rlimit files = { OWN_FD + TASKS_MAX, OWN_FD + TASKS_MAX };

	/*
	 * The kernel warns when it throttles real-time tasks: switch that off.
	 */
	write_setting("/proc/sys/kernel/sched_rt_runtime_us", "-1");
	write_setting("/proc/sys/vm/overcommit_memory", "1");
	setrlimit(RLIMIT_NOFILE, &files);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	sched_setscheduler(0, SCHED_FIFO, &p);
}

static int fuzz_main(uint64_t seed, uint64_t operations)
{
	const char *never;
	uint64_t bad;
	bool few;
	int err;

	printf("TAP version 13\n1..2\n# --seed %lu --operations %lu\n", seed,
	       operations);
	if (!shared_begin() || !shared_map()) {
		printf("Bail out! no memory to share\n");
		return 1;
	}
	beats_begin();
	watcher_begin();
	err = load_module();
	if (err) {
		printf("Bail out! cannot load tense.ko: %s\n", strerror(-err));
		return 1;
	}
	bad = rounds_run(seed, operations);
	if (bad)
		printf("not ok 1 %s\n# once more: make fuzz SEED=%lu OPS=%d\n",
		       fuzz->failure, bad, ROUND);
	else
		printf("ok 1 %lu operations\n", fuzz->operations);
	never = never_done();
	few = fuzz->operations < ENOUGH || bad;
	if (few)
		printf("ok 2 # SKIP too few operations to see each succeed\n");
	else
		printf("%s 2 %s\n", never ? "not ok" : "ok",
		       never ? never : "each kind of operation succeeds");
	fuzz->over = 1;
	/* After a failure there are tasks left. */
	err = bad ? 0 : unload_module_soon();
	if (err)
		printf("# FAIL: rmmod afterwards: %s\n", strerror(-err));
	return bad || (never && !few) || err;
}

int main(int argc, char **argv)
{
	uint64_t seed = 1, operations = OPERATIONS;

	if (argc == 5 && !strcmp(argv[1], "--task")) {
		return !shared_map() ||
		       process_main(strtoull(argv[2], NULL, 10), atoi(argv[3]),
				    strtoull(argv[4], NULL, 10));
	}
	for (int i = 1; i + 1 < argc; i += 2) {
		if (!strcmp(argv[i], "--seed"))
			seed = strtoull(argv[i + 1], NULL, 10);
		else if (!strcmp(argv[i], "--operations"))
			operations = strtoull(argv[i + 1], NULL, 10);
	}
	return fuzz_main(seed, operations);
}
