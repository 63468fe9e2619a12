/* keys.c - keys from Python become digests: scalars, buffers, Arrow's columns, iterables.
 *
 * The bytes of a key are the same for every carrier, so that one key has one digest:
 *
 *     bytes, binary, fixed-width bytes    the bytes; fixed-width ones without NULs at their end
 *     str, utf8, fixed-width str          UTF-8
 *     int of any width                    decimal digits, as in a log line: -7 is "-7"
 *
 * Records without a key (None, nulls) are passed over. */
#include "columns.h"

#include <math.h>
#include <string.h>

/* -- the bytes of a key ------------------------------------------------------------------- */

/* Eight digits of a number below 10^8, the first in the lowest byte: halves of four digits, then of
 * two, then of one, side by side. */
static inline uint64_t eight_digits(uint32_t value) {
    uint64_t x = value / 10000 | (uint64_t)(value % 10000) << 32;
    uint64_t high = x * 10486 >> 20 & 0x0000007f0000007fu; /* over 100 */
    x = high | (x - 100 * high) << 16;
    high = x * 103 >> 10 & 0x000f000f000f000fu; /* over 10 */
    return high | (x - 10 * high) << 8;
}

/* Writes the digits so that they end at `end`, and zeros before them: 24 bytes in all.  Returns
 * where the first digit is. */
static inline char *decimal(char *end, uint64_t value) {
    const uint64_t zeros = 0x3030303030303030u, part = 100000000;
    uint64_t digits = eight_digits((uint32_t)(value % part)), text = digits + zeros;
    char *at = end - 8;
    memcpy(at, &text, sizeof text);
    for (value /= part; value; value /= part) {
        digits = eight_digits((uint32_t)(value % part));
        text = digits + zeros;
        at -= 8;
        memcpy(at, &text, sizeof text);
    }
    return at + __builtin_ctzll(digits | (uint64_t)1 << 56) / 8;
}

static inline char *decimal_signed(char *end, int64_t value) {
    if (value >= 0) return decimal(end, (uint64_t)value);
    char *at = decimal(end, 0 - (uint64_t)value);
    *--at = '-';
    return at;
}

static inline uint64_t load_integer(const char *p, size_t width, bool is_signed) {
    uint64_t u = 0;
    switch (width) { /* copies of a constant size are single loads */
    case 1: memcpy(&u, p, 1); break;
    case 2: memcpy(&u, p, 2); break;
    case 4: memcpy(&u, p, 4); break;
    default: memcpy(&u, p, 8); return u;
    }
    unsigned spare = (unsigned)(64 - 8 * width);
    return is_signed ? (uint64_t)((int64_t)(u << spare) >> spare) : u;
}

/* Writes code points as UTF-8; lone surrogates as the three bytes that surrogatepass gives. */
static size_t utf8(const char *from, size_t points, char *to) {
    unsigned char *at = (unsigned char *)to;
    for (size_t i = 0; i < points; i++) {
        uint32_t c;
        memcpy(&c, from + 4 * i, 4);
        if (c < 0x80) {
            *at++ = (unsigned char)c;
        } else if (c < 0x800) {
            *at++ = (unsigned char)(0xc0 | c >> 6);
            *at++ = (unsigned char)(0x80 | (c & 63));
        } else if (c < 0x10000) {
            *at++ = (unsigned char)(0xe0 | c >> 12);
            *at++ = (unsigned char)(0x80 | (c >> 6 & 63));
            *at++ = (unsigned char)(0x80 | (c & 63));
        } else {
            *at++ = (unsigned char)(0xf0 | (c >> 18 & 7));
            *at++ = (unsigned char)(0x80 | (c >> 12 & 63));
            *at++ = (unsigned char)(0x80 | (c >> 6 & 63));
            *at++ = (unsigned char)(0x80 | (c & 63));
        }
    }
    return (size_t)((char *)at - to);
}

struct text {
    const char *at;
    size_t len;
};

static inline bool is_null(const struct column *c, size_t i) {
    size_t bit = c->first + i;
    return c->valid && !(c->valid[bit / 8] >> bit % 8 & 1);
}

