/* record.h - the seam between a format and everything else: bytes -> records -> fields.
 *
 * A format is one file with two functions (struct format): `split` cuts complete records off the
 * front of a buffer and points at the fields that were asked for, without copying; `tail` goes on
 * through a record that the buffer does not hold to its end, byte runs at a time, so that nothing
 * is scanned twice.  The two must agree on where a record ends.
 *
 *     input    buffer of bytes                                   input.c
 *     format   struct record, struct slice per wanted field      a format a file
 *     key      digest and time of each                           key.c time.c
 *     detector verdict of each
 *     sink     what is printed                                   sink.c
 */
#ifndef SEEN_RECORD_H
#define SEEN_RECORD_H

#include "seen.h"

#include "records/format/slice.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { BATCH = 2048 }; /* records judged together */
/* Verdicts beside SEEN_NEW, SEEN_DUPLICATE and SEEN_CONFIRMED: it cannot be judged; it could be,
 * but the answer was lost. */
enum { UNREADABLE = 3, UNCERTAIN, VERDICTS };
enum { NO_SLOT = -1 };

/* Why a record cannot be judged; a row each in unjudged.c. */
enum cause {
    CAUSE_LONG,     /* longer than --max-record */
    CAUSE_QUOTED,   /* a quote of --csv is not closed, or not within --max-field */
    CAUSE_NOT_JSON, /* of --ndjson */
    CAUSE_NOT_LOG,  /* of --clf */
    CAUSE_FIELD,    /* it lacks a field that is wanted */
    CAUSE_PATTERN,  /* --key-regex does not match */
    CAUSE_EMPTY,    /* of a feed: both keys are empty */
    CAUSE_KEY,      /* hash= takes no such key */
    CAUSE_TIME,     /* its time cannot be read */
    CAUSE_FUTURE,   /* it is more than a day later than the clock */
    CAUSE_ROOM,     /* its key is longer than the memory of seen diff can hold */
    CAUSES
};

struct record {
    const char *at;
    uint32_t len;  /* with its line end */
    uint32_t bare; /* without */
};

/* What is between the fields of a line or row. */
struct cutting {
    char delimiter;
    bool quotes; /* as in CSV */
    bool blanks; /* any number of blanks and TABs; those around the record do not count */
};

/* A field by its number from the first or from the last one, from 0. */
struct nth {
    bool from_end;
    uint32_t n;
};

/* Fields that can only be found once those of the record are counted: -k last, -k 2-. */
struct span {
    struct nth first, last;
    int32_t slot;
};

/* Is the span one field in every record? */
static inline bool span_is_field(const struct span *s) {
    return s->first.from_end == s->last.from_end && s->first.n == s->last.n;
}

/* Columns are numbered from 0.  A slot is a place in the batch for a column that is needed. */
struct layout {
    uint32_t slots;   /* fields kept a record */
    uint32_t width;   /* columns to look at: the last needed one + 1 */
    int32_t *slot_of; /* [width], NO_SLOT for columns that are not needed */
    uint32_t keys;    /* 0: the key is the whole record */
    uint32_t *key;    /* [keys] slots, in the order asked */
    int32_t time;     /* slot, or NO_SLOT */
    uint32_t spans;
    struct span *span;           /* [spans] */
    bool open;                   /* one of them is a key of as many fields as the record has */
    struct cutting cutting;      /* ... and how those are told apart */
    const struct key_form *form; /* what is done to the key's values; NULL: nothing */
    struct json_paths *paths;    /* of JSON: columns are the paths asked for; NULL: no JSON */
    const struct format *format; /* how records are split */
};

struct batch {
    size_t n;        /* records; they follow each other in the buffer */
    uint64_t before; /* records of the whole input that came before these; known in its turn */
    struct record record[BATCH];
    struct slice *field; /* [BATCH * layout.slots] */
    void *own;           /* what the reader's caller made of it ahead of its turn */
    uint8_t verdict[BATCH];
};

