// SPDX-License-Identifier: GPL-2.0
#include "environment.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timex.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/util.h"

/* The first line of a file, or NULL. The caller frees it. */
static char *read_fact(const char *root, const char *path)
{
	char *name = xprintf("%s%s", root, path), line[512];
	FILE *f = fopen(name, "re");
	char *value = NULL;

	if (f && fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = '\0';
		value = xstrdup(line);
	}
	if (f)
		fclose(f);
	free(name);
	return value;
}

/* The rest of the first line that begins so, or NULL. */
static char *read_line(const char *root, const char *path, const char *key)
{
	char *name = xprintf("%s%s", root, path), *line = NULL, *value = NULL;
	FILE *f = fopen(name, "re");
	size_t size = 0;

	while (f && !value && getline(&line, &size, f) > 0) {
		if (strncmp(line, key, strlen(key)) != 0)
			continue;
		line[strcspn(line, "\n")] = '\0';
		value = line + strlen(key);
		value = xstrdup(value + strspn(value, " \t:"));
	}
	if (f)
		fclose(f);
	free(line);
	free(name);
	return value;
}

/* Takes value. */
static struct fact *add(struct environment *e, const char *name,
			enum fact_kind kind, char *value)
{
	struct fact *fact = &e->facts[e->count++];

	*fact = (struct fact){ .name = name, .kind = kind,
			       .value = value ? value : xstrdup(FACT_UNKNOWN) };
	return fact;
}

static bool fact_is(const struct fact *fact, const char *value)
{
	return !strcmp(fact->value, value);
}

static char *kernel(void)
{
	struct utsname name;

	uname(&name);
	return xprintf("%s %s", name.sysname, name.release);
}

/* A distribution may fix its kernel: the version changes, the release stays. */
static char *kernel_version(void)
{
	struct utsname name;

	uname(&name);
	return xstrdup(name.version);
}

static char *load(const char *root)
{
	char *value = read_fact(root, "/proc/loadavg");

	if (value)
		value[strcspn(value, " ")] = '\0';
	return value;
}

/* 1 or 0 as a word; other values remain. */
static char *switched(char *value, const char *on, const char *off)
{
	const char *word = !value ? NULL : !strcmp(value, "1") ? on :
			   !strcmp(value, "0") ? off : NULL;

	if (!word)
		return value;
	free(value);
	return xstrdup(word);
}

/* Newer kernels have a switch for each group of CPUs, too. */
static bool all_policies_off(const char *root)
{
	size_t found = 0, off = 0;

	for (int cpu = 0; cpu < (int)sysconf(_SC_NPROCESSORS_CONF); cpu++) {
		char *path = xprintf("/sys/devices/system/cpu/cpufreq/policy%d/boost",
				     cpu);
		char *value = read_fact(root, path);

		found += value != NULL;
		off += value && !strcmp(value, "0");
		free(value);
		free(path);
	}
	return found && off == found;
}

static char *turbo(const char *root)
{
	char *value = read_fact(root,
				"/sys/devices/system/cpu/intel_pstate/no_turbo");

	if (value)
		return switched(value, "off", "on");
	if (all_policies_off(root))
		return xstrdup("off");
	return switched(read_fact(root, "/sys/devices/system/cpu/cpufreq/boost"),
			"on", "off");
}

bool clock_synchronised(void)
{
	struct timex t = { 0 };

	return adjtimex(&t) != TIME_ERROR && !(t.status & STA_UNSYNC);
}

static char *virtual_machine(const char *root)
{
	char *flags = read_line(root, "/proc/cpuinfo", "flags");
	char *value = flags ? xstrdup(strstr(flags, " hypervisor") ? "yes" :
				      "no") : NULL;

	free(flags);
	return value;
}

static char *aslr(const char *root)
{
	char *value = read_fact(root, "/proc/sys/kernel/randomize_va_space");

	if (!value || strcmp(value, "2") != 0)
		return switched(value, "partly", "off");
	free(value);
	return xstrdup("on");
}

