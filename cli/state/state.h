/* state.h - `--state FILE`: a run that goes on where the last one ended or was stopped. */
#ifndef SEEN_STATE_H
#define SEEN_STATE_H

#include "base/cli.h"
#include "base/pack.h"
#include "judge/clock.h"
#include "judge/judge.h"
#include "judge/window_options.h"
#include "records/input.h"
#include "records/reader.h"
#include "seen.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* -- blocks behind the snapshot (blocks.c) ----------------------------------------------------- */

enum { BLOCK = 1 << 16 };

struct blocks_out {
    struct seen_writer to;
    uint64_t number; /* of the block that fills */
    size_t n;
    bool bad; /* the writer has failed */
    char bytes[BLOCK];
};

void blocks_out_begin(struct blocks_out *, struct seen_writer);
void blocks_put(struct blocks_out *, const void *, size_t len);
void blocks_put_number(struct blocks_out *, uint64_t);
struct seen_writer blocks_writer(struct blocks_out *); /* for snapshots */
int blocks_out_end(struct blocks_out *);               /* nonzero if the writer has failed */

struct blocks_in {
    struct seen_reader from;
    uint64_t number;
    size_t at, n; /* of the block */
    bool bad, ended;
    char bytes[BLOCK];
};

void blocks_in_begin(struct blocks_in *, struct seen_reader);
bool blocks_get(struct blocks_in *, void *, size_t len); /* false: bad */
uint64_t blocks_get_number(struct blocks_in *);
struct seen_reader blocks_reader(struct blocks_in *); /* for snapshots */
bool blocks_in_end(struct blocks_in *);               /* nothing was bad, and nothing is left */
void blocks_skip(struct blocks_in *);                 /* reads all that is left */

/* -- the file (file.c) ------------------------------------------------------------------------- */

struct state_file {
    const char *name;       /* as given, for messages */
    char *path, *fresh;     /* FILE, behind symbolic links, and FILE.new */
    int held, next, folder; /* FILE, FILE.new, the folder; -1: not open */
    pid_t writer;           /* the child that writes, or 0 */
};

/* What a state consists of. */
struct state_content {
    const seen_detector *detector;
    const void *blob;
    size_t len;
    int (*more)(const void *ctx, struct seen_writer); /* what follows the snapshot; NULL: nothing */
    const void *ctx;
};

/* Takes the state for this process, or dies with a sentence.  False: there is none yet. */
bool state_file_open(struct state_file *, const char *name);

/* Loads the snapshot, or dies.  The caller frees the blob. */
seen_detector *state_file_load(struct state_file *, void **blob, size_t *len);

/* The machine's memory.  Loading never allocates more, regardless of what a file claims. */
size_t state_file_memory(void);

/* state_file_more reads what follows the snapshot that was loaded last.  state_file_end dies unless
 * all of it was read. */
struct seen_reader state_file_more(void);
void state_file_end(const char *name);

/* Reads a state without taking it, or ends the process with a sentence.  *more: blocks (blocks.h)
 * follow the snapshot, and are sound.  *user: the process that holds it, 0 if that is not known, -1
 * if there is none. */
struct stat;
seen_detector *state_file_look(const char *name, void **blob, size_t *len, bool *more,
                               struct stat *, int *user);

/* Writes a state and returns 0 or an errno. */
int state_file_save(struct state_file *, const struct state_content *);
/* Begins to write a state in a child process; returns 0 or an errno. */
int state_file_begin(struct state_file *, const struct state_content *);
/* True if the child has ended; *error is then 0 or an errno. */
bool state_file_done(struct state_file *, int *error);

/* Releases the state.  A child that still writes is killed. */
void state_file_close(struct state_file *);

/* -- huge pages after a fork (huge_pages.c) ---------------------------------------------------- */

enum { MAX_HUGE_SPANS = 64 };

struct huge_pages {
    struct {
        uintptr_t at, end;
    } span[MAX_HUGE_SPANS]; /* mappings that asked for huge pages */
    size_t n;
    atomic_bool mending; /* the thread is at it, and the above is its own */
};

/* Finds the mappings that asked for huge pages.  Comes before the fork: afterwards there are more
 * mappings to read. */
void huge_pages_find(struct huge_pages *);

/* Restores the huge pages in a thread of its own.  No child may share our memory any more. */
void huge_pages_restore(struct huge_pages *);

/* -- what is kept of a run (saved.c) ----------------------------------------------------------- */

/* The options of a run that decide its verdicts.  A state can only be continued under the same
 * options. */

enum { MAX_SAVED_OPTIONS = 64 };

struct saved_option {
    char name[40];     /* as people type it: -k, --csv */
    const char *value; /* "" for a flag; stays the caller's */
};

struct saved_options {
    struct saved_option option[MAX_SAVED_OPTIONS];
    size_t n;
};

/* Takes the given options down, unless they only say what is printed; the last of a name counts. */
void saved_options_take(struct saved_options *, const struct args *);

/* Adds an option as it was noted before; false if there is no room or the name is too long. */
bool saved_options_put(struct saved_options *, const char *name, const char *value);

/* The value of a name, or NULL. */
const char *saved_options_find(const struct saved_options *, const char *name);

/* Appends how the options before differ from those of this run: "with -k 2, not -k 3; without
 * --csv". `at`: the length of the text so far, of `cap` bytes at most.  Returns its new length. */
size_t saved_options_differ(const struct saved_options *before, const struct saved_options *now,
                            char *text, size_t cap, size_t at);

/* Likewise for two specs in canonical writing. */
size_t saved_specs_differ(const char *before, const char *now, char *text, size_t cap, size_t at);

