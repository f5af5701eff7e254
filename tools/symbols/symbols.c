/* SPDX-License-Identifier: MIT */
/* Symbols of ELF files: each file is read once, its functions sorted, and looked up by bisection. Nothing is believed that the file's size does
 * not allow. */
#include "symbols/symbols.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "symbols/modules.h"
#include "base/settings.h"

/* Where separate debug files lie, DFTMERGE_DEBUG_DIR first: FOLDER/.build-id/ab/cdef.debug */
#define DEBUG_FOLDER "/usr/lib/debug"

struct function {
    uint64_t start, size;
    const char *name; /* in the file's memory, which stays mapped */
    char *shown;      /* demangled, once somebody asked */
};

struct module {
    struct dft_module known;
    struct function *functions; /* by start */
    size_t count, room;
};

static struct dft_module *modules;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* --- a file --------------------------------------------------------------------------------------------------------- */

struct file {
    const char *bytes;
    size_t length;
};

static int map_file(const char *path, struct file *file)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat st;

    file->bytes = MAP_FAILED;
    if (fd < 0)
        return -1;
    if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size > (off_t)sizeof(ElfW(Ehdr))) {
        file->length = (size_t)st.st_size;
        file->bytes = mmap(NULL, file->length, PROT_READ, MAP_PRIVATE, fd, 0);
    }
    close(fd);
    return file->bytes == MAP_FAILED ? -1 : 0;
}

/* `count` things of `size` bytes at an offset, NULL: the file is not that long. */
static const void *inside(const struct file *file, uint64_t offset, uint64_t count, uint64_t size)
{
    uint64_t bytes;

    if (__builtin_mul_overflow(count, size, &bytes) || offset > file->length || bytes > file->length - offset)
        return NULL;
    return file->bytes + offset;
}

static int read_head(const struct file *file, ElfW(Ehdr) * head)
{
    memcpy(head, file->bytes, sizeof *head);
    return !memcmp(head->e_ident, ELFMAG, SELFMAG) && head->e_ident[EI_CLASS] == (sizeof(void *) == 8 ? 2 : 1) &&
                   head->e_shentsize == sizeof(ElfW(Shdr))
               ? 0
               : -1;
}

static int read_section(const struct file *file, const ElfW(Ehdr) * head, uint32_t i, ElfW(Shdr) * section)
{
    const char *sections = inside(file, head->e_shoff, head->e_shnum, sizeof *section);

    if (!sections || i >= head->e_shnum)
        return -1;
    memcpy(section, sections + i * sizeof *section, sizeof *section);
    return section->sh_type == SHT_NOBITS || inside(file, section->sh_offset, 1, section->sh_size) ? 0 : -1;
}

static uint64_t id_in_notes(const char *at, size_t length)
{
    const char *end = at + length;
    uint64_t id = 0;

    while ((size_t)(end - at) > sizeof(ElfW(Nhdr))) {
        ElfW(Nhdr) note;
        uint64_t name, rest;

        memcpy(&note, at, sizeof note);
        name = ((uint64_t)note.n_namesz + 3) & ~3ull;
        rest = name + (((uint64_t)note.n_descsz + 3) & ~3ull);
        at += sizeof note;
        if (rest > (uint64_t)(end - at))
            return 0;
        if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && note.n_descsz >= 8) {
            for (int i = 0; i < 8; i++)
                id = id << 8 | (uint8_t)at[name + (uint64_t)i];
            return id;
        }
        at += rest;
    }
    return 0;
}

static uint64_t id_of(const struct file *file, const ElfW(Ehdr) * head)
{
    uint64_t id = 0;
    ElfW(Shdr) section;

    for (uint32_t i = 0; i < head->e_shnum && !id; i++)
        if (!read_section(file, head, i, &section) && section.sh_type == SHT_NOTE)
            id = id_in_notes(file->bytes + section.sh_offset, section.sh_size);
    return id;
}

/* --- its functions ------------------------------------------------------------------------------------------------- */

