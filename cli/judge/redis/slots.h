/* slots.h - which part of a cluster a key belongs to: one of 16,384 slots, each with an owner. */
#ifndef SEEN_SLOTS_H
#define SEEN_SLOTS_H

#include <stdint.h>

enum { SLOTS = 16384 };

/* The slot of a key.  Two keys with the same {tag} have the same slot. */
uint16_t slot_of(const char *key);

#endif