/* How far each regular file was read.
 *
 * A file is identified by device and inode, so that a rotated log continues under its new name.
 * Inodes are reused and files are overwritten in place.  So a hash of some bytes around the place
 * is kept as well: these bytes must still be the same. */

enum { MAX_PLACES = 1024 }; /* files remembered: the ones read last */

struct place {
    char *name; /* as it was given; ours */
    uint64_t dev, ino;
    uint64_t offset;          /* bytes of it, uncompressed, that are behind us */
    uint64_t lines;           /* newlines among them, where the format counts any */
    uint64_t at, len, digest; /* of the bytes that must not have changed */
};

struct places {
    struct place *place; /* the one read last is the last */
    size_t n;
};

void places_free(struct places *);
void places_pack(const struct places *, struct packer *);

/* Finds where to go on in the file that is open as `in`; NULL: at its start.  If another file was
 * read under this name before, `what` says so; otherwise `what` is empty. */
const struct place *places_find(const struct places *, const struct input *in, char *what,
                                size_t cap);

/* Notes how far the open file was read. */
void places_note(struct places *, const struct input *in, uint64_t offset, uint64_t lines);

enum { SAVED_FORMAT = 2 };
enum { MAX_SPEC = 1024 };
#define SAVED_NO_OUTPUT UINT64_MAX

extern const char *const saved_commands[]; /* those that keep a state, ended by NULL */

struct saved {
    void *blob; /* texts and bytes point into it; the owner's to free */
    size_t len;
    seen_detector *detector;
    const char *command; /* of saved_commands; NULL: the blob is not that of a state */
    const char *version; /* of the program that wrote it */
    char spec[MAX_SPEC]; /* as asked, in the canonical writing of this program */
    struct saved_options options;
    bool ended;      /* the run came to an end of its own */
    uint64_t output; /* how long standard output was, if a file */
    uint64_t number; /* of the last record */
    struct judge_kept judge;
    bool unended;       /* the last record printed had no line end */
    const char *header; /* NULL: none was read */
    size_t header_len;
    struct places places;
    const char *extra; /* what the command adds */
    size_t extra_len;
};

/* The command that wrote the blob.  NULL: it is not the blob of a state; snapshots of other
 * programs have none, or their own. */
const char *saved_command(const void *blob, size_t len);

/* Reads the blob of the state called `name`, or ends the process with a sentence. */
void saved_unpack(struct saved *, const char *name);

/* The latest time of a record; 0: none. */
seen_time saved_last(const struct saved *);

/* Dies because the blob holds values that no run can have written. */
_Noreturn void saved_refuse(const char *name);

/* -- the state of a run (state.c) -------------------------------------------------------------- */

/* Rows of one group, taken into a struct state (struct option_group). */
extern const struct option_row state_rows[];
void state_take(void *state, const struct option_row *, const char *value);

/* What a command adds to its state. */
struct state_kind {
    const char *command; /* one of saved_commands */
    /* Writes all output that waits in buffers; false if it has not arrived. */
    bool (*deliver)(void *ctx);
    /* Pack into the blob, in some 8 MiB at most, and unpack; false if the bytes cannot be right. */
    void (*pack)(const void *ctx, struct packer *);
    bool (*unpack)(void *ctx, const char *bytes, size_t len);
    /* Write and read what follows the snapshot; NULL: nothing follows.  `save` must not
     * allocate. */
    void (*save)(const void *ctx, struct blocks_out *);
    bool (*load)(void *ctx, struct blocks_in *);
};

/* The parts of a run whose state is kept. */
struct state_of {
    seen_detector *detector;
    struct reader *reader;
    struct judge *judge;
    uint64_t *number; /* of the last record */
    bool *unended;    /* the last record printed had no such end, ... */
    char end;         /* ... a newline or NUL */
    void *ctx;        /* of the kind */
};

struct state {
    const char *name; /* NULL: none is kept */
    const struct state_kind *kind;
    uint64_t every; /* microseconds */
    bool from_start, quiet;
    struct saved_options options; /* of this run */
    struct state_file file;
    struct huge_pages huge_pages; /* pages that the last child's copy split */
    struct places places;         /* of files read so far, in this run or before */
    struct state_of of;
    struct saved *before; /* what was loaded; NULL: nothing */
    char spec[MAX_SPEC];  /* as asked, in canonical writing */
    double flushed;       /* when, on the monotonic clock, output last went out for our sake */
    uint64_t saved;       /* records that the last snapshot counts */
    bool due;             /* one is asked for */
    bool failing;         /* the last one could not be written, and that was said */
};

void state_init(struct state *, const struct state_kind *);

/* Loads the state if there is one; all options are known.  If no window was asked for, the state's
 * window is taken.  Its text stays the state's. */
void state_load(struct state *, struct window_options *);

/* Dies if the planned window or another option differs from those of the state. */
void state_check(struct state *, const struct window_options *);

/* The detector loaded, now the caller's; NULL: there was no state. */
seen_detector *state_detector(struct state *);

/* Gives the parts of the run what the state kept of them.  Comes before the first record is
 * read. */
void state_begin(struct state *, struct state_of);

/* This run's output goes on behind what the run before printed. */
bool state_goes_on(const struct state *);

void state_opened(struct state *); /* of reader_events */
void state_closed(struct state *);
void state_attend(struct state *);
void state_judged(struct state *); /* a batch */

/* Saves at the end of a run.  False, after a message, if that failed. */
bool state_end(struct state *);
void state_free(struct state *);

#endif
