/* slots.h - which part of a cluster a key belongs to: one of 16,384 slots, each with an owner. */
#ifndef SEEN_SLOTS_H
#define SEEN_SLOTS_H

#include <stdint.h>

enum { SLOTS = 16384 };

/* Of two keys with the same {tag} it is the same. */
uint16_t slot_of(const char *key);

#endif
