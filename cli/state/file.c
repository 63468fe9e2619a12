/* file.c - writes and reads the file of a state. */
#include "state/state.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* -- one process at a time ---------------------------------------------------------------- */

/* The process that locked this file, as /proc/locks tells: "1: FLOCK ADVISORY WRITE 123 08:01:42 0
 * EOF"; 0 if it does not. */
static int holder(int fd) {
    struct stat st;
    char line[256];
    int pid = 0, found = 0;
    unsigned major, minor;
    unsigned long ino;
    FILE *f = fstat(fd, &st) ? NULL : fopen("/proc/locks", "re");
    while (f && !found && fgets(line, sizeof line, f))
        if (sscanf(line, "%*d: FLOCK %*s %*s %d %x:%x:%lu", &pid, &major, &minor, &ino) == 4 &&
            ino == st.st_ino && makedev(major, minor) == st.st_dev)
            found = pid;
    if (f) fclose(f);
    return found;
}

/* Waits for a holder that was just killed to end.  Its child may take as long as the disk. */
static void wait_for(struct state_file *f, int fd) {
    const struct timespec pause = {0, 10000000};
    for (int i = 0; flock(fd, LOCK_EX | LOCK_NB); i++) {
        int error = errno, pid = error == EWOULDBLOCK ? holder(fd) : 0;
        if (error != EWOULDBLOCK && error != EINTR)
            die("cannot lock the state %s: %s", f->name, strerror(error));
        bool alive = pid > 0 && (!kill(pid, 0) || errno == EPERM);
        if (alive && i >= 50)
            die("the state %s is in use by process %d; a state serves one run at a time", f->name,
                pid);
        if (i >= 1000)
            die("the state %s is in use by another process; a state serves one run at a time",
                f->name);
        nanosleep(&pause, NULL);
    }
}

static bool still_at(int fd, const char *path) {
    struct stat held, there;
    return !fstat(fd, &held) && !stat(path, &there) && held.st_ino == there.st_ino &&
           held.st_dev == there.st_dev;
}

/* Opens and locks the file at `path`.  Another process may replace it in between, so this repeats
 * until the locked file is the one at `path`.  -1 with errno if it cannot be opened. */
static int open_locked(struct state_file *f, const char *path, int flags) {
    for (;;) {
        int fd = open(path, flags | O_CLOEXEC, 0666);
        if (fd < 0) return -1;
        wait_for(f, fd);
        if (still_at(fd, path)) return fd;
        close(fd);
    }
}

/* Opens FILE.new, which a killed run may have left.  If it is not a snapshot, it belongs to another
 * program and stays. */
static int open_next(struct state_file *f) {
    char magic[4];
    f->next = open_locked(f, f->fresh, O_RDWR | O_CREAT | O_NOFOLLOW);
    if (f->next < 0) return errno;
    ssize_t n = pread(f->next, magic, sizeof magic, 0);
    if (n <= 0 || !memcmp(magic, "SEEN", (size_t)n)) return 0;
    close(f->next);
    f->next = -1;
    return EEXIST;
}

/* -- opening ------------------------------------------------------------------------------ */

static char *joined(const char *a, const char *b) {
    char *text;
    if (asprintf(&text, "%s%s", a, b) < 0) die("out of memory for a file name");
    return text;
}

static struct state_file *opened; /* to be let go of if the process dies with a sentence */

static void let_go(void) {
    if (opened) state_file_close(opened);
}

bool state_file_open(struct state_file *f, const char *name) {
    struct stat st;
    *f = (struct state_file){.name = name, .held = -1, .next = -1, .folder = -1};
    if (!*name) die("--state needs the name of a file");
    if (!stat(name, &st) && !S_ISREG(st.st_mode))
        die("the state %s is %s; --state names a file", name,
            S_ISDIR(st.st_mode) ? "a directory" : "no regular file");
    f->path = realpath(name, NULL);
    if (!f->path) f->path = joined(name, "");
    f->fresh = joined(f->path, ".new");
    char *copy = joined(f->path, "");
    const char *folder = dirname(copy);
    f->folder = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (f->folder < 0)
        die("cannot keep a state in %s: %s; --state names a file in a folder that is there", folder,
            strerror(errno));
    free(copy);
    opened = f;
    atexit(let_go);
    int error = open_next(f);
    if (error) die("cannot write %s, the next state: %s", f->fresh, strerror(error));
    f->held = open_locked(f, f->path, O_RDWR);
    if (f->held < 0 && errno != ENOENT) die("cannot read the state %s: %s", name, strerror(errno));
    return f->held >= 0;
}

void state_file_close(struct state_file *f) {
    int error;
    if (f->writer) {
        kill(f->writer, SIGKILL);
        while (!state_file_done(f, &error)) nanosleep(&(struct timespec){0, 1000000}, NULL);
    }
    if (f->next >= 0) unlink(f->fresh);
    for (int i = 0; i < 3; i++) {
        int fd = (int[]){f->next, f->held, f->folder}[i];
        if (fd >= 0) close(fd);
    }
    free(f->path);
    free(f->fresh);
    *f = (struct state_file){.held = -1, .next = -1, .folder = -1};
    opened = NULL;
}

