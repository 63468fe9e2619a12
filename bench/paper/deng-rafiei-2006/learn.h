/* learn.h - §4.1 with a gap distribution that is known: structures planned for the first half of a
 * stream (seen_gaps_plan), run on that half and on the second one, each begun by an empty
 * structure.  Twelve sizes, each twice the one before, from first=2 lines on. */
#ifndef LEARN_H
#define LEARN_H

void learn(void); /* an experiment */

#endif
