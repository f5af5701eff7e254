/* SPDX-License-Identifier: MIT */
/* Owns the addresses in callers: the slots of libraries through which woven functions are called.
 *
 * A slot is a place that the loader fills with an address when it loads a library (R_*_GLOB_DAT,
 * R_*_JUMP_SLOT, and plain addresses in tables). Where one holds the address of a function to be
 * woven, it gets that of its closure; so a function has one address for all who compare it. A
 * slot that the loader fills at its first use (lazy binding) points into its own library till then:
 * it gets what the loader would find.
 *
 * Only libraries that are loaded completely are touched: the loader may still be writing into the
 * others, and these have a dlopen under way that will come here. Known are those that were there
 * before main, and what belongs to the handle that a dlopen returned. */
#include <string.h>
#include <sys/mman.h>

#include "loader/resolve.h"
#include "os/sys.h"
#include "thread/state.h"
#include "weave/weave_inside.h"
#include "weave/weave_loaded.h"
#include "weave/weave_target.h"

#if defined(__x86_64__)
#define JUMP_SLOT R_X86_64_JUMP_SLOT
#define GLOB_DAT  R_X86_64_GLOB_DAT
#define ABSOLUTE  R_X86_64_64
#elif defined(__aarch64__)
#define JUMP_SLOT R_AARCH64_JUMP_SLOT
#define GLOB_DAT  R_AARCH64_GLOB_DAT
#define ABSOLUTE  R_AARCH64_ABS64
#endif

/* A slot that was changed. */
struct patch {
    void **slot, *before;
    const struct dft_weave_object *object;
    const struct dft_weave_target *target;
    struct patch *next;
};

static struct dft_spin lock; /* of a scan, and of all that is below */
static struct patch *patches;
static struct patch *free_patches;
static uint32_t scan;           /* its number */
static const uint32_t *forking; /* the thread that holds the lock while it forks */
static unsigned forks;          /* in each other: handlers */
static int is_broken;           /* this is a child of a process whose scan was not done */

int (*dft_weave_iterate)(int (*callback)(struct dl_phdr_info *info, size_t size, void *data), void *data);

/* --- slots ------------------------------------------------------------------------------------ */

static void write_slot(const struct dft_weave_object *object, void **slot, void *value)
{
    uintptr_t page = dft_weave_page((uintptr_t)slot);
    int is_closed = page >= object->relro && page < object->relro_end;

    if (is_closed && DFT_SYS(mprotect, page, sizeof *slot, PROT_READ | PROT_WRITE, 0, 0, 0) < 0)
        return;
    __atomic_store_n(slot, value, __ATOMIC_RELEASE);
    if (is_closed)
        DFT_SYS(mprotect, page, sizeof *slot, PROT_READ, 0, 0, 0); /* all of the page */
}

static void patch(const struct dft_weave_object *object, void **slot, void *before,
                  const struct dft_weave_target *target)
{
    struct patch *patch;

    if (!dft_weave_may_write(object, slot))
        return;
    patch = free_patches ? free_patches : dft_weave_reserve(sizeof *patch);
    if (!patch)
        return;
    if (patch == free_patches)
        free_patches = patch->next;
    *patch = (struct patch){slot, before, object, target, patches};
    patches = patch;
    write_slot(object, slot, target->code);
}

/* Slots of functions that are gone are restored; those of libraries that are gone are forgotten.
 * Before the latter's objects are. */
static void take_back(void)
{
    struct patch **at = &patches, *patch;

    while ((patch = *at)) {
        int is_there = patch->object->seen == scan;

        if (is_there && patch->target->seen) {
            at = &patch->next;
            continue;
        }
        if (is_there && *patch->slot == patch->target->code)
            write_slot(patch->object, patch->slot, patch->before);
        *at = patch->next;
        patch->next = free_patches;
        free_patches = patch;
    }
}

/* Where the loader looks first: what was there before main, then what was loaded together with the
 * library that asks, then the rest. */
static int distance(const struct dft_weave_object *from, const struct dft_weave_object *to)
{
    return to->complete == 1 ? 0 : to->complete == from->complete ? 1 : 2;
}

/* What the loader would find at the first use of this reference. */
static struct dft_weave_target *find_lazily(const struct dft_weave_object *object, uint32_t symbol, const char *name)
{
    const char *version = dft_library_needed_version(&object->library, symbol);

    for (int far = 0; far < 3; far++)
        for (const struct dft_weave_object *other = dft_weave_objects; other; other = other->next) {
            void *address = other->complete && distance(object, other) == far
                                ? dft_library_find(&other->library, name, version)
                                : NULL;

            if (address)
                return dft_weave_find_target(address);
        }
    return NULL;
}

