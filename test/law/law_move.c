/* law_move - a detector whose blocks are moved gives the same answers as before. */
#include "../any_window.h"
#include "law.h"

#include <stdlib.h>
#include <string.h>

enum { RECORDS = 1500, GROWING = 40000, MOVES_MOST = 4096 };

/* An allocator that is valid for a while: a call after that shows that a pointer to it was kept. */
struct lease {
    struct seen_allocator allocator; /* hand this to the library */
    struct law_memory *memory;
    bool over;
};

static void *lease_zalloc(void *ctx, size_t size) {
    struct lease *l = ctx;
    law_check(!l->over, "memory was asked of an allocator that is gone");
    return l->memory->allocator.zalloc(l->memory, size);
}

static void lease_free(void *ctx, void *p, size_t size) {
    struct lease *l = ctx;
    law_check(!l->over, "memory was given to an allocator that is gone");
    l->memory->allocator.free(l->memory, p, size);
}

static struct lease *lease(struct law_memory *m) {
    struct lease *l = malloc(sizeof *l);
    *l = (struct lease){.allocator = {lease_zalloc, lease_free, l}, .memory = m};
    return l;
}

/* The old copies of moved blocks stay, poisoned, until the end: reading them gives wrong answers.
 */
struct mover {
    struct law_memory *memory;
    uint64_t *rng; /* one block in four stays; NULL: all are moved */
    size_t moves;
    struct {
        void *p;
        size_t size;
    } old[MOVES_MOST];
};

static void *move_block(void *ctx, void *p, size_t size) {
    struct mover *m = ctx;
    if (m->moves == MOVES_MOST || (m->rng && !law_below(m->rng, 4))) return NULL;
    void *to = m->memory->allocator.zalloc(m->memory, size);
    memcpy(to, p, size);
    memset(p, 0xa5, size);
    m->old[m->moves].p = p;
    m->old[m->moves++].size = size;
    return to;
}

static void clear_away(struct mover *m) {
    for (size_t i = 0; i < m->moves; i++)
        m->memory->allocator.free(m->memory, m->old[i].p, m->old[i].size);
}

static void same_so_far(const seen_detector *a, const seen_detector *b, const struct law_stream *s,
                        size_t to) {
    struct seen_stats one, two;
    uint64_t ages[2][64];
    size_t n = to < 64 ? to : 64;
    any_last_seen(a, n, s->digest + to - n, s->time[to - 1], ages[0]);
    any_last_seen(b, n, s->digest + to - n, s->time[to - 1], ages[1]);
    law_check(!memcmp(ages[0], ages[1], n * sizeof **ages), "ages differ after %zu", to);
    seen_stats(a, &one);
    seen_stats(b, &two);
    law_check(!memcmp(&one, &two, sizeof one), "statistics differ after %zu", to);
    struct seen_plan here = seen_plan_of(a), there = seen_plan_of(b);
    law_check(!memcmp(&here, &there, sizeof here), "plans differ");
}

/* Moves everything, or some of it, before each of a few batches. */
static void travel(const struct seen_plan *plan, enum law_kind kind, size_t records, uint64_t rng) {
    struct law_memory home, away;
    struct law_stream s = law_stream(plan, kind, records, 200, rng);
    uint8_t *straight = malloc(records), *moved = malloc(records);
    law_memory_init(&home);
    law_memory_init(&away);
    struct lease *now = lease(&away);
    struct mover *m = calloc(1, sizeof *m);
    m->memory = &away;
    seen_detector *stays = law_new(plan, &home.allocator), *goes = law_new(plan, &now->allocator);
    for (size_t i = 0; i < records;) {
        struct lease *before = now, *next = law_below(&rng, 3) ? lease(&away) : NULL;
        m->rng = law_below(&rng, 2) ? &rng : NULL;
        size_t moves = m->moves;
        seen_move(&goes, (struct seen_mover){move_block, m}, next ? &next->allocator : NULL);
        law_check(m->rng || m->moves > moves || moves == MOVES_MOST, "nothing was offered");
        if (next) {
            before->over = true;
            now = next;
        }
        size_t n = 1 + law_below(&rng, records / 4);
        if (n > records - i) n = records - i;
        uint64_t again = rng;
        law_play(stays, &s, i, i + n, &again, straight);
        law_play(goes, &s, i, i + n, &rng, moved);
        law_check(!memcmp(straight + i, moved + i, n), "verdicts differ, stream %d", kind);
        i += n;
        same_so_far(stays, goes, &s, i);
        if (before != now) free(before);
    }
    law_check(law_alike(stays, goes), "what is kept differs, stream %d", kind);
    seen_free(stays);
    seen_free(goes);
    clear_away(m);
    law_check(!away.live && !away.now && !away.mismatch, "memory leaked, or of a wrong size");
    law_stream_free(&s);
    free(straight);
    free(moved);
    free(now);
    free(m);
}

static void moved_it_gives_the_same_answers(const struct law_case *c) {
    static const char *const more[] = {"fp=.1 items=1500", "items=1500 refresh=first shards=3",
                                       "fp=.2 items=1500 shards=2 cache=40"};
    size_t specs = c->traits & SEEN_NO_FP ? 2 : 3;
    uint64_t rng = law_seed() + c->serial;
    const char *window;
    for (size_t i = 0; (window = law_window(c, i)); i++)
        for (size_t m = 0; m < specs; m++) {
            struct seen_plan plan;
            law_plan(&plan, "%s filter=%s seed=%llu %s", window, c->structure,
                     (unsigned long long)(law_next(&rng) >> 1), more[m]);
            travel(&plan, (enum law_kind)((i + m) % LAW_KINDS), RECORDS, law_next(&rng));
        }
}

/* Growing goes on where the directory of its chunks was moved to. */
static void moved_it_grows_on(const struct law_case *c) {
    if (!(c->traits & SEEN_GROWS)) return;
    static const char *const windows[] = {[SEEN_WINDOW_LANDMARK] = "landmark",
                                          [SEEN_WINDOW_JUMPING] = "jumping:50000/5",
                                          [SEEN_WINDOW_SLIDING] = "sliding:50000"};
    struct seen_plan plan;
    law_plan(&plan, "%s filter=%s seed=1", windows[c->window], c->structure);
    for (uint64_t seed = law_seed(); seed < law_seed() + 4; seed++)
        travel(&plan, seed % 2 ? LAW_DISTINCT : LAW_UNIFORM, GROWING, seed);
}

int main(void) {
    static const struct law laws[] = {
        {"moved it gives the same answers", moved_it_gives_the_same_answers, false},
        {"moved it grows on", moved_it_grows_on, false},
    };
    return law_main("move", laws, sizeof laws / sizeof *laws);
}
