/* sketches.c - the types behind seen.Counter and seen.Top.  Calls hold a lock, as in window.c. */
#include "engine.h"

#include <math.h>
#include <pthread.h>
#include <string.h>

/* -- counters ----------------------------------------------------------------------------- */

typedef struct {
    PyObject_HEAD seen_counter *counter;
    pthread_mutex_t lock;
} counter;

static PyTypeObject *counter_type, *top_type;

static void take(pthread_mutex_t *lock) {
    if (!pthread_mutex_trylock(lock)) return;
    Py_BEGIN_ALLOW_THREADS;
    pthread_mutex_lock(lock);
    Py_END_ALLOW_THREADS;
}

static counter *counter_alloc(PyTypeObject *type) {
    allocfunc make = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    counter *c = (counter *)make(type, 0);
    if (c) pthread_mutex_init(&c->lock, NULL);
    return c;
}

static PyObject *counter_make(PyTypeObject *type, PyObject *args, PyObject *names) {
    static char *keywords[] = {"error", "kind", NULL};
    static const char *const kinds[] = {"hll", "fm", "set"};
    double error = .01;
    const char *kind = "hll";
    struct seen_error e;
    if (!PyArg_ParseTupleAndKeywords(args, names, "|ds:Counter", keywords, &error, &kind))
        return NULL;
    uint32_t k = 0;
    while (k < 3 && strcmp(kind, kinds[k]) != 0) k++;
    if (k == 3) return PyErr_Format(PyExc_ValueError, "unknown kind '%s': hll, fm or set", kind);
    counter *c = counter_alloc(type);
    if (c && seen_counter_new(&c->counter, k, error, 0, NULL, &e)) {
        c->counter = NULL;
        Py_DECREF(c);
        return engine_raise(&e);
    }
    return (PyObject *)c;
}

static void counter_dealloc(PyObject *self) {
    PyTypeObject *type = Py_TYPE(self);
    seen_counter_free(((counter *)self)->counter);
    pthread_mutex_destroy(&((counter *)self)->lock);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF(type);
}

static bool digest_of(PyObject *key, seen_digest *digest) {
    char digits[24];
    PyObject *held;
    const char *text;
    size_t len;
    bool good = keys_text(key, digits, &held, &text, &len);
    if (good) *digest = seen_hash(text, len, 0);
    Py_XDECREF(held);
    return good;
}

static PyObject *counter_add(PyObject *self, PyObject *key) {
    counter *c = (counter *)self;
    seen_digest digest;
    if (!digest_of(key, &digest)) return NULL;
    take(&c->lock);
    seen_counter_add(c->counter, 1, &digest);
    pthread_mutex_unlock(&c->lock);
    Py_RETURN_NONE;
}

struct room {
    seen_digest digest[KEYS_BATCH];
    uint32_t record[KEYS_BATCH];
};

static PyObject *counter_update(PyObject *self, PyObject *object) {
    counter *c = (counter *)self;
    struct seen_error e = {SEEN_ENOMEM, 0, "out of memory"};
    struct keys *keys = keys_open(object, (struct keys_hash){NULL, 1});
    if (!keys) return NULL;
    struct room *r = malloc(sizeof *r);
    int bad = r ? 0 : SEEN_ENOMEM;
    Py_BEGIN_ALLOW_THREADS;
    pthread_mutex_lock(&c->lock);
    for (size_t from = 0, n; !bad && from < keys_count(keys); from += KEYS_BATCH) {
        bad = keys_hash_some(keys, from, r->digest, r->record, &n, &e);
        if (!bad) seen_counter_add(c->counter, n, r->digest);
    }
    pthread_mutex_unlock(&c->lock);
    Py_END_ALLOW_THREADS;
    free(r);
    keys_close(keys);
    if (bad) return engine_raise(&e);
    Py_RETURN_NONE;
}

static double estimate_of(PyObject *self, double *error) {
    counter *c = (counter *)self;
    take(&c->lock);
    double n = seen_counter_estimate(c->counter, error);
    pthread_mutex_unlock(&c->lock);
    return n;
}

