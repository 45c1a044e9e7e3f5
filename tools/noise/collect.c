// SPDX-License-Identifier: GPL-2.0
#include "collect.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/util.h"

#define LOOK_US		50000	/* between two looks at how far they are */

struct sample {
	double time;		/* seconds */
	double switches[NR_SWITCHES];
};

/* The memory that the processes of a crew share. */
struct shared {
	atomic_uint finished;	/* have all of their samples */
	atomic_bool stop;
	atomic_size_t taken;
	struct sample samples[];
};

struct crew {
	struct shared *shared;
	size_t size;		/* bytes of the shared memory */
	int gate[2];		/* a pipe whose end is the start */
	pid_t *pids;
	unsigned int count;
	size_t each;		/* samples */
	uint64_t blocks;
};

/* Asks before and after: the time of these calls is in no sample. */
static struct sample take_sample(uint64_t blocks)
{
	struct rusage before, after;
	struct sample sample;

	getrusage(RUSAGE_SELF, &before);
	sample.time = nops_time(blocks);
	getrusage(RUSAGE_SELF, &after);
	sample.switches[VOLUNTARY] = (double)(after.ru_nvcsw - before.ru_nvcsw);
	sample.switches[INVOLUNTARY] = (double)(after.ru_nivcsw -
						before.ru_nivcsw);
	return sample;
}

static void work(const struct crew *crew, struct sample *samples)
{
	struct shared *shared = crew->shared;

	nops_time(crew->blocks);
	for (size_t i = 0; i < crew->each; i++) {
		samples[i] = take_sample(crew->blocks);
		atomic_fetch_add(&shared->taken, 1);
	}
	atomic_fetch_add(&shared->finished, 1);
	/* For the others the machine stays as busy as it was. */
	while (!atomic_load(&shared->stop))
		nops_time(crew->blocks);
}

/* The end of the pipe is there when the last one has come here. */
static void wait_for_start(const struct crew *crew)
{
	char none;

	close(crew->gate[1]);
	while (read(crew->gate[0], &none, 1) < 0 && errno == EINTR)
		;
}

/* Its exit status is an errno. */
static void __attribute__((noreturn))
member(const struct crew *crew, unsigned int number, int cpu, pid_t parent)
{
	cpu_set_t set;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(0);
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		_exit(errno);
	wait_for_start(crew);
	work(crew, crew->shared->samples + number * crew->each);
	_exit(0);
}

/* The CPUs that may be used, in a list of CPU_SETSIZE; their number. */
static unsigned int list_cpus(int *cpus)
{
	unsigned int count = 0;
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set)) {
		warn("noise: cannot tell which CPUs it may use: %s",
		     strerror(errno));
		return 0;
	}
	for (int i = 0; i < CPU_SETSIZE; i++)
		if (CPU_ISSET(i, &set))
			cpus[count++] = i;
	return count;
}