/* The bytes of record i, which has a key.  `kind` is the column's: a constant in loops. */
static inline __attribute__((always_inline)) struct text text_at(const struct column *c,
                                                                 enum kind kind, size_t i,
                                                                 char digits[24], char *scratch) {
    size_t at = c->first + i;
    if (kind == INTEGER) {
        uint64_t u = load_integer(c->data + (ptrdiff_t)at * c->stride, c->width, c->is_signed);
        char *end = digits + 24;
        char *begin = c->is_signed ? decimal_signed(end, (int64_t)u) : decimal(end, u);
        return (struct text){begin, (size_t)(end - begin)};
    }
    if (kind == OFFSET32) {
        const int32_t *o = (const int32_t *)c->offsets + at;
        return (struct text){c->data + o[0], (size_t)(o[1] - o[0])};
    }
    if (kind == OFFSET64) {
        const int64_t *o = (const int64_t *)c->offsets + at;
        return (struct text){c->data + o[0], (size_t)(o[1] - o[0])};
    }
    if (kind == VIEW) {
        const char *view = c->data + 16 * at;
        int32_t field[4]; /* length, prefix, buffer, offset */
        memcpy(field, view, sizeof field);
        if (field[0] <= 12) return (struct text){view + 4, (size_t)field[0]};
        return (struct text){(const char *)c->bodies[field[2]] + field[3], (size_t)field[0]};
    }
    const char *p = c->data + (ptrdiff_t)at * c->stride;
    size_t len = c->width;
    if (kind == FIXED) {
        while (c->is_padded && len && !p[len - 1]) len--;
        return (struct text){p, len};
    }
    size_t points = len / 4; /* UCS4 */
    for (uint32_t last; points; points--) {
        memcpy(&last, p + 4 * (points - 1), 4);
        if (last) break;
    }
    return (struct text){scratch, utf8(p, points, scratch)};
}

int keys_digest(struct keys_hash h, const char *text, size_t len, seen_digest *out,
                struct seen_error *e) {
    if (h.detector) return seen_key(h.detector, text, len, out, e);
    *out = seen_hash(text, len, 0);
    return 0;
}

/* -- hashing a stretch of a column -------------------------------------------------------- */

struct some {
    struct keys_hash hash;
    seen_digest *digest;
    uint32_t *record;
    size_t n;
    struct seen_error *error;
    char *scratch;
};

static inline __attribute__((always_inline)) int hash_kind(const struct column *c, enum kind kind,
                                                           size_t from, size_t to, uint32_t number,
                                                           struct some *s) {
    char digits[24];
    for (size_t i = from; i < to; i++, number++) {
        if (is_null(c, i)) continue;
        struct text t = text_at(c, kind, i, digits, s->scratch);
        seen_digest *out = s->digest + s->n * s->hash.digests;
        int bad = keys_digest(s->hash, t.at, t.len, out, s->error);
        if (bad) return bad;
        s->record[s->n++] = number;
    }
    return 0;
}

/* Integers: the digits of several are written before the first is hashed, because a processor waits
 * where it reads in another width what it has just written. */
static int hash_integers(const struct column *c, size_t from, size_t to, uint32_t number,
                         struct some *s) {
    enum { GROUP = 32 };
    char digits[GROUP][24];
    struct text text[GROUP];
    for (; from < to; from += GROUP, number += GROUP) {
        size_t n = to - from < GROUP ? to - from : GROUP;
        for (size_t i = 0; i < n; i++) text[i] = text_at(c, INTEGER, from + i, digits[i], NULL);
        for (size_t i = 0; i < n; i++) {
            if (is_null(c, from + i)) continue;
            seen_digest *out = s->digest + s->n * s->hash.digests;
            int bad = keys_digest(s->hash, text[i].at, text[i].len, out, s->error);
            if (bad) return bad;
            s->record[s->n++] = number + (uint32_t)i;
        }
    }
    return 0;
}

/* Digests that are there already: of an iterable, or of a dictionary's values. */
static int take_digests(const struct column *c, size_t from, size_t to, uint32_t number,
                        struct some *s) {
    size_t m = s->hash.digests;
    for (size_t i = from; i < to; i++, number++) {
        if (is_null(c, i)) continue;
        size_t value = i;
        if (c->kind == DICTIONARY)
            value = load_integer(c->data + (ptrdiff_t)(c->first + i) * c->stride, c->width,
                                 c->is_signed);
        if (c->kind == DICTIONARY && value >= c->values->n) {
            s->error->code = SEEN_EINVAL;
            snprintf(s->error->text, sizeof s->error->text,
                     "an index of a dictionary column is outside of its dictionary");
            return SEEN_EINVAL;
        }
        if (c->null[value]) continue;
        memcpy(s->digest + s->n * m, c->digest + value * m, m * sizeof *s->digest);
        s->record[s->n++] = number;
    }
    return 0;
}

