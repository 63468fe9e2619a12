/* line.h - `line` as formulas; derived for this project.
 *
 *   [E17]  Erlang: Solution of some problems in the theory of probabilities of significance in
 *          automatic telephone exchanges, 1917 (the loss formula)
 *
 * A line of room c that takes in keys at random and lets each go after a window is a telephone
 * exchange of c lines: the number it holds is Poisson's, cut off at c.  `mean` is how many it holds
 * on average: keys in the window and its slack, over lines. */
#ifndef THEORY_LINE_H
#define THEORY_LINE_H

#include <stdint.h>

#define THEORY_LINE_CLASSES 6 /* of fingerprints, each with marks of its own */

/* P(a new key finds its line full): [E17], offered as much as leaves `mean` inside. */
double theory_line_full(double mean, uint32_t room);

/* How much of an epoch has gone by: at its end marks are most. */
#define THEORY_LINE_MEAN .5
#define THEORY_LINE_END  1.

/* P(the marks of a key's class are set): a key of its class, one of six, came while the line was
 * full.  Marks are of this epoch and the one before, but such keys come together, as if in .86 of
 * an epoch when one begins, and in 1.74 at its end (fitted: the lines touched come out within
 * 2 %). */
double theory_line_marked(double mean, uint32_t room, double epoch);

/* Lines in which a record that is new is looked for: the first, and those behind marks. */
double theory_line_looked(double mean, uint32_t room, double epoch);

/* Lines that it touches: if its own was full and not marked, the next as well. */
double theory_line_touched(double mean, uint32_t room, double epoch);

/* The number of entries that a key could be taken for.  Lines hold `held` entries now, and `mean`
 * on average over the epochs that set the marks.  The key meets all entries of its lines.  It also
 * meets entries that left one of its lines for the same next line, wherever these stand now
 * (fitted: as many as twice those that left its first line). */
double theory_line_alike(double held, double mean, uint32_t room, double epoch);

/* False-positive rate: 2^-f for each of these. */
double theory_line_fp(double held, double mean, uint32_t room, uint32_t bits, double epoch);

/* The mean number of entries at which a share `full` of the keys find their line full. */
double theory_line_mean(double full, uint32_t room);

#endif
