/* zstd.c - RFC 8878 through libzstd: frames one behind the other, and those to be skipped. */
#include "records/unpack/unpack.h"

#ifdef HAVE_ZSTD
#include <zstd.h>
#include <zstd_errors.h>

/* Bounds the window, since the sender of a file must not decide how much memory reading it takes.
 * The limits of the bound are zstd's own. */
static void *open_zstd(uint64_t memory) {
    ZSTD_DStream *z = ZSTD_createDStream();
    int log = 10;
    while (log < 31 && UINT64_C(2) << log <= memory) log++;
    if (z) ZSTD_DCtx_setParameter(z, ZSTD_d_windowLogMax, log);
    return z;
}

static void close_zstd(void *state) { ZSTD_freeDStream(state); }

static const char *reason(size_t code) {
    if (ZSTD_getErrorCode(code) == ZSTD_error_frameParameter_windowTooLarge)
        return unpack_needs_memory;
    return ZSTD_getErrorName(code);
}

static const char *unpack_zstd(void *state, struct stretch *s) {
    ZSTD_inBuffer in = {s->in, s->left, 0};
    ZSTD_outBuffer out = {s->out, s->room, 0};
    size_t code = 0;
    bool moved = true;
    while (moved && out.pos < out.size && (in.pos < in.size || !s->between)) {
        size_t before = in.pos + out.pos;
        code = ZSTD_decompressStream(state, &out, &in);
        if (ZSTD_isError(code)) break;
        s->between = code == 0;
        moved = in.pos + out.pos > before;
    }
    s->in += in.pos, s->left -= in.pos;
    s->out += out.pos, s->room -= out.pos;
    return ZSTD_isError(code) ? reason(code) : NULL;
}
#else
#define open_zstd   NULL
#define close_zstd  NULL
#define unpack_zstd NULL
#endif

const struct packing zstd_packing = {"zstd",    {"\x28\xb5\x2f\xfd"}, 4,
                                     open_zstd, close_zstd,           unpack_zstd};
