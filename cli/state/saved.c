/* saved.c - reads and checks what a state holds besides its snapshot. */
#include "state/state.h"

#include <dirent.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* -- options -------------------------------------------------------------------------------- */

/* The options that do not decide verdicts: what is printed, and how the run is carried out.  The
 * window is compared as a spec.  All other options count, also those that come later. */
static const char *const free_to_change[] = {
    "duplicates", "confirmed",   "tag",        "stats",  "quiet",        "exit-code", "strict",
    "state",      "state-every", "from-start", "forget", "max-record",   "threads",   "output",
    "audit",      "window",      "tag-column", "now",    "allow-future", "rejects",   "no-progress",
    "sum",        "unpack-mem",  "max-field",  "log",
};

static struct saved_option *find(const struct saved_options *w, const char *name) {
    for (size_t i = 0; i < w->n; i++)
        if (!strcmp(w->option[i].name, name)) return (struct saved_option *)&w->option[i];
    return NULL;
}

bool saved_options_put(struct saved_options *w, const char *name, const char *value) {
    struct saved_option *option = find(w, name);
    if (!option && (w->n == MAX_SAVED_OPTIONS || strlen(name) >= sizeof option->name)) return false;
    if (!option) option = &w->option[w->n++];
    snprintf(option->name, sizeof option->name, "%s", name);
    option->value = value;
    return true;
}

void saved_options_take(struct saved_options *w, const struct args *args) {
    char name[sizeof w->option->name];
    for (size_t i = 0; i < args->n; i++) {
        const struct option_row *row = args->given[i].row;
        const char *value = args->given[i].value;
        bool counts = !seen_option_find(row->name);
        for (size_t f = 0; f < sizeof free_to_change / sizeof *free_to_change; f++)
            counts &= strcmp(free_to_change[f], row->name) != 0;
        if (!counts) continue;
        if (row->letter)
            snprintf(name, sizeof name, "-%c", row->letter);
        else
            snprintf(name, sizeof name, "--%s", row->name);
        if (!saved_options_put(w, name, value ? value : ""))
            die("too many options to keep in a state");
    }
}

const char *saved_options_find(const struct saved_options *w, const char *name) {
    const struct saved_option *option = find(w, name);
    return option ? option->value : NULL;
}

/* -- differences -------------------------------------------------------------------------- */

/* Appends one more clause if there is room. */
__attribute__((format(printf, 4, 5))) static size_t add(char *text, size_t cap, size_t at,
                                                        const char *format, ...) {
    va_list args;
    if (at && at + 2 < cap) at += (size_t)snprintf(text + at, cap - at, "; ");
    if (at + 1 >= cap) return at;
    va_start(args, format);
    int n = vsnprintf(text + at, cap - at, format, args);
    va_end(args);
    text_tame(text + at);
    return (size_t)n < cap - at ? at + (size_t)n : cap - 1;
}

static const char *gap(const char *value) { return *value ? " " : ""; }

size_t saved_options_differ(const struct saved_options *before, const struct saved_options *now,
                            char *text, size_t cap, size_t at) {
    for (size_t i = 0; i < before->n; i++) {
        const struct saved_option *a = &before->option[i], *b = find(now, a->name);
        if (!b)
            at = add(text, cap, at, "with %s%s%.80s", a->name, gap(a->value), a->value);
        else if (strcmp(a->value, b->value) != 0)
            at = add(text, cap, at, "with %s %.80s, not %s %.80s", a->name, a->value, b->name,
                     b->value);
    }
    for (size_t i = 0; i < now->n; i++) {
        const struct saved_option *b = &now->option[i];
        if (!find(before, b->name))
            at = add(text, cap, at, "without %s%s%.80s", b->name, gap(b->value), b->value);
    }
    return at;
}

/* The word of a spec that says the same kind of thing as `word` (name=…; the window is the first),
 * and its length; NULL if there is none. */
static const char *match(const char *spec, const char *word, bool window, size_t *len) {
    for (const char *p = spec; *p; p += strspn(p, " ")) {
        size_t n = strcspn(p, " "), name = strcspn(p, "= ");
        *len = n;
        if (window || (p > spec && !strncmp(p, word, name) && word[name] == '=')) return p;
        p += n;
    }
    return NULL;
}

