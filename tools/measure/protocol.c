// SPDX-License-Identifier: GPL-2.0
#include "protocol.h"

#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "libtense/include/tense-measure.h"

/* A command has a CPU to itself if other work leaves this part of a CPU. */
#define FREE_CPU	0.5

const char *protocol_name(enum protocol protocol)
{
	static const char *const names[] = {
		[PROTOCOL_EMP] = "emp", [PROTOCOL_KBEST] = "k-best",
		[PROTOCOL_AUTO] = "auto",
	};

	return names[protocol];
}

bool protocol_is_loaded(const struct environment *e)
{
	const char *load = environment_value(e, "load");
	const char *cpus = environment_value(e, "cpus");

	return load && cpus && strcmp(load, FACT_UNKNOWN) != 0 &&
	       strtod(load, NULL) > strtod(cpus, NULL) - FREE_CPU;
}

enum protocol protocol_for(double seconds, bool loaded)
{
	return tense_protocol(seconds * 1e9, loaded) == TENSE_PROTOCOL_KBEST ?
	       PROTOCOL_KBEST : PROTOCOL_EMP;
}

struct protocol_advice protocol_advise(const struct measurement *m)
{
	struct protocol_advice advice = { 0 };

	if (m->nr_subjects != 1)
		return advice;
	advice.seconds = measure_task_time(m->subjects);
	advice.protocol = protocol_for(advice.seconds,
				       protocol_is_loaded(&m->environment));
	/* PROTOCOL_AUTO has chosen by the runs before the first sample. */
	if (m->asked == PROTOCOL_AUTO || advice.protocol == m->protocol)
		return advice;
	if (advice.protocol == PROTOCOL_KBEST)
		advice.id = "k-best-fits-length";
	else
		advice.id = protocol_for(advice.seconds, false) ==
			    PROTOCOL_EMP ? "emp-fits-length" : "emp-fits-load";
	return advice;
}

char *protocol_advice_text(const struct protocol_advice *advice)
{
	const char *name = protocol_name(advice->protocol);

	return xprintf("--protocol %s fits better: the command takes %s%.2g s%s",
		       name, advice->protocol == PROTOCOL_KBEST ? "only " : "",
		       advice->seconds, strcmp(advice->id, "emp-fits-load") ?
		       "" : ", and the machine does much other work");
}