static PyObject *counter_estimate(PyObject *self, PyObject *ignored) {
    (void)ignored;
    return PyFloat_FromDouble(estimate_of(self, NULL));
}

static PyObject *counter_error(PyObject *self, void *ignored) {
    (void)ignored;
    double error;
    estimate_of(self, &error);
    return PyFloat_FromDouble(error);
}

static Py_ssize_t counter_length(PyObject *self) {
    return (Py_ssize_t)llround(estimate_of(self, NULL));
}

static PyObject *counter_clear(PyObject *self, PyObject *ignored) {
    (void)ignored;
    counter *c = (counter *)self;
    take(&c->lock);
    seen_counter_clear(c->counter);
    pthread_mutex_unlock(&c->lock);
    Py_RETURN_NONE;
}

static PyObject *counter_merge(PyObject *self, PyObject *other) {
    counter *into = (counter *)self, *from = (counter *)other;
    struct seen_error e;
    int bad;
    if (!PyObject_TypeCheck(other, counter_type))
        return PyErr_SetString(PyExc_TypeError, "merge() takes another counter"), NULL;
    if (into == from) Py_RETURN_NONE;
    counter *first = into < from ? into : from, *second = into < from ? from : into;
    Py_BEGIN_ALLOW_THREADS;
    pthread_mutex_lock(&first->lock);
    pthread_mutex_lock(&second->lock);
    bad = seen_counter_merge(into->counter, from->counter, &e);
    pthread_mutex_unlock(&second->lock);
    pthread_mutex_unlock(&first->lock);
    Py_END_ALLOW_THREADS;
    if (bad) return engine_raise(&e);
    Py_RETURN_NONE;
}

static PyObject *finish_dump(struct engine_bytes *bytes, int bad, struct seen_error *e) {
    if (bad && e->code == SEEN_EIO)
        *e = (struct seen_error){SEEN_ENOMEM, 0, "no memory for a snapshot"};
    PyObject *out =
        bad ? engine_raise(e) : PyBytes_FromStringAndSize(bytes->text, (Py_ssize_t)bytes->len);
    free(bytes->text);
    return out;
}

static PyObject *counter_dump(PyObject *self, PyObject *ignored) {
    (void)ignored;
    counter *c = (counter *)self;
    struct engine_bytes bytes = {0};
    struct seen_error e;
    take(&c->lock);
    int bad = seen_counter_save(c->counter, (struct seen_writer){engine_write, &bytes}, &e);
    pthread_mutex_unlock(&c->lock);
    return finish_dump(&bytes, bad, &e);
}

static const struct seen_error behind = {SEEN_EFORMAT, 0,
                                         "there are bytes behind the end of the snapshot"};

static PyObject *counter_load(PyObject *type, PyObject *bytes) {
    Py_buffer view;
    struct seen_error e;
    counter *c = counter_alloc((PyTypeObject *)type);
    if (!c) return NULL;
    if (PyObject_GetBuffer(bytes, &view, PyBUF_SIMPLE)) {
        Py_DECREF(c);
        return NULL;
    }
    struct engine_source source = {view.buf, (const char *)view.buf + view.len};
    int bad =
        seen_counter_load(&c->counter, (struct seen_reader){engine_read, &source}, 0, NULL, &e);
    if (bad) c->counter = NULL;
    if (!bad && source.at != source.end) bad = SEEN_EFORMAT, e = behind;
    PyBuffer_Release(&view);
    if (!bad) return (PyObject *)c;
    Py_DECREF(c);
    return engine_raise(&e);
}

