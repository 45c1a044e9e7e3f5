// SPDX-License-Identifier: GPL-2.0
#include "image.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Threads come and go meanwhile: an unreadable one has exited. */
static int read_line(pid_t process, pid_t tid, const char *name, char *line,
		     size_t size)
{
	char path[64];
	FILE *f;
	int result = -1;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/%s", process, tid, name);
	f = fopen(path, "re");
	if (f && fgets(line, size, f)) {
		line[strcspn(line, "\n")] = '\0';
		result = 0;
	}
	if (f)
		fclose(f);
	return result;
}

static int query_proc(pid_t process, pid_t tid, struct task_time *task)
{
	char line[128];

	*task = (struct task_time){ .tid = tid, .process = process };
	if (read_line(process, tid, "schedstat", line, sizeof(line)) ||
	    sscanf(line, "%" SCNu64, &task->ns) != 1 ||
	    read_line(process, tid, "comm", line, sizeof(line)))
		return -1;
	memcpy(task->name, line, sizeof(task->name) - 1);
	return 0;
}

static int query(struct task_source *source, pid_t process, pid_t tid,
		 struct task_time *task)
{
	if (!source)
		return query_proc(process, tid, task);
	if (taskstats_query(source, tid, task))
		return -1;
	/* Old kernels do not tell it. */
	task->process = process;
	return 0;
}

/* The next number among the names of a directory, 0 at the end. */
static pid_t next_number(DIR *dir)
{
	const struct dirent *entry;

	while ((entry = readdir(dir)))
		if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9')
			return strtol(entry->d_name, NULL, 10);
	return 0;
}

static void add_process(struct image *image, struct task_source *source,
			pid_t process)
{
	struct task_time task;
	char path[64];
	pid_t tid;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", process);
	dir = opendir(path);
	if (!dir)
		return;
	while ((tid = next_number(dir)))
		if (!query(source, process, tid, &task))
			image_add(image, &task);
	closedir(dir);
}

int image_take(struct image *image, struct task_source *source)
{
	DIR *dir = opendir("/proc");
	pid_t process;

	*image = (struct image){ 0 };
	if (!dir)
		return -1;
	while ((process = next_number(dir)))
		add_process(image, source, process);
	closedir(dir);
	return image->count ? 0 : -1;
}
