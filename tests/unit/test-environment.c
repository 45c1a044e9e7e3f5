// SPDX-License-Identifier: GPL-2.0
/* Reads a machine's environment from directories that look like one. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "measure/environment.h"
#include "tap.h"

#define CPU	"/sys/devices/system/cpu"

static char root[] = "/tmp/tense-test-XXXXXX";

static void put(const char *path, const char *text)
{
	char name[500];
	FILE *f;

	snprintf(name, sizeof(name), "%s%s", root, path);
	for (char *p = name + strlen(root) + 1; (p = strchr(p, '/')); p++) {
		*p = '\0';
		mkdir(name, 0755);
		*p = '/';
	}
	f = fopen(name, "w");
	if (!f || fputs(text, f) == EOF)
		exit(1);
	fclose(f);
}

static void is(const struct environment *e, const char *name,
	       const char *expected)
{
	const char *got = environment_value(e, name);

	if (!ok(got && !strcmp(got, expected), "%s is %s", name, expected))
		printf("# got %s\n", got ? got : "nothing");
}

static const char *advice(const struct environment *e, const char *name)
{
	for (size_t i = 0; i < e->count; i++)
		if (!strcmp(e->facts[i].name, name))
			return e->facts[i].advice;
	return NULL;
}

static void test_intel(void)
{
	struct environment e;

	put("/proc/cpuinfo", "processor\t: 0\nmodel name\t: Some CPU: 3 GHz\n"
	    "flags\t\t: fpu hypervisor lm\n");
	put("/proc/loadavg", "0.25 0.5 1.00 1/200 4242\n");
	put("/proc/sys/kernel/randomize_va_space", "2\n");
	put(CPU "/intel_pstate/no_turbo", "0\n");
	put(CPU "/cpu0/cpufreq/scaling_governor", "powersave\n");
	put(CPU "/smt/active", "1\n");
	put(CPU "/isolated", "\n");
	environment_read(&e, root);
	is(&e, "cpu", "Some CPU: 3 GHz");
	is(&e, "virtual_machine", "yes");
	is(&e, "load", "0.25");
	is(&e, "aslr", "on");
	is(&e, "turbo", "on");
	is(&e, "governor", "powersave");
	is(&e, "smt", "on");
	is(&e, "isolated_cpus", "none");
	is(&e, "clock", "unknown");
	ok(advice(&e, "turbo"), "there is something to do about turbo");
	ok(advice(&e, "governor"), "and about the governor");
	ok(!advice(&e, "smt") && !advice(&e, "aslr") &&
	   !advice(&e, "isolated_cpus"), "not where schools differ");
	environment_free(&e);
}

static void test_amd(void)
{
	struct environment e;
	char name[500];

	snprintf(name, sizeof(name), "%s" CPU "/intel_pstate/no_turbo", root);
	unlink(name);
	put("/proc/cpuinfo", "model name\t: x\nflags\t\t: fpu lm\n");
	put("/proc/sys/kernel/randomize_va_space", "1\n");
	put(CPU "/cpufreq/boost", "0\n");
	put(CPU "/cpu0/cpufreq/scaling_governor", "performance\n");
	put(CPU "/isolated", "2-3\n");
	environment_read(&e, root);
	is(&e, "virtual_machine", "no");
	is(&e, "aslr", "partly");
	is(&e, "turbo", "off");
	is(&e, "isolated_cpus", "2-3");
	ok(!advice(&e, "turbo") && !advice(&e, "governor"),
	   "all is as it should be");
	environment_free(&e);
	put(CPU "/cpufreq/boost", "1\n");
	put(CPU "/cpufreq/policy0/boost", "0\n");
	environment_read(&e, root);
	is(&e, "turbo", "off");
	environment_free(&e);
}

static void test_nothing(void)
{
	struct environment e;
	struct counters c;

	environment_read(&e, "/nonexistent");
	is(&e, "cpu", "unknown");
	is(&e, "governor", "unknown");
	ok(!advice(&e, "governor") && !advice(&e, "turbo"),
	   "nothing is advised of what is not known");
	environment_free(&e);
	counters_read(&c, "/nonexistent");
	ok(c.stolen == 0 && !c.swapped && !c.throttled, "nothing is counted");
}

static void test_counters(void)
{
	struct counters c;

	put("/proc/stat", "cpu  1 2 3 4 5 6 7 250 9 10\ncpu0 1 1 1 1 1 1 1 1\n");
	put("/proc/vmstat", "nr_free_pages 5\npswpin 30\npswpout 12\n");
	put(CPU "/cpu0/thermal_throttle/core_throttle_count", "3\n");
	put(CPU "/cpu1/thermal_throttle/core_throttle_count", "4\n");
	counters_read(&c, root);
	ok(c.stolen == 250.0 / (double)sysconf(_SC_CLK_TCK), "stolen time");
	is_i64((int64_t)c.swapped, 42, "pages in either direction");
	is_i64((int64_t)c.throttled, 7, "of all CPUs");
}

int main(void)
{
	char command[100];

	if (!mkdtemp(root))
		return 1;
	test_intel();
	test_amd();
	test_nothing();
	test_counters();
	snprintf(command, sizeof(command), "rm -rf %s", root);
	return system(command) || done();
}
