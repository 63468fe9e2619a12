/* state.c - loads the state of a run, resumes it, and saves it while the run goes on and at its
 * end. */
#include "state/state.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* -- options ------------------------------------------------------------------------------ */

void state_init(struct state *s, const struct state_kind *kind) {
    *s = (struct state){.kind = kind, .every = 60 * 1000000};
    s->file = (struct state_file){.held = -1, .next = -1, .folder = -1};
}

enum { FILE_NAME = 1, EVERY, FROM_START };

const struct option_row state_rows[] = {
    {"Going on later", 0, NULL, NULL, 0},
    {"state", 0, "FILE", "go on where the run that wrote FILE stopped; keep it written", FILE_NAME},
    {"state-every", 0, "SPAN", "write the state this often (default: 60s; 0s: at the end only)",
     EVERY},
    {"from-start", 0, NULL, "read files from their start again", FROM_START},
    {0},
};

void state_take(void *state, const struct option_row *row, const char *value) {
    struct state *s = state;
    switch (row->id) {
    case FILE_NAME: s->name = value; break;
    case EVERY:
        s->every = option_span("--state-every", value);
        if (s->every / 1000000 > INT32_MAX) die("--state-every %s: that is never", value);
        break;
    case FROM_START: s->from_start = true; break;
    }
}

/* -- loading ------------------------------------------------------------------------------ */

void state_load(struct state *s, struct window_options *a) {
    if (s->name && !strcmp(s->name, "-"))
        die("--state - : a state is a file that is replaced as a whole; name one, or ./- for a "
            "file called -");
    if (!s->name && s->from_start) die("--from-start serves --state: files are read from there");
    if (!s->name || !state_file_open(&s->file, s->name)) return;
    struct saved *b = calloc(1, sizeof *b);
    if (!b) die("out of memory for a state");
    s->before = b;
    b->detector = state_file_load(&s->file, &b->blob, &b->len);
    saved_unpack(b, s->name);
    if (strcmp(b->command, s->kind->command) != 0)
        die("%s was made by seen %s, and this is seen %s; give another --state", s->name,
            b->command, s->kind->command);
    if (!s->kind->load) state_file_end(s->name);
    s->places = b->places;
    if (a->specs || a->zone) return; /* other options are compared with the state's */
    a->spec[a->specs++] = b->spec;
    a->zone = saved_options_find(&b->options, "--zone");
    if (a->zone) saved_options_put(&s->options, "--zone", a->zone);
}

void state_check(struct state *s, const struct window_options *a) {
    char text[768] = "";
    const struct saved *b = s->before;
    struct seen_spec spec;
    window_spec(a, 0, &spec);
    seen_spec_print(&spec, s->spec, sizeof s->spec);
    if (!b) return;
    size_t at = saved_specs_differ(b->spec, s->spec, text, sizeof text, 0);
    at = saved_options_differ(&b->options, &s->options, text, sizeof text, at);
    if (at) die("%s was made %s; give what it was made with, or another --state", s->name, text);
}

seen_detector *state_detector(struct state *s) { return s->before ? s->before->detector : NULL; }

/* -- resuming ----------------------------------------------------------------------------- */

/* The records so far, without one that is still being passed on in pieces. */
static uint64_t records_of(const struct state *s) {
    return *s->of.number - (s->of.reader->passing > 0);
}

static void say_resumed(const struct state *s) {
    const struct saved *b = s->before;
    char when[64] = "", more[160] = "", text[40];
    seen_time last = saved_last(b);
    if (last && time_text(last / 1000000 * 1000000, text, sizeof text))
        snprintf(when, sizeof when, " (%s)", text);
    if (!b->ended && b->output != SAVED_NO_OUTPUT)
        snprintf(more, sizeof more,
                 "; what was printed after that, when the output had %s bytes,"
                 " comes again",
                 number_grouped(b->output).text);
    else if (!b->ended)
        snprintf(more, sizeof more, "; what was printed after that comes again");
    warn("%s: resuming after record %s%s%s", s->name, number_grouped(s->saved).text, when, more);
}

