/* sink.c - which records are printed, and how they get out: runs of neighbours are copied as one
 * into a buffer of our own, and large ones written from where they stand.  The first failure is
 * kept in `error`; the caller looks there once a batch. */
#include "output/sink.h"

#include "base/cli.h"
#include "records/format/record.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CAP = 128 << 10, DIRECT = 64 << 10 };

void sink_init(struct sink *s, int fd, enum sink_mode mode, char column) {
    *s = (struct sink){.fd = fd,
                       .mode = mode,
                       .column = column,
                       .heading = "seen",
                       .end = '\n',
                       .buf = malloc(CAP)};
    if (!s->buf) die("out of memory for an output buffer");
    sink_choose(s, false, false);
}

void sink_free(struct sink *s) {
    free(s->buf);
    s->buf = NULL;
}

/* -- bytes -------------------------------------------------------------------------------- */

static void write_all(struct sink *s, const char *p, size_t n) {
    while (n > 0 && !s->error) {
        ssize_t wrote = write(s->fd, p, n);
        if (wrote >= 0) {
            p += wrote;
            n -= (size_t)wrote;
        } else if (errno == EAGAIN) {
            poll(&(struct pollfd){.fd = s->fd, .events = POLLOUT}, 1, -1);
        } else if (errno != EINTR) {
            s->error = errno;
        }
    }
}

void sink_flush(struct sink *s) {
    write_all(s, s->buf, s->n);
    s->n = 0;
}

void sink_tend(struct sink *s, double now) {
    if (now - s->tended < 0.1) return;
    s->tended = now;
    sink_flush(s);
    struct pollfd reader = {.fd = s->fd};
    if (s->error || poll(&reader, 1, 0) <= 0 || !(reader.revents & POLLERR)) return;
    raise(SIGPIPE);
    s->error = EPIPE; /* where that is ignored */
}

void sink_close(struct sink *s) {
    sink_flush(s);
    /* A standard output that was never open only matters if something was written to it. */
    if (close(s->fd) && errno != EBADF && !s->error) s->error = errno;
}

void sink_put(struct sink *s, const char *p, size_t n) {
    if (s->n + n > CAP || n >= DIRECT) sink_flush(s);
    if (n >= DIRECT) {
        write_all(s, p, n);
    } else {
        memcpy(s->buf + s->n, p, n);
        s->n += n;
    }
}

static void put_text(struct sink *s, const char *text) { sink_put(s, text, strlen(text)); }

/* Before a record: one that ended its file without its end gets that now that something follows. */
static void separate(struct sink *s) {
    if (s->unended) sink_put(s, &s->end, 1);
    s->unended = false;
}

/* -- records ------------------------------------------------------------------------------ */

void sink_tagged(struct sink *s, const struct record *r, const char *tag) {
    separate(s);
    if (s->column) {
        sink_put(s, r->at, r->bare);
        sink_put(s, &s->column, 1);
        put_text(s, tag);
        sink_put(s, r->at + r->bare, r->len - r->bare);
    } else {
        put_text(s, tag);
        sink_put(s, "\t", 1);
        sink_put(s, r->at, r->len);
    }
    s->unended = r->at[r->len - 1] != s->end;
}

/* Everything from record i up to, not including, record j. */
static void put_run(struct sink *s, const struct batch *b, size_t i, size_t j) {
    const char *at = b->record[i].at, *end = b->record[j - 1].at + b->record[j - 1].len;
    separate(s);
    sink_put(s, at, (size_t)(end - at));
    s->unended = end[-1] != s->end;
}

void sink_choose(struct sink *s, bool confirmed, bool rejected) {
    s->confirmed = confirmed;
    bool tag = s->mode == SINK_TAG, duplicates = s->mode == SINK_DUPLICATES;
    s->shows[SEEN_NEW] = !duplicates;
    s->shows[SEEN_DUPLICATE] = tag || duplicates != confirmed;
    s->shows[SEEN_CONFIRMED] = tag || duplicates;
    s->shows[UNREADABLE] = !duplicates && !rejected;
    s->shows[UNCERTAIN] = !duplicates;
}

static void put_shown(struct sink *s, const struct batch *b) {
    for (size_t i = 0, j; i < b->n; i = j + 1) {
        while (i < b->n && !s->shows[b->verdict[i]]) i++;
        for (j = i; j < b->n && s->shows[b->verdict[j]];) j++;
        if (i < j) put_run(s, b, i, j);
    }
}

void sink_batch(struct sink *s, const struct batch *b) {
    if (s->mode != SINK_TAG) {
        put_shown(s, b);
        return;
    }
    for (size_t i = 0; i < b->n; i++)
        if (s->shows[b->verdict[i]]) sink_tagged(s, &b->record[i], verdict_name(b->verdict[i]));
}

/* Does the output have added columns?  Their names must differ from those of the input, so that
 * each name stands for one column. */
static bool adds_columns(const struct sink *s) {
    return s->column && !s->json && (s->mode == SINK_TAG || s->tags);
}

