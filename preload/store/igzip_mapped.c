/* Owns libisal in the traced process: maps it when enough has been compressed to be worth it.
 *
 * Not by the loader. As a library that ours needs it would cost each process, however short, a hundred microseconds at its start,
 * and stand with all its names (build_heap, gf_mul ...) before libraries that the program loads later and that have functions of
 * these names. And the loader's locks may be held by whoever waits for a drain. So this is what the loader does with a plain library:
 * its parts are mapped, addresses in it are relocated, names in it are looked up in itself, then in the C library. What is not plain
 * (thread-local variables, resolvers) is not done, and zlib serves instead.
 *
 * It is the file that had the name when the program started: after a chroot another one may have it. */
#include "store/igzip_mapped.h"

#include <elf.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "format/igzip.h"
#include "os/library.h"
#include "tables/maps.h"
#include "os/resolve.h"
#include "os/sys.h"

#define WORTH_BYTES (32u << 10) /* compressed by zlib before */
#define SPAN_MOST   (64u << 20)
#define PARTS_MOST  16

#if defined(__x86_64__)
#define MACHINE   EM_X86_64
#define RELATIVE  R_X86_64_RELATIVE
#define GLOB_DAT  R_X86_64_GLOB_DAT
#define JUMP_SLOT R_X86_64_JUMP_SLOT
#define ABSOLUTE  R_X86_64_64
#else
#define MACHINE   EM_AARCH64
#define RELATIVE  R_AARCH64_RELATIVE
#define GLOB_DAT  R_AARCH64_GLOB_DAT
#define JUMP_SLOT R_AARCH64_JUMP_SLOT
#define ABSOLUTE  R_AARCH64_ABS64
#endif
#ifndef DT_RELR
#define DT_RELR 36
#endif

enum state { NOT_YET, UNDER_WAY, THERE, NOT_POSSIBLE };
static enum state state;  /* atomic */
static size_t compressed; /* atomic: bytes, by zlib */
static struct dft_igzip functions;
static struct stat file;

/* The first page of the file, as far as it is of interest. */
struct head {
    ElfW(Ehdr) elf;
    char rest[1024 - sizeof(ElfW(Ehdr))];
};

struct image {
    const ElfW(Phdr) * parts;
    uint32_t nparts;
    uint64_t page;
    char *base;
    size_t span;
    const ElfW(Dyn) * dynamic;
};

void dft_igzip_init(void)
{
    if (DFT_SYS(newfstatat, AT_FDCWD, DFT_ISAL_FILE, &file, 0, 0, 0) < 0)
        state = NOT_POSSIBLE;
}

