/* SPDX-License-Identifier: MIT */
/* Inspects the program to be traced: which file really runs, and whether a preloaded library
 * reaches it.
 *
 * Only 64-bit ELF of this machine's byte order is read in detail. The kernel and the loader judge
 * the rest. The file is not trusted: every offset in the file is checked against its size. */
#include "base/program.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/open_regular.h"

struct image {
    const unsigned char *bytes;
    size_t size;
    int privileged; /* set-user-id or set-group-id: the loader ignores LD_PRELOAD */
};

static const void *image_at(const struct image *image, uint64_t offset, uint64_t length)
{
    return offset <= image->size && length <= image->size - offset ? image->bytes + offset : NULL;
}

static int image_open(struct image *image, const char *path)
{
    struct stat st;
    void *map = MAP_FAILED;
    int fd = dft_open_regular(path, O_RDONLY, &st);

    if (fd < 0)
        return fd;
    if (st.st_size > 0)
        map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    close(fd);
    if (map == MAP_FAILED)
        return -ENOEXEC;
    image->bytes = map;
    image->size = (size_t)st.st_size;
    image->privileged = (st.st_mode & S_ISUID && st.st_uid != geteuid()) ||
                        (st.st_mode & S_ISGID && st.st_gid != getegid()) ||
                        (geteuid() && getxattr(path, "security.capability", NULL, 0) > 0);
    return 0;
}

