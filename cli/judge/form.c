/* form.c - applies --key-regex, --trim, --key-url and --ignore-case to values of keys. */
#include "judge/form.h"

#include "base/cli.h"

#include <string.h>

bool form_any(const struct key_form *f) { return f->trim || f->ignore_case || f->url || f->regex; }

/* -- the expression ----------------------------------------------------------------------- */

static int compile(const struct key_form *f, regex_t *pattern) {
    return regcomp(pattern, f->regex, REG_EXTENDED | (f->ignore_case ? REG_ICASE : 0));
}

void form_compile(const struct key_form *f, regex_t *pattern) {
    if (compile(f, pattern)) die("out of memory for --key-regex");
}

void form_check(struct key_form *f) {
    char why[128];
    regex_t pattern;
    if (!f->regex) return;
    int code = compile(f, &pattern);
    if (code) {
        regerror(code, &pattern, why, sizeof why);
        die("--key-regex '%s' is not an extended regular expression: %s", f->regex, why);
    }
    if (pattern.re_nsub > FORM_GROUPS)
        die("--key-regex '%s' has %zu groups; %d are the most", f->regex, pattern.re_nsub,
            FORM_GROUPS);
    f->groups = (uint32_t)pattern.re_nsub;
    regfree(&pattern);
}

size_t form_match(const struct key_form *f, const regex_t *pattern, const char *value, size_t len,
                  regmatch_t match[FORM_GROUPS + 1]) {
    match[0] = (regmatch_t){0, (regoff_t)len};
    if (regexec(pattern, value, f->groups + 1, match, REG_STARTEND)) return 0;
    if (!f->groups) return 1;
    memmove(match, match + 1, f->groups * sizeof *match);
    for (uint32_t i = 0; i < f->groups; i++) /* a group that took no part is empty */
        if (match[i].rm_so < 0) match[i] = (regmatch_t){0, 0};
    return f->groups;
}

/* -- one value ---------------------------------------------------------------------------- */

static bool blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

static size_t trim(char *value, size_t len) {
    size_t from = 0;
    while (len > 0 && blank(value[len - 1])) len--;
    while (from < len && blank(value[from])) from++;
    memmove(value, value + from, len - from);
    return len - from;
}

size_t form_apply(const struct key_form *f, char *value, size_t len) {
    if (f->trim) len = trim(value, len);
    if (f->url) len = url_normalise(value, len);
    for (size_t i = 0; f->ignore_case && i < len; i++)
        if (value[i] >= 'A' && value[i] <= 'Z') value[i] = (char)(value[i] | 0x20);
    return len;
}
