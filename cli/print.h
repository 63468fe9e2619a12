/* print.h - how figures and texts are written, for people and for programs. */
#ifndef SEEN_PRINT_H
#define SEEN_PRINT_H

#include <stdint.h>
#include <stdio.h>

struct number {
    char text[32];
};

struct number number_grouped(uint64_t); /* 1,234,567 */
struct number number_size(uint64_t);    /* 1.5 MiB */

/* The string in its quotes, escaped.  Bytes that are not UTF-8 are shown as Latin-1. */
void print_json_string(FILE *, const char *text);

/* For a terminal's sake: bytes that would steer it become question marks. */
void print_tame(char *text);

#endif
