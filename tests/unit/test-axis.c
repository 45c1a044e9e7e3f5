// SPDX-License-Identifier: GPL-2.0
/* Axes of pictures: steps, ticks, and places. */
#include <math.h>
#include <string.h>

#include "tap.h"
#include "base/axis.h"

/* Checks the labels of an axis, with spaces between. */
static void is_labelled(const struct axis *a, const char *expected)
{
	char text[200] = "";
	double value;

	for (unsigned int i = 0; axis_tick(a, i, &value); i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text),
			 "%s%.*f", i ? " " : "", axis_digits(a), value);
	if (!ok(!strcmp(text, expected), "ticks are at %s", expected))
		printf("# got %s\n", text);
}

static void test_ticks(void)
{
	struct axis a = { .low = -0.25, .high = 0.31 };

	axis_divide(&a, 6);
	is_labelled(&a, "-0.2 -0.1 0.0 0.1 0.2 0.3");
	ok(a.low == -0.25 && a.high == 0.31, "the ends stay");
	axis_round(&a, 6);
	is_labelled(&a, "-0.3 -0.2 -0.1 0.0 0.1 0.2 0.3 0.4");

	/* In floating point, 3 * 0.1 is not 0.3. */
	a = (struct axis){ .low = 0.1, .high = 0.3 };
	axis_round(&a, 2);
	is_labelled(&a, "0.1 0.2 0.3");
	a = (struct axis){ .low = 3000, .high = 47000 };
	axis_round(&a, 5);
	is_labelled(&a, "0 10000 20000 30000 40000 50000");
}

static void test_places(void)
{
	struct axis a = { .low = 0, .high = 4, .from = 100, .to = 20 };

	axis_include(&a, -1);
	axis_include(&a, 3);
	ok(a.low == -1 && a.high == 4, "an axis grows as far as it has to");
	ok(axis_place(&a, -1) == 100 && axis_place(&a, 4) == 20,
	   "its ends are where they should be");
	ok(fabs(axis_place(&a, 1.5) - 60) < 1e-9, "and so is the middle");
}

int main(void)
{
	test_ticks();
	test_places();
	return done();
}