struct splitter {
    const struct format *format;
    const struct layout *layout;
    char delimiter;
    char end;            /* of a record: a newline, or NUL with --null */
    bool strip_cr;       /* a CR before the newline belongs to the line end */
    uint64_t lines;      /* newlines behind us in this file (formats with quotes only) */
    uint32_t max_field;  /* bytes that a quoted field may have */
    int state;           /* of `tail`, private to the format; likewise ... */
    uint32_t quoted;     /* ... bytes of the quoted field so far */
    bool in_quotes;      /* `tail` stopped inside quotes ... */
    uint64_t quote_line; /* ... that were opened on this line */
    uint64_t tail_line;  /* where `tail` is, and ... */
    uint64_t tail_size;  /* ... how many bytes of the record are behind it */
    uint64_t overrun;    /* bytes of the record up to where a quoted field became too long, or 0 */
};

struct format {
    /* Cuts at most BATCH complete records off [p, end); returns the bytes they take.  At the end of
     * a file (`last`) what is left is a record, too. */
    size_t (*split)(struct splitter *, const char *p, const char *end, bool last, struct batch *);
    /* Goes on through an unfinished record: the bytes up to its end, or 0 if [p, end) does not hold
     * it.  A record with a quoted field that is too long (`overrun`) has no end: `split` and `cut`
     * stop before it.  splitter_unfinished() comes first. */
    size_t (*tail)(struct splitter *, const char *p, const char *end);
    /* From the start of a record: the bytes of all records that end in [p, end), and the splitter's
     * lines behind them; cheap, for nothing else is looked at.  NULL: each s->end ends a record.
     */
    size_t (*cut)(struct splitter *, const char *p, const char *end);
    /* Is the record of this format at all, and the cause if it is not.  NULL: every record is. */
    bool (*valid)(const struct layout *, const struct record *);
    enum cause invalid;
};

/* The names of a table's columns, as its first line gives them. */
struct header {
    uint32_t n;
    char **name;      /* values, unquoted */
    const char *line; /* where they stand, the caller's; NULL: they are known without */
    size_t len;
    struct cutting cutting;
};

extern const struct header clf_names;

extern const struct format lines_format, delimited_format, blanks_format, csv_format, ndjson_format,
    clf_format;

/* `tail` of the formats in which every record is a line. */
size_t line_tail(struct splitter *, const char *p, const char *end);

/* How far [p, end), which begins with a record, holds whole ones; s->lines goes there. */
static inline size_t splitter_cut(struct splitter *s, const char *p, const char *end) {
    if (s->format->cut) return s->format->cut(s, p, end);
    const char *nl = memrchr(p, s->end, (size_t)(end - p));
    return nl ? (size_t)(nl + 1 - p) : 0;
}

static inline void splitter_unfinished(struct splitter *s) {
    s->state = 0;
    s->in_quotes = false;
    s->tail_line = s->lines + 1;
    s->tail_size = s->overrun = 0;
}

/* The record [at, nl) as the batch keeps it; `nl` is its newline, or `end` where there is none. */
static inline struct record record_of(const char *at, const char *nl, const char *end, bool crlf) {
    const char *bare = nl - (crlf && nl > at && nl[-1] == '\r');
    return (struct record){at, (uint32_t)(nl - at) + (nl < end), (uint32_t)(bare - at)};
}

/* The value of a field: its length, written at `out`, which has room for the slice's length.  No
 * value is longer than its writing. */
size_t slice_value(const struct slice *, char *out);

/* Reads the time that a field holds (time_format_parse); false where there is no field. */
struct time_format;
bool slice_time(const struct slice *, const struct time_format *, seen_time *);

size_t csv_unquote(const char *field, size_t len, char *out);
size_t clf_unescape(const char *field, size_t len, char *out);
int hex_digit(char); /* or -1 */

#endif
