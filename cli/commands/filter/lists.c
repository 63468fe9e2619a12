/* lists.c - reads the lists of `seen filter` and looks up the keys of records in them. */
#include "commands/filter/filter.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

/* -- values cut into keys ---------------------------------------------------------------------- */

/* -- what divides words ------------------------------------------------------------------- */

/* Blanks and punctuation beyond ASCII, from and to.  The letters among them are left out. */
static const struct {
    uint32_t from, to;
} punctuation[] = {
    {0x0080, 0x00a9}, {0x00ab, 0x00b4}, {0x00b6, 0x00b9}, {0x00bb, 0x00bf},
    {0x00d7, 0x00d7}, {0x00f7, 0x00f7}, {0x2000, 0x200b}, {0x200e, 0x206f},
    {0x3000, 0x3004}, {0x3008, 0x3020}, {0x3030, 0x3030}, {0x303d, 0x303f},
    {0xff01, 0xff0f}, {0xff1a, 0xff20}, {0xff3b, 0xff40}, {0xff5b, 0xff65},
};

static bool is_mark(const struct cut *c, uint32_t number) {
    for (size_t i = 0; i < c->marks; i++)
        if (c->mark[i] == number) return true;
    return false;
}

/* Does the character at p, of *len bytes, divide words?  A byte outside of UTF-8 does not. */
static inline bool divides(const struct cut *c, const char *p, const char *end, size_t *len) {
    *len = 1;
    if (!((unsigned char)*p & 0x80)) return c->ascii[(unsigned char)*p];
    size_t n = utf8_character(p, (size_t)(end - p));
    if (!n) return false;
    *len = n;
    uint32_t number = utf8_number(p, n);
    if (c->marks) return is_mark(c, number);
    for (size_t i = 0; i < sizeof punctuation / sizeof *punctuation; i++)
        if (number >= punctuation[i].from && number <= punctuation[i].to) return true;
    return false;
}

/* -- options ------------------------------------------------------------------------------ */

/* Reads the character at *text.  A TAB is written as \t and a backslash as \\. */
static uint32_t next_mark(const char **text, const char *all) {
    const char *p = *text;
    size_t len = utf8_character(p, strlen(p));
    if (*p == '\\' && (p[1] == 't' || p[1] == '\\')) {
        *text += 2;
        return p[1] == 't' ? '\t' : '\\';
    }
    if (!len) die("--words=%s: the delimiters are not UTF-8", all);
    *text += len;
    return utf8_number(p, len);
}

void cut_take_words(struct cut *c, const char *delimiters) {
    c->words = true;
    c->marks = 0;
    if (delimiters && !*delimiters) die("--words= names no delimiter: --words=, or plain --words");
    for (const char *at = delimiters; at && *at;) {
        if (c->marks == CUT_MARKS) die("--words=%s: at most %d delimiters", delimiters, CUT_MARKS);
        c->mark[c->marks++] = next_mark(&at, delimiters);
    }
    for (int i = 0; i < 128; i++) c->ascii[i] = c->marks ? is_mark(c, (uint32_t)i) : !isalnum(i);
}

void cut_take_gram(struct cut *c, const char *number) {
    uint64_t n = option_count("--ngrams", number);
    if (!n || n > MAX_GRAM) die("--ngrams %s: give between 1 and %d characters", number, MAX_GRAM);
    c->gram = (uint32_t)n;
}

/* -- a value ------------------------------------------------------------------------------ */

static struct cutter cutter_of(const struct cut *cut, const char *value, size_t len) {
    return (struct cutter){.cut = cut, .at = value, .end = value + len};
}

static bool next_word(struct cutter *c, const char **key, size_t *len) {
    const char *p = c->at;
    size_t n;
    while (p < c->end && divides(c->cut, p, c->end, &n)) p += n;
    *key = p;
    while (p < c->end && !divides(c->cut, p, c->end, &n)) p += n;
    *len = (size_t)(p - *key);
    c->at = p;
    return *len > 0;
}

