/* law_plan - plans of random specs: they keep what was asked, plan to themselves, and a refusal
 * names fixes that work. */
#include "law.h"

#include "spec/spec.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct seen_spec *text(char *buf, size_t cap, const struct seen_spec *spec) {
    seen_spec_print(spec, buf, cap);
    return spec;
}

/* A random window of the case's kind, and random common options. */
static void random_spec(const struct law_case *c, char *buf, size_t cap, uint64_t *rng) {
    static const char *const units[] = {"", "", "ms", "s"};
    uint64_t length = 1 + law_below(rng, (uint64_t)1 << law_below(rng, 24)),
             pick = law_below(rng, 4);

    size_t n = 0;
    if (c->window == SEEN_WINDOW_LANDMARK && !law_below(rng, 4))
        n = (size_t)snprintf(buf, cap, "landmark");
    else if (c->window == SEEN_WINDOW_DECAYING)
        n = (size_t)snprintf(buf, cap, "decaying");
    else if (c->window == SEEN_WINDOW_JUMPING)
        n = (size_t)snprintf(buf, cap, "jumping:%llu%s/%llu", (unsigned long long)length,
                             units[pick],
                             (unsigned long long)(1 + law_below(rng, length < 60 ? length : 60)));
    else
        n = (size_t)snprintf(buf, cap, "%s:%llu%s",
                             c->window == SEEN_WINDOW_LANDMARK ? "landmark" : "sliding",
                             (unsigned long long)length, units[pick]);
    n += (size_t)snprintf(buf + n, cap - n, " filter=%s", c->structure);
    if (law_below(rng, 2))
        n += (size_t)snprintf(buf + n, cap - n, " fp=%.3g",
                              pow(10, -.1 - (double)law_below(rng, 100) / 10));
    if (law_below(rng, 2))
        n += (size_t)snprintf(buf + n, cap - n, " mem=%lluKiB",
                              (unsigned long long)1 << law_below(rng, 17));
    if (law_below(rng, 2))
        n += (size_t)snprintf(
            buf + n, cap - n, " items=%llu",
            1 + (unsigned long long)law_below(rng, (uint64_t)1 << law_below(rng, 22)));
    if (!law_below(rng, 4))
        n += (size_t)snprintf(buf + n, cap - n, " shards=%llu",
                              1 + (unsigned long long)law_below(rng, 40));
    if (!law_below(rng, 4)) n += (size_t)snprintf(buf + n, cap - n, " refresh=first");
    bool cache = !(c->traits & SEEN_NO_FP) && !strstr(buf, "first") && !law_below(rng, 3);
    if (!law_below(rng, 6))
        n += (size_t)snprintf(buf + n, cap - n, " k=%llu",
                              1 + (unsigned long long)law_below(rng, 24));
    if (cache)
        snprintf(buf + n, cap - n, " cache=%llu",
                 1 + (unsigned long long)law_below(rng, (uint64_t)1 << law_below(rng, 18)));
}

static int plan_text(struct seen_plan *plan, const char *spec, struct seen_error *e) {
    struct seen_spec parsed;
    law_check(!seen_spec_parse(&parsed, spec, e), "%s: %s", spec, e->text);
    return seen_plan_make(plan, &parsed, e);
}

static void check_promises(const struct seen_plan *p, const char *asked) {
    const struct seen_spec *s = &p->asked;
    law_check(p->fp_full >= 0 && p->fp_full <= 1 && p->fp_mean <= p->fp_full * 1.001,
              "%s: fp %g, mean %g", asked, p->fp_full, p->fp_mean);
    bool cut = p->spec.window == SEEN_WINDOW_SLIDING && p->spec.unit == SEEN_UNIT_MICROSECONDS;
    bool runs = seen_spec_get_count(&p->spec, "generations");
    law_check(p->slack >= 0 &&
                  (p->spec.window == SEEN_WINDOW_JUMPING || cut || runs || p->slack == 0),
              "%s: slack %g", asked, p->slack);
    /* A sub-window is a whole number of records, so up to one longer than its share.  Runs of k
     * slices leave it one by one, so it is kept for k generations more, not for one. */
    double q = s->subwindows ? (double)s->subwindows : 1, more = 1;
    if (runs)
        q = (double)seen_spec_get_count(&p->spec, "generations"),
        more = fmax(1, (double)seen_spec_get_count(&p->spec, "k"));
    law_check(p->slack <= more / q + (q + more) / (double)(s->length ? s->length : 1),
              "%s: slack %g", asked, p->slack);
    if (options_has(s, OPTION_FP))
        law_check(p->fp_full <= seen_spec_get_real(s, "fp") * (1 + 1e-9) ||
                      options_has(s, OPTION_BLOCKS),
                  "%s: fp_full is %g", asked, p->fp_full);
    if (options_has(s, OPTION_MEM))
        law_check(p->bytes <= seen_spec_get_count(s, "mem"), "%s: takes %llu bytes", asked,
                  (unsigned long long)p->bytes);
    uint64_t keys = options_has(s, OPTION_ITEMS) ? seen_spec_get_count(s, "items") : 0;
    if (s->unit == SEEN_UNIT_RECORDS && (!keys || keys > s->length)) keys = s->length;
    if (!(p->traits & SEEN_GROWS))
        law_check(p->capacity >= keys, "%s: capacity %llu", asked, (unsigned long long)p->capacity);
}

