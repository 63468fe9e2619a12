/* detail.c - records with more than their verdict: tags of several values, or JSON objects. */
#include "write/json.h"
#include "write/sink.h"

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

static void begin_object(struct sink *s, uint8_t verdict, const struct fact *f) {
    char text[TAGS_TEXT];
    tags_json(s->tags, verdict, f, text);
    put_text(s, "{");
    put_text(s, text);
}

static void put_object(struct sink *s, const struct record *r, uint8_t verdict,
                       const struct fact *f) {
    begin_object(s, verdict, f);
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

/* -- both --------------------------------------------------------------------------------- */

static void put_one(struct sink *s, const struct record *r, uint8_t verdict, const struct fact *f) {
    char text[TAGS_TEXT];
    if (s->json) {
        put_object(s, r, verdict, f);
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
    if (!s->json) {
        tags_text(s->tags, UNREADABLE, f, s->column ? s->column : '\t', text);
        sink_unjudged(s, p, n, text, first, last);
    } else if (first && last) {
        bool ended = n > 0 && p[n - 1] == s->end;
        struct record r = {p, (uint32_t)n, (uint32_t)(n - ended)};
        put_one(s, &r, UNREADABLE, f);
    } else {
        if (first) begin_object(s, UNREADABLE, f), put_text(s, ",\"record_base64\":\"");
        put_base64(s, p, n - (last && n > 0 && p[n - 1] == s->end));
        if (last) end_base64(s);
    }
}