void dft_igzip_forked(void)
{
    enum state was = UNDER_WAY;

    __atomic_compare_exchange_n(&state, &was, NOT_YET, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

static int is_ours(int fd)
{
    struct stat now;

    return DFT_SYS(fstat, fd, &now, 0, 0, 0, 0) == 0 && now.st_dev == file.st_dev && now.st_ino == file.st_ino &&
           now.st_size == file.st_size && now.st_mtim.tv_sec == file.st_mtim.tv_sec &&
           now.st_mtim.tv_nsec == file.st_mtim.tv_nsec;
}

/* Returns 0: this is nothing that is known here. */
static int measure(struct image *image, const struct head *head)
{
    const ElfW(Ehdr) *elf = &head->elf;
    uint64_t end = 0;

    if (memcmp(elf->e_ident, ELFMAG, SELFMAG) != 0 || elf->e_ident[EI_CLASS] != ELFCLASS64 || elf->e_type != ET_DYN ||
        elf->e_machine != MACHINE || elf->e_phentsize != sizeof(ElfW(Phdr)) || elf->e_phnum > PARTS_MOST ||
        elf->e_phoff > sizeof *head - elf->e_phnum * sizeof(ElfW(Phdr)) || elf->e_phoff % sizeof(uint64_t))
        return 0;
    image->parts = (const ElfW(Phdr) *)((const char *)head + elf->e_phoff);
    image->nparts = elf->e_phnum;
    image->page = dft_maps_range(NULL, 1).end;
    for (uint32_t i = 0; i < image->nparts; i++) {
        const ElfW(Phdr) *part = &image->parts[i];

        if (part->p_type == PT_TLS)
            return 0;
        if (part->p_type != PT_LOAD)
            continue;
        if (part->p_vaddr < end || part->p_vaddr > SPAN_MOST || part->p_memsz > SPAN_MOST ||
            part->p_filesz > part->p_memsz || (part->p_vaddr - part->p_offset) % image->page ||
            part->p_offset + part->p_filesz > (uint64_t)file.st_size)
            return 0;
        end = part->p_vaddr + part->p_memsz;
    }
    image->span = dft_maps_range(NULL, end).end;
    return end > 0;
}

static long map_at(const void *at, size_t bytes, int protection, int flags, int fd, uint64_t offset)
{
    return DFT_SYS(mmap, at, bytes, protection, MAP_PRIVATE | flags, fd, offset);
}

/* Returns 0, or -errno: then there is nothing. */
static long map_parts(struct image *image, int fd)
{
    long at = map_at(NULL, image->span, PROT_NONE, MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (at < 0 && at > -4096)
        return at;
    image->base = (char *)at;
    for (uint32_t i = 0; i < image->nparts && at >= 0; i++) {
        const ElfW(Phdr) *part = &image->parts[i];
        uint64_t inside = part->p_vaddr % image->page, start = part->p_vaddr - inside,
                 file_end = dft_maps_range(NULL, part->p_vaddr + part->p_filesz).end,
                 end = dft_maps_range(NULL, part->p_vaddr + part->p_memsz).end;
        int protection = (part->p_flags & PF_R ? PROT_READ : 0) | (part->p_flags & PF_W ? PROT_WRITE : 0) |
                         (part->p_flags & PF_X ? PROT_EXEC : 0);

        if (part->p_type != PT_LOAD)
            continue;
        at = map_at(image->base + start, part->p_filesz + inside, protection, MAP_FIXED, fd, part->p_offset - inside);
        if ((at >= 0 || at < -4095) && end > file_end)
            at = map_at(image->base + file_end, end - file_end, protection, MAP_FIXED | MAP_ANONYMOUS, -1, 0);
        if (at < 0 && at > -4096) {
            DFT_SYS(munmap, image->base, image->span, 0, 0, 0, 0);
            return at;
        }
    }
    return 0;
}

/* The ends of pages that are not of the file: the kernel gave what follows there. */
static void clear_ends(const struct image *image)
{
    for (uint32_t i = 0; i < image->nparts; i++) {
        const ElfW(Phdr) *part = &image->parts[i];
        uint64_t end = part->p_vaddr + part->p_filesz;

        if (part->p_type == PT_LOAD && part->p_flags & PF_W && end % image->page)
            memset(image->base + end, 0, image->page - end % image->page);
    }
}

static int is_inside(const struct image *image, const void *at, size_t bytes)
{
    uint64_t offset = (uint64_t)((const char *)at - image->base);

    return offset <= image->span && bytes <= image->span - offset;
}

/* Returns 0: it needs what is not done here. */
static int find_dynamic(struct image *image)
{
    for (uint32_t i = 0; i < image->nparts; i++)
        if (image->parts[i].p_type == PT_DYNAMIC)
            image->dynamic = (const ElfW(Dyn) *)(image->base + image->parts[i].p_vaddr);
    if (!image->dynamic)
        return 0;
    for (const ElfW(Dyn) *d = image->dynamic; d->d_tag != DT_NULL; d++)
        if (d->d_tag == DT_TEXTREL || d->d_tag == DT_REL || d->d_tag == DT_RELR || !is_inside(image, d + 1, sizeof *d))
            return 0;
    return 1;
}

/* The address of a name in it; 0 with *missing set when there is none. */
static uint64_t address_of(const struct dft_library *library, const ElfW(Sym) * symbol, int *missing)
{
    uint64_t address;

    if (symbol->st_shndx != SHN_UNDEF) {
        *missing |= ELF64_ST_TYPE(symbol->st_info) == STT_GNU_IFUNC;
        return library->base + symbol->st_value;
    }
    address = (uint64_t)dft_resolve_in_c_library(library->strings + symbol->st_name);
    *missing |= !address && ELF64_ST_BIND(symbol->st_info) != STB_WEAK;
    return address;
}

static int relocate(const struct image *image, const struct dft_library *library, const ElfW(Rela) * list, size_t count)
{
    int missing = 0;

    for (size_t i = 0; i < count && !missing; i++) {
        uint64_t *to = (uint64_t *)(image->base + list[i].r_offset);
        const ElfW(Sym) *symbol = &library->symbols[ELF64_R_SYM(list[i].r_info)];
        uint32_t type = (uint32_t)ELF64_R_TYPE(list[i].r_info);

        if (!is_inside(image, to, sizeof *to))
            return 0;
        if (type == RELATIVE)
            *to = library->base + (uint64_t)list[i].r_addend;
        else if (type == GLOB_DAT || type == JUMP_SLOT || type == ABSOLUTE)
            *to = address_of(library, symbol, &missing) + (uint64_t)list[i].r_addend;
        else
            missing = 1;
    }
    return !missing;
}

/* Makes a mapped image fit to be called. Returns 0: it cannot be. */
static int complete(struct image *image)
{
    struct dft_library library;

    clear_ends(image);
    if (!find_dynamic(image))
        return 0;
    dft_library_read(&library, (ElfW(Addr))image->base, image->dynamic);
    if (!library.strings || !relocate(image, &library, library.relocations, library.nrelocations) ||
        !relocate(image, &library, library.plt_relocations, library.nplt_relocations))
        return 0;
    *(void **)&functions.init = dft_library_find(&library, "isal_deflate_stateless_init", NULL);
    *(void **)&functions.stateless = dft_library_find(&library, "isal_deflate_stateless", NULL);
    return functions.init && functions.stateless;
}

static enum state map_library(void)
{
    struct image image = {0};
    static struct head head; /* one at a time is under way */
    long fd = dft_sys_openat(AT_FDCWD, DFT_ISAL_FILE, O_RDONLY | O_CLOEXEC | O_NOCTTY, 0), result = -1;
    int ours;

    if (fd < 0) /* no descriptor left: later there may be one */
        return NOT_YET;
    if (DFT_SYS(pread64, fd, &head, sizeof head, 0, 0, 0) == sizeof head && measure(&image, &head))
        result = map_parts(&image, (int)fd);
    /* Asked afterwards: who shares the descriptors may have put a file of its own on the number, and ours does not come back there. */
    ours = is_ours((int)fd);
    if (ours)
        dft_sys_close((int)fd);
    if (result == 0 && ours && complete(&image))
        return THERE;
    if (result == 0)
        DFT_SYS(munmap, image.base, image.span, 0, 0, 0, 0);
    return NOT_POSSIBLE;
}

const struct dft_igzip *dft_igzip_get(size_t length)
{
    enum state now = __atomic_load_n(&state, __ATOMIC_ACQUIRE);

    if (now == THERE)
        return &functions;
    if (now != NOT_YET || __atomic_add_fetch(&compressed, length, __ATOMIC_RELAXED) < WORTH_BYTES || dft_is_sandboxed())
        return NULL;
    if (!__atomic_compare_exchange_n(&state, &now, UNDER_WAY, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
        return NULL;
    now = map_library();
    __atomic_store_n(&state, now, __ATOMIC_RELEASE);
    return now == THERE ? &functions : NULL;
}
