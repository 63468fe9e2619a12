/* zstd.c - RFC 8878 through libzstd: frames one behind the other, and those to be skipped. */
#include "read/unpack/unpack.h"

#ifdef HAVE_ZSTD
#include <zstd.h>
#include <zstd_errors.h>

/* As zstd itself refuses by default what `zstd --long=28` and above made: whoever sends a file
 * should not say how much memory it takes to read. */
enum { WINDOW_LOG_MOST = 27 };

static void *open_zstd(void) {
    ZSTD_DStream *z = ZSTD_createDStream();
    if (z) ZSTD_DCtx_setParameter(z, ZSTD_d_windowLogMax, WINDOW_LOG_MOST);
    return z;
}

static void close_zstd(void *state) { ZSTD_freeDStream(state); }

static const char *reason(size_t code) {
    if (ZSTD_getErrorCode(code) == ZSTD_error_frameParameter_windowTooLarge)
        return "it takes more than 128 MiB to unpack; zstd -dc --long=31 FILE | seen can";
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

const struct packing zstd_packing = {"zstd",    "\x28\xb5\x2f\xfd", 4,
                                     open_zstd, close_zstd,         unpack_zstd};
