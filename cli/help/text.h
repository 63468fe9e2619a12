/* text.h - prose of struct command (cli.h) on a terminal. */
#ifndef SEEN_HELP_TEXT_H
#define SEEN_HELP_TEXT_H

#include <stdbool.h>
#include <stddef.h>

enum { TEXT_WIDTH = 79 };

/* Fills lines with the words of `text` up to a blank line in it, backquotes left out; what is
 * behind that blank line, or NULL. */
const char *text_paragraph(const char *text);

/* The same in lines that begin `indent` columns in; the first is there already. */
const char *text_indented(const char *text, size_t indent);

/* Words one by one, in lines that begin `indent` columns in; `at` is the column so far. */
void text_word(const char *word, size_t indent, size_t *at);

#endif
