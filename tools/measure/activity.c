// SPDX-License-Identifier: GPL-2.0
#include "activity.h"

#include <stdlib.h>
#include <string.h>

#include "base/util.h"

void image_add(struct image *image, const struct task_time *task)
{
	/* Grows by doubling, at the powers of two. */
	if (!(image->count & (image->count - 1)))
		image->tasks = xrealloc(image->tasks,
					(image->count ? 2 * image->count : 1) *
					sizeof(*image->tasks));
	image->tasks[image->count] = *task;
	mask_controls(image->tasks[image->count++].name);
}

void image_free(struct image *image)
{
	free(image->tasks);
	*image = (struct image){ 0 };
}

void activity_rename(char *name)
{
	if (!strncmp(name, "kworker/", 8))
		name[strcspn(name, ":")] = '\0';
}

/* One bit for each number that a process can have. */
#define PIDS_MAX	(1 << 22)

struct pids {
	unsigned char *bits;
};

static void create_pids(struct pids *pids)
{
	pids->bits = xmalloc(PIDS_MAX / 8);
}

static bool has_pid(const struct pids *pids, pid_t pid)
{
	return pid > 0 && pid < PIDS_MAX && pids->bits[pid / 8] >> pid % 8 & 1;
}

static void add_pid(struct pids *pids, pid_t pid)
{
	if (pid > 0 && pid < PIDS_MAX)
		pids->bits[pid / 8] |= 1 << pid % 8;
}

/* Adds the descendants, whichever order they exited in. */
static void close_tree(struct pids *pids, const struct image *exited)
{
	bool more;

	do {
		more = false;
		for (size_t i = 0; i < exited->count; i++) {
			const struct task_time *t = &exited->tasks[i];

			if (!has_pid(pids, t->parent) ||
			    has_pid(pids, t->process))
				continue;
			add_pid(pids, t->process);
			more = true;
		}
	} while (more);
}

static const struct task_time *find_task(const struct image *image,
					 const struct task_time *task)
{
	for (size_t i = 0; i < image->count; i++)
		if (image->tasks[i].tid == task->tid &&
		    image->tasks[i].process == task->process)
			return &image->tasks[i];
	return NULL;
}

/* A thread that has less than one of its number had is another one. */
static uint64_t time_since(const struct image *before,
			   const struct task_time *task)
{
	const struct task_time *old = find_task(before, task);

	return old && old->ns <= task->ns ? task->ns - old->ns : task->ns;
}

static const char *process_name(const struct image *before,
				const struct image *after,
				const struct task_time *task)
{
	const struct task_time leader = { .tid = task->process,
					  .process = task->process };
	const struct task_time *found = find_task(after, &leader);

	if (!found)
		found = find_task(before, &leader);
	return found ? found->name : task->name;
}

static void add_time(struct activities *activities, const char *name,
		     pid_t process, uint64_t ns)
{
	struct activity *a;

	for (size_t i = 0; i < activities->count; i++) {
		if (activities->list[i].process == process) {
			activities->list[i].ns += ns;
			return;
		}
	}
	activities->list = xrealloc(activities->list, (activities->count + 1) *
						      sizeof(*a));
	a = &activities->list[activities->count++];
	*a = (struct activity){ .process = process, .ns = ns };
	memcpy(a->name, name, sizeof(a->name));
	activity_rename(a->name);
}

static int longest_first(const void *left, const void *right)
{
	const struct activity *a = left, *b = right;

	if (a->ns != b->ns)
		return a->ns < b->ns ? 1 : -1;
	return strcmp(a->name, b->name);
}

void activities_between(struct activities *activities,
			const struct image *before, const struct image *after,
			const struct image *exited, const pid_t *own,
			size_t nr_own)
{
	const struct image *const images[] = { after, exited };
	struct pids pids;

	*activities = (struct activities){ 0 };
	create_pids(&pids);
	for (size_t i = 0; i < nr_own; i++)
		add_pid(&pids, own[i]);
	close_tree(&pids, exited);
	for (size_t i = 0; i < 2; i++) {
		for (size_t j = 0; j < images[i]->count; j++) {
			const struct task_time *t = &images[i]->tasks[j];
			uint64_t ns = time_since(before, t);

			/* It was there, and then it exited. */
			if (images[i] == exited && find_task(after, t))
				continue;
			if (ns && !has_pid(&pids, t->process))
				add_time(activities,
					 process_name(before, after, t),
					 t->process, ns);
		}
	}
	free(pids.bits);
	if (activities->count)
		qsort(activities->list, activities->count,
		      sizeof(*activities->list), longest_first);
}

void activities_free(struct activities *activities)
{
	free(activities->list);
	*activities = (struct activities){ 0 };
}

uint64_t activity_of_tree(const struct image *exited, pid_t process,
			  pid_t reaper)
{
	struct pids pids;
	uint64_t ns = 0;

	create_pids(&pids);
	add_pid(&pids, process);
	add_pid(&pids, reaper);
	close_tree(&pids, exited);
	for (size_t i = 0; i < exited->count; i++)
		if (exited->tasks[i].process != reaper &&
		    has_pid(&pids, exited->tasks[i].process))
			ns += exited->tasks[i].ns;
	free(pids.bits);
	return ns;
}
