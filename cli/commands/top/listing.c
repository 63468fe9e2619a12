#include "commands/top/listing.h"
#include "base/json.h"

#include <inttypes.h>
#include <stdio.h>

static const char *unit(const struct listing *l) { return l->distinct ? "partners" : "records"; }

void listing_heading(struct listing *l) {
    if (!l->json && !l->headed) printf("from\tkey\t%s\terror\twindows\n", unit(l));
    l->headed = true;
}

void listing_row(const struct listing *l, const char *from, const struct name *name,
                 const struct seen_heavy *h, uint64_t windows) {
    if (!l->json) {
        printf("%s\t", from);
        name_print_text(name, l->delimiter, stdout);
        printf("\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\n", h->count, h->error, windows);
        return;
    }
    printf("{\"from\": ");
    json_print_text(stdout, from);
    printf(", \"key\": ");
    name_print_json(name, stdout);
    printf(", \"%s\": %" PRIu64 ", \"error\": %" PRIu64 ", \"windows\": %" PRIu64 "}\n", unit(l),
           h->count, h->error, windows);
}

void listing_persistent(const struct listing *l, const struct ranking *windows,
                        struct seen_heavy *list, uint64_t number) {
    size_t n = seen_top_list(windows->top, list);
    for (size_t i = 0; i < n && i < number; i++) {
        const struct name *name = windows->name[list[i].counter];
        uint64_t surely = list[i].count - list[i].error;
        if (!l->json) {
            printf("all\t");
            name_print_text(name, l->delimiter, stdout);
            printf("\t-\t-\t%" PRIu64 "\n", surely);
            continue;
        }
        printf("{\"from\": \"all\", \"key\": ");
        name_print_json(name, stdout);
        printf(", \"windows\": %" PRIu64 "}\n", surely);
    }
}
