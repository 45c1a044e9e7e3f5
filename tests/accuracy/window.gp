# SPDX-License-Identifier: GPL-2.0
# Cost and error over the window; csv, svg and workloads are set by the caller.
set terminal svg size 900,700 font "sans,13" background "white"
set output svg
set datafile separator ","
set logscale x
set xlabel "window (us)"
set grid
set key outside right
set multiplot layout 2,1
set ylabel "real time at percent 100,\nover that outside"
plot for [w in workloads] csv using 2:(strcol(1) eq w ? $3 : NaN) \
	with linespoints pointtype 7 title w, 1.05 with lines dashtype 2 \
	linecolor "black" title "1.05"
set ylabel "prediction minus truth (points)"
plot for [w in workloads] csv using 2:(strcol(1) eq w ? $4 : NaN) \
	with linespoints pointtype 7 title w, 0 with lines linecolor "black" notitle
unset multiplot
