/* judge.c - gives the verdict on each record of a batch. */
#include "judge/judge.h"

#include "records/unjudged.h"

#include <stdlib.h>
#include <string.h>

/* Reads the two keys of each record of a batch.  Records that have neither are left out. */
static void read_feed(struct keyer *asked, struct keyer *added, const struct batch *b,
                      struct readable *r) {
    seen_digest asks[BATCH], adds[BATCH];
    uint16_t asking[BATCH + 1], adding[BATCH + 1];
    size_t n = 0;
    asking[key_batch(asked, b, asks, asking)] = BATCH;
    adding[key_batch(added, b, adds, adding)] = BATCH;
    for (size_t i = 0, p = 0, q = 0; i < b->n; i++) {
        bool has_ask = asking[p] == i, has_add = adding[q] == i;
        if (has_ask) r->digest[n] = asks[p++];
        if (has_add) r->add[n] = adds[q++];
        has_ask = has_ask && !key_is_empty(asked, b, i);
        has_add = has_add && !key_is_empty(added, b, i);
        r->order[n] = (uint16_t)i;
        r->parts[n] = (uint8_t)(has_ask * FEED_ASKS + has_add * FEED_ADDS);
        if (r->parts[n]) {
            n++;
            continue;
        }
        /* A field missing in one key need not matter to the other: then both keys are empty. */
        enum cause why = key_cause(asked, b, i);
        bool whole = why == CAUSE_LONG || why == CAUSE_NOT_JSON || why == CAUSE_NOT_LOG;
        r->cause[i] = (uint8_t)(whole ? why : CAUSE_EMPTY);
    }
    r->n = n;
}

/* Fewer records are not worth waking another thread for: about ten microseconds of work. */
enum { WORTHWHILE = 256 };

/* -- shards on several threads --------------------------------------------------------------- */

static void run(void *ctx, unsigned who) {
    const struct shard_job *mine = ctx;
    const struct shard_jobs *s = mine->all;
    (void)who;
    seen_observe_shards(s->detector, mine->from, mine->to, s->records, s->digest, s->at,
                        s->verdict);
}

/* Divides the detector's shards among the pool's threads.  Pool (NULL: none) and detector stay the
 * caller's. */
static void shard_jobs_init(struct shard_jobs *s, seen_detector *d, struct pool *pool) {
    uint64_t shards = seen_spec_get_count(seen_spec_of(d), "shards");
    s->detector = d;
    s->pool = pool;
    s->n = pool_size(pool) < shards ? pool_size(pool) : (unsigned)shards;
    for (unsigned i = 0; i < s->n; i++)
        s->job[i] = (struct shard_job){.job = {.run = run, .ctx = &s->job[i]},
                                       .all = s,
                                       .from = shards * i / s->n,
                                       .to = shards * (i + 1) / s->n};
}

/* As seen_observe, for BATCH records at most. */
static void shard_jobs_observe(struct shard_jobs *s, size_t n, const seen_digest *digest,
                               const seen_time *time, uint8_t *verdict) {
    if (s->n == 1 || n < WORTHWHILE) {
        observe_records(s->detector, n, digest, time, verdict);
        return;
    }
    seen_observe_begin(s->detector, n, time, s->at);
    s->records = n;
    s->digest = digest;
    s->verdict = verdict;
    for (unsigned i = 1; i < s->n; i++) pool_start(s->pool, &s->job[i].job, true);
    run(&s->job[0], 0);
    for (unsigned i = 1; i < s->n; i++) pool_wait(s->pool, &s->job[i].job, NULL);
    seen_observe_end(s->detector, n, digest, s->at, verdict);
}

/* -- life ----------------------------------------------------------------------------------- */

void judge_init(struct judge *j, seen_detector *d, const struct layout *layout,
                uint32_t max_record) {
    memset(j, 0, sizeof *j);
    j->detector = d;
    j->layout = layout;
    j->timed = j->times = seen_spec_of(d)->unit == SEEN_UNIT_MICROSECONDS;
    for (int i = 0; i < MAX_THREADS; i++) key_init(&j->keyer[i], d, layout, max_record);
    key_init(&j->wide, d, layout, max_record);
    shard_jobs_init(&j->jobs, d, NULL);
    j->in = &j->local;
}

