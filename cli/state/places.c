/* places.c - how far each regular file was read, and whether it is still the same file. */
#include "state/places.h"

#include "base/cli.h"
#include "base/text.h"
#include "seen.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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
    if (p->n == PLACES_MOST) drop(p, 0);
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

void places_unpack(struct places *p, struct unpacker *u) {
    size_t n = unpack_count(u, 8 * sizeof(uint64_t));
    if (n > PLACES_MOST) u->bad = true;
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

/* Where the file of that place stands now, in the folder it was read from; false if nowhere. */
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

/* The file that had this name is another one: where is it, and was it read to its end? */
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

static const struct place *by_name(const struct places *p, const char *name) {
    for (size_t i = p->n; i-- > 0;)
        if (!strcmp(p->place[i].name, name)) return &p->place[i];
    return NULL;
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
    const struct place *f = by_inode(p, &st), *named = by_name(p, in->name);
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

/* Uncompressed, the bytes before the place; else the first, in which each packer writes what it
 * packed, and when. */
static void take_print(struct place *f, const struct input *in, const struct stat *st) {
    bool plain = input_is_plain(in);
    uint64_t until = plain ? f->offset : (uint64_t)st->st_size;
    f->len = until < PRINT ? until : PRINT;
    f->at = plain ? f->offset - f->len : 0;
    if (!digest_of(in->fd, f->at, f->len, &f->digest)) f->at = f->len = f->digest = 0;
}

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
    take_print(f, in, &st);
}
