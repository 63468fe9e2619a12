/* key_form.h - what is done to each value of a key before it is hashed, so that keys are compared
 * as people mean them.  The record itself is printed as it stands.
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
    bool by_word;      /* the code that splits values into words does these three, to each word */
    const char *regex; /* NULL: none */
    uint32_t groups;   /* of it, once key_form_check has looked at it */
};

/* Is anything done at all? */
bool key_form_any(const struct key_form *);

/* Dies, saying why, if the expression is none. */
void key_form_check(struct key_form *);

/* The expression for one thread, since regexec locks its own; dies where there is no memory. */
void key_form_compile(const struct key_form *, regex_t *);

/* Where the parts of the key stand in a value: match[0] is the whole one where the expression has
 * no groups, else each group's, from match[0] on.  How many; 0: it does not match. */
size_t key_form_match(const struct key_form *, const regex_t *, const char *value, size_t len,
                      regmatch_t match[FORM_GROUPS + 1]);

/* The rest of it, in place; the new length, which is at most one more. */
size_t key_form_apply(const struct key_form *, char *value, size_t len);

#endif
