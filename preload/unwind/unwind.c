/* Owns the walk up the stack, and what was learnt of places in code on the way: one word for each, in a table that all threads share. */
#include "unwind/unwind.h"

#include <stdatomic.h>
#include <dlfcn.h>
#include <string.h>

#include "os/resolve.h"
#include "os/sys.h"

#define TABLE      8192u
#define PAGE       UINT64_C(4096) /* or a part of one */
#define FRAME_MOST (UINT64_C(1) << 24)

static int (*iterate)(int (*callback)(struct dl_phdr_info *info, size_t size, void *data), void *data);

static uint64_t spared_from, spared_to; /* libffi, while functions are woven */

extern const char __ehdr_start[] __attribute__((visibility("hidden"))), _end[] __attribute__((visibility("hidden")));

void dft_unwind_init(void)
{
    *(void **)&iterate = dft_resolve_symbol("dl_iterate_phdr");
}

int dft_unwind_load(struct dft_unwind_memory *memory, uint64_t at, uint64_t *value)
{
    if (at % 8)
        return -1;
    if (at / PAGE != memory->page) {
        if (!dft_sys_can_read((const void *)at)) /* NOLINT: an address of the stack */
            return -1;
        memory->page = at / PAGE;
    }
    *value = *(const uint64_t *)at; /* NOLINT: the same */
    return 0;
}

/* --- the library of an address ------------------------------------------------------------------------------------ */

/* For C libraries without _dl_find_object (before 2.35). */
struct place {
    uint64_t pc;
    const uint8_t *table;
};

static int look_at_library(struct dl_phdr_info *info, size_t size, void *data)
{
    struct place *place = data;
    const uint8_t *table = NULL;
    int is_here = 0;

    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];

        if (part->p_type == PT_LOAD && place->pc - info->dlpi_addr - part->p_vaddr < part->p_memsz)
            is_here = 1;
        else if (part->p_type == PT_GNU_EH_FRAME)
            table = (const uint8_t *)(info->dlpi_addr + part->p_vaddr);
    }
    if (is_here)
        place->table = table;
    return is_here;
}

static const uint8_t *table_of(uint64_t pc)
{
    struct dl_find_object object;
    struct place place = {pc, NULL};

    if (dft_own.find_object)
        return dft_own.find_object((void *)pc, &object) ? NULL : object.dlfo_eh_frame; /* NOLINT: an address of code */
    if (iterate)
        iterate(look_at_library, &place);
    return place.table;
}

/* --- what is known of places -------------------------------------------------------------------------------------- */

/* A row that is simple, in 63 bits: the register, the offset, and where the caller's registers are saved, in words. Both words of an entry
 * are written without a lock: that they belong together shows in that they fit. */
static struct {
    _Atomic uint64_t check; /* address ^ word */
    _Atomic uint64_t word;
} known[TABLE];

#define SAVED_BITS 13
#define SAVED_SAME (-(1 << (SAVED_BITS - 1)))
#define KNOWN_BIT  (UINT64_C(1) << 63)

static int64_t bits_of(uint64_t word, int from, int count)
{
    return (int64_t)(word << (64 - from - count)) >> (64 - count);
}

static uint32_t entry_of(uint64_t pc)
{
    return (uint32_t)(pc ^ pc >> 13) % TABLE;
}

static uint64_t pack_rule(const struct dft_unwind_rule *rule, int may_be_same, int *fits)
{
    int64_t words = rule->value / 8;

    if (rule->kind == DFT_RULE_SAME && may_be_same)
        words = SAVED_SAME;
    else if (rule->kind != DFT_RULE_AT || rule->value % 8 || words <= SAVED_SAME || words >= -SAVED_SAME)
        *fits = 0;
    return (uint64_t)words & ((1u << SAVED_BITS) - 1);
}

static void learn(uint64_t pc, const struct dft_unwind_row *row)
{
    static const uint32_t bases[] = {DFT_DWARF_SP, DFT_DWARF_FP, DFT_DWARF_BX};
    uint64_t word = KNOWN_BIT, base = 0;
    int fits = !row->is_signal && row->offset >= -(1 << 20) && row->offset < 1 << 20;

    while (base < 3 && bases[base] != row->base)
        base++;
    word |= base | ((uint64_t)row->offset & 0x1fffff) << 2;
    for (int i = 0; i < DFT_UNWIND_REGISTERS; i++)
        word |= pack_rule(&row->rules[i], i != DFT_UNWIND_PC, &fits) << (23 + SAVED_BITS * i);
    if (!fits || base == 3)
        return;
    atomic_store_explicit(&known[entry_of(pc)].word, word, memory_order_relaxed);
    atomic_store_explicit(&known[entry_of(pc)].check, pc ^ word, memory_order_relaxed);
}

