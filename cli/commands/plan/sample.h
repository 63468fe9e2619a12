/* sample.h - `seen plan --sample FILE`: how far apart repeats are is learnt from records, and
 * decaying windows are planned for that. */
#ifndef SEEN_PLAN_SAMPLE_H
#define SEEN_PLAN_SAMPLE_H

#include "judge/window_options.h"
#include "records/reader.h"
#include "seen_gaps.h"

enum { SAMPLE_FILE = 700, SAMPLE_MEM };

#define SAMPLE_ROWS                                                                                \
    {"A sample of the stream, for decaying windows", 0, NULL, NULL, 0},                            \
        {"sample", 0, "FILE", "learn from its records how far apart repeats are (-: input)",       \
         SAMPLE_FILE},                                                                             \
        {"sample-mem", 0, "SIZE", "to learn in (default: 64MiB); keys beyond it are sampled",      \
         SAMPLE_MEM},                                                                              \
        SOURCE_ROWS, SOURCE_QUIET_ROW, SOURCE_STRICT_ROW

struct sample {
    struct input_options input;
    char *file; /* NULL: none was given */
    uint64_t mem;
    const char *other; /* an option that needs a sample; NULL: none was given */
    struct reader reader;
    struct judge judge;
    seen_detector *hasher; /* knows how keys are hashed */
    seen_gaps *gaps;
};

void sample_init(struct sample *);

/* False if the option is none of these. */
bool sample_take(struct sample *, int id, const char *name, const char *value);

/* Dies where options of records were given without one. */
bool sample_is_given(const struct sample *);

/* Reads the sample, plans and prints; the exit code. */
int sample_run(struct sample *, const struct window_options *, bool json);

#endif
