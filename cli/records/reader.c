/* reader.c - reads files and hands on batches of records: headers, long records, the end of a
 * file. */
#include "records/reader.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* -- reading ------------------------------------------------------------------------------ */

/* Should the run end, because of a failure, a signal, or the caller's `ending`? */
static bool reader_ending(const struct reader *r) {
    return r->failed || signals_stop() || (r->on->ending && r->on->ending(r->ctx));
}

static void check_rejects(struct reader *r, int error) {
    if (!error || r->failed) return;
    warn("cannot write --rejects %s: %s", r->input->rejects, strerror(error));
    r->failed = true;
}

static void attend(struct reader *r) {
    if (r->on->attend) r->on->attend(r->ctx);
    if (r->unjudged.rejects) check_rejects(r, r->unjudged.rejects->error);
}

static void unreadable(struct reader *r, enum cause cause, const char *p, size_t n, bool first,
                       bool last) {
    r->records += first;
    r->unreadable += first;
    unjudged_piece(&r->unjudged, cause, r->records, p, n, first, last);
    if (r->on->unreadable) r->on->unreadable(r->ctx, p, n, first, last);
}

void reader_settle(struct reader *r) { blocks_settle(r->blocks); }

/* Hands on the blocks whose turn has not come yet. */
static void settle(struct reader *r) {
    if (blocks_settle(r->blocks)) attend(r);
}

/* Reads once, after a wait if need be.  Returns the bytes read; 0: the file or the run ends. */
static size_t fill(struct reader *r) {
    ssize_t got = -1;
    attend(r);
    for (bool again = true; again && got < 0;) {
        if (r->in.waits && !input_ready(&r->in, -1, false)) {
            /* Everything judged so far goes out before the wait. */
            settle(r);
            if (r->on->flush) r->on->flush(r->ctx);
            unjudged_flush(&r->unjudged);
            while (!reader_ending(r) && !input_ready(&r->in, signals_wake(), true)) attend(r);
        }
        if (reader_ending(r)) return 0;
        got = blocks_fill(r->blocks);
        again = errno == EINTR || errno == EAGAIN;
    }
    if (got < 0) {
        int error = errno;
        settle(r);
        const char *trouble = input_trouble(&r->in, error);
        warn("cannot read %s: %s", r->in.name, trouble);
        r->failed = true;
    }
    r->now = input_options_clock(r->input);
    return got > 0 ? (size_t)got : 0;
}

/* -- headers ------------------------------------------------------------------------------ */

static const char *begin(const struct reader *r) { return r->in.buf + r->in.begin; }
static const char *end(const struct reader *r) { return r->in.buf + r->in.end; }

static void resolve(struct reader *r, const struct header *header) {
    if (r->input->shape == SHAPE_NDJSON) columns_of_json(&r->layout);
    r->layout.cutting = input_options_cutting(r->input);
    r->layout.form = key_form_any(&r->input->form) ? &r->input->form : NULL;
    columns_resolve(&r->layout, r->input->keys, r->input->time, header);
    if (r->on->columns) r->on->columns(r->ctx, header);
    r->splitter.format = r->layout.format = input_options_format(r->input, r->layout.slots == 0);
}

void reader_adopt_header(struct reader *r, const char *line, size_t len) {
    struct header header;
    columns_read_header(&header, line, len, r->input->delimiter,
                        input_options_cutting(r->input).quotes);
    resolve(r, &header);
    columns_free_header(&header);
    r->header = malloc(len + 1);
    if (!r->header) die("out of memory for the header line");
    memcpy(r->header, line, len);
    r->unjudged.header = r->header;
    r->unjudged.header_len = r->header_len = len;
}

void reader_pack_header(const struct reader *r, struct packer *p) {
    enum { MAX_HEADER = 1 << 20 };
    if (r->header_len > MAX_HEADER) die("the header line is too long to keep it in a state");
    pack_number(p, r->header != NULL);
    pack_bytes(p, r->header ? r->header : "", r->header ? r->header_len : 0);
}

const char *reader_unpack_header(struct unpacker *u, size_t *len) {
    bool has_header = unpack_number(u);
    const char *header = unpack_bytes(u, len);
    return has_header ? header : NULL;
}

/* The length of a byte order mark before a header, or 0. */
static size_t mark_length(const char *p, size_t n) {
    return n >= 3 && !memcmp(p, "\xef\xbb\xbf", 3) ? 3 : 0;
}

