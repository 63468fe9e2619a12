/* click.h - what one record of a generated stream looks like.
 *
 * Every field is a pure function of the seed and the id's number, so nothing is remembered.  An id
 * is an advertisement and a user's cookie.  Ids 0 .. users-1 are each user's first advertisement,
 * the others the second one of the users from 0 on (users = 2/3 of the ids): neither column alone
 * is the key.
 *
 *     lines      ad0421k7m2...   the id: 6 characters of advertisement, then the cookie
 *     tsv, csv   time,ip,cookie,publisher,ad,cost,agent
 *     ndjson     {"time":"...","ip":"...",...}   the same as an object a line
 *
 * The cookie's first 8 characters are a bijection of the user's number, the others are random:
 * different ids never share a text, however short.  Planted for reports to find:
 *
 *     one publisher   shows the advertisements of all top ids (clicks inflated by a script)
 *     one address     has every FARM-th user (a script that deletes its cookie between clicks);
 *                     else an address has one user or two
 *
 * Addresses are private (10/8) or reserved for documentation: they belong to no real host. */
#ifndef SEEN_GENERATE_CLICK_H
#define SEEN_GENERATE_CLICK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { AD_LENGTH = 6, ID_SHORTEST = AD_LENGTH + 8, ID_LONGEST = 4096, FARM = 1000 };
enum { PERIOD_BITS = 26 };
enum { CLICK_MOST = ID_LONGEST + 512 }; /* bytes that click_put may touch */
#define CLICK_PUBLISHER "pub013"        /* the planted ones */
#define CLICK_ADDRESS   "192.0.2.66"

enum dress { DRESS_LINES, DRESS_TSV, DRESS_CSV, DRESS_NDJSON };
enum stamp { STAMP_NONE, STAMP_S, STAMP_MS, STAMP_US, STAMP_RFC3339 };

struct click_style {
    enum dress dress;
    enum stamp stamp;
    bool mark;        /* a last column: new or dup */
    size_t id_length; /* characters */
    uint64_t seed;
    uint64_t distinct, tops; /* ids; the last `tops` of them are the top ones */
    uint64_t start;          /* microseconds since the epoch */
    uint64_t period;         /* of one record, in 2^-PERIOD_BITS microseconds */

    uint64_t users, day; /* from here on: click_prepare's */
    char date[16];       /* of `day` */
    char pairs[1024][2]; /* ten bits -> two base-32 digits */
};

void click_prepare(struct click_style *);

/* The header (nothing for lines and JSON), and record `number` of id `id`.  Return the new end. */
char *click_put_header(const struct click_style *, char *at);
char *click_put(struct click_style *, char *at, uint64_t number, uint64_t id, bool fresh);

/* Record i comes at a random moment of the i-th period: times rise, and the rate is exact. */
uint64_t click_time(const struct click_style *, uint64_t number);

#endif