void judge_init_server(struct judge *j, struct server *server, const struct layout *layout,
                       uint32_t max_record) {
    memset(j, 0, sizeof *j);
    j->server = server;
    j->layout = layout;
    j->timed = j->times = server->window.unit == SEEN_UNIT_MICROSECONDS;
    for (int i = 0; i < MAX_THREADS; i++)
        key_init_seeded(&j->keyer[i], SERVER_SEED, layout, max_record);
    key_init_seeded(&j->wide, SERVER_SEED, layout, max_record);
    j->in = &j->local;
}

void judge_feed(struct judge *j, const struct layout *added) {
    j->adder = malloc(MAX_THREADS * sizeof *j->adder);
    if (!j->adder) die("out of memory for keys");
    for (int i = 0; i < MAX_THREADS; i++)
        key_init(&j->adder[i], j->detector, added, j->keyer[i].max_record);
}

void judge_free(struct judge *j) {
    for (int i = 0; j->adder && i < MAX_THREADS; i++) key_free(&j->adder[i]);
    free(j->adder);
    key_free(&j->wide);
    for (int i = 0; i < MAX_THREADS; i++) key_free(&j->keyer[i]);
}

const struct seen_spec *judge_window(const struct judge *j) {
    return j->server ? &j->server->window : seen_spec_of(j->detector);
}

void judge_use_pool(struct judge *j, struct pool *pool) {
    shard_jobs_init(&j->jobs, j->detector, pool);
}

/* -- ahead: each batch by itself ---------------------------------------------------------- */

/* Reads the time of each record.  Records without a time drop out. */
static void read_times(const struct judge *j, const struct batch *b, seen_time now,
                       struct readable *r) {
    const struct layout *l = j->layout;
    bool own = l->time != NO_SLOT;
    seen_time latest = own && j->input ? input_options_latest(j->input, now) : SEEN_NEVER;
    size_t m = 0;
    for (size_t i = 0; i < r->n; i++) {
        uint16_t record = r->order[i];
        r->time[m] = now;
        if (own) {
            const struct slice *f = &b->field[record * l->slots + (uint32_t)l->time];
            if (!slice_time(f, j->format, &r->time[m])) {
                enum cause why = f->at ? CAUSE_TIME : cause_of_missing(l, &b->record[record]);
                r->cause[record] = (uint8_t)why;
                continue;
            }
        }
        if (r->time[m] > latest) {
            r->cause[record] = CAUSE_FUTURE;
            continue;
        }
        r->digest[m] = r->digest[i];
        if (j->adder) r->add[m] = r->add[i], r->parts[m] = r->parts[i];
        r->order[m++] = record;
    }
    r->n = m;
}

/* A record that matches begins a window even if it has no key, because markers are often such
 * lines. */
static void find_pattern(const regex_t *pattern, const struct batch *b, struct readable *r) {
    size_t m = 0;
    for (size_t i = 0; i < b->n; i++) {
        regmatch_t whole = {0, (regoff_t)b->record[i].bare};
        r->due |= regexec(pattern, b->record[i].at, 1, &whole, REG_STARTEND) == 0;
        if (m == r->n || r->order[m] != i) continue;
        r->landmark[m++] = r->due;
        r->due = false;
    }
}

/* In a landmark window the time within the window does not matter, so only records of an earlier
 * window count as late. */
void judge_tell(const struct judge *j, uint64_t later) {
    const struct lateness *l = &j->lateness;
    if (calendar_is_set(&l->calendar) && later > l->strayed) later = l->strayed;
    clocks_tell(&j->clocks, j->input);
    clocks_tell_late(l, j->input, later, j->window);
}

bool judge_landmarks(const struct judge *j) { return j->zone || j->pattern; }

void judge_ahead(struct judge *j, unsigned who, const struct batch *b, seen_time now,
                 struct readable *r) {
    if (j->adder) {
        read_feed(&j->keyer[who], &j->adder[who], b, r);
    } else {
        r->n = key_batch(&j->keyer[who], b, r->digest, r->order);
        key_causes(&j->keyer[who], b, r->n, r->order, r->cause);
    }
    r->due = false;
    r->now = now;
    if (j->times) read_times(j, b, now, r);
    if (!judge_landmarks(j)) return;
    memset(r->landmark, 0, r->n * sizeof *r->landmark);
    if (j->pattern) find_pattern(&j->pattern[who], b, r);
}

