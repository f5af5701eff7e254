/* SPDX-License-Identifier: MIT */
/* Operations on streams as a whole: open, position, buffers; and items. */
#include "fuzz.h"
#include "stream.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const modes[] = {"r", "w", "a", "r+", "w+", "a+", "rb", "w+x", "re", "a+e", "r+e"};

void keep_stream(struct worker *w, struct stream_slot *s, FILE *stream, const char *mode, struct fd_slot at)
{
    *s = (struct stream_slot){.stream = stream, .at = at, .serial = ++w->serial};
    s->readable = mode[0] == 'r' || strchr(mode, '+');
    s->writable = mode[0] != 'r' || strchr(mode, '+');
    s->kernel = raw_offset(at.fd);
}

static void op_fopen(struct worker *w)
{
    const char *mode = modes[below(w, sizeof modes / sizeof *modes)];
    struct stream_slot *s = free_stream(w);
    char path[NAME_ROOM];
    struct name name;
    FILE *stream;

    flush_pending(w, NULL);
    make_name(w, &name, NULL, some_path(w, path));
    stream = DO(w, fopen(path, mode));
    say_fd(w, "fopen", stream ? stream->_fileno : -1, "%s\ttype=%s", file_text(&name), mode);
    if (!stream)
        return;
    keep_stream(w, s, stream, mode, (struct fd_slot){stream->_fileno, "", file_new(&name, "")});
    s->at.file->references = 1;
    s->at.file->streamed = 1;
}

/* On a copy of a descriptor, whose other copies go on being used, or on the descriptor itself. */
static void op_fdopen(struct worker *w)
{
    const char *mode = modes[below(w, 6)];
    struct stream_slot *s = free_stream(w);
    struct fd_slot *slot = some_fd(w), at;
    FILE *stream;
    int copy = percent(w, 50);

    if (!slot || slot->file->untraced || (slot->file->shared && mode[0] == 'a')) /* as in op_setfl */
        return;
    flush_pending(w, NULL);
    at = *slot;
    if (copy) {
        at.fd = DO(w, dup(slot->fd));
        say_fd(w, "dup", at.fd, "%s", fd_facts(w, slot));
    }
    stream = DO(w, fdopen(at.fd, mode));
    say(w, "fdopen", stream ? 0 : -1, !stream, "%s\ttype=%s\tgives_fd=1", fd_facts(w, &at), mode);
    if (!stream) {
        if (copy) {
            at.file->references++;
            close_slot(w, &at);
        } else {
            *slot = at; /* the call was made on it */
        }
        return;
    }
    keep_stream(w, s, stream, mode, at);
    if (copy)
        at.file->references++;
    else
        *slot = (struct fd_slot){.fd = -1};
    at.file->streamed = 1;
}

static void op_freopen(struct worker *w)
{
    struct stream_slot *s = some_stream(w);
    const char *mode = modes[below(w, 6)];
    char path[NAME_ROOM], facts[2 * NAME_ROOM + 300];
    struct name name;
    FILE *stream;

    if (!s || percent(w, 50))
        return;
    flush_pending(w, NULL);
    snprintf(facts, sizeof facts, "%s", fd_facts(w, &s->at));
    if (percent(w, 40)) {
        name = s->at.file->name;
        stream = DO(w, freopen(NULL, mode, s->stream));
        if (stream)
            kernel_name(stream->_fileno, name.also);
        say_fd(w, "freopen", stream ? stream->_fileno : -1, "null=1\t%s\ttype=%s", file_text(&name), mode);
    } else {
        make_name(w, &name, NULL, some_path(w, path));
        stream = DO(w, freopen(path, mode, s->stream));
        say_fd(w, "freopen", stream ? stream->_fileno : -1, "%s\ttype=%s", file_text(&name), mode);
    }
    file_drop(s->at.file);
    w->last_closed = s->at.fd;
    free(s->buffer);
    if (!stream) { /* the stream is closed, its memory is left to nobody */
        *s = (struct stream_slot){.at.fd = -1};
        return;
    }
    keep_stream(w, s, stream, mode, (struct fd_slot){stream->_fileno, "", file_new(&name, "")});
    s->at.file->references = 1;
    s->at.file->streamed = 1;
}

