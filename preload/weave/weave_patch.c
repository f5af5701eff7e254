/* Owns the addresses in callers: which functions are woven where, and the slots of libraries through which they are called.
 *
 * A slot is a place that the loader fills with an address when it loads a library (R_*_GLOB_DAT, R_*_JUMP_SLOT, and plain addresses
 * in tables). Where one holds the address of a function to be woven, it is given that of its closure; so a function has one address
 * for all who compare it. A slot that the loader fills at its first use (lazy binding) points into its own library till then: it gets what the loader
 * would find.
 *
 * Only libraries that are loaded completely are touched: the loader may still be writing into the others, and these have a dlopen under
 * way that will come here. Known are those that were there before main, and what belongs to the handle that a dlopen returned. */
#include <fnmatch.h>
#include <string.h>
#include <sys/mman.h>

#include "os/resolve.h"
#include "os/sys.h"
#include "ring/thread.h"
#include "weave/weave_inside.h"
#include "weave/weave_loaded.h"

#if defined(__x86_64__)
#define JUMP_SLOT R_X86_64_JUMP_SLOT
#define GLOB_DAT  R_X86_64_GLOB_DAT
#define ABSOLUTE  R_X86_64_64
#elif defined(__aarch64__)
#define JUMP_SLOT R_AARCH64_JUMP_SLOT
#define GLOB_DAT  R_AARCH64_GLOB_DAT
#define ABSOLUTE  R_AARCH64_ABS64
#endif

#define SAME_NAME_MOST 8u /* versions of one function in a library */
#define SPARE_TARGETS  64u

struct dft_weave_target *_Atomic dft_weave_targets;

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
static uint32_t scan, newest;          /* number of the scan; of the last that found a new target */
static struct dft_weave_target *spare; /* made ahead: nothing is allocated while the loader waits */
static int short_of_targets;
static const uint32_t *forking; /* the thread that holds the lock while it forks */
static unsigned forks;          /* in each other: handlers */
static int is_broken;           /* this is a child of a process whose scan was not done */
static int (*iterate)(int (*callback)(struct dl_phdr_info *info, size_t size, void *data), void *data);

/* --- what is woven ------------------------------------------------------------------------------------------------ */

/* Bits of the addresses of targets: most slots hold none of them. */
static _Atomic uint64_t some[64];

static void note_address(const void *real)
{
    atomic_fetch_or(&some[(uintptr_t)real >> 10 & 63], UINT64_C(1) << ((uintptr_t)real >> 4 & 63));
}

static int may_be_target(const void *real)
{
    return atomic_load_explicit(&some[(uintptr_t)real >> 10 & 63], memory_order_relaxed) >>
               ((uintptr_t)real >> 4 & 63) &
           1;
}

static struct dft_weave_target *find_target(const void *real)
{
    if (!may_be_target(real))
        return NULL;
    for (struct dft_weave_target *target = atomic_load(&dft_weave_targets); target; target = target->next)
        if (target->real == real && target->seen)
            return target;
    return NULL;
}

static void publish(struct dft_weave_target *target)
{
    note_address(target->real);
    target->next = atomic_load(&dft_weave_targets);
    atomic_store(&dft_weave_targets, target);
}

static struct dft_weave_target *find_target_of(const struct dft_weave_rule *rule, const void *real)
{
    for (struct dft_weave_target *target = atomic_load(&dft_weave_targets); target; target = target->next)
        if (target->real == real && target->rule == rule)
            return target;
    return NULL;
}

static void add_target(struct dft_weave_rule *rule, void *real)
{
    struct dft_weave_target *target = find_target(real);

    rule->met = 1;
    if (target && target->seen == scan)
        return; /* an earlier line's */
    target = find_target_of(rule, real);
    if (!target) {
        target = spare;
        if (!target) {
            short_of_targets = 1;
            return;
        }
        spare = target->next;
        if (dft_weave_aim(target, rule, real))
            return;
        publish(target);
    }
    if (!target->seen)
        newest = scan;
    target->seen = scan;
}

static int is_library_of(const struct dft_weave_rule *rule, const struct dft_weave_object *object)
{
    return !fnmatch(rule->library, dft_weave_file_name(object->path), 0) ||
           (object->library.soname && !fnmatch(rule->library, object->library.soname, 0));
}

