/* merge.c - reads several files, each in order of time, as one, such as the logs of several hosts.
 *
 * Each file is a lane, which is cut into records as the reader does it.  A heap of lanes gives the
 * record with the earliest time.  Among equal times, the file named first comes first.  The output
 * is bytes again.  The reader cuts them a second time, so all later steps work as for one file.
 *
 * A record without a readable time follows the one before it.  So does a record that is too long:
 * its pieces are passed on as they come. */
#include "records/input.h"

#include "base/cli.h"
#include "records/columns.h"
#include "records/input_options.h"
#include "time/time.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum head { HEAD, ENDED, WAIT, FAILED };

struct lane {
    struct input in;
    struct splitter splitter;
    struct batch batch;
    size_t at;      /* the head, in batch */
    seen_time time; /* of the head */
    bool header_due, ended;
    bool passing; /* the buffer holds a part of a record that is too long */
};

struct merge {
    const struct input_options *input;
    seen_time latest; /* later times are ignored, as if they could not be read */
    struct layout layout;
    char *header; /* the first file's, with its end */
    size_t header_bare;
    const char *rest; /* the next bytes to go out */
    size_t left;      /* how many they are */
    bool unended;     /* the last record that went out had no end */
    struct lane **heap;
    size_t heads;         /* in heap */
    struct lane *pending; /* the lane whose next head is not known yet, or NULL */
    size_t begun;         /* lanes whose first head is known */
    char trouble[200];
    size_t n;
    struct lane lane[];
};

/* -- lanes --------------------------------------------------------------------------------- */

static bool refuse(struct merge *m, const char *text) {
    snprintf(m->trouble, sizeof m->trouble, "%s", text);
    return false;
}

static void resolve(struct merge *m, const struct header *header) {
    if (m->input->shape == SHAPE_NDJSON) columns_of_json(&m->layout);
    m->layout.cutting = input_options_cutting(m->input);
    columns_resolve(&m->layout, NULL, m->input->time, header);
    for (size_t i = 0; i < m->n; i++) {
        struct lane *l = &m->lane[i];
        l->splitter.format = input_options_format(m->input, false);
        l->batch.field = calloc(BATCH * m->layout.slots, sizeof *l->batch.field);
        if (!l->batch.field) die("out of memory for merging %zu files", m->n);
    }
}

/* Takes the names of the columns from the first file's header, which goes out first. */
static void first_header(struct merge *m, const char *line, size_t len, size_t bare) {
    struct header header;
    columns_read_header(&header, line, bare, m->input->delimiter, m->layout.cutting.quotes);
    resolve(m, &header);
    columns_free_header(&header);
    m->header = malloc(len + 1);
    if (!m->header) die("out of memory for the header line");
    memcpy(m->header, line, len);
    if (line[len - 1] != '\n') m->header[len++] = '\n';
    m->rest = m->header;
    m->left = len;
    m->header_bare = bare;
}

/* False: the header is not complete yet, or differs from the first file's. */
static bool take_header(struct merge *m, struct lane *l) {
    const char *begin = l->in.buf + l->in.begin;
    size_t len = l->in.end - l->in.begin, n;
    splitter_unfinished(&l->splitter);
    n = l->splitter.format->tail(&l->splitter, begin, begin + len);
    if (!n && l->ended) n = len;
    if (!n) return false;
    size_t bare = n - (begin[n - 1] == '\n');
    bare -= bare > 0 && begin[bare - 1] == '\r';
    if (!m->header)
        first_header(m, begin, n, bare);
    else if (bare != m->header_bare || memcmp(begin, m->header, bare) != 0)
        return refuse(m, "its header line differs from the first file's");
    l->in.begin += n;
    l->splitter.lines = l->splitter.tail_line - 1;
    l->header_due = false;
    return true;
}

/* Reads once.  HEAD: bytes have come, or the file has ended. */
static enum head read_more(struct merge *m, struct lane *l) {
    if (l->in.waits && !input_ready(&l->in, -1, false)) return WAIT;
    ssize_t got = input_fill(&l->in);
    m->latest = input_options_latest(m->input, input_options_clock(m->input));
    if (got > 0) return HEAD;
    if (got == 0) l->ended = true;
    if (got == 0 || errno == EINTR || errno == EAGAIN) return got == 0 ? HEAD : WAIT;
    refuse(m, input_trouble(&l->in, errno));
    return FAILED;
}

