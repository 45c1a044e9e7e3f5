# SPDX-License-Identifier: GPL-2.0
# gnuplot -c clock-series.gp SVG CSV TITLE SERIES...
set terminal svg size 720,440 background rgb "white"
set output ARG1
set datafile separator ","
set title ARG3."; empty marks did not converge"
set xlabel "expected, ms"
set ylabel "error, %"
set logscale xy
set grid
set key outside
error(e) = abs(e) < 0.001 ? 0.001 : abs(e)
name(i) = value(sprintf("ARG%d", i))
plot for [i=4:ARGC] ARG2 using \
	(stringcolumn(1) eq name(i) && $5 == 1 ? $2 : NaN):(error($4)) skip 1 \
	with points pointtype 7 linecolor i title name(i), \
     for [i=4:ARGC] ARG2 using \
	(stringcolumn(1) eq name(i) && $5 == 0 ? $2 : NaN):(error($4)) skip 1 \
	with points pointtype 6 linecolor i notitle
