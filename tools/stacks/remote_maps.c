/* SPDX-License-Identifier: MIT */
/* Reads what is mapped in another process. Pages that nobody writes are
 * remembered: libunwind asks for their bytes one by one. */
#include "stacks/remote_maps.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#define PARTS_MAX 64u /* program headers */

/* --- mappings --------------------------------------------------------------------------------- */

void dft_remote_maps_free(struct dft_remote_maps *maps)
{
    for (size_t i = 0; i < maps->nfiles; i++)
        free(maps->files[i].path);
    free(maps->files);
    free(maps->mappings);
    maps->files = NULL;
    maps->mappings = NULL;
    maps->nfiles = maps->nmappings = 0;
    for (size_t i = 0; i < DFT_REMOTE_PAGES; i++)
        maps->pages[i].at = 0;
}

/* The mappings of one file stand together, the first from its beginning. */
static int add_mapping(struct dft_remote_maps *maps, struct dft_remote_mapping mapping, uint64_t offset,
                       const char *path)
{
    struct dft_remote_file *last = maps->nfiles ? &maps->files[maps->nfiles - 1] : NULL;

    if (!offset && (!last || strcmp(last->path, path) != 0)) {
        struct dft_remote_file *files = reallocarray(maps->files, maps->nfiles + 1, sizeof *files);

        if (!files)
            return -ENOMEM;
        maps->files = files;
        last = &files[maps->nfiles];
        *last = (struct dft_remote_file){.path = strdup(path), .base = mapping.from};
        if (!last->path)
            return -ENOMEM;
        maps->nfiles++;
    }
    if (last && !strcmp(last->path, path)) {
        struct dft_remote_mapping *mappings = reallocarray(maps->mappings, maps->nmappings + 1, sizeof *mappings);

        if (!mappings)
            return -ENOMEM;
        maps->mappings = mappings;
        mapping.file = maps->nfiles - 1;
        mappings[maps->nmappings++] = mapping;
    }
    return 0;
}

int dft_remote_maps_read(struct dft_remote_maps *maps, pid_t pid)
{
    char name[64], *line = NULL;
    size_t capacity = 0;
    FILE *list;
    int rc = 0;

    dft_remote_maps_free(maps);
    maps->pid = pid;
    snprintf(name, sizeof name, "/proc/%d/maps", (int)pid);
    list = fopen(name, "re");
    if (!list)
        return -errno;
    while (!rc && getline(&line, &capacity, list) > 0) {
        unsigned long long from, to, offset;
        char mode[8];
        int path = 0;

        line[strcspn(line, "\n")] = 0;
        if (sscanf(line, "%llx-%llx %7s %llx %*s %*s %n", &from, &to, mode, &offset, &path) == 4 && path &&
            (line[path] == '/' || !strcmp(line + path, "[vdso]")))
            rc = add_mapping(maps, (struct dft_remote_mapping){from, to, 0, mode[1] != 'w'}, offset, line + path);
    }
    free(line);
    fclose(list);
    return rc;
}

/* --- memory ----------------------------------------------------------------------------------- */

static const struct dft_remote_mapping *search(const struct dft_remote_maps *maps, uint64_t address)
{
    size_t low = 0, high = maps->nmappings;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (address < maps->mappings[middle].from)
            high = middle;
        else if (address >= maps->mappings[middle].to)
            low = middle + 1;
        else
            return &maps->mappings[middle];
    }
    return NULL;
}

static int load(const struct dft_remote_maps *maps, uint64_t from, void *to, size_t bytes)
{
    struct iovec here = {to, bytes}, there = {(void *)(uintptr_t)from, bytes};

    return process_vm_readv(maps->pid, &here, 1, &there, 1, 0) == (ssize_t)bytes ? 0 : -1;
}

int dft_remote_maps_load(struct dft_remote_maps *maps, uint64_t from, void *to, size_t bytes)
{
    const struct dft_remote_mapping *mapping = search(maps, from);
    uint64_t page = from & ~UINT64_C(0xfff), place = from - page;
    size_t i = page / DFT_REMOTE_PAGE % DFT_REMOTE_PAGES;

    if (!mapping || !mapping->is_fixed || bytes > DFT_REMOTE_PAGE - place)
        return load(maps, from, to, bytes);
    if (maps->pages[i].at != page) {
        maps->pages[i].at = 0;
        if (load(maps, page, maps->pages[i].bytes, DFT_REMOTE_PAGE))
            return -1;
        maps->pages[i].at = page;
    }
    memcpy(to, maps->pages[i].bytes + place, bytes);
    return 0;
}

/* --- files ------------------------------------------------------------------------------------ */

static uint64_t read_build_id(struct dft_remote_maps *maps, uint64_t at, uint64_t bytes)
{
    char notes[1024];
    size_t used = 0;

    if (bytes > sizeof notes || dft_remote_maps_load(maps, at, notes, bytes))
        return 0;
    while (used + sizeof(Elf64_Nhdr) < bytes) {
        uint64_t id = 0;
        Elf64_Nhdr note;

        memcpy(&note, notes + used, sizeof note);
        used += sizeof note + ((note.n_namesz + 3) & ~3u);
        if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && note.n_descsz >= 8 && used + 8 <= bytes) {
            for (int i = 0; i < 8; i++)
                id = id << 8 | (uint8_t)notes[used + (size_t)i];
            return id;
        }
        used += (note.n_descsz + 3) & ~3u;
    }
    return 0;
}

/* What its program headers say, in the process's memory. */
static void read_file(struct dft_remote_maps *maps, struct dft_remote_file *file)
{
    Elf64_Phdr parts[PARTS_MAX];
    uint64_t lowest = UINT64_MAX;
    Elf64_Ehdr head;

    file->is_read = 1;
    if (dft_remote_maps_load(maps, file->base, &head, sizeof head) || memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 ||
        head.e_phnum > PARTS_MAX ||
        dft_remote_maps_load(maps, file->base + head.e_phoff, parts, head.e_phnum * sizeof *parts))
        return;
    for (unsigned i = 0; i < head.e_phnum; i++)
        if (parts[i].p_type == PT_LOAD && parts[i].p_vaddr < lowest)
            lowest = parts[i].p_vaddr & ~UINT64_C(4095);
    file->bias = file->base - lowest;
    for (unsigned i = 0; i < head.e_phnum; i++)
        if (parts[i].p_type == PT_GNU_EH_FRAME)
            file->table = file->bias + parts[i].p_vaddr;
        else if (parts[i].p_type == PT_NOTE && !file->build_id)
            file->build_id = read_build_id(maps, file->bias + parts[i].p_vaddr, parts[i].p_memsz);
}

const struct dft_remote_file *dft_remote_maps_find(struct dft_remote_maps *maps, uint64_t address)
{
    const struct dft_remote_mapping *mapping = search(maps, address);
    struct dft_remote_file *file = mapping ? &maps->files[mapping->file] : NULL;

    if (file && !file->is_read)
        read_file(maps, file);
    return file;
}