static int crew_begin(struct crew *crew)
{
	crew->size = sizeof(*crew->shared) +
		     crew->count * crew->each * sizeof(struct sample);
	crew->shared = mmap(NULL, crew->size, PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (crew->shared == MAP_FAILED) {
		warn("noise: no memory for %zu times: %s",
		     crew->count * crew->each, strerror(errno));
		return -1;
	}
	if (pipe2(crew->gate, O_CLOEXEC)) {
		warn("noise: %s", strerror(errno));
		munmap(crew->shared, crew->size);
		return -1;
	}
	crew->pids = xmalloc(crew->count * sizeof(*crew->pids));
	return 0;
}

static int fork_members(struct crew *crew, const int *cpus, unsigned int cores)
{
	pid_t parent = getpid();

	for (unsigned int i = 0; i < crew->count; i++) {
		crew->pids[i] = fork();
		if (!crew->pids[i])
			member(crew, i, cpus[i % cores], parent);
		if (crew->pids[i] < 0) {
			warn("noise: cannot start %u processes: %s",
			     crew->count, strerror(errno));
			return -1;
		}
	}
	return 0;
}

static int check_member(int status)
{
	if (WIFSIGNALED(status))
		warn("noise: a process was ended by signal %d (%s)",
		     WTERMSIG(status), strsignal(WTERMSIG(status)));
	else if (WEXITSTATUS(status))
		warn("noise: cannot stay on a CPU: %s",
		     strerror(WEXITSTATUS(status)));
	return status ? -1 : 0;
}

/* A process that has ended is not to be waited for again. */
static int collect_ended(struct crew *crew, int flags)
{
	int status, err = 0;

	for (unsigned int i = 0; i < crew->count; i++) {
		if (crew->pids[i] <= 0 ||
		    waitpid(crew->pids[i], &status, flags) <= 0)
			continue;
		crew->pids[i] = 0;
		if (!err)
			err = check_member(status);
	}
	return err;
}

static int wait_for_samples(struct crew *crew, collect_progress progress,
			    void *arg)
{
	while (atomic_load(&crew->shared->finished) < crew->count) {
		if (collect_ended(crew, WNOHANG))
			return -1;
		if (progress)
			progress(atomic_load(&crew->shared->taken), arg);
		usleep(LOOK_US);
	}
	return 0;
}

/* Where something went wrong: some may not even have begun. */
static void kill_members(struct crew *crew)
{
	for (unsigned int i = 0; i < crew->count; i++) {
		if (crew->pids[i] <= 0)
			continue;
		kill(crew->pids[i], SIGKILL);
		waitpid(crew->pids[i], NULL, 0);
	}
}

static int run_crew(struct crew *crew, const int *cpus, unsigned int cores,
		    collect_progress progress, void *arg)
{
	int err = fork_members(crew, cpus, cores);

	close(crew->gate[0]);
	close(crew->gate[1]);
	if (!err)
		err = wait_for_samples(crew, progress, arg);
	atomic_store(&crew->shared->stop, true);
	if (!err)
		return collect_ended(crew, 0);
	kill_members(crew);
	return -1;
}

/*
 * The clock tells whole nanoseconds, and of short work many times are equal, which
 * no continuous distribution allows: each is given its part of one.
 */
static double spread(size_t i)
{
	double golden = 0.6180339887498949;

	return (fmod((double)i * golden, 1) - 0.5) * 1e-9;
}

static void copy_samples(struct collection *c, const struct sample *samples)
{
	c->noise = xmalloc(c->count * sizeof(*c->noise));
	for (size_t i = 0; i < c->count; i++)
		c->noise[i] = samples[i].time - c->nominal + spread(i);
	for (int j = 0; j < NR_SWITCHES; j++) {
		c->switches[j] = xmalloc(c->count * sizeof(*c->switches[j]));
		for (size_t i = 0; i < c->count; i++)
			c->switches[j][i] = samples[i].switches[j];
	}
}

int collect(const struct workload *w, const struct nops *nops,
	    collect_progress progress, void *arg, struct collection *c)
{
	struct crew crew = { .blocks = nops_blocks(nops, w->length) };
	int cpus[CPU_SETSIZE] = { 0 }, err;

	*c = (struct collection){ .cores = list_cpus(cpus) };
	if (!c->cores)
		return -1;
	crew.count = c->cores * w->per_core;
	crew.each = (w->samples + crew.count - 1) / crew.count;
	if (crew_begin(&crew))
		return -1;
	err = run_crew(&crew, cpus, c->cores, progress, arg);
	if (!err) {
		c->nominal = nops_expected(nops, crew.blocks);
		c->count = crew.count * crew.each;
		copy_samples(c, crew.shared->samples);
	}
	munmap(crew.shared, crew.size);
	free(crew.pids);
	return err;
}

void collection_free(struct collection *c)
{
	free(c->noise);
	for (int i = 0; i < NR_SWITCHES; i++)
		free(c->switches[i]);
	*c = (struct collection){ 0 };
}
