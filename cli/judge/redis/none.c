/* none.c - a build without hiredis. */
#include "judge/redis/remote.h"

int remote_main(const struct settings *s) {
    (void)s;
    die("--redis: this seen was built without a Redis client; install libhiredis-dev, then "
        "meson setup --reconfigure build -Dredis=enabled, and build it again");
}
