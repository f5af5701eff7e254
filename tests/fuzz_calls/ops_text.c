/* SPDX-License-Identifier: MIT */
/* Operations on streams: characters, lines, formats. */
#include "fuzz.h"
#include "stream.h"

#include <stdlib.h>
#include <string.h>

static struct stream_slot *for_reading(struct worker *w)
{
    struct stream_slot *s = some_stream(w);

    return s && (s->readable || (!s->calls && percent(w, 5))) ? s : NULL; /* later it might find what was written */
}

static struct stream_slot *for_writing(struct worker *w)
{
    struct stream_slot *s = some_stream(w);

    return s && (s->writable || (!s->calls && percent(w, 5))) ? s : NULL;
}

static const char *const getters[] = {"getc", "fgetc", "getc_unlocked", "fgetc_unlocked"};
static const char *const putters[] = {"putc", "fputc", "putc_unlocked", "fputc_unlocked"};

static int one_getc(struct worker *w, struct stream_slot *s, unsigned which)
{
    long at = stream_place(s, 0), moved;
    char more[40];
    int c = which == 0   ? DO(w, getc(s->stream))
            : which == 1 ? DO(w, fgetc(s->stream))
            : which == 2 ? DO(w, getc_unlocked(s->stream))
                         : DO(w, fgetc_unlocked(s->stream));

    moved = c != EOF;
    snprintf(more, sizeof more, "\tchar=1\tgot=%d", c);
    say_stream(w, getters[which], s, c == EOF ? 0 : 1, c == EOF && w->error != STALE_ERRNO, 1, at, moved, more);
    return c;
}

static void one_putc(struct worker *w, struct stream_slot *s, unsigned which, int c)
{
    long at = stream_place(s, 1);
    int r = which == 0   ? DO(w, putc(c, s->stream))
            : which == 1 ? DO(w, fputc(c, s->stream))
            : which == 2 ? DO(w, putc_unlocked(c, s->stream))
                         : DO(w, fputc_unlocked(c, s->stream));

    say_stream(w, putters[which], s, r == EOF ? 0 : 1, r == EOF, 1, at, r != EOF, "\tchar=1");
}

static void op_getc(struct worker *w)
{
    struct stream_slot *s = for_reading(w);
    unsigned n = 1 + below(w, percent(w, 20) ? 200 : 8), which = below(w, 4);

    for (unsigned i = 0; s && i < n; i++) {
        if (i == 0)
            stream_turn(w, s, 0);
        if (one_getc(w, s, percent(w, 5) ? below(w, 4) : which) == EOF)
            n = i + 2 < n ? i + 2 : n;
    }
}

static void op_putc(struct worker *w)
{
    struct stream_slot *s = for_writing(w);
    unsigned n = 1 + below(w, percent(w, 20) ? 200 : 8), which = below(w, 4);

    for (unsigned i = 0; s && i < n; i++) {
        if (i == 0)
            stream_turn(w, s, 1);
        one_putc(w, s, percent(w, 5) ? below(w, 4) : which,
                 percent(w, 10)  ? '\n'
                 : percent(w, 5) ? 0
                                 : 'a' + (int)i % 26);
    }
}

/* From one stream to the other, character by character, as filters do. */
static void op_filter(struct worker *w)
{
    struct stream_slot *from = for_reading(w), *to = for_writing(w);
    unsigned n = 1 + below(w, 100), get = below(w, 4), put = below(w, 4);

    if (!from || !to || from == to || !from->readable || !to->writable)
        return;
    if (strcmp(from->at.file->name.file, to->at.file->name.file) == 0 || from->at.file == to->at.file)
        return;
    stream_turn(w, from, 0);
    stream_turn(w, to, 1);
    for (unsigned i = 0; i < n; i++) {
        int c = one_getc(w, from, get);

        if (c == EOF)
            return;
        one_putc(w, to, put, c);
    }
}

/* As parsers do: what was read is given back; or another character, which is read at once (the C
 * library makes mistakes where such a one is left behind and the stream is positioned). */
static void op_ungetc(struct worker *w)
{
    struct stream_slot *s = for_reading(w);
    int same = percent(w, 80), c, r;

    if (!s)
        return;
    stream_turn(w, s, 0);
    c = one_getc(w, s, below(w, 4));
    if (c == EOF)
        return;
    c = same ? c : 'A' + (int)below(w, 20);
    stream_place(s, 0);
    r = DO(w, ungetc(c, s->stream));
    stream_moved(s);
    say(w, "ungetc", r, r == EOF, "%s\tserial=%d", fd_facts(w, &s->at), s->serial);
    moved_by(s->at.file, "ungetc");
    if (!same)
        one_getc(w, s, below(w, 4));
}