static void op_fclose(struct worker *w)
{
    struct stream_slot *s = some_stream(w);

    if (!s)
        return;
    flush_pending(w, s);
    close_stream(w, s);
}

/* As programs do, before anything else is done with the stream. */
static void op_setvbuf(struct worker *w)
{
    static const size_t sizes[] = {1, 2, 16, 100, 4096, 20000};
    struct stream_slot *s = some_stream(w);
    int kind = (int)below(w, 3), r;
    size_t size = sizes[below(w, 6)];

    if (!s || s->calls || s->buffer)
        return;
    s->buffer = kind == _IONBF ? NULL : malloc(size);
    r = DO(w, setvbuf(s->stream, s->buffer, kind, kind == _IONBF ? 0 : size));
    say(w, "setvbuf", r, r != 0, "%s\ttype=%d", fd_facts(w, &s->at), kind);
}

/* --- position --------------------------------------------------------------------------------- */

static void sought(struct stream_slot *s, int failed)
{
    s->calls++;
    if (!failed)
        s->can_seek = 1;
    stream_moved(s);
}

static void op_fseek(struct worker *w)
{
    static const int whences[] = {SEEK_SET, SEEK_SET, SEEK_CUR, SEEK_END, 9};
    struct stream_slot *s = some_stream(w);
    int whence = whences[below(w, 5)], o = percent(w, 30), r;
    long by = whence == SEEK_SET ? some_offset(w) : (long)below(w, 300) - 200;

    if (!s)
        return;
    flush_pending(w, s);
    stream_place(s, 0);
    r = o ? DO(w, fseeko(s->stream, by, whence)) : DO(w, fseek(s->stream, by, whence));
    sought(s, r);
    say(w, o ? "fseeko" : "fseek", r, r != 0, "%s\tflags=%d\tserial=%d", fd_facts(w, &s->at), whence, s->serial);
    if (!r)
        s->at.file->moved_by[0] = 0;
}

static void op_ftell(struct worker *w)
{
    struct stream_slot *s = some_stream(w);
    int o = percent(w, 30);
    long r;

    if (!s)
        return;
    flush_pending(w, s);
    stream_place(s, 0);
    r = o ? DO(w, ftello(s->stream)) : DO(w, ftell(s->stream));
    s->calls++;
    stream_moved(s);
    say(w, o ? "ftello" : "ftell", r, r < 0, "%s\tserial=%d", fd_facts(w, &s->at), s->serial);
}

static void op_rewind(struct worker *w)
{
    struct stream_slot *s = some_stream(w);

    if (!s)
        return;
    flush_pending(w, s);
    stream_place(s, 0);
    DO(w, (rewind(s->stream), 0));
    sought(s, 0);
    say(w, "rewind", 0, 0, "%s\tserial=%d", fd_facts(w, &s->at), s->serial);
}

static void op_fgetpos(struct worker *w)
{
    struct stream_slot *s = some_stream(w);
    fpos_t position;
    int r;

    if (!s)
        return;
    flush_pending(w, s);
    stream_place(s, 0);
    r = DO(w, fgetpos(s->stream, &position));
    stream_moved(s);
    say(w, "fgetpos", r, r != 0, "%s\tserial=%d", fd_facts(w, &s->at), s->serial);
    if (r || percent(w, 30))
        return;
    if (!s->readable)
        return;
    say_items(w, s, 0, 3, 1 + below(w, 20));
    flush_pending(w, s);
    stream_place(s, 0);
    r = DO(w, fsetpos(s->stream, &position));
    sought(s, r);
    say(w, "fsetpos", r, r != 0, "%s\tserial=%d", fd_facts(w, &s->at), s->serial);
    moved_by(s->at.file, "fsetpos");
}

static void op_fflush(struct worker *w)
{
    struct stream_slot *s = some_stream(w);
    int r;

    if (!w->threaded && percent(w, 10)) {
        for (int i = 0; i < STREAMS; i++)
            if (w->streams[i].stream)
                stream_place(&w->streams[i], 0);
        r = DO(w, fflush(NULL));
        say(w, "fflush", r, r != 0, "all=1");
        for (int i = 0; i < STREAMS; i++)
            if (w->streams[i].stream)
                stream_moved(&w->streams[i]);
        return;
    }
    if (!s)
        return;
    stream_place(s, 0);
    r = DO(w, fflush(s->stream));
    sought(s, r || !s->wrote);
    say(w, "fflush", r, r != 0, "%s\tserial=%d", fd_facts(w, &s->at), s->serial);
}