static PyMethodDef counter_methods[] = {
    {"add", counter_add, METH_O, "add($self, key)\n--\n\nCounts one key (bytes, str or int)."},
    {"update", counter_update, METH_O,
     "update($self, keys)\n--\n\nCounts a batch: an array, an Arrow column, a buffer or an "
     "iterable."},
    {"estimate", counter_estimate, METH_NOARGS,
     "estimate($self)\n--\n\nThe number of different keys."},
    {"clear", counter_clear, METH_NOARGS, "clear($self)\n--\n\nForgets all keys."},
    {"merge", counter_merge, METH_O,
     "merge($self, other)\n--\n\nAdds the keys of another counter: counts the union of both."},
    {"__bytes__", counter_dump, METH_NOARGS,
     "__bytes__($self)\n--\n\nThe snapshot of this counter."},
    {"_load", counter_load, METH_O | METH_CLASS, NULL},
    {0}};

static PyGetSetDef counter_properties[] = {
    {"error", counter_error, NULL,
     "The relative standard error of the estimate now; 0: it is exact.", NULL},
    {0}};

static PyType_Slot counter_slots[] = {
    {Py_tp_new, (void *)counter_make},      {Py_tp_dealloc, (void *)counter_dealloc},
    {Py_tp_methods, counter_methods},       {Py_tp_getset, counter_properties},
    {Py_sq_length, (void *)counter_length}, {0, NULL}};

static PyType_Spec counter_spec = {"seen._engine.Counter", sizeof(counter), 0,
                                   Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, counter_slots};

/* -- the most frequent keys --------------------------------------------------------------- */

typedef struct {
    PyObject_HEAD seen_top *top;
    PyObject *keys; /* a list: the key of each counter */
    uint64_t k;
    pthread_mutex_t lock;
} top;

static top *top_alloc(PyTypeObject *type, uint64_t k) {
    allocfunc make = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    top *t = (top *)make(type, 0);
    if (!t) return NULL;
    pthread_mutex_init(&t->lock, NULL);
    t->k = k;
    t->keys = PyList_New(0);
    if (!t->keys) Py_CLEAR(t);
    return t;
}

static PyObject *top_make(PyTypeObject *type, PyObject *args, PyObject *names) {
    static char *keywords[] = {"k", NULL};
    long long k;
    struct seen_error e;
    if (!PyArg_ParseTupleAndKeywords(args, names, "L:Top", keywords, &k)) return NULL;
    if (k < 1) return PyErr_SetString(PyExc_ValueError, "Top(k): k is at least 1"), NULL;
    top *t = top_alloc(type, (uint64_t)k);
    if (t && seen_top_new(&t->top, (uint64_t)k, NULL, &e)) {
        t->top = NULL;
        Py_DECREF(t);
        return engine_raise(&e);
    }
    return (PyObject *)t;
}

static void top_dealloc(PyObject *self) {
    top *t = (top *)self;
    PyTypeObject *type = Py_TYPE(self);
    seen_top_free(t->top);
    Py_XDECREF(t->keys);
    pthread_mutex_destroy(&t->lock);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF(type);
}

/* Counts a key, and keeps it beside its counter.  `make` gives the key as an object. */
static bool count(top *t, seen_digest digest, PyObject *key, struct keys *keys, size_t record) {
    int taken;
    size_t i = seen_top_add(t->top, digest, &taken);
    if (!taken) return true;
    PyObject *object = key ? Py_NewRef(key) : keys_object(keys, record);
    while (object && (size_t)PyList_Size(t->keys) <= i)
        if (PyList_Append(t->keys, Py_None)) Py_CLEAR(object);
    return object && !PyList_SetItem(t->keys, (Py_ssize_t)i, object);
}

static PyObject *top_add(PyObject *self, PyObject *key) {
    top *t = (top *)self;
    seen_digest digest;
    if (!digest_of(key, &digest)) return NULL;
    take(&t->lock);
    bool good = count(t, digest, key, NULL, 0);
    pthread_mutex_unlock(&t->lock);
    return good ? Py_NewRef(Py_None) : NULL;
}

