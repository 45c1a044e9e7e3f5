# SPDX-License-Identifier: GPL-2.0
# gnuplot -c schedule.gp SVG SCHEDULE.csv TITLE
set terminal svg size 960,360 background rgb "white"
set output ARG1
set datafile separator ","
set title "Six programs compute pi on one CPU, ".ARG3
set xlabel "real time, ms"
set ytics ("slow 0" 0, "slow 1" 1, "normal 2" 2, "normal 3" 3, \
	   "fast 4" 4, "fast 5" 5)
set yrange [-0.6:5.6]
set style fill solid noborder
unset key
# A box for each stretch: middle, height, its left and right ends.
plot for [i=0:5] ARG2 skip 1 \
	using ($1 == i ? ($3 + $4) / 2 : NaN):1:3:4:($1 - 0.35):($1 + 0.35) \
	with boxxyerror linecolor i / 2 + 1
