// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tense-measure.h"

#define PUBLIC __attribute__((visibility("default")))

/* A timer interrupt comes every 1 to 10 ms: shorter runs mostly have none. */
#define SHORT_NS		10e6
/* In longer runs, even many interruptions take a small part. */
#define LONG_NS			1e9

PUBLIC enum tense_protocol tense_protocol(double ns, int loaded)
{
	if (ns < SHORT_NS)
		return TENSE_PROTOCOL_KBEST;
	if (ns < LONG_NS)
		return loaded ? TENSE_PROTOCOL_PROCESS : TENSE_PROTOCOL_KBEST;
	return TENSE_PROTOCOL_PROCESS;
}
