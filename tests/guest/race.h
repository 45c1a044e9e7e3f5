/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Races for one CPU: tasks of an experiment, and maybe a process outside,
 * compute as much as they can. The kernel counts the CPU time that each gets.
 */
#ifndef TENSE_RACE_H
#define TENSE_RACE_H

#include "guest.h"

#include <limits.h>
#include <linux/futex.h>
#include <math.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/types.h>

#define MEMBERS_MAX	8
/*
 * How long one of them runs, beside which what they all need to get ready and to
 * end, which counts too, is to be less than a hundredth.
 */
#ifndef RACE_NS
#define RACE_NS		(2 * S)
#endif
/*
 * And before. Turns in which one has its percent already and another one does not
 * are over for as long as if that remained so.
 */
#define WARM_UP		(RACE_NS / 4)
/* The tolerated error of a share, relative to the expected one. */
#define TOLERANCE	0.01
/* The longest turn, unless the host keeps the guest from running meanwhile. */
#ifndef TURN
#define TURN		(10 * MS)
#endif

struct member {
	const char *percent;	/* NULL: the last */
	const char *other;	/* it changes to and fro, at every turn */
	int rounds;		/* or has the other for a moment only, after so many */
	int nice;
	const char *group;	/* its group; NULL: the test's */
};

/* Where groups are by their names. */
#define RACE_GROUPS	"/tmp/groups"
/* A session of its own instead, of which the kernel may make a group. */
#define RACE_SESSION	"session"

struct race {
	volatile int go, stop;
	volatile bool ready[MEMBERS_MAX];
	volatile int members, awake;
	struct tense_stats stats;
	double ran[MEMBERS_MAX];	/* real ns */
	double round[MEMBERS_MAX];	/* real ns of its longest round */
	pid_t pid[MEMBERS_MAX];
};

/* Virtual time is real time so far: nobody has a percent. */
static inline void await_go(struct race *race)
{
	while (!race->go)
		syscall(SYS_futex, &race->go, FUTEX_WAIT, 0, NULL, NULL, 0);
}