static int hash_column(struct column *c, size_t from, size_t to, uint32_t number, struct some *s);

/* Hashes each value of a dictionary once. */
static int hash_values(struct column *c, const struct some *outer) {
    struct column *values = c->values;
    size_t m = outer->hash.digests;
    c->digest = malloc((values->n + 1) * m * sizeof *c->digest);
    c->null = malloc(values->n + 1);
    uint32_t *record = malloc(KEYS_BATCH * sizeof *record);
    seen_digest *digest = malloc(KEYS_BATCH * m * sizeof *digest);
    int bad = !c->digest || !c->null || !record || !digest ? SEEN_ENOMEM : 0;
    if (bad) outer->error->code = bad, strcpy(outer->error->text, "out of memory");
    for (size_t from = 0; !bad && from < values->n; from += KEYS_BATCH) {
        size_t to = from + KEYS_BATCH < values->n ? from + KEYS_BATCH : values->n;
        struct some s = {outer->hash, digest, record, 0, outer->error, outer->scratch};
        memset(c->null + from, 1, to - from);
        bad = hash_column(values, from, to, 0, &s);
        for (size_t i = 0; !bad && i < s.n; i++) {
            c->null[from + record[i]] = false;
            memcpy(c->digest + (from + record[i]) * m, digest + i * m, m * sizeof *digest);
        }
    }
    free(record);
    free(digest);
    if (bad) {
        free(c->digest);
        c->digest = NULL;
    }
    return bad;
}

static int hash_column(struct column *c, size_t from, size_t to, uint32_t number, struct some *s) {
    switch (c->kind) {
    case INTEGER: return hash_integers(c, from, to, number, s);
    case FIXED: return hash_kind(c, FIXED, from, to, number, s);
    case UCS4: return hash_kind(c, UCS4, from, to, number, s);
    case OFFSET32: return hash_kind(c, OFFSET32, from, to, number, s);
    case OFFSET64: return hash_kind(c, OFFSET64, from, to, number, s);
    case VIEW: return hash_kind(c, VIEW, from, to, number, s);
    case DICTIONARY: {
        int bad = c->digest ? 0 : hash_values(c, s);
        return bad ? bad : take_digests(c, from, to, number, s);
    }
    case DIGEST: break;
    }
    return take_digests(c, from, to, number, s);
}

int keys_hash_some(struct keys *k, size_t from, seen_digest *out, uint32_t *record, size_t *n,
                   struct seen_error *e) {
    struct some s = {k->hash, out, record, 0, e, k->scratch};
    size_t begin = 0, end = from + KEYS_BATCH;
    int bad = 0;
    for (size_t i = 0; i < k->columns && begin < end && !bad; begin += k->column[i++].n) {
        struct column *c = k->column + i;
        if (begin + c->n <= from) continue;
        size_t first = from > begin ? from - begin : 0;
        size_t last = end - begin < c->n ? end - begin : c->n;
        bad = hash_column(c, first, last, (uint32_t)(begin + first - from), &s);
    }
    *n = s.n;
    return bad;
}

/* Only these refuse keys. */
static bool may_refuse(const seen_detector *d) {
    if (!d) return false;
    const struct seen_spec *spec = seen_spec_of(d);
    uint64_t hash = seen_spec_get_count(spec, "hash");
    return hash == SEEN_HASH_INT || hash == SEEN_HASH_RAW || seen_spec_has(spec, "bits");
}

bool keys_check(struct keys *k) {
    if (!may_refuse(k->hash.detector)) return true;
    seen_digest *digest = malloc(KEYS_BATCH * k->hash.digests * sizeof *digest);
    uint32_t *record = malloc(KEYS_BATCH * sizeof *record);
    struct seen_error e = {SEEN_ENOMEM, 0, "out of memory"};
    int bad = !digest || !record;
    for (size_t from = 0, n; !bad && from < k->n; from += KEYS_BATCH) {
        bad = keys_hash_some(k, from, digest, record, &n, &e);
        if (!bad || e.code != SEEN_EINVAL) continue;
        PyErr_Format(PyExc_ValueError, "record %zu: %s", from + (n ? record[n - 1] + 1 : 0),
                     e.text);
        e.code = 0;
    }
    free(digest);
    free(record);
    if (bad && e.code) engine_raise(&e);
    return !bad;
}

/* -- scalars ---------------------------------------------------------------- */

