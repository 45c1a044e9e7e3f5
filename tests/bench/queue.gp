# SPDX-License-Identifier: GPL-2.0
# gnuplot -c queue.gp SVG TITLE CONDITION LABEL [CONDITION LABEL]...
set terminal svg size 720,440 background rgb "white"
set output ARG1
set datafile separator ","
set title "Waiting time over utilisation, ".ARG2
set xlabel "utilisation"
set ylabel "mean waiting time of a run, ms"
set xrange [0.25:0.95]
set yrange [0:*]
set key left top
set grid
file(i) = "queue-".value(sprintf("ARG%d", i)).".points"
# Draws points of one utilisation beside each other, and a line if there is a
# formula.
plot file(3) skip 1 using 1:4 with lines linewidth 2 linecolor rgb "gray" \
	title "formula", \
     for [i=3:ARGC:2] file(i) skip 1 using ($1 + (i - 5) * 0.004):3 \
	with points pointsize 0.8 linewidth 2 \
	title value(sprintf("ARG%d", i + 1))