static int recall(uint64_t pc, struct dft_unwind_row *row)
{
    static const uint32_t bases[] = {DFT_DWARF_SP, DFT_DWARF_FP, DFT_DWARF_BX, 0};
    uint64_t word = atomic_load_explicit(&known[entry_of(pc)].word, memory_order_relaxed);

    if (!word || (atomic_load_explicit(&known[entry_of(pc)].check, memory_order_relaxed) ^ word) != pc)
        return 0;
    row->base = bases[word & 3];
    row->offset = bits_of(word, 2, 21);
    row->is_signal = 0;
    for (int i = 0; i < DFT_UNWIND_REGISTERS; i++) {
        int64_t words = bits_of(word, 23 + SAVED_BITS * i, SAVED_BITS);

        row->rules[i] = words == SAVED_SAME ? (struct dft_unwind_rule){DFT_RULE_SAME, 0}
                                            : (struct dft_unwind_rule){DFT_RULE_AT, words * 8};
    }
    return 1;
}

void dft_unwind_forget(void)
{
    for (uint32_t i = 0; i < TABLE; i++)
        if (atomic_load_explicit(&known[i].word, memory_order_relaxed))
            atomic_store_explicit(&known[i].word, 0, memory_order_relaxed);
}

/* --- a step ------------------------------------------------------------------------------------------------------- */

static int apply(struct dft_unwind_walk *walk, const struct dft_unwind_rule *rule, uint64_t frame, uint64_t *value)
{
    uint64_t at;

    switch (rule->kind) {
    case DFT_RULE_SAME:
        return 0;
    case DFT_RULE_AT:
        return dft_unwind_load(&walk->memory, frame + (uint64_t)rule->value, value);
    case DFT_RULE_IS:
        *value = frame + (uint64_t)rule->value;
        return 0;
    case DFT_RULE_AT_EX:
        return dft_unwind_evaluate(walk, (const uint8_t *)rule->value, frame, &at)
                   ? -1
                   : dft_unwind_load(&walk->memory, at, value);
    case DFT_RULE_IS_EX:
        return dft_unwind_evaluate(walk, (const uint8_t *)rule->value, frame, value);
    default:
        return -1;
    }
}

/* The address without its signature. */
static uint64_t plain_address(uint64_t address)
{
#if defined(__aarch64__)
    register uint64_t x30 __asm__("x30") = address;

    __asm__("hint #7" : "+r"(x30)); /* xpaclri */
    return x30;
#else
    return address;
#endif
}

static int go_by_row(struct dft_unwind_walk *walk, const struct dft_unwind_row *row)
{
    struct dft_unwind_walk next = *walk;
    uint64_t frame;

    if (row->base == DFT_UNWIND_BY_EXPRESSION) {
        if (dft_unwind_evaluate(walk, (const uint8_t *)row->offset, 0, &frame)) /* NOLINT: the expression */
            return -1;
    } else {
        if (dft_unwind_register(walk, row->base, &frame))
            return -1;
        frame += (uint64_t)row->offset;
    }
    if (!row->is_signal && (frame <= walk->sp - (DFT_DWARF_PC == 30) || frame - walk->sp > FRAME_MOST))
        return -1;
    if (row->rules[DFT_UNWIND_PC].kind == DFT_RULE_SAME)
        return -1;
    for (int i = 0; i < DFT_UNWIND_REGISTERS; i++)
        if (apply(walk, &row->rules[i], frame, &next.registers[i])) {
            if (i == DFT_UNWIND_PC)
                return -1;
            next.registers[i] = 0;
        }
    next.pc = plain_address(next.registers[DFT_UNWIND_PC]);
    next.sp = frame;
    next.is_exact = row->is_signal;
    next.memory = walk->memory;
    *walk = next;
    return 0;
}

/* --- code without tables ------------------------------------------------------------------------------------------ */

