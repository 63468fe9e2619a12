#include "top/name.h"

#include "cli.h"
#include "group/values.h"

#include <stdlib.h>
#include <string.h>

static void append(struct name *n, const struct slice *f) {
    if (n->used + 2 > NAME_MOST) return;
    char *value = malloc((size_t)f->len + 1);
    if (!value) die("out of memory for a key's name");
    size_t len = slice_value(f, value), room = NAME_MOST - n->used - 2;
    if (len > room) len = room;
    values_append(n->bytes + n->used, value, len);
    n->used += 2 + len;
    n->values++;
    free(value);
}

void name_of_key(struct name *n, const struct layout *l, const struct batch *b, size_t i) {
    n->values = n->used = 0;
    if (l->keys == 0) append(n, &(struct slice){b->record[i].at, b->record[i].bare, AS_IT_IS});
    for (uint32_t k = 0; k < l->keys; k++) append(n, &b->field[i * l->slots + l->key[k]]);
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
