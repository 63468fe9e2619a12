/* sort.c - sorts keys, and keeps sorted runs of entries in temporary files. */
#include "commands/diff/diff.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CHUNK = 8, FEW = 12 };

/* The eight bytes at `depth` as a big-endian integer, with zeros behind the end. */
static uint64_t chunk_at(const struct text *t, size_t depth) {
    char bytes[CHUNK] = {0};
    uint64_t chunk;
    if (t->len >= depth + CHUNK)
        memcpy(bytes, t->bytes + depth, CHUNK);
    else if (t->len > depth)
        memcpy(bytes, t->bytes + depth, t->len - depth);
    memcpy(&chunk, bytes, CHUNK);
    return __builtin_bswap64(chunk);
}

static bool before(const struct sorted *a, const struct sorted *b, size_t depth) {
    if (a->chunk != b->chunk) return a->chunk < b->chunk;
    size_t least = a->text->len < b->text->len ? a->text->len : b->text->len;
    if (least <= depth) return false;
    return memcmp(a->text->bytes + depth, b->text->bytes + depth, least - depth) < 0;
}

/* The median of three chunks that are picked at random. */
static uint64_t pick_pivot(const struct sorted *s, size_t n, uint64_t *seed) {
    uint64_t of[3];
    for (int i = 0; i < 3; i++) {
        *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        of[i] = s[(*seed >> 33) % n].chunk;
    }
    uint64_t low = of[0] < of[1] ? of[0] : of[1], high = of[0] < of[1] ? of[1] : of[0];
    return of[2] < low ? low : of[2] > high ? high : of[2];
}

static void swap(struct sorted *a, struct sorted *b) {
    struct sorted c = *a;
    *a = *b;
    *b = c;
}

/* Splits strings: [0, *low) are below the pivot, [*low, *high) equal to it, [*high, n) above. */
static void split(struct sorted *s, size_t n, uint64_t pivot, size_t *low, size_t *high) {
    *low = 0;
    *high = n;
    for (size_t i = 0; i < *high;) {
        if (s[i].chunk < pivot)
            swap(&s[i++], &s[(*low)++]);
        else if (s[i].chunk > pivot)
            swap(&s[i], &s[--*high]);
        else
            i++;
    }
}

/* Looks at the next eight bytes of strings that are equal up to them.  False: no string has any. */
static bool go_deeper(struct sorted *s, size_t n, size_t depth) {
    bool more = false;
    for (size_t i = 0; i < n; i++) {
        s[i].chunk = chunk_at(s[i].text, depth);
        more |= s[i].text->len > depth;
    }
    return more;
}

struct part {
    struct sorted *at;
    size_t n, depth;
};

static void sort_part(struct part p, uint64_t *seed) {
    while (p.n > FEW) {
        size_t low, high;
        split(p.at, p.n, pick_pivot(p.at, p.n, seed), &low, &high);
        struct part part[3] = {{p.at, low, p.depth},
                               {p.at + low, high - low, p.depth + CHUNK},
                               {p.at + high, p.n - high, p.depth}};
        if (!go_deeper(part[1].at, part[1].n, part[1].depth)) part[1].n = 0; /* all equal */
        /* The two smaller parts are sorted first, so calls nest log2(n) deep at most. */
        size_t most = 0;
        for (size_t i = 1; i < 3; i++)
            if (part[i].n > part[most].n) most = i;
        for (size_t i = 0; i < 3; i++)
            if (i != most) sort_part(part[i], seed);
        p = part[most];
    }
    for (size_t i = 1; i < p.n; i++) {
        struct sorted one = p.at[i];
        size_t j = i;
        for (; j > 0 && before(&one, &p.at[j - 1], p.depth); j--) p.at[j] = p.at[j - 1];
        p.at[j] = one;
    }
}

void sort_texts(struct sorted *s, size_t n, uint64_t seed) {
    go_deeper(s, n, 0);
    sort_part((struct part){s, n, 0}, &seed);
}

/* -- files -------------------------------------------------------------------------------- */

_Noreturn static void refuse(const char *verb, const char *folder) {
    die("cannot %s temporary data in %s: %s; name another folder with --tmp, or raise --mem", verb,
        folder, strerror(errno));
}

/* If the file system cannot make a file without a name, the name is removed at once. */
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

/* A run may take long to write, so a signal ends the process here.  The file has no name. */
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

/* Reads until the buffer holds `n` bytes.  False: the file ends before. */
static bool hold(struct spill_in *in, size_t n) {
    if (in->end - in->begin >= n) return true;
    memmove(in->buf, in->buf + in->begin, in->end - in->begin);
    in->end -= in->begin;
    in->begin = 0;
    for (size_t got = 1; got && in->end < n; in->end += got)
        got = spill_read(in->fd, in->folder, in->buf + in->end, in->cap - in->end);
    return in->end >= n;
}

/* Reads the next entry.  False: the run has ended, and the file is closed. */
static bool spill_next(struct spill_in *in) {
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

/* Reads the lane's next entry; false at its end. */
static bool advance(struct merge_lane *l) {
    char bytes[8] = {0};
    if (!spill_next(&l->in)) return false;
    memcpy(bytes, l->in.at.key, l->in.at.len < sizeof bytes ? l->in.at.len : sizeof bytes);
    memcpy(&l->begin, bytes, sizeof bytes);
    l->begin = __builtin_bswap64(l->begin);
    return true;
}

static bool comes_first(const struct merge_lane *a, const struct merge_lane *b) {
    const struct entry *x = &a->in.at, *y = &b->in.at;
    if (a->begin != b->begin) return a->begin < b->begin;
    return memcmp(x->key, y->key, x->len < y->len ? x->len : y->len) < 0;
}

static void sift_down(struct merge *m, size_t i) {
    struct merge_lane **heap = m->heap, *l = heap[i];
    for (size_t child; (child = 2 * i + 1) < m->n; i = child) {
        child += child + 1 < m->n && comes_first(heap[child + 1], heap[child]);
        if (!comes_first(heap[child], l)) break;
        heap[i] = heap[child];
    }
    heap[i] = l;
}

void merge_begin(struct merge *m, struct merge_lane *lane, struct merge_lane **heap, size_t n,
                 char *key) {
    *m = (struct merge){heap, 0, key};
    for (size_t i = 0; i < n; i++)
        if (advance(&lane[i])) heap[m->n++] = &lane[i];
    for (size_t i = m->n / 2; i-- > 0;) sift_down(m, i);
}

/* The first lane moves on. */
static void step(struct merge *m) {
    if (!advance(m->heap[0])) m->heap[0] = m->heap[--m->n];
    if (m->n) sift_down(m, 0);
}

bool merge_next(struct merge *m, struct entry *e) {
    if (!m->n) return false;
    *e = m->heap[0]->in.at;
    e->key = memcpy(m->key, e->key, e->len);
    for (step(m); m->n; step(m)) {
        const struct entry *next = &m->heap[0]->in.at;
        if (next->len != e->len || memcmp(next->key, e->key, e->len) != 0) break;
        entry_add(e, next);
    }
    return true;
}
