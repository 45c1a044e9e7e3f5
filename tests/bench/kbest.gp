# SPDX-License-Identifier: GPL-2.0
# gnuplot -c kbest.gp SVG CSV
set terminal svg size 720,440 background rgb "white"
set output ARG1
set datafile separator ","
set title "Error of the K-best protocol; empty marks did not converge"
set xlabel "expected, ms"
set ylabel "error, %"
set logscale xy
set grid
set key outside
error(e) = abs(e) < 0.001 ? 0.001 : abs(e)
plot for [load in "1 2 11"] ARG2 using \
	(stringcolumn(1) eq load && $5 == 1 && $8 == 1 ? $2 : NaN):(error($4)) skip 1 \
	with points pointtype 7 title "load ".load, \
     for [load in "1 2 11"] ARG2 using \
	(stringcolumn(1) eq load && $5 == 0 && $8 == 1 ? $2 : NaN):(error($4)) skip 1 \
	with points pointtype 6 notitle
