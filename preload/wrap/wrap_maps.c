/* SPDX-License-Identifier: MIT */
/* Wrappers of calls on mappings: mmap, and those that take an address. Which file lies there
 * says maps.h.
 *
 * A range may cover several mappings: each file is one event with its part of the range; the first
 * has the call, its time and its result, the others count none. A failed call is one event, with
 * the file of its first page and the size as the program gave it. Results are 0 or -1: addresses
 * would be different in each run. */
#include "wrap/wrapper.h"

#include <errno.h>
#include <sys/mman.h>

#include "ring/interpreter.h"
#include "probe/convert.h"
#include "tables/maps.h"
#include "probe/probe.h"
#include "store/tracefile.h"
#include "wrap/wrap_maps.h"

/* --- events ----------------------------------------------------------------------------------- */

/* A call on addresses: its arguments, and what lies there. */
struct mapped_call {
    struct dft_probe probe;
    enum dft_call_number number;
    const void *address;
    size_t length;
    int flags;
    uint64_t before;               /* of its cut, 0 none */
    struct dft_mapped_range first; /* part of the range */
};

static void set_file(struct mapped_call *call, const struct dft_mapped_range *map)
{
    call->probe.file = map->file;
    call->probe.class =
        dft_slot_marks(dft_io_code(dft_call_rows[call->number].op, (enum dft_io)(map->offset & DFT_MAP_CLASS)), 0);
}

static int64_t offset_of(const struct dft_mapped_range *map)
{
    return map->offset & ~(int64_t)DFT_MAP_CLASS;
}

/* Returns 0 when no traced file lies there. */
static int begin(struct mapped_call *call, enum dft_call_number number, const void *address, size_t length)
{
    if (!(dft_on & DFT_ON_POSIX) || !dft_maps_find(dft_maps_range(address, length), 0, &call->first))
        return 0;
    call->number = number;
    call->address = address;
    call->length = length;
    call->flags = 0;
    call->before = 0;
    call->probe = (struct dft_probe){.fd = -1, .start = dft_ticks()};
    set_file(call, &call->first);
    dft_flight_begin(&call->probe, number);
    return 1;
}

/* The mappings that found no room are counted where events are. */
static void count_lost(void)
{
    uint32_t n = dft_maps_take_lost();
    struct dft_thread *self = n ? dft_thread_get() : NULL;

    if (self)
        atomic_fetch_add_explicit(&self->ring->dropped[DFT_DROP_NO_MEMORY], n, memory_order_relaxed);
}

/* The part of the range that this mapping has, without what its last page has beyond it. */
static void put_part(struct mapped_call *call, const struct dft_mapped_range *map, int further, int64_t result)
{
    uintptr_t from = (uintptr_t)call->address, to = from + call->length;
    struct dft_call_args args = DFT_ARGS(.flags = call->flags, .further = further);

    from = map->start > from ? map->start : from;
    to = map->end < to || to < from ? map->end : to;
    args.size = call->length ? to - from : 0;
    args.offset = offset_of(map) + (int64_t)(from - map->start);
    set_file(call, map);
    dft_end_many(&call->probe, call->number, &args, result, 0);
}

static void put_whole(struct mapped_call *call, int64_t result, int err)
{
    const struct dft_call_args args =
        DFT_ARGS(.flags = call->flags, .size = call->length, .offset = offset_of(&call->first));

    dft_end_many(&call->probe, call->number, &args, result, err);
}

/* After the call: one event for each mapping. */
static void end(struct mapped_call *call, int64_t result, int err)
{
    struct dft_range rest = dft_maps_range(call->address, call->length);
    struct dft_mapped_range map = call->first;
    int further = 0;

    if (err) {
        put_whole(call, result, err);
        return;
    }
    do {
        put_part(call, &map, further++, result);
        rest.start = map.end;
    } while (rest.start < rest.end && dft_maps_find(rest, call->before, &map));
}

/* --- mmap ------------------------------------------------------------------------------------- */

/* A mapping of no interest; what it took the place of is known no more. */
static inline __attribute__((always_inline)) void *map_other(void *address, size_t length, int prot, int flags, int fd,
                                                             off_t offset, dft_make_map *make)
{
    void *result = make(address, length, prot, flags, fd, offset);

    if (dft_maps_any() && result != MAP_FAILED)
        dft_maps_forget(dft_maps_range(result, length));
    return result;
}

