/* slots.c - the slot of a key, as the cluster specification has it: CRC16 (XMODEM: polynomial
 * 0x1021, from 0) of the key modulo 16,384; of a key with a {tag} that is not empty, of the tag. */
#include "judge/redis/slots.h"

#include <string.h>

uint16_t slot_of(const char *key) {
    const char *open = strchr(key, '{'), *close = open ? strchr(open + 1, '}') : NULL;
    const char *from = close && close > open + 1 ? open + 1 : key;
    const char *end = from == key ? key + strlen(key) : close;
    uint16_t crc = 0;
    for (const char *p = from; p < end; p++) {
        crc = (uint16_t)(crc ^ (unsigned char)*p << 8);
        for (int bit = 0; bit < 8; bit++) crc = (uint16_t)(crc << 1 ^ (crc >> 15 ? 0x1021 : 0));
    }
    return crc % SLOTS;
}