static void check_name(const struct header *h, const char *name, size_t len) {
    for (uint32_t i = 0; i < h->n; i++)
        if (strlen(h->name[i]) == len && !memcmp(h->name[i], name, len))
            die("the table has a column '%s' already: give the tag's another name, as "
                "--tag-column %s2",
                h->name[i], h->name[i]);
}

void sink_check_heading(const struct sink *s, const struct header *h) {
    if (!h || !adds_columns(s)) return;
    for (const char *name = s->heading; *name;) {
        size_t len = 0;
        while (name[len] && name[len] != s->column) len++;
        check_name(h, name, len);
        name += len + (name[len] != '\0');
    }
}

void sink_header(struct sink *s, const struct record *r) {
    if (s->json) return;
    if (s->mode == SINK_TAG || s->tags) {
        sink_tagged(s, r, s->heading);
        return;
    }
    separate(s);
    sink_put(s, r->at, r->len);
    s->unended = r->at[r->len - 1] != s->end;
}

void sink_unreadable(struct sink *s, const char *p, size_t n, bool first, bool last) {
    sink_unjudged(s, p, n, verdict_name(UNREADABLE), first, last);
}

void sink_unjudged(struct sink *s, const char *p, size_t n, const char *tag, bool first,
                   bool last) {
    if (!s->shows[UNREADABLE]) return;
    if (first) separate(s);
    if (first && s->mode == SINK_TAG && !s->column) put_text(s, tag), sink_put(s, "\t", 1);
    if (last && s->mode == SINK_TAG && s->column) {
        struct record r = record_of(p, p + n - (n > 0 && p[n - 1] == '\n'), p + n, true);
        sink_tagged(s, &r, tag);
        return;
    }
    sink_put(s, p, n);
    if (last) s->unended = n > 0 && p[n - 1] != s->end;
}

/* -- JSON objects ------------------------------------------------------------------------- */

static void put_string(struct sink *s, const char *p, size_t n) {
    char escaped[8];
    sink_put(s, "\"", 1);
    for (size_t i = 0; i < n; i++) {
        size_t plain = json_plain(p + i, n - i);
        sink_put(s, p + i, plain);
        i += plain;
        if (i < n) sink_put(s, escaped, json_escape(p[i], escaped));
    }
    sink_put(s, "\"", 1);
}

static void put_base64(struct sink *s, const char *p, size_t n) {
    char out[BASE64_OUT];
    for (size_t i = 0; i < n; i += BASE64_IN) {
        size_t piece = n - i < BASE64_IN ? n - i : BASE64_IN;
        sink_put(s, out, base64_add(&s->base64, p + i, piece, out));
    }
}

static void end_base64(struct sink *s) {
    char out[8];
    sink_put(s, out, base64_end(&s->base64, out));
    put_text(s, "\"}\n");
}

void sink_object(struct sink *s, const struct record *r, const char *members) {
    put_text(s, "{");
    put_text(s, members);
    if (json_is_text(r->at, r->bare)) {
        put_text(s, ",\"record\":");
        put_string(s, r->at, r->bare);
        put_text(s, "}\n");
    } else {
        put_text(s, ",\"record_base64\":\"");
        put_base64(s, r->at, r->bare);
        end_base64(s);
    }
}

/* What comes in several pieces cannot be looked at as a whole. */
void sink_object_piece(struct sink *s, const char *p, size_t n, const char *members, bool first,
                       bool last) {
    bool ended = last && n > 0 && p[n - 1] == s->end;
    if (first && last) {
        sink_object(s, &(struct record){p, (uint32_t)n, (uint32_t)(n - ended)}, members);
        return;
    }
    if (first) put_text(s, "{"), put_text(s, members), put_text(s, ",\"record_base64\":\"");
    put_base64(s, p, n - ended);
    if (last) end_base64(s);
}

/* -- with tags --------------------------------------------------------------------------------- */

static void put_one(struct sink *s, const struct record *r, uint8_t verdict, const struct fact *f) {
    char text[TAGS_TEXT];
    if (s->json) {
        tags_json(s->tags, verdict, f, text);
        sink_object(s, r, text);
        return;
    }
    tags_text(s->tags, verdict, f, s->column ? s->column : '\t', text);
    sink_tagged(s, r, text);
}

void sink_details(struct sink *s, const struct batch *b, const struct fact *facts) {
    for (size_t i = 0; i < b->n; i++)
        if (s->shows[b->verdict[i]]) put_one(s, &b->record[i], b->verdict[i], &facts[i]);
}

void sink_loose(struct sink *s, const char *p, size_t n, const struct fact *f, bool first,
                bool last) {
    char text[TAGS_TEXT];
    if (!s->shows[UNREADABLE]) return;
    if (s->json) {
        tags_json(s->tags, UNREADABLE, f, text);
        sink_object_piece(s, p, n, text, first, last);
        return;
    }
    tags_text(s->tags, UNREADABLE, f, s->column ? s->column : '\t', text);
    sink_unjudged(s, p, n, text, first, last);
}