void *dft_map(void *address, size_t length, int prot, int flags, int fd, off_t offset, dft_make_map *make)
{
    const struct dft_call_args args =
        DFT_ARGS(.fd = fd, .size = length, .offset = offset, .flags = flags, .mode = (mode_t)prot);
    struct dft_probe probe;
    void *result;

    if (flags & MAP_ANONYMOUS)
        return map_other(address, length, prot, flags, fd, offset, make);
    if (!dft_probe_begin(&probe, DFT_CALL_mmap, DFT_OP_MAP, &args, DFT_ON_POSIX)) {
        struct dft_not_open refused;

        dft_not_open_begin(&refused, &args);
        if (fd >= 0 && dft_tracefile_is(fd)) /* the kernel's own EBADF */
            fd = -1;
        result = map_other(address, length, prot, flags, fd, offset, make);
        dft_not_open_end(&refused, DFT_CALL_mmap, DFT_OP_MAP, &args, result == MAP_FAILED ? -1 : 0, 0);
        return result;
    }
    result = make(address, length, prot, flags, fd, offset);
    if (result != MAP_FAILED && probe.open && flags & MAP_SHARED) {
        dft_fd_mapped(probe.open);
        probe.class = dft_probe_class(probe.open, DFT_OP_MAP);
    }
    dft_end_fd(&probe, DFT_CALL_mmap, DFT_OP_MAP, &args, result == MAP_FAILED ? -1 : 0,
               result == MAP_FAILED ? errno : 0);
    if (result != MAP_FAILED) {
        struct dft_range range = dft_maps_range(result, length);

        dft_maps_add(&(struct dft_mapped_range){range.start, range.end, probe.file,
                                                offset | dft_slot_io(probe.class, DFT_IO_NONE)});
        count_lost();
    }
    return result;
}

WRAPPER(void *, mmap, (void *address, size_t length, int prot, int flags, int fd, off_t offset))
{
    if (!(dft_on & DFT_ON_POSIX) || flags & MAP_ANONYMOUS)
        return map_other(address, length, prot, flags, fd, offset, DFT_REAL(mmap));
    return dft_map(address, length, prot, flags, fd, offset, DFT_REAL(mmap));
}
ALIAS(mmap, mmap64)

/* --- munmap ----------------------------------------------------------------------------------- */

int dft_unmap(void *address, size_t length, dft_make_unmap *make)
{
    struct mapped_call call;
    struct dft_cut cut;
    int result;

    if (!begin(&call, DFT_CALL_munmap, address, length))
        return make(address, length);
    cut = dft_maps_cut(dft_maps_range(address, length));
    call.before = cut.number;
    call.probe.start = dft_ticks();
    result = make(address, length);
    if (result == -1) {
        dft_maps_restore(&cut);
        end(&call, result, errno);
    } else {
        end(&call, result, 0);
        dft_maps_settle(&cut);
    }
    count_lost();
    return result;
}

WRAPPER(int, munmap, (void *address, size_t length))
{
    int result;

    dft_interpreter_unmap();
    result = dft_maps_any() ? dft_unmap(address, length, DFT_REAL(munmap)) : DFT_REAL(munmap)(address, length);
    dft_interpreter_unmap();
    return result;
}

/* --- mremap ----------------------------------------------------------------------------------- */

/* What lay at `from` before the call lies at `to` now; what reached the end of the one reaches that
 * of the other. */
static void move(struct dft_range from, uint64_t before, struct dft_range to)
{
    struct dft_range rest = from;
    struct dft_mapped_range map;

    dft_maps_forget(to);
    while (rest.start < rest.end && dft_maps_find(rest, before, &map)) {
        struct dft_mapped_range moved = {to.start + (map.start - from.start), to.start + (map.end - from.start),
                                         map.file, map.offset};

        rest.start = map.end;
        if (map.end == from.end || moved.end > to.end)
            moved.end = to.end;
        if (moved.start >= to.end)
            break;
        dft_maps_add(&moved);
    }
}

static void *remap_other(void *old, size_t old_size, size_t size, int flags, void *address, dft_make_remap *make)
{
    void *result = make(old, old_size, size, flags, address);

    if (dft_maps_any() && result != MAP_FAILED)
        dft_maps_forget(dft_maps_range(result, size));
    return result;
}