/* --- items ------------------------------------------------------------------------------------ */

/* The C standard asks for it: a stream is positioned between reading and writing (or flushed,
 * behind writing). */
static void position(struct worker *w, struct stream_slot *s)
{
    int r;

    stream_place(s, 0);
    if (s->wrote && percent(w, 50)) {
        r = DO(w, fflush(s->stream));
        say(w, "fflush", r, r != 0, "%s\tserial=%d", fd_facts(w, &s->at), s->serial);
    } else {
        r = DO(w, fseek(s->stream, 0, SEEK_CUR));
        say(w, "fseek", r, r != 0, "%s\tflags=%d\tserial=%d", fd_facts(w, &s->at), SEEK_CUR, s->serial);
        if (r) {
            DO(w, (rewind(s->stream), 0));
            say(w, "rewind", 0, 0, "%s\tserial=%d", fd_facts(w, &s->at), s->serial);
        }
    }
    stream_moved(s);
}

void stream_turn(struct worker *w, struct stream_slot *s, int writing)
{
    flush_pending(w, s);
    if (s->calls && !s->can_seek && s->wrote != writing)
        position(w, s);
    s->calls++;
    s->wrote = writing;
    s->can_seek = 0;
}

void say_stream(struct worker *w, const char *call, struct stream_slot *s, long result, int failed, size_t size,
                long at, long moved, const char *more)
{
    stream_moved(s);
    say(w, call, result, failed, "%s\tsize=%zu\tmoved=%ld\toffset=%ld\tdata=1\tserial=%d%s", fd_facts(w, &s->at), size,
        moved, at, s->serial, more);
}

long stream_read(struct stream_slot *s, long at)
{
    stream_moved(s);
    return at < 0 ? 0 : stream_place(s, 0) - at;
}

void say_items(struct worker *w, struct stream_slot *s, int writing, size_t unit, size_t items)
{
    int unlocked = percent(w, 15);
    char more[30];
    long at, moved;
    size_t r;

    stream_turn(w, s, writing);
    at = stream_place(s, writing);
    if (writing) {
        some_bytes(w, w->buffer, unit * items);
        r = unlocked ? DO(w, fwrite_unlocked(w->buffer, unit, items, s->stream))
                     : DO(w, fwrite(w->buffer, unit, items, s->stream));
        moved = (long)(r * unit);
    } else {
        r = unlocked ? DO(w, fread_unlocked(w->buffer, unit, items, s->stream))
                     : DO(w, fread(w->buffer, unit, items, s->stream));
        moved = (long)(r * unit); /* the rest of an item that is not whole shows in the next call's place */
    }
    snprintf(more, sizeof more, "\tunit=%zu", unit);
    say_stream(w, writing ? (unlocked ? "fwrite_unlocked" : "fwrite") : (unlocked ? "fread_unlocked" : "fread"), s,
               (long)r, r < items && w->error != STALE_ERRNO, unit * items, at, moved, more);
}

static void op_items(struct worker *w)
{
    static const size_t units[] = {1, 1, 1, 2, 3, 7, 16, 100, 1000};
    struct stream_slot *s = some_stream(w);
    size_t unit = units[below(w, 9)], items = percent(w, 80) ? below(w, 40) : below(w, (unsigned)(BUFFER / unit / 2));

    if (s)
        say_items(w, s, s->readable && s->writable ? percent(w, 50) : s->writable != (!s->calls && percent(w, 3)), unit,
                  items);
}

const struct operation stream_operations[] = {
    {"fopen", 30, 30, op_fopen},   {"fdopen", 10, 10, op_fdopen},   {"freopen", 4, 4, op_freopen},
    {"fclose", 12, 12, op_fclose}, {"setvbuf", 20, 20, op_setvbuf}, {"fseek", 14, 14, op_fseek},
    {"ftell", 8, 8, op_ftell},     {"rewind", 4, 4, op_rewind},     {"fgetpos", 4, 4, op_fgetpos},
    {"fflush", 8, 8, op_fflush},   {"items", 50, 50, op_items},     {NULL, 0, 0, NULL}};
