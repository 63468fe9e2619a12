/* form.h - keys as people mean them: what is done to each value of a key before it is hashed.  The
 * record itself is printed as it stands.
 *
 *     value of a field  ->  --key-regex  ->  --trim  ->  --key-url  ->  --ignore-case  ->  hash
 *
 * All of it works on bytes and on ASCII letters and blanks: a byte above 0x7f stays what it is,
 * whatever the encoding, so that no version of Unicode and no locale can change a key. */
#ifndef SEEN_FORM_H
#define SEEN_FORM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <regex.h>

enum { FORM_GROUPS = 32 };

struct key_form {
    bool trim, ignore_case, url;
    bool by_word;      /* these three are done to the words of a value, by whoever finds them */
    const char *regex; /* NULL: none */
    uint32_t groups;   /* of it, once form_check has looked at it */
};

/* Is anything done at all? */
bool form_any(const struct key_form *);

/* Dies, saying why, if the expression is none. */
void form_check(struct key_form *);

/* The expression for one thread, since regexec locks its own; dies where there is no memory. */
void form_compile(const struct key_form *, regex_t *);

/* Where the parts of the key stand in a value: match[0] is the whole one where the expression has
 * no groups, else each group's, from match[0] on.  How many; 0: it does not match. */
size_t form_match(const struct key_form *, const regex_t *, const char *value, size_t len,
                  regmatch_t match[FORM_GROUPS + 1]);

/* The rest of it, in place; the new length, which is at most one more. */
size_t form_apply(const struct key_form *, char *value, size_t len);

/* --key-url (url.c): scheme and host in lower case, without a default port, the fragment and what
 * only tracks the visitor.  What is no such URL stays as it is.  Likewise in place. */
size_t url_normalise(char *url, size_t len);

#endif
