/* SPDX-License-Identifier: MIT */
/* Owns the walk up the stack. A table that all threads share keeps one word of knowledge for each
 * place in code. */
#include "unwind/unwind.h"

#include <stdatomic.h>
#include <string.h>
#include <ucontext.h>

#include "os/bulk.h"
#include "loader/image.h"
#include "os/sys.h"

#define TABLE     8192u
#define PAGE      UINT64_C(4096)      /* or a part of one */
#define FRAME_MAX (UINT64_C(1) << 36) /* a larger frame means a damaged table */

static uint64_t spared_from, spared_to; /* libffi, while functions are woven */

extern const char __ehdr_start[] __attribute__((visibility("hidden"))), _end[] __attribute__((visibility("hidden")));

int dft_unwind_load_page(struct dft_unwind_memory *memory, uint64_t at, uint64_t *value)
{
    if (at % 8 || at < DFT_UNWIND_PAGE || !dft_sys_can_read((const void *)at)) /* NOLINT: an address of the stack */
        return -1;
    memory->page = at / DFT_UNWIND_PAGE;
    *value = *(const uint64_t *)at; /* NOLINT: the same */
    return 0;
}

/* --- the library of an address ---------------------------------------------------------------- */

static const uint8_t *table_of(uint64_t pc)
{
    struct dft_image image;

    return dft_image_find(&image, pc) ? NULL : image.frames;
}

/* --- what is known of places ------------------------------------------------------------------ */

/* A simple row in 63 bits: the register, the offset, and where the caller's registers are saved, in
 * words. Both words of an entry are written without a lock. Their check shows whether the words
 * belong together. */
static struct {
    _Atomic uint64_t check; /* address ^ word */
    _Atomic uint64_t word;
} known[TABLE] DFT_BULK;

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
    int fits = !row->is_signal && row->rules[DFT_UNWIND_SP].kind == DFT_RULE_SAME && row->offset >= -(1 << 20) &&
               row->offset < 1 << 20;

    while (base < 3 && bases[base] != row->base)
        base++;
    word |= base | ((uint64_t)row->offset & 0x1fffff) << 2;
    for (int i = 0; i < DFT_UNWIND_SP; i++)
        word |= pack_rule(&row->rules[i], i != DFT_UNWIND_PC, &fits) << (23 + SAVED_BITS * i);
    if (!fits || base == 3)
        return;
    atomic_store_explicit(&known[entry_of(pc)].word, word, memory_order_relaxed);
    atomic_store_explicit(&known[entry_of(pc)].check, pc ^ word, memory_order_relaxed);
}

void dft_unwind_forget(void)
{
    for (uint32_t i = 0; i < TABLE; i++)
        if (atomic_load_explicit(&known[i].word, memory_order_relaxed))
            atomic_store_explicit(&known[i].word, 0, memory_order_relaxed);
}

/* --- a step ----------------------------------------------------------------------------------- */

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
    case DFT_RULE_REGISTER:
        return dft_unwind_register(walk, (uint64_t)rule->value, value);
    default:
        return -1;
    }
}

/* The place where the kernel put the registers that a handler's trampoline restores. */
static uint64_t context_above(const struct dft_unwind_walk *walk)
{
#if defined(__aarch64__)
    return walk->sp + sizeof(siginfo_t);
#else
    return walk->sp;
#endif
}

/* Is the caller known in a function that has not saved its return address? On 64-bit ARM a register
 * holds the address. */
static int is_caller_known(struct dft_unwind_walk *walk, const struct dft_unwind_row *row)
{
    if (row->rules[DFT_UNWIND_PC].kind != DFT_RULE_SAME)
        return 1;
    return DFT_DWARF_PC == 30 && !dft_unwind_register(walk, DFT_DWARF_PC, &walk->registers[DFT_UNWIND_PC]);
}

/* May the caller's stack begin here? Where a register holds the return address, the caller's stack
 * may begin where this stack does. */
static int is_caller_stack(const struct dft_unwind_walk *walk, uint64_t sp)
{
    return sp > walk->sp - (DFT_DWARF_PC == 30 || walk->is_exact) && sp - walk->sp <= FRAME_MAX;
}

/* Steps by the word that an earlier walk has left for this place. Returns 1 when there is no
 * word. */
