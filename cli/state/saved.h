/* saved.h - what a state says beside its snapshot: the options that were given, how far each file
 * was read, and what was printed last (doc/state.md). */
#ifndef SEEN_STATE_SAVED_H
#define SEEN_STATE_SAVED_H

#include "base/cli.h"
#include "base/pack.h"
#include "judge/clock.h"
#include "judge/judge.h"
#include "records/input.h"
#include "records/reader.h"

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
void places_unpack(struct places *, struct unpacker *);

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
    const char *own; /* what the command adds */
    size_t own_len;
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

#endif
