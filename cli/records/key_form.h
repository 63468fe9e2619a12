/* key_form.h - changes the values of a key before they are hashed, so that values which mean the
 * same are equal.  The record itself is printed as it is.
 *
 *     value of a field  ->  --key-regex  ->  --trim  ->  --key-url  ->  --ignore-case  ->  hash
 *
 * All steps work on bytes and on ASCII letters and blanks.  Bytes above 0x7f stay as they are in
 * any encoding, so a key never depends on the version of Unicode or on the locale. */
#ifndef SEEN_KEY_FORM_H
#define SEEN_KEY_FORM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <regex.h>

enum { FORM_GROUPS = 32 };

struct key_form {
    bool trim, ignore_case, url;
    bool by_word;      /* these three apply to each word of a value, where it is split into words */
    const char *regex; /* NULL: none */
    uint32_t groups;   /* of the expression; key_form_check sets it */
};

/* Does it change anything? */
bool key_form_any(const struct key_form *);

/* Dies with a sentence if the expression is malformed. */
void key_form_check(struct key_form *);

/* Compiles the expression for one thread, because regexec locks it.  Dies if memory is short. */
void key_form_compile(const struct key_form *, regex_t *);

/* Finds the parts of the key in a value, and returns their number; 0: the value does not match.
 * The parts are the groups of the expression, or its whole match if it has no groups. */
size_t key_form_match(const struct key_form *, const regex_t *, const char *value, size_t len,
                      regmatch_t match[FORM_GROUPS + 1]);

/* Applies the steps behind --key-regex in place.  Returns the new length, at most one byte more. */
size_t key_form_apply(const struct key_form *, char *value, size_t len);

#endif