/* Does a call stand before this address? */
static int is_after_call(struct dft_unwind_memory *memory, uint64_t pc)
{
    uint64_t words[2];
    uint8_t bytes[16], *before;
#if defined(__aarch64__)
    uint32_t instruction;
#endif

    if (pc < 16 || dft_unwind_load(memory, (pc - 8) & ~UINT64_C(7), &words[0]) ||
        dft_unwind_load(memory, (pc - 1) & ~UINT64_C(7), &words[1]))
        return 0;
    memcpy(bytes, words, 16);
    before = bytes + (pc & 7);
#if defined(__x86_64__)
    for (int length = 2; length <= 7; length++)
        if (before[8 - length] == 0xff && (before[9 - length] >> 3 & 7) == 2)
            return 1;
    return before[3] == 0xe8;
#else
    memcpy(&instruction, before + 4, 4);
    return (instruction & 0xfc000000) == 0x94000000 || (instruction & 0xfffffc1f) == 0xd63f0000;
#endif
}

/* Code that was made at run time mostly keeps a chain of frames; it is believed where it leads to behind a call. */
static int go_by_chain(struct dft_unwind_walk *walk)
{
    uint64_t frame = walk->registers[DFT_UNWIND_FP], caller, pc;

    if (frame < walk->sp || frame - walk->sp > FRAME_MOST || dft_unwind_load(&walk->memory, frame, &caller) ||
        dft_unwind_load(&walk->memory, frame + 8, &pc))
        return -1;
    pc = plain_address(pc);
    if (!is_after_call(&walk->memory, pc))
        return -1;
    walk->pc = pc;
    walk->sp = frame + 16;
    walk->registers[DFT_UNWIND_FP] = caller;
    walk->registers[DFT_UNWIND_BX] = 0;
    walk->is_exact = 0;
    return 0;
}

static int step(struct dft_unwind_walk *walk)
{
    uint64_t pc = walk->pc - !walk->is_exact;
    struct dft_unwind_row row;
    const uint8_t *table;

    if (recall(pc, &row))
        return go_by_row(walk, &row);
    table = table_of(pc);
    if (!table || dft_unwind_find_row(table, pc, &row))
        return go_by_chain(walk);
    learn(pc, &row);
    return go_by_row(walk, &row);
}

static int is_ours(uint64_t address)
{
    return address >= (uint64_t)__ehdr_start && address < (uint64_t)_end;
}

static int is_spared(uint64_t address)
{
    return address >= spared_from && address < spared_to;
}

void dft_unwind_spare(const void *address)
{
    struct dl_find_object object;

    if (!dft_own.find_object || dft_own.find_object((void *)(uintptr_t)address, &object))
        return;
    spared_from = (uint64_t)object.dlfo_map_start;
    spared_to = (uint64_t)object.dlfo_map_end;
}

uint32_t dft_unwind(uint64_t *addresses, uint32_t room)
{
    struct dft_unwind_walk walk = {.is_exact = 1};
    int was_ours = 1;
    uint32_t n = 0;

#if defined(__x86_64__)
    __asm__ volatile("leaq 0(%%rip), %0\n\tmovq %%rsp, %1\n\tmovq %%rbp, %2\n\tmovq %%rbx, %3"
                     : "=&a"(walk.pc), "=&c"(walk.sp), "=&d"(walk.registers[DFT_UNWIND_FP]),
                       "=&S"(walk.registers[DFT_UNWIND_BX]));
#elif defined(__aarch64__)
    __asm__ volatile("adr x9, .\n\tmov x10, sp\n\tstp x9, x10, [%0]\n\tstr x29, [%1]\n\tstr x19, [%2]"
                     :
                     : "r"(&walk.pc), "r"(&walk.registers[DFT_UNWIND_FP]), "r"(&walk.registers[DFT_UNWIND_BX])
                     : "x9", "x10", "memory");
#endif
    for (uint32_t tries = 4 * room + 64; tries && n < room && walk.pc; tries--) {
        if (is_ours(walk.pc)) {
            while (n && is_spared(addresses[n - 1]))
                n--;
            was_ours = 1;
        } else if (!was_ours || !is_spared(walk.pc)) {
            addresses[n++] = walk.pc - !walk.is_exact;
            was_ours = 0;
        }
        if (step(&walk))
            break;
    }
    return n;
}