/* -- loading ------------------------------------------------------------------------------ */

static struct buffered {
    int fd, error;
    size_t at, n;
    char bytes[1 << 16];
} loading; /* the state read last */

static int read_some(void *ctx, void *out, size_t len) {
    struct buffered *b = ctx;
    for (char *to = out; len > 0;) {
        if (b->at == b->n) {
            ssize_t got = read(b->fd, b->bytes, sizeof b->bytes);
            if (got < 0 && errno == EINTR) continue;
            if (got < 0) b->error = errno;
            if (got <= 0) return -1;
            b->at = 0;
            b->n = (size_t)got;
        }
        size_t n = b->n - b->at < len ? b->n - b->at : len;
        memcpy(to, b->bytes + b->at, n);
        b->at += n;
        to += n;
        len -= n;
    }
    return 0;
}

size_t state_file_memory(void) {
    long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    return pages > 0 && size > 0 ? (size_t)pages * (size_t)size : SIZE_MAX;
}

static char why[700]; /* what is wrong with a file that state_file_read refuses */

__attribute__((format(printf, 1, 2))) static const char *refuse(const char *format, ...) {
    va_list args;
    va_start(args, format);
    vsnprintf(why, sizeof why, format, args);
    va_end(args);
    return why;
}

static bool at_end(void) {
    if (loading.at < loading.n) return false;
    ssize_t got = read(loading.fd, loading.bytes, 1);
    loading.at = 0;
    loading.n = got > 0 ? (size_t)got : 0;
    return got <= 0;
}

static const char *refuse_more(const char *name) {
    return refuse("the state %.200s cannot be used: more follows behind its end; remove it to "
                  "start again",
                  name);
}

/* A message for a file that another program wrote.  It does not advise to remove that file. */
static const char *refuse_foreign(int fd, const char *name) {
    char head[6];
    if (pread(fd, head, sizeof head, 0) != sizeof head) return NULL;
    if (!memcmp(head, "SEENBF", 6))
        return refuse("%.200s is a filter as BF.SCANDUMP writes it, not a state of seen: load it "
                      "with BF.LOADCHUNK, and give another --state",
                      name);
    if (memcmp(head, "SEEN", 4) != 0)
        return refuse("%.200s is not a state of seen: it does not begin with SEEN; give --state a "
                      "file that seen wrote, or one that is not there yet",
                      name);
    return NULL;
}

/* The place of a snapshot's blob, in memory of its own. */
struct blob_room {
    void *bytes;
    size_t len;
};

static void *room_for(void *ctx, size_t len) {
    struct blob_room *p = ctx;
    p->len = len;
    return p->bytes = malloc(len);
}

/* Loads the snapshot.  NULL, or a sentence that says what is wrong; then there is no detector
 * and no blob. */
static const char *read_snapshot(int fd, const char *name, seen_detector **d, void **blob,
                                 size_t *len) {
    struct seen_error e;
    struct stat st;
    loading.fd = fd;
    loading.error = 0;
    loading.at = loading.n = 0;
    if (!fstat(fd, &st) && !st.st_size)
        return refuse("the state %.200s is empty; remove it to start again", name);
    const char *foreign = refuse_foreign(fd, name);
    if (foreign) return foreign;
    posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL);
    struct blob_room place = {NULL, 0};
    const struct seen_room room = {room_for, &place};
    int bad = seen_load(d, state_file_more(), state_file_memory(), &room, NULL, &e);
    if (bad) free(place.bytes);
    *blob = bad ? NULL : place.bytes;
    *len = place.len;
    if (loading.error)
        return refuse("cannot read the state %.200s: %s", name, strerror(loading.error));
    if (bad)
        return refuse("the state %.200s cannot be used: %s; remove it to start again", name,
                      e.text);
    return NULL;
}

struct seen_reader state_file_more(void) {
    return (struct seen_reader){read_some, &loading};
}

void state_file_end(const char *name) {
    if (!at_end()) die("%s", refuse_more(name));
}

seen_detector *state_file_load(struct state_file *f, void **blob, size_t *len) {
    seen_detector *d;
    const char *wrong = read_snapshot(f->held, f->name, &d, blob, len);
    if (wrong) die("%s", wrong);
    return d;
}

/* Checks what follows the snapshot: NULL if it is sound, or a sentence. */
static const char *check_more(const char *name, bool *more) {
    static struct blocks_in in;
    *more = !at_end();
    if (!*more) return NULL;
    blocks_in_begin(&in, state_file_more());
    blocks_skip(&in);
    if (loading.error)
        return refuse("cannot read the state %.200s: %s", name, strerror(loading.error));
    if (in.bad)
        return refuse("the state %.200s cannot be used: what follows its snapshot is damaged; "
                      "remove it to start over",
                      name);
    return at_end() ? NULL : refuse_more(name);
}

/* A run that holds the state may write over the file that is being read.  Then the file is read
 * again. */
