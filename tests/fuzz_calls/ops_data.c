/* SPDX-License-Identifier: MIT */
/* Operations that move bytes through descriptors. */
#include "fuzz.h"

#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

/* What a data call is about to do, and, after it, what it did. */
static void say_data(struct worker *w, const char *call, struct fd_slot *slot, long result, size_t size, long at,
                     const char *more)
{
    int reads = strstr(call, "read") != NULL;

    say(w, call, result,
        result<0, "%s\tsize=%zu\tmoved=%ld\toffset=%ld\tdata=%d\tsum=%lx%s", fd_facts(w, slot), size, result> 0 ? result
                                                                                                                : 0,
        at, 1, reads && result > 0 ? sum_of(w->buffer, (size_t)result) : 0, more);
}

static struct fd_slot *data_fd(struct worker *w, struct fd_slot *bad)
{
    struct fd_slot *slot = some_fd(w);

    if (!slot || percent(w, 3)) {
        *bad = bad_fd(w);
        slot = bad;
    }
    if (!slot->file || !slot->file->untraced)
        flush_pending(w, NULL);
    return slot;
}

static void op_read(struct worker *w)
{
    struct fd_slot bad, *slot = data_fd(w, &bad);
    size_t size = some_size(w);
    long at = fd_place(slot->fd, 0), r = DO(w, read(slot->fd, w->buffer, size));

    say_data(w, "read", slot, r, size, at, "");
}

static void op_write(struct worker *w)
{
    struct fd_slot bad, *slot = data_fd(w, &bad);
    size_t size = some_size(w);
    long at, r;

    some_bytes(w, w->buffer, size);
    at = fd_place(slot->fd, 1);
    r = DO(w, write(slot->fd, w->buffer, size));
    say_data(w, "write", slot, r, size, at, "");
}

static void op_pread(struct worker *w)
{
    struct fd_slot bad, *slot = data_fd(w, &bad);
    size_t size = some_size(w);
    long at = percent(w, 3) ? -5 : some_offset(w), r = DO(w, pread(slot->fd, w->buffer, size, at));

    say_data(w, "pread", slot, r, size, at, "");
}

/* On a descriptor that appends Linux writes at the end whatever the offset is. */
static void op_pwrite(struct worker *w)
{
    struct fd_slot bad, *slot = data_fd(w, &bad);
    size_t size = some_size(w);
    long at = some_offset(w),
         truth = raw_flags(slot->fd) > 0 && raw_flags(slot->fd) & O_APPEND ? raw_size(slot->fd) : at, r;

    some_bytes(w, w->buffer, size);
    r = DO(w, pwrite(slot->fd, w->buffer, size, at));
    say_data(w, "pwrite", slot, r, size, r < 0 ? at : truth, "");
}

/* The buffer in up to five pieces, some of them empty. */
static int some_vector(struct worker *w, struct iovec *iov, size_t *size)
{
    int count = (int)below(w, 6);

    *size = 0;
    for (int i = 0; i < count; i++) {
        size_t n = percent(w, 20) ? 0 : below(w, 1500);

        iov[i] = (struct iovec){w->buffer + *size, n};
        *size += n;
    }
    return count;
}

static void op_readv(struct worker *w)
{
    struct fd_slot bad, *slot = data_fd(w, &bad);
    struct iovec iov[5];
    size_t size;
    int count = some_vector(w, iov, &size);
    long at = fd_place(slot->fd, 0), r = DO(w, readv(slot->fd, iov, count));

    say_data(w, "readv", slot, r, size, at, "");
}

static void op_writev(struct worker *w)
{
    struct fd_slot bad, *slot = data_fd(w, &bad);
    struct iovec iov[5];
    size_t size;
    int count = some_vector(w, iov, &size);
    long at, r;

    some_bytes(w, w->buffer, size);
    at = fd_place(slot->fd, 1);
    r = DO(w, writev(slot->fd, iov, count));
    say_data(w, "writev", slot, r, size, at, "");
}

static void op_preadv(struct worker *w)
{
    static const int some_flags[] = {0, RWF_HIPRI, RWF_NOWAIT, 0x4000};
    struct fd_slot bad, *slot = data_fd(w, &bad);
    int two = percent(w, 60), flags = two && percent(w, 20) ? some_flags[below(w, 4)] : 0;
    struct iovec iov[5];
    size_t size;
    int count = some_vector(w, iov, &size);
    long at = two && percent(w, 50) ? -1 : some_offset(w), truth, r;
    char more[40];

    if (flags == RWF_NOWAIT) /* whether the pages are there depends on others */
        flags = 0;
    truth = at == -1 ? fd_place(slot->fd, 0) : at;
    r = two ? DO(w, preadv2(slot->fd, iov, count, at, flags)) : DO(w, preadv(slot->fd, iov, count, at));
    snprintf(more, sizeof more, "\tflags=%d\targ=%ld", flags, at);
    say_data(w, two ? "preadv2" : "preadv", slot, r, size, r < 0 && at != -1 ? at : truth, more);
}