static bool next_gram(struct cutter *c, const char **key, size_t *len) {
    uint32_t wanted = c->to ? 1 : c->cut->gram;
    if (!c->to) c->to = c->at;
    for (; wanted && c->to < c->end; wanted--) c->to += utf8_step(c->to, (size_t)(c->end - c->to));
    if (wanted) return false;
    *key = c->at;
    *len = (size_t)(c->to - c->at);
    c->at += utf8_step(c->at, (size_t)(c->end - c->at));
    return true;
}

/* The next key.  False: there is none left; an empty value has no key. */
static bool cutter_next(struct cutter *c, const char **key, size_t *len) {
    if (c->cut->words) return next_word(c, key, len);
    if (c->cut->gram) return next_gram(c, key, len);
    *key = c->at;
    *len = (size_t)(c->end - c->at);
    c->at = c->end;
    return *len > 0;
}

/* Can a value be cut into this key? */
static bool cut_is_key(const struct cut *cut, const char *key, size_t len) {
    struct cutter c = cutter_of(cut, key, len);
    const char *first;
    size_t n;
    return cutter_next(&c, &first, &n) && first == key && n == len;
}

/* -- what passes by chance ------------------------------------------------------------------ */

void chance_note(struct chance *c, uint32_t keys) {
    c->records++;
    c->keys += keys;
    if (keys < CHANCE_KEYS) {
        c->by[keys]++;
    } else {
        c->more++;
        c->more_keys += keys;
    }
}

static double pass(double e, double m) { return e < 1 ? -expm1(m * log1p(-e)) : m > 0; }

double chance_record(const struct chance *c, double e) {
    double sum = 0;
    if (!c->records) return 0;
    for (uint32_t m = 1; m < CHANCE_KEYS; m++)
        if (c->by[m]) sum += (double)c->by[m] * pass(e, m);
    if (c->more) sum += (double)c->more * pass(e, (double)c->more_keys / (double)c->more);
    return sum / (double)c->records;
}

/* The false-positive rate e of a list. */
static double list_fp(const struct list *l) {
    struct seen_stats s;
    seen_stats(l->set, &s);
    return s.fp_now;
}

double chance_key(const struct lists *s) {
    double none = 0;
    for (size_t l = 0; l < s->n; l++) {
        double e = s->list[l].set ? list_fp(&s->list[l]) : 0;
        none += e < 1 ? log1p(-e) : -INFINITY;
    }
    return -expm1(none);
}

void lists_add(struct lists *s, const char *name) {
    if (s->n == MAX_LISTS) die("more than %d lists; join some into one file", MAX_LISTS);
    s->list[s->n++].name = name;
}

static seen_detector *detector_of(const char *text, const char *fp) {
    struct seen_error e;
    struct seen_spec spec;
    struct seen_plan plan;
    seen_detector *d;
    if (seen_spec_parse(&spec, text, &e)) die("%s", e.text);
    if (fp && seen_spec_set(&spec, "fp", fp, &e)) die("--fp %s: %s", fp, e.text);
    if (seen_plan_make(&plan, &spec, &e) || seen_new(&d, &plan, NULL, &e)) die("%s", e.text);
    return d;
}

void lists_init(struct lists *s) {
    char spec[64];
    uint64_t seed;
    if (getrandom(&seed, sizeof seed, 0) != sizeof seed)
        die("the system gave no random seed: %s", strerror(errno));
    snprintf(spec, sizeof spec, "landmark filter=exact seed=%" PRIu64, seed);
    s->hasher = detector_of(spec, NULL);
}

void lists_free(struct lists *s) {
    for (size_t l = 0; l < s->n; l++) seen_free(s->list[l].set);
    seen_free(s->hasher);
}

/* -- reading ------------------------------------------------------------------------------ */

