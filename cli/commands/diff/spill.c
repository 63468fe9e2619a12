/* spill.c - writes and reads temporary files of sorted entries. */
#include "commands/diff/spill.h"

#include "base/cli.h"
#include "base/signals.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* -- files -------------------------------------------------------------------------------- */

_Noreturn static void refuse(const char *verb, const char *folder) {
    die("cannot %s temporary data in %s: %s; name another folder with --tmp, or raise --mem", verb,
        folder, strerror(errno));
}

/* Where the file system cannot make a file without a name, its name goes at once. */
int spill_open(const char *folder) {
    signal(SIGXFSZ, SIG_IGN); /* a file that may not grow is an error like others */
    int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd >= 0) return fd;
    char *name;
    if (asprintf(&name, "%s/seen-XXXXXX", folder) < 0) die("out of memory for a file's name");
    fd = mkostemp(name, O_CLOEXEC);
    if (fd < 0) refuse("keep", folder);
    unlink(name);
    free(name);
    return fd;
}

void spill_write(int fd, const char *folder, const void *bytes, size_t n) {
    const char *p = bytes;
    while (n > 0) {
        ssize_t wrote = write(fd, p, n);
        if (wrote < 0 && errno == EINTR) continue;
        if (wrote < 0) refuse("write", folder);
        p += wrote;
        n -= (size_t)wrote;
    }
}

size_t spill_read(int fd, const char *folder, void *bytes, size_t n) {
    ssize_t got;
    do got = read(fd, bytes, n);
    while (got < 0 && errno == EINTR);
    if (got < 0) refuse("read", folder);
    return (size_t)got;
}

void spill_seek(int fd, const char *folder, uint64_t offset) {
    if (lseek(fd, (off_t)offset, SEEK_SET) < 0) refuse("read", folder);
}

/* -- writing a run ------------------------------------------------------------------------ */

/* An entry is: varints of the key's length and the two counts, the two sums if there are any, and
 * the key. */

static char *put_varint(char *p, uint64_t v) {
    for (; v >= 0x80; v >>= 7) *p++ = (char)(v | 0x80);
    *p++ = (char)v;
    return p;
}

static const char *get_varint(const char *p, uint64_t *v) {
    *v = 0;
    for (unsigned shift = 0;; shift += 7) {
        *v |= (uint64_t)(*p & 0x7f) << shift;
        if (!(*p++ & 0x80)) return p;
    }
}

void spill_begin(struct spill_out *o, const char *folder, bool sums, char *buf) {
    *o = (struct spill_out){spill_open(folder), folder, sums, 0, 0, buf};
}

/* A run may take long to write: a signal ends that at once, as the file has no name. */
static void flush(struct spill_out *o) {
    if (signals_stop()) signals_die(signals_stop());
    spill_write(o->fd, o->folder, o->buf, o->n);
    o->bytes += o->n;
    o->n = 0;
}

void spill_entry(struct spill_out *o, const struct entry *e) {
    if (o->n + SPILL_HEAD > SPILL_BUFFER) flush(o);
    char *p = put_varint(o->buf + o->n, e->len);
    p = put_varint(p, e->n[LEFT]);
    p = put_varint(p, e->n[RIGHT]);
    if (o->sums) memcpy(p, e->sum, sizeof e->sum), p += sizeof e->sum;
    o->n = (size_t)(p - o->buf);
    if (o->n + e->len > SPILL_BUFFER) flush(o);
    if (e->len <= SPILL_BUFFER) {
        memcpy(o->buf + o->n, e->key, e->len);
        o->n += e->len;
    } else {
        spill_write(o->fd, o->folder, e->key, e->len);
        o->bytes += e->len;
    }
}

int spill_end(struct spill_out *o) {
    flush(o);
    spill_seek(o->fd, o->folder, 0);
    return o->fd;
}

/* -- reading one -------------------------------------------------------------------------- */

void spill_in_init(struct spill_in *in, int fd, const char *folder, bool sums, char *buf,
                   size_t cap) {
    *in = (struct spill_in){.fd = fd, .folder = folder, .sums = sums, .buf = buf, .cap = cap};
}

/* Has the buffer hold `n` bytes, if the file has them. */
static bool hold(struct spill_in *in, size_t n) {
    if (in->end - in->begin >= n) return true;
    memmove(in->buf, in->buf + in->begin, in->end - in->begin);
    in->end -= in->begin;
    in->begin = 0;
    for (size_t got = 1; got && in->end < n; in->end += got)
        got = spill_read(in->fd, in->folder, in->buf + in->end, in->cap - in->end);
    return in->end >= n;
}

bool spill_next(struct spill_in *in) {
    uint64_t len;
    hold(in, SPILL_HEAD);
    if (in->begin == in->end) {
        close(in->fd);
        return false;
    }
    const char *p = get_varint(in->buf + in->begin, &len);
    p = get_varint(p, &in->at.n[LEFT]);
    p = get_varint(p, &in->at.n[RIGHT]);
    if (in->sums) memcpy(in->at.sum, p, sizeof in->at.sum), p += sizeof in->at.sum;
    in->begin = (size_t)(p - in->buf);
    if (!hold(in, len)) die("the temporary data in %s ends too soon", in->folder);
    in->at.key = in->buf + in->begin;
    in->at.len = len;
    in->begin += len;
    return true;
}