static void add(struct module *module, const ElfW(Sym) * symbol, const char *name)
{
    if (module->count == module->room) {
        size_t room = module->room ? 2 * module->room : 256;
        struct function *more = reallocarray(module->functions, room, sizeof *more);

        if (!more)
            return;
        module->functions = more;
        module->room = room;
    }
    module->functions[module->count++] =
        (struct function){.start = symbol->st_value, .size = symbol->st_size, .name = name};
}

static void add_table(struct module *module, const struct file *file, const ElfW(Shdr) * table,
                      const ElfW(Shdr) * texts)
{
    const char *list = file->bytes + table->sh_offset, *text = file->bytes + texts->sh_offset;

    for (uint64_t i = 0; i < table->sh_size / sizeof(ElfW(Sym)); i++) {
        ElfW(Sym) symbol;

        memcpy(&symbol, list + i * sizeof symbol, sizeof symbol);
        if ((symbol.st_info & 15) == STT_FUNC && symbol.st_shndx != SHN_UNDEF && symbol.st_name < texts->sh_size &&
            memchr(text + symbol.st_name, 0, texts->sh_size - symbol.st_name))
            add(module, &symbol, text + symbol.st_name);
    }
}

static void add_functions(struct module *module, const struct file *file, const ElfW(Ehdr) * head, uint32_t type)
{
    ElfW(Shdr) table, texts;

    for (uint32_t i = 0; i < head->e_shnum; i++)
        if (!read_section(file, head, i, &table) && table.sh_type == type &&
            !read_section(file, head, table.sh_link, &texts) && texts.sh_type == SHT_STRTAB)
            add_table(module, file, &table, &texts);
}

/* Of several names for one address the first in the alphabet, whichever table it came from. */
static int by_start(const void *left, const void *right)
{
    const struct function *a = left, *b = right;

    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    return strcmp(a->name, b->name);
}

/* Reads what a file knows, if it is the right one. Files that gave names stay mapped: the names lie there. */
static void read_file(struct module *module, const char *path)
{
    struct file file;
    ElfW(Ehdr) head;
    size_t before = module->count;

    if (map_file(path, &file))
        return;
    if (!read_head(&file, &head) && (!module->known.build_id || id_of(&file, &head) == module->known.build_id)) {
        add_functions(module, &file, &head, SHT_SYMTAB);
        if (module->count == before)
            add_functions(module, &file, &head, SHT_DYNSYM);
    }
    if (module->count == before)
        munmap((void *)(uintptr_t)file.bytes, file.length);
}

static void read_debug_file(struct module *module)
{
    char pattern[128], *path;
    struct file file;
    ElfW(Ehdr) head;

    /* The name of the file is the whole id, of which the trace has 8 bytes: it is taken from the module. */
    if (!module->known.build_id || map_file(module->known.path, &file))
        return;
    if (!read_head(&file, &head) && id_of(&file, &head) == module->known.build_id) {
        ElfW(Shdr) section;

        for (uint32_t i = 0; i < head.e_shnum; i++) {
            const unsigned char *id;
            int n = 0;

            if (read_section(&file, &head, i, &section) || section.sh_type != SHT_NOTE || section.sh_size < 24 ||
                section.sh_size > 16 + 32 || !id_in_notes(file.bytes + section.sh_offset, section.sh_size))
                continue;
            id = (const unsigned char *)file.bytes + section.sh_offset + 16;
            for (uint64_t b = 0; b < section.sh_size - 16; b++)
                n += snprintf(pattern + n, sizeof pattern - (size_t)n, b == 1 ? "/%02x" : "%02x", id[b]);
            for (int own = 1; own >= 0; own--) {
                const char *folder = own ? dft_setting_debug_directory() : DEBUG_FOLDER;

                if (folder && !module->count && asprintf(&path, "%s/.build-id/%s.debug", folder, pattern) >= 0) {
                    read_file(module, path);
                    free(path);
                }
            }
            break;
        }
    }
    munmap((void *)(uintptr_t)file.bytes, file.length);
}

