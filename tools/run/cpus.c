// SPDX-License-Identifier: GPL-2.0
#include "cpus.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/seccomp.h>

#include "base/machine.h"
#include "base/util.h"
#include "kernel.h"

unsigned int cpus_parse(const char *text)
{
	char *end;
	unsigned long cpus = strtoul(text, &end, 10);

	return *text == '-' || *end || cpus > backend_qemu.cpus_max ? 0 : cpus;
}

unsigned int cpus_most(const struct backend *b)
{
	return b == &backend_uml ? kernel_uml_cpus() : b->cpus_max;
}

char *cpus_environment_error(void)
{
	const char *text = setting("TENSE_CPUS");

	if (!text || cpus_parse(text))
		return NULL;
	return xprintf("TENSE_CPUS is '%s': should be a number from 1 to %u", text,
		       backend_qemu.cpus_max);
}

/*
 * The guest's kernel sets filters for all threads, by seccomp(2). Where that is allowed, a
 * null filter fails with EFAULT.
 */
int cpus_filters_error(void)
{
	syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, NULL);
	return errno == EFAULT ? 0 : errno;
}

static void limit(struct cpus_default *d, unsigned int most, const char *why)
{
	if (d->cpus <= most)
		return;
	d->cpus = most;
	d->limit = why;
}

/*
 * Several CPUs of qemu take turns without KVM, so they are for those who ask. Nobody is
 * told of it if the machine has more than the guest can have.
 */
static unsigned int cpus_of_machine(const struct backend *b)
{
	unsigned int cpus = machine_cpus(), most = cpus_most(b);

	if (b != &backend_uml)
		return 1;
	return cpus < most ? cpus : most;
}

struct cpus_default cpus_default(const struct backend *b, const struct run *run)
{
	const char *text = setting("TENSE_CPUS");
	struct cpus_default d = { .wanted = text ? cpus_parse(text) : 0 };
	unsigned int each = machine_cpus() / (run->guests ? run->guests : 1);

	d.cpus = d.wanted ? d.wanted : cpus_of_machine(b);
	limit(&d, cpus_most(b), "Linux 6.1 has no more in User-Mode Linux");
	if (b == &backend_qemu && !run->deterministic)
		limit(&d, machine_cpus(), "a virtual machine cannot have more than tense may use");
	if (!d.wanted)
		limit(&d, each ? each : 1, "guests that run at the same time share the machine");
	if (b == &backend_uml && d.cpus > 1 && cpus_filters_error())
		limit(&d, 1, "this host forbids seccomp filters, which several CPUs need");
	return d;
}
