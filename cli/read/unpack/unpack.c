/* unpack.c - compressed files, read as what they hold. */
#include "read/unpack/unpack.h"

#include "cli.h"

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
    bool squeezed; /* there was no room for all that would come out */
    char trouble[200];
};

const struct packing *unpack_tell(const char *begin, size_t n, bool *more) {
    static const struct packing *const all[] = {&gzip_packing, &zstd_packing};
    *more = false;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        size_t len = all[i]->magic_len;
        if (memcmp(begin, all[i]->magic, n < len ? n : len) != 0) continue;
        if (n >= len) return all[i];
        *more = true;
    }
    return NULL;
}

struct unpack *unpack_new(const struct packing *p, const char *name, const char *begin, size_t n) {
    if (!p->open)
        die("%s is compressed, and this build of seen lacks %s: unpack it with %s -dc", name,
            p->name, p->name);
    struct unpack *u = calloc(1, sizeof *u);
    if (u) *u = (struct unpack){.packing = p, .state = p->open(), .raw = malloc(n > RAW ? n : RAW)};
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
    snprintf(u->trouble, sizeof u->trouble, "its %s data ends in the middle, it was cut short",
             u->packing->name);
    errno = EBADMSG;
    return -1;
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
        snprintf(u->trouble, sizeof u->trouble, "its %s data is damaged: %s", u->packing->name,
                 wrong);
    if (s.room < room) return (ssize_t)(room - s.room);
    errno = wrong ? EBADMSG : EAGAIN;
    return -1;
}
