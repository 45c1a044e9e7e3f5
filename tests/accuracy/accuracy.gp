# SPDX-License-Identifier: GPL-2.0
# gnuplot -c accuracy.gp SVG DATA GROUP...: predicted over true
set terminal svg size 640,640 background rgb "white"
set output ARG1
set title "Faster by, %: predicted over true, with 95 % intervals"
set xlabel "true"
set ylabel "predicted"
set size square
set grid
set key top left
groups = ARGC - 2
name(i) = i == 0 ? ARG3 : i == 1 ? ARG4 : i == 2 ? ARG5 : ARG6
plot x title "" linecolor rgb "gray", \
     for [i = 0:groups - 1] ARG2 index i using 1:2:3:4:5:6 \
	with xyerrorbars title name(i) linewidth 1.5 pointtype 7 pointsize 0.4
