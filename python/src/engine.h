/* engine.h - what the parts of the extension share: keys, times, errors. */
#ifndef ENGINE_H
#define ENGINE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "seen.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

/* -- errors and times (module.c) ---------------------------------------------------------- */

extern PyObject *engine_format_error; /* seen.FormatError */

/* Raises the exception of an error's code with its sentence.  Returns NULL. */
PyObject *engine_raise(const struct seen_error *);

/* Seconds since 1970 (int, float), or what seen._times.scalar takes, as microseconds.  Returns
 * false and raises if it is not a time. */
bool engine_time(PyObject *, seen_time *out);

/* A buffer of n times in microseconds (uint64), as seen._times.column gives them. */
bool engine_times(PyObject *, size_t n, Py_buffer *);

/* -- snapshots as bytes (module.c) -------------------------------------------------------- */

/* Grows as a snapshot is written; `text` is freed with free. */
struct engine_bytes {
    char *text;
    size_t len, cap;
};
int engine_write(void *ctx, const void *buf, size_t len); /* ctx: a struct engine_bytes */

struct engine_source {
    const char *at, *end;
};
int engine_read(void *ctx, void *buf, size_t len); /* ctx: a struct engine_source */

/* -- keys (keys.c) ------------------------------------------------------------------------ */

#define KEYS_BATCH 1024 /* records that are hashed before they are judged */

/* Who makes digests: a detector, or without one XXH3 of seed 0. */
struct keys_hash {
    const seen_detector *detector;
    uint32_t digests; /* of a key */
};
int keys_digest(struct keys_hash, const char *text, size_t len, seen_digest *out,
                struct seen_error *);

/* The bytes that stand for a scalar key: bytes, UTF-8 of a str, decimal digits of an int.  `digits`
 * is room for these; the bytes live as long as the key and `digits`.  Returns false and raises
 * TypeError for other types. */
bool keys_text(PyObject *key, char digits[24], PyObject **held, const char **text, size_t *len);

/* Whether an item of an iterable means that there is no key: None, NaN, pandas' NA and NaT. */
bool keys_is_null(PyObject *);

/* A batch of keys: arrays in memory, Arrow's data, or an iterable that was read to its end. */
struct keys;
struct keys *keys_open(PyObject *, struct keys_hash); /* NULL: raised */
void keys_close(struct keys *);                       /* needs the GIL */
size_t keys_count(const struct keys *);

/* Hashes records from..from+KEYS_BATCH-1, as far as they exist and have keys.  Writes digests, the
 * number of each record relative to `from`, and how many there are.  Needs no GIL.  Fails as
 * seen_key does. */
int keys_hash_some(struct keys *, size_t from, seen_digest *out, uint32_t *record, size_t *n,
                   struct seen_error *);

/* Tries to hash all keys, where hash= or bits= refuses some.  Returns false and raises. */
bool keys_check(struct keys *);

/* The key of a record as a Python object; None: the record has no key. */
PyObject *keys_object(struct keys *, size_t record);

/* -- types -------------------------------------------------------------------------------- */

int window_register(PyObject *module);
int sketches_register(PyObject *module);

#endif
