/* transfer.c - runs a dump or a load on a thread of its own, step by step. */
#include "transfer.h"

#include "persist.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>

#define STACK_BYTES ((size_t)1 << 20)
#define PIECE       ((size_t)1 << 10)  /* what is smaller is a few numbers between the tables */
#define PIECE_MOST  ((size_t)64 << 10) /* of seen_save */
#define PIECES      2                  /* begun in a step of a dump, at most */
#define DUMPS_MOST  16

struct transfer {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t turned;
    bool server; /* whose turn it is */
    bool given_up, done;

    char *bytes; /* of this step: to be filled, or to be read */
    size_t at, len;
    int pieces; /* of a dump: how many pieces this step began */

    const struct value *from; /* of a dump */
    struct value *into;       /* of a load, once it is complete */
    uint64_t limit;
    struct seen_error error;

    struct transfer **place, *older; /* dumps, the youngest first */
};

/* -- turns -------------------------------------------------------------------------------- */

static void take_turns(struct transfer *t, bool server) {
    pthread_mutex_lock(&t->lock);
    t->server = server;
    pthread_cond_signal(&t->turned);
    while (t->server == server) pthread_cond_wait(&t->turned, &t->lock);
    pthread_mutex_unlock(&t->lock);
}

/* On the thread: until the server has made room, or has more. */
static bool await(struct transfer *t) {
    take_turns(t, true);
    return !t->given_up;
}

static void finish(struct transfer *t) {
    pthread_mutex_lock(&t->lock);
    t->done = true;
    t->server = true;
    pthread_cond_signal(&t->turned);
    pthread_mutex_unlock(&t->lock);
}

static void begin(struct transfer *t) {
    pthread_mutex_lock(&t->lock);
    while (t->server) pthread_cond_wait(&t->turned, &t->lock);
    pthread_mutex_unlock(&t->lock);
}

/* On the server: until the thread needs it, or is done. */
static void step(struct transfer *t) {
    if (!t->done) take_turns(t, false);
}

/* -- the thread --------------------------------------------------------------------------- */

/* Takes the bytes of one piece.  Where loading takes long, the library writes small pieces
 * (seen_save), so loading the bytes of one step is always short.  A filter that only gains items
 * may change while the thread waits: a piece is copied as its checksum saw it. */
static int give(void *ctx, const void *buf, size_t len) {
    struct transfer *t = ctx;
    char piece[PIECE_MOST];
    const char *bytes = memcpy(piece, buf, len);
    if (len >= PIECE && t->pieces == PIECES && !await(t)) return -1;
    t->pieces += len >= PIECE;
    while (len) {
        if (t->at == t->len && !await(t)) return -1;
        size_t n = t->len - t->at < len ? t->len - t->at : len;
        memcpy(t->bytes + t->at, bytes, n);
        t->at += n;
        bytes += n;
        len -= n;
    }
    return 0;
}

static int take(void *ctx, void *buf, size_t len) {
    struct transfer *t = ctx;
    char *bytes = buf;
    while (len) {
        if (t->at == t->len && !await(t)) return -1;
        size_t n = t->len - t->at < len ? t->len - t->at : len;
        memcpy(bytes, t->bytes + t->at, n);
        t->at += n;
        bytes += n;
        len -= n;
    }
    return 0;
}

static void *run_dump(void *ctx) {
    struct transfer *t = ctx;
    begin(t);
    if (!t->given_up) persist_write(t->from, (struct seen_writer){give, t});
    finish(t);
    return NULL;
}

static void *run_load(void *ctx) {
    struct transfer *t = ctx;
    begin(t);
    if (!t->given_up) t->into = persist_read((struct seen_reader){take, t}, t->limit, &t->error);
    finish(t);
    return NULL;
}

/* Signals are the server's. */
static int start(struct transfer *t, void *(*run)(void *)) {
    sigset_t all, before;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int bad = pthread_create(&t->thread, &attributes, run, t);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return bad;
}

static struct transfer *new_transfer(struct transfer **place) {
    struct transfer *t = RedisModule_TryAlloc(sizeof *t);
    if (!t) return NULL;
    *t = (struct transfer){.server = true, .place = place};
    pthread_mutex_init(&t->lock, NULL);
    pthread_cond_init(&t->turned, NULL);
    return t;
}

static void discard(struct transfer *t) {
    pthread_mutex_destroy(&t->lock);
    pthread_cond_destroy(&t->turned);
    RedisModule_Free(t);
}

static void stop(struct transfer *t) {
    t->given_up = true;
    step(t);
    pthread_join(t->thread, NULL);
    if (t->into) value_free(t->into);
    discard(t);
}

/* -- the dumps there are ------------------------------------------------------------------ */

/* Values may be freed on a thread of the server's. */
static pthread_mutex_t dumps_lock = PTHREAD_MUTEX_INITIALIZER;
static struct transfer *dumps;

