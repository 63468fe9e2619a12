/* reader.h - files in, batches of records out: what every subcommand that reads records shares.
 *
 * One loop: read, take the whole records off the buffer (blocks.h), hand their batches on.  What
 * remains is the start of a record that the next read completes. */
#ifndef SEEN_READER_H
#define SEEN_READER_H

#include "base/pack.h"
#include "records/blocks.h"
#include "records/columns.h"
#include "records/input.h"
#include "records/input_options.h"
#include "records/unjudged.h"

/* Where things go; any may be NULL. */
struct reader_events {
    /* Columns are resolved: the header is the first one's, or NULL where columns have no names. */
    void (*columns)(void *ctx, const struct header *);
    void (*header)(void *ctx, const struct record *); /* the first file's first line */
    void (*opened)(void *ctx); /* a file is open, nothing of it read: reader_resume may be called */
    void (*closed)(void *ctx); /* it is about to be closed */
    /* As of block_events. */
    void (*ahead)(void *ctx, unsigned who, struct batch *, seen_time now);
    size_t own;
    void (*batch)(void *ctx, struct batch *, seen_time now); /* its turn has come */
    /* A record that cannot be judged, in pieces.  The last piece is not empty. */
    void (*unreadable)(void *ctx, const char *p, size_t n, bool first, bool last);
    void (*attend)(void *ctx); /* between two reads, and while waiting for input */
    void (*flush)(void *ctx);  /* a wait for input begins */
    bool (*ending)(void *ctx); /* nothing more is wanted; asked often */
};

struct reader {
    const struct input_options *input;
    const struct reader_events *on;
    void *ctx;
    struct input in;
    struct splitter splitter;
    struct layout layout; /* of the columns wanted */
    struct pool *pool;    /* NULL: one thread */
    struct blocks *blocks;
    struct block_events events; /* of the blocks */
    char *header;               /* the first one, without its line end; NULL: not yet read */
    size_t header_len;
    seen_time now;            /* when the buffer was last filled */
    uint64_t records;         /* so far, with ... */
    uint64_t unreadable;      /* ... those that `on->unreadable` was for */
    struct unjudged unjudged; /* those, and what its caller says of batches */
    bool failed;              /* said so already: finish, exit 2 */
    bool header_due;          /* the file's first line is yet to come */
    bool hold_back;           /* a record that a regular file ends with unfinished is left unread */
    uint64_t closed, began;   /* bytes on disk of the files before; where the first one began */
    uint64_t passing; /* where the record starts that is too long and being passed on, plus 1 */
};

/* The options, the events and the context stay the caller's. */
void reader_init(struct reader *, const struct input_options *, const struct reader_events *,
                 void *ctx);
void reader_free(struct reader *);

/* Continues the open file at `offset`, after `lines` newlines.  Its header must be known already.
 */
void reader_resume(struct reader *, uint64_t offset, uint64_t lines);

/* The header line, without its line end, that this run would have read first. */
void reader_adopt_header(struct reader *, const char *line, size_t len);

/* Packs the header line for a state, or dies if it is too long.  reader_unpack_header gives it back
 * and its length; NULL: none was read. */
void reader_pack_header(const struct reader *, struct packer *);
const char *reader_unpack_header(struct unpacker *, size_t *len);

/* Nothing more is to be read: a failure, a signal, or the caller's `ending`. */
bool reader_ending(const struct reader *);

/* How many bytes of the files, as they stand on disk, have been read so far. */
uint64_t reader_done(const struct reader *);

/* For events: how many bytes of this file, as it reads uncompressed, have been handed on in whole
 * records, ... */
uint64_t reader_position(const struct reader *);
/* ... and how many records to `unreadable`. */
uint64_t reader_unreadable(const struct reader *);

/* Hands on all that was read ahead.  Not for `batch` and `unreadable`. */
void reader_settle(struct reader *);

/* All files in turn.  False: something could not be read, and was said. */
bool reader_run(struct reader *);

#endif
