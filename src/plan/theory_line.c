#include "plan/theory_line.h"

#include <math.h>

/* The loss formula by its recursion. */
static double loss(double offered, uint32_t room) {
    double b = 1;
    for (uint32_t i = 1; i <= room; i++) b = offered * b / (i + offered * b);
    return b;
}

double theory_line_full(double mean, uint32_t room) {
    double lo = mean, hi = 4 * room + 4.; /* what is offered */
    if (mean <= 0) return 0;
    if (mean >= room) return 1;
    for (int i = 0; i < 60; i++) {
        double middle = lo + (hi - lo) / 2;
        if (middle * (1 - loss(middle, room)) < mean)
            lo = middle;
        else
            hi = middle;
    }
    return loss(lo, room);
}

double theory_line_marked(double mean, uint32_t room, double epoch) {
    double epochs = .86 + .88 * epoch;
    return 1 - exp(-epochs * mean * theory_line_full(mean, room) / THEORY_LINE_CLASSES);
}

double theory_line_looked(double mean, uint32_t room, double epoch) {
    double marked = theory_line_marked(mean, room, epoch);
    return 1 + marked * (1 + marked * (1 + marked));
}

double theory_line_touched(double mean, uint32_t room, double epoch) {
    double full = theory_line_full(mean, room), marked = theory_line_marked(mean, room, epoch);
    return theory_line_looked(mean, room, epoch) + full * (1 - marked);
}

double theory_line_alike(double held, double mean, uint32_t room, double epoch) {
    return held * (theory_line_looked(mean, room, epoch) + 2 * theory_line_full(mean, room));
}

double theory_line_fp(double held, double mean, uint32_t room, uint32_t bits, double epoch) {
    return -expm1(theory_line_alike(held, mean, room, epoch) * log1p(-ldexp(1, -(int)bits)));
}

double theory_line_mean(double full, uint32_t room) {
    double lo = 0, hi = room;
    for (int i = 0; i < 40; i++) {
        double middle = lo + (hi - lo) / 2;
        if (theory_line_full(middle, room) < full)
            lo = middle;
        else
            hi = middle;
    }
    return lo;
}
