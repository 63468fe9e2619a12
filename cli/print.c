/* print.c - how figures and texts are written. */
#include "print.h"

#include "output/json.h"

#include <inttypes.h>
#include <string.h>

struct number number_grouped(uint64_t n) {
    char digits[24];
    struct number out;
    int len = snprintf(digits, sizeof digits, "%" PRIu64, n), at = 0;
    for (int i = 0; i < len; i++) {
        if (i > 0 && (len - i) % 3 == 0) out.text[at++] = ',';
        out.text[at++] = digits[i];
    }
    out.text[at] = '\0';
    return out;
}

struct number number_size(uint64_t bytes) {
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
    struct number out;
    double size = (double)bytes;
    size_t unit = 0;
    for (; size >= 1024 && unit < 4; unit++) size /= 1024;
    snprintf(out.text, sizeof out.text, "%.*f %s", unit > 0, size, units[unit]);
    return out;
}

void print_json_string(FILE *f, const char *text) { json_print(text, strlen(text), f); }

void print_tame(char *text) {
    for (; *text; text++)
        if ((unsigned char)*text < 0x20 || *text == 0x7f) *text = '?';
}
