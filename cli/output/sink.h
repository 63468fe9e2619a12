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
    char
        column; /* SINK_TAG: this byte and the verdict follow the record; 0: verdict, TAB, record */
    bool confirmed;       /* only confirmed duplicates count as such */
    bool shows[VERDICTS]; /* which records are printed */
    char end;             /* of a record: NUL, or a newline, which sink_init sets */
    bool unended;         /* the last record written had no end */
    const char *heading;  /* SINK_TAG: the names of the columns added; sink_init sets "seen" */
    int error;            /* errno of the first failed write; nothing is written after it */
    double tended;        /* when sink_tend last did something */
    char *buf;
    size_t n;
    const struct tags *tags; /* for sink_details; NULL: no tags */
    bool json;               /* tags and records are JSON objects, a line each */
    struct base64 base64;    /* of the object being written */
};

/* Dies with a sentence if memory is short. */
void sink_init(struct sink *, int fd, enum sink_mode, char column);
void sink_free(struct sink *);

/* `confirmed`: only confirmed duplicates count as duplicates.  `rejected`: records that cannot be
 * judged go elsewhere.  sink_init sets both to false. */
void sink_choose(struct sink *, bool confirmed, bool rejected);

/* Dies if a column of the table already has the name of an added one.  NULL: it has no names.
 * Comes before sink_header, which prints the header line in every mode, with the names added. */
struct header;
void sink_check_heading(const struct sink *, const struct header *);
void sink_header(struct sink *, const struct record *);

/* The records of a batch that are to be shown, by their verdicts. */
void sink_batch(struct sink *, const struct batch *);

/* One record with a tag of the caller's, as SINK_TAG writes it. */
void sink_tagged(struct sink *, const struct record *, const char *tag);

/* Writes one record that could not be judged, in any number of pieces.  The last piece is not empty
 * and holds the whole line end. */
void sink_unreadable(struct sink *, const char *p, size_t n, bool first, bool last);

/* One record as a line with a JSON object: the caller's members, then the record.  The second form
 * takes a record in pieces, with the same members in each call. */
void sink_object(struct sink *, const struct record *, const char *members);
void sink_object_piece(struct sink *, const char *p, size_t n, const char *members, bool first,
                       bool last);

/* Records of a batch, or one in pieces that could not be judged, with the tags of `tags`. */
void sink_details(struct sink *, const struct batch *, const struct details *);
void sink_loose(struct sink *, const char *p, size_t n, const struct details *, bool first,
                bool last);

void sink_put(struct sink *, const char *p, size_t n); /* bytes as they are */
void sink_flush(struct sink *);

/* Call this regularly, with `now` in seconds on any clock.  It writes output that has waited for a
 * tenth of a second.  If the reader of the output has gone, it raises SIGPIPE, even if there is
 * nothing to write. */
void sink_tend(struct sink *, double now);

void sink_close(struct sink *); /* flushes; `error` then says whether all has arrived */

#endif