/* Reads the header, and removes it from the buffer.  False: the buffer ends within the header. */
static bool take_header(struct reader *r, bool last) {
    struct splitter *s = &r->splitter;
    splitter_unfinished(s);
    size_t n = s->format->tail(s, begin(r), end(r));
    if (!n && last) n = r->in.end - r->in.begin;
    if (!n) return false;
    const char *stop = begin(r) + n - (begin(r)[n - 1] == '\n');
    struct record line = record_of(begin(r), stop, begin(r) + n, true);
    if (r->header) {
        /* The header of a later file has to be the first file's, and is not repeated. */
        size_t mark = mark_length(line.at, line.bare);
        size_t first = mark_length(r->header, r->header_len), len = line.bare - mark;
        r->failed =
            len != r->header_len - first || memcmp(line.at + mark, r->header + first, len) != 0;
        if (r->failed)
            warn("%s: its header line differs from the first file's; run it by itself", r->in.name);
    } else {
        reader_adopt_header(r, line.at, line.bare);
        if (r->on->header) r->on->header(r->ctx, &line);
    }
    r->in.begin += n;
    s->lines = s->tail_line - 1;
    r->header_due = false;
    return !r->failed;
}

/* -- records ------------------------------------------------------------------------------ */

static void on_ahead(void *ctx, unsigned who, struct batch *b, seen_time now) {
    const struct reader *r = ctx;
    r->on->ahead(r->ctx, who, b, now);
}

static void on_batch(void *ctx, struct batch *b, seen_time now) {
    struct reader *r = ctx;
    b->before = r->records;
    r->records += b->n;
    r->on->batch(r->ctx, b, now);
}

static bool on_ending(void *ctx) {
    const struct reader *r = ctx;
    return r->on->ending && r->on->ending(r->ctx);
}

/* Takes every whole record off the buffer; at the end of a file, the bytes behind them as well. */
static void drain(struct reader *r, bool last) {
    if (r->header_due && (r->in.begin == r->in.end || !take_header(r, last))) return;
    if (r->input->shape != SHAPE_NDJSON) input_skip_mark(&r->in); /* JSON is printed with it */
    if (!last && blocks_push(r->blocks, &r->splitter, r->now)) return;
    settle(r);
    blocks_pass(r->blocks, &r->splitter, last, r->now);
}

static void refuse_open_quote(struct reader *r) {
    warn("%s: the quote opened in line %ju is never closed; with --no-quotes quotes are bytes",
         r->in.name, (uintmax_t)r->splitter.quote_line);
    r->failed = true;
    if (r->in.begin == r->in.end) return; /* too long as well: it has passed */
    unreadable(r, CAUSE_QUOTED, begin(r), r->in.end - r->in.begin, true, true);
    r->in.begin = r->in.end;
}

/* A quoted field that is too long may be a quote that is never closed.  Where the next record
 * begins is then not known, so the rest of the file cannot be judged. */
static void refuse_long_field(struct reader *r) {
    char most[32], text[256];
    seen_print_size(r->splitter.max_field, most, sizeof most);
    snprintf(text, sizeof text,
             "the quote opened in line %ju is not closed within %s, so nothing behind it can be "
             "judged; raise --max-field for longer fields, or read quotes as bytes: --no-quotes",
             (uintmax_t)r->splitter.quote_line, most);
    if (r->header_due) die("%s: %s", r->in.name, text);
    warn("%s: %s", r->in.name, text);
}

/* Passes on a record that is too long as it comes.  The buffer holds its start.  The last byte read
 * is held back, since it may be the CR of the line end. */
static void pass_through(struct reader *r, enum cause cause) {
    struct splitter *s = &r->splitter;
    if (r->header_due && !s->overrun)
        die("%s: the header line is longer than --max-record; raise it", r->in.name);
    size_t rest = 0;
    bool refused = false;
    settle(r);
    r->passing = input_offset(&r->in) + 1;
    for (bool first = true; !rest; first = false) {
        if (s->overrun && !refused) refuse_long_field(r), refused = true;
        size_t n = r->in.end - r->in.begin - 1;
        unreadable(r, cause, begin(r), n, first, false);
        r->in.begin += n;
        size_t got = fill(r);
        size_t ended = got ? s->format->tail(s, end(r) - got, end(r)) : 0;
        if (ended || !got) rest = 1 + ended;
    }
    unreadable(r, cause, begin(r), rest, false, true);
    r->in.begin += rest;
    if (!reader_ending(r)) r->passing = 0;
    s->lines = s->tail_line - 1;
    if (s->in_quotes && !reader_ending(r)) refuse_open_quote(r);
    if (s->overrun) r->failed = true;
}

/* Reads on until the record at the start of the buffer is complete.  False at the end of the file.
 */