static struct transfer *unlist(struct transfer **place) {
    pthread_mutex_lock(&dumps_lock);
    struct transfer *t = *place;
    for (struct transfer **d = &dumps; t && *d; d = &(*d)->older)
        if (*d == t) {
            *d = t->older;
            break;
        }
    *place = NULL;
    pthread_mutex_unlock(&dumps_lock);
    return t;
}

/* Returns the one that is too many. */
static struct transfer *list(struct transfer *t) {
    struct transfer **d = &dumps, *oldest = NULL;
    pthread_mutex_lock(&dumps_lock);
    t->older = dumps;
    dumps = t;
    for (int n = 0; *d && n < DUMPS_MOST; n++) d = &(*d)->older;
    if (*d) {
        oldest = *d;
        *d = NULL;
        *oldest->place = NULL;
    }
    pthread_mutex_unlock(&dumps_lock);
    return oldest;
}

void transfer_end(struct transfer **place) {
    struct transfer *t = unlist(place);
    if (t) stop(t);
}

/* -- the server's side -------------------------------------------------------------------- */

bool transfer_dump(struct transfer **place, const struct value *v) {
    struct transfer *t = new_transfer(place);
    if (!t) return false;
    t->from = v;
    if (start(t, run_dump)) return discard(t), false;
    *place = t;
    struct transfer *oldest = list(t);
    if (oldest) stop(oldest);
    return true;
}

bool transfer_load(struct transfer **place, uint64_t limit) {
    struct transfer *t = new_transfer(place);
    if (!t) return false;
    t->limit = limit;
    if (start(t, run_load)) return discard(t), false;
    *place = t;
    return true;
}

size_t transfer_next(struct transfer *t, char *buf, size_t cap, bool *last) {
    t->bytes = buf;
    t->len = cap;
    t->at = t->pieces = 0;
    step(t);
    *last = t->done;
    return t->at;
}

int transfer_feed(struct transfer *t, const char *bytes, size_t len, struct value **value,
                  struct seen_error *e) {
    t->bytes = (char *)bytes; /* which a load only reads */
    t->len = len;
    t->at = 0;
    *value = NULL;
    if (len) step(t);
    if (!t->done) return 0;
    if (t->into && t->at < t->len) {
        *e = (struct seen_error){.code = SEEN_EFORMAT, .text = "bytes follow the snapshot's end"};
        return e->code;
    }
    *value = t->into;
    *e = t->error;
    t->into = NULL;
    return *value ? 0 : SEEN_EFORMAT;
}

/* -- a value that is still being loaded --------------------------------------------------- */

struct loading {
    struct load head; /* which the value points to */
    struct transfer *transfer;
    struct load_chunk *first, **last;
};

static struct loading *loading_of(const struct value *v) { return (struct loading *)v->load; }

static void load_free(struct value *v) {
    struct loading *l = loading_of(v);
    transfer_end(&l->transfer);
    v->load = NULL;
    for (struct load_chunk *c = l->first, *next; c; c = next) {
        next = c->next;
        RedisModule_Free(c);
    }
    RedisModule_Free(l);
}

struct value *load_begin(uint64_t limit) {
    struct value *v = value_new(&(struct chain){0});
    struct loading *l = v ? RedisModule_TryAlloc(sizeof *l) : NULL;
    if (l) {
        *l = (struct loading){.head = {.free = load_free}, .last = &l->first};
        v->load = &l->head;
        if (transfer_load(&l->transfer, limit)) return v;
    }
    if (v) value_free(v);
    return NULL;
}

static int fail(struct seen_error *e, int code, const char *text) {
    *e = (struct seen_error){.code = code};
    strcpy(e->text, text);
    return code;
}

static int keep(struct loading *l, const char *bytes, size_t len, struct seen_error *e) {
    struct load_chunk *c = RedisModule_TryAlloc(sizeof *c + len);
    if (!c) return fail(e, SEEN_ENOMEM, "no memory for the chunk");
    c->next = NULL;
    c->len = len;
    memcpy(c->bytes, bytes, len);
    *l->last = c;
    l->last = &c->next;
    l->head.bytes += len;
    return 0;
}

int load_feed(struct value *v, const char *bytes, size_t len, bool last, uint64_t limit,
              struct value **done, struct seen_error *e) {
    struct loading *l = loading_of(v);
    *done = NULL;
    if (limit && len > limit - (l->head.bytes < limit ? l->head.bytes : limit))
        return fail(e, SEEN_EREFUSED, "the snapshot is larger than seen.max-bytes");
    int bad = last ? 0 : keep(l, bytes, len, e);
    if (!bad) bad = transfer_feed(l->transfer, bytes, len, done, e);
    if (bad) return bad;
    if (last && !*done)
        return fail(e, SEEN_EFORMAT, "the snapshot is not complete with its last chunk");
    if (!last && *done) {
        value_free(*done);
        *done = NULL;
        return fail(e, SEEN_EFORMAT, "the snapshot is complete before its last chunk");
    }
    return 0;
}

const struct load_chunk *load_chunks(const struct value *v) { return loading_of(v)->first; }
