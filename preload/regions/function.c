/* Owns functions of programs compiled with -finstrument-functions: each call is a region of category FUNC, named by the module, its build
 * id and the function's address in the module; dftmerge finds the name.
 *
 * A program that has these hooks itself keeps its own; a library that has them gets each call from here, too.
 * Functions may be left without their exit hook (longjmp, exceptions in some compilers). So an exit is matched by where frames lie: what lies below
 * the frame of who exits is gone. */
#include "regions/function.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <string.h>

#include "regions/annotate.h"
#include "os/clock.h"
#include "store/process.h"
#include "os/resolve.h"
#include "ring/run.h"

#define TABLE 16384u
#define ROOM  440u

/* Address -> id of the name, whose text the process has recorded. Both words of an entry are written without a lock: that they belong
 * together shows in that they fit. */
static struct {
    _Atomic uint64_t check; /* address ^ id */
    _Atomic uint64_t id;
} table[TABLE];

typedef void hook(void *function, void *call_site);
static hook *next_enter, *next_exit;

/* The same symbol of another library; the C library's do nothing. */
static void *next_hook(const char *name)
{
    void *next = dft_resolve_symbol(name), *libc = dft_resolve_symbol("gnu_get_libc_version");
    struct dl_find_object of_next, of_libc;

    if (!next || !libc || !dft_own.find_object || dft_own.find_object(next, &of_next) ||
        dft_own.find_object(libc, &of_libc) || of_next.dlfo_link_map == of_libc.dlfo_link_map)
        return NULL;
    return next;
}

void dft_function_init(void)
{
    *(void **)&next_enter = next_hook("__cyg_profile_func_enter");
    *(void **)&next_exit = next_hook("__cyg_profile_func_exit");
}

void dft_function_forget(void)
{
    for (uint32_t i = 0; i < TABLE; i++)
        if (atomic_load_explicit(&table[i].id, memory_order_relaxed))
            atomic_store_explicit(&table[i].id, 0, memory_order_relaxed);
}

/* --- names -------------------------------------------------------------------------------------------------------- */

static size_t put_text(char *to, size_t used, size_t room, const char *text)
{
    while (*text && used < room)
        to[used++] = *text++;
    to[used] = 0;
    return used;
}

static size_t put_hex(char *to, size_t used, uint64_t number, int digits)
{
    for (int i = digits - 1; i >= 0; i--)
        to[used++] = "0123456789abcdef"[number >> 4 * i & 15];
    to[used] = 0;
    return used;
}

/* The first 8 bytes of the build id in the notes of a loaded module, as a big-endian number; 0: there is none. */
static uint64_t build_id(const struct dl_find_object *object)
{
    const ElfW(Ehdr) *head = object->dlfo_map_start;
    const ElfW(Phdr) *parts = (const void *)((const char *)head + head->e_phoff);
    uint64_t id = 0;

    if (memcmp(head->e_ident, ELFMAG, SELFMAG) != 0 || head->e_phoff + head->e_phnum * sizeof *parts > DFT_LIVE_PAGE)
        return 0;
    for (uint32_t i = 0; i < head->e_phnum && !id; i++) {
        const char *at = (const char *)object->dlfo_link_map->l_addr + parts[i].p_vaddr, *end = at + parts[i].p_memsz;

        while (parts[i].p_type == PT_NOTE && at + sizeof(ElfW(Nhdr)) <= end && !id) {
            const ElfW(Nhdr) *note = (const void *)at;
            const char *text = at + sizeof *note + ((note->n_namesz + 3u) & ~3u);

            if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 && note->n_descsz >= 8)
                for (int byte = 0; byte < 8; byte++)
                    id = id << 8 | (uint8_t)text[byte];
            at = text + ((note->n_descsz + 3u) & ~3u);
        }
    }
    return id;
}

/* "/path[build id]+0xoffset"; of a path that is too long its end. */
static __attribute__((noinline)) uint64_t name_of(struct dft_thread *self, uint64_t address)
{
    struct dl_find_object object;
    char text[ROOM + 48];
    const char *path;
    size_t used;

    if (!dft_own.find_object || dft_own.find_object((void *)address, &object)) { /* NOLINT: an address of code */
        put_hex(text, put_text(text, 0, ROOM, "0x"), address, 16);
        return dft_annotate_name(self, "FUNC", text);
    }
    path = object.dlfo_link_map->l_name;
    if (!path || !*path)
        path = dft_process_exe();
    used = strlen(path);
    used = put_text(text, 0, ROOM - 48, used > ROOM - 48 ? path + used - (ROOM - 48) : path);
    used = put_text(text, used, ROOM, "[");
    used = put_hex(text, used, build_id(&object), 16);
    used = put_text(text, used, ROOM, "]+0x");
    put_hex(text, used, address - object.dlfo_link_map->l_addr, 12);
    return dft_annotate_name(self, "FUNC", text);
}

uint64_t dft_function_id(struct dft_thread *self, uint64_t address)
{
    uint32_t i = (uint32_t)(address >> 2 ^ address >> 16) % TABLE;
    uint64_t id = atomic_load_explicit(&table[i].id, memory_order_relaxed);

    if (__builtin_expect(id && (atomic_load_explicit(&table[i].check, memory_order_relaxed) ^ id) == address, 1))
        return id;
    id = name_of(self, address);
    atomic_store_explicit(&table[i].id, id, memory_order_relaxed);
    atomic_store_explicit(&table[i].check, address ^ id, memory_order_relaxed);
    return id;
}

/* --- hooks -------------------------------------------------------------------------------------------------------- */

#define HOOK __attribute__((visibility("default"), no_instrument_function))

HOOK void __cyg_profile_func_enter(void *function, void *call_site);
HOOK void __cyg_profile_func_exit(void *function, void *call_site);

void __cyg_profile_func_enter(void *function, void *call_site)
{
    struct dft_thread *self = dft_annotate_is_enabled() ? dft_annotate_thread() : NULL;

    if (self) {
        uint64_t id;

        dft_run_break_all(self);
        id = dft_function_id(self, (uint64_t)function);
        dft_region_begin(self, id, dft_ticks(), (uint64_t)__builtin_frame_address(0));
    }
    if (__builtin_expect(next_enter != NULL, 0))
        next_enter(function, call_site);
}

void __cyg_profile_func_exit(void *function, void *call_site)
{
    uint64_t end = dft_ticks();
    struct dft_thread *self = dft_annotate_is_enabled() ? dft_annotate_thread() : NULL;

    if (self) {
        dft_run_break_all(self);
        /* Called as the last thing that the function does, it returns for it: then the function's frame is gone already. */
        dft_function_end(self, dft_function_id(self, (uint64_t)function), end, (uint64_t)__builtin_frame_address(0),
                         __builtin_return_address(0) == call_site);
    }
    if (__builtin_expect(next_exit != NULL, 0))
        next_exit(function, call_site);
}
