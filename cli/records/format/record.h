/* record.h - the interface of a format of records: bytes -> records -> fields.
 *
 * A format is one file with two functions (struct format).  `split` cuts complete records off the
 * front of a buffer and points at the fields that are needed, without copying.  `tail` looks for
 * the end of a record that the buffer does not hold as a whole; it continues where it stopped, so
 * no byte is scanned twice.  The two must agree on where a record ends.
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
/* Verdicts besides SEEN_NEW, SEEN_DUPLICATE and SEEN_CONFIRMED: UNREADABLE records cannot be
 * judged; of UNCERTAIN records the answer of a server was lost. */
enum { UNREADABLE = 3, UNCERTAIN, VERDICTS };
enum { NO_SLOT = -1 };

/* Why a record cannot be judged; unjudged.c has a name and a description of each. */
enum cause {
    CAUSE_LONG,     /* longer than --max-record */
    CAUSE_QUOTED,   /* a quote of --csv is not closed, or not within --max-field */
    CAUSE_NOT_JSON, /* of --ndjson */
    CAUSE_NOT_LOG,  /* of --clf */
    CAUSE_FIELD,    /* it lacks a field that an option names */
    CAUSE_PATTERN,  /* --key-regex does not match */
    CAUSE_EMPTY,    /* both keys of seen filter are empty */
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
    bool open;                   /* the key has a span whose length depends on the record */
    struct cutting cutting;      /* what stands between fields, to count them */
    const struct key_form *form; /* how the key's values are changed; NULL: not at all */
    struct json_paths *paths;    /* columns are these paths into JSON; NULL: not JSON */
    const struct format *format; /* how records are split */
};

struct batch {
    size_t n;        /* records; they follow each other in the buffer */
    uint64_t before; /* records of the whole input before these; known at the batch's turn */
    struct record record[BATCH];
    struct slice *field; /* [BATCH * layout.slots] */
    void *result;        /* of block_events.ahead */
    uint8_t verdict[BATCH];
};

struct splitter {
    const struct format *format;
    const struct layout *layout;
    char delimiter;
    char end;            /* of a record: a newline, or NUL with --null */
    bool strip_cr;       /* a CR before the newline belongs to the line end */
    uint64_t lines;      /* newlines of this file so far (formats with quotes only) */
    uint32_t max_field;  /* bytes that a quoted field may have */
    int state;           /* of `tail`, private to the format */
    uint32_t quoted;     /* bytes of the quoted field so far, private to the format */
    bool in_quotes;      /* `tail` stopped inside quotes ... */
    uint64_t quote_line; /* ... that were opened on this line */
    uint64_t tail_line;  /* the line that `tail` has reached */
    uint64_t tail_size;  /* the bytes of the record that `tail` has scanned */
    uint64_t overrun;    /* bytes of the record up to where a quoted field became too long, or 0 */
};

struct format {
    /* Cuts at most BATCH complete records off [p, end).  Returns the bytes they take.  At the end
     * of a file (`last`) the remaining bytes are a record, too. */
    size_t (*split)(struct splitter *, const char *p, const char *end, bool last, struct batch *);
    /* Looks for the end of an unfinished record in [p, end).  Returns the bytes up to there, or 0.
     * A record with a quoted field that is too long (`overrun`) has no end, and `split` and `cut`
     * stop before it.  Call splitter_unfinished() first. */
    size_t (*tail)(struct splitter *, const char *p, const char *end);
    /* Returns the bytes of all records that end in [p, end), which begins with a record, and counts
     * their lines.  It is cheap, as it looks at nothing else.  NULL: each s->end ends a record. */
    size_t (*cut)(struct splitter *, const char *p, const char *end);
    /* Is the record of this format at all?  `invalid` is the cause if not.  NULL: every record
     * is. */
    bool (*valid)(const struct layout *, const struct record *);
    enum cause invalid;
};

/* The names of a table's columns, as its first line gives them. */
struct header {
    uint32_t n;
    char **name;      /* values, unquoted */
    const char *line; /* the line they stand in, which is the caller's; NULL: there is no line */
    size_t len;
    struct cutting cutting;
};

extern const struct header clf_names;

extern const struct format lines_format, delimited_format, blanks_format, csv_format, ndjson_format,
    clf_format;

/* `tail` of the formats in which every record is a line. */
size_t line_tail(struct splitter *, const char *p, const char *end);

/* The bytes of all whole records in [p, end), which begins with a record.  Counts their lines. */
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

/* The record [at, nl) as a batch keeps it.  `nl` is its newline, or `end` if there is none. */
static inline struct record record_of(const char *at, const char *nl, const char *end, bool crlf) {
    const char *bare = nl - (crlf && nl > at && nl[-1] == '\r');
    return (struct record){at, (uint32_t)(nl - at) + (nl < end), (uint32_t)(bare - at)};
}

/* Writes the value of a field at `out`, which has room for the slice's length, and returns the
 * length of the value.  No value is longer than the slice. */
size_t slice_value(const struct slice *, char *out);

/* Reads the time that a field holds (time_format_parse).  False: no field, or no time. */
struct time_format;
bool slice_time(const struct slice *, const struct time_format *, seen_time *);

size_t csv_unquote(const char *field, size_t len, char *out);
size_t clf_unescape(const char *field, size_t len, char *out);
int hex_digit(char); /* or -1 */

#endif
