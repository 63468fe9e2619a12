/* unpack.h - compressed files, read as what they hold.  They are told by their first bytes, so that
 * names do not matter and standard input may be one. */
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
    bool between; /* packed data may end here */
};

struct packing {
    const char *name;
    const char *magic[2]; /* either; ? is a digit from 1 to 9.  NULL: there is one */
    size_t magic_len;
    void *(*open)(uint64_t memory); /* takes at most `memory` bytes.  NULL: not built in */
    void (*close)(void *);
    /* Unpacks as much input as the output has room for.  NULL, or what is wrong with the data. */
    const char *(*unpack)(void *, struct stretch *);
};

extern const struct packing gzip_packing, zstd_packing, xz_packing, bzip2_packing;

extern const char unpack_needs_memory[]; /* what is wrong where that is not enough */

/* -- one file ------------------------------------------------------------------------------ */

enum { UNPACK_MAGIC = 10 }; /* bytes that tell */

/* How a file that begins with these n bytes is packed; NULL: it is not.  *more: a few bytes more
 * may tell. */
const struct packing *unpack_tell(const char *begin, size_t n, bool *more);

struct unpack;

/* `begin` are n bytes that have been read already.  It is built in.  `lines`:
 * as of foreign.h. */
struct unpack *unpack_new(const struct packing *, const char *name, uint64_t memory, bool lines,
                          const char *begin, size_t n);
void unpack_free(struct unpack *); /* NULL is fine */

/* As read(2); EAGAIN: nothing comes out before another read, EBADMSG: unpack_trouble says what. */
ssize_t unpack_read(struct unpack *, int fd, char *out, size_t room);
const char *unpack_trouble(const struct unpack *);

/* Something may come out without a read. */
bool unpack_pending(const struct unpack *);

/* -- files that are not lines of text and that seen cannot read ---------------- *
 *
 * Archives, columns, databases, other encodings: judged as bytes they would silently give a wrong
 * answer.  They are told by bytes that no line of text begins with: control characters, NUL, bytes
 * that are not UTF-8. */

enum { FOREIGN_BYTES = 512 }; /* that are looked at; fewer tell less */

/* What a file is that begins with these n bytes, and how it can be read; NULL: nothing foreign.
 * `lines`: its records end in newlines, so that NUL bytes at every other place are UTF-16. */
const char *foreign_tell(const char *begin, size_t n, bool lines);

/* The same of a regular file, by its end as well. */
const char *foreign_tell_file(int fd, const char *begin, size_t n, bool lines);

#endif