static char *list_of_cpus(char *value)
{
	if (value && !*value) {
		free(value);
		return xstrdup("none");
	}
	return value;
}

void environment_read(struct environment *e, const char *root)
{
	static const char sys[] = "/sys/devices/system";
	char *path = xprintf("%s%s", root, sys);
	struct fact *fact;

	*e = (struct environment){ 0 };
	add(e, "kernel", FACT_TEXT, kernel());
	add(e, "kernel_version", FACT_TEXT, kernel_version());
	add(e, "cpu", FACT_TEXT,
	    read_line(root, "/proc/cpuinfo", "model name"));
	add(e, "cpus", FACT_NUMBER,
	    xprintf("%ld", sysconf(_SC_NPROCESSORS_ONLN)));
	add(e, "virtual_machine", FACT_SWITCH, virtual_machine(root));
	fact = add(e, "governor", FACT_TEXT,
		   read_fact(path, "/cpu/cpu0/cpufreq/scaling_governor"));
	if (!fact_is(fact, "performance") && !fact_is(fact, FACT_UNKNOWN))
		fact->advice = "the CPU's frequency changes as it likes: --tune sets the governor to performance";
	fact = add(e, "turbo", FACT_SWITCH, turbo(root));
	if (fact_is(fact, "on"))
		fact->advice = "the CPU's frequency depends on its temperature and on the other CPUs: --tune switches turbo off";
	fact = add(e, "time_synchronised", FACT_SWITCH,
		   xstrdup(clock_synchronised() ? "yes" : "no"));
	if (fact_is(fact, "no"))
		fact->advice = "the clock is not disciplined: its second may be wrong by some 0.01 %";
	add(e, "clock", FACT_TEXT,
	    read_fact(path, "/clocksource/clocksource0/current_clocksource"));
	add(e, "load", FACT_NUMBER, load(root));
	/* Experts disagree on these facts, so tense gives no advice on them. */
	add(e, "aslr", FACT_TEXT, aslr(root));
	add(e, "smt", FACT_SWITCH,
	    switched(read_fact(path, "/cpu/smt/active"), "on", "off"));
	add(e, "isolated_cpus", FACT_TEXT,
	    list_of_cpus(read_fact(path, "/cpu/isolated")));
	free(path);
}

void environment_free(struct environment *e)
{
	for (size_t i = 0; i < e->count; i++)
		free(e->facts[i].value);
}

const char *environment_value(const struct environment *e, const char *name)
{
	for (size_t i = 0; i < e->count; i++)
		if (!strcmp(e->facts[i].name, name))
			return e->facts[i].value;
	return NULL;
}

static uint64_t number(char *text)
{
	uint64_t value = text ? strtoull(text, NULL, 10) : 0;

	free(text);
	return value;
}

static double stolen(const char *root)
{
	char *line = read_line(root, "/proc/stat", "cpu ");
	unsigned long long ticks = 0;

	if (line && sscanf(line, "%*u %*u %*u %*u %*u %*u %*u %llu", &ticks) != 1)
		ticks = 0;
	free(line);
	return (double)ticks / (double)sysconf(_SC_CLK_TCK);
}

static uint64_t throttled(const char *root)
{
	char *path = xprintf("%s/sys/devices/system/cpu", root);
	const struct dirent *entry;
	uint64_t count = 0;
	DIR *dir = opendir(path);

	while (dir && (entry = readdir(dir))) {
		char *name = xprintf("/%s/thermal_throttle/core_throttle_count",
				     entry->d_name);

		count += number(read_fact(path, name));
		free(name);
	}
	if (dir)
		closedir(dir);
	free(path);
	return count;
}

void counters_read(struct counters *c, const char *root)
{
	c->stolen = stolen(root);
	c->swapped = number(read_line(root, "/proc/vmstat", "pswpin")) +
		     number(read_line(root, "/proc/vmstat", "pswpout"));
	c->throttled = throttled(root);
}