static void op_pwritev(struct worker *w)
{
    struct fd_slot bad, *slot = data_fd(w, &bad);
    int two = percent(w, 60), flags = two && percent(w, 30) ? (percent(w, 50) ? RWF_APPEND : RWF_SYNC) : 0;
    struct iovec iov[5];
    size_t size;
    int count = some_vector(w, iov, &size), append;
    long at = two && percent(w, 50) ? -1 : some_offset(w), truth, r;
    char more[40];

    some_bytes(w, w->buffer, size);
    append = flags & RWF_APPEND || (raw_flags(slot->fd) > 0 && raw_flags(slot->fd) & O_APPEND);
    truth = append ? raw_size(slot->fd) : at == -1 ? fd_place(slot->fd, 1) : at;
    r = two ? DO(w, pwritev2(slot->fd, iov, count, at, flags)) : DO(w, pwritev(slot->fd, iov, count, at));
    snprintf(more, sizeof more, "\tflags=%d\targ=%ld", flags, at);
    say_data(w, two ? "pwritev2" : "pwritev", slot, r, size, r < 0 && at != -1 ? at : truth, more);
}

static void op_dprintf(struct worker *w)
{
    struct fd_slot bad, *slot = data_fd(w, &bad);
    long at = fd_place(slot->fd, 1);
    int r = DO(w, dprintf(slot->fd, "%s %d %5.2f\n", "formatted", w->op, 0.5));

    say_data(w, "dprintf", slot, r, 0, at, "");
}

/* Several threads read from the same descriptors: with an offset of their own, and with the common
 * one. What the latter read tells where it was. */
static void op_common(struct worker *w)
{
    struct fd_slot common = {w->common, "", &w->common_file}, race = {w->common_race, "", &w->race_file};
    uint64_t first = 0;
    long at, r;

    if (w->common < 0)
        return;
    at = (long)below(w, 30000);
    r = DO(w, pread(common.fd, w->buffer, 500, at));
    say_data(w, "pread", &common, r, 500, at, "");
    r = DO(w, read(race.fd, w->buffer, 64));
    memcpy(&first, w->buffer, r >= 8 ? 8 : 0);
    say(w, "read", r, r<0, "%s\tsize=64\tmoved=%ld\tdata=1\trace=1\t~offset=%ld", fd_facts(w, &race), r> 0 ? r : 0,
        (long)first);
}

/* Offsets beyond 32 bits, in a file that is empty again at the end: nobody reads four gigabytes of
 * nothing. */
static void op_far(struct worker *w)
{
    char path[NAME_ROOM];
    struct name name;
    long at = (5L << 32) + below(w, 1000), r;
    struct fd_slot slot = {-1, "", NULL};

    snprintf(path, sizeof path, "%s/far", w->root);
    make_name(w, &name, NULL, path);
    slot.fd = DO(w, open(path, O_RDWR | O_CREAT, 0644));
    say_fd(w, "open", slot.fd, "%s\tflags=%d", file_text(&name), O_RDWR | O_CREAT);
    if (slot.fd < 0)
        return;
    slot.file = file_new(&name, "");
    slot.file->references = 1;
    some_bytes(w, w->buffer, 100);
    r = DO(w, pwrite(slot.fd, w->buffer, 100, at));
    say_data(w, "pwrite", &slot, r, 100, at, "");
    r = DO(w, lseek(slot.fd, at + 50, SEEK_SET));
    say(w, "lseek", r, r < 0, "%s\tflags=%d", fd_facts(w, &slot), SEEK_SET);
    r = DO(w, read(slot.fd, w->buffer, 100));
    say_data(w, "read", &slot, r, 100, at + 50, "");
    r = DO(w, write(slot.fd, w->buffer, 7));
    say_data(w, "write", &slot, r, 7, at + 100, "");
    r = DO(w, ftruncate(slot.fd, 10));
    say(w, "ftruncate", r, r < 0, "%s\toffset=10", fd_facts(w, &slot));
    close_slot(w, &slot);
}

const struct operation data_operations[] = {
    {"read", 30, 30, op_read},     {"write", 30, 30, op_write},     {"pread", 10, 10, op_pread},
    {"pwrite", 10, 10, op_pwrite}, {"readv", 6, 6, op_readv},       {"writev", 6, 6, op_writev},
    {"preadv", 10, 10, op_preadv}, {"pwritev", 10, 10, op_pwritev}, {"dprintf", 4, 4, op_dprintf},
    {"common", 0, 20, op_common},  {"far", 2, 2, op_far},           {NULL, 0, 0, NULL}};
