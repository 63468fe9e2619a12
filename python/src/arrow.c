/* arrow.c - columns of Arrow by its PyCapsule interface: text, binary, integers, dictionaries. */
#include "columns.h"

#include <string.h>

static bool arrow_type(struct column *c, const char *f) {
    static const char integers[] = "cCsSiIlL";
    const char *integer = *f ? strchr(integers, *f) : NULL;
    if (integer && !f[1]) {
        c->kind = INTEGER;
        c->width = (size_t)1 << (integer - integers) / 2;
        c->is_signed = (integer - integers) % 2 == 0;
    } else if (!strcmp(f, "u") || !strcmp(f, "z")) {
        c->kind = OFFSET32;
    } else if (!strcmp(f, "U") || !strcmp(f, "Z")) {
        c->kind = OFFSET64;
    } else if (!strcmp(f, "vu") || !strcmp(f, "vz")) {
        c->kind = VIEW;
    } else if (!strncmp(f, "w:", 2)) {
        c->kind = FIXED;
        c->width = (size_t)strtoul(f + 2, NULL, 10);
    } else {
        PyErr_Format(PyExc_TypeError,
                     "keys are bytes, str or int, and this Arrow column has the type '%s'%s", f,
                     !strcmp(f, "+s") ? ": pass one column, or join columns to one of text" : "");
        return false;
    }
    c->is_text = strchr(f, 'u') || strchr(f, 'U');
    c->stride = (ptrdiff_t)c->width;
    return true;
}

static bool arrow_fill(struct column *c, const struct ArrowSchema *s, const struct ArrowArray *a) {
    if (!arrow_type(c, s->format)) return false;
    c->n = (size_t)a->length;
    c->first = (size_t)a->offset;
    c->valid = a->n_buffers && a->null_count ? a->buffers[0] : NULL;
    bool offsets = c->kind == OFFSET32 || c->kind == OFFSET64;
    if (a->n_buffers < (offsets ? 3 : 2)) {
        PyErr_SetString(PyExc_ValueError, "an Arrow column lacks a buffer");
        return false;
    }
    c->offsets = a->buffers[1];
    c->data = a->buffers[offsets ? 2 : 1];
    if (!c->data) c->data = ""; /* only empty keys */
    c->bodies = c->kind == VIEW ? (const void **)a->buffers + 2 : NULL;
    if (!s->dictionary) return true;
    c->kind = DICTIONARY;
    c->values = calloc(1, sizeof *c->values);
    if (!c->values) return PyErr_NoMemory(), false;
    if (!a->dictionary || s->dictionary->dictionary) {
        PyErr_SetString(PyExc_TypeError, "a dictionary column must have one dictionary of values");
        return false;
    }
    return arrow_fill(c->values, s->dictionary, a->dictionary);
}

static bool arrow_column(struct keys *k, const struct ArrowSchema *s, struct ArrowArray *a,
                         bool owned) {
    struct column *c = columns_add(k, INTEGER, 0);
    if (!c) {
        if (owned) a->release(a);
        return false;
    }
    if (owned) c->array = *a;
    bool good = arrow_fill(c, s, a);
    k->n += good ? c->n : 0;
    return good;
}

static bool open_stream(struct keys *k, PyObject *capsule) {
    struct ArrowArrayStream *stream = PyCapsule_GetPointer(capsule, "arrow_array_stream");
    struct ArrowSchema schema = {0};
    if (!stream) return false;
    bool good = !stream->get_schema(stream, &schema);
    bool raised = false;
    while (good) {
        struct ArrowArray array = {0};
        if (!(good = !stream->get_next(stream, &array)) || !array.release) break;
        if (!arrow_column(k, &schema, &array, true)) raised = true;
        if (raised) break;
    }
    if (!good) {
        const char *why = stream->get_last_error(stream);
        PyErr_Format(PyExc_ValueError, "cannot read an Arrow stream: %s",
                     why ? why : "no reason given");
    }
    if (schema.release) schema.release(&schema);
    return good && !raised;
}

static bool open_array(struct keys *k, PyObject *pair) {
    PyObject *first = PySequence_GetItem(pair, 0), *second = PySequence_GetItem(pair, 1);
    struct ArrowSchema *schema = first ? PyCapsule_GetPointer(first, "arrow_schema") : NULL;
    struct ArrowArray *array =
        schema && second ? PyCapsule_GetPointer(second, "arrow_array") : NULL;
    bool good = array && arrow_column(k, schema, array, false);
    Py_XDECREF(first);
    Py_XDECREF(second);
    return good;
}

int columns_of_arrow(struct keys *k, PyObject *object) {
    PyObject *method = PyObject_GetAttrString(object, "__arrow_c_stream__");
    bool stream = method != NULL;
    if (!stream) {
        PyErr_Clear();
        method = PyObject_GetAttrString(object, "__arrow_c_array__");
    }
    if (!method) return PyErr_Clear(), 0;
    k->held = PyObject_CallObject(method, NULL);
    Py_DECREF(method);
    if (!k->held) return -1;
    return (stream ? open_stream(k, k->held) : open_array(k, k->held)) ? 1 : -1;
}
