/* SPDX-License-Identifier: MIT */
/* Owns where the library's memory lies: far from the program's, and in no core file.
 *
 * A program may take room, give it back, and map something there by MAP_FIXED later. Or a stack grows
 * down into such room. The kernel would put our next mapping just there. So once the program runs,
 * each mapping of ours takes the next place of a zone that nobody else uses: 3/8 to 1/2 of the address
 * space. Programs and their heaps lie above it, as do stacks and what the kernel places below them.
 * Where the kernel places upwards, it begins at 1/3. Low heaps (Go, Java) and shadow memory (ASan) end
 * before it. The zone is not reserved, because a reservation would count for limits. */
#include "os/memory.h"

#include <sys/auxv.h>

#include "os/sys.h"

#ifndef MAP_FIXED_NOREPLACE /* C libraries before 2.27 */
#define MAP_FIXED_NOREPLACE 0x100000
#endif

#define TRIES 4u

static uintptr_t zone, page = 4096;
static uintptr_t room;  /* atomic: bytes of the zone, a power of two; 0: the kernel chooses the place */
static uintptr_t taken; /* atomic: bytes from the zone's beginning, which go round */

/* The linker says where the variables lie. */
extern char __bss_start[] DFT_HIDDEN, _end[] DFT_HIDDEN;

static uintptr_t whole_pages(uintptr_t bytes)
{
    return (bytes + page - 1) & ~(page - 1);
}

static void leave_out_of_cores(uintptr_t at, size_t bytes)
{
    DFT_SYS(madvise, at, bytes, MADV_DONTDUMP, 0, 0, 0);
}

/* Any address of the stack tells how large the address space is. */
void dft_memory_begin(const void *random)
{
    uintptr_t eighth = (uintptr_t)1 << (61 - __builtin_clzl((uintptr_t)__builtin_frame_address(0)));
    uintptr_t bss, end;

    page = getauxval(AT_PAGESZ);
    bss = whole_pages((uintptr_t)__bss_start);
    end = (uintptr_t)_end & ~(page - 1);
    if (bss < end)
        leave_out_of_cores(bss, end - bss);
    zone = 3 * eighth;
    taken = (uintptr_t)random & (eighth - page);
    __atomic_store_n(&room, eighth, __ATOMIC_RELEASE);
}

/* Returns an address, or -errno: all tried places hold something. A kernel before 4.17 takes the place as
 * a wish. */
static long map_in_zone(uintptr_t size, size_t bytes, int prot, int flags, int fd, uint64_t offset)
{
    long at = -EEXIST;

    for (unsigned i = 0; i < TRIES && at == -EEXIST; i++) {
        uintptr_t from = __atomic_fetch_add(&taken, whole_pages(bytes), __ATOMIC_RELAXED);

        at = DFT_SYS(mmap, zone + (from & (size - 1)), bytes, prot, flags | MAP_FIXED_NOREPLACE, fd, offset);
        if (at == -EEXIST) /* a program that is so large, or a sanitizer's shadow */
            __atomic_add_fetch(&taken, size / TRIES, __ATOMIC_RELAXED);
    }
    if (at == -EEXIST)
        __atomic_store_n(&room, 0, __ATOMIC_RELAXED);
    return at;
}

long dft_memory_map(size_t bytes, int prot, int flags, int fd, uint64_t offset)
{
    uintptr_t size = __atomic_load_n(&room, __ATOMIC_ACQUIRE);
    long at = size ? map_in_zone(size, bytes, prot, flags, fd, offset) : -EEXIST;

    if (at < 0)
        at = DFT_SYS(mmap, 0, bytes, prot, flags, fd, offset);
    if (at >= 0)
        leave_out_of_cores((uintptr_t)at, bytes);
    return at;
}

long dft_memory_replace(void *at, size_t bytes)
{
    long result = DFT_SYS(mmap, at, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);

    if (result < 0)
        return result;
    leave_out_of_cores((uintptr_t)at, bytes);
    return 0;
}

static void *map_fresh(size_t bytes, int flags)
{
    long at = dft_memory_map(bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);

    return at < 0 ? NULL : (void *)at;
}

void *dft_sys_map(size_t bytes)
{
    return map_fresh(bytes, 0);
}

void *dft_sys_reserve(size_t bytes)
{
    return map_fresh(bytes, MAP_NORESERVE);
}