/* A list, and what keys must be. */
struct reading_list {
    struct list *list;
    const struct cut *cut;
};

static void look_at_key(void *ctx, const char *key, size_t len) {
    const struct reading_list *r = ctx;
    struct list *l = r->list;
    if (cut_is_key(r->cut, key, len) || l->idle++) return;
    snprintf(l->first, sizeof l->first, "%.*s", (int)(len < 60 ? len : 60), key);
    text_tame(l->first);
}

static void take_keys(void *ctx, size_t n, const seen_digest *digest) {
    struct list *l = ((struct reading_list *)ctx)->list;
    if (l->n + n > l->room) {
        l->room = 2 * l->room + BATCH;
        l->digest = realloc(l->digest, l->room * sizeof *l->digest);
        if (!l->digest) die("out of memory for the keys of %s", l->name);
    }
    memcpy(l->digest + l->n, digest, n * sizeof *digest);
    l->n += n;
}

/* Makes a set for the number of keys that were read, and adds them. */
static void make_set(const struct lists *s, struct list *l) {
    char spec[128];
    uint8_t verdict[BATCH];
    snprintf(spec, sizeof spec, "landmark items=%zu seed=%" PRIu64 "%s", l->n ? l->n : 1,
             seen_seed(s->hasher), s->exact ? " filter=exact" : "");
    l->set = detector_of(spec, s->exact ? NULL : s->fp ? s->fp : "1e-9");
    for (size_t i = 0; i < l->n; i += BATCH)
        seen_observe(l->set, l->n - i < BATCH ? l->n - i : BATCH, l->digest + i, verdict);
    free(l->digest);
    l->digest = NULL;
}

/* Warns of a list without keys, and of keys that no record can have. */
static void tell(const struct lists *s, const struct list *l) {
    char gram[40];
    if (!l->n)
        warn("%s holds no keys: %s; is it the right list?", l->name,
             s->n > 1    ? "no record is in it"
             : s->invert ? "every record passes"
                         : "no record passes");
    if (!l->idle) return;
    snprintf(gram, sizeof gram, "%u characters", s->cut->gram);
    warn("%" PRIu64 " of the keys in %s %s not %s, so that no record has %s; the first is '%s'",
         l->idle, l->name, l->idle == 1 ? "is" : "are",
         s->cut->gram    ? gram
         : s->cut->words ? "one word"
                         : "a value",
         l->idle == 1 ? "it" : "them", l->first);
}

void lists_read(struct lists *s, const struct input_options *input, const struct layout *layout) {
    static const struct layout one = {.keys = 1, .time = NO_SLOT}; /* each value is a key */
    for (size_t i = 0; i < s->n; i++) {
        struct list *l = &s->list[i];
        struct reading_list r = {l, s->cut};
        key_list_read(l->name, input, s->cut ? &one : layout, s->hasher, take_keys,
                      s->cut ? look_at_key : NULL, &r);
        make_set(s, l);
        if (!input->quiet) tell(s, l);
    }
}

/* -- asking ------------------------------------------------------------------------------- */

void lists_find(const struct lists *s, size_t n, const seen_digest *digest, uint64_t *in) {
    uint8_t verdict[BATCH];
    memset(in, 0, n * sizeof *in);
    for (size_t l = 0; l < s->n; l++) {
        seen_query(s->list[l].set, n, digest, 0, verdict);
        for (size_t i = 0; i < n; i++) in[i] |= (uint64_t)verdict[i] << l;
    }
}

void any_init(struct any *a, const struct lists *lists, const struct layout *layout,
              uint32_t max_record) {
    a->lists = lists;
    a->layout = layout;
    key_init(&a->keyer, lists->hasher, layout, max_record);
    a->keyer.parts.some = true;
}

void any_free(struct any *a) {
    key_free(&a->keyer);
    free(a->met);
    free(a->word);
}

/* -- the keys of a record ------------------------------------------------------------------ */