static int go_by_word(struct dft_unwind_walk *walk, uint64_t pc)
{
    uint64_t word = atomic_load_explicit(&known[entry_of(pc)].word, memory_order_relaxed), frame;

    if (!word || (atomic_load_explicit(&known[entry_of(pc)].check, memory_order_relaxed) ^ word) != pc)
        return 1;
    frame = (word & 3) == 0 ? walk->sp : walk->registers[(word & 3) == 1 ? DFT_UNWIND_FP : DFT_UNWIND_BX];
    frame += (uint64_t)bits_of(word, 2, 21);
    if (!is_caller_stack(walk, frame))
        return -1;
    for (int i = 0; i < DFT_UNWIND_SP; i++) {
        int64_t words = bits_of(word, 23 + SAVED_BITS * i, SAVED_BITS);

        if (words == SAVED_SAME || !dft_unwind_load(&walk->memory, frame + (uint64_t)words * 8, &walk->registers[i]))
            continue;
        if (i == DFT_UNWIND_PC)
            return -1;
        walk->registers[i] = 0;
    }
    walk->context = 0;
    walk->pc = dft_unwind_plain(walk->registers[DFT_UNWIND_PC]);
    walk->sp = frame;
    walk->is_exact = 0;
    return 0;
}

static int go_by_row(struct dft_unwind_walk *walk, const struct dft_unwind_row *row)
{
    uint64_t frame, registers[DFT_UNWIND_REGISTERS];

    if (row->base == DFT_UNWIND_BY_EXPRESSION) {
        if (dft_unwind_evaluate(walk, (const uint8_t *)row->offset, 0, &frame)) /* NOLINT: the expression */
            return -1;
    } else {
        if (dft_unwind_register(walk, row->base, &frame))
            return -1;
        frame += (uint64_t)row->offset;
    }
    if (!is_caller_known(walk, row))
        return -1;
    memcpy(registers, walk->registers, sizeof registers);
    registers[DFT_UNWIND_SP] = frame;
    for (int i = 0; i < DFT_UNWIND_REGISTERS; i++)
        if (apply(walk, &row->rules[i], frame, &registers[i])) {
            if (i == DFT_UNWIND_PC || i == DFT_UNWIND_SP)
                return -1;
            registers[i] = 0;
        }
    /* Signals, longjmp and setcontext switch to other stacks. */
    if (!row->is_signal && row->rules[DFT_UNWIND_SP].kind == DFT_RULE_SAME && !is_caller_stack(walk, frame))
        return -1;
    memcpy(walk->registers, registers, sizeof registers);
    walk->context = row->is_signal ? context_above(walk) : 0;
    walk->pc = dft_unwind_plain(registers[DFT_UNWIND_PC]);
    walk->sp = registers[DFT_UNWIND_SP];
    walk->is_exact = row->is_signal;
    return 0;
}

/* Steps from a place that no walk has seen. */
__attribute__((noinline)) static int go_by_table(struct dft_unwind_walk *walk, uint64_t pc)
{
    const uint8_t *table = table_of(pc);
    struct dft_unwind_row row;

    if (!table || dft_unwind_find_row(table, pc, &row))
        return dft_unwind_guess(walk);
    learn(pc, &row);
    return go_by_row(walk, &row);
}

int dft_unwind_step(struct dft_unwind_walk *walk)
{
    uint64_t pc = walk->pc - !walk->is_exact;
    int rc = go_by_word(walk, pc);

    return rc > 0 ? go_by_table(walk, pc) : rc;
}

void dft_unwind_begin(struct dft_unwind_walk *walk, const void *context)
{
    const mcontext_t *registers = &((const ucontext_t *)context)->uc_mcontext;

    *walk = (struct dft_unwind_walk){.is_exact = 1, .context = (uint64_t)context};
#if defined(__x86_64__)
    walk->pc = (uint64_t)registers->gregs[REG_RIP];
    walk->sp = (uint64_t)registers->gregs[REG_RSP];
    walk->registers[DFT_UNWIND_FP] = (uint64_t)registers->gregs[REG_RBP];
    walk->registers[DFT_UNWIND_BX] = (uint64_t)registers->gregs[REG_RBX];
#elif defined(__aarch64__)
    walk->pc = registers->pc;
    walk->sp = registers->sp;
    walk->registers[DFT_UNWIND_FP] = registers->regs[DFT_DWARF_FP];
    walk->registers[DFT_UNWIND_BX] = registers->regs[DFT_DWARF_BX];
#endif
}

/* --- a walk from here ------------------------------------------------------------------------- */

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
    struct dft_image image;

    if (dft_image_find(&image, (uintptr_t)address))
        return;
    spared_from = image.from;
    spared_to = image.to;
}

uint32_t dft_unwind(uint64_t *addresses, uint32_t capacity)
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
    for (uint32_t tries = 4 * capacity + 64; tries && n < capacity && walk.pc; tries--) {
        if (is_ours(walk.pc)) {
            while (n && is_spared(addresses[n - 1]))
                n--;
            was_ours = 1;
        } else if (!was_ours || !is_spared(walk.pc)) {
            addresses[n++] = walk.pc - !walk.is_exact;
            was_ours = 0;
        }
        if (dft_unwind_step(&walk))
            break;
    }
    return n;
}
