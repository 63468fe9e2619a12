/* batch.c - batches of a window: hashed and judged a thousand records at once, without the GIL. */
#include "window.h"

#include <string.h>

enum work { WORK_MASK, WORK_VERDICTS, WORK_CONTAINS, WORK_FORGET };

struct job {
    window *w;
    enum work work;
    struct keys *keys;
    const seen_time *times; /* NULL: all at `at` */
    seen_time at;
    uint64_t within;
    uint8_t *out;
    struct seen_error error;
};

struct room {
    seen_digest digest[KEYS_BATCH * SEEN_MAX_DIGESTS];
    seen_time time[KEYS_BATCH];
    uint32_t record[KEYS_BATCH];
    uint8_t verdict[KEYS_BATCH];
};

static int judge(struct job *j, struct room *r, size_t from, size_t n) {
    seen_detector *d = j->w->detector;
    if (j->work == WORK_FORGET) return seen_forget(d, n, r->digest, &j->error);
    if (j->work == WORK_CONTAINS) {
        if (j->w->timed)
            seen_query_at(d, n, r->digest, j->at, j->within, r->verdict);
        else
            seen_query(d, n, r->digest, j->within, r->verdict);
        return 0;
    }
    if (!j->w->timed) return seen_observe(d, n, r->digest, r->verdict), 0;
    for (size_t i = 0; i < n; i++) r->time[i] = j->times ? j->times[from + r->record[i]] : j->at;
    seen_observe_at(d, n, r->digest, r->time, r->verdict);
    return 0;
}

/* Writes what is returned; records without a key are new, and not in the window. */
static void note(struct job *j, const struct room *r, size_t from, size_t count, size_t n) {
    if (j->work == WORK_FORGET) return;
    uint8_t none = j->work == WORK_MASK ? 1 : j->work == WORK_VERDICTS ? SEEN_NEW : 0;
    if (n < count) memset(j->out + from, none, count);
    for (size_t i = 0; i < n; i++) {
        uint8_t v = r->verdict[i];
        j->out[from + r->record[i]] = j->work == WORK_MASK       ? v == SEEN_NEW
                                      : j->work == WORK_VERDICTS ? v
                                                                 : v != SEEN_NEW;
    }
}

static int run(struct job *j, struct room *r) {
    size_t all = keys_count(j->keys), n = 0;
    for (size_t from = 0; from < all; from += KEYS_BATCH) {
        size_t count = all - from < KEYS_BATCH ? all - from : KEYS_BATCH;
        int bad = keys_hash_some(j->keys, from, r->digest, r->record, &n, &j->error);
        if (!bad && n) bad = judge(j, r, from, n);
        if (bad) return bad;
        note(j, r, from, count, n);
    }
    return 0;
}

/* Without the GIL, if the batch is worth it. */
static int run_unlocked(struct job *j) {
    struct room *r = malloc(sizeof *r);
    int bad;
    if (!r) {
        j->error = (struct seen_error){SEEN_ENOMEM, 0, "out of memory"};
        return SEEN_ENOMEM;
    }
    Py_BEGIN_ALLOW_THREADS;
    pthread_mutex_lock(&j->w->lock);
    bad = run(j, r);
    pthread_mutex_unlock(&j->w->lock);
    Py_END_ALLOW_THREADS;
    free(r);
    return bad;
}

static bool batch_times(struct job *j, PyObject *given, Py_buffer *view) {
    window *w = j->w;
    if (j->work == WORK_FORGET) return true;
    if (j->work == WORK_CONTAINS) return window_query_time(w, given, &j->at);
    char mode = given == Py_None ? MODE_CLOCK : MODE_TIMES;
    if (!window_may(w, mode)) return false;
    if (mode == MODE_CLOCK) {
        if (w->timed && !window_now(w, &j->at)) return false;
    } else {
        if (!engine_times(given, keys_count(j->keys), view)) return false;
        j->times = view->buf;
    }
    if (w->timed) w->mode = mode;
    return true;
}

/* _batch(work, keys, times, within) -> bytearray of n, or None */
PyObject *window_batch(PyObject *self, PyObject *args) {
    struct job j = {.w = (window *)self, .error = {SEEN_EINVAL, 0, ""}};
    int work;
    PyObject *keys, *times, *out = NULL;
    unsigned long long within;
    Py_buffer view = {0};
    if (!PyArg_ParseTuple(args, "iOOK:_batch", &work, &keys, &times, &within)) return NULL;
    j.work = (enum work)work;
    j.within = within;
    j.keys = keys_open(keys, (struct keys_hash){j.w->detector, j.w->digests});
    if (!j.keys) return NULL;
    if (keys_check(j.keys) && batch_times(&j, times, &view)) {
        out = PyByteArray_FromStringAndSize(NULL, (Py_ssize_t)keys_count(j.keys));
        if (out) j.out = (uint8_t *)PyByteArray_AsString(out);
        if (out && run_unlocked(&j)) {
            Py_CLEAR(out);
            engine_raise(&j.error);
        }
    }
    if (view.obj) PyBuffer_Release(&view);
    keys_close(j.keys);
    return out;
}
