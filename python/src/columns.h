/* columns.h - a batch of keys as columns of memory. */
#ifndef COLUMNS_H
#define COLUMNS_H

#include "engine.h"

/* -- the Arrow C data interface: the structs that its specification prescribes ------------- */

struct ArrowSchema {
    const char *format, *name, *metadata;
    int64_t flags, n_children;
    struct ArrowSchema **children, *dictionary;
    void (*release)(struct ArrowSchema *);
    void *private_data;
};

struct ArrowArray {
    int64_t length, null_count, offset, n_buffers, n_children;
    const void **buffers;
    struct ArrowArray **children, *dictionary;
    void (*release)(struct ArrowArray *);
    void *private_data;
};

struct ArrowArrayStream {
    int (*get_schema)(struct ArrowArrayStream *, struct ArrowSchema *);
    int (*get_next)(struct ArrowArrayStream *, struct ArrowArray *);
    const char *(*get_last_error)(struct ArrowArrayStream *);
    void (*release)(struct ArrowArrayStream *);
    void *private_data;
};

/* -- columns ------------------------------------------------------------------------------ */

enum kind { INTEGER, FIXED, UCS4, OFFSET32, OFFSET64, VIEW, DICTIONARY, DIGEST };

struct column {
    enum kind kind;
    size_t n, first; /* records, and where the first one lies in the arrays */
    bool is_signed, is_text, is_padded;
    size_t width;            /* bytes of an integer or fixed-width key */
    ptrdiff_t stride;        /* from one record to the next */
    const char *data;        /* integers, fixed-width keys, bytes behind offsets, views */
    const void *offsets;     /* OFFSET32, OFFSET64 */
    const void **bodies;     /* VIEW: the buffers that views point into */
    const uint8_t *valid;    /* Arrow's bitmap, or NULL */
    struct column *values;   /* DICTIONARY */
    seen_digest *digest;     /* DIGEST: of the records; DICTIONARY: of the values, once hashed */
    bool *null;              /* which of these are none */
    struct ArrowArray array; /* released with the column, if it has a release() */
};

struct keys {
    struct column *column;
    size_t columns, n;
    struct keys_hash hash;
    PyObject *held; /* what keeps the memory alive */
    Py_buffer view;
    bool has_view;
    char *scratch; /* room for the UTF-8 of one key */
};

/* A further column of n records; NULL: raised. */
struct column *columns_add(struct keys *, enum kind, size_t n);

/* Fills in the columns of an object with Arrow's PyCapsule interface (arrow.c).  1: done; 0: the
 * object has no such interface; -1: raised. */
int columns_of_arrow(struct keys *, PyObject *);

#endif