/* With size 0: a second mapping of the same pages (shared ones). */
void *dft_remap(void *old, size_t old_size, size_t size, int flags, void *address, dft_make_remap *make)
{
    struct dft_range from = dft_maps_range(old, old_size);
    int keeps = old_size == 0 || flags & MREMAP_DONTUNMAP;
    struct dft_cut cut = {.slot = 0};
    struct mapped_call call;
    void *result;

    if (!begin(&call, DFT_CALL_mremap, old, old_size))
        return remap_other(old, old_size, size, flags, address, make);
    call.length = size;
    call.flags = flags;
    if (!keeps)
        cut = dft_maps_cut(from);
    call.probe.start = dft_ticks();
    result = make(old, old_size, size, flags, address);
    if (result == MAP_FAILED) {
        dft_maps_restore(&cut);
        put_whole(&call, -1, errno);
    } else {
        put_whole(&call, 0, 0);
        move(from, cut.number, dft_maps_range(result, size));
        dft_maps_settle(&cut);
    }
    count_lost();
    return result;
}

static void *make_mremap(void *old, size_t old_size, size_t size, int flags, void *address)
{
    return DFT_REAL(mremap)(old, old_size, size, flags, address);
}

WRAPPER(void *, mremap, (void *old, size_t old_size, size_t size, int flags, ...))
{
    void *address;
    va_list list;

    va_start(list, flags);
    address = va_arg(list, void *);
    va_end(list);
    return dft_maps_any() ? dft_remap(old, old_size, size, flags, address, make_mremap)
                          : make_mremap(old, old_size, size, flags, address);
}

/* --- remap_file_pages ------------------------------------------------------------------------- */

int dft_remap_pages(void *address, size_t size, int prot, size_t page, int flags, dft_make_remap_pages *make)
{
    uintptr_t unit = dft_maps_range(NULL, 1).end, start = (uintptr_t)address & ~(unit - 1);
    struct mapped_call call;
    int result;

    if (!begin(&call, DFT_CALL_remap_file_pages, address, size))
        return make(address, size, prot, page, flags);
    call.flags = flags;
    result = make(address, size, prot, page, flags);
    call.first.offset = (int64_t)(page * unit) | (call.first.offset & DFT_MAP_CLASS);
    put_whole(&call, result, result == -1 ? errno : 0);
    size &= ~(unit - 1); /* the kernel rounds both down */
    if (!result && size)
        dft_maps_add(&(struct dft_mapped_range){start, start + size, call.first.file, call.first.offset});
    count_lost();
    return result;
}

WRAPPER(int, remap_file_pages, (void *address, size_t size, int prot, size_t page, int flags))
{
    return dft_maps_any() ? dft_remap_pages(address, size, prot, page, flags, DFT_REAL(remap_file_pages))
                          : DFT_REAL(remap_file_pages)(address, size, prot, page, flags);
}

/* --- calls on what is mapped ------------------------------------------------------------------ */

int dft_on_mapped(enum dft_call_number number, void *address, size_t length, int how, dft_make_on_mapped *make)
{
    struct mapped_call call;
    int result;

    if (!begin(&call, number, address, length))
        return make(address, length, how);
    call.flags = how;
    result = make(address, length, how);
    end(&call, result, number == DFT_CALL_posix_madvise ? result : result == -1 ? errno : 0);
    return result;
}

#define ON_MAPPED(name, prototype, arguments, how)                                                                     \
    static int make_##name(void *address, size_t length, int flags)                                                    \
    {                                                                                                                  \
        (void)flags;                                                                                                   \
        return DFT_REAL(name) arguments;                                                                               \
    }                                                                                                                  \
    WRAPPER(int, name, prototype)                                                                                      \
    {                                                                                                                  \
        return dft_maps_any() ? dft_on_mapped(DFT_CALL_##name, (void *)address, length, how, make_##name)              \
                              : DFT_REAL(name) arguments;                                                              \
    }

ON_MAPPED(msync, (void *address, size_t length, int flags), (address, length, flags), flags)
ON_MAPPED(madvise, (void *address, size_t length, int flags), (address, length, flags), flags)
ON_MAPPED(posix_madvise, (void *address, size_t length, int flags), (address, length, flags), flags)
ON_MAPPED(mlock, (const void *address, size_t length), (address, length), 0)
ON_MAPPED(mlock2, (const void *address, size_t length, unsigned flags), (address, length, (unsigned)flags), (int)flags)
ON_MAPPED(munlock, (const void *address, size_t length), (address, length), 0)
