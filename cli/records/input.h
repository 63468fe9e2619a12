/* input.h - files in order through one buffer. */
#ifndef SEEN_INPUT_H
#define SEEN_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Bytes that come from elsewhere than one file (merge.c). */
struct input_feed {
    ssize_t (*read)(void *ctx, char *out, size_t room);  /* as read(2), errors as input_fill's */
    bool (*ready)(const void *ctx, int wake, bool wait); /* as input_ready */
    const char *(*trouble)(const void *ctx, const char **name); /* behind EBADMSG */
    void (*free)(void *ctx);
};

struct input {
    int fd;
    const char *name; /* of the file, for messages */
    bool waits;       /* a read may wait: the input is not a regular file */
    char *buf;
    size_t cap;                    /* of buf, without the slack behind it */
    size_t begin, end;             /* bytes not yet consumed */
    struct unpack *unpack;         /* NULL: bytes are read as they stand in the file */
    const struct input_feed *feed; /* NULL: one file; else bytes come from here ... */
    void *feed_ctx;                /* ... and this is its context, which the input owns */
    bool sniffing;       /* not a regular file; its first bytes have not told the format yet */
    size_t sniffed;      /* bytes held back in buf meanwhile */
    uint64_t unpack_mem; /* the most bytes that unpacking may take */
    bool lines;          /* records end in newlines */
    char trouble[160];   /* why the file cannot be read, where errno does not say it */
    uint64_t base;       /* where buf[0] stands in the file, as it reads uncompressed */
};

struct input_options;
void input_init(struct input *, const struct input_options *);
void input_free(struct input *);

/* Opens a file, "-" being standard input.  0, or -1 with errno; input_trouble is for people. */
int input_open(struct input *, const char *name);
/* Opens all files of the options as one input, or dies with a sentence.  Each file is in order of
 * time.  Records come in order of their times, none of them cut by a file's end; the header line
 * comes once (merge.c). */
void input_open_merged(struct input *, const struct input_options *);
void input_open_feed(struct input *, const char *name, const struct input_feed *, void *ctx,
                     bool waits);
void input_close(struct input *);

/* Bytes are read as they stand in the file. */
static inline bool input_is_plain(const struct input *in) { return !in->unpack && !in->feed; }

/* Skips the first `offset` bytes of a regular file that was not read yet.  False: the file is
 * shorter (errno is 0), or cannot be read (errno says why). */
bool input_skip(struct input *, uint64_t offset);

/* How many bytes of the file, as it reads uncompressed, have been consumed. */
static inline uint64_t input_offset(const struct input *in) { return in->base + in->begin; }

/* A byte order mark that the file begins with is skipped, if nothing of it was consumed. */
void input_skip_mark(struct input *);

/* Reads once, behind the bytes not yet consumed, which may move.  The buffer grows as long as an
 * unfinished record fills it; the caller bounds that by not calling.  Bytes read, 0 at the end of
 * the file, -1 with errno: EAGAIN if more must be read first, else input_trouble is for people. */
ssize_t input_fill(struct input *);
const char *input_trouble(struct input *, int error); /* `name` becomes the file's, of several */

/* The buffer is larger than at first, for a record that did not fit. */
bool input_grown(const struct input *);

/* Gives away the buffer, not grown, for another of the same kind that this gave away before (NULL:
 * a new one), into which the bytes from `cut` on move.  To be freed with free(). */
char *input_trade(struct input *, char *other, size_t cut);

/* If it is grown, as small as at first again, should what is left fit. */
void input_shrink(struct input *);

/* Waits until a read would not block or `wake` is readable; with wait == false only looks.  True if
 * a read would not block. */
bool input_ready(const struct input *, int wake, bool wait);

#endif
