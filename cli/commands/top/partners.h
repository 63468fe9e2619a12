/* partners.h - pairs of key and partner, and whether a window has seen them. */
#ifndef SEEN_TOP_PARTNERS_H
#define SEEN_TOP_PARTNERS_H

#include "judge/asked.h"

struct partners {
    struct seen_plan plan; /* of the detectors */
    bool still;            /* no time passes in them */
    char *bytes;           /* scratch: a key's digest and its partner */
    size_t cap;
};

/* Each window has a detector of pairs; its own length is only for its size.  `jumping`: a detector
 * of a jumping window's part lives from that part's begin to the end of the whole window. */
void partners_plan(struct partners *, struct asked *, struct input_options *, bool jumping);
void partners_free(struct partners *);

/* Is this pair new in the window? */
bool partners_first(struct partners *, seen_detector *, seen_digest key,
                    const struct slice *partner, seen_time);

/* As many as fit into 256 MiB, and two at least: one of a window that is over and one of another.
 * At most `most`. */
uint64_t partners_windows(const struct partners *, uint64_t most);

#endif
