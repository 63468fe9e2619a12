/* guess.h - which delimiter a table was probably written with, for messages. */
#ifndef SEEN_GUESS_H
#define SEEN_GUESS_H

#include "records/record.h"

/* The option under which this line has `columns` fields or more, and (NULL: any) one of that name:
 * "-d ';'".  NULL: none does.  `table`: the line is one of a table, as in --csv. */
const char *guess_delimiter(const char *line, size_t len, const struct cutting *now, bool table,
                            uint64_t columns, const char *name);

#endif
