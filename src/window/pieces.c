#include "window/pieces.h"

#include "bits.h"
#include "plan/theory.h"

#include <math.h>

double pieces_now(const struct pieces *p, double rate) {
    double odds = p->fresh ? theory_odds(rate) : 0;
    return p->expected + (double)p->fresh * (p->odds + odds) / 2;
}

void pieces_close(struct pieces *p, double rate, uint64_t until) {
    p->expected = pieces_now(p, rate);
    p->odds = theory_odds(rate);
    p->fresh = 0;
    p->until = until;
}

void pieces_clear(struct pieces *p) {
    p->fresh = 0;
    p->expected = 0;
}

bool pieces_sane(const struct pieces *p) {
    return p->fresh < COUNT_MOST && isfinite(p->expected) && p->expected >= 0 &&
           p->expected < 1e18 && p->odds >= 0 && p->odds <= 1e6;
}