/* The loader's own functions, in all versions. */
static void find_loader(void)
{
    for (const struct dft_weave_object *object = dft_weave_objects; object; object = object->next) {
        const char *file = dft_weave_file_name(object->path);

        if (strncmp(file, "libc.so.", 8) && strncmp(file, "libdl.so.", 9))
            continue;
        for (size_t i = 0; i < DFT_WEAVE_LOADER; i++) {
            const struct dft_weave_loader *function = &dft_weave_loader[i];
            void *addresses[SAME_NAME_MOST];
            size_t n = dft_library_find_all(&object->library, function->name, NULL, addresses, SAME_NAME_MOST);

            for (size_t k = 0; k < n && !find_target(addresses[k]); k++) {
                struct dft_weave_target *target = dft_weave_room(sizeof *target);

                if (!target)
                    return;
                *target = (struct dft_weave_target){
                    .name = function->name, .real = addresses[k], .code = function->code, .seen = scan};
                publish(target);
            }
        }
    }
}

static void find_targets(void)
{
    for (struct dft_weave_rule *rule = dft_weave_rules; rule; rule = rule->next)
        for (struct dft_weave_object *object = rule->met < 0 ? NULL : dft_weave_objects; object;
             object = object->next) {
            void *addresses[SAME_NAME_MOST];
            size_t n = 0;

            if (object->complete && object->seen == scan && is_library_of(rule, object))
                n = dft_library_find_all(&object->library, rule->function.name, rule->version, addresses,
                                         SAME_NAME_MOST);
            for (size_t i = 0; i < n; i++)
                add_target(rule, addresses[i]);
        }
    for (struct dft_weave_target *target = atomic_load(&dft_weave_targets); target; target = target->next)
        if (target->rule && target->seen != scan)
            target->seen = 0;
}

void *dft_weave_replacement(void *function)
{
    const struct dft_weave_target *target = function ? find_target(function) : NULL;

    return target ? target->code : function;
}

/* --- slots -------------------------------------------------------------------------------------------------------- */

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
    patch = free_patches ? free_patches : dft_weave_room(sizeof *patch);
    if (!patch)
        return;
    if (patch == free_patches)
        free_patches = patch->next;
    *patch = (struct patch){slot, before, object, target, patches};
    patches = patch;
    write_slot(object, slot, target->code);
}

/* Slots of functions that are gone are given back; those of libraries that are gone are forgotten. Before the latter's objects are. */
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

static int is_wanted(const char *name)
{
    for (const struct dft_weave_target *target = atomic_load(&dft_weave_targets); target; target = target->next)
        if (target->seen && !strcmp(target->name, name))
            return 1;
    return 0;
}

/* Where the loader looks first: what was there before main, then what was loaded together with the library that asks, then the rest. */
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
                return find_target(address);
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
    target = find_target(value);
    own = entry->st_shndx == SHN_UNDEF ? 0 : object->library.base + entry->st_value;
    if (!target && type == JUMP_SLOT && (uintptr_t)value >= object->from && (uintptr_t)value < object->to &&
        (uintptr_t)value != own && is_wanted(object->library.strings + entry->st_name))
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
    iterate(dft_weave_meet, &scan);
    dft_weave_note_complete(handle, scan);
    if (scan == 1)
        find_loader();
    find_targets();
    take_back();
    dft_weave_forget_objects(scan);
    for (struct dft_weave_object *object = dft_weave_objects; object; object = object->next)
        if (object->complete && !is_spared(object) && (!object->patched || object->patched < newest))
            look_at_slots(object);
    return 1; /* once */
}

static void make_spares(void)
{
    unsigned count = 0;

    for (const struct dft_weave_target *target = spare; target; target = target->next)
        count++;
    for (; count < SPARE_TARGETS; count++) {
        struct dft_weave_target *target = dft_weave_new_target();

        if (!target)
            return;
        target->next = spare;
        spare = target;
    }
}

static int is_forking(void)
{
    return __atomic_load_n(&forking, __ATOMIC_RELAXED) == &dft_vfork_mark;
}

void dft_weave_scan(void *handle)
{
    struct dft_signals before;
    int had_some;

    if (is_broken)
        return;
    before = dft_signals_block();
    if (!is_forking())
        dft_spin_lock(&lock);
    if (!iterate)
        iterate = (__typeof__(iterate))dft_resolve_symbol("dl_iterate_phdr");
    do {
        make_spares();
        had_some = spare != NULL;
        short_of_targets = 0;
        if (iterate)
            iterate(scan_all, handle);
    } while (short_of_targets && had_some);
    if (!is_forking())
        dft_spin_unlock(&lock);
    dft_signals_restore(before);
}

void dft_weave_unloaded(void)
{
    if (scan)
        dft_weave_scan(NULL);
}

/* No scan may be half done in the child. Handlers of pthread_atfork may load libraries meanwhile. The thread is known by the place of its
 * thread-local memory, which is the same in the child. */
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

/* However it was made: a lock that another thread of the parent held tells that the lists may be half changed. What is woven stays so. */
void dft_weave_forked(void)
{
    if (is_forking())
        return;
    is_broken |= lock.held != 0;
    lock.held = 0;
}