static void a_resolved_spec_plans_to_itself_and_keeps_its_word(const struct law_case *c) {
    uint64_t rng = law_seed() + c->serial, made = 0;
    for (int i = 0; i < 200; i++) {
        struct seen_plan plan, again;
        struct seen_error e = {0};
        char asked[300], one[600], two[600];
        random_spec(c, asked, sizeof asked, &rng);
        if (plan_text(&plan, asked, &e)) {
            law_check(e.code == SEEN_EREFUSED && strlen(e.text) > 10, "%s: %d", asked, e.code);
            continue;
        }
        made++;
        check_promises(&plan, asked);
        text(one, sizeof one, &plan.spec);
        law_check(!plan_text(&again, one, &e), "%s resolves to %s: %s", asked, one, e.text);
        text(two, sizeof two, &again.spec);
        law_check(!strcmp(one, two), "%s resolves to %s and that to %s", asked, one, two);
        law_check(plan.bytes == again.bytes && plan.fp_full == again.fp_full &&
                      plan.slack == again.slack && plan.traits == again.traits,
                  "%s: the plan of %s differs", asked, one);
    }
    law_check(made > 40, "only %llu plans were made", (unsigned long long)made);
}

/* "… need mem=X …; mem=M allows fp=P, or items=I"; "need more than mem=X", where mem= ends there */
static void follow(const char *asked, const char *fix, const char *name) {
    struct seen_spec spec;
    struct seen_plan plan;
    struct seen_error e = {0};
    char value[64];
    law_check(!seen_spec_parse(&spec, asked, &e), "%s", e.text);
    snprintf(value, sizeof value, "%.*s", (int)strcspn(fix, " ,;"), fix);
    law_check(!seen_spec_set(&spec, name, value, &e), "%s: %s", asked, e.text);
    law_check(!seen_plan_make(&plan, &spec, &e), "%s, advised %s=%s: %s", asked, name, value,
              e.text);
}

static void a_refusal_names_fixes_that_work(const struct law_case *c) {
    uint64_t rng = law_seed() + c->serial, refused = 0;
    /* Some structures are seldom refused so: until one was, if there are any. */
    for (int i = 0; i < 400 || (i < 40000 && !refused && !(c->traits & SEEN_GROWS)); i++) {
        struct seen_plan plan;
        struct seen_error e = {0};
        char asked[300], *fix;
        random_spec(c, asked, sizeof asked, &rng);
        int bad = plan_text(&plan, asked, &e);
        if (!bad || !(fix = strstr(e.text, " need"))) continue;
        fix += 1 + strcspn(fix + 1, " ");
        bool more = !strncmp(fix, " more than mem=", 15);
        if (!more && strncmp(fix, " mem=", 5) != 0) continue;
        refused++;
        if (!more) follow(asked, fix + 5, "mem");
        if ((fix = strstr(e.text, "allows fp="))) follow(asked, fix + 10, "fp");
        if ((fix = strstr(e.text, "items=")) && strncmp(fix, "items=0", 7))
            follow(asked, fix + 6, "items");
    }
    law_check(refused > 0 || c->traits & SEEN_GROWS, "only %llu were refused",
              (unsigned long long)refused);
}

int main(void) {
    static const struct law laws[] = {
        {"a resolved spec plans to itself, and a plan keeps its word",
         a_resolved_spec_plans_to_itself_and_keeps_its_word, false},
        {"a refusal names fixes that work", a_refusal_names_fixes_that_work, false},
    };
    return law_main("plans", laws, sizeof laws / sizeof *laws);
}