/* -- in order ----------------------------------------------------------------------------- */

static void find_boundaries(struct judge *j, struct readable *r) {
    for (size_t m = 0; m < r->n; m++) {
        seen_time t = r->time[m];
        if (t < j->last) continue; /* late: judged as if it came now */
        j->last = t;
        if (t < j->next) continue;
        r->landmark[m] |= j->next > 0;
        j->next = time_next_boundary(t, j->zone == ZONE_WEEK);
    }
}

static void observe(struct judge *j, size_t from, size_t to, uint8_t *verdict) {
    if (from == to) return;
    const seen_time *time = j->timed ? j->in->time + from : NULL;
    shard_jobs_observe(&j->jobs, to - from, j->in->digest + from, time, verdict + from);
}

static void observe_windows(struct judge *j, size_t n, uint8_t *verdict) {
    size_t from = 0;
    for (size_t m = 0; m < n; m++) {
        if (!j->in->landmark[m]) continue;
        observe(j, from, m, verdict);
        seen_landmark(j->detector);
        from = m;
    }
    observe(j, from, n, verdict);
}

/* Moves the first n verdicts of the batch to the places of its n readable records. */
static void judge_spread(const struct judge *j, struct batch *b, size_t n) {
    if (n == b->n) return;
    for (size_t i = b->n; i-- > 0;) {
        if (n > 0 && j->in->order[n - 1] == i)
            b->verdict[i] = b->verdict[--n];
        else
            b->verdict[i] = UNREADABLE;
    }
}

void judge_note(struct judge *j, const struct batch *b, const struct readable *r) {
    j->unreadable += b->n - r->n;
    if (!j->times) return;
    clocks_note(&j->clocks, b->n, r->now);
    lateness_note(&j->lateness, r->n, r->time);
}

size_t judge_take(struct judge *j, struct readable *r) {
    j->in = r;
    /* Carries a landmark over from the batch before, and to the next one. */
    if (j->pattern) {
        if (r->n > 0) {
            r->landmark[0] |= j->due;
            j->due = r->due;
        } else {
            j->due |= r->due;
        }
    }
    if (j->zone) find_boundaries(j, r);
    return r->n;
}

size_t judge_read(struct judge *j, const struct batch *b, seen_time now) {
    judge_ahead(j, 0, b, now, &j->local);
    judge_note(j, b, &j->local);
    return judge_take(j, &j->local);
}

/* Judges record m of a feed, or with --within, where the key asked about is the key remembered. */
static uint8_t observe_feed(struct judge *j, size_t m) {
    const struct readable *in = j->in;
    const seen_time *time = j->timed ? &in->time[m] : NULL;
    uint8_t parts = j->adder ? in->parts[m] : FEED_ASKS | FEED_ADDS, verdict = UNREADABLE, unasked;
    if (parts & FEED_ASKS) {
        observe_query(j->detector, 1, &in->digest[m], time, j->within, &verdict);
        j->fed.unique += verdict == SEEN_NEW;
        j->fed.duplicates += verdict != SEEN_NEW;
    } else {
        j->fed.only_added++;
    }
    if (parts & FEED_ADDS)
        observe_records(j->detector, 1, j->adder ? &in->add[m] : &in->digest[m], time, &unasked);
    return verdict;
}

bool judge_counts(const struct judge *j) { return j->adder || j->within; }

bool judge_needs_keys(const struct judge *j) { return j->server || seen_digests(j->detector) > 1; }

const char *judge_key(struct judge *j, const struct batch *b, const struct readable *in, size_t m,
                      size_t *len) {
    if (!in->key) return key_bytes(&j->wide, b, in->order[m], len);
    *len = in->key[m].len;
    return in->key[m].at;
}

