/* sink.c - prints records, as they are or with tags, through a buffer of its own.  Large pieces are
 * written directly.  The first failure is kept in `error`, which the caller checks once a batch. */
#include "output/sink.h"

#include "base/cli.h"

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

/* The last record of a file may lack its end.  Writes that end, now that a record follows. */
static void separate(struct sink *s) {
    if (s->unended) sink_put(s, &s->end, 1);
    s->unended = false;
}

/* Whole records as they stand. */
static void put_bytes(struct sink *s, const char *at, const char *end) {
    separate(s);
    sink_put(s, at, (size_t)(end - at));
    s->unended = end[-1] != s->end;
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

void sink_choose(struct sink *s, bool confirmed, bool rejected) {
    s->confirmed = confirmed;
    bool tag = s->mode == SINK_TAG, duplicates = s->mode == SINK_DUPLICATES;
    s->shows[SEEN_NEW] = !duplicates;
    s->shows[SEEN_DUPLICATE] = tag || duplicates != confirmed;
    s->shows[SEEN_CONFIRMED] = tag || duplicates;
    s->shows[UNREADABLE] = !duplicates && !rejected;
    s->shows[UNCERTAIN] = !duplicates;
}

void sink_batch(struct sink *s, const struct batch *b) {
    bool tag = s->mode == SINK_TAG;
    for (size_t i = 0, j; i < b->n; i = j) {
        for (j = i; j < b->n && s->shows[b->verdict[j]]; j++)
            if (tag) sink_tagged(s, &b->record[j], verdict_name(b->verdict[j]));
        if (i < j && !tag) /* neighbours are copied as one */
            put_bytes(s, b->record[i].at, b->record[j - 1].at + b->record[j - 1].len);
        while (j < b->n && !s->shows[b->verdict[j]]) j++;
    }
}

void sink_check_heading(const struct sink *s, const struct header *h) {
    bool adds_columns = s->column && !s->json && (s->mode == SINK_TAG || s->tags);
    if (!h || !adds_columns) return;
    for (const char *name = s->heading; *name;) {
        size_t len = 0;
        while (name[len] && name[len] != s->column) len++;
        for (uint32_t i = 0; i < h->n; i++)
            if (strlen(h->name[i]) == len && !memcmp(h->name[i], name, len))
                die("the table has a column '%s' already: choose another name, as in "
                    "--tag-column %s2",
                    h->name[i], h->name[i]);
        name += len + (name[len] != '\0');
    }
}

void sink_header(struct sink *s, const struct record *r) {
    if (s->json) return;
    if (s->mode == SINK_TAG || s->tags)
        sink_tagged(s, r, s->heading);
    else
        put_bytes(s, r->at, r->at + r->len);
}

static void put_unjudged(struct sink *s, const char *p, size_t n, const char *tag, bool first,
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

void sink_unreadable(struct sink *s, const char *p, size_t n, bool first, bool last) {
    put_unjudged(s, p, n, verdict_name(UNREADABLE), first, last);
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

/* A piece of a record in base64; behind the last one, the object ends. */
static void put_base64(struct sink *s, const char *p, size_t n, bool last) {
    char out[BASE64_OUT];
    for (size_t i = 0; i < n; i += BASE64_IN) {
        size_t piece = n - i < BASE64_IN ? n - i : BASE64_IN;
        sink_put(s, out, base64_add(&s->base64, p + i, piece, out));
    }
    if (!last) return;
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
        put_base64(s, r->at, r->bare, true);
    }
}

/* A record in several pieces is always base64, since it cannot be checked for UTF-8 as a whole. */
void sink_object_piece(struct sink *s, const char *p, size_t n, const char *members, bool first,
                       bool last) {
    bool ended = last && n > 0 && p[n - 1] == s->end;
    if (first && last) {
        sink_object(s, &(struct record){p, (uint32_t)n, (uint32_t)(n - ended)}, members);
        return;
    }
    if (first) put_text(s, "{"), put_text(s, members), put_text(s, ",\"record_base64\":\"");
    put_base64(s, p, n - ended, last);
}

/* -- with tags --------------------------------------------------------------------------------- */

void sink_details(struct sink *s, const struct batch *b, const struct details *details) {
    char text[TAGS_TEXT];
    for (size_t i = 0; i < b->n; i++) {
        uint8_t verdict = b->verdict[i];
        if (!s->shows[verdict]) continue;
        if (s->json) {
            tags_json(s->tags, verdict, &details[i], text);
            sink_object(s, &b->record[i], text);
        } else {
            tags_text(s->tags, verdict, &details[i], s->column ? s->column : '\t', text);
            sink_tagged(s, &b->record[i], text);
        }
    }
}

void sink_loose(struct sink *s, const char *p, size_t n, const struct details *f, bool first,
                bool last) {
    char text[TAGS_TEXT];
    if (!s->shows[UNREADABLE]) return;
    if (s->json) {
        tags_json(s->tags, UNREADABLE, f, text);
        sink_object_piece(s, p, n, text, first, last);
        return;
    }
    tags_text(s->tags, UNREADABLE, f, s->column ? s->column : '\t', text);
    put_unjudged(s, p, n, text, first, last);
}
