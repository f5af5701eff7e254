/* SPDX-License-Identifier: MIT */
/* Owns the search for a function's name: the line of /proc/self/maps that contains an address, then
 * the symbol table of that file. No number of the file is believed beyond the file's size. */
#include "unwind/symbols.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <string.h>
#include <sys/stat.h>

#include "os/bulk.h"
#include "tables/fd_progress.h"
#include "loader/elf.h"
#include "os/memory.h"
#include "os/sys.h"

/* --- the mapping ------------------------------------------------------------------------------ */

static const char *get_hex(const char *at, uint64_t *number)
{
    for (*number = 0;; at++) {
        int digit = *at >= '0' && *at <= '9' ? *at - '0' : *at >= 'a' && *at <= 'f' ? *at - 'a' + 10 : -1;

        if (digit < 0)
            return at;
        *number = *number << 4 | (uint64_t)digit;
    }
}

/* Parses "start-end rights offset device inode path". Does the address lie in this range? */
static int is_in_line(const char *line, uint64_t address, uint64_t *offset, const char **path)
{
    uint64_t start, end;

    line = get_hex(line, &start);
    if (*line++ != '-')
        return 0;
    line = get_hex(line, &end);
    if (address < start || address >= end || strlen(line) < 7)
        return 0;
    get_hex(line + 6, offset);
    *offset += address - start;
    *path = strchr(line, '/');
    if (!*path)
        *path = strchr(line, '[');
    return 1;
}

/* Writes the path of the file that is mapped at the address to `path`, "" when there is none.
 * *offset: the address's offset in that file. */
static void find_mapping(uint64_t address, char *path, size_t capacity, uint64_t *offset)
{
    static char text[4096] DFT_BULK;
    size_t used = 0;
    long n, fd = dft_fd_progress_open_proc("maps", O_RDONLY);

    path[0] = 0;
    while (fd >= 0 && (n = dft_sys_read((int)fd, text + used, sizeof text - 1 - used)) > 0) {
        char *line = text, *end;

        used += (size_t)n;
        text[used] = 0;
        for (; (end = strchr(line, '\n')); line = end + 1) {
            const char *found = NULL;

            *end = 0;
            if (is_in_line(line, address, offset, &found)) {
                if (found && strlen(found) < capacity)
                    memcpy(path, found, strlen(found) + 1);
                dft_fd_progress_close_brief(fd);
                return;
            }
        }
        used -= (size_t)(line - text);
        memmove(text, line, used);
        if (used == sizeof text - 1)
            used = 0; /* a line of that length is skipped */
    }
    if (fd >= 0)
        dft_fd_progress_close_brief(fd);
}

/* --- the file --------------------------------------------------------------------------------- */

static void map_file(struct dft_symbols *symbols, const char *path)
{
    struct stat st;
    long fd, at;

    if (symbols->bytes && !strcmp(symbols->path, path))
        return;
    if (symbols->bytes)
        DFT_SYS(munmap, symbols->bytes, symbols->length, 0, 0, 0, 0);
    symbols->bytes = NULL;
    fd = dft_fd_progress_open(path, O_RDONLY, 0);
    if (fd < 0)
        return;
    if (DFT_SYS(fstat, fd, &st, 0, 0, 0, 0) == 0 && S_ISREG(st.st_mode) && st.st_size > (off_t)sizeof(ElfW(Ehdr))) {
        at = dft_memory_map((size_t)st.st_size, PROT_READ, MAP_PRIVATE, (int)fd, 0);
        if (at >= 0) {
            symbols->bytes = (const char *)at;
            symbols->length = (size_t)st.st_size;
            memcpy(symbols->path, path, strlen(path) + 1);
        }
    }
    dft_sys_close((int)fd);
}

/* Returns `count` items of `size` bytes at `offset` of the file. NULL when the file is not that
 * long. */
static const void *inside(const struct dft_symbols *symbols, uint64_t offset, uint64_t count, uint64_t size)
{
    uint64_t bytes;

    if (__builtin_mul_overflow(count, size, &bytes) || offset > symbols->length || bytes > symbols->length - offset)
        return NULL;
    return symbols->bytes + offset;
}

/* Turns the offset of a byte into its address in the numbering of the file. */
static int find_address(const struct dft_symbols *symbols, const ElfW(Ehdr) * head, uint64_t offset, uint64_t *address)
{
    const ElfW(Phdr) *parts = inside(symbols, head->e_phoff, head->e_phnum, sizeof *parts);

    for (uint32_t i = 0; parts && i < head->e_phnum; i++) {
        ElfW(Phdr) part;

        memcpy(&part, &parts[i], sizeof part);
        if (part.p_type == PT_LOAD && offset >= part.p_offset && offset - part.p_offset < part.p_filesz) {
            *address = offset - part.p_offset + part.p_vaddr;
            return 1;
        }
    }
    return 0;
}

/* Finds the nearest function below the address in one table of symbols. */
static void search(const struct dft_symbols *symbols, const ElfW(Shdr) * table, const ElfW(Shdr) * texts,
                   struct dft_symbol_place *place)
{
    uint64_t count = table->sh_size / sizeof(ElfW(Sym)), nearest = 0, name = UINT64_MAX;
    const char *list = inside(symbols, table->sh_offset, count, sizeof(ElfW(Sym)));
    const char *text = inside(symbols, texts->sh_offset, 1, texts->sh_size);

    for (uint64_t i = 0; list && text && i < count; i++) {
        ElfW(Sym) symbol;

        memcpy(&symbol, list + i * sizeof symbol, sizeof symbol);
        if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC || symbol.st_shndx == SHN_UNDEF ||
            symbol.st_value > place->in_module || symbol.st_value < nearest ||
            (symbol.st_size && place->in_module - symbol.st_value >= symbol.st_size))
            continue;
        nearest = symbol.st_value;
        name = symbol.st_name;
    }
    if (name < texts->sh_size && text && memchr(text + name, 0, texts->sh_size - name)) {
        place->function = text + name;
        place->in_function = place->in_module - nearest;
    }
}

static void search_all(const struct dft_symbols *symbols, const ElfW(Ehdr) * head, struct dft_symbol_place *place)
{
    static const uint32_t kinds[] = {SHT_SYMTAB, SHT_DYNSYM};
    const ElfW(Shdr) *sections = inside(symbols, head->e_shoff, head->e_shnum, sizeof *sections);

    for (uint32_t kind = 0; sections && kind < 2; kind++)
        for (uint32_t i = 0; i < head->e_shnum && !place->function; i++) {
            ElfW(Shdr) table, texts;

            memcpy(&table, &sections[i], sizeof table);
            if (table.sh_type != kinds[kind] || table.sh_link >= head->e_shnum)
                continue;
            memcpy(&texts, &sections[table.sh_link], sizeof texts);
            search(symbols, &table, &texts, place);
        }
}

void dft_symbols_find(struct dft_symbols *symbols, uint64_t address, struct dft_symbol_place *place)
{
    static char path[sizeof symbols->path] DFT_BULK;
    const ElfW(Ehdr) * head;
    uint64_t offset = 0;

    *place = (struct dft_symbol_place){.module = ""};
    find_mapping(address, path, sizeof path, &offset);
    if (!path[0])
        return;
    map_file(symbols, path);
    if (!symbols->bytes) {
        memcpy(symbols->path, path, strlen(path) + 1);
        place->in_module = offset;
    }
    place->module = symbols->path;
    head = (const ElfW(Ehdr) *)symbols->bytes;
    if (head && dft_elf_is_image(head) && find_address(symbols, head, offset, &place->in_module))
        search_all(symbols, head, place);
}