/* Fails if a file ends within quotes, because they would go on in the next file's records. */
static bool open_quote(struct merge *m, const struct lane *l) {
    if (!l->splitter.in_quotes) return false;
    snprintf(m->trouble, sizeof m->trouble, "the quote opened in line %ju is never closed",
             (uintmax_t)l->splitter.quote_line);
    return true;
}

/* Fails if a quoted field is longer than --max-field: its quote may be one that is never closed. */
static bool long_field(struct merge *m, const struct lane *l) {
    char most[32];
    if (!l->splitter.overrun) return false;
    seen_print_size(m->input->max_field, most, sizeof most);
    snprintf(m->trouble, sizeof m->trouble,
             "the quote opened in line %ju is not closed within %s; raise --max-field for longer "
             "fields, or read quotes as bytes: --no-quotes",
             (uintmax_t)l->splitter.quote_line, most);
    return true;
}

/* Finds the lane's next record. */
static enum head find_head(struct merge *m, struct lane *l) {
    while (l->at >= l->batch.n) {
        l->batch.n = l->at = 0;
        bool header = !l->header_due || take_header(m, l);
        if (header && m->input->shape != SHAPE_NDJSON) input_skip_mark(&l->in);
        if (header && l->in.begin < l->in.end) { /* cuts records off the buffer */
            const char *begin = l->in.buf + l->in.begin, *end = l->in.buf + l->in.end;
            l->in.begin += l->splitter.format->split(&l->splitter, begin, end, l->ended, &l->batch);
        }
        if (l->batch.n) break;
        if (*m->trouble) return FAILED;
        if (l->ended) return ENDED;
        splitter_unfinished(&l->splitter);
        l->splitter.format->tail(&l->splitter, l->in.buf + l->in.begin, l->in.buf + l->in.end);
        if (long_field(m, l)) return FAILED;
        if (l->in.end - l->in.begin > (size_t)m->input->max_record + 1) {
            l->passing = true;
            return l->header_due ? refuse(m, "the header line is too long"), FAILED : HEAD;
        }
        enum head got = read_more(m, l);
        if (got != HEAD) return got;
        if (l->ended && open_quote(m, l)) return FAILED;
    }
    const struct slice *f = &l->batch.field[l->at * m->layout.slots + (uint32_t)m->layout.time];
    seen_time t;
    if (slice_time(f, m->input->time_format, &t) && t <= m->latest) l->time = t;
    return HEAD;
}

/* -- the heap ------------------------------------------------------------------------------ */

static bool before(const struct lane *a, const struct lane *b) {
    return a->time != b->time ? a->time < b->time : a < b;
}

static void sift_down(struct merge *m) {
    struct lane **heap = m->heap, *l = heap[0];
    size_t i = 0;
    for (size_t child; (child = 2 * i + 1) < m->heads; i = child) {
        child += child + 1 < m->heads && before(heap[child + 1], heap[child]);
        if (!before(heap[child], l)) break;
        heap[i] = heap[child];
    }
    heap[i] = l;
}

/* Finds the heads of all lanes.  False, with errno: one is not known yet, or a file has failed. */
static bool all_known(struct merge *m) {
    while (m->pending || m->begun < m->n) {
        struct lane *l = m->pending ? m->pending : &m->lane[m->begun];
        enum head head = find_head(m, l);
        bool first = l == &m->lane[m->begun];
        m->pending = l;
        if (head == WAIT || head == FAILED) {
            errno = head == WAIT ? EAGAIN : EBADMSG;
            return false;
        }
        m->pending = NULL;
        m->begun += first;
        if (first && head == HEAD) { /* a new lane rises in the heap */
            size_t i = m->heads++;
            for (; i > 0 && before(l, m->heap[(i - 1) / 2]); i = (i - 1) / 2)
                m->heap[i] = m->heap[(i - 1) / 2];
            m->heap[i] = l;
        }
        if (first) continue;
        if (head == ENDED) m->heap[0] = m->heap[--m->heads];
        if (m->heads) sift_down(m);
    }
    return true;
}

/* -- out ----------------------------------------------------------------------------------- */

