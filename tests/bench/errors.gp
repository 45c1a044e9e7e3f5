# SPDX-License-Identifier: GPL-2.0
# gnuplot -c errors.gp SVG PERCENT.csv NICE.csv
set terminal svg size 720,440 background rgb "white"
set output ARG1
set datafile separator ","
set title "Error of the ratio of loops, four spinners on one CPU"
set xlabel "real time of a run, ms"
set ylabel "error, %"
set logscale xy
set grid
plot ARG2 using 2:4:5:6 skip 1 with yerrorlines title "percent, virtual time" \
	linewidth 2 pointtype 7 pointsize 0.7, \
     ARG3 using 2:4:5:6 skip 1 with yerrorlines title "nice level" \
	linewidth 2 pointtype 5 pointsize 0.7
