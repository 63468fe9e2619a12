/* chain.h - the growing filter of BF.*: a chain of landmark windows without an end, each made when
 * the one before it is full, larger by `expansion` and with half its errors, so that all of them
 * together err at the rate asked for at most.  Small links are lists of fingerprints (few.h). */
#ifndef MODULE_CHAIN_H
#define MODULE_CHAIN_H

#include "value.h"

#define CHAIN_CAPACITY   100
#define CHAIN_ERROR      0.01
#define CHAIN_GROWTH     2
#define CHAIN_ERROR_MOST 0.25

/* Its first link; limit: bytes the value may take, 0 any.  All links hash with `seed`. */
int chain_begin(struct value *, uint64_t seed, uint64_t limit, struct seen_error *);

enum chain_verdict { CHAIN_SEEN, CHAIN_NEW, CHAIN_FULL, CHAIN_FAILED };

bool chain_has(const struct value *, const void *item, size_t len);
/* CHAIN_FAILED: the error says why. */
enum chain_verdict chain_add(struct value *, const void *item, size_t len, uint64_t limit,
                             struct seen_error *);

uint64_t chain_items(const struct value *);
uint64_t chain_capacity(const struct value *);
uint64_t chain_link_capacity(const struct value *, uint32_t link);

/* One link in words, as BF.DEBUG says it; returns what snprintf does. */
int chain_describe(const struct value *, uint32_t link, char *buf, size_t cap);

/* After links were loaded: counts what is in the youngest. */
void chain_count(struct value *);

#endif
