# SPDX-License-Identifier: GPL-2.0
# gnuplot -c clock-steps.gp SVG CSV
set terminal svg size 720,440 background rgb "white"
set output ARG1
set datafile separator ","
set title "Steps of gettimeofday()"
set xlabel "real time, us"
set ylabel "gettimeofday(), us"
set grid
set key left top
plot ARG2 using 1:2 skip 1 with points pointtype 7 pointsize 0.4 \
	title "reading", \
     x with lines linecolor rgb "gray" title "real time"
