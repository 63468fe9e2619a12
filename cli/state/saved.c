/* saved.c - what a state says beside its snapshot, unpacked.  Nothing is believed before it is
 * checked. */
#include "state/saved.h"

#include "base/cli.h"

#include <stdio.h>
#include <string.h>

const char *const saved_commands[] = {"dedup", "count", "top", NULL};

static void unpack_wishes(struct wishes *w, struct unpacker *u) {
    size_t n = unpack_count(u, 18);
    for (size_t i = 0; i < n && !u->bad; i++) {
        const char *name = unpack_text(u), *value = unpack_text(u);
        if (!u->bad && !wishes_put(w, name, value)) u->bad = true;
    }
}

static void unpack_lateness(struct lateness *l, struct unpacker *u) {
    l->newest = unpack_number(u);
    l->records = unpack_number(u);
    l->late = unpack_number(u);
    l->most = unpack_number(u);
    for (size_t i = 0; i < LATENESS_SPANS; i++) l->by[i] = unpack_number(u);
}

static void unpack_run(struct saved *b, struct unpacker *u) {
    b->ended = unpack_number(u);
    b->output = unpack_number(u);
    b->number = unpack_number(u);
    b->unreadable = unpack_number(u);
    unpack_lateness(&b->lateness, u);
    b->fed.unique = unpack_number(u);
    b->fed.duplicates = unpack_number(u);
    b->fed.only_added = unpack_number(u);
    b->last = unpack_number(u);
    b->next = unpack_number(u);
    b->due = unpack_number(u);
    b->unended = unpack_number(u);
    bool has_header = unpack_number(u);
    const char *header = unpack_bytes(u, &b->header_len);
    b->header = has_header ? header : NULL;
    if (b->last >> 62 || b->next >> 62 || b->lateness.newest >> 62) u->bad = true;
}

/* Is this spec one that a run can use?  A run without --window takes it from the state. */
static bool sound(const char *text) {
    struct seen_spec spec;
    struct seen_plan plan;
    return strlen(text) < SPEC_MOST && !seen_spec_parse(&spec, text, NULL) &&
           !seen_plan_make(&plan, &spec, NULL);
}

const char *saved_command(const void *blob, size_t len) {
    struct unpacker u = {.at = blob, .end = blob ? (const char *)blob + len : NULL};
    const char *magic = unpack_text(&u);
    if (strncmp(magic, "seen ", 5) != 0) return NULL;
    for (const char *const *c = saved_commands; *c; c++)
        if (!strcmp(magic + 5, *c)) return *c;
    return NULL;
}

seen_time saved_last(const struct saved *b) {
    struct seen_stats stats;
    seen_stats(b->detector, &stats);
    seen_time last = stats.last > b->last ? stats.last : b->last;
    return last > b->lateness.newest ? last : b->lateness.newest;
}

void saved_refuse(const char *name) {
    die("the state %s cannot be used: what it says of the run makes no sense; remove it to start "
        "again",
        name);
}

/* The checksums were right, so nothing was damaged by chance; but an attacker can make them right.
 */
void saved_unpack(struct saved *b, const char *name) {
    struct unpacker u = {.at = b->blob, .end = b->blob ? (char *)b->blob + b->len : NULL};
    b->command = saved_command(b->blob, b->len);
    if (!b->command)
        die("%s is the snapshot of a filter, as SEEN.DUMP and libseen write it, and no state of "
            "seen: it does not say what was asked and how far files were read; load it with "
            "SEEN.LOAD or seen_load, and give another --state",
            name);
    unpack_text(&u);
    uint64_t format = unpack_number(&u);
    b->version = unpack_text(&u);
    if (format < 1 || format > SAVED_FORMAT)
        die("the state %s was written by seen %.20s in format %ju, and this is seen " SEEN_VERSION
            ", which reads 1 to %d; remove it to start again",
            name, b->version, (uintmax_t)format, SAVED_FORMAT);
    b->spec = unpack_text(&u);
    unpack_wishes(&b->wishes, &u);
    unpack_run(b, &u);
    places_unpack(&b->places, &u);
    b->own = format > 1 ? unpack_bytes(&u, &b->own_len) : "";
    if (u.bad || u.at != u.end || !sound(b->spec)) saved_refuse(name);
}
