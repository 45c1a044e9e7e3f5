// SPDX-License-Identifier: GPL-2.0
/* branchy: hot() goes one way or the other, and no predictor knows which. */
#include "work.h"

static uint64_t units;
static uint64_t heads, tails;

HOT void hot(void)
{
	uint64_t state = meter_hot.state;

	for (uint64_t i = units; i; i--) {
		state = work_steps(state, 1);
		/* The asm keeps it a branch. */
		if (state >> 63) {
			heads++;
			__asm__ volatile("" : "+r"(state));
		} else {
			tails += 3;
		}
	}
	meter_hot.state = state;
	meter_hot.units += units;
	meter_hot.calls++;
}

int main(int argc, char **argv)
{
	work_options(argc, argv);
	units = work_cut(200 * UNITS_US);
	for (unsigned int i = work_times(300); i; i--) {
		work_enter();
		hot();
		work_leave();
		work_rest(600 * UNITS_US);
	}
	work_done();
	return work_report() || heads + tails / 3 != meter_hot.units;
}
