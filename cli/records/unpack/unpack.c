/* unpack.c - reads compressed files as what they hold, and recognises archives, databases and other
 * files that are not lines of text. */
#include "records/unpack/unpack.h"

#include "base/cli.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* -- files that seen cannot read ----------------------------------------------------------- */

#define TEXT(magic) magic, sizeof magic - 1

static const struct {
    size_t at;
    const char *magic;
    size_t len;
    const char *what;
} foreign[] = {
    {0, TEXT("PK\3\4"),
     "it is a zip archive: unzip -p FILE | seen ...; save a spreadsheet as CSV first"},
    {0, TEXT("PK\5\6"), "it is an empty zip archive"},
    {0, TEXT("7z\xbc\xaf\x27\x1c"), "it is a 7z archive: 7z e -so FILE | seen ..."},
    {0, TEXT("Rar!\x1a\7"), "it is a rar archive: unrar p -inul FILE | seen ..."},
    {257, TEXT("ustar"), "it is a tar archive: tar -xOf FILE | seen ..."},
    {0, TEXT("\x04\x22\x4d\x18"), "it is packed by lz4: lz4 -dc FILE | seen ..."},
    {0, TEXT("\x89LZO\0\r\n\x1a\n"), "it is packed by lzop: lzop -dc FILE | seen ..."},
    {0, TEXT("LZIP\1"), "it is packed by lzip: lzip -dc FILE | seen ..."},
    {0, TEXT("\x5d\0\0\x80\0"), "it is packed by lzma: xz --format=lzma -dc FILE | seen ..."},
    {0, TEXT("\x1f\x9d\x90"), "it is packed by compress: gzip -dc FILE | seen ..."},
    {0, TEXT("\xff\6\0\0sNaPpY"), "it is packed by Snappy: snzip -dc FILE | seen ..."},
    {0, TEXT("PAR1\x15"), "it is Parquet: duckdb -csv -c \"FROM 'FILE'\" | seen --csv ..."},
    {0, TEXT("Obj\1"), "it is Avro: avro-tools tojson FILE | seen --ndjson ..."},
    {0, TEXT("ARROW1\0\0"),
     "it is Arrow IPC: write it as CSV first, such as with pyarrow.csv.write_csv"},
    {0, TEXT("SQLite format 3\0"),
     "it is a database of SQLite: sqlite3 -csv -header FILE 'SELECT * FROM t' | seen --csv ..."},
    {0, TEXT("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"),
     "it is a document of Microsoft Office: save it as CSV first"},
};

static const char utf16[] = "it is UTF-16: iconv -f UTF-16 -t UTF-8 FILE | seen ...";
static const char utf16le[] = "it is UTF-16: iconv -f UTF-16LE -t UTF-8 FILE | seen ...";
static const char utf16be[] = "it is UTF-16: iconv -f UTF-16BE -t UTF-8 FILE | seen ...";
static const char utf32[] = "it is UTF-32: iconv -f UTF-32 -t UTF-8 FILE | seen ...";

/* A PDF begins with its version, an end of line and a comment of bytes outside ASCII. */
static bool is_pdf(const char *p, size_t n) {
    size_t at = 8;
    if (n < 12 || memcmp(p, "%PDF-", 5) != 0) return false;
    while (at < 10 && (p[at] == '\r' || p[at] == '\n')) at++;
    return at > 8 && p[at] == '%' && p[at + 1] & 0x80;
}

/* Is it ASCII in units of two bytes?  The bytes at `own` hold the characters, the others are
 * NUL. */
static bool is_wide(const char *p, size_t n, size_t own) {
    if (n < 8) return false;
    for (size_t i = 0; i + 1 < n; i += 2) {
        char c = p[i + own];
        bool text = (c >= 0x20 && c < 0x7f) || c == '\t' || c == '\n' || c == '\r';
        if (!text || p[i + 1 - own]) return false;
    }
    return true;
}

/* Two bytes of a byte order mark may also begin other text.  NUL bytes show that they do not. */
static const char *tell_utf(const char *p, size_t n) {
    bool nul = memchr(p, '\0', n);
    if (!nul || n < 4) return NULL;
    if (!memcmp(p, "\xff\xfe\0\0", 4) || !memcmp(p, "\0\0\xfe\xff", 4)) return utf32;
    if (!memcmp(p, "\xff\xfe", 2) || !memcmp(p, "\xfe\xff", 2)) return utf16;
    if (is_wide(p, n, 0)) return utf16le;
    return is_wide(p, n, 1) ? utf16be : NULL;
}

