/* persist.c - writes a value as bytes and reads it back. */
#include "persist.h"

#include "chain.h"
#include "few.h"

#include <stddef.h>
#include <string.h>

/* Begins a chain; a snapshot begins with SEEN and its version, which has a 0 at the fifth byte. */
struct chain_head {
    char magic[8]; /* SEENBF, 0, 1 */
    uint64_t links, capacity, expansion;
    double error;
    uint64_t sum; /* of all before it */
};

static const char chain_magic[8] = {'S', 'E', 'E', 'N', 'B', 'F', 0, 1};

static uint64_t sum_of(const struct chain_head *h) {
    return seen_hash(h, offsetof(struct chain_head, sum), 0).lo;
}

int persist_write(const struct value *v, struct seen_writer w) {
    uint32_t links = v->links; /* a chain may grow while it is dumped */
    if (v->chain.capacity) {
        struct chain_head h = {.links = links,
                               .capacity = v->chain.capacity,
                               .expansion = v->chain.expansion,
                               .error = v->chain.error};
        memcpy(h.magic, chain_magic, sizeof h.magic);
        h.sum = sum_of(&h);
        if (w.write(w.ctx, &h, sizeof h)) return SEEN_EIO;
    }
    for (uint32_t i = 0; i < links; i++) {
        const struct link *link = &v->link[i];
        if (link->few ? few_save(link->few, v->seed, w) : seen_save(link->filter, NULL, 0, w, NULL))
            return SEEN_EIO;
    }
    return 0;
}

/* -- reading ------------------------------------------------------------------------------ */

/* A reader whose first bytes were looked at. */
struct peeked {
    struct seen_reader in;
    char head[8];
    size_t left; /* of the head */
};

static int read_on(void *ctx, void *buf, size_t len) {
    struct peeked *p = ctx;
    size_t n = p->left < len ? p->left : len;
    memcpy(buf, p->head + sizeof p->head - p->left, n);
    p->left -= n;
    return n == len ? 0 : p->in.read(p->in.ctx, (char *)buf + n, len - n);
}

static int bad_chain(struct seen_error *e) {
    *e = (struct seen_error){.code = SEEN_EFORMAT, .text = "the chain's header is damaged"};
    return e->code;
}

static int read_chain(struct peeked *p, struct chain *chain, uint64_t *links,
                      struct seen_error *e) {
    struct chain_head h;
    if (read_on(p, &h, sizeof h)) return bad_chain(e);
    *links = h.links;
    *chain = (struct chain){h.error, h.capacity, h.expansion};
    bool fine = h.sum == sum_of(&h) && h.links >= 1 && h.links <= LINKS_MOST && h.capacity >= 1 &&
                h.capacity <= CHAIN_CAPACITY_MOST && h.expansion <= CHAIN_EXPANSION_MOST &&
                h.error > 0 && h.error < 1 && (h.expansion || h.links == 1);
    return fine ? 0 : bad_chain(e);
}

/* What chains are made of, and nothing else, so that no link forgets or ages. */
static bool is_link(const seen_detector *d) {
    struct seen_plan plan = seen_plan_of(d);
    return plan.spec.window == SEEN_WINDOW_LANDMARK && plan.spec.unit == SEEN_UNIT_NONE &&
           seen_spec_get_count(&plan.spec, "hash") == SEEN_HASH_XXH3 &&
           !seen_spec_get_count(&plan.spec, "verify") && !(plan.traits & SEEN_GROWS);
}

static int read_few(struct value *v, struct peeked *p, uint64_t *seed, struct seen_error *e) {
    struct seen_reader r = {read_on, p};
    struct few *few = few_load(&v->memory, seed, chain_link_capacity(v, v->links), r, e);
    if (!few) return e->code;
    v->link[v->links++] = (struct link){.few = few};
    return 0;
}

static int read_filter(struct value *v, struct peeked *p, uint64_t *seed, uint64_t limit,
                       struct seen_error *e) {
    struct seen_reader r = {read_on, p};
    struct seen_allocator from = memory_allocator(&v->memory);
    seen_detector *d;
    uint64_t left = !limit ? 0 : limit > v->memory.bytes ? limit - v->memory.bytes : 1;
    int bad = seen_load(&d, r, left, NULL, &from, e);
    if (bad) return bad;
    value_link(v, d);
    *seed = seen_seed(d);
    struct seen_plan plan = seen_plan_of(d);
    bad = value_takes(&plan, e);
    return !bad && v->chain.capacity && !is_link(d) ? bad_chain(e) : bad;
}

/* The next bytes tell what a link is.  All links of a chain hash with one seed. */
static int read_links(struct value *v, uint64_t links, struct peeked *p, uint64_t limit,
                      struct seen_error *e) {
    for (uint64_t i = 0; i < links; i++) {
        uint64_t seed;
        if (!p->left && p->in.read(p->in.ctx, p->head, sizeof p->head)) return bad_chain(e);
        p->left = sizeof p->head;
        if (!value_room(v)) {
            *e = (struct seen_error){.code = SEEN_ENOMEM, .text = "no memory for another filter"};
            return e->code;
        }
        bool few = v->chain.capacity && !memcmp(p->head, few_magic, sizeof p->head);
        int bad = few ? read_few(v, p, &seed, e) : read_filter(v, p, &seed, limit, e);
        if (bad) return bad;
        if (v->links > 1 && seed != v->seed) return bad_chain(e);
        v->seed = seed;
    }
    return 0;
}

struct value *persist_read(struct seen_reader in, uint64_t limit, struct seen_error *e) {
    struct peeked p = {.in = in, .left = sizeof p.head};
    struct chain chain = {0};
    uint64_t links = 1;
    *e = (struct seen_error){.code = SEEN_EFORMAT, .text = "the snapshot ends in its header"};
    if (in.read(in.ctx, p.head, sizeof p.head)) return NULL;
    if (!memcmp(p.head, chain_magic, sizeof p.head) && read_chain(&p, &chain, &links, e))
        return NULL;
    struct value *v = value_new(&chain);
    if (!v) {
        *e = (struct seen_error){.code = SEEN_ENOMEM, .text = "no memory for another filter"};
        return NULL;
    }
    if (!read_links(v, links, &p, limit, e)) {
        chain.capacity ? chain_count(v) : value_look(v);
        return v;
    }
    value_free(v);
    return NULL;
}

/* -- digest ------------------------------------------------------------------------------- */

static int mix(void *ctx, const void *buf, size_t len) {
    seen_digest *sum = ctx, piece = seen_hash(buf, len, sum->lo);
    sum->lo = piece.lo;
    sum->hi = sum->hi * 31 + piece.hi;
    return 0;
}

/* What was not replicated reached no detector, so that the snapshots of a filter on its primary and
 * on its replicas are the same to the byte. */
seen_digest persist_digest(const struct value *v) {
    seen_digest sum = {v->links, v->chain.capacity};
    persist_write(v, (struct seen_writer){mix, &sum});
    return sum;
}
