/* input.c - reads files in order through one buffer of a fixed size.  The buffer only grows while
 * one record does not fit. */
#include "records/input.h"

#include "base/cli.h"
#include "records/format/record.h"
#include "records/input_options.h"
#include "records/unpack/unpack.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Half of a common L2 cache, so that what read() copied is still there when it is judged. */
enum { FIRST_CAP = 256 << 10 };

static char *allocate(char *old, size_t cap) {
    char *buf = realloc(old, cap + READ_SLACK);
    if (!buf) die("out of memory for a read buffer of %zu bytes", cap);
    memset(buf + cap, 0, READ_SLACK);
    return buf;
}

void input_init(struct input *in, const struct input_options *s) {
    *in = (struct input){
        .fd = -1, .cap = FIRST_CAP, .unpack_mem = s->unpack_mem, .lines = s->end == '\n'};
    in->buf = allocate(NULL, in->cap);
}

void input_free(struct input *in) {
    input_close(in);
    free(in->buf);
    in->buf = NULL;
}

/* Decides by the first bytes how the file is read.  False, with errno: it cannot be read. */
static bool accept(struct input *in, const struct packing *p, const char *foreign,
                   const char *begin, size_t n) {
    errno = EBADMSG;
    snprintf(in->trouble, sizeof in->trouble, "%s", foreign ? foreign : "");
    if (foreign) return false;
    if (!p) return true;
    if (!p->open) {
        snprintf(in->trouble, sizeof in->trouble,
                 "it is compressed, and this build of seen lacks %s: %s -dc FILE | seen ...",
                 p->name, p->name);
        return false;
    }
    in->unpack = unpack_new(p, in->name, in->unpack_mem, in->lines, begin, n);
    return true;
}

int input_open(struct input *in, const char *name) {
    bool is_stdin = !strcmp(name, "-"), more;
    char begin[FOREIGN_BYTES];
    struct stat st, out;
    in->name = is_stdin ? "standard input" : name;
    in->fd = is_stdin ? STDIN_FILENO : open(name, O_RDONLY | O_CLOEXEC);
    if (in->fd < 0 || fstat(in->fd, &st)) return -1;
    in->waits = !S_ISREG(st.st_mode);
    in->begin = in->end = 0;
    in->base = 0;
    in->sniffing = in->waits;
    in->sniffed = 0;
    *in->trouble = '\0';
    if (in->waits) return 0;
    if (!fstat(STDOUT_FILENO, &out) && st.st_dev == out.st_dev && st.st_ino == out.st_ino)
        die("%s is both input and output; write to another file", in->name);
    ssize_t n = pread(in->fd, begin, sizeof begin, lseek(in->fd, 0, SEEK_CUR));
    if (n <= 0) return 0;
    const struct packing *p = unpack_tell(begin, (size_t)n, &more);
    const char *foreign = foreign_tell_file(in->fd, begin, (size_t)n, in->lines);
    return accept(in, p, foreign, NULL, 0) ? 0 : -1;
}

void input_open_feed(struct input *in, const char *name, const struct input_feed *feed, void *ctx,
                     bool waits) {
    in->name = name;
    in->feed = feed;
    in->feed_ctx = ctx;
    in->waits = waits;
    in->begin = in->end = 0;
    in->base = 0;
}

void input_close(struct input *in) {
    if (in->fd > STDIN_FILENO) close(in->fd);
    unpack_free(in->unpack);
    in->unpack = NULL;
    if (in->feed) in->feed->free(in->feed_ctx);
    in->feed = NULL;
    in->fd = -1;
}

/* A compressed file is read up to the offset, because it cannot be skipped. */
bool input_skip(struct input *in, uint64_t offset) {
    if (input_is_plain(in)) {
        errno = 0;
        bool there = lseek(in->fd, (off_t)offset, SEEK_SET) == (off_t)offset;
        if (there) in->base = offset;
        return there;
    }
    ssize_t got = 1;
    while (in->base + in->end < offset) {
        in->begin = in->end;
        errno = 0;
        got = input_fill(in);
        if (got <= 0 && errno != EINTR && errno != EAGAIN) return false;
    }
    in->begin = (size_t)(offset - in->base);
    return true;
}

/* Reads the first bytes of a pipe or a device, which may come one by one.  Holds them back until
 * they show whether the stream is compressed. */
static ssize_t sniff(struct input *in) {
    bool more;
    ssize_t got = read(in->fd, in->buf + in->sniffed, in->cap - in->sniffed);
    if (got < 0) return got;
    in->sniffed += (size_t)got;
    const struct packing *p = unpack_tell(in->buf, in->sniffed, &more);
    if (got > 0 && more) {
        errno = EAGAIN;
        return -1;
    }
    in->sniffing = false;
    if (!accept(in, p, foreign_tell(in->buf, in->sniffed, in->lines), in->buf, in->sniffed))
        return -1;
    if (!p) return (ssize_t)in->sniffed;
    return unpack_read(in->unpack, in->fd, in->buf, in->cap);
}

const char *input_trouble(struct input *in, int error) {
    if (error != EBADMSG) return file_trouble(error);
    if (*in->trouble) return in->trouble;
    if (in->feed) return in->feed->trouble(in->feed_ctx, &in->name);
    return in->unpack ? unpack_trouble(in->unpack) : strerror(error);
}

void input_skip_mark(struct input *in) {
    bool start = input_offset(in) == 0 && in->end >= 3;
    if (start && in->lines && !memcmp(in->buf, "\xef\xbb\xbf", 3)) in->begin = 3;
}

ssize_t input_fill(struct input *in) {
    if (in->begin > 0) {
        memmove(in->buf, in->buf + in->begin, in->end - in->begin);
        in->end -= in->begin;
        in->base += in->begin;
        in->begin = 0;
    }
    if (in->end == in->cap) {
        in->cap *= 2;
        in->buf = allocate(in->buf, in->cap);
    }
    char *at = in->buf + in->end;
    size_t room = in->cap - in->end;
    ssize_t got = in->sniffing ? sniff(in)
                  : in->feed   ? in->feed->read(in->feed_ctx, at, room)
                  : in->unpack ? unpack_read(in->unpack, in->fd, at, room)
                               : read(in->fd, at, room);
    if (got > 0) in->end += (size_t)got;
    return got;
}

bool input_grown(const struct input *in) { return in->cap > FIRST_CAP; }

char *input_trade(struct input *in, char *other, size_t cut) {
    char *given = in->buf;
    in->buf = other ? other : allocate(NULL, in->cap);
    memcpy(in->buf, given + cut, in->end - cut);
    in->base += cut;
    in->begin = 0;
    in->end -= cut;
    return given;
}

void input_shrink(struct input *in) {
    size_t left = in->end - in->begin;
    if (!input_grown(in) || left > FIRST_CAP / 2) return;
    memmove(in->buf, in->buf + in->begin, left);
    in->base += in->begin;
    in->begin = 0;
    in->end = left;
    in->cap = FIRST_CAP;
    in->buf = allocate(in->buf, in->cap);
}

bool input_ready(const struct input *in, int wake, bool wait) {
    if (in->unpack && unpack_pending(in->unpack)) return true;
    if (in->feed) return in->feed->ready(in->feed_ctx, wake, wait);
    struct pollfd fds[2] = {{.fd = in->fd, .events = POLLIN}, {.fd = wake, .events = POLLIN}};
    return poll(fds, 2, wait ? -1 : 0) > 0 && fds[0].revents;
}
