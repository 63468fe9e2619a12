/* wishes.h - the options a run was given, as far as they decide its verdicts: a state may only be
 * continued under the same. */
#ifndef SEEN_WISHES_H
#define SEEN_WISHES_H

#include "base/cli.h"

enum { WISHES_MOST = 64 };

struct wish {
    char name[40];     /* as people type it: -k, --csv */
    const char *value; /* "" for a flag; stays the caller's */
};

struct wishes {
    struct wish wish[WISHES_MOST];
    size_t n;
};

/* Takes an option down, unless it only says what is printed; the last of a name counts. */
void wishes_note(struct wishes *, const struct option_row *, const char *value);

/* Puts one in as it was taken down before; false if there is no room, or its name is too long. */
bool wishes_put(struct wishes *, const char *name, const char *value);

/* The value of a name, or NULL. */
const char *wishes_find(const struct wishes *, const char *name);

/* In words, how what was given before differs from what is given now: "with -k 2, not -k 3;
 * without --csv".  Returns the end of the text, which has `cap` bytes, and was `at` long. */
size_t wishes_differ(const struct wishes *before, const struct wishes *now, char *text, size_t cap,
                     size_t at);

/* Likewise for two specs in canonical writing. */
size_t wishes_specs_differ(const char *before, const char *now, char *text, size_t cap, size_t at);

#endif
