/* codecs.c - the compressions that seen reads.  Each is a struct packing, and may be missing in a
 * build. */
#include "records/unpack/unpack.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* -- gzip, RFC 1952, through zlib: members one behind the other, as gzip and bgzip write them */

#ifdef HAVE_ZLIB
#define ZLIB_CONST
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

/* Begins the next member, or skips the zeros that tape drives and some tools add. */
static const char *gzip_begin(z_stream *z, struct stretch *s) {
    while (s->left && !*s->in) s->in++, s->left--;
    if (!s->left) return NULL;
    if (*s->in != gzip_packing.magic[0][0]) return "what follows it is not gzip";
    s->between = false;
    return inflateReset(z) == Z_OK ? NULL : "zlib cannot begin again";
}

static const char *unpack_gzip(void *state, struct stretch *s) {
    z_stream *z = state;
    for (int code = Z_OK; code != Z_BUF_ERROR && s->room;) {
        const char *wrong = s->between ? gzip_begin(z, s) : NULL;
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

/* -- zstd, RFC 8878, through libzstd: frames one behind the other, and those to be skipped */

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
    if (!ZSTD_isError(code)) return NULL;
    bool window = ZSTD_getErrorCode(code) == ZSTD_error_frameParameter_windowTooLarge;
    return window ? unpack_needs_memory : ZSTD_getErrorName(code);
}
#else
#define open_zstd   NULL
#define close_zstd  NULL
#define unpack_zstd NULL
#endif

const struct packing zstd_packing = {"zstd",    {"\x28\xb5\x2f\xfd"}, 4,
                                     open_zstd, close_zstd,           unpack_zstd};

/* -- xz, through liblzma: streams one behind the other, and the zeros that may pad them ---- */

#ifdef HAVE_LZMA
#include <lzma.h>

struct xz {
    lzma_stream z;
    uint64_t memory;
};

static bool xz_start(struct xz *x) { return lzma_stream_decoder(&x->z, x->memory, 0) == LZMA_OK; }

static void *open_xz(uint64_t memory) {
    struct xz *x = calloc(1, sizeof *x);
    if (!x) return NULL;
    x->z = (lzma_stream)LZMA_STREAM_INIT;
    x->memory = memory;
    if (!xz_start(x)) free(x), x = NULL;
    return x;
}

static void close_xz(void *state) {
    struct xz *x = state;
    lzma_end(&x->z);
    free(x);
}

static const char *xz_reason(lzma_ret code) {
    switch (code) {
    case LZMA_MEMLIMIT_ERROR: return unpack_needs_memory;
    case LZMA_MEM_ERROR: return "there is not enough memory to read it";
    case LZMA_FORMAT_ERROR: return "what follows it is not xz";
    case LZMA_OPTIONS_ERROR: return "it uses a filter or a check that this liblzma does not know";
    default: return "its contents do not fit their checksums";
    }
}

/* Begins the next stream, or skips zeros. */
static const char *xz_begin(struct xz *x, struct stretch *s) {
    while (s->left && !*s->in) s->in++, s->left--;
    if (!s->left) return NULL;
    if (*s->in != xz_packing.magic[0][0]) return xz_reason(LZMA_FORMAT_ERROR);
    s->between = false;
    return xz_start(x) ? NULL : "liblzma cannot begin another stream";
}

static const char *unpack_xz(void *state, struct stretch *s) {
    struct xz *x = state;
    for (lzma_ret code = LZMA_OK; code != LZMA_BUF_ERROR && s->room;) {
        const char *wrong = s->between ? xz_begin(x, s) : NULL;
        if (wrong || s->between) return wrong;
        x->z.next_in = (const uint8_t *)s->in, x->z.avail_in = s->left;
        x->z.next_out = (uint8_t *)s->out, x->z.avail_out = s->room;
        code = lzma_code(&x->z, LZMA_RUN);
        s->in = (const char *)x->z.next_in, s->left = x->z.avail_in;
        s->out = (char *)x->z.next_out, s->room = x->z.avail_out;
        s->between = code == LZMA_STREAM_END;
        if (code != LZMA_OK && code != LZMA_STREAM_END && code != LZMA_BUF_ERROR)
            return xz_reason(code);
    }
    return NULL;
}
#else
#define open_xz   NULL
#define close_xz  NULL
#define unpack_xz NULL
#endif

const struct packing xz_packing = {"xz",
                                   {"\xfd"
                                    "7zXZ"},
                                   6,
                                   open_xz,
                                   close_xz,
                                   unpack_xz};

/* -- bzip2, through libbz2: streams one behind the other; it never takes more than 4 MiB */

#ifdef HAVE_BZIP2
#include <bzlib.h>

static void *open_bzip2(uint64_t memory) {
    bz_stream *z = calloc(1, sizeof *z);
    (void)memory;
    if (z && BZ2_bzDecompressInit(z, 0, 0) != BZ_OK) free(z), z = NULL;
    return z;
}

static void close_bzip2(void *state) {
    BZ2_bzDecompressEnd(state);
    free(state);
}

static const char *bzip2_begin(bz_stream *z, struct stretch *s) {
    if (!s->left) return NULL;
    s->between = false;
    BZ2_bzDecompressEnd(z);
    memset(z, 0, sizeof *z);
    return BZ2_bzDecompressInit(z, 0, 0) == BZ_OK ? NULL : "libbz2 cannot begin another stream";
}

static unsigned at_most(size_t n) { return n < INT_MAX ? (unsigned)n : INT_MAX; }

static const char *bzip2_reason(int code) {
    switch (code) {
    case BZ_DATA_ERROR_MAGIC: return "what follows it is not bzip2";
    case BZ_MEM_ERROR: return "there is not enough memory to read it";
    default: return "its contents do not fit their checksums";
    }
}

static const char *unpack_bzip2(void *state, struct stretch *s) {
    bz_stream *z = state;
    for (bool moved = true; moved && s->room;) {
        const char *wrong = s->between ? bzip2_begin(z, s) : NULL;
        if (wrong || s->between) return wrong;
        unsigned left = at_most(s->left), room = at_most(s->room);
        z->next_in = (char *)(uintptr_t)s->in, z->avail_in = left;
        z->next_out = s->out, z->avail_out = room;
        int code = BZ2_bzDecompress(z);
        unsigned took = left - z->avail_in, gave = room - z->avail_out;
        s->in += took, s->left -= took;
        s->out += gave, s->room -= gave;
        s->between = code == BZ_STREAM_END;
        if (code != BZ_OK && code != BZ_STREAM_END) return bzip2_reason(code);
        moved = took + gave > 0;
    }
    return NULL;
}
#else
#define open_bzip2   NULL
#define close_bzip2  NULL
#define unpack_bzip2 NULL
#endif

/* A digit, then the beginning of a block, or that of the end in an empty file. */
const struct packing bzip2_packing = {"bzip2",     {"BZh?1AY&SY", "BZh?\x17\x72\x45\x38\x50\x90"},
                                      10,          open_bzip2,
                                      close_bzip2, unpack_bzip2};