static void look_at_slot(const struct dft_weave_object *object, const ElfW(Rela) * relocation)
{
    uint32_t symbol = (uint32_t)ELF64_R_SYM(relocation->r_info), type = (uint32_t)ELF64_R_TYPE(relocation->r_info);
    void **slot = (void **)(object->library.base + relocation->r_offset), *value;
    const ElfW(Sym) *entry = &object->library.symbols[symbol];
    const struct dft_weave_target *target;
    uintptr_t own;

    if ((type != JUMP_SLOT && type != GLOB_DAT && type != ABSOLUTE) || !symbol || (uintptr_t)slot % sizeof *slot)
        return;
    value = __atomic_load_n(slot, __ATOMIC_ACQUIRE);
    target = dft_weave_find_target(value);
    own = entry->st_shndx == SHN_UNDEF ? 0 : object->library.base + entry->st_value;
    if (!target && type == JUMP_SLOT && (uintptr_t)value >= object->from && (uintptr_t)value < object->to &&
        (uintptr_t)value != own && dft_weave_is_wanted(object->library.strings + entry->st_name))
        target = find_lazily(object, symbol, object->library.strings + entry->st_name);
    if (target)
        patch(object, slot, value, target);
}

static void look_at_slots(struct dft_weave_object *object)
{
    const struct dft_library *library = &object->library;

    for (size_t i = 0; i < library->nrelocations; i++)
        look_at_slot(object, &library->relocations[i]);
    for (size_t i = 0; i < library->nplt_relocations; i++)
        look_at_slot(object, &library->plt_relocations[i]);
    object->patched = scan;
}

/* Ours, and those by which we work. */
static int is_spared(const struct dft_weave_object *object)
{
    return dft_resolve_is_ours(object->library.dynamic) ||
           !strncmp(dft_weave_file_name(object->path), "libffi.so", 9) ||
           !strncmp(dft_weave_file_name(object->path), "ld-linux", 8) || !object->library.strings;
}

/* Called by the loader, which keeps libraries from going away until this is done. */
static int scan_all(struct dl_phdr_info *info, size_t size, void *handle)
{
    (void)info;
    (void)size;
    scan++;
    dft_weave_iterate(dft_weave_meet, &scan);
    dft_weave_note_complete(handle, scan);
    if (scan == 1)
        dft_weave_find_loader(scan);
    dft_weave_find_targets(scan);
    take_back();
    dft_weave_forget_objects(scan);
    for (struct dft_weave_object *object = dft_weave_objects; object; object = object->next)
        if (object->complete && !is_spared(object) && (!object->patched || object->patched < dft_weave_newest))
            look_at_slots(object);
    return 1; /* once */
}

static int is_forking(void)
{
    return __atomic_load_n(&forking, __ATOMIC_RELAXED) == &dft_vfork_mark;
}

/* Returns -1 where the lists cannot be trusted; otherwise unlock_lists follows. */
static int lock_lists(struct dft_signals *before)
{
    if (is_broken)
        return -1;
    *before = dft_signals_block();
    if (!is_forking())
        dft_spin_lock(&lock);
    return 0;
}

static void unlock_lists(struct dft_signals before)
{
    if (!is_forking())
        dft_spin_unlock(&lock);
    dft_signals_restore(before);
}

void dft_weave_scan(void *handle)
{
    struct dft_signals before;
    int had_some;

    if (lock_lists(&before))
        return;
    if (!dft_weave_iterate)
        dft_weave_iterate = (__typeof__(dft_weave_iterate))dft_resolve_symbol("dl_iterate_phdr");
    do {
        had_some = dft_weave_make_spares();
        if (dft_weave_iterate)
            dft_weave_iterate(scan_all, handle);
    } while (dft_weave_is_short && had_some);
    unlock_lists(before);
}

static int read_adds(struct dl_phdr_info *info, size_t size, void *adds)
{
    (void)size;
    *(unsigned long long *)adds = info->dlpi_adds;
    return 1; /* once */
}

void dft_weave_complete(void *handle)
{
    unsigned long long adds = 0;
    struct dft_signals before;
    int is_news;

    dft_weave_iterate(read_adds, &adds);
    if (lock_lists(&before))
        return;
    is_news = dft_weave_is_news(handle, adds);
    unlock_lists(before);
    if (is_news)
        dft_weave_scan(handle);
}

void dft_weave_unloaded(void)
{
    if (scan)
        dft_weave_scan(NULL);
}

/* No scan may be half done in the child. Handlers of pthread_atfork may load libraries meanwhile.
 * The thread is known by the place of its thread-local memory, which is the same in the child. */
void dft_weave_forking(void)
{
    if (!scan)
        return;
    if (!is_forking())
        dft_spin_lock(&lock);
    __atomic_store_n(&forking, &dft_vfork_mark, __ATOMIC_RELAXED);
    forks++;
}

void dft_weave_fork_is_over(void)
{
    if (!is_forking() || --forks)
        return;
    __atomic_store_n(&forking, NULL, __ATOMIC_RELAXED);
    dft_spin_unlock(&lock);
}

/* However it was made: a lock that another thread of the parent held tells that the lists may be
 * half changed. What is woven stays so. */
void dft_weave_forked(void)
{
    if (is_forking())
        return;
    is_broken |= lock.held != 0;
    lock.held = 0;
}
