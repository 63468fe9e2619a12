/* text.c - prose on a terminal: words in lines of TEXT_WIDTH columns. */
#include "help/text.h"

#include <stdio.h>
#include <string.h>

void text_word(const char *word, size_t indent, size_t *at) {
    size_t len = strlen(word);
    if (*at > indent && *at + 1 + len > TEXT_WIDTH) {
        printf("\n%*s", (int)indent, "");
        *at = indent;
    }
    *at += (size_t)printf("%s%s", *at > indent ? " " : "", word);
}

/* The word at `text` without its backquotes. */
static size_t copy_word(char *word, size_t cap, const char *text) {
    size_t n = strcspn(text, " \n"), out = 0;
    for (size_t i = 0; i < n && out + 1 < cap; i++)
        if (text[i] != '`') word[out++] = text[i];
    word[out] = '\0';
    return n;
}

const char *text_paragraph(const char *text) { return text_indented(text, 0); }

const char *text_indented(const char *text, size_t indent) {
    char word[128];
    size_t at = indent;
    while (*text && *text != '\n') {
        text += copy_word(word, sizeof word, text);
        text_word(word, indent, &at);
        text += *text == ' ';
    }
    putchar('\n');
    return *text ? text + strspn(text, "\n") : NULL;
}
