/* slip.c - is a word another one misspelt?  Damerau's distance, as far as neighbours are swapped
 * once: letters that are missing, too many, wrong or swapped. */
#include "spec/spec.h"

#include "base/base.h"
#include "base/bits.h"

#include <string.h>

enum { LONGEST = 32 }; /* words are cut there */

static size_t distance(const char *a, size_t n, const char *b, size_t m) {
    size_t row[3][LONGEST + 1]; /* of a's letter i, the one before and that before */
    for (size_t j = 0; j <= m; j++) row[0][j] = j;
    for (size_t i = 1; i <= n; i++) {
        size_t *now = row[i % 3], *before = row[(i - 1) % 3], *two = row[(i + 1) % 3];
        now[0] = i;
        for (size_t j = 1; j <= m; j++) {
            size_t changed = before[j - 1] + (a[i - 1] != b[j - 1]);
            now[j] = bits_min(changed, bits_min(before[j], now[j - 1]) + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                now[j] = bits_min(now[j], two[j - 2] + 1);
        }
    }
    return row[n % 3][m];
}

size_t seen_slip(const char *word, size_t len, const char *name) {
    size_t most = len > 3 ? len / 3 + 1 : 1, m = strlen(name);
    size_t d = distance(word, len < LONGEST ? len : LONGEST, name, m < LONGEST ? m : LONGEST);
    return d <= most && d < m ? d : SIZE_MAX;
}

void slip_try(struct slip *n, const char *word, size_t len, const char *name) {
    size_t d = seen_slip(word, len, name);
    if (d < (n->name ? n->distance : SIZE_MAX)) *n = (struct slip){name, d};
}

int slip_refuse(const struct slip *n, const char *what, const char *word, size_t len,
                const char *else_say, size_t where, struct seen_error *e) {
    int shown = len > 40 ? 40 : (int)len;
    if (n->name)
        return error_set(e, SEEN_EINVAL, where, "%s'%.*s' is not known; did you mean %s?", what,
                         shown, word, n->name);
    return error_set(e, SEEN_EINVAL, where, "%s'%.*s' is not known; %s", what, shown, word,
                     else_say);
}
