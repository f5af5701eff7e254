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

#include "resolve.h"
#include "sys.h"
#include "weave_inside.h"

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
#define PAGE           ((uintptr_t)4096)

struct dft_weave_target *_Atomic dft_weave_targets;

/* A library that is loaded. */
struct object {
    struct dft_library library;
    const char *path;
    uintptr_t from, to;         /* where it lies */
    uintptr_t relro, relro_end; /* of that, what is read-only by now */
    int complete;               /* relocated */
    uint32_t seen;              /* number of the scan that last met it */
    uint32_t patched;           /* number of the scan that last looked at its slots */
    struct object *next;
};

/* A slot that was changed. */
struct patch {
    void **slot, *before;
    const struct object *object;
    const struct dft_weave_target *target;
    struct patch *next;
};

static struct dft_spin lock; /* of a scan, and of all that is below */
static struct object *objects, **last_object = &objects;
static struct patch *patches;
static struct object *free_objects;
static struct patch *free_patches;
static uint32_t scan, newest; /* number of the scan; of the last that found a new target */
static int (*iterate)(int (*callback)(struct dl_phdr_info *info, size_t size, void *data), void *data);

/* --- what is loaded ----------------------------------------------------------------------------------------------- */

static struct object *find_object(const struct dl_phdr_info *info, const ElfW(Dyn) * dynamic)
{
    for (struct object *object = objects; object; object = object->next)
        if (object->library.dynamic == dynamic && object->library.base == info->dlpi_addr &&
            object->path == info->dlpi_name)
            return object;
    return NULL;
}

static void read_segments(struct object *object, const struct dl_phdr_info *info)
{
    object->from = UINTPTR_MAX;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        uintptr_t from = info->dlpi_addr + segment->p_vaddr, to = from + segment->p_memsz;

        if (segment->p_type == PT_LOAD) {
            object->from = from < object->from ? from : object->from;
            object->to = to > object->to ? to : object->to;
        } else if (segment->p_type == PT_GNU_RELRO) {
            object->relro = from & ~(PAGE - 1);
            object->relro_end = to & ~(PAGE - 1);
        }
    }
}

static int meet(struct dl_phdr_info *info, size_t size, void *data)
{
    const ElfW(Dyn) *dynamic = NULL;
    struct object *object;

    (void)size;
    (void)data;
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
            dynamic = (const ElfW(Dyn) *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
    if (!dynamic)
        return 0;
    object = find_object(info, dynamic);
    if (!object) {
        object = free_objects ? free_objects : dft_weave_room(sizeof *object);
        if (!object)
            return 0;
        if (object == free_objects)
            free_objects = object->next;
        *object = (struct object){.path = info->dlpi_name};
        dft_library_read(&object->library, info->dlpi_addr, dynamic);
        read_segments(object, info);
        *last_object = object;
        last_object = &object->next;
    }
    object->seen = scan;
    return 0;
}

static void forget_objects(void)
{
    struct object **at = &objects, *object;

    while ((object = *at)) {
        if (object->seen == scan) {
            at = &object->next;
            continue;
        }
        *at = object->next;
        object->next = free_objects;
        free_objects = object;
    }
    last_object = at;
}

static const char *file_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

static int is_called(const struct object *object, const char *name)
{
    return !strcmp(file_name(object->path), file_name(name)) ||
           (object->library.soname && !strcmp(object->library.soname, name));
}

/* What the handle of a dlopen stands for: the library itself and all that it needs. */
static void complete_with(struct object *object)
{
    if (object->complete)
        return;
    object->complete = scan;
    for (const ElfW(Dyn) *d = object->library.dynamic; d->d_tag != DT_NULL && object->library.strings; d++)
        for (struct object *other = d->d_tag == DT_NEEDED ? objects : NULL; other; other = other->next)
            if (is_called(other, object->library.strings + d->d_un.d_val))
                complete_with(other);
}

static void note_complete(const struct link_map *loaded)
{
    for (struct object *object = objects; object; object = object->next)
        if (scan == 1)
            object->complete = scan;
        else if (loaded && object->library.dynamic == loaded->l_ld && object->library.base == loaded->l_addr)
            complete_with(object);
}

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
        target = dft_weave_make_closure(rule, real);
        if (!target)
            return;
        publish(target);
    }
    if (!target->seen)
        newest = scan;
    target->seen = scan;
}

