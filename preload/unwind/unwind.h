/* SPDX-License-Identifier: MIT */
/* Walks up the calling thread's stack by the tables that compilers leave for exceptions
 * (.eh_frame). The walk takes no lock, allocates nothing, opens nothing and leaves errno. So the
 * walk may run in handlers, in the middle of malloc, and in forked children. The walk tests whether
 * memory of the stack can be read before it reads the memory. */
#ifndef DFT_UNWIND_H
#define DFT_UNWIND_H

#include <stdint.h>

#include "loader/library.h"

/* The registers that locate a frame. On 64-bit ARM `bx` is x19. */
enum { DFT_UNWIND_PC, DFT_UNWIND_FP, DFT_UNWIND_BX, DFT_UNWIND_SP, DFT_UNWIND_REGISTERS };

enum dft_unwind_kind {
    DFT_RULE_SAME,  /* unchanged; the stack pointer: the frame's address */
    DFT_RULE_AT,    /* saved at the frame's address plus `value` */
    DFT_RULE_IS,    /* equals the frame's address plus `value` */
    DFT_RULE_AT_EX, /* saved where an expression says; `value` points to its length */
    DFT_RULE_IS_EX,
    DFT_RULE_REGISTER, /* in another register, `value` */
    DFT_RULE_NONE      /* not kept; for the PC: there is no caller */
};

struct dft_unwind_rule {
    enum dft_unwind_kind kind;
    int64_t value;
};

/* The knowledge about one place in code: how to find its frame's address (CFA), and the caller's
 * registers. */
struct dft_unwind_row {
    uint32_t base;  /* DWARF number of the base register, or DFT_UNWIND_BY_EXPRESSION */
    int64_t offset; /* offset from the base, or the expression */
    struct dft_unwind_rule rules[DFT_UNWIND_REGISTERS];
    int is_signal; /* the caller was interrupted by a signal */
};
#define DFT_UNWIND_BY_EXPRESSION 255u

#if defined(__x86_64__)
#define DFT_DWARF_SP 7u
#define DFT_DWARF_FP 6u
#define DFT_DWARF_BX 3u
#define DFT_DWARF_PC 16u
#elif defined(__aarch64__)
#define DFT_DWARF_SP 31u
#define DFT_DWARF_FP 29u
#define DFT_DWARF_BX 19u
#define DFT_DWARF_PC 30u
#endif

/* Looks up the row of an address of code in the table of its library (.eh_frame_hdr). Returns 0, or
 * -1 when there is no row or its contents are not understood here. (unwind_table.c) */
int dft_unwind_find_row(const uint8_t *table, uint64_t pc, struct dft_unwind_row *row);

/* Read DWARF's numbers of any length, without and with a sign. *at moves behind the number.
 * (unwind_table.c) */
uint64_t dft_unwind_uleb(const uint8_t **at);
int64_t dft_unwind_sleb(const uint8_t **at);

#define DFT_UNWIND_PAGE UINT64_C(4096) /* or a part of one */

struct dft_unwind_memory {
    uint64_t page; /* the last page that could be read; 0: none yet */
};

/* Reads a word of another page than the last one. */
int dft_unwind_load_page(struct dft_unwind_memory *memory, uint64_t at, uint64_t *value);

/* Reads a word of the stack. Nonzero: the word cannot be read. */
static inline int dft_unwind_load(struct dft_unwind_memory *memory, uint64_t at, uint64_t *value)
{
    if (at % 8 || at / DFT_UNWIND_PAGE != memory->page || !memory->page)
        return dft_unwind_load_page(memory, at, value);
    *value = *(const uint64_t *)at; /* NOLINT: an address of the stack */
    return 0;
}

/* The position of a walk. */
struct dft_unwind_walk {
    uint64_t pc, sp, registers[DFT_UNWIND_REGISTERS];
    int is_exact; /* pc is the next instruction, not the return address of a call */
    /* where the kernel put all registers of this frame (ucontext_t); 0: not interrupted */
    uint64_t context;
    struct dft_unwind_memory memory;
};

/* Starts a walk where a signal struck. `context` is the third argument of its handler. */
void dft_unwind_begin(struct dft_unwind_walk *walk, const void *context);
/* Goes to the caller. Nonzero: there is no caller, or none is known. */
int dft_unwind_step(struct dft_unwind_walk *walk);

/* Reads a register by its number in DWARF. Nonzero: its value is not known. */
int dft_unwind_register(struct dft_unwind_walk *walk, uint64_t dwarf, uint64_t *value);
/* Evaluates a DWARF expression, as far as tables of linkers and C libraries use them. A nonzero
 * `start` is on the stack first. Nonzero: the evaluation failed. (unwind_expression.c) */
int dft_unwind_evaluate(struct dft_unwind_walk *walk, const uint8_t *at, uint64_t start, uint64_t *result);

/* Removes the signature of an address. */
static inline uint64_t dft_unwind_plain(uint64_t address)
{
#if defined(__aarch64__)
    register uint64_t x30 __asm__("x30") = address;

    __asm__("hint #7" : "+r"(x30)); /* xpaclri */
    return x30;
#else
    return address;
#endif
}

/* Goes to the caller of code that has no table. Nonzero: no word there looks like a caller.
 * (unwind_guess.c) */
int dft_unwind_guess(struct dft_unwind_walk *walk);

/* Forgets all places, because a library is gone. */
void dft_unwind_forget(void);

/* Names a library that we work by. Its frames next to ours are not the program's. Once, early. */
void dft_unwind_spare(const void *address);

/* Returns the number of addresses in the calling functions, the innermost first. Each address lies
 * in a call, not behind it. Frames of this library are left out. */
uint32_t dft_unwind(uint64_t *addresses, uint32_t capacity);

#endif
