/* value.c - what a field says, however it is written. */
#include "read/record.h"

size_t slice_value(const struct slice *f, char *out) {
    switch (f->escaped) {
    case CSV_QUOTED: return csv_unquote(f->at, f->len, out);
    }
    memcpy(out, f->at, f->len);
    return f->len;
}