/* Passes on the next piece of a record that is too long. */
static bool pass(struct merge *m, struct lane *l) {
    l->in.begin = l->in.end;
    enum head got = read_more(m, l);
    if (got == WAIT || got == FAILED) {
        errno = got == WAIT ? EAGAIN : EBADMSG;
        return false;
    }
    char *begin = l->in.buf + l->in.begin, *end = l->in.buf + l->in.end;
    size_t n = l->splitter.format->tail(&l->splitter, begin, end);
    if (long_field(m, l) || (l->ended && open_quote(m, l))) {
        errno = EBADMSG;
        return false;
    }
    l->passing = !n && !l->ended;
    l->splitter.lines = l->splitter.tail_line - 1;
    m->unended = l->ended;
    m->rest = begin;
    m->left = n ? n : (size_t)(end - begin);
    l->in.begin += m->left;
    m->pending = l->passing ? NULL : l;
    return true;
}

/* Finds the next bytes to go out.  False: errno says why there are none yet; 0 means the end. */
static bool next_rest(struct merge *m) {
    static const char ends[] = {'\n', '\0'};
    if (m->unended) {
        m->unended = false;
        m->rest = m->input->end ? &ends[0] : &ends[1];
        m->left = 1;
        return true;
    }
    if (!all_known(m)) return false;
    errno = 0;
    if (m->left) return true; /* the header has come */
    if (!m->heads) return false;
    struct lane *l = m->heap[0];
    if (!l->passing) {
        const struct record *r = &l->batch.record[l->at++];
        m->rest = r->at;
        m->left = r->len;
        m->unended = r->at[r->len - 1] != m->input->end;
        m->pending = l;
        return true;
    }
    if (l->in.begin < l->in.end) {
        m->rest = l->in.buf + l->in.begin;
        m->left = l->in.end - l->in.begin;
        l->in.begin = l->in.end;
        return true;
    }
    return pass(m, l);
}

static ssize_t read_merged(void *ctx, char *out, size_t room) {
    struct merge *m = ctx;
    size_t n = 0;
    while (n < room && (m->left || next_rest(m))) {
        size_t piece = m->left < room - n ? m->left : room - n;
        memcpy(out + n, m->rest, piece);
        m->rest += piece;
        m->left -= piece;
        n += piece;
    }
    return n ? (ssize_t)n : errno ? -1 : 0;
}

static bool is_ready(const void *ctx, int wake, bool wait) {
    const struct merge *m = ctx;
    if (m->left || m->unended) return true;
    const struct lane *l = m->pending ? m->pending : m->heads ? m->heap[0] : NULL;
    return !l || !l->in.waits || input_ready(&l->in, wake, wait);
}

static const char *trouble_of(const void *ctx, const char **name) {
    const struct merge *m = ctx;
    const struct lane *l = m->pending ? m->pending : m->heap[0];
    *name = l->in.name;
    return m->trouble;
}

/* -- life ---------------------------------------------------------------------------------- */

static struct merge *new_merge(const struct input_options *s) {
    size_t n = s->file_count;
    struct merge *m = calloc(1, sizeof *m + n * sizeof *m->lane);
    if (m) m->heap = calloc(n, sizeof *m->heap);
    if (!m || !m->heap) die("out of memory for merging %zu files", n);
    m->input = s;
    m->n = n;
    for (size_t i = 0; i < n; i++) {
        struct lane *l = &m->lane[i];
        input_init(&l->in, s);
        if (input_open(&l->in, s->files[i]))
            die("cannot open %s: %s", l->in.name, input_trouble(&l->in, errno));
        l->splitter = input_options_splitter(s, &m->layout);
        l->header_due = s->header;
    }
    if (!s->header) resolve(m, input_options_names(s));
    return m;
}

static void free_merge(void *ctx) {
    struct merge *m = ctx;
    for (size_t i = 0; i < m->n; i++) {
        free(m->lane[i].batch.field);
        input_free(&m->lane[i].in);
    }
    columns_free(&m->layout);
    free(m->header);
    free(m->heap);
    free(m);
}

void input_open_merged(struct input *in, const struct input_options *options) {
    static const struct input_feed feed = {read_merged, is_ready, trouble_of, free_merge};
    struct merge *m = new_merge(options);
    bool waits = false;
    for (size_t i = 0; i < m->n; i++) waits |= m->lane[i].in.waits;
    input_open_feed(in, "the merged files", &feed, m, waits);
}
