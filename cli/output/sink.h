/* sink.h - which records are printed, and how they get out. */
#ifndef SEEN_SINK_H
#define SEEN_SINK_H

#include "base/text.h"
#include "output/tags.h"
#include "records/format/record.h"

enum sink_mode { SINK_UNIQUE, SINK_DUPLICATES, SINK_TAG };

struct sink {
    int fd;
    enum sink_mode mode;
    char column; /* SINK_TAG: the verdict is a last column behind this byte; 0: a first TAB field */
    bool confirmed;       /* only confirmed duplicates count as such */
    bool shows[VERDICTS]; /* which records are printed */
    char end;             /* of a record: a newline to begin with, or NUL */
    bool unended;         /* the last record written had no such end */
    const char *heading;  /* SINK_TAG: of that column, or those; "seen" to begin with */
    int error;            /* errno of the write that failed: from then on nothing is written */
    double tended;        /* when sink_tend last did something */
    char *buf;
    size_t n;
    const struct tags *tags; /* for sink_details; NULL: no tags */
    bool json;               /* ... as JSON objects, a line each */
    struct base64 base64;    /* of the object being written */
};

void sink_init(struct sink *, int fd, enum sink_mode, char column);

/* `confirmed`: only confirmed duplicates count as such.  `rejected`: records that cannot be judged
 * go elsewhere.  Neither, to begin with. */
void sink_choose(struct sink *, bool confirmed, bool rejected);
void sink_free(struct sink *);

/* A header line goes out in every mode; with `column` it gets one named "seen". */
void sink_header(struct sink *, const struct record *);

/* Before it: dies if the table (NULL: without names) has a column of that name already. */
struct header;
void sink_check_heading(const struct sink *, const struct header *);
void sink_batch(struct sink *, const struct batch *);

/* One record with a tag of the caller's, as SINK_TAG writes it. */
void sink_tagged(struct sink *, const struct record *, const char *tag);

/* Writes one record that could not be judged, in any number of pieces.  The last piece is not empty
 * and holds the whole line end.  sink_unjudged: with a tag of the caller's. */
void sink_unreadable(struct sink *, const char *p, size_t n, bool first, bool last);
void sink_unjudged(struct sink *, const char *p, size_t n, const char *tag, bool first, bool last);

/* One record as a JSON object a line: the caller's members, then the record.  And one that comes in
 * pieces, with the same members in each call. */
void sink_object(struct sink *, const struct record *, const char *members);
void sink_object_piece(struct sink *, const char *p, size_t n, const char *members, bool first,
                       bool last);

/* The same with what is known of each record, as `tags` and `json` say. */
void sink_details(struct sink *, const struct batch *, const struct fact *);
void sink_loose(struct sink *, const char *p, size_t n, const struct fact *, bool first, bool last);

void sink_put(struct sink *, const char *p, size_t n); /* just bytes */

void sink_flush(struct sink *);

/* Call this regularly, with `now` in seconds on any clock.  It writes output that has waited for a
 * tenth of a second.  If the reader of the output has gone, it dies as a write would, even if there
 * is nothing to write. */
void sink_tend(struct sink *, double now);

void sink_close(struct sink *); /* flushes, and asks the system whether all has arrived */

#endif
