/* settings.h - what the command line of `seen dedup` asks for. */
#ifndef SEEN_SETTINGS_H
#define SEEN_SETTINGS_H

#include "judge.h"
#include "sink.h"

enum table { TABLE_NONE, TABLE_CSV, TABLE_TSV };
enum report { REPORT_NONE, REPORT_TEXT, REPORT_JSON };

struct settings {
    struct seen_plan plan;
    enum zone_window zone;   /* days or weeks whose boundaries are found here, ... */
    const char *zone_name;   /* ... in this time zone */
    const char *keys, *time; /* as given, or NULL */
    const char *landmark_on; /* NULL: none */
    regex_t pattern;         /* of landmark_on */
    enum table table;
    bool header; /* the first line names the columns */
    char delimiter;
    bool crlf, strict, quiet, exit_code;
    enum sink_mode mode;
    enum report report;
    uint32_t max_record;
    char *const *files; /* "-" is standard input */
    size_t file_count;
};

/* Reads the options, or dies with a sentence.  False: --help or --version was all. */
bool settings_read(struct settings *, int argc, char **argv);
void settings_free(struct settings *);

#endif
