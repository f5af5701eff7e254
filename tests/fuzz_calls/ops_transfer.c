/* SPDX-License-Identifier: MIT */
/* Operations that move bytes between descriptors inside the kernel, and mappings. */
#include "fuzz.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <unistd.h>

/* One call, two halves: what was read and where, what was written and where. */
static void say_transfer(struct worker *w, const char *call, struct fd_slot *in, struct fd_slot *out, long r,
                         size_t size, long in_at, long out_at)
{
    char from[2 * NAME_ROOM + 300], to[2 * NAME_ROOM + 300];
    struct name name;

    fd_facts(w, out); /* which finds its name */
    name = fd_name(out);

    snprintf(to, sizeof to, "same=%d\tout_fd=%d\t%sout_file=%s\t%sout_also=%s\tout_out=%d\tout_offset=%ld\tout_by=%s",
             in->file == out->file, w->threaded ? -1 : out->fd, is_random(name.file) ? "~" : "", name.file,
             is_random(name.also) ? "~" : "", name.also, out->file->untraced, out_at, out->file->moved_by);
    snprintf(from, sizeof from, "%s", fd_facts(w, in));
    say(w, call, r, r<0, "%s\tsize=%zu\tmoved=%ld\toffset=%ld\tdata=1\t%s", from, size, r> 0 ? r : 0, in_at, to);
    w->about = out;
    seen_by(w, call);
}

static void op_copy_file_range(struct worker *w)
{
    struct fd_slot *in = some_fd(w), *out = some_fd(w);
    long in_at = some_offset(w), out_at = some_offset(w), r;
    int own_in = percent(w, 50), own_out = percent(w, 50);
    size_t size = some_size(w);
    off_t in_off = in_at, out_off = out_at;

    if (!in || !out)
        return;
    flush_pending(w, NULL);
    if (!own_in)
        in_at = fd_place(in->fd, 0);
    if (!own_out)
        out_at = fd_place(out->fd, 1);
    r = DO(w, copy_file_range(in->fd, own_in ? &in_off : NULL, out->fd, own_out ? &out_off : NULL, size, 0));
    if (r > 0 && !own_in)
        moved_by(in->file, "copy_file_range");
    if (r > 0 && !own_out)
        moved_by(out->file, "copy_file_range");
    say_transfer(w, "copy_file_range", in, out, r, size, in_at, out_at);
}

static void op_sendfile(struct worker *w)
{
    struct fd_slot *in = some_fd(w), *out = some_fd(w);
    long in_at = some_offset(w), out_at, r;
    int own_in = percent(w, 50);
    size_t size = some_size(w);
    off_t in_off = in_at;

    if (!in || !out || in->file->untraced || out->file->untraced)
        return;
    flush_pending(w, NULL);
    if (!own_in)
        in_at = fd_place(in->fd, 0);
    out_at = fd_place(out->fd, 1);
    r = DO(w, sendfile(out->fd, in->fd, own_in ? &in_off : NULL, size));
    if (r > 0 && !own_in)
        moved_by(in->file, "sendfile");
    if (r > 0)
        moved_by(out->file, "sendfile");
    say_transfer(w, "sendfile", in, out, r, size, in_at, out_at);
}

/* From a file into a pipe, and from there into a file. */
static void op_splice(struct worker *w)
{
    static const struct name none = {"", ""};
    struct fd_slot *in = some_fd(w), *out = some_fd(w);
    struct shared_file pipe_file = {.untraced = 1, .name = none, .origin = "pipe", .references = 1};
    struct fd_slot pipe_in, pipe_out;
    size_t size = 1 + below(w, 9000);
    long in_at, out_at, r;
    int pair[2], n;

    if (!in || !out || in->file->untraced || out->file->untraced)
        return;
    flush_pending(w, NULL);
    n = DO(w, pipe2(pair, O_NONBLOCK));
    say(w, "pipe2", n, n < 0, "%s", fd_text(w, pair[0]));
    pipe_in = (struct fd_slot){pair[1], "", &pipe_file};
    pipe_out = (struct fd_slot){pair[0], "", &pipe_file};
    in_at = fd_place(in->fd, 0);
    r = DO(w, splice(in->fd, NULL, pair[1], NULL, size, SPLICE_F_NONBLOCK));
    if (r > 0)
        moved_by(in->file, "splice");
    say_transfer(w, "splice", in, &pipe_in, r, size, in_at, -1);
    if (r > 0) {
        out_at = fd_place(out->fd, 1);
        r = DO(w, splice(pair[0], NULL, out->fd, NULL, (size_t)r, SPLICE_F_NONBLOCK));
        if (r > 0)
            moved_by(out->file, "splice");
        say_transfer(w, "splice", &pipe_out, out, r, (size_t)(r > 0 ? r : 0), -1, out_at);
    }
    for (int i = 0; i < 2; i++) {
        n = DO(w, close(pair[i]));
        say(w, "close", n, n < 0, "%s\tout=1\tseen=0\tfile=", fd_text(w, pair[i]));
    }
    w->last_closed = pair[0];
}

/* --- mappings --------------------------------------------------------------------------------- */

static void op_mmap(struct worker *w)
{
    struct fd_slot *slot = some_fd(w);
    struct map_slot *m = &w->maps[below(w, MAPS)];
    size_t length = 4096 * (1 + below(w, 4));
    long offset = 4096 * (long)below(w, 3);
    char *at;
    int r;

    if (m->at) {
        r = DO(w, msync(m->at, m->length, percent(w, 50) ? MS_SYNC : MS_ASYNC));
        say(w, "msync", r, r < 0, "size=%zu\toffset=%ld\t%s%s", m->length, m->offset, file_text(&m->name),
            m->file->untraced ? "\tout=1" : "");
        r = DO(w, munmap(m->at, m->length));
        say(w, "munmap", r, r < 0, "size=%zu\toffset=%ld\t%s%s", m->length, m->offset, file_text(&m->name),
            m->file->untraced ? "\tout=1" : "");
        file_drop(m->file);
        m->at = NULL;
        return;
    }
    if (!slot)
        return;
    at = DO(w, mmap(NULL, length, PROT_READ, MAP_SHARED, slot->fd, offset));
    say(w, "mmap", at == MAP_FAILED ? -1 : 0, at == MAP_FAILED, "%s\tsize=%zu\toffset=%ld\tpointer=1",
        fd_facts(w, slot), length, offset);
    if (at == MAP_FAILED)
        return;
    *m = (struct map_slot){at, length, offset, slot->file, fd_name(slot)};
    slot->file->references++;
}

const struct operation transfer_operations[] = {{"copy_file_range", 5, 5, op_copy_file_range},
                                                {"sendfile", 5, 5, op_sendfile},
                                                {"splice", 3, 3, op_splice},
                                                {"mmap", 6, 6, op_mmap},
                                                {NULL, 0, 0, NULL}};
