# SPDX-License-Identifier: GPL-2.0
#
# Each filter takes an array of numbers. An outlier hardly changes its result.

def median: sort | (.[length / 2 | floor] + .[(length - 1) / 2 | floor]) / 2;

# Estimates the standard deviation of a normal distribution.
def deviation: median as $m | map(. - $m | fabs) | median * 1.4826;

# Estimates the standard error of the median, for a normal distribution.
def median_error: 1.2533 * deviation / (length | sqrt);
