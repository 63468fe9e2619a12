#!/bin/sh
# Draws doc/growth.svg: the cost of a record as tables grow (bench/micro/growth.c).
#
#     bench/growth.sh [build]          RESULTS=FILE draws what bench-growth printed before
set -eu
build=${1:-build}
if [ -z "${RESULTS:-}" ]; then
    ninja -C "$build" --quiet bench-growth
    RESULTS=$build/growth.tsv
    "$build/bench-growth" | tee "$RESULTS"
fi
gnuplot << END
set terminal svg size 760,420 font "sans,13" background "white"
set output "doc/growth.svg"
set logscale x
set format x "10^{%L}"
set xlabel "bits of the table"
set ylabel "ns a record"
set yrange [0:*]
set key top left
set grid
set arrow from 2**32, graph 0 to 2**32, graph 1 nohead dashtype 3
set label "2^{32}" at 2**32, graph .9 right offset -.5,0
plot "$RESULTS" using 2:3 with linespoints lw 2 pt 7 ps .7 lc rgb "#c03030" title "line", \
     "" using 2:5 with linespoints lw 2 pt 5 ps .7 lc rgb "#0060ad" title "cache", \
     "" using 2:7 with linespoints lw 2 pt 9 ps .9 lc rgb "#2a8a3a" title "blocked", \
     "" using 2:9 with linespoints lw 2 pt 6 dashtype 2 lc "gray40" title "memory: change a random line"
END
