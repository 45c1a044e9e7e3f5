// SPDX-License-Identifier: GPL-2.0
/*
 * "tense.lapic=FREQUENCY": of the clock of the local APIC's timer before the divider, in Hz,
 * at least 1000000. Without it, the kernel calibrates the timer for 0.1 s in a loop of PAUSE.
 * An emulator that counts instructions leaves its translated code at each PAUSE: the loop
 * takes it 2.9 s of real time.
 */
#include <linux/init.h>
#include <linux/kernel.h>

#include <asm/apic.h>

static int __init lapic_setup(char *text)
{
	unsigned int hz;

	if (!text || kstrtouint(text, 0, &hz) || hz < 1000000)
		return -EINVAL;
	lapic_timer_period = hz / HZ;
	return 0;
}
early_param("tense.lapic", lapic_setup);
