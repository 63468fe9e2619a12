/* cut.c - cuts the values of keys into words or into runs of letters. */
#include "commands/filter/cut.h"

#include "base/cli.h"
#include "base/text.h"
#include "seen.h"

#include <string.h>

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

static bool is_punctuation(uint32_t c) {
    for (size_t i = 0; i < sizeof punctuation / sizeof *punctuation; i++)
        if (c >= punctuation[i].from && c <= punctuation[i].to) return true;
    return false;
}

static bool is_letter_or_digit(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

static bool is_mark(const struct cut *c, uint32_t number) {
    for (size_t i = 0; i < c->marks; i++)
        if (c->mark[i] == number) return true;
    return false;
}

/* Does the character at p divide words?  *len: its bytes.  A byte that is none does not. */
static inline bool divides(const struct cut *c, const char *p, const char *end, size_t *len) {
    *len = 1;
    if (!((unsigned char)*p & 0x80)) return c->ascii[(unsigned char)*p];
    size_t n = utf8_character(p, (size_t)(end - p));
    if (!n) return false;
    *len = n;
    return c->marks ? is_mark(c, utf8_number(p, n)) : is_punctuation(utf8_number(p, n));
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
    for (int i = 0; i < 128; i++)
        c->ascii[i] = c->marks ? is_mark(c, (uint32_t)i) : !is_letter_or_digit((char)i);
}

void cut_take_gram(struct cut *c, const char *number) {
    struct seen_error e;
    uint64_t n;
    if (seen_parse_count(number, &n, &e)) die("--ngrams %s: %s", number, e.text);
    if (!n || n > MAX_GRAM) die("--ngrams %s: give between 1 and %d characters", number, MAX_GRAM);
    c->gram = (uint32_t)n;
}

/* -- a value ------------------------------------------------------------------------------ */

struct cutter cutter_of(const struct cut *cut, const char *value, size_t len) {
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

bool cutter_next(struct cutter *c, const char **key, size_t *len) {
    if (c->cut->words) return next_word(c, key, len);
    if (c->cut->gram) return next_gram(c, key, len);
    *key = c->at;
    *len = (size_t)(c->end - c->at);
    c->at = c->end;
    return *len > 0;
}

bool cut_is_key(const struct cut *cut, const char *key, size_t len) {
    struct cutter c = cutter_of(cut, key, len);
    const char *first;
    size_t n;
    return cutter_next(&c, &first, &n) && first == key && n == len;
}