/* Finds the length of the output, and whether it ends inside a line because the last run was killed
 * while it wrote.  False: the output is not a file, or cannot be read. */
static bool look_at_output(uint64_t *len, char end, bool *torn) {
    struct stat st;
    char last;
    int flags = fcntl(STDOUT_FILENO, F_GETFL);
    if (flags < 0 || fstat(STDOUT_FILENO, &st) || !S_ISREG(st.st_mode)) return false;
    off_t at = flags & O_APPEND ? st.st_size : lseek(STDOUT_FILENO, 0, SEEK_CUR);
    *len = at > 0 ? (uint64_t)at : 0;
    if (!torn || !*len) return torn == NULL;
    int fd = open("/proc/self/fd/1", O_RDONLY | O_CLOEXEC); /* ours may be for writing only */
    bool known = fd >= 0 && pread(fd, &last, 1, at - 1) == 1;
    if (fd >= 0) close(fd);
    if (known) *torn = last != end;
    return known;
}

static void load_more(struct state *s) {
    static struct blocks_in in;
    blocks_in_begin(&in, state_file_more());
    bool sound = s->kind->load(s->of.ctx, &in);
    if (in.bad)
        die("the state %s cannot be used: what follows its snapshot is damaged; remove it to start "
            "over",
            s->name);
    if (!sound || !blocks_in_end(&in)) saved_refuse(s->name);
    state_file_end(s->name);
}

static void resume(struct state *s) {
    const struct saved *b = s->before;
    judge_resume(s->of.judge, &b->judge);
    *s->of.unended = b->unended;
    if (b->header && s->of.reader->input->header)
        reader_adopt_header(s->of.reader, b->header, b->header_len);
    if (!s->kind->unpack(s->of.ctx, b->extra, b->extra_len)) saved_refuse(s->name);
    if (s->kind->load) load_more(s);
    s->saved = *s->of.number = s->of.reader->records = b->number;
    if (!s->quiet) say_resumed(s);
}

void state_begin(struct state *s, struct state_of of) {
    uint64_t len;
    s->of = of;
    if (!s->name) return;
    s->quiet = of.reader->input->quiet;
    of.reader->hold_back = true;
    if (s->before) resume(s);
    look_at_output(&len, of.end, of.unended);
    signals_watch_state((double)s->every * 1e-6);
}

bool state_goes_on(const struct state *s) {
    const struct saved *b = s->before;
    uint64_t len;
    return b && !b->ended && b->output != SAVED_NO_OUTPUT && look_at_output(&len, '\n', NULL) &&
           len >= b->output;
}

void state_opened(struct state *s) {
    char what[1024] = "";
    struct reader *r = s->of.reader;
    if (!s->name || r->in.waits) return;
    const struct place *f =
        s->from_start ? NULL : places_find(&s->places, &r->in, what, sizeof what);
    text_tame(what);
    if (*what && !s->quiet) warn("%s", what);
    off_t at = lseek(r->in.fd, 0, SEEK_CUR); /* another program may have read some */
    if (f && f->offset && (r->header || !r->input->header))
        reader_resume(r, f->offset, f->lines);
    else if (at > 0 && input_is_plain(&r->in))
        r->in.base = (uint64_t)at;
}

/* -- saving ------------------------------------------------------------------------------- */

static void note_place(struct state *s) {
    const struct reader *r = s->of.reader;
    if (!r->in.waits) places_note(&s->places, &r->in, reader_position(r), r->splitter.lines);
}

