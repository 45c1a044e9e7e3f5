// SPDX-License-Identifier: GPL-2.0
#include "environment.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#ifdef __x86_64__
#include <cpuid.h>
#endif

#include "base/util.h"

/* Asks CPUID, because /proc/cpuinfo of a guest may not name the CPU. */
static char *cpu_model(void)
{
	char model[49] = "";
#ifdef __x86_64__
	unsigned int *words = (unsigned int *)model;

	for (unsigned int i = 0; i < 3; i++, words += 4)
		if (!__get_cpuid(0x80000002 + i, &words[0], &words[1],
				 &words[2], &words[3]))
			model[0] = '\0';
#endif
	return xstrdup(model + strspn(model, " "));
}

static char *kernel_name(void)
{
	struct utsname name;

	uname(&name);
	return xprintf("%s %s %s", name.sysname, name.release, name.machine);
}

void whatif_environment(struct whatif_environment *e, const char *backend)
{
	time_t now = time(NULL);
	struct tm tm;
	char date[40];

	strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &tm));
	*e = (struct whatif_environment){
		.tense = xstrdup(TENSE_VERSION),
		.backend = xstrdup(backend),
		.kernel = kernel_name(),
		.cpu = cpu_model(),
		.cpus = machine_cpus(),
		.date = xstrdup(date),
	};
	if (getloadavg(e->load, 3) != 3)
		e->load[0] = NAN;
}

/* The load of a machine tells nothing without its date. */
bool whatif_has_load(const struct whatif_environment *e)
{
	return e->date && isfinite(e->load[0]);
}

void whatif_environment_below(struct whatif_environment *e,
			      const struct whatif_environment *below)
{
	free(e->backend);
	free(e->host);
	e->backend = xstrdup(below->backend);
	e->host = xstrdup(below->kernel);
	memcpy(e->load, below->load, sizeof(e->load));
}

void whatif_environment_elsewhere(struct whatif_environment *e,
				  const char *backend)
{
	free(e->backend);
	free(e->host);
	e->backend = xstrdup(backend);
	e->host = NULL;
	e->load[0] = NAN;
}

void whatif_environment_exact(struct whatif_environment *e,
			      const char *backend)
{
	whatif_environment_elsewhere(e, backend);
	free(e->date);
	e->date = NULL;
}

struct machine whatif_environment_machine(const struct whatif_environment *e)
{
	struct machine m = { .cpus = e->cpus };

	/* As kernel_name() writes it. */
	if (e->kernel)
		sscanf(e->kernel, "%*s %64s", m.release);
	return m;
}

void whatif_environment_free(struct whatif_environment *e)
{
	free(e->tense);
	free(e->backend);
	free(e->kernel);
	free(e->host);
	free(e->cpu);
	free(e->date);
}
