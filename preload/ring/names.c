/* SPDX-License-Identifier: MIT */
/* Owns the names of regions and of functions. The text of a name comes in the thread's stream
 * before the first event that uses the name. */
#include "ring/names.h"

#include <string.h>

#include "os/bulk.h"
#include "format/hash.h"
#include "loader/elf.h"
#include "loader/image.h"
#include "settings/rules.h"
#include "store/identity.h"

#define NAME_ROOM 448u /* longer names are cut */

/* "category NUL name" on the stack of the function that uses it. */
struct name {
    uint64_t id;
    uint32_t length;
    char text[NAME_ROOM];
};

/* Copies as many bytes as fit. Returns their number. */
static uint32_t copy(struct dft_thread *self, char *to, uint32_t capacity, const char *text)
{
    size_t n;

    if (!text) {
        dft_misuse(self, DFT_MISUSE_NULL, 1);
        text = "(null)";
    }
    n = strnlen(text, capacity + 1u);
    if (n > capacity) {
        dft_misuse(self, DFT_MISUSE_NAME_CUT, 1);
        n = capacity;
    }
    memcpy(to, text, n);
    return (uint32_t)n;
}

/* The first use puts the text of the name into the ring. */
__attribute__((noinline)) uint64_t dft_names_define(struct dft_thread *self, const char *category, const char *text)
{
    struct name name;
    uint32_t n = copy(self, name.text, 64, category);

    name.text[n++] = 0;
    name.length = n + copy(self, name.text + n, NAME_ROOM - n, text);
    name.id = dft_name_id(name.text, name.length);
    if (dft_rules_on)
        dft_rules_name(name.id, name.text, name.length);
    if (!dft_name_was_sent(self, name.id))
        dft_name_send(self, name.id, (struct dft_text){name.text, name.length});
    return name.id;
}

/* --- functions -------------------------------------------------------------------------------- */

#define TABLE 16384u
#define ROOM  440u

/* Maps an address to the id of its name. The process has recorded the text of the name. Both words
 * of an entry are written without a lock. Their check shows whether the words belong together. */
static struct {
    _Atomic uint64_t check; /* address ^ id */
    _Atomic uint64_t id;
} table[TABLE] DFT_BULK;

void dft_names_forget_code(void)
{
    for (uint32_t i = 0; i < TABLE; i++)
        if (atomic_load_explicit(&table[i].id, memory_order_relaxed))
            atomic_store_explicit(&table[i].id, 0, memory_order_relaxed);
}

static size_t put_text(char *to, size_t used, size_t capacity, const char *text)
{
    while (*text && used < capacity)
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

/* "/path[build id]+0xoffset". A path that is too long keeps its end. */
static __attribute__((noinline)) uint64_t name_of(struct dft_thread *self, uint64_t address)
{
    struct dft_image image;
    char text[ROOM + 48];
    const char *path;
    size_t used;

    if (dft_image_find(&image, address)) {
        put_hex(text, put_text(text, 0, ROOM, "0x"), address, 16);
        return dft_names_define(self, "FUNC", text);
    }
    path = image.map->l_name;
    if (!path || !*path)
        path = dft_process_exe();
    used = strlen(path);
    used = put_text(text, 0, ROOM - 48, used > ROOM - 48 ? path + used - (ROOM - 48) : path);
    used = put_text(text, used, ROOM, "[");
    used =
        put_hex(text, used,
                dft_elf_build_id((const void *)image.from, /* NOLINT: where the library lies */ image.map->l_addr), 16);
    used = put_text(text, used, ROOM, "]+0x");
    put_hex(text, used, address - image.map->l_addr, 12);
    return dft_names_define(self, "FUNC", text);
}

uint64_t dft_names_of_code(struct dft_thread *self, uint64_t address)
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
