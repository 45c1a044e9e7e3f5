/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Takes timer interrupts out of a command's elapsed time. Never takes out too much: it
 * counts only interrupts that must have hit the command, each at the least cost.
 */
#ifndef MEASURE_COMPENSATION_H
#define MEASURE_COMPENSATION_H

struct compensation {
	double tick;		/* seconds between two interrupts; 0: not used */
	double cost;		/* least cost of one, in seconds */
	unsigned int cpus;	/* that the command may use */
};

/*
 * Measures the cost, which takes up to 2 s. root is that of environment_read().
 * Returns 0, or -1 and the reason in *why, a constant text.
 */
int compensation_begin(struct compensation *c, const char *root,
		       const char **why);

/*
 * Returns the number of interrupts that must have hit the command. It kept at least
 * one CPU busy for its process time (seconds), divided by the number of CPUs.
 */
unsigned int compensation_ticks(const struct compensation *c, double elapsed,
				double process);

#endif
