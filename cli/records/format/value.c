/* value.c - what a field says, however it is written. */
#include "records/format/json.h"
#include "records/record.h"

int hex_digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

size_t slice_value(const struct slice *f, char *out) {
    switch (f->escaped) {
    case CSV_QUOTED: return csv_unquote(f->at, f->len, out);
    case JSON_STRING: return (size_t)json_unescape(f->at, f->len, out);
    case JSON_NESTED: return json_minify(f->at, f->len, out);
    case CLF_QUOTED: return clf_unescape(f->at, f->len, out);
    }
    memcpy(out, f->at, f->len);
    return f->len;
}