/* Iterables go key by key: their objects are what is kept. */
static PyObject *top_update_items(PyObject *self, PyObject *object) {
    PyObject *items = PyObject_GetIter(object), *item;
    if (!items) return NULL;
    bool good = true;
    while (good && (item = PyIter_Next(items))) {
        if (!keys_is_null(item)) {
            PyObject *done = top_add(self, item);
            good = done != NULL;
            Py_XDECREF(done);
        }
        Py_DECREF(item);
    }
    Py_DECREF(items);
    if (!good || PyErr_Occurred()) return NULL;
    Py_RETURN_NONE;
}

static bool is_plain_iterable(PyObject *object) {
    static const char *const batches[] = {"__arrow_c_stream__", "__arrow_c_array__", "__array__"};
    if (PyUnicode_Check(object) || PyBytes_Check(object) || PyObject_CheckBuffer(object))
        return false;
    for (size_t i = 0; i < 3; i++) {
        PyObject *method = PyObject_GetAttrString(object, batches[i]);
        PyErr_Clear();
        Py_XDECREF(method);
        if (method) return false;
    }
    return true;
}

static PyObject *top_update(PyObject *self, PyObject *object) {
    top *t = (top *)self;
    struct seen_error e = {SEEN_ENOMEM, 0, "out of memory"};
    if (is_plain_iterable(object)) return top_update_items(self, object);
    struct keys *keys = keys_open(object, (struct keys_hash){NULL, 1});
    struct room *r = keys ? malloc(sizeof *r) : NULL;
    int bad = r ? 0 : SEEN_ENOMEM;
    bool good = true;
    for (size_t from = 0, n; !bad && good && from < keys_count(keys); from += KEYS_BATCH) {
        bad = keys_hash_some(keys, from, r->digest, r->record, &n, &e);
        take(&t->lock);
        for (size_t i = 0; !bad && good && i < n; i++)
            good = count(t, r->digest[i], NULL, keys, from + r->record[i]);
        pthread_mutex_unlock(&t->lock);
    }
    free(r);
    if (!keys) return NULL;
    keys_close(keys);
    if (!good) return NULL;
    if (bad) return engine_raise(&e);
    Py_RETURN_NONE;
}

static PyObject *top_bound(PyObject *self, PyObject *key) {
    top *t = (top *)self;
    seen_digest digest;
    if (!digest_of(key, &digest)) return NULL;
    take(&t->lock);
    uint64_t bound = seen_top_bound(t->top, digest);
    pthread_mutex_unlock(&t->lock);
    return PyLong_FromUnsignedLongLong(bound);
}

/* _list() -> [(key, count, error), ...], the highest count first */
static PyObject *top_list(PyObject *self, PyObject *ignored) {
    (void)ignored;
    top *t = (top *)self;
    struct seen_heavy *heavy = malloc(t->k * sizeof *heavy);
    if (!heavy) return PyErr_NoMemory();
    take(&t->lock);
    size_t n = seen_top_list(t->top, heavy);
    PyObject *out = PyList_New(0);
    for (size_t i = 0; out && i < n; i++) {
        PyObject *key = heavy[i].counter < (size_t)PyList_Size(t->keys)
                            ? PyList_GetItem(t->keys, (Py_ssize_t)heavy[i].counter)
                            : Py_None;
        PyObject *row = Py_BuildValue("(OKK)", key, (unsigned long long)heavy[i].count,
                                      (unsigned long long)heavy[i].error);
        if (!row || PyList_Append(out, row)) Py_CLEAR(out);
        Py_XDECREF(row);
    }
    pthread_mutex_unlock(&t->lock);
    free(heavy);
    return out;
}

static PyObject *top_dump(PyObject *self, PyObject *ignored) {
    (void)ignored;
    top *t = (top *)self;
    struct engine_bytes bytes = {0};
    struct seen_error e;
    take(&t->lock);
    int bad = seen_top_save(t->top, (struct seen_writer){engine_write, &bytes}, &e);
    PyObject *keys = PyList_GetSlice(t->keys, 0, PyList_Size(t->keys));
    pthread_mutex_unlock(&t->lock);
    PyObject *text = finish_dump(&bytes, bad, &e);
    return text && keys ? Py_BuildValue("(KNN)", (unsigned long long)t->k, text, keys)
                        : (Py_XDECREF(text), Py_XDECREF(keys), NULL);
}

