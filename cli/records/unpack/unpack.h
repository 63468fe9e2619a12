/* unpack.h - reads compressed files as their contents.  A file's first bytes tell how it is packed,
 * so its name does not matter, and standard input may be compressed, too. */
#ifndef SEEN_UNPACK_H
#define SEEN_UNPACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* -- ways to pack (codecs.c) -------------------------------------------------------------- */

struct stretch {
    const char *in;
    size_t left;
    char *out;
    size_t room;
    bool between; /* the packed data may end here */
};

struct packing {
    const char *name;
    const char *magic[2]; /* the bytes a file begins with; ? is a digit from 1 to 9; or NULL */
    size_t magic_len;
    void *(*open)(uint64_t memory); /* takes at most `memory` bytes.  NULL: not built in */
    void (*close)(void *);
    /* Unpacks as much input as the output has room for.  Returns NULL, or what is wrong. */
    const char *(*unpack)(void *, struct stretch *);
};

extern const struct packing gzip_packing, zstd_packing, xz_packing, bzip2_packing;

extern const char unpack_needs_memory[]; /* what is wrong if `memory` is too little */

/* -- one file ------------------------------------------------------------------------------ */

/* How a file that begins with these n bytes is packed; NULL: it is not.  *more: it may be packed,
 * but more bytes are needed to tell. */
const struct packing *unpack_tell(const char *begin, size_t n, bool *more);

struct unpack;

/* The packing has to be built in (`open`).  `begin` are n bytes that were already read.  `lines` is
 * as in foreign_tell. */
struct unpack *unpack_new(const struct packing *, const char *name, uint64_t memory, bool lines,
                          const char *begin, size_t n);
void unpack_free(struct unpack *); /* NULL is fine */

/* Like read(2).  EAGAIN: more has to be read first.  EBADMSG: unpack_trouble says what is wrong. */
ssize_t unpack_read(struct unpack *, int fd, char *out, size_t room);
const char *unpack_trouble(const struct unpack *);

/* May something come out without another read of the file? */
bool unpack_pending(const struct unpack *);

/* -- files that are not lines of text and that seen cannot read ---------------- *
 *
 * Archives, databases and other encodings would silently give wrong answers if they were judged as
 * lines.  No line of text begins with the bytes that tell them: control characters, NUL, bytes that
 * are not UTF-8. */

enum { FOREIGN_BYTES = 512 }; /* the bytes that are looked at */

/* Says what a file is that begins with these n bytes, and how to read it; NULL: it is not foreign.
 * `lines`: its records end in newlines, so NUL bytes at every other place mean UTF-16. */
const char *foreign_tell(const char *begin, size_t n, bool lines);

/* The same for a regular file, which is also told by its end. */
const char *foreign_tell_file(int fd, const char *begin, size_t n, bool lines);

#endif