size_t saved_specs_differ(const char *before, const char *now, char *text, size_t cap, size_t at) {
    size_t n, m;
    for (const char *p = before; *p; p += n, p += strspn(p, " ")) {
        n = strcspn(p, " ");
        const char *q = match(now, p, p == before, &m);
        if (!q)
            at = add(text, cap, at, "with %.*s", (int)n, p);
        else if (n != m || strncmp(p, q, n) != 0)
            at = add(text, cap, at, "with %.*s, not %.*s", (int)n, p, (int)m, q);
    }
    for (const char *p = now; *p; p += n, p += strspn(p, " ")) {
        n = strcspn(p, " ");
        if (!match(before, p, p == now, &m)) at = add(text, cap, at, "without %.*s", (int)n, p);
    }
    return at;
}

enum { PRINT = 256 }; /* bytes that must not have changed, at most */

/* -- the table ---------------------------------------------------------------------------- */

void places_free(struct places *p) {
    for (size_t i = 0; i < p->n; i++) free(p->place[i].name);
    free(p->place);
    *p = (struct places){0};
}

static void drop(struct places *p, size_t i) {
    free(p->place[i].name);
    memmove(p->place + i, p->place + i + 1, (p->n - i - 1) * sizeof *p->place);
    p->n--;
}

static struct place *push(struct places *p, const char *name) {
    if (p->n == MAX_PLACES) drop(p, 0);
    p->place = realloc(p->place, (p->n + 1) * sizeof *p->place);
    char *copy = strdup(name);
    if (!p->place || !copy) die("out of memory for the places of %zu files", p->n + 1);
    p->place[p->n] = (struct place){.name = copy};
    return &p->place[p->n++];
}

void places_pack(const struct places *p, struct packer *out) {
    pack_number(out, p->n);
    for (size_t i = 0; i < p->n; i++) {
        const struct place *f = &p->place[i];
        const uint64_t numbers[] = {f->dev, f->ino, f->offset, f->lines, f->at, f->len, f->digest};
        pack_text(out, f->name);
        for (size_t j = 0; j < sizeof numbers / sizeof *numbers; j++) pack_number(out, numbers[j]);
    }
}

static void places_unpack(struct places *p, struct unpacker *u) {
    size_t n = unpack_count(u, 8 * sizeof(uint64_t));
    if (n > MAX_PLACES) u->bad = true;
    for (size_t i = 0; i < n && !u->bad; i++) {
        struct place *f = push(p, unpack_text(u));
        uint64_t *const numbers[] = {&f->dev, &f->ino, &f->offset, &f->lines,
                                     &f->at,  &f->len, &f->digest};
        for (size_t j = 0; j < sizeof numbers / sizeof *numbers; j++)
            *numbers[j] = unpack_number(u);
        if (f->len > PRINT || f->at > INT64_MAX - PRINT || f->offset > INT64_MAX) u->bad = true;
    }
}

/* -- the same file? ----------------------------------------------------------------------- */

static bool digest_of(int fd, uint64_t at, uint64_t len, uint64_t *out) {
    char bytes[PRINT];
    if (pread(fd, bytes, (size_t)len, (off_t)at) != (ssize_t)len) return false;
    *out = seen_hash(bytes, (size_t)len, 0).lo;
    return true;
}

static bool unchanged(int fd, const struct place *f) {
    uint64_t digest;
    return digest_of(fd, f->at, f->len, &digest) && digest == f->digest;
}

/* Finds where the file of that place is now, in the folder it was read from; false: nowhere. */
static bool look_for(const struct place *f, char *path, size_t cap, struct stat *st) {
    const char *slash = strrchr(f->name, '/');
    int folder = slash ? (int)(slash + 1 - f->name) : 0;
    snprintf(path, cap, "%.*s", folder ? folder : 1, folder ? f->name : ".");
    DIR *dir = opendir(path);
    bool found = false;
    if (!dir) return false;
    for (struct dirent *e; !found && (e = readdir(dir));) {
        if (e->d_ino != f->ino || fstatat(dirfd(dir), e->d_name, st, 0)) continue;
        found = st->st_ino == f->ino && st->st_dev == f->dev;
        if (found) snprintf(path, cap, "%.*s%s", folder, f->name, e->d_name);
    }
    closedir(dir);
    return found;
}