static bool big_integer(PyObject *key, PyObject **held, const char **text, size_t *len) {
    Py_ssize_t n;
    PyObject *digits = PyObject_Str(key);
    if (!digits || !(*text = PyUnicode_AsUTF8AndSize(digits, &n))) {
        Py_XDECREF(digits);
        return false;
    }
    *held = digits;
    *len = (size_t)n;
    return true;
}

static bool integer_text(PyObject *key, char digits[24], PyObject **held, const char **text,
                         size_t *len) {
    int overflow;
    long long value = PyLong_AsLongLongAndOverflow(key, &overflow);
    if (overflow) return big_integer(key, held, text, len);
    if (value == -1 && PyErr_Occurred()) return false;
    *text = decimal_signed(digits + 24, value);
    *len = (size_t)(digits + 24 - *text);
    return true;
}

/* UTF-8, for strings with lone surrogates as well: file names may have them. */
static bool string_text(PyObject *key, PyObject **held, const char **text, size_t *len) {
    Py_ssize_t n;
    *text = PyUnicode_AsUTF8AndSize(key, &n);
    if (!*text) {
        PyErr_Clear();
        char *bytes;
        *held = PyUnicode_AsEncodedString(key, "utf-8", "surrogatepass");
        if (!*held || PyBytes_AsStringAndSize(*held, &bytes, &n)) return false;
        *text = bytes;
    }
    *len = (size_t)n;
    return true;
}

bool keys_text(PyObject *key, char digits[24], PyObject **held, const char **text, size_t *len) {
    *held = NULL;
    if (PyUnicode_Check(key)) return string_text(key, held, text, len);
    if (PyBytes_Check(key)) {
        char *bytes;
        Py_ssize_t n;
        if (PyBytes_AsStringAndSize(key, &bytes, &n)) return false;
        *text = bytes;
        *len = (size_t)n;
        return true;
    }
    if (PyLong_Check(key) && !PyBool_Check(key)) return integer_text(key, digits, held, text, len);
    PyObject *type = PyObject_GetAttrString((PyObject *)Py_TYPE(key), "__name__");
    if (!type) return false;
    bool is_bool = PyBool_Check(key) || !PyUnicode_CompareWithASCIIString(type, "bool_");
    bool good = false;
    if (!is_bool && PyIndex_Check(key)) { /* NumPy's integers */
        PyObject *index = PyNumber_Index(key);
        good = index && integer_text(index, digits, held, text, len);
        Py_XDECREF(index);
    } else {
        PyErr_Format(
            PyExc_TypeError,
            "a key is bytes, str or int, and this one is %U; convert it, or join fields with "
            "seen.key()",
            type);
    }
    Py_DECREF(type);
    return good;
}

bool keys_is_null(PyObject *item) {
    if (item == Py_None) return true;
    if (PyUnicode_Check(item) || PyBytes_Check(item) || PyLong_Check(item)) return false;
    if (PyFloat_Check(item)) return isnan(PyFloat_AsDouble(item));
    PyObject *type = PyObject_GetAttrString((PyObject *)Py_TYPE(item), "__name__");
    bool null = type && (!PyUnicode_CompareWithASCIIString(type, "NAType") ||
                         !PyUnicode_CompareWithASCIIString(type, "NaTType"));
    Py_XDECREF(type);
    PyErr_Clear();
    return null;
}

/* -- keys as objects ---------------------------------------------------------------------- */

static PyObject *object_of(struct column *c, size_t i, char *scratch) {
    char digits[24];
    if (is_null(c, i)) Py_RETURN_NONE;
    if (c->kind == DICTIONARY) {
        size_t value =
            load_integer(c->data + (ptrdiff_t)(c->first + i) * c->stride, c->width, c->is_signed);
        return object_of(c->values, value, scratch);
    }
    struct text t = text_at(c, c->kind, i, digits, scratch);
    if (c->kind == INTEGER) {
        char text[25];
        memcpy(text, t.at, t.len);
        text[t.len] = 0;
        return PyLong_FromString(text, NULL, 10);
    }
    if (c->is_text) return PyUnicode_DecodeUTF8(t.at, (Py_ssize_t)t.len, "surrogatepass");
    return PyBytes_FromStringAndSize(t.at, (Py_ssize_t)t.len);
}

PyObject *keys_object(struct keys *k, size_t record) {
    for (size_t i = 0; i < k->columns; record -= k->column[i++].n)
        if (record < k->column[i].n) return object_of(k->column + i, record, k->scratch);
    Py_RETURN_NONE;
}
