/* gzip.c - RFC 1952 through zlib: members one behind the other, as gzip and bgzip write them. */
#include "records/unpack/unpack.h"

#ifdef HAVE_ZLIB
#define ZLIB_CONST
#include <stdint.h>
#include <stdlib.h>
#include <zlib.h>

enum { GZIP_WINDOW = 16 + MAX_WBITS };

static void *open_gzip(uint64_t memory) {
    (void)memory;
    z_stream *z = calloc(1, sizeof *z);
    if (z && inflateInit2(z, GZIP_WINDOW) != Z_OK) free(z), z = NULL;
    return z;
}

static void close_gzip(void *state) {
    inflateEnd(state);
    free(state);
}

/* Behind a member: another one, or the zeros that tape drives and some tools pad with. */
static const char *begin_member(z_stream *z, struct stretch *s) {
    while (s->left && !*s->in) s->in++, s->left--;
    if (!s->left) return NULL;
    if (*s->in != gzip_packing.magic[0][0]) return "what follows it is not gzip";
    s->between = false;
    return inflateReset(z) == Z_OK ? NULL : "zlib cannot begin again";
}

static const char *unpack_gzip(void *state, struct stretch *s) {
    z_stream *z = state;
    for (int code = Z_OK; code != Z_BUF_ERROR && s->room;) {
        const char *wrong = s->between ? begin_member(z, s) : NULL;
        if (wrong || s->between) return wrong;
        z->next_in = (const Bytef *)s->in, z->avail_in = (uInt)s->left;
        uInt room = s->room < UINT32_MAX ? (uInt)s->room : UINT32_MAX;
        z->next_out = (Bytef *)s->out, z->avail_out = room;
        code = inflate(z, Z_NO_FLUSH);
        s->in = (const char *)z->next_in, s->left = z->avail_in;
        s->out += room - z->avail_out, s->room -= room - z->avail_out;
        s->between = code == Z_STREAM_END;
        if (code == Z_MEM_ERROR) return "there is not enough memory to read it";
        if (code == Z_NEED_DICT) return "it needs a dictionary";
        if (code < 0 && code != Z_BUF_ERROR) return z->msg ? z->msg : "zlib cannot read it";
    }
    return NULL;
}
#else
#define open_gzip   NULL
#define close_gzip  NULL
#define unpack_gzip NULL
#endif

const struct packing gzip_packing = {"gzip", {"\x1f\x8b"}, 2, open_gzip, close_gzip, unpack_gzip};