static struct packer pack(struct state *s, bool ended) {
    struct packer p = {0};
    note_place(s);
    char magic[32];
    snprintf(magic, sizeof magic, "seen %s", s->kind->command);
    pack_text(&p, magic);
    pack_number(&p, SAVED_FORMAT);
    pack_text(&p, SEEN_VERSION);
    pack_text(&p, s->spec);
    pack_number(&p, s->options.n);
    for (size_t i = 0; i < s->options.n; i++) {
        pack_text(&p, s->options.option[i].name);
        pack_text(&p, s->options.option[i].value);
    }
    uint64_t output = SAVED_NO_OUTPUT;
    look_at_output(&output, '\n', NULL);
    pack_number(&p, ended);
    pack_number(&p, output);
    pack_number(&p, records_of(s));
    judge_pack(s->of.judge, reader_unreadable(s->of.reader), &p);
    pack_number(&p, *s->of.unended);
    reader_pack_header(s->of.reader, &p);
    places_pack(&s->places, &p);
    struct packer extra = {0};
    s->kind->pack(s->of.ctx, &extra);
    pack_bytes(&p, extra.buf, extra.n);
    pack_free(&extra);
    return p;
}

static int save_more(const void *ctx, struct seen_writer writer) {
    static struct blocks_out out;
    const struct state *s = ctx;
    blocks_out_begin(&out, writer);
    s->kind->save(s->of.ctx, &out);
    return blocks_out_end(&out);
}

static struct state_content content_of(const struct state *s, const struct packer *blob) {
    return (struct state_content){s->of.detector, blob->buf, blob->n,
                                  s->kind->save ? save_more : NULL, s};
}

static void say_failed(struct state *s, int error) {
    if (s->failing) return;
    s->failing = true;
    warn("cannot write the state %s: %s; %s", s->name, strerror(error),
         s->file.held >= 0 ? "the one before stays" : "there is none yet");
}

/* Writes the output first, so that all records that the state counts as seen are delivered. */
static void save_in_passing(struct state *s) {
    if (s->file.writer) return; /* it will be due still */
    s->due = false;
    reader_settle(s->of.reader);
    uint64_t records = records_of(s);
    if (records == s->saved) return;
    if (!s->kind->deliver(s->of.ctx) || unjudged_flush(&s->of.reader->unjudged)) return;
    struct packer p = pack(s, false);
    struct state_content content = content_of(s, &p);
    huge_pages_find(&s->huge_pages);
    int error = state_file_begin(&s->file, &content);
    pack_free(&p);
    if (error)
        say_failed(s, error);
    else
        s->saved = records;
}

void state_attend(struct state *s) {
    int error;
    if (!s->name) return;
    if (s->file.writer && state_file_done(&s->file, &error)) {
        if (error) say_failed(s, error);
        s->failing = error != 0;
        huge_pages_restore(&s->huge_pages);
    }
    s->due |= signals_taken_save();
    if (s->due) save_in_passing(s);
}

/* While a child writes, each page is copied when it first changes, which takes the time of some
 * twenty records.  So output is not left to wait for a full buffer. */
void state_judged(struct state *s) {
    if (!s->file.writer) return;
    double now = time_monotonic();
    if (now - s->flushed < 0.01) return;
    s->flushed = now;
    s->kind->deliver(s->of.ctx);
}

void state_closed(struct state *s) {
    if (s->name) note_place(s);
}

bool state_end(struct state *s) {
    if (!s->name) return true;
    const struct sink *rejects = s->of.reader->unjudged.rejects;
    /* Records whose output was not delivered are not counted as seen. */
    if (!s->kind->deliver(s->of.ctx) || (rejects && rejects->error)) return true;
    struct packer p = pack(s, true);
    struct state_content content = content_of(s, &p);
    int error = state_file_save(&s->file, &content);
    pack_free(&p);
    s->failing = false;
    if (error) say_failed(s, error);
    return !error;
}

void state_free(struct state *s) {
    if (s->name) state_file_close(&s->file);
    places_free(&s->places);
    if (s->before) free(s->before->blob);
    free(s->before);
}