const char *foreign_tell(const char *p, size_t n, bool lines) {
    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++)
        if (n >= foreign[i].at + foreign[i].len &&
            !memcmp(p + foreign[i].at, foreign[i].magic, foreign[i].len))
            return foreign[i].what;
    if (is_pdf(p, n)) return "it is PDF: pdftotext -layout FILE - | seen ...";
    return lines ? tell_utf(p, n < FOREIGN_BYTES ? n : FOREIGN_BYTES) : NULL;
}

/* ORC begins with three letters, as text may, and also ends with them and a length. */
const char *foreign_tell_file(int fd, const char *p, size_t n, bool lines) {
    struct stat st;
    char end[4];
    bool orc = n >= 3 && !memcmp(p, "ORC", 3) && !fstat(fd, &st) && st.st_size > 32 &&
               pread(fd, end, 4, st.st_size - 4) == 4 && !memcmp(end, "ORC", 3);
    if (orc && (unsigned char)end[3] > '\r')
        return "it is ORC: write it as CSV or JSON first, such as with orc-contents FILE";
    return foreign_tell(p, n, lines);
}

/* -- compressed files ---------------------------------------------------------------------- */

enum { RAW = 128 << 10 };

struct unpack {
    const struct packing *packing;
    void *state;
    char *raw;
    size_t at, n;  /* bytes of raw not yet unpacked */
    bool between;  /* the file may end here */
    bool begun;    /* something has come out */
    bool lines;    /* records in it end in newlines */
    bool squeezed; /* there was no room for all that would come out */
    char trouble[200];
};

const char unpack_needs_memory[] =
    "takes more memory than --unpack-mem allows (default: 128MiB); give more";

const struct packing *unpack_tell(const char *begin, size_t n, bool *more) {
    static const struct packing *const all[] = {&gzip_packing, &zstd_packing, &xz_packing,
                                                &bzip2_packing};
    *more = false;
    for (size_t i = 0; i < 2 * sizeof all / sizeof *all; i++) {
        const struct packing *p = all[i / 2];
        const char *magic = p->magic[i % 2];
        size_t same = 0; /* bytes that agree with the magic; ? is a digit from 1 to 9 */
        while (magic && same < n && same < p->magic_len &&
               (magic[same] == '?' ? begin[same] >= '1' && begin[same] <= '9'
                                   : begin[same] == magic[same]))
            same++;
        if (!magic || (same < n && same < p->magic_len)) continue;
        if (n >= p->magic_len) return p;
        *more = true;
    }
    return NULL;
}

struct unpack *unpack_new(const struct packing *p, const char *name, uint64_t memory, bool lines,
                          const char *begin, size_t n) {
    struct unpack *u = calloc(1, sizeof *u);
    if (u)
        *u = (struct unpack){.packing = p,
                             .lines = lines,
                             .state = p->open(memory),
                             .raw = malloc(n > RAW ? n : RAW)};
    if (!u || !u->state || !u->raw) die("out of memory for unpacking %s", name);
    if (n) memcpy(u->raw, begin, n);
    u->n = n;
    return u;
}

void unpack_free(struct unpack *u) {
    if (!u) return;
    u->packing->close(u->state);
    free(u->raw);
    free(u);
}

const char *unpack_trouble(const struct unpack *u) { return u->trouble; }

bool unpack_pending(const struct unpack *u) { return u->at < u->n || u->squeezed || *u->trouble; }

/* Bytes read, 0 where the file may end. */
static ssize_t refill(struct unpack *u, int fd) {
    ssize_t got = read(fd, u->raw, RAW);
    if (got > 0) u->at = 0, u->n = (size_t)got;
    if (got != 0 || u->between) return got;
    snprintf(u->trouble, sizeof u->trouble,
             "its %s data ends in the middle, it was cut short: copy or make it again",
             u->packing->name);
    errno = EBADMSG;
    return -1;
}

ssize_t unpack_read(struct unpack *u, int fd, char *out, size_t room) {
    ssize_t got;
    if (!unpack_pending(u) && (got = refill(u, fd)) <= 0) return got;
    struct stretch s = {u->raw + u->at, u->n - u->at, out, room, u->between};
    const char *wrong = *u->trouble ? "" : u->packing->unpack(u->state, &s);
    u->at = u->n - s.left;
    u->between = s.between;
    u->squeezed = s.room == 0;
    if (wrong && *wrong)
        snprintf(u->trouble, sizeof u->trouble, "its %s data %s%s", u->packing->name,
                 wrong == unpack_needs_memory ? "" : "is damaged: ", wrong);
    const char *what = NULL;
    if (s.room < room) { /* the first bytes may be those of a tar archive */
        if (!u->begun) what = foreign_tell(out, room - s.room, u->lines);
        u->begun = true;
        if (!what) return (ssize_t)(room - s.room);
        snprintf(u->trouble, sizeof u->trouble, "inside its %s data %s", u->packing->name, what);
    }
    errno = wrong || what ? EBADMSG : EAGAIN;
    return -1;
}
