/* streams.h - the paper's three applications over a stream on standard input, figures 13 and 14.
 *
 *     fields=2,3 split=tab skip=1     the fields of a line that make the key, counted from 1
 *     from=20000 to=100000 step=…     counters; errors=… the most that figure 14 is made from
 *     n=10000 runs=20 records=…
 *
 * Errors are a share of the questions whose true answer is no; the truth is kept exactly. */
#ifndef STREAMS_H
#define STREAMS_H

void streams_caching(void); /* a miss is inserted, a hit is not */
void streams_replay(void);  /* a share= of the records is one of the last n again */
void streams_wall(void);    /* `fields` is inserted, `ask` is asked about */

#endif
