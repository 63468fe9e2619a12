/* xz.c - .xz through liblzma: streams one behind the other, and the zeros that may pad them. */
#include "records/unpack/unpack.h"

#ifdef HAVE_LZMA
#include <lzma.h>
#include <stdlib.h>

struct xz {
    lzma_stream z;
    uint64_t memory;
};

static bool begin(struct xz *x) { return lzma_stream_decoder(&x->z, x->memory, 0) == LZMA_OK; }

static void *open_xz(uint64_t memory) {
    struct xz *x = calloc(1, sizeof *x);
    if (!x) return NULL;
    x->z = (lzma_stream)LZMA_STREAM_INIT;
    x->memory = memory;
    if (!begin(x)) free(x), x = NULL;
    return x;
}

static void close_xz(void *state) {
    struct xz *x = state;
    lzma_end(&x->z);
    free(x);
}

static const char *reason(lzma_ret code) {
    switch (code) {
    case LZMA_MEMLIMIT_ERROR: return unpack_needs_memory;
    case LZMA_MEM_ERROR: return "there is not enough memory to read it";
    case LZMA_FORMAT_ERROR: return "what follows it is not xz";
    case LZMA_OPTIONS_ERROR: return "it uses a filter or a check that this liblzma does not know";
    default: return "its contents do not fit their checksums";
    }
}

/* Behind a stream: another one, or zeros. */
static const char *begin_stream(struct xz *x, struct stretch *s) {
    while (s->left && !*s->in) s->in++, s->left--;
    if (!s->left) return NULL;
    if (*s->in != xz_packing.magic[0][0]) return reason(LZMA_FORMAT_ERROR);
    s->between = false;
    return begin(x) ? NULL : "liblzma cannot begin another stream";
}

static const char *unpack_xz(void *state, struct stretch *s) {
    struct xz *x = state;
    for (lzma_ret code = LZMA_OK; code != LZMA_BUF_ERROR && s->room;) {
        const char *wrong = s->between ? begin_stream(x, s) : NULL;
        if (wrong || s->between) return wrong;
        x->z.next_in = (const uint8_t *)s->in, x->z.avail_in = s->left;
        x->z.next_out = (uint8_t *)s->out, x->z.avail_out = s->room;
        code = lzma_code(&x->z, LZMA_RUN);
        s->in = (const char *)x->z.next_in, s->left = x->z.avail_in;
        s->out = (char *)x->z.next_out, s->room = x->z.avail_out;
        s->between = code == LZMA_STREAM_END;
        if (code != LZMA_OK && code != LZMA_STREAM_END && code != LZMA_BUF_ERROR)
            return reason(code);
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
