/* groups.c - counts records and sums of each group, prints them, and packs them into a state. */
#include "commands/dedup/dedup.h"

#include <stdlib.h>
#include <string.h>

static void groups_make_room(struct groups *g) {
    uint32_t room = g->room;
    g->group = names_array(&g->names, g->group, &room, sizeof *g->group);
    g->sum = names_array(&g->names, g->sum, &g->room, g->sums.fields.n * sizeof *g->sum);
}

void groups_init(struct groups *g, const char *by, const char *sum, bool confirmed, bool confirms) {
    *g = (struct groups){.grouped = by, .summed = sum};
    g->sums = (struct sums){.confirmed = confirmed, .confirms = confirms};
}

void groups_bound(struct groups *g, size_t bytes) { g->most_bytes = bytes; }

void groups_columns(struct groups *g, struct layout *layout, const char *by, const char *sum,
                    const struct header *header, uint32_t most) {
    if (by) columns_fields(layout, "--group-by", by, header, &g->by);
    if (sum) columns_fields(layout, "--sum", sum, header, &g->sums.fields);
    sums_init(&g->sums);
    names_init(&g->names, g->by.n, most);
    if (g->most_bytes) g->names.most_bytes = g->most_bytes;
    g->names.each = 9 + 8 * VERDICTS + g->sums.fields.n * 16 * (VERDICTS + 1);
    groups_make_room(g);
}

void groups_free(struct groups *g) {
    names_free(&g->names);
    columns_free_fields(&g->by);
    sums_free(&g->sums);
    free(g->group);
    free(g->sum);
    *g = (struct groups){0};
}

/* -- counting ----------------------------------------------------------------------------- */

static struct sum *groups_sum(const struct groups *g, uint32_t group) {
    return g->sum + (size_t)group * g->sums.fields.n;
}

uint32_t groups_find(struct groups *g, const struct slice *field, uint64_t number) {
    uint32_t group = names_find(&g->names, &g->by, field);
    groups_make_room(g);
    if (!g->sums.fields.n) return group;
    return sums_read(&g->sums, group, groups_sum(g, group), field, number);
}

void groups_count(struct groups *g, uint32_t found, uint8_t verdict) {
    uint32_t group = g->sums.fields.n ? sums_group(&g->sums, found) : found;
    g->group[group].of[verdict]++;
    if (g->sums.fields.n) sums_count(&g->sums, groups_sum(g, group), verdict, found);
}

void groups_count_lacking(struct groups *g, uint64_t number) {
    uint32_t group = g->by.n ? GROUP_LACKING : names_find(&g->names, &g->by, NULL);
    groups_make_room(g);
    g->group[group].of[UNREADABLE]++;
    sums_lacking(&g->sums, groups_sum(g, group), number);
}

/* -- printing ----------------------------------------------------------------------------- */

static uint64_t unique(const struct group_counts *g) { return g->of[SEEN_NEW]; }

static uint64_t duplicates(const struct group_counts *g) {
    return g->of[SEEN_DUPLICATE] + g->of[SEEN_CONFIRMED];
}

static uint64_t records(const struct group_counts *g) {
    return unique(g) + duplicates(g) + g->of[UNREADABLE];
}

static double rate(const struct group_counts *g) {
    uint64_t judged = unique(g) + duplicates(g);
    return judged ? (double)duplicates(g) / (double)judged : 0;
}

static int larger_first(const void *a, const void *b, void *ctx) {
    const struct groups *g = ctx;
    uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
    uint64_t x = records(&g->group[i]), y = records(&g->group[j]);
    return x != y ? (x < y ? 1 : -1) : names_order(&g->names, i, j);
}

/* Lists the groups that have records: those with values, sorted, then the records without the
 * field, then all others together.  Returns their number. */
static uint32_t list_groups(const struct groups *g, uint32_t **list) {
    uint32_t n;
    *list = names_sorted(&g->names, larger_first, g, &n);
    if (!g->by.n) return 0; /* there is no --group-by, or no line named the columns */
    while (n && !records(&g->group[(*list)[n - 1]])) n--;
    if (records(&g->group[GROUP_LACKING])) (*list)[n++] = GROUP_LACKING;
    if (records(&g->group[GROUP_OTHERS])) (*list)[n++] = GROUP_OTHERS;
    return n;
}

/* Adds up all groups.  The caller frees the sums. */
static struct sum *total_of(const struct groups *g, struct group_counts *total) {
    struct sum *sum = calloc(g->sums.fields.n + 1, sizeof *sum);
    if (!sum) die("out of memory for sums");
    *total = (struct group_counts){0};
    for (uint32_t i = 0; i < g->names.n; i++) {
        for (int v = 0; v < VERDICTS; v++) total->of[v] += g->group[i].of[v];
        sums_add(&g->sums, sum, groups_sum(g, i));
    }
    return sum;
}

