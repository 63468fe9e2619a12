/* input.h - reads files in order through one buffer, and unpacks compressed ones. */
#ifndef SEEN_INPUT_H
#define SEEN_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* A source of bytes other than one file (merge.c). */
struct input_feed {
    ssize_t (*read)(void *ctx, char *out, size_t room);  /* as read(2), errors as input_fill's */
    bool (*ready)(const void *ctx, int wake, bool wait); /* as input_ready */
    const char *(*trouble)(const void *ctx, const char **name); /* what EBADMSG means */
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
    const struct input_feed *feed; /* the source of the bytes; NULL: one file */
    void *feed_ctx;                /* the context of the feed, which the input owns */
    bool sniffing;       /* not a regular file; its first bytes have not told the format yet */
    size_t sniffed;      /* bytes held back in buf meanwhile */
    uint64_t unpack_mem; /* the most bytes that unpacking may take */
    bool lines;          /* records end in newlines */
    char trouble[160];   /* why the file cannot be read, if errno is EBADMSG */
    uint64_t base;       /* where buf[0] stands in the file, as it reads uncompressed */
};

struct input_options;
void input_init(struct input *, const struct input_options *);
void input_free(struct input *);

/* Opens a file; "-" is standard input.  Returns 0, or -1 with errno: input_trouble describes it. */
int input_open(struct input *, const char *name);

/* Opens all files of the options as one input, or dies with a sentence.  Each file has to be in
 * order of time.  Their records come in order of time, and the header line comes once (merge.c). */
void input_open_merged(struct input *, const struct input_options *);
void input_open_feed(struct input *, const char *name, const struct input_feed *, void *ctx,
                     bool waits);
void input_close(struct input *);

/* Is the file read as it stands, neither unpacked nor merged? */
static inline bool input_is_plain(const struct input *in) { return !in->unpack && !in->feed; }

/* Skips the first `offset` bytes of a regular file that was not read yet.  False: the file is
 * shorter (errno is 0), or cannot be read (errno says why). */
bool input_skip(struct input *, uint64_t offset);

/* How many bytes of the file, as it reads uncompressed, have been consumed. */
static inline uint64_t input_offset(const struct input *in) { return in->base + in->begin; }

/* Skips a byte order mark at the beginning of the file. */
void input_skip_mark(struct input *);

/* Reads once, behind the bytes not yet consumed, which may move.  If these fill the buffer, it
 * grows; the caller bounds its size by not calling.  Returns the bytes read, 0 at the end of the
 * file, or -1 with errno: EAGAIN if more must be read first.  input_trouble describes other
 * errors. */
ssize_t input_fill(struct input *);

/* Describes an error.  If files are merged, `name` becomes the one that has the error. */
const char *input_trouble(struct input *, int error);

/* Has the buffer grown, because a record did not fit? */
bool input_grown(const struct input *);

/* Gives the buffer, which has not grown, to the caller, who frees it with free().  Takes `other`
 * instead, a buffer that this function gave before (NULL: a new one).  The bytes from `cut` on move
 * there. */
char *input_trade(struct input *, char *other, size_t cut);

/* Gives a grown buffer its first size again, if the bytes left fit. */
void input_shrink(struct input *);

/* Waits until a read would not block or `wake` is readable; with wait == false only looks.  True if
 * a read would not block. */
bool input_ready(const struct input *, int wake, bool wait);

#endif