/* Says where the file is that had this name before, and whether it was read to its end. */
static void say_rotated(const struct place *f, const char *name, char *what, size_t cap) {
    char path[4096];
    struct stat st;
    if (!look_for(f, path, sizeof path, &st))
        snprintf(what, cap,
                 "%.200s is a new file, read from its start; the one read before, %s bytes far, is "
                 "gone",
                 name, number_grouped(f->offset).text);
    else if ((uint64_t)st.st_size > f->offset)
        snprintf(
            what, cap,
            "%.200s is a new file, read from its start; the one read before is now %.200s, and "
            "%s bytes of it are unread: name it first and they are read",
            name, path, number_grouped((uint64_t)st.st_size - f->offset).text);
    else
        snprintf(what, cap,
                 "%.200s is a new file, read from its start; the one read before, to its end, is "
                 "now %.200s",
                 name, path);
}

static const struct place *by_inode(const struct places *p, const struct stat *st) {
    for (size_t i = p->n; i-- > 0;)
        if (p->place[i].dev == st->st_dev && p->place[i].ino == st->st_ino) return &p->place[i];
    return NULL;
}

const struct place *places_find(const struct places *p, const struct input *in, char *what,
                                size_t cap) {
    struct stat st;
    *what = '\0';
    if (fstat(in->fd, &st)) return NULL;
    const struct place *f = by_inode(p, &st), *named = NULL;
    for (size_t i = p->n; i-- > 0 && !named;)
        if (!strcmp(p->place[i].name, in->name)) named = &p->place[i];
    /* A device may have another number after a reboot. */
    if (!f && named && named->ino == st.st_ino && unchanged(in->fd, named)) return named;
    if (f && (uint64_t)st.st_size < f->at + f->len)
        snprintf(what, cap, "%.200s was truncated, from %s bytes to %s: it is read from its start",
                 in->name, number_grouped(f->at + f->len).text,
                 number_grouped((uint64_t)st.st_size).text);
    else if (f && unchanged(in->fd, f))
        return f;
    else if (f)
        snprintf(what, cap,
                 "%.200s was rewritten since %s bytes of it were read: it is read from its start",
                 in->name, number_grouped(f->offset).text);
    else if (named && strcmp(in->name, "standard input") != 0)
        say_rotated(named, in->name, what, cap);
    return NULL;
}

/* -- taking down -------------------------------------------------------------------------- */

void places_note(struct places *p, const struct input *in, uint64_t offset, uint64_t lines) {
    struct stat st;
    if (in->fd < 0 || fstat(in->fd, &st) || !S_ISREG(st.st_mode)) return;
    const struct place *old = by_inode(p, &st);
    if (old) drop(p, (size_t)(old - p->place));
    struct place *f = push(p, in->name);
    f->dev = st.st_dev;
    f->ino = st.st_ino;
    f->offset = offset;
    f->lines = lines;
    /* Uncompressed, the bytes before the place; else the first, in which each packer writes what it
     * packed, and when. */
    bool plain = input_is_plain(in);
    uint64_t until = plain ? f->offset : (uint64_t)st.st_size;
    f->len = until < PRINT ? until : PRINT;
    f->at = plain ? f->offset - f->len : 0;
    if (!digest_of(in->fd, f->at, f->len, &f->digest)) f->at = f->len = f->digest = 0;
}

const char *const saved_commands[] = {"dedup", "count", "top", NULL};

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
    seen_time last = stats.last > b->judge.last ? stats.last : b->judge.last;
    return last > b->judge.lateness.newest ? last : b->judge.lateness.newest;
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
    const char *spec = unpack_text(&u);
    size_t options = unpack_count(&u, 18);
    for (size_t i = 0; i < options && !u.bad; i++) {
        const char *option = unpack_text(&u), *value = unpack_text(&u);
        if (!u.bad && !saved_options_put(&b->options, option, value)) u.bad = true;
    }
    b->ended = unpack_number(&u);
    b->output = unpack_number(&u);
    b->number = unpack_number(&u);
    judge_unpack(&b->judge, &u);
    b->unended = unpack_number(&u);
    b->header = reader_unpack_header(&u, &b->header_len);
    places_unpack(&b->places, &u);
    b->extra = format > 1 ? unpack_bytes(&u, &b->extra_len) : "";
    /* The spec gets the names that options have today.  A run without --window needs it. */
    struct seen_spec parsed;
    struct seen_plan plan;
    bool usable = !seen_spec_parse(&parsed, spec, NULL) && !seen_plan_make(&plan, &parsed, NULL) &&
                  seen_spec_print(&parsed, b->spec, sizeof b->spec) < (int)sizeof b->spec;
    if (u.bad || u.at != u.end || !usable) saved_refuse(name);
}
