/* sample.h - `seen plan --sample FILE`: how far apart repeats are is learnt from records, and
 * decaying windows are planned for that. */
#ifndef SEEN_PLAN_SAMPLE_H
#define SEEN_PLAN_SAMPLE_H

#include "judge/window_options.h"
#include "records/reader.h"
#include "seen_gaps.h"

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

/* Rows of one group, taken into a struct sample (struct option_group); and the options of input
 * that say how the sample is read, likewise. */
extern const struct option_row sample_rows[];
void sample_take(void *sample, const struct option_row *, const char *value);
void sample_take_input(void *sample, const struct option_row *, const char *value);

/* Dies where options of records were given without one. */
bool sample_is_given(const struct sample *);

/* Reads the sample, plans and prints; the exit code. */
int sample_run(struct sample *, const struct window_options *, bool json);

#endif