static int is_library_of(const struct dft_weave_rule *rule, const struct object *object)
{
    return !fnmatch(rule->library, file_name(object->path), 0) ||
           (object->library.soname && !fnmatch(rule->library, object->library.soname, 0));
}

/* The loader's own functions, in all versions. */
static void find_loader(void)
{
    for (const struct object *object = objects; object; object = object->next) {
        const char *file = file_name(object->path);

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
        for (struct object *object = rule->met < 0 ? NULL : objects; object; object = object->next) {
            void *addresses[SAME_NAME_MOST];
            size_t n = 0;

            if (object->complete && is_library_of(rule, object))
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

static void write_slot(const struct object *object, void **slot, void *value)
{
    uintptr_t page = (uintptr_t)slot & ~(PAGE - 1);
    int is_closed = page >= object->relro && page < object->relro_end;

    if (is_closed && DFT_SYS(mprotect, page, PAGE, PROT_READ | PROT_WRITE, 0, 0, 0) < 0)
        return;
    __atomic_store_n(slot, value, __ATOMIC_RELEASE);
    if (is_closed)
        DFT_SYS(mprotect, page, PAGE, PROT_READ, 0, 0, 0);
}

static void patch(const struct object *object, void **slot, void *before, const struct dft_weave_target *target)
{
    struct patch *patch = free_patches ? free_patches : dft_weave_room(sizeof *patch);

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
static int distance(const struct object *from, const struct object *to)
{
    return to->complete == 1 ? 0 : to->complete == from->complete ? 1 : 2;
}

/* What the loader would find at the first use of this reference. */
static struct dft_weave_target *find_lazily(const struct object *object, uint32_t symbol, const char *name)
{
    const char *version = dft_library_needed_version(&object->library, symbol);

    for (int far = 0; far < 3; far++)
        for (const struct object *other = objects; other; other = other->next) {
            void *address = other->complete && distance(object, other) == far
                                ? dft_library_find(&other->library, name, version)
                                : NULL;

            if (address)
                return find_target(address);
        }
    return NULL;
}

static void look_at_slot(const struct object *object, const ElfW(Rela) * relocation)
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

static void look_at_slots(struct object *object)
{
    const struct dft_library *library = &object->library;

    for (size_t i = 0; i < library->nrelocations; i++)
        look_at_slot(object, &library->relocations[i]);
    for (size_t i = 0; i < library->nplt_relocations; i++)
        look_at_slot(object, &library->plt_relocations[i]);
    object->patched = scan;
}

/* Ours, and those by which we work. */
static int is_spared(const struct object *object)
{
    return dft_resolve_is_ours(object->library.dynamic) || !strncmp(file_name(object->path), "libffi.so", 9) ||
           !strncmp(file_name(object->path), "ld-linux", 8) || !object->library.strings;
}

void dft_weave_scan(void *handle)
{
    struct dft_signals before = dft_signals_block();

    dft_spin_lock(&lock);
    if (!iterate)
        iterate = (__typeof__(iterate))dft_resolve_symbol("dl_iterate_phdr");
    scan++;
    if (iterate)
        iterate(meet, NULL);
    note_complete(handle);
    if (scan == 1)
        find_loader();
    find_targets();
    take_back();
    forget_objects();
    for (struct object *object = objects; object; object = object->next)
        if (object->complete && !is_spared(object) && (!object->patched || object->patched < newest))
            look_at_slots(object);
    dft_spin_unlock(&lock);
    dft_signals_restore(before);
}

void dft_weave_forked(void)
{
    lock.held = 0;
}
