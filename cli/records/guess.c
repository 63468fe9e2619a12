/* guess.c - guesses the delimiter of a table. */
#include "records/guess.h"

#include "base/cli.h"
#include "records/format/fields.h"

#include <stdlib.h>
#include <string.h>

static const struct {
    char byte;
    const char *option, *not_tsv;
} delimiters[] = {
    {',', "-d ,", "--csv"},          {';', "-d ';'", "--csv -d ';'"}, {'\t', "-d tab", "--tsv"},
    {'|', "-d '|'", "--csv -d '|'"}, {' ', "-d ' '", "--csv -d ' '"},
};

static bool says(const struct slice *f, const char *name) {
    char *value = malloc((size_t)f->len + 1);
    if (!value) die("out of memory for the name of a column");
    size_t len = slice_value(f, value);
    bool same = len == strlen(name) && !memcmp(value, name, len);
    free(value);
    return same;
}

const char *guess_delimiter(const char *line, size_t len, const struct cutting *now, bool table,
                            uint64_t columns, const char *name) {
    const char *best = NULL;
    bool tsv = table && now->delimiter == '\t' && !now->quotes;
    uint64_t most = columns - 1;
    for (size_t i = 0; i < sizeof delimiters / sizeof *delimiters; i++) {
        struct cutting cutting = {.delimiter = delimiters[i].byte, .quotes = tsv || now->quotes};
        struct walk w = fields_of(&cutting, line, len);
        struct slice f;
        uint64_t n = 0;
        bool named = !name;
        for (; fields_next(&w, &f); n++) named = named || says(&f, name);
        if (cutting.delimiter == now->delimiter || n <= most || !named) continue;
        most = n;
        best = tsv ? delimiters[i].not_tsv : delimiters[i].option;
    }
    return best;
}