static struct module *find_module(const char *path, uint64_t build_id)
{
    int added;
    struct module *module = dft_module_get(&modules, path, build_id, sizeof *module, &added);

    if (!added)
        return module;
    read_debug_file(module);
    if (!module->count)
        read_file(module, path);
    if (module->count)
        qsort(module->functions, module->count, sizeof *module->functions, by_start);
    return module;
}

/* --- a name -------------------------------------------------------------------------------------------------------- */

/* libstdc++ knows best, and is on most machines; without it names stay as they are. */
static char *demangle(const char *name)
{
    static char *(*function)(const char *name, char *out, size_t *length, int *status);
    static int tried;
    int status = -1;
    char *shown;

    if (!tried++) {
        void *library = dlopen("libstdc++.so.6", RTLD_LAZY);

        if (library)
            *(void **)&function = dlsym(library, "__cxa_demangle");
    }
    if (name[0] != '_' || name[1] != 'Z' || !function)
        return NULL;
    shown = function(name, NULL, NULL, &status);
    return status ? NULL : shown;
}

static struct function *find_function(const struct module *module, uint64_t address)
{
    size_t low = 0, high = module->count;

    while (low < high) { /* the first behind it */
        size_t middle = low + (high - low) / 2;

        if (module->functions[middle].start > address)
            high = middle;
        else
            low = middle + 1;
    }
    if (!low)
        return NULL;
    for (low--; low > 0 && module->functions[low - 1].start == module->functions[low].start; low--)
        ;
    if (module->functions[low].size && address - module->functions[low].start >= module->functions[low].size)
        return NULL;
    return &module->functions[low];
}

const char *dft_symbols_find(const char *path, uint64_t build_id, uint64_t address, uint64_t *offset)
{
    struct function *function = NULL;
    const char *name = NULL;
    struct module *module;

    pthread_mutex_lock(&lock);
    module = find_module(path, build_id);
    if (module)
        function = find_function(module, address);
    if (function && !function->shown)
        function->shown = demangle(function->name);
    if (function && offset)
        *offset = address - function->start;
    if (function)
        name = function->shown ? function->shown : function->name;
    pthread_mutex_unlock(&lock);
    return name;
}

int dft_symbols_place(const char *text, size_t length, char path[1024], uint64_t *build_id, uint64_t *address)
{
    char *id, *end;

    if (length < 24 || length >= 1024 || text[0] != '/')
        return 0;
    memcpy(path, text, length);
    path[length] = 0;
    id = strrchr(path, '[');
    if (!id || strlen(id) < 21 || memcmp(id + 17, "]+0x", 4) != 0)
        return 0;
    *build_id = strtoull(id + 1, &end, 16);
    if (end != id + 17)
        return 0;
    *address = strtoull(id + 21, &end, 16);
    if (*end)
        return 0;
    *id = 0;
    return 1;
}

static const char *show_mangled(const char *text, size_t length, char *room, size_t room_bytes)
{
    char name[512], *shown;

    if (length >= sizeof name)
        return NULL;
    snprintf(name, sizeof name, "%.*s", (int)length, text);
    pthread_mutex_lock(&lock);
    shown = demangle(name);
    pthread_mutex_unlock(&lock);
    snprintf(room, room_bytes, "%s", shown ? shown : name);
    free(shown);
    return room;
}

const char *dft_symbols_show(const char *text, size_t length, char *room, size_t room_bytes)
{
    uint64_t build_id, address;
    const char *name;
    char path[1024];

    if (length > 2 && text[0] == '_' && text[1] == 'Z')
        return show_mangled(text, length, room, room_bytes);
    if (!dft_symbols_place(text, length, path, &build_id, &address))
        return NULL;
    name = dft_symbols_find(path, build_id, address, NULL);
    if (name)
        return name;
    snprintf(room, room_bytes, "%s+0x%llx", strrchr(path, '/') + 1, (unsigned long long)address);
    return room;
}