static int executable(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

void dft_program_find(char *found, size_t capacity, const char *command)
{
    const char *search = getenv("PATH");

    found[0] = '\0';
    if (strchr(command, '/')) {
        if (executable(command) && strlen(command) < capacity)
            strcpy(found, command);
        return;
    }
    if (!search)
        search = "/bin:/usr/bin";
    while (*search) {
        int length = (int)strcspn(search, ":");
        int n = snprintf(found, capacity, "%.*s%s%s", length, search, length ? "/" : "./", command);

        if (n > 0 && (size_t)n < capacity && executable(found))
            return;
        search += length + (search[length] == ':');
    }
    found[0] = '\0';
}

/* Finds the interpreter that a first line "#! interpreter [argument]" names. For `env NAME`, that
 * is NAME. */
static int interpreter(const struct image *image, char *name, size_t capacity)
{
    size_t end = 2, start;
    const unsigned char *line = image->bytes;

    if (image->size < 4 || line[0] != '#' || line[1] != '!')
        return 0;
    while (end < image->size && (line[end] == ' ' || line[end] == '\t'))
        end++;
    start = end;
    while (end < image->size && end - start < capacity - 1 && !memchr(" \t\r\n", line[end], 4))
        end++;
    memcpy(name, line + start, end - start);
    name[end - start] = '\0';
    if (strcmp(name, "/usr/bin/env") == 0 || strcmp(name, "/bin/env") == 0) {
        while (end < image->size && (line[end] == ' ' || line[end] == '\t'))
            end++;
        start = end;
        while (end < image->size && end - start < capacity - 1 && !memchr(" \t\r\n=", line[end], 5))
            end++;
        if (end > start && line[start] != '-') {
            memcpy(name, line + start, end - start);
            name[end - start] = '\0';
        }
    }
    return name[0] != '\0';
}

/* Turns a virtual address into bytes in the file, by the loadable segments. */
static const char *at_address(const struct image *image, const Elf64_Ehdr *ehdr, uint64_t address, uint64_t *left)
{
    for (unsigned i = 0; i < ehdr->e_phnum; i++) {
        const Elf64_Phdr *p = image_at(image, ehdr->e_phoff + (uint64_t)i * sizeof(*p), sizeof(*p));

        if (p && p->p_type == PT_LOAD && address >= p->p_vaddr && address - p->p_vaddr < p->p_filesz) {
            *left = p->p_filesz - (address - p->p_vaddr);
            return image_at(image, p->p_offset + (address - p->p_vaddr), *left);
        }
    }
    return NULL;
}

static int is_sanitizer(const char *soname)
{
    static const char *const names[] = {"libasan.so",       "libtsan.so",       "libhwasan.so",      "liblsan.so",
                                        "libclang_rt.asan", "libclang_rt.tsan", "libclang_rt.hwasan"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strncmp(soname, names[i], strlen(names[i])) == 0)
            return 1;
    return 0;
}

static void note_sanitizers(struct dft_program *program, const struct image *image, const Elf64_Ehdr *ehdr,
                            const Elf64_Phdr *dynamic)
{
    uint64_t count = dynamic->p_filesz / sizeof(Elf64_Dyn), left = 0;
    const Elf64_Dyn *entries = image_at(image, dynamic->p_offset, dynamic->p_filesz);
    const char *strings = NULL;
    size_t used = 0;

    for (uint64_t i = 0; entries && i < count && entries[i].d_tag != DT_NULL; i++)
        if (entries[i].d_tag == DT_STRTAB)
            strings = at_address(image, ehdr, entries[i].d_un.d_ptr, &left);
    for (uint64_t i = 0; strings && i < count && entries[i].d_tag != DT_NULL; i++) {
        uint64_t at = entries[i].d_un.d_val;

        if (entries[i].d_tag != DT_NEEDED || at >= left || !memchr(strings + at, '\0', left - at))
            continue;
        if (is_sanitizer(strings + at) && used + strlen(strings + at) + 2 < sizeof(program->sanitizers))
            used += (size_t)sprintf(program->sanitizers + used, "%s%s", used ? ":" : "", strings + at);
    }
}

/* Has this segment of notes one of the Go linker's? It is the first one. */
static int is_go_note(const struct image *image, const Elf64_Phdr *p)
{
    const char *note = image_at(image, p->p_offset, sizeof(Elf64_Nhdr) + 4);

    return note && p->p_filesz >= sizeof(Elf64_Nhdr) + 4 && !memcmp(note + sizeof(Elf64_Nhdr), "Go\0", 4);
}

static int is_musl(const struct image *image, const Elf64_Phdr *p)
{
    const char *loader = image_at(image, p->p_offset, p->p_filesz);

    return loader && memmem(loader, p->p_filesz, "/ld-musl-", 9);
}

static void refuse(struct dft_program *program, const char *why, const char *remedy)
{
    program->untraceable = why;
    program->remedy = remedy;
}

static void inspect_segments(struct dft_program *program, const struct image *image, const Elf64_Ehdr *ehdr)
{
    int loaded = 0, go = 0, musl = 0;

    for (unsigned i = 0; i < ehdr->e_phnum; i++) {
        const Elf64_Phdr *p = image_at(image, ehdr->e_phoff + (uint64_t)i * sizeof(*p), sizeof(*p));

        if (!p)
            continue;
        loaded |= p->p_type == PT_INTERP;
        musl |= p->p_type == PT_INTERP && is_musl(image, p);
        go |= p->p_type == PT_NOTE && is_go_note(image, p);
        if (p->p_type == PT_DYNAMIC && p->p_offset % _Alignof(Elf64_Dyn) == 0)
            note_sanitizers(program, image, ehdr, p);
    }
    if (go)
        refuse(program, "it is a Go program, which asks the kernel without the C library",
               "Trace its system calls (strace -f -c); programs that it runs are traced as usual.");
    else if (!loaded)
        refuse(program, "it is statically linked, and nothing can be preloaded into it",
               "Link it without -static; programs that it runs are traced as usual.");
    else if (musl)
        refuse(program, "its C library is musl, and " DFTRUN_LIBRARY " needs glibc", "Build it with glibc.");
    else if (image->privileged)
        refuse(program, "it runs with other privileges (set-user-id), and the loader then preloads nothing",
               "Run it as its owner, or run a copy without that right (cp makes one).");
}

static void inspect_elf(struct dft_program *program, const struct image *image)
{
    const Elf64_Ehdr *own = (const Elf64_Ehdr *)getauxval(AT_SYSINFO_EHDR);
    const Elf64_Ehdr *ehdr = image_at(image, 0, sizeof(*ehdr));

    if (!ehdr || memcmp(ehdr->e_ident, ELFMAG, SELFMAG) != 0)
        return;
    if (ehdr->e_ident[EI_CLASS] != ELFCLASS64)
        refuse(program, "it is a 32-bit program, and " DFTRUN_LIBRARY " has 64 bits", "Build it for 64 bits.");
    else if (own && ehdr->e_machine != own->e_machine)
        refuse(program, "it is a program of another kind of machine", "Build it for this machine.");
    else if (ehdr->e_phentsize == sizeof(Elf64_Phdr) && ehdr->e_phoff % _Alignof(Elf64_Phdr) == 0)
        inspect_segments(program, image, ehdr);
}

void dft_program_inspect(struct dft_program *program, const char *command)
{
    char name[sizeof(program->path)];

    memset(program, 0, sizeof(*program));
    dft_program_find(program->path, sizeof(program->path), command);
    /* the kernel follows as many #! lines */
    for (int hop = 0; hop < 4 && program->path[0]; hop++) {
        struct image image = {0};
        int again;

        if (image_open(&image, program->path) < 0)
            return;
        again = interpreter(&image, name, sizeof(name));
        if (again && !*program->script)
            strcpy(program->script, program->path);
        if (again)
            dft_program_find(program->path, sizeof(program->path), name);
        else
            inspect_elf(program, &image);
        munmap((void *)(uintptr_t)image.bytes, image.size);
        if (!again)
            return;
    }
}
