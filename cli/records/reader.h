/* reader.h - reads files and hands on batches of records, for every subcommand that reads records.
 *
 * One loop reads, takes the whole records off the buffer (blocks.h), and hands on their batches.
 * The start of a record remains in the buffer, and the next read completes it. */
#ifndef SEEN_READER_H
#define SEEN_READER_H

#include "base/pack.h"
#include "records/blocks.h"
#include "records/columns.h"
#include "records/input.h"
#include "records/input_options.h"
#include "records/unjudged.h"

/* The calls that the reader makes; any may be NULL. */
struct reader_events {
    /* The fields of keys and times are known.  NULL: columns have no names. */
    void (*columns)(void *ctx, const struct header *);
    void (*header)(void *ctx, const struct record *); /* the first file's first line */
    void (*opened)(void *ctx); /* a file is open and not yet read; reader_resume may be called */
    void (*closed)(void *ctx); /* the file is about to be closed */
    /* These three are as in block_events. */
    void (*ahead)(void *ctx, unsigned who, struct batch *, seen_time now);
    size_t result_size;
    void (*batch)(void *ctx, struct batch *, seen_time now);
    /* A record that cannot be judged, in pieces.  The last piece is not empty. */
    void (*unreadable)(void *ctx, const char *p, size_t n, bool first, bool last);
    void (*attend)(void *ctx); /* between two reads, and while waiting for input */
    void (*flush)(void *ctx);  /* a wait for input begins */
    bool (*ending)(void *ctx); /* should the run end? asked often */
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
    uint64_t records;         /* so far, the unreadable ones included */
    uint64_t unreadable;      /* records that went to on->unreadable */
    struct unjudged unjudged; /* counts records that cannot be judged */
    bool failed;              /* something went wrong and was reported: finish, exit 2 */
    bool header_due;          /* the file's first line is yet to come */
    bool hold_back;           /* leave an unfinished record at the end of a regular file unread */
    uint64_t closed, began; /* bytes on disk of finished files; where reading the first one began */
    uint64_t passing;       /* 1 + the offset of the record that is being passed on, or 0 */
};

/* The options, the events and the context stay the caller's. */
void reader_init(struct reader *, const struct input_options *, const struct reader_events *,
                 void *ctx);
void reader_free(struct reader *);

/* Continues the open file at `offset`, after `lines` newlines.  Its header must be known. */
void reader_resume(struct reader *, uint64_t offset, uint64_t lines);

/* Gives the reader the header line of an earlier run, without its line end. */
void reader_adopt_header(struct reader *, const char *line, size_t len);

/* Packs the header line for a state, or dies if it is too long.  reader_unpack_header gives it back
 * and its length; NULL: none was read. */
void reader_pack_header(const struct reader *, struct packer *);
const char *reader_unpack_header(struct unpacker *, size_t *len);

/* How many bytes of the files, as they stand on disk, have been read so far. */
uint64_t reader_done(const struct reader *);

/* For events: how many bytes of this file, uncompressed, have been handed on in whole records, and
 * how many records have gone to `unreadable` as a whole. */
uint64_t reader_position(const struct reader *);
uint64_t reader_unreadable(const struct reader *);

/* Hands on all that was read ahead.  The events `batch` and `unreadable` must not call it. */
void reader_settle(struct reader *);

/* Reads all files in turn.  False: something could not be read, and a message has said so. */
bool reader_run(struct reader *);

#endif
