#include "commands/top/name.h"

#include "group/group.h"

void name_of_key(struct name *n, struct keyer *k, const struct batch *b, size_t i) {
    key_find_parts(k, b, i);
    n->values = n->used = 0;
    for (size_t m = 0; m < k->parts.n && n->used + 2 <= NAME_MOST; m++) {
        size_t len = k->parts.part[m].len, room = NAME_MOST - n->used - 2;
        if (len > room) len = room;
        values_append(n->bytes + n->used, parts_text(&k->parts, m), len);
        n->used += 2 + len;
        n->values++;
    }
}

bool name_is_sound(const struct name *n) {
    const char *at = n->bytes;
    size_t len;
    for (size_t i = 0; i < n->values; i++)
        if ((size_t)(at - n->bytes) + 2 > n->used ||
            (values_next(&at, &len), at) > n->bytes + n->used)
            return false;
    return at == n->bytes + n->used;
}

void name_print_text(const struct name *n, char delimiter, FILE *out) {
    const char *at = n->bytes;
    for (size_t i = 0, len; i < n->values; i++) {
        const char *value = values_next(&at, &len);
        if (i) putc(delimiter, out);
        fwrite(value, 1, len, out);
    }
}

void name_print_json(const struct name *n, FILE *out) {
    values_print_json(n->bytes, n->values, out);
}
