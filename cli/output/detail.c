/* detail.c - records with more than their verdict: tags of several values, or JSON objects. */
#include "base/json.h"
#include "output/sink.h"

#include <string.h>

static void put_text(struct sink *s, const char *text) { sink_put(s, text, strlen(text)); }

/* -- JSON --------------------------------------------------------------------------------- */

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

/* -- both --------------------------------------------------------------------------------- */

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