seen_detector *state_file_look(const char *name, void **blob, size_t *len, bool *more,
                               struct stat *st, int *user) {
    for (int i = 0;; i++) {
        seen_detector *d;
        int fd = open(name, O_RDONLY | O_CLOEXEC);
        if (fd < 0 || fstat(fd, st)) die("cannot read the state %s: %s", name, file_trouble(errno));
        if (!S_ISREG(st->st_mode))
            die("the state %s is %s; a state is a file", name,
                S_ISDIR(st->st_mode) ? "a directory" : "no regular file");
        const char *wrong = read_snapshot(fd, name, &d, blob, len);
        if (!wrong && (wrong = check_more(name, more))) seen_free(d), free(*blob);
        bool torn = wrong && i < 100 && !still_at(fd, name);
        *user = flock(fd, LOCK_SH | LOCK_NB) && errno == EWOULDBLOCK ? holder(fd) : -1;
        close(fd);
        if (!wrong) return d;
        if (!torn) die("%s", wrong);
    }
}

/* -- saving: nothing but system calls, for a child of a process with threads may do no more --- */

struct draft {
    int fd, error;
    size_t n;
    char bytes[1 << 16];
};

static void put_all(struct draft *d, const char *p, size_t len) {
    while (len > 0 && !d->error) {
        ssize_t wrote = write(d->fd, p, len);
        if (wrote < 0 && errno == EINTR) continue;
        if (wrote < 0) d->error = errno;
        if (wrote == 0) d->error = ENOSPC;
        if (wrote <= 0) return;
        p += wrote;
        len -= (size_t)wrote;
    }
}

static void put_draft(struct draft *d) {
    put_all(d, d->bytes, d->n);
    d->n = 0;
}

static int write_some(void *ctx, const void *buf, size_t len) {
    struct draft *d = ctx;
    if (len > sizeof d->bytes - d->n) put_draft(d);
    if (len > sizeof d->bytes) {
        put_all(d, buf, len);
    } else {
        memcpy(d->bytes + d->n, buf, len);
        d->n += len;
    }
    return d->error;
}

/* What the snapshot counts as seen must be out before the snapshot is: on disk, too, if standard
 * output is a file, or else a power failure could lose it. */
static int write_state(struct state_file *f, const struct state_content *c) {
    static struct draft draft;
    struct stat st;
    draft.fd = f->next;
    draft.n = 0;
    draft.error = 0;
    if (lseek(f->next, 0, SEEK_SET) < 0 || ftruncate(f->next, 0)) return errno;
    if (f->held >= 0 && !fstat(f->held, &st)) fchmod(f->next, st.st_mode & 07777);
    const struct seen_writer out = {write_some, &draft};
    bool written = !seen_save(c->detector, c->blob, c->len, out, NULL);
    if (written && !(c->more && c->more(c->ctx, out)))
        put_draft(&draft);
    else if (!draft.error)
        draft.error = EFBIG; /* the blob */
    if (draft.error) return draft.error;
    if (!fstat(STDOUT_FILENO, &st) && S_ISREG(st.st_mode) && fdatasync(STDOUT_FILENO)) return errno;
    if (fsync(f->next)) return errno;
    /* The two files change places, if the file system can do that at once.  Making a file and
     * freeing another one's blocks may take a busy disk long, so the parent does these. */
    if ((f->held < 0 || renameat2(AT_FDCWD, f->fresh, AT_FDCWD, f->path, RENAME_EXCHANGE)) &&
        rename(f->fresh, f->path))
        return errno;
    fsync(f->folder);
    return 0;
}

/* After a rename, the file that was written is the state, and the one before it, if kept, is
 * FILE.new. */
static void take_over(struct state_file *f) {
    int before = f->held;
    if (!still_at(f->next, f->path)) return;
    f->held = f->next;
    f->next = -1;
    if (before < 0) return;
    if (still_at(before, f->fresh))
        f->next = before;
    else
        close(before);
}

int state_file_save(struct state_file *f, const struct state_content *c) {
    int error = 0;
    if (f->writer) {
        kill(f->writer, SIGKILL);
        while (!state_file_done(f, &error)) nanosleep(&(struct timespec){0, 1000000}, NULL);
    }
    error = f->next < 0 ? open_next(f) : 0;
    if (!error) error = write_state(f, c);
    take_over(f);
    return error;
}

int state_file_begin(struct state_file *f, const struct state_content *c) {
    sigset_t all, before;
    pid_t parent = getpid();
    int error = f->next < 0 ? open_next(f) : 0;
    if (error) return error;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before);
    pid_t child = fork();
    if (child == 0) { /* signals of the terminal are the parent's; but it dies with it */
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent) _exit(ECANCELED);
        _exit(write_state(f, c));
    }
    error = child < 0 ? errno : 0;
    sigprocmask(SIG_SETMASK, &before, NULL);
    f->writer = child > 0 ? child : 0;
    return error;
}

bool state_file_done(struct state_file *f, int *error) {
    int status;
    pid_t ended = f->writer ? waitpid(f->writer, &status, WNOHANG) : 0;
    if (!ended || (ended < 0 && errno == EINTR)) return false;
    *error = ended < 0 ? 0 : WIFEXITED(status) ? WEXITSTATUS(status) : ECANCELED;
    f->writer = 0;
    take_over(f);
    return true;
}