/* The digests of record m's key: one, or several, for which `all` has room. */
static const seen_digest *digests_of(struct judge *j, const struct batch *b, size_t m,
                                     seen_digest *all) {
    size_t len;
    if (seen_digests(j->detector) == 1) return &j->in->digest[m];
    const char *key = judge_key(j, b, j->in, m, &len);
    seen_key(j->detector, key, len, all, NULL); /* it was a key when it was read */
    return all;
}

/* The server's clock counts unless records carry their own time. */
static void ask_server(struct judge *j, const struct batch *b, size_t n, uint8_t *verdict) {
    bool own = j->timed && j->input->time;
    size_t len;
    for (size_t m = 0; m < n; m++) {
        const char *key = judge_key(j, b, j->in, m, &len);
        server_add(j->server, key, len, j->in->digest[m],
                   own ? j->in->time[m] / 1000 : SERVER_CLOCK);
    }
    server_judge(j->server, verdict);
}

void judge_stats(const struct judge *j, struct seen_stats *s) {
    const struct server *server = j->server;
    if (server)
        *s = (struct seen_stats){.records = server->unique + server->duplicates + server->uncertain,
                                 .unique = server->unique,
                                 .duplicates = server->duplicates};
    else
        seen_stats(j->detector, s);
}

/* Judges records one by one: those of a feed, with --within, or with several digests a key. */
static void observe_singly(struct judge *j, struct batch *b, size_t n) {
    seen_digest all[SEEN_MAX_DIGESTS];
    for (size_t m = 0; m < n; m++) {
        if (judge_landmarks(j) && j->in->landmark[m]) seen_landmark(j->detector);
        if (judge_counts(j))
            b->verdict[m] = observe_feed(j, m);
        else
            observe_records(j->detector, 1, digests_of(j, b, m, all),
                            j->timed ? &j->in->time[m] : NULL, &b->verdict[m]);
    }
}

void judge_observe(struct judge *j, struct batch *b, size_t n) {
    if (j->server)
        ask_server(j, b, n, b->verdict);
    else if (seen_digests(j->detector) > 1 || judge_counts(j))
        observe_singly(j, b, n);
    else if (judge_landmarks(j))
        observe_windows(j, n, b->verdict);
    else
        observe(j, 0, n, b->verdict);
    judge_spread(j, b, n);
}

void judge_observe_ages(struct judge *j, struct batch *b, size_t n, uint64_t *age) {
    const struct readable *in = j->in;
    for (size_t m = 0; m < n; m++) {
        const seen_time *time = j->timed ? &in->time[m] : NULL;
        seen_digest all[SEEN_MAX_DIGESTS];
        const seen_digest *key = digests_of(j, b, m, all);
        if (judge_landmarks(j) && in->landmark[m]) seen_landmark(j->detector);
        observe_ages(j->detector, 1, key, time, &age[m]);
        if (j->within)
            b->verdict[m] = observe_feed(j, m);
        else
            observe_records(j->detector, 1, key, time, &b->verdict[m]);
    }
    judge_spread(j, b, n);
}

/* -- in a state --------------------------------------------------------------------------- */

void judge_pack(const struct judge *j, uint64_t unreadable, struct packer *p) {
    pack_number(p, j->unreadable + unreadable);
    lateness_pack(&j->lateness, p);
    pack_number(p, j->fed.unique);
    pack_number(p, j->fed.duplicates);
    pack_number(p, j->fed.only_added);
    pack_number(p, j->last);
    pack_number(p, j->next);
    pack_number(p, j->due);
}

void judge_unpack(struct judge_kept *k, struct unpacker *u) {
    k->unreadable = unpack_number(u);
    lateness_unpack(&k->lateness, u);
    k->fed.unique = unpack_number(u);
    k->fed.duplicates = unpack_number(u);
    k->fed.only_added = unpack_number(u);
    k->last = unpack_number(u);
    k->next = unpack_number(u);
    k->due = unpack_number(u);
    if (k->last >> 62 || k->next >> 62) u->bad = true;
}

void judge_resume(struct judge *j, const struct judge_kept *k) {
    j->unreadable = k->unreadable;
    j->lateness = k->lateness;
    j->fed = k->fed;
    j->last = k->last;
    j->next = k->next;
    j->due = k->due;
}