/* A walk over the keys of a record, whose parts have been found. */
struct keys {
    struct any *any;
    size_t part; /* the next part; the one before it is being cut */
    struct cutter cutter;
};

static struct keys keys_of(struct any *a) {
    return (struct keys){.any = a, .cutter = cutter_of(a->lists->cut, "", 0)};
}

/* Applies --trim, --key-url and --ignore-case to a word. */
static const char *formed(struct any *a, const char *word, size_t *len) {
    const struct key_form *form = a->layout->form;
    if (!form || !form->by_word) return word;
    if (*len + 1 > a->room) {
        a->room = 2 * *len + 64;
        a->word = realloc(a->word, a->room);
        if (!a->word) die("out of memory for a word of %zu bytes", *len);
    }
    memcpy(a->word, word, *len);
    *len = key_form_apply(form, a->word, *len);
    return a->word;
}

static bool next_key(struct keys *k, const char **key, size_t *len) {
    const struct parts *p = &k->any->keyer.parts;
    for (;;) {
        while (cutter_next(&k->cutter, key, len)) {
            *key = formed(k->any, *key, len);
            if (*len) return true;
        }
        if (k->part == p->n) return false;
        const struct key_part *part = &p->part[k->part];
        k->cutter = cutter_of(k->any->lists->cut, parts_text(p, k->part), part->len);
        k->part++;
    }
}

static seen_digest digest_of(const struct any *a, const char *key, size_t len) {
    return seen_hash(key, len, a->keyer.seed);
}

/* -- batches ------------------------------------------------------------------------------ */

static void look_up(struct any *a, struct matched *m) {
    uint64_t in[BATCH];
    lists_find(a->lists, a->n, a->digest, in);
    for (size_t i = 0; i < a->n; i++) m->lists[a->owner[i]] |= in[i];
    a->n = 0;
}

void any_batch(struct any *a, const struct batch *b, struct matched *m) {
    const struct layout *l = a->layout;
    if (!a->met) a->met = calloc(l->keys + 1, sizeof *a->met);
    if (!a->met) die("out of memory for %u fields", l->keys);
    m->n = 0;
    for (size_t i = 0; i < b->n; i++) {
        const struct slice *field = &b->field[i * l->slots];
        for (uint32_t f = 0; f < l->keys; f++) a->met[f] |= field[l->key[f]].at != NULL;
        if (b->record[i].bare > a->keyer.max_record || !key_find_parts(&a->keyer, b, i)) continue;
        m->order[m->n] = (uint16_t)i;
        m->lists[m->n] = 0;
        m->keys[m->n] = 0;
        struct keys k = keys_of(a);
        const char *key;
        size_t len;
        while (next_key(&k, &key, &len)) {
            if (a->n == BATCH) look_up(a, m);
            a->digest[a->n] = digest_of(a, key, len);
            a->owner[a->n++] = (uint16_t)m->n;
            m->keys[m->n]++;
        }
        m->n++;
    }
    look_up(a, m);
    key_causes(&a->keyer, b, m->n, m->order, m->cause);
}

/* -- which keys matched -------------------------------------------------------------------- */

void any_keys(struct any *a, const struct batch *b, size_t i, uint64_t wanted,
              void (*take)(void *ctx, const char *key, size_t len), void *ctx) {
    if (!key_find_parts(&a->keyer, b, i)) return;
    for (; wanted; wanted &= wanted - 1) {
        const seen_detector *set = a->lists->list[__builtin_ctzll(wanted)].set;
        struct keys k = keys_of(a);
        const char *key;
        size_t len;
        for (uint8_t in = SEEN_NEW; in == SEEN_NEW && next_key(&k, &key, &len);) {
            seen_digest digest = digest_of(a, key, len);
            seen_query(set, 1, &digest, 0, &in);
            if (in != SEEN_NEW) take(ctx, key, len);
        }
    }
}
