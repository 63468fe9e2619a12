/* foreign.h - recognises files that are not lines of text and that seen cannot read: archives,
 * columns, databases, other encodings.  Judged as bytes they would silently give a wrong answer.
 *
 * They are told by bytes that no line of text begins with: control characters, NUL, no UTF-8. */
#ifndef SEEN_FOREIGN_H
#define SEEN_FOREIGN_H

#include <stdbool.h>
#include <stddef.h>

enum { FOREIGN_BYTES = 512 }; /* that are looked at; fewer tell less */

/* What a file is that begins with these n bytes, and how it can be read; NULL: nothing foreign.
 * `lines`: its records end in newlines, so that NUL bytes at every other place are UTF-16. */
const char *foreign_tell(const char *begin, size_t n, bool lines);

/* The same of a regular file, by its end as well. */
const char *foreign_tell_file(int fd, const char *begin, size_t n, bool lines);

#endif
