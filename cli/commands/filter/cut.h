/* cut.h - a value cut into keys: its words, or its n-grams.
 *
 *     words      "Café au lait, 2 cups"  ->  Café  au  lait  2  cups
 *     3-grams    "Café au"               ->  Caf  afé  "fé "  "é a"  " au"
 *
 * A word is a run of letters and digits.  Bytes above 0x7f belong to words, but for the blanks,
 * quotation marks and other punctuation of the blocks Latin-1, General Punctuation, CJK Symbols and
 * Punctuation and Fullwidth Forms: which those are does not change from one version of Unicode to
 * the next.  With delimiters of the user's, a word is what stands between them.
 *
 * An n-gram is n characters of UTF-8; a byte that is part of none counts as one. */
#ifndef SEEN_FILTER_CUT_H
#define SEEN_FILTER_CUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MAX_GRAM = 1024, CUT_MARKS = 64 };

struct cut {
    bool words;
    uint32_t gram;            /* characters of an n-gram; 0: none */
    uint32_t mark[CUT_MARKS]; /* delimiters of the user's */
    size_t marks;             /* 0: words are letters and digits */
    bool ascii[128];          /* which ASCII characters divide words */
};

/* Options' values; they die where these cannot be.  NULL: letters and digits. */
void cut_take_words(struct cut *, const char *delimiters);
void cut_take_gram(struct cut *, const char *number);

static inline bool cut_any(const struct cut *c) { return c->words || c->gram; }

/* Can it be one of the keys that values are cut into? */
bool cut_is_key(const struct cut *, const char *key, size_t len);

/* A walk along a value, which stays the caller's. */
struct cutter {
    const struct cut *cut;
    const char *at, *end, *to; /* to: behind the n-gram before */
};

struct cutter cutter_of(const struct cut *, const char *value, size_t len);

/* The next key; an empty value has none. */
bool cutter_next(struct cutter *, const char **key, size_t *len);

#endif
