// SPDX-License-Identifier: GPL-2.0
/*
 * How much kernel memory N sleeping threads take, in an experiment and
 * outside. Once per boot: the allocator keeps what was used before.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "init.h"

static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;

static void *wait_at_gate(void *unused)
{
	pthread_mutex_lock(&gate);
	pthread_mutex_unlock(&gate);
	return unused;
}

static long meminfo(const char *key)
{
	FILE *file = fopen("/proc/meminfo", "r");
	char line[128], name[64];
	long kb, found = -1;

	init_must(file != NULL, "/proc/meminfo");
	while (fgets(line, sizeof(line), file))
		if (sscanf(line, "%63[^:]: %ld", name, &kb) == 2 &&
		    !strcmp(name, key))
			found = kb;
	fclose(file);
	init_must(found >= 0, key);
	return found;
}

int main(int argc, char **argv)
{
	long slab, percpu, unused;
	pthread_attr_t small;
	pthread_t thread;
	int tasks;

	tasks = init_argc(argc, argv) == 4 ? atoi(argv[1]) : 0;
	if (tasks < 1) {
		fputs("Usage: many-tasks-init N MODULE experiment|plain\n",
		      stderr);
		return 2;
	}
	init_mount();
	init_load(argv[2], "");
	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 64 << 10);
	pthread_mutex_lock(&gate);
	slab = meminfo("Slab");
	percpu = meminfo("Percpu");
	unused = meminfo("MemFree");
	if (!strcmp(argv[3], "experiment"))
		init_must(open("/dev/tense", O_RDWR) >= 0, "/dev/tense");
	for (int i = 0; i < tasks; i++)
		init_must(!pthread_create(&thread, &small, wait_at_gate, NULL),
			  "start a thread");
	/* Until the last one has come to the gate. */
	usleep(200000);
	printf("slab_kb %ld\n", meminfo("Slab") - slab);
	printf("percpu_kb %ld\n", meminfo("Percpu") - percpu);
	printf("used_kb %ld\n", unused - meminfo("MemFree"));
	init_end();
}