static void put_counts(const struct group_counts *of, FILE *out) {
    fprintf(out, "  %14s %14s %14s  %6.2f %%", number_grouped(records(of)).text,
            number_grouped(unique(of)).text, number_grouped(duplicates(of)).text, 100 * rate(of));
}

void groups_print_text(const struct groups *g, FILE *out) {
    struct group_counts all;
    uint32_t *list, n = list_groups(g, &list);
    struct sum *total = total_of(g, &all);
    fprintf(out, "  %14s %14s %14s  %8s", "records", "unique", "duplicates", "rate");
    sums_put_names(&g->sums, total, out);
    for (uint32_t i = 0; i < g->by.n; i++) fprintf(out, "%s%s", i ? "," : "  ", g->by.name[i]);
    putc('\n', out);
    for (uint32_t i = 0; i < n; i++) {
        put_counts(&g->group[list[i]], out);
        sums_put_row(&g->sums, total, groups_sum(g, list[i]), out);
        fputs("  ", out);
        names_put_text(&g->names, list[i], ',', out);
        putc('\n', out);
    }
    if (g->sums.fields.n) {
        put_counts(&all, out);
        sums_put_row(&g->sums, total, total, out);
        fputs(g->by.n ? "  (total)\n" : "\n", out);
    }
    free(list);
    free(total);
}

static void print_json_group(const struct groups *g, uint32_t number, struct json *j) {
    const struct group_counts *of = &g->group[number];
    json_open(j, NULL, '{');
    json_name(j, "group");
    names_put_json(&g->names, number, j->out);
    if (number < GROUP_FIRST) json_bool(j, "others", number == GROUP_OTHERS);
    json_count(j, "records", records(of));
    json_count(j, "unique", unique(of));
    json_count(j, "duplicates", duplicates(of));
    json_count(j, "unparseable", of->of[UNREADABLE]);
    json_real(j, "rate", rate(of));
    if (g->sums.fields.n) sums_put_json(&g->sums, groups_sum(g, number), j);
    json_close(j, '}');
}

static void print_json_groups(const struct groups *g, struct json *j) {
    uint32_t *list, n = list_groups(g, &list);
    if (g->by.n == 1) json_text(j, "group_by", g->by.name[0]);
    if (g->by.n != 1) json_open(j, "group_by", '[');
    for (uint32_t i = 0; g->by.n != 1 && i < g->by.n; i++) json_text(j, NULL, g->by.name[i]);
    if (g->by.n != 1) json_close(j, ']');
    json_open(j, "groups", '[');
    for (uint32_t i = 0; i < n; i++) print_json_group(g, list[i], j);
    json_close(j, ']');
    free(list);
}

void groups_print_json(const struct groups *g, struct json *j) {
    struct group_counts all;
    struct sum *total = total_of(g, &all);
    if (g->grouped) print_json_groups(g, j);
    if (g->summed) sums_put_json(&g->sums, total, j);
    free(total);
}

/* The number of amounts that could not be read so far. */
static uint64_t groups_misread(const struct groups *g) {
    struct group_counts all;
    struct sum *total = total_of(g, &all);
    uint64_t n = sums_misread(&g->sums, total);
    free(total);
    return n;
}

bool groups_lack(const struct groups *g, bool quiet) {
    struct group_counts all;
    struct sum *total = total_of(g, &all);
    bool lack = sums_lack(&g->sums, total, g->misread, quiet);
    free(total);
    return lack;
}

/* -- in a state ----------------------------------------------------------------------------- *
 *
 *     fields of --group-by, fields of --sum          number, texts
 *     of each sum: its digits, first misread         numbers and a text
 *     were groups kept out for want of room?         number
 *     groups, the unnamed ones first                 number, then key, counts and sums of each */

enum { MAX_FIELDS = 4096 };

static void pack_fields(const struct fields *f, struct packer *p) {
    pack_number(p, f->n);
    for (uint32_t i = 0; i < f->n; i++) pack_text(p, f->name[i]);
}