static inline void let_go(struct race *race)
{
	race->go = 1;
	syscall(SYS_futex, &race->go, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

#define ROUND	300000

static inline void spin(const struct race *race, int times)
{
	for (volatile int i = 0; i < times && !race->stop; i++)
		;
}

/*
 * Runs a round. A host that keeps the guest from running makes one longer: the
 * guest counts that time as time that the member ran.
 */
static inline void run_round(const struct member *m, double *longest,
			     const struct race *race)
{
	double begin = clock_ns(CLOCK_THREAD_CPUTIME_ID), took;

	spin(race, ROUND);
	took = (clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin) * atof(m->percent) / 100;
	if (took > *longest)
		*longest = took;
}

static inline void compute(const struct member *m, struct race *race, int i, int fd)
{
	int turn = 0;

	while (!race->stop) {
		if (!m->other) {
			run_round(m, &race->round[i], race);
			continue;
		}
		spin(race, ROUND * (m->rounds ? m->rounds : 1));
		dev_percent(fd, turn++ % 2 || m->rounds ? m->other : m->percent);
		if (m->rounds) {
			spin(race, ROUND / 100);
			dev_percent(fd, m->percent);
		}
	}
}

static inline bool enter(const char *group)
{
	char path[64];

	if (!group)
		return true;
	if (!strcmp(group, RACE_SESSION))
		return setsid() >= 0;
	snprintf(path, sizeof(path), RACE_GROUPS "/%s/cgroup.procs", group);
	return !write_text(path, "0");
}

/*
 * A member that is woken just after another became 1000 times as fast wakes
 * only when that moment has passed in virtual time. So all wait for each other.
 */
static inline void await_members(struct race *race)
{
	__atomic_add_fetch(&race->awake, 1, __ATOMIC_RELAXED);
	while (race->awake < race->members)
		;
}

/* All begin at once. */
static inline void be_member(const struct member *m, struct race *race, int i, int fd)
{
	if (!enter(m->group) || setpriority(PRIO_PROCESS, 0, m->nice))
		_exit(1);
	race->pid[i] = getpid();
	race->ready[i] = true;
	await_go(race);
	await_members(race);
	if (!dev_percent(fd, m->percent))
		_exit(1);
	compute(m, race, i, fd);
	_exit(0);
}

static inline struct tense_thread record_of(const char *report, pid_t pid)
{
	const struct tense_stats *s = (const void *)report;

	for (unsigned int i = 0; i < s->threads; i++) {
		struct tense_thread t;

		memcpy(&t, report + s->size + i * s->thread_size, sizeof(t));
		if (t.pid == pid)
			return t;
	}
	return (struct tense_thread){ };
}

/* The process that opened it, which waits for the others and reads the sums. */
static inline void lead(const struct member *members, struct race *race)
{
	static char report[sizeof(struct tense_stats) +
			   32 * sizeof(struct tense_thread)];
	int fd = dev_open();

	if (fd < 0)
		_exit(1);
	for (int i = 0; members[i].percent; i++)
		if (!fork())
			be_member(&members[i], race, i, fd);
	while (wait(NULL) > 0)
		;
	if (read(fd, report, sizeof(report)) < (ssize_t)sizeof(race->stats))
		_exit(1);
	memcpy(&race->stats, report, sizeof(race->stats));
	for (int i = 0; members[i].percent; i++) {
		struct tense_thread t = record_of(report, race->pid[i]);

		race->ran[i] = t.ran + t.overhead;
	}
	_exit(0);
}

static inline void be_outside(struct race *race, const char *group)
{
	if (!enter(group))
		_exit(1);
	await_go(race);
	while (!race->stop)
		;
	_exit(0);
}

/* CPU time of a process that has ended, in ns. */
static inline double reap(pid_t pid)
{
	struct rusage usage;
	int status;

	if (wait4(pid, &status, 0, &usage) != pid || status)
		return NAN;
	return usage.ru_utime.tv_sec * 1e9 + usage.ru_utime.tv_usec * 1e3 +
		usage.ru_stime.tv_sec * 1e9 + usage.ru_stime.tv_usec * 1e3;
}

/* The leader of a race whose members are about to begin. */
static inline pid_t start(const struct member *members, struct race *race)
{
	pid_t leader;

	for (race->members = 0; members[race->members].percent; race->members++)
		;
	leader = fork();
	if (!leader)
		lead(members, race);
	for (int i = 0; members[i].percent; i++)
		while (!race->ready[i])
			usleep(1000);
	return leader;
}

static inline double cpu_ns(pid_t pid)
{
	clockid_t clock;

	return clock_getcpuclockid(pid, &clock) ? NAN : (double)clock_ns(clock);
}

/* By its own clock, so that it does not matter what else the machine does. */
static inline void let_run(pid_t pid, double ns)
{
	while (cpu_ns(pid) < ns)
		usleep(20000);
}

/* One that changes has no percent by which its clock would tell it. */
static inline bool is_told(const struct member *members)
{
	for (int i = 0; members[i].percent; i++)
		if (members[i].other)
			return false;
	return true;
}

/*
 * The real ns that each member ran, calculated from the charges on its clock.
 */
static inline void look(const struct member *members, const struct race *race,
			double *ran)
{
	for (int i = 0; i < race->members; i++)
		ran[i] = cpu_ns(race->pid[i]) * atof(members[i].percent) / 100;
}

/*
 * Runs and ends the race. False if a member failed. *own: CPU time of @whose.
 */
static inline bool compete(const struct member *members, struct race *race,
			   pid_t leader, pid_t whose, double *own)
{
	double before[MEMBERS_MAX], after[MEMBERS_MAX], began;

	let_go(race);
	let_run(whose, WARM_UP);
	began = cpu_ns(whose);
	look(members, race, before);
	let_run(whose, began + RACE_NS);
	*own = cpu_ns(whose) - began;
	look(members, race, after);
	race->stop = 1;
	if (isnan(reap(leader)))
		return false;
	for (int i = 0; i < race->members && is_told(members); i++)
		race->ran[i] = after[i] - before[i];
	return true;
}

/* Real CPU time of the outside process, in this group, over that of all. */
static inline double share_outside_in(const char *group,
				      const struct member *members,
				      struct race *race)
{
	double mine, sum, all;
	pid_t outside;

	outside = fork();
	if (!outside)
		be_outside(race, group);
	if (!compete(members, race, start(members, race), outside, &mine))
		return NAN;
	all = reap(outside);
	if (!is_told(members))
		mine = all;
	sum = mine;
	for (int i = 0; i < race->members; i++)
		sum += race->ran[i];
	return mine / sum;
}

static inline double share_outside(const struct member *members,
				   struct race *race)
{
	return share_outside_in(NULL, members, race);
}

/* No process outside. False if a task failed. */
static inline bool run_alone(const struct member *members, struct race *race)
{
	pid_t leader = start(members, race);
	double own;

	return compete(members, race, leader, race->pid[0], &own);
}

/* Real ns: the longest turn of a member, as far as can be told. */
static inline double longest_turn(const struct race *race)
{
	double longest = TURN;

	for (int i = 0; i < race->members; i++)
		if (race->round[i] > longest)
			longest = race->round[i];
	return longest;
}

static inline struct race *new_race(void)
{
	return shared(sizeof(struct race));
}

#define EXPECT_NEAR(value, expected) do {				\
	double __value = (value), __expected = (expected);		\
									\
	TH_LOG("%s: %.4f, expected %.4f", #value, __value, __expected);	\
	EXPECT_TRUE(fabs(__value / __expected - 1) < TOLERANCE);	\
} while (0)

/*
 * Some members ran a multiple of the time of others. When the race stops, each
 * may lack the rest of a turn, or have had it already: this is no error of the
 * shares.
 */
#define EXPECT_TIMES(race, ran, times, others) do {			\
	double __ran = (ran), __expected = (times) * (double)(others);	\
	double __turn = longest_turn(race);				\
									\
	TH_LOG("%.0f ms, expected %.0f ms, turns of %.0f ms", __ran / MS,	\
	       __expected / MS, __turn / MS);				\
	EXPECT_LT(fabs(__ran - __expected), TOLERANCE * __expected +	\
		  __turn * (1 + (times)));				\
} while (0)

#define EXPECT_RATIO(race, a, b, expected)				\
	EXPECT_TIMES(race, (race)->ran[a], expected, (race)->ran[b])

#define MEMBERS(...) ((struct member[]) { __VA_ARGS__, { } })

/* How much a process outside, in a group, gets beside these members. */
#define EXPECT_OUTSIDE(expected, race, group, ...)			\
	EXPECT_NEAR(share_outside_in(group, MEMBERS(__VA_ARGS__), race), expected)

#endif
