/* input.c - files in order through one buffer, which holds a constant number of bytes however long
 * the stream is: it grows only while one record does not fit. */
#include "read/input.h"

#include "cli.h"
#include "read/record.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
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

void input_init(struct input *in) {
    *in = (struct input){.fd = -1, .cap = FIRST_CAP};
    in->buf = allocate(NULL, in->cap);
}

void input_free(struct input *in) {
    input_close(in);
    free(in->buf);
    in->buf = NULL;
}

/* Reading what is being written would never end. */
static void refuse_own_output(const struct input *in, const struct stat *st) {
    struct stat out;
    if (!S_ISREG(st->st_mode) || fstat(STDOUT_FILENO, &out)) return;
    if (st->st_dev == out.st_dev && st->st_ino == out.st_ino)
        die("%s is both input and output", in->name);
}

int input_open(struct input *in, const char *name) {
    bool is_stdin = !strcmp(name, "-");
    struct stat st;
    in->name = is_stdin ? "standard input" : name;
    in->fd = is_stdin ? STDIN_FILENO : open(name, O_RDONLY | O_CLOEXEC);
    if (in->fd < 0 || fstat(in->fd, &st)) return -1;
    in->blocks = !S_ISREG(st.st_mode);
    in->begin = in->end = 0;
    in->base = 0;
    refuse_own_output(in, &st);
    return 0;
}

void input_close(struct input *in) {
    if (in->fd > STDIN_FILENO) close(in->fd);
    in->fd = -1;
}

/* What is compressed has to be read up to there. */
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
        if (got <= 0 && errno != EINTR) return false;
    }
    in->begin = (size_t)(offset - in->base);
    return true;
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
    ssize_t got = read(in->fd, in->buf + in->end, in->cap - in->end);
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
    struct pollfd fds[2] = {{.fd = in->fd, .events = POLLIN}, {.fd = wake, .events = POLLIN}};
    return poll(fds, 2, wait ? -1 : 0) > 0 && fds[0].revents;
}
