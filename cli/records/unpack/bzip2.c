/* bzip2.c - .bz2 through libbz2: streams one behind the other, as bzip2 and pbzip2 write them.  It
 * never takes more than 4 MiB. */
#include "records/unpack/unpack.h"

#ifdef HAVE_BZIP2
#include <bzlib.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

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

static const char *begin_stream(bz_stream *z, struct stretch *s) {
    if (!s->left) return NULL;
    s->between = false;
    BZ2_bzDecompressEnd(z);
    memset(z, 0, sizeof *z);
    return BZ2_bzDecompressInit(z, 0, 0) == BZ_OK ? NULL : "libbz2 cannot begin another stream";
}

static unsigned at_most(size_t n) { return n < INT_MAX ? (unsigned)n : INT_MAX; }

static const char *reason(int code) {
    switch (code) {
    case BZ_DATA_ERROR_MAGIC: return "what follows it is not bzip2";
    case BZ_MEM_ERROR: return "there is not enough memory to read it";
    default: return "its contents do not fit their checksums";
    }
}

static const char *unpack_bzip2(void *state, struct stretch *s) {
    bz_stream *z = state;
    for (bool moved = true; moved && s->room;) {
        const char *wrong = s->between ? begin_stream(z, s) : NULL;
        if (wrong || s->between) return wrong;
        unsigned left = at_most(s->left), room = at_most(s->room);
        z->next_in = (char *)(uintptr_t)s->in, z->avail_in = left;
        z->next_out = s->out, z->avail_out = room;
        int code = BZ2_bzDecompress(z);
        unsigned took = left - z->avail_in, gave = room - z->avail_out;
        s->in += took, s->left -= took;
        s->out += gave, s->room -= gave;
        s->between = code == BZ_STREAM_END;
        if (code != BZ_OK && code != BZ_STREAM_END) return reason(code);
        moved = took + gave > 0;
    }
    return NULL;
}
#else
#define open_bzip2   NULL
#define close_bzip2  NULL
#define unpack_bzip2 NULL
#endif

/* A digit, and the begin of a block or, of an empty file, of its end. */
const struct packing bzip2_packing = {"bzip2",     {"BZh?1AY&SY", "BZh?\x17\x72\x45\x38\x50\x90"},
                                      10,          open_bzip2,
                                      close_bzip2, unpack_bzip2};
