// SPDX-License-Identifier: GPL-2.0
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "measure/image.h"
#include "base/util.h"
#include "daemons.h"

/* An image takes some ms, so that this is less than a hundredth of the time. */
#define SLICE_MS	500

struct whatif_watch {
	pthread_t thread;
	int stop;
	struct task_source *source;
	struct cutoff_store cutoffs;
	struct daemon_runs runs;
	struct image before;
	struct image exited;
	uint64_t began;
	uint64_t since;		/* when before was taken */
	bool tell;
};

/* Processes of tense's own, in any order. */
struct own {
	pid_t *pids;
	size_t count;
};

static bool is_own(const struct own *own, pid_t pid)
{
	for (size_t i = 0; i < own->count; i++)
		if (own->pids[i] == pid)
			return true;
	return false;
}

static void add_own(struct own *own, pid_t pid)
{
	own->pids = xrealloc(own->pids, (own->count + 1) *
					sizeof(pid_t));
	own->pids[own->count++] = pid;
}

/* Adds the children of its processes, and their children. */
static void add_descendants(struct own *own, const struct image *image)
{
	bool more;

	do {
		more = false;
		for (size_t i = 0; i < image->count; i++) {
			const struct task_time *t = &image->tasks[i];

			if (!is_own(own, t->parent) || is_own(own, t->process))
				continue;
			add_own(own, t->process);
			more = true;
		}
	} while (more);
}

static void on_exit_of_task(void *arg, const struct task_time *task)
{
	struct whatif_watch *watch = arg;

	image_add(&watch->exited, task);
}

/* If there are too many exits, the lost ones count for no process. */
static void collect_exits(struct whatif_watch *watch)
{
	taskstats_drain(watch->source, on_exit_of_task, watch);
}

static void note_runs(struct whatif_watch *watch, const struct image *after,
		      uint64_t now)
{
	struct activities activities;
	struct own own = { 0 };

	add_own(&own, getpid());
	add_descendants(&own, after);
	activities_between(&activities, &watch->before, after, &watch->exited,
			   own.pids, own.count);
	for (size_t i = 0; i < activities.count; i++)
		if (cutoffs_find(&watch->cutoffs.cutoffs,
				 activities.list[i].name))
			daemon_runs_add(&watch->runs, &activities.list[i],
					watch->since, now);
	activities_free(&activities);
	free(own.pids);
}

static void end_slice(struct whatif_watch *watch)
{
	struct image after;
	uint64_t now;

	image_take(&after, watch->source);
	collect_exits(watch);
	now = wall_ns();
	note_runs(watch, &after, now);
	image_free(&watch->before);
	image_free(&watch->exited);
	watch->before = after;
	watch->since = now;
}

static void *watch_machine(void *arg)
{
	struct whatif_watch *watch = arg;
	struct pollfd stop = { .fd = watch->stop, .events = POLLIN };

	watch->since = wall_ns();
	image_take(&watch->before, watch->source);
	while (poll(&stop, 1, SLICE_MS) <= 0)
		end_slice(watch);
	end_slice(watch);
	return NULL;
}

/* Signals are for the thread that waits for the command. */
static int start(struct whatif_watch *watch)
{
	sigset_t all, mask;
	int err;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &mask);
	err = pthread_create(&watch->thread, NULL, watch_machine, watch);
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
	return err;
}

static void watch_free(struct whatif_watch *watch)
{
	taskstats_close(watch->source);
	cutoffs_unload(&watch->cutoffs);
	image_free(&watch->before);
	image_free(&watch->exited);
	free(watch->runs.list);
	close(watch->stop);
	free(watch);
}

struct whatif_watch *whatif_watch_begin(bool tell)
{
	struct whatif_watch *watch = xmalloc(sizeof(*watch));
	char *why = NULL;

	*watch = (struct whatif_watch){ .stop = eventfd(0, EFD_CLOEXEC),
					.began = wall_ns(), .tell = tell };
	if (!cutoffs_load_default(&watch->cutoffs) &&
	    watch->cutoffs.cutoffs.count) {
		watch->source = taskstats_open(&why);
		if (watch->source && watch->stop >= 0 && !start(watch))
			return watch;
		if (tell)
			warn("whatif: rounds that daemons spoil are not dropped: %s",
			     why ? why : "no thread can be started");
	}
	free(why);
	watch_free(watch);
	return NULL;
}

/* A guest has its clock from its host: runs cannot have been before, nor later. */
static bool clocks_agree(const struct whatif_watch *watch,
			 const struct whatif_samples *samples)
{
	for (size_t i = 0; i < samples->count; i++)
		if (samples->list[i].began &&
		    (samples->list[i].began < watch->began ||
		     samples->list[i].ended > watch->since))
			return false;
	return true;
}

static bool drop(const struct whatif_watch *watch,
		 struct whatif_samples *samples)
{
	if (clocks_agree(watch, samples))
		return whatif_drop(samples, &watch->runs, &watch->cutoffs);
	if (watch->tell)
		warn("whatif: rounds that daemons spoil are not dropped: the guest's clock is not that of this machine");
	return false;
}

bool whatif_watch_end(struct whatif_watch *watch,
		      struct whatif_samples *samples)
{
	const uint64_t one = 1;
	bool spoiled;

	if (!watch)
		return false;
	if (write(watch->stop, &one, sizeof(one)) == sizeof(one))
		pthread_join(watch->thread, NULL);
	spoiled = samples && drop(watch, samples);
	watch_free(watch);
	return spoiled;
}