/* --- lines ------------------------------------------------------------------------------------ */

static void op_fgets(struct worker *w)
{
    static const int sizes[] = {2, 3, 10, 80, 1000, 1};
    struct stream_slot *s = for_reading(w);
    int size = sizes[below(w, 6)], unlocked = percent(w, 15);
    unsigned n = 1 + below(w, 5);

    if (!s)
        return;
    stream_turn(w, s, 0);
    for (unsigned i = 0; i < n; i++) {
        long at = stream_place(s, 0), moved;
        char *r;

        memset(w->buffer, 0xff, (size_t)size);
        r = unlocked ? DO(w, fgets_unlocked(w->buffer, size, s->stream)) : DO(w, fgets(w->buffer, size, s->stream));
        moved = r ? (char *)memrchr(w->buffer, 0, (size_t)size) - w->buffer : 0;
        say_stream(w, unlocked ? "fgets_unlocked" : "fgets", s, moved, !r && w->error != STALE_ERRNO, (size_t)size, at,
                   moved, r && (long)strlen(w->buffer) != moved ? "\tchar=1\tnul=1" : "\tchar=1");
    }
}

static void op_fputs(struct worker *w)
{
    struct stream_slot *s = for_writing(w);
    size_t size = below(w, percent(w, 10) ? 3000 : 60);
    int unlocked = percent(w, 15);
    unsigned n = 1 + below(w, 5);

    if (!s)
        return;
    stream_turn(w, s, 1);
    some_bytes(w, w->buffer, size);
    w->buffer[size] = 0;
    for (unsigned i = 0; i < n; i++) {
        long at = stream_place(s, 1);
        int r = unlocked ? DO(w, fputs_unlocked(w->buffer, s->stream)) : DO(w, fputs(w->buffer, s->stream));
        long length = r < 0 ? 0 : (long)strlen(w->buffer);

        say_stream(w, unlocked ? "fputs_unlocked" : "fputs", s, length, r < 0, 0, at, length, "\tchar=1");
    }
}

static void op_getline(struct worker *w)
{
    struct stream_slot *s = for_reading(w);
    int delim = percent(w, 40);
    char *line = NULL;
    size_t room = 0;
    long at, r, moved;

    if (!s)
        return;
    stream_turn(w, s, 0);
    at = stream_place(s, 0);
    r = delim ? DO(w, getdelim(&line, &room, ' ', s->stream)) : DO(w, getline(&line, &room, s->stream));
    free(line);
    moved = r < 0 ? 0 : r;
    say_stream(w, delim ? "getdelim" : "getline", s, r < 0 ? 0 : r, r < 0 && w->error != STALE_ERRNO, 0, at, moved, "");
}

/* --- formats ---------------------------------------------------------------------------------- */

static void op_fscanf(struct worker *w)
{
    struct stream_slot *s = for_reading(w);
    unsigned which = below(w, 3);
    char word[10];
    int number, failed, r;
    long at;

    if (!s)
        return;
    stream_turn(w, s, 0);
    at = stream_place(s, 0);
    r = which == 0   ? DO(w, fscanf(s->stream, "%d", &number))
        : which == 1 ? DO(w, fscanf(s->stream, "%9s", word))
                     : DO(w, fscanf(s->stream, "%*[^\n]"));
    failed = r == EOF && w->error != STALE_ERRNO;
    say_stream(w, "fscanf", s, r, failed, 0, at, stream_read(s, at),
               s->at.file->shared ? "\tchar=1\tunsure=1" : "\tchar=1");
    moved_by(s->at.file, "fscanf");
}

static void op_fprintf(struct worker *w)
{
    struct stream_slot *s = for_writing(w);
    long at;
    int r;

    if (!s)
        return;
    stream_turn(w, s, 1);
    at = stream_place(s, 1);
    r = DO(w, fprintf(s->stream, "%d %-*s|%.3f\n", w->op, (int)below(w, 100), "formatted", 1.0 / 3));
    say_stream(w, "fprintf", s, r, r<0, 0, at, r> 0 ? r : 0, "\tchar=1");
}

const struct operation text_operations[] = {{"getc", 20, 20, op_getc},       {"putc", 20, 20, op_putc},
                                            {"filter", 10, 10, op_filter},   {"ungetc", 5, 5, op_ungetc},
                                            {"fgets", 15, 15, op_fgets},     {"fputs", 15, 15, op_fputs},
                                            {"getline", 8, 8, op_getline},   {"fscanf", 4, 4, op_fscanf},
                                            {"fprintf", 10, 10, op_fprintf}, {NULL, 0, 0, NULL}};
