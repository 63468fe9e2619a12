/* pack.c - numbers and texts as bytes of a state, and back again. */
#include "base/pack.h"

#include "base/cli.h"

#include <stdlib.h>
#include <string.h>

static void append(struct packer *p, const void *bytes, size_t len) {
    if (len > p->cap - p->n) {
        p->cap = 2 * (p->cap + len);
        p->buf = realloc(p->buf, p->cap);
        if (!p->buf) die("out of memory for a state of %zu bytes", p->cap);
    }
    if (len) memcpy(p->buf + p->n, bytes, len);
    p->n += len;
}

void pack_number(struct packer *p, uint64_t n) { append(p, &n, sizeof n); }

void pack_bytes(struct packer *p, const void *bytes, size_t len) {
    pack_number(p, len);
    append(p, bytes, len);
    append(p, "", 1);
}

void pack_text(struct packer *p, const char *text) { pack_bytes(p, text, strlen(text)); }

void pack_free(struct packer *p) {
    free(p->buf);
    *p = (struct packer){0};
}

uint64_t unpack_number(struct unpacker *u) {
    uint64_t n = 0;
    if (u->bad || (size_t)(u->end - u->at) < sizeof n) {
        u->bad = true;
        return 0;
    }
    memcpy(&n, u->at, sizeof n);
    u->at += sizeof n;
    return n;
}

const char *unpack_bytes(struct unpacker *u, size_t *len) {
    uint64_t n = unpack_number(u);
    *len = 0;
    if (u->bad || n >= (size_t)(u->end - u->at) || u->at[n]) {
        u->bad = true;
        return "";
    }
    const char *bytes = u->at;
    *len = (size_t)n;
    u->at += n + 1;
    return bytes;
}

const char *unpack_text(struct unpacker *u) {
    size_t len;
    const char *text = unpack_bytes(u, &len);
    if (strlen(text) != len) u->bad = true;
    return u->bad ? "" : text;
}

size_t unpack_count(struct unpacker *u, size_t size) {
    uint64_t n = unpack_number(u);
    if (u->bad || n > (size_t)(u->end - u->at) / size) u->bad = true;
    return u->bad ? 0 : (size_t)n;
}
