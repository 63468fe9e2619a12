/* hash.c - turns keys into digests, and passes streams of bytes on with a checksum.
 *
 *     xxh3     XXH3-128, seeded: fast and uniform; an adversary can find collisions
 *     siphash  SipHash-2-4 with 128 bits of output: for keys that an adversary chooses
 *     int      a decimal integer, as it is   } for structures that need the key itself;
 *     raw      up to 16 bytes, as they are   } their digests are not uniform
 *
 * A plan with bits= above 128 has several digests for each key.  xxh3 and siphash then hash the key
 * once for each digest, and raw takes 16 bytes for each. */
#include "base/hash.h"

#include "base/base.h"
#include "base/bits.h"

#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#ifdef HAVE_SODIUM
#include <sodium/crypto_shorthash_siphash24.h>
#endif

seen_digest seen_hash(const void *key, size_t len, uint64_t seed) {
    XXH128_hash_t h = XXH3_128bits_withSeed(key, len, seed);
    return (seen_digest){h.low64, h.high64};
}

_Static_assert(sizeof(XXH3_state_t) <= sizeof(struct hash_sum), "room for the library's state");

void hash_sum_begin(struct hash_sum *s) { XXH3_64bits_reset((XXH3_state_t *)s->state); }

void hash_sum_add(struct hash_sum *s, const void *bytes, size_t len) {
    XXH3_64bits_update((XXH3_state_t *)s->state, bytes, len);
}

uint64_t hash_sum_end(const struct hash_sum *s) {
    return XXH3_64bits_digest((const XXH3_state_t *)s->state);
}

bool hash_available(uint32_t kind) {
#ifndef HAVE_SODIUM
    if (kind == SEEN_HASH_SIPHASH) return false;
#endif
    return kind <= SEEN_HASH_RAW;
}

static seen_digest siphash(const void *key, size_t len, uint64_t seed) {
    seen_digest digest = {0, 0};
#ifdef HAVE_SODIUM
    uint64_t secret[2] = {seed, ~seed};
    crypto_shorthash_siphashx24((unsigned char *)&digest, key, len, (const unsigned char *)secret);
#else
    (void)key, (void)len, (void)seed; /* the plan has refused it */
#endif
    return digest;
}

static int integer(const char *text, size_t len, seen_digest *out, struct seen_error *e) {
    const bits_u128 most = ~(bits_u128)0;
    bits_u128 value = 0;
    for (size_t i = 0; i < len; i++) {
        unsigned digit = (unsigned)(unsigned char)text[i] - '0';
        if (digit > 9)
            return error_set(e, SEEN_EINVAL, i + 1,
                             "hash=int needs keys that are decimal integers");
        if (value > (most - digit) / 10)
            return error_set(e, SEEN_EINVAL, 1, "hash=int needs integers below 2^128");
        value = value * 10 + digit;
    }
    if (!len) return error_set(e, SEEN_EINVAL, 1, "hash=int needs a key that is not empty");
    *out = (seen_digest){(uint64_t)value, (uint64_t)(value >> 64)};
    return 0;
}

/* Zero-padded: keys that differ in trailing NUL bytes only are one key. */
static int raw(const void *key, size_t len, seen_digest *out, uint32_t digests,
               struct seen_error *e) {
    size_t most = digests * sizeof *out;
    if (len > most)
        return error_set(e, SEEN_EINVAL, most + 1,
                         "hash=raw takes keys of at most %zu bytes here, and this one has %zu (an "
                         "exact table of such keys would need 2^%zu bits); use hash=xxh3",
                         most, len, len * 8);
    memset(out, 0, most);
    if (len) memcpy(out, key, len);
    return 0;
}

int hash_key(uint32_t kind, uint64_t seed, const void *key, size_t len, seen_digest *out,
             uint32_t digests, struct seen_error *e) {
    if (kind == SEEN_HASH_RAW) return raw(key, len, out, digests, e);
    if (kind == SEEN_HASH_INT) {
        memset(out + 1, 0, (digests - 1) * sizeof *out);
        return integer(key, len, out, e);
    }
    for (uint32_t i = 0; i < digests; i++, seed += BITS_GOLDEN)
        out[i] = kind == SEEN_HASH_XXH3 ? seen_hash(key, len, seed) : siphash(key, len, seed);
    return 0;
}

size_t seen_key_append(void *buf, size_t cap, size_t at, const void *field, size_t len) {
    unsigned char varint[10];
    size_t n = 0, rest = len;
    do {
        varint[n] = (unsigned char)((rest & 0x7f) | (rest > 0x7f ? 0x80 : 0));
        rest >>= 7;
        n++;
    } while (rest);
    size_t end = at + n + len;
    if (end > cap || end < at) return end < at ? SIZE_MAX : end;
    memcpy((char *)buf + at, varint, n);
    if (len) memcpy((char *)buf + at + n, field, len);
    return end;
}

/* -- streams with checksums --------------------------------------------------------------- */

#define PIECE ((size_t)64 << 10) /* summed and passed on at once, while it is in the cache */

void stream_begin(struct stream *s) { hash_sum_begin(&s->sum); }

int stream_write(void *ctx, const void *buf, size_t len) {
    struct stream *s = ctx;
    int bad = 0;
    for (size_t at = 0, n; at < len && !bad; at += n) {
        n = bits_min(len - at, PIECE);
        hash_sum_add(&s->sum, (const char *)buf + at, n);
        bad = s->writer.write(s->writer.ctx, (const char *)buf + at, n);
    }
    return bad;
}

int stream_read(void *ctx, void *buf, size_t len) {
    struct stream *s = ctx;
    int bad = 0;
    for (size_t at = 0, n; at < len && !bad; at += n) {
        n = bits_min(len - at, PIECE);
        bad = s->reader.read(s->reader.ctx, (char *)buf + at, n);
        if (!bad) hash_sum_add(&s->sum, (char *)buf + at, n);
    }
    return bad;
}

int stream_write_sum(struct stream *s) {
    uint64_t sum = hash_sum_end(&s->sum);
    stream_begin(s);
    return s->writer.write(s->writer.ctx, &sum, sizeof sum);
}

int stream_check_sum(struct stream *s, const char *part, struct seen_error *e) {
    uint64_t stored, sum = hash_sum_end(&s->sum);
    stream_begin(s);
    if (s->reader.read(s->reader.ctx, &stored, sizeof stored))
        return error_set(e, SEEN_EFORMAT, 0, "the snapshot ends before the checksum of its %s",
                         part);
    if (stored != sum)
        return error_set(e, SEEN_EFORMAT, 0, "the snapshot's %s is damaged: its checksum is wrong",
                         part);
    return 0;
}

int stream_read_header(struct stream *s, void *header, size_t len, const char *letters,
                       uint32_t version, const char *other, struct seen_error *e) {
    uint32_t found;
    if (stream_read(s, header, len))
        return error_set(e, SEEN_EFORMAT, 0, "the snapshot ends in its header");
    if (memcmp(header, letters, 4) != 0)
        return error_set(e, SEEN_EFORMAT, 0, "%s: it does not begin with %s", other, letters);
    memcpy(&found, (const char *)header + 4, sizeof found);
    if (found != version)
        return error_set(e, SEEN_EFORMAT, 0,
                         "the snapshot has format version %u, and this program reads %u", found,
                         version);
    return 0;
}