static bool complete(struct reader *r) {
    struct splitter *s = &r->splitter;
    splitter_unfinished(s);
    s->format->tail(s, begin(r), end(r));
    for (;;) {
        /* The limit reached first decides, so the place where the buffer ends does not matter. */
        if (s->overrun && s->overrun <= (uint64_t)r->input->max_record + 1)
            return pass_through(r, CAUSE_QUOTED), true;
        if (r->in.end - r->in.begin > (size_t)r->input->max_record + 1) /* a CR does not count */
            return pass_through(r, CAUSE_LONG), true;
        size_t got = fill(r);
        if (!got) return false;
        if (s->format->tail(s, end(r) - got, end(r))) return true;
    }
}

/* Is the last record without a line end left to the next run?  Its writer may not have finished. */
static bool held_back(const struct reader *r) {
    size_t n = r->in.end - r->in.begin;
    if (!r->hold_back || r->in.waits || !input_is_plain(&r->in)) return false;
    if (n && !r->input->quiet)
        warn("%s ends inside a record, whose first %zu bytes are left for the next run", r->in.name,
             n);
    return true;
}

static void read_input(struct reader *r) {
    r->header_due = r->input->header;
    r->splitter.lines = 0;
    r->passing = 0;
    if (r->on->opened) r->on->opened(r->ctx);
    if (!r->closed) r->began = reader_done(r);
    while (complete(r)) drain(r, false);
    settle(r);
    if (!reader_ending(r) && !held_back(r)) {
        if (r->splitter.in_quotes) refuse_open_quote(r);
        if (!reader_ending(r)) drain(r, true);
    }
    if (r->on->closed) r->on->closed(r->ctx);
    input_close(&r->in);
}

/* -- going on later ----------------------------------------------------------------------- */

uint64_t reader_unreadable(const struct reader *r) { return r->unreadable - (r->passing > 0); }

void reader_resume(struct reader *r, uint64_t offset, uint64_t lines) {
    if (!input_skip(&r->in, offset)) {
        warn("cannot go on in %s behind %ju bytes: %s", r->in.name, (uintmax_t)offset,
             errno ? input_trouble(&r->in, errno) : "it is shorter than that");
        r->failed = true;
        return;
    }
    r->header_due = false;
    r->splitter.lines = lines;
}

/* -- a run -------------------------------------------------------------------------------- */

void reader_init(struct reader *r, const struct input_options *s, const struct reader_events *on,
                 void *ctx) {
    memset(r, 0, sizeof *r);
    r->input = s;
    r->on = on;
    r->ctx = ctx;
    signals_init();
    input_init(&r->in, s);
    unjudged_init(&r->unjudged, s, &r->layout);
    r->splitter = input_options_splitter(s, &r->layout);
    if (s->threads > 1) r->pool = pool_new(s->threads);
    r->events = (struct block_events){.ahead = on->ahead ? on_ahead : NULL,
                                      .result_size = on->result_size,
                                      .batch = on_batch,
                                      .ending = on_ending};
    r->blocks = blocks_new(r->pool, &r->in, &r->layout, &r->events, r);
    if (!s->header) resolve(r, input_options_names(s));
}

uint64_t reader_position(const struct reader *r) {
    if (r->passing) return r->passing - 1;
    return blocks_position(r->blocks);
}

uint64_t reader_done(const struct reader *r) {
    off_t at = r->in.fd < 0 || r->in.waits ? 0 : lseek(r->in.fd, 0, SEEK_CUR);
    return r->closed + (at > 0 ? (uint64_t)at : 0);
}

static void read_file(struct reader *r, const char *name) {
    struct stat st;
    if (!input_open(&r->in, name)) {
        if (fstat(r->in.fd, &st) || !S_ISREG(st.st_mode)) st.st_size = 0;
        read_input(r);
        r->closed += (uint64_t)st.st_size;
        return;
    }
    warn("cannot open %s: %s", r->in.name, input_trouble(&r->in, errno));
    input_close(&r->in);
    r->failed = true;
}

bool reader_run(struct reader *r) {
    if (r->input->merge) {
        input_open_merged(&r->in, r->input);
        read_input(r);
    }
    for (size_t i = 0; !r->input->merge && i < r->input->file_count && !reader_ending(r); i++)
        read_file(r, r->input->files[i]);
    check_rejects(r, unjudged_close(&r->unjudged));
    return !r->failed;
}

void reader_free(struct reader *r) {
    unjudged_free(&r->unjudged);
    free(r->header);
    blocks_free(r->blocks);
    pool_free(r->pool);
    columns_free(&r->layout);
    input_free(&r->in);
}