/* _load(k, bytes, keys) */
static PyObject *top_load(PyObject *type, PyObject *args) {
    unsigned long long k;
    Py_buffer view;
    PyObject *keys;
    struct seen_error e;
    if (!PyArg_ParseTuple(args, "Ky*O!:_load", &k, &view, &PyList_Type, &keys)) return NULL;
    struct engine_source source = {view.buf, (const char *)view.buf + view.len};
    top *t = top_alloc((PyTypeObject *)type, k);
    int bad = !t ? SEEN_ENOMEM
                 : seen_top_load(&t->top, (struct seen_reader){engine_read, &source}, 0, NULL, &e);
    PyBuffer_Release(&view);
    if (!t) return NULL;
    if (bad) t->top = NULL;
    if (!bad && source.at != source.end) bad = SEEN_EFORMAT, e = behind;
    struct seen_heavy *heavy = bad ? NULL : calloc(seen_top_bytes(t->top) / 16 + 1, sizeof *heavy);
    if (heavy) { /* k is as large as its counters say, and each of them has its key */
        size_t n = seen_top_list(t->top, heavy), most = 0;
        for (size_t i = 0; i < n; i++)
            most = heavy[i].counter >= most ? heavy[i].counter + 1 : most;
        if (n > k || most > (size_t)PyList_Size(keys) || k > seen_top_bytes(t->top) / 16) {
            e = (struct seen_error){SEEN_EFORMAT, 0, "the keys do not belong to the snapshot"};
            bad = SEEN_EFORMAT;
        }
    } else if (!bad) {
        e = (struct seen_error){SEEN_ENOMEM, 0, "out of memory"};
        bad = SEEN_ENOMEM;
    }
    free(heavy);
    if (bad) {
        Py_DECREF(t);
        return engine_raise(&e);
    }
    Py_DECREF(t->keys);
    t->keys = PyList_GetSlice(keys, 0, PyList_Size(keys));
    if (!t->keys) Py_CLEAR(t);
    return (PyObject *)t;
}

static PyObject *top_k(PyObject *self, void *ignored) {
    (void)ignored;
    return PyLong_FromUnsignedLongLong(((top *)self)->k);
}

static PyMethodDef top_methods[] = {
    {"add", top_add, METH_O,
     "add($self, key)\n--\n\nCounts one record of a key (bytes, str or int)."},
    {"update", top_update, METH_O,
     "update($self, keys)\n--\n\nCounts a batch: an array, an Arrow column, a buffer or an "
     "iterable."},
    {"bound", top_bound, METH_O,
     "bound($self, key)\n--\n\nAn upper bound for the number of records of a key."},
    {"_list", top_list, METH_NOARGS, NULL},
    {"_dump", top_dump, METH_NOARGS, NULL},
    {"_load", top_load, METH_VARARGS | METH_CLASS, NULL},
    {0}};

static PyGetSetDef top_properties[] = {{"k", top_k, NULL, "How many counters there are.", NULL},
                                       {0}};

static PyType_Slot top_slots[] = {{Py_tp_new, (void *)top_make},
                                  {Py_tp_dealloc, (void *)top_dealloc},
                                  {Py_tp_methods, top_methods},
                                  {Py_tp_getset, top_properties},
                                  {0, NULL}};

static PyType_Spec top_spec = {"seen._engine.Top", sizeof(top), 0,
                               Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, top_slots};

int sketches_register(PyObject *module) {
    counter_type = (PyTypeObject *)PyType_FromModuleAndSpec(module, &counter_spec, NULL);
    top_type = (PyTypeObject *)PyType_FromModuleAndSpec(module, &top_spec, NULL);
    if (!counter_type || !top_type) return -1;
    if (PyModule_AddObjectRef(module, "Counter", (PyObject *)counter_type)) return -1;
    return PyModule_AddObjectRef(module, "Top", (PyObject *)top_type);
}
