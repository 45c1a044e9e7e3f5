// SPDX-License-Identifier: GPL-2.0
/* How results name the machine on which a command ran. */
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "base/machine.h"
#include "tap.h"

static void test_schedulers(void)
{
	static const struct { const char *release, *scheduler; } cases[] = {
		{ "6.1.0-43-amd64", "CFS" },
		{ "6.5.13", "CFS" },
		{ "6.6", "EEVDF" },
		{ "7.2.13-tense", "EEVDF" },
		{ "10.0", "EEVDF" },
		{ "5.10", "CFS" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		ok(!strcmp(scheduler_name(cases[i].release), cases[i].scheduler),
		   "%s has %s", cases[i].release, cases[i].scheduler);
	ok(!scheduler_name("") && !scheduler_name("unknown"),
	   "a text that is no release has none");
}

static void is_text(unsigned int cpus, const char *release, const char *expected)
{
	struct machine m = { .cpus = cpus };
	char *text;

	strcpy(m.release, release);
	text = machine_text(&m);
	ok(!strcmp(text, expected), "%s", expected);
	free(text);
}

static void is_json(unsigned int cpus, const char *release, const char *expected)
{
	struct machine m = { .cpus = cpus };
	json_t *object;
	char *text;

	strcpy(m.release, release);
	object = machine_json(&m);
	text = json_dumps(object, JSON_COMPACT);
	ok(!strcmp(text, expected), "%s", expected);
	free(text);
	json_decref(object);
}

static void test_affinity(void)
{
	unsigned int all = machine_cpus();
	cpu_set_t set, before;
	int cpu = 0;

	sched_getaffinity(0, sizeof(before), &before);
	while (!CPU_ISSET(cpu, &before))
		cpu++;
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
	ok(machine_cpus() == 1, "a process may be kept to one CPU");
	sched_setaffinity(0, sizeof(before), &before);
	ok(machine_cpus() == all, "or to more");
}

int main(void)
{
	test_schedulers();
	is_text(1, "6.1.159", "1 CPU, Linux 6.1.159 (CFS)");
	is_text(64, "7.2", "64 CPUs, Linux 7.2 (EEVDF)");
	is_text(2, "", "2 CPUs");
	is_json(2, "7.2.13-tense",
		"{\"cpus\":2,\"kernel_version\":\"7.2\",\"scheduler\":\"EEVDF\"}");
	is_json(1, "", "{\"cpus\":1,\"kernel_version\":null,\"scheduler\":null}");
	test_affinity();
	return done();
}