void groups_pack(const struct groups *g, struct packer *p) {
    pack_fields(&g->by, p);
    pack_fields(&g->sums.fields, p);
    for (uint32_t i = 0; i < g->sums.fields.n; i++) {
        const struct misread *m = &g->sums.misread[i];
        pack_number(p, g->sums.places[i]);
        pack_number(p, m->number);
        pack_number(p, m->absent);
        pack_text(p, m->value);
    }
    pack_number(p, g->names.crowded);
    pack_number(p, g->names.n);
    for (uint32_t i = 0; i < g->names.n; i++) {
        size_t len;
        const char *key = names_key(&g->names, i, &len);
        pack_bytes(p, key, len);
        for (int v = 0; v < VERDICTS; v++) pack_number(p, g->group[i].of[v]);
        for (uint32_t f = 0; f < g->sums.fields.n; f++) {
            const struct sum *s = &groups_sum(g, i)[f];
            for (int v = 0; v < VERDICTS; v++) {
                pack_number(p, (uint64_t)s->of[v]);
                pack_number(p, (uint64_t)(s->of[v] >> 64));
            }
            pack_number(p, s->unreadable);
            pack_number(p, s->too_large);
        }
    }
}

/* -- and back ----------------------------------------------------------------------------- */

/* Reads names of fields.  If `f` has names, they must be the same. */
static void unpack_fields(struct fields *f, struct unpacker *u) {
    size_t n = unpack_count(u, 9);
    bool known = f->n > 0;
    if (n > MAX_FIELDS || (known && n != f->n)) u->bad = true;
    for (size_t i = 0; i < n && !u->bad; i++) {
        const char *name = unpack_text(u);
        if (known && strcmp(name, f->name[i]) != 0) u->bad = true;
        if (known || u->bad) continue;
        f->name = realloc(f->name, n * sizeof *f->name);
        char *copy = strdup(name);
        if (!f->name || !copy) die("out of memory for the groups of a state");
        f->name[f->n++] = copy;
    }
}

static void unpack_sum_of_all(struct sums *s, uint32_t i, struct unpacker *u) {
    struct misread *m = &s->misread[i];
    uint64_t places = unpack_number(u);
    m->number = unpack_number(u);
    m->absent = unpack_number(u);
    const char *value = unpack_text(u);
    if (places > DECIMAL_PLACES || strlen(value) >= sizeof m->value) u->bad = true;
    if (u->bad) return;
    s->places[i] = (unsigned)places;
    strcpy(m->value, value);
    text_tame(m->value);
}

static void unpack_group(struct groups *g, uint32_t i, struct unpacker *u) {
    size_t len;
    const char *key = unpack_bytes(u, &len);
    if (u->bad || (i < GROUP_FIRST ? len > 0 : !names_restore(&g->names, key, len))) {
        u->bad = true;
        return;
    }
    groups_make_room(g);
    for (int v = 0; v < VERDICTS; v++) g->group[i].of[v] = unpack_number(u);
    for (uint32_t f = 0; f < g->sums.fields.n; f++) {
        struct sum *s = &groups_sum(g, i)[f];
        for (int v = 0; v < VERDICTS; v++) {
            const uint64_t low = unpack_number(u), halves[2] = {low, unpack_number(u)};
            memcpy(&s->of[v], halves, sizeof halves);
        }
        s->unreadable = unpack_number(u);
        s->too_large = unpack_number(u);
    }
}

static bool unpack(struct groups *g, struct unpacker *u) {
    for (uint32_t i = 0; i < g->sums.fields.n; i++) unpack_sum_of_all(&g->sums, i, u);
    bool crowded = unpack_number(u);
    size_t n = unpack_count(u, 9 + 8 * VERDICTS);
    for (size_t i = 0; i < n && !u->bad; i++) unpack_group(g, (uint32_t)i, u);
    g->names.crowded = crowded;
    g->misread = groups_misread(g);
    return !u->bad && u->at == u->end;
}

/* True if all numbers are 0: nothing was counted, because no columns were known. */
static bool is_nothing(const char *bytes, size_t len) {
    bool nothing = true;
    for (size_t i = 0; i < len; i++) nothing &= bytes[i] == 0;
    return nothing;
}

bool groups_unpack(struct groups *g, const char *bytes, size_t len) {
    struct unpacker u = {.at = bytes, .end = bytes + len};
    if (!g->names.n) return is_nothing(bytes, len);
    unpack_fields(&g->by, &u);
    unpack_fields(&g->sums.fields, &u);
    return !u.bad && unpack(g, &u);
}

bool groups_unpack_fresh(struct groups *g, const char *bytes, size_t len) {
    struct unpacker u = {.at = bytes, .end = bytes + len};
    *g = (struct groups){0};
    if (is_nothing(bytes, len)) return true;
    unpack_fields(&g->by, &u);
    unpack_fields(&g->sums.fields, &u);
    g->grouped = g->by.n > 0;
    g->summed = g->sums.fields.n > 0;
    sums_init(&g->sums);
    names_init(&g->names, g->by.n, UINT32_MAX);
    groups_make_room(g);
    return !u.bad && unpack(g, &u);
}
