/* SPDX-License-Identifier: MIT */
/* Owns the list of libraries that are loaded, as weaving knows them. */
#include "weave/weave_loaded.h"

#include <string.h>
#include <sys/auxv.h>

#include "weave/weave_types.h"

struct dft_weave_object *dft_weave_objects;
unsigned long long dft_weave_adds;
static struct dft_weave_object **last_object = &dft_weave_objects;
static struct dft_weave_object *free_objects;

static struct dft_weave_object *find_object(const struct dl_phdr_info *info, const ElfW(Dyn) * dynamic)
{
    for (struct dft_weave_object *object = dft_weave_objects; object; object = object->next)
        if (object->library.dynamic == dynamic && object->library.base == info->dlpi_addr &&
            object->path == info->dlpi_name)
            return object;
    return NULL;
}

uintptr_t dft_weave_page(uintptr_t address)
{
    static uintptr_t size; /* 4, 16 or 64 KiB */

    if (!size)
        size = getauxval(AT_PAGESZ);
    return address & ~(size - 1);
}

int dft_weave_may_write(const struct dft_weave_object *object, const void *at)
{
    for (int i = 0; i < object->nsegments; i++) {
        const ElfW(Phdr) *segment = &object->segments[i];

        if (segment->p_type == PT_LOAD && segment->p_flags & PF_W &&
            (uintptr_t)at - object->library.base - segment->p_vaddr < segment->p_memsz)
            return 1;
    }
    return 0;
}

static void read_segments(struct dft_weave_object *object, const struct dl_phdr_info *info)
{
    object->from = UINTPTR_MAX;
    object->segments = info->dlpi_phdr;
    object->nsegments = info->dlpi_phnum;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        uintptr_t from = info->dlpi_addr + segment->p_vaddr, to = from + segment->p_memsz;

        if (segment->p_type == PT_LOAD) {
            object->from = from < object->from ? from : object->from;
            object->to = to > object->to ? to : object->to;
        } else if (segment->p_type == PT_GNU_RELRO) {
            object->relro = dft_weave_page(from);
            object->relro_end = dft_weave_page(to);
        }
    }
}

int dft_weave_meet(struct dl_phdr_info *info, size_t size, void *scan)
{
    const ElfW(Dyn) *dynamic = dft_library_dynamic(info);
    struct dft_weave_object *object;

    (void)size;
    dft_weave_adds = info->dlpi_adds;
    if (!dynamic)
        return 0;
    object = find_object(info, dynamic);
    if (!object) {
        object = free_objects ? free_objects : dft_weave_reserve(sizeof *object);
        if (!object)
            return 0;
        if (object == free_objects)
            free_objects = object->next;
        *object = (struct dft_weave_object){.path = info->dlpi_name};
        dft_library_read(&object->library, info->dlpi_addr, dynamic);
        read_segments(object, info);
        *last_object = object;
        last_object = &object->next;
    }
    object->seen = *(const uint32_t *)scan;
    return 0;
}

void dft_weave_forget_objects(uint32_t scan)
{
    struct dft_weave_object **at = &dft_weave_objects, *object;

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

const char *dft_weave_file_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

static int is_called(const struct dft_weave_object *object, const char *name)
{
    return !strcmp(dft_weave_file_name(object->path), dft_weave_file_name(name)) ||
           (object->library.soname && !strcmp(object->library.soname, name));
}

/* What the handle of a dlopen stands for: the library itself and all that it needs. Its slots are
 * looked at again even where we know the library: it may be another that came to lie there, or have
 * been away meanwhile. */
static void complete_with(struct dft_weave_object *object, uint32_t scan)
{
    if (object->complete == 1 || object->given == scan)
        return;
    object->given = scan;
    object->adds = dft_weave_adds;
    object->patched = 0;
    if (!object->complete)
        object->complete = scan;
    for (const ElfW(Dyn) *d = object->library.dynamic; d->d_tag != DT_NULL && object->library.strings; d++)
        for (struct dft_weave_object *other = d->d_tag == DT_NEEDED ? dft_weave_objects : NULL; other;
             other = other->next)
            if (other->seen == scan && is_called(other, object->library.strings + d->d_un.d_val))
                complete_with(other, scan);
}

/* Met by this scan or a later one. */
static struct dft_weave_object *find_loaded(const struct link_map *loaded, uint32_t scan)
{
    for (struct dft_weave_object *object = dft_weave_objects; object; object = object->next)
        if (object->seen >= scan && object->library.dynamic == loaded->l_ld && object->library.base == loaded->l_addr)
            return object;
    return NULL;
}

void dft_weave_note_complete(const struct link_map *loaded, uint32_t scan)
{
    struct dft_weave_object *object = loaded ? find_loaded(loaded, scan) : NULL;

    if (object)
        complete_with(object, scan);
    for (object = scan == 1 ? dft_weave_objects : NULL; object; object = object->next)
        object->complete = scan;
}

int dft_weave_is_news(const struct link_map *handle, unsigned long long adds)
{
    const struct dft_weave_object *object = find_loaded(handle, 0);

    return object ? object->complete != 1 && object->adds != adds : dft_weave_adds != adds;
}
