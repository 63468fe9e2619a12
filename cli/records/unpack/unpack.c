/* unpack.c - compressed files, read as what they hold. */
#include "records/unpack/unpack.h"

#include "base/cli.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { RAW = 128 << 10 };

struct unpack {
    const struct packing *packing;
    void *state;
    char *raw;
    size_t at, n;  /* bytes of raw not yet unpacked */
    bool between;  /* the file may end here */
    bool begun;    /* something has come out */
    bool lines;    /* records in it end in newlines */
    bool squeezed; /* there was no room for all that would come out */
    char trouble[200];
};

const char unpack_needs_memory[] =
    "takes more memory than --unpack-mem allows (default: 128MiB); give more";

/* The first n bytes are those of the magic, as far as both go. */
static bool begins(const char *begin, size_t n, const char *magic, size_t len) {
    for (size_t i = 0; i < n && i < len; i++)
        if (magic[i] == '?' ? begin[i] < '1' || begin[i] > '9' : begin[i] != magic[i]) return false;
    return true;
}

const struct packing *unpack_tell(const char *begin, size_t n, bool *more) {
    static const struct packing *const all[] = {&gzip_packing, &zstd_packing, &xz_packing,
                                                &bzip2_packing};
    *more = false;
    for (size_t i = 0; i < 2 * sizeof all / sizeof *all; i++) {
        const struct packing *p = all[i / 2];
        if (!p->magic[i % 2] || !begins(begin, n, p->magic[i % 2], p->magic_len)) continue;
        if (n >= p->magic_len) return p;
        *more = true;
    }
    return NULL;
}

struct unpack *unpack_new(const struct packing *p, const char *name, uint64_t memory, bool lines,
                          const char *begin, size_t n) {
    struct unpack *u = calloc(1, sizeof *u);
    if (u)
        *u = (struct unpack){.packing = p,
                             .lines = lines,
                             .state = p->open(memory),
                             .raw = malloc(n > RAW ? n : RAW)};
    if (!u || !u->state || !u->raw) die("out of memory for unpacking %s", name);
    if (n) memcpy(u->raw, begin, n);
    u->n = n;
    return u;
}

void unpack_free(struct unpack *u) {
    if (!u) return;
    u->packing->close(u->state);
    free(u->raw);
    free(u);
}

const char *unpack_trouble(const struct unpack *u) { return u->trouble; }

bool unpack_pending(const struct unpack *u) { return u->at < u->n || u->squeezed || *u->trouble; }

/* Bytes read, 0 where the file may end. */
static ssize_t refill(struct unpack *u, int fd) {
    ssize_t got = read(fd, u->raw, RAW);
    if (got > 0) u->at = 0, u->n = (size_t)got;
    if (got != 0 || u->between) return got;
    snprintf(u->trouble, sizeof u->trouble,
             "its %s data ends in the middle, it was cut short: copy or make it again",
             u->packing->name);
    errno = EBADMSG;
    return -1;
}

/* The first bytes that come out may be foreign, as those of a tar archive. */
static bool look_inside(struct unpack *u, const char *out, size_t n) {
    const char *what = u->begun ? NULL : foreign_tell(out, n, u->lines);
    u->begun = true;
    if (what)
        snprintf(u->trouble, sizeof u->trouble, "inside its %s data %s", u->packing->name, what);
    return what;
}

ssize_t unpack_read(struct unpack *u, int fd, char *out, size_t room) {
    ssize_t got;
    if (!unpack_pending(u) && (got = refill(u, fd)) <= 0) return got;
    struct stretch s = {u->raw + u->at, u->n - u->at, out, room, u->between};
    const char *wrong = *u->trouble ? "" : u->packing->unpack(u->state, &s);
    u->at = u->n - s.left;
    u->between = s.between;
    u->squeezed = s.room == 0;
    if (wrong && *wrong)
        snprintf(u->trouble, sizeof u->trouble, "its %s data %s%s", u->packing->name,
                 wrong == unpack_needs_memory ? "" : "is damaged: ", wrong);
    bool foreign = s.room < room && look_inside(u, out, room - s.room);
    if (s.room < room && !foreign) return (ssize_t)(room - s.room);
    errno = wrong || foreign ? EBADMSG : EAGAIN;
    return -1;
}
