// SPDX-License-Identifier: GPL-2.0
#include "memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysinfo.h>

#include "base/util.h"

unsigned long long memory_parse_size(const char *name, const char *text,
				     unsigned long long least,
				     unsigned long long most)
{
	char *end;
	unsigned long long mib = strtoull(text, &end, 10);

	/* Nothing that overflows, or a sign that wraps around. */
	if (mib > most)
		mib = most + 1;
	if (*end == 'G')
		mib *= 1024;
	if (*end == 'G' || *end == 'M')
		end++;
	if (end == text || strchr(text, '-') || *end || mib < least ||
	    mib > most)
		die(STATUS_FAILED, "%s is %s: should be %lluM to %lluG", name,
		    text, least, most / 1024);
	return mib;
}

static unsigned long long parse_memory(const char *name, const char *text)
{
	return memory_parse_size(name, text, 64, 1024 * 1024);
}

void memory_set(struct run *run, const char *text)
{
	run->memory_mib = parse_memory("--memory", text);
}

unsigned long long memory_machine_mib(void)
{
	struct sysinfo info;

	if (sysinfo(&info))
		return 0;
	return info.totalram * (unsigned long long)info.mem_unit >> 20;
}

/* A guest with more would not begin, or not for a long time. */
static unsigned long long check_memory(const char *name,
				       unsigned long long mib)
{
	struct sysinfo info;
	unsigned long long most;

	if (sysinfo(&info))
		die(STATUS_FAILED, "sysinfo: %s", strerror(errno));
	most = (info.totalram + info.totalswap) *
	       (unsigned long long)info.mem_unit >> 20;
	if (mib > most)
		die(STATUS_FAILED, "%s: %lluM is more than the %lluM that this machine has",
		    name, mib, most);
	return mib;
}

unsigned long long memory_choose_mib(const struct run *run,
				     unsigned long long otherwise)
{
	const char *text = getenv("TENSE_MEMORY");

	if (run->memory_mib)
		return check_memory("--memory", run->memory_mib);
	if (text)
		return check_memory("TENSE_MEMORY",
				    parse_memory("TENSE_MEMORY", text));
	return otherwise;
}
